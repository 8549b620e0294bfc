"""Coverage ratio."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from leadline.arrays import Flags, Floats
from leadline.errors import UsageError
from leadline.judged import Judged
from leadline.measures import Measure, over
from leadline.naming import cutoff, number


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

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        known = known_rows(judged, self)
        wanted = known & (judged.qrels.grades >= self.rel)
        chosen = wanted[judged.row]
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
        whole = judged.qrels.count(wanted).astype(np.float64)
        return over(judged.total(judged.query[chosen]), whole)


def known_rows(judged: Judged, measure: Measure) -> Flags:
    """Give which judged documents the user knew; an error when nobody said."""
    if judged.qrels.known is None:
        raise UsageError(f"{measure} needs the documents that the user knew before: --known FILE")
    return judged.qrels.known
