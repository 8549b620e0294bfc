"""Lists in which every document is judged: the unjudged ones get the largest grade of the qrels."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from leadline.arrays import Codes, Floats, freeze
from leadline.judged import Judged, Ties


class AllJudged(Judged):
    """A join in which unjudged documents have a grade; the qrels stay, and with them R and the ideal."""

    def __init__(self, judged: Judged, grade: float) -> None:
        offsets = np.concatenate(([0], np.cumsum(judged.length))).astype(np.int64)
        query = np.repeat(np.arange(len(judged.length)), judged.length)
        rank = (np.arange(len(query)) - offsets[query] + 1).astype(np.int32)
        place = offsets[judged.query] + judged.rank - 1
        row = np.full(len(query), -1, dtype=np.int32)
        row[place] = judged.row
        grades = np.full(len(query), grade)
        grades[place] = judged.grade
        freeze(grades)
        self._grades = grades
        none: Codes = np.empty(0, dtype=np.int32)
        super().__init__(
            judged.qrels,
            present=judged.present,
            length=judged.length,
            offsets=offsets,
            rank=rank,
            row=row,
            tie_first=rank,
            tie_last=rank,
            unjudged_ties=Ties(none, none, none),
        )

    @cached_property
    def grade(self) -> Floats:
        """Give the grade of every row."""
        return self._grades


def all_judged(judged: Judged) -> Judged:
    """Give the same lists with the largest grade of the qrels for every unjudged document."""
    return AllJudged(judged, float(judged.qrels.grades.max(initial=0.0)))
