"""Measures that depend on the documents a user knew before: coverage and novelty."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import cutoff, number
from leadline.errors import UsageError
from leadline.measures import Measure, over


class Coverage(Measure):
    """Share of the relevant documents that the user knew before the search that were retrieved.

    Needs the known documents (`--known FILE`). Undefined when the user knew no relevant document.
    """

    title = "coverage ratio"
    formula = "relevant known documents at ranks 1..k / relevant known documents"
    source = "lecture, 'Issues with Relevance'; Korfhage 1997"
    needs: ClassVar[Literal["judgments", "known"]] = "known"

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        known = known_rows(judged, self)
        wanted = known & (judged.qrels.grades >= self.rel)
        chosen = wanted[judged.row]
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
        whole = judged.qrels.count(wanted).astype(np.float64)
        return over(judged.total(judged.query[chosen]), whole)


def known_rows(judged: JudgedRun, measure: Measure) -> Flags:
    """Give which judged documents the user knew; an error when nobody said."""
    if judged.qrels.known is None:
        raise UsageError(f"{measure} needs the documents that the user knew before: --known FILE")
    return judged.qrels.known


class Novelty(Measure):
    """Share of the retrieved relevant documents that the user did not know before the search.

    Needs the known documents (`--known FILE`). Undefined when nothing relevant was retrieved. It is
    the usual companion of the coverage ratio; the lecture names only the latter.
    """

    title = "novelty ratio"
    formula = "relevant unknown documents at ranks 1..k / relevant documents at ranks 1..k"
    source = "Korfhage 1997"
    needs: ClassVar[Literal["judgments", "known"]] = "known"

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        unknown = ~known_rows(judged, self)[judged.row]
        chosen = judged.grade >= self.rel
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
        return over(judged.total(judged.query[chosen & unknown]), judged.total(judged.query[chosen]))
