"""The gain of each grade: the grade itself, or what a parameter says."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.judged import Gains, Judged
from leadline.naming import Parameter, show
from leadline.qrels import Ideal


class GainsByGrade(Parameter):
    """Gains of some grades, written as 1:3/2:9; `grade`: all gains are the grades."""

    def expected(self) -> str:
        """Say in words what is allowed."""
        return "grade, or gains of grades as in 1:3/2:9"

    def read(self, value: object) -> object:
        """Turn text or pairs into the text of the gains, by grade."""
        if value == "grade":
            return "grade"
        pairs: list[Any] = []
        if isinstance(value, str):
            pairs = [part.split(":") for part in value.split("/")]
        elif isinstance(value, dict):
            pairs = list(value.items())
        if not pairs:
            raise ValueError
        table: dict[float, str] = {}
        for grade, gain in pairs:
            key = float(show(super().read(grade)))
            if key < 0 or key in table:
                raise ValueError
            table[key] = show(super().read(gain))
        return "/".join(f"{show(grade)}:{gain}" for grade, gain in sorted(table.items()))


def gains_by_grade() -> Any:
    """Declare a parameter that says which gain a grade has."""
    return GainsByGrade("grade", kind=float, low=-1e9, high=1e9)


def gains_of(judged: Judged, gains: str) -> tuple[Gains, Ideal]:
    """Give the retrieved documents with a gain other than 0, and the ideal list."""
    if gains == "grade":
        return judged.gains, judged.qrels.ideal
    table = [tuple(map(float, part.split(":"))) for part in gains.split("/")]
    qrels = judged.qrels
    gain = np.maximum(qrels.grades, 0.0)
    for grade, changed in table:
        gain[qrels.grades == grade] = changed
    retrieved = gain[judged.row]
    rows = np.flatnonzero(retrieved)
    best = np.flatnonzero(gain > 0)
    best = best[np.lexsort((-gain[best], qrels.query[best]))]
    query = qrels.query[best]
    first = np.searchsorted(query, np.arange(len(qrels.queries)))
    ideal = Ideal(query, np.arange(len(best)) - first[query] + 1, gain[best])
    return Gains(judged.query[rows], judged.rank[rows], retrieved[rows]), ideal


def running(values: Floats, bounds: Integers) -> Floats:
    """Add up from the first to each value inside every stretch, one after the other."""
    total = np.empty(len(values))
    edges = bounds.tolist()
    with np.errstate(over="ignore"):  # the measure refuses sums that are no numbers
        for low, high in pairwise(edges):
            np.add.accumulate(values[low:high], out=total[low:high])
    return total
