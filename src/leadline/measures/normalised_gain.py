"""G: gain normalised by what the list missed so far."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, finite, over
from leadline.measures._gains import gains_by_grade, gains_of, running


class G(Measure):
    """Each gain counts less for all the gain that the ideal list had up to there and this one not.

    The ideal list has at every rank its gain, but at least 1, so that a long list pays too.

    >>> G().of([1, 0, 0, 1], judged=[1, 1, 0, 0])  # (1 + 1/log2(4)) / 2
    0.75
    """

    title = "normalised gain"
    formula = "1/sum of gains sum over ranks of gain / log2(2 + ideal sum so far - sum so far)"
    source = "trec_eval G"

    gains: str = gains_by_grade()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        retrieved, ideal = gains_of(judged, self.gains)
        whole = finite(self, judged.total(ideal.query, ideal.gain))
        query, rank, gain = retrieved
        places = np.arange(len(judged.present) + 1)
        bounds = np.searchsorted(ideal.query, places)
        paid = np.concatenate(([0.0], running(np.maximum(ideal.gain, 1.0), bounds)))
        size = np.diff(bounds)[query]
        within = np.minimum(rank, size)
        cost = np.where(within > 0, paid[bounds[query] + within], 0.0) + (rank - within)
        got = running(gain, np.searchsorted(query, places))
        values = gain / np.log2(2.0 + cost - got)
        return over(judged.total(query, values), whole)
