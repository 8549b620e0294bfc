"""Rank-biased precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Codes, Floats
from leadline.judged import Gains, Judged
from leadline.measures import Measure
from leadline.measures._graded import OTHER_NAMES, gains_below
from leadline.naming import Refused, Spellings, choice, cutoff, number


class RBP(Measure):
    """Gain per document of a user who goes on to the next one with probability p.

    The gain is 1 for a document of grade `rel` or more. `gain=graded` is grade / max_grade (a
    larger grade is an error); `gain=scaled` divides by the largest grade that the query has,
    unless that is below 1, as trec_eval does. RBPResidual says how much unjudged documents hide.

    >>> round(RBP(p=0.5).of([1, 0, 1]), 4)  # 0.5 * (1 + 0.25)
    0.625
    """

    title = "rank-biased precision"
    formula = "(1 - p) * sum over ranks r <= k of gain * p^(r - 1)"
    source = "Moffat and Zobel 2008"
    spellings: ClassVar[Spellings] = {"rank_biased_precision": {}}
    refused: ClassVar[Refused] = OTHER_NAMES

    p: float = number(0.8, low=0.0, high=1.0, open_ends=True)
    rel: float = number(1.0, low=0.0)
    gain: str = choice("binary", "graded", "scaled")
    max_grade: float = number(4.0, low=0.0, open_ends=True)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        query, rank, gain = self._gains(judged)
        if self.cutoff is not None:
            kept = rank <= self.cutoff
            query, rank, gain = query[kept], rank[kept], gain[kept]
        return judged.total(query, gain * weights(rank, self.p))

    def _gains(self, judged: Judged) -> Gains:
        if self.gain == "binary":
            hits = judged.hits(self.rel)
            return Gains(hits.query, hits.rank, np.ones(len(hits.rank)))
        if self.gain == "graded":
            query, rank, grade = gains_below(self, judged, self.max_grade)
            return Gains(query, rank, grade / self.max_grade)
        query, rank, grade = judged.gains
        largest = np.ones(len(judged.present))
        np.maximum.at(largest, judged.qrels.query, judged.qrels.grades)
        return Gains(query, rank, grade / largest[query])


def weights(rank: Codes, p: float) -> Floats:
    """Give the share of a user's attention that each rank gets."""
    return np.asarray((1 - p) * np.power(p, rank - 1.0), dtype=np.float64)
