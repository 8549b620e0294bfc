"""Measures that need the documents known to the user before the search: coverage and novelty."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import cutoff, number
from leadline.errors import UsageError
from leadline.measures import Measure, over


class Coverage(Measure):
    """Coverage ratio: fraction of the relevant documents known to the user that were retrieved.

    Needs the known documents (`--known FILE`). Undefined if the user knew no relevant document.
    """

    title = "coverage ratio"
    formula = "relevant known documents at ranks 1..k / relevant known documents"
    source = "Korfhage 1997; Baeza-Yates and Ribeiro-Neto 1999, section 3.2"
    needs: ClassVar[Literal["judgments", "known"]] = "known"

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        known = known_rows(judged, self)
        known_relevant = known & (judged.qrels.grades >= self.rel)
        chosen = known_relevant[judged.row]
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
        whole = judged.qrels.count(known_relevant).astype(np.float64)
        return over(judged.total(judged.query[chosen]), whole)


def known_rows(judged: JudgedRun, measure: Measure) -> Flags:
    """Return flags of the judged documents known to the user; raise UsageError if none were read."""
    if judged.qrels.known is None:
        raise UsageError(f"{measure} needs the documents known to the user before the search: --known FILE")
    return judged.qrels.known


class Novelty(Measure):
    """Novelty ratio: fraction of the relevant documents retrieved that the user did not know.

    Needs the known documents (`--known FILE`). Undefined if no relevant document was retrieved.
    """

    title = "novelty ratio"
    formula = "relevant unknown documents at ranks 1..k / relevant documents at ranks 1..k"
    source = "Korfhage 1997; Baeza-Yates and Ribeiro-Neto 1999, section 3.2"
    needs: ClassVar[Literal["judgments", "known"]] = "known"

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        unknown = ~known_rows(judged, self)[judged.row]
        chosen = judged.grade >= self.rel
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
        return over(judged.total(judged.query[chosen & unknown]), judged.total(judged.query[chosen]))
