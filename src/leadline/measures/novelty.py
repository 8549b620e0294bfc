"""Novelty ratio."""

from __future__ import annotations

from typing import ClassVar, Literal

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, over
from leadline.measures.coverage import known_rows
from leadline.naming import cutoff, number


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

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        unknown = ~known_rows(judged, self)[judged.row]
        chosen = judged.grade >= self.rel
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
        return over(
            judged.total(judged.query[chosen & unknown]), judged.total(judged.query[chosen])
        )
