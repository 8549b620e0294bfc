"""Measures that are a count of relevant (or judged) documents at ranks 1..k, moved and scaled."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Codes, Floats, Integers
from leadline.bounds import Rule
from leadline.bounds.orders import group_bounds, last_places
from leadline.judged import Judged
from leadline.measures import Measure


class Counts(Rule):
    """The value is a + b x count, where order changes neither a nor b.

    Of a tie group at ranks f..l, each document stands at a rank up to k with probability
    min(max(k - f + 1, 0), l - f + 1) / (l - f + 1), and the expected count is the sum. A value that is
    a line in the count is expected where the expected count lies between the lowest and the highest.
    F: the count r appears once, in (1 + beta^2) r / (beta^2 R + n); E is its complement.
    """

    measures: ClassVar[tuple[str, ...]] = (
        "E", "F", "Judged", "NumRelRet", "P", "R", "RelP", "Rprec", "RprecMult", "Unj",
    )  # fmt: skip

    def expected(self, measure: Measure, judged: Judged, *, low: Floats, high: Floats) -> Floats:
        """Give the mean over all orders."""
        least = 0.0 if _counts_judgments(measure) else float(getattr(measure, "rel", 1.0))
        chosen = np.flatnonzero(judged.grade >= least)
        query = judged.query[chosen]
        first = judged.tie_first[chosen].astype(np.int64)
        last = last_places(judged)[chosen]
        cutoff = _cutoff(measure, judged, query)
        within = last if cutoff is None else np.minimum(cutoff, last)
        size = last - first + 1
        inside = np.clip(within - first + 1, 0, size)
        counted = judged.total(query, inside / size)
        ends = [judged.total(query, part) for part in _ends(query, first, inside, size)]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (counted - ends[0]) / (ends[1] - ends[0])
        return low + (high - low) * np.where(ends[1] == ends[0], 0.0, share)

    def monotone(self, measure: Measure) -> bool:
        """Judged and Unj count judgments, not grades."""
        del self
        return not _counts_judgments(measure)


def _counts_judgments(measure: Measure) -> bool:
    return type(measure).__name__ in ("Judged", "Unj")


def _cutoff(measure: Measure, judged: Judged, query: Codes) -> Floats | int | None:
    """Give the last rank that counts, for every row; None where the whole list does."""
    multiple = 1.0 if type(measure).__name__ == "Rprec" else getattr(measure, "multiple", None)
    if multiple is None:
        return getattr(measure, "cutoff", None)
    size = judged.qrels.relevant(float(getattr(measure, "rel", 1.0)))[query]
    return np.asarray(size if multiple == 1 else np.floor(multiple * size + 0.9), dtype=np.float64)


def _ends(query: Codes, first: Integers, inside: Integers, size: Integers) -> tuple[Floats, Floats]:
    """Give each row's part of the lowest and of the highest count.

    Of r chosen documents in a group of `size`, of which `inside` ranks count, at least
    r - (size - inside) and at most `inside` count.
    """
    start, stop = group_bounds(query, first)
    chosen = stop - start
    low, high = np.maximum(chosen - size + inside, 0), np.minimum(chosen, inside)
    return low / chosen, high / chosen
