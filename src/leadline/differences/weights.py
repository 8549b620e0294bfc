"""How much a document weighs: all the same for RIC, by its place in an ideal list for RIC@k."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats, Integers


def by_ideal_place(counts: Integers, *, printed6: bool = False) -> Floats:
    """Give the weight of one document of each grade; `counts` are documents per grade, the worst first.

    Documents of a grade can stand at ranks kmin to kmax of an ideal list, where kmin is 1 + the number of
    better ones and kmax = kmin + count - 1; each weighs the mean over these ranks of P_DCG(k) = 1/log2(k+1)
    - 1/log2(k+2), which adds up to (1/log2(kmin+1) - 1/log2(kmax+2)) / count. With `printed6` kmax is kmin
    + count, as equation 6 prints it; neighbouring grades then share a rank. Weights are not normalised:
    only ratios matter.

    Source: Golbus and Aslam 2014, section 2, equations 4 to 7, read with ranks from 1.

    >>> by_ideal_place(np.array([2, 1])).round(4)  # ranks 2 and 3 of non-relevant documents, rank 1
    array([0.1001, 0.3691])
    """
    counts = np.asarray(counts, dtype=np.int64)
    better = counts[::-1].cumsum()[::-1] - counts
    low = 1 + better
    high = low + counts - (0 if printed6 else 1)
    weights: Floats = (1 / np.log2(low + 1) - 1 / np.log2(high + 2)) / counts
    return weights
