"""Measures of a user who goes down the list and may stop: RBP and ERR."""

from __future__ import annotations

from itertools import accumulate
from typing import ClassVar

from leadline.explanation import Derivation, Listed, Steps, last_of, number
from leadline.explanation.relevance import joined
from leadline.measures.expected_reciprocal_rank import ERR
from leadline.measures.rank_biased import RBP


class RankBiased(Derivation):
    """Gain times the share of attention that each rank gets."""

    measures: ClassVar[tuple[str, ...]] = ("RBP",)

    def steps(self, measure: RBP, listed: Listed) -> Steps:
        """Add up gain x weight."""
        gains = [_share(measure, grade, listed.judged) for grade in listed.grades]
        weights = [(1 - measure.p) * measure.p**place for place in range(len(gains))]
        cutoff = len(gains) if measure.cutoff is None else measure.cutoff
        parts = [
            gain * weight * (place < cutoff)
            for place, (gain, weight) in enumerate(zip(gains, weights, strict=True))
        ]
        sums = list(accumulate(parts))
        value = sums[-1] if sums else 0.0
        p = number(measure.p)
        lines = [
            f"weight of rank r: (1 - {p}) {p}^(r - 1)",
            f"{measure} = {joined([number(part) for part in parts if part])} = {number(value)}",
        ]
        columns = {"gain": gains, "weight": weights, "gain x weight": parts, "sum": sums}
        return Steps(value, lines, last_of([int(part > 0) for part in parts]), columns)


def _share(measure: RBP, grade: float | None, judged: list[float]) -> float:
    """Give the gain of a document."""
    if grade is None:
        return 0.0
    if measure.gain == "binary":
        return float(grade >= measure.rel)
    largest = measure.max_grade if measure.gain == "graded" else max(1.0, *judged)
    return max(grade, 0.0) / largest


class Cascade(Derivation):
    """The chance that the user stops at each rank, divided by the rank."""

    measures: ClassVar[tuple[str, ...]] = ("ERR",)

    def steps(self, measure: ERR, listed: Listed) -> Steps:
        """Follow the user down the list."""
        stops = [
            (2.0 ** max(grade or 0.0, 0.0) - 1.0) / 2.0**measure.max_grade
            for grade in listed.grades
        ]
        arrives = list(accumulate([1.0 - stop for stop in stops], float.__mul__, initial=1.0))[:-1]
        cutoff = len(stops) if measure.cutoff is None else measure.cutoff
        parts = [
            stop * arrive / rank * (rank <= cutoff)
            for rank, (stop, arrive) in enumerate(zip(stops, arrives, strict=True), start=1)
        ]
        sums = list(accumulate(parts))
        value = sums[-1] if sums else 0.0
        lines = [
            f"a document satisfies with s = (2^grade - 1) / 2^{number(measure.max_grade)}",
            "a user arrives at a rank with the product of 1 - s above it, and adds s / rank",
            f"{measure} = {joined([number(part) for part in parts if part])} = {number(value)}",
        ]
        columns = {"s": stops, "arrives": arrives, "part": parts, "sum": sums}
        return Steps(value, lines, last_of([int(part > 0) for part in parts]), columns)
