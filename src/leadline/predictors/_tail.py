"""The tail of a list, which stands for documents that are not relevant."""

from __future__ import annotations

import math

import numpy as np

from leadline.arrays import Floats


def tail_mean(scores: Floats, share: float) -> float:
    """Give the mean of the last `share` of the scores, of one at least.

    NaN for fewer than two scores, and where one is infinite.

    >>> tail_mean(np.array([5.0, 4.0, 2.0, 1.0]), 0.5)
    1.5
    """
    if len(scores) < 2 or not np.isfinite(scores).all():
        return math.nan
    last = max(1, round(share * len(scores)))
    return float(scores[len(scores) - last :].mean())
