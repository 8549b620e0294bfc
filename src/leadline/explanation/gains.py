"""Cumulative gain and its discounted and normalised forms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, ClassVar

from leadline.explanation import Derivation, Listed, Steps, last_of, number, ratio
from leadline.explanation.relevance import joined


class Gains(Derivation):
    """Gains, their sum, the discount, the discounted sum; for nDCG the ideal beside it."""

    measures: ClassVar[tuple[str, ...]] = ("CG", "DCG", "nDCG")

    def steps(self, measure: Any, listed: Listed) -> Steps:
        """Add up gains rank by rank."""
        name = type(measure).__name__
        gains = [_gain(measure, grade) for grade in listed.grades]
        cutoff = len(gains) if measure.cutoff is None else measure.cutoff
        counted = [gain * (rank <= cutoff) for rank, gain in enumerate(gains, start=1)]
        last = last_of([int(gain > 0) for gain in counted])
        columns: dict[str, Sequence[str | float | None]] = {
            "gain": gains,
            "CG": list(accumulate(counted)),
        }
        if name == "CG":
            total = sum(counted)
            terms = [number(gain) for gain in counted if gain]
            return Steps(total, [f"{measure} = {joined(terms)} = {number(total)}"], last, columns)
        logs, added = _discounted(measure, counted)
        columns[_log(measure)] = logs
        columns["DCG"] = sums = list(accumulate(added))
        total = sums[-1] if sums else 0.0
        lines = [f"DCG = {joined([number(part) for part in added if part])} = {number(total)}"]
        if measure.discount == "jk":
            lines.insert(0, "ranks 1 and 2 are not discounted")
        if name == "DCG":
            return Steps(
                total, [*lines[:-1], lines[-1].replace("DCG", str(measure), 1)], last, columns
            )
        return self.normalised(measure, listed, Steps(total, lines, last, columns))

    def normalised(self, measure: Any, listed: Listed, steps: Steps) -> Steps:
        """Divide by the same sum of the ideal order."""
        best = sorted((_gain(measure, grade) for grade in listed.judged), reverse=True)
        ideal = [gain for gain in best if gain > 0][: measure.cutoff]
        added = _discounted(measure, ideal)[1]
        whole = sum(added)
        length = len(listed.grades)
        reached = list(accumulate([*added, *[0.0] * length]))[:length]
        sums = [float(part or 0.0) for part in steps.columns["DCG"]]
        columns = {
            **steps.columns,
            "ideal DCG": reached,
            "nDCG": [
                part / most if most else None for part, most in zip(sums, reached, strict=True)
            ],
        }
        value = ratio(steps.value, whole)
        lines = [
            f"ideal order of all judged gains: {joined_gains(ideal)}",
            f"ideal DCG = {joined([number(part) for part in added])} = {number(whole)}",
            f"{measure} = {number(steps.value)} / {number(whole)} = {number(value)}",
        ]
        return Steps(value, [*steps.lines, *lines], steps.last, columns)


def _gain(measure: Any, grade: float | None) -> float:
    if grade is None or grade <= 0:
        return 0.0
    return 2.0**grade - 1.0 if getattr(measure, "gain", "linear") == "exp" else grade


def _log(measure: Any) -> str:
    return "log2(rank+1)" if measure.discount == "log2" else "log2(rank)"


def _discounted(measure: Any, gains: list[float]) -> tuple[list[float], list[float]]:
    """Give the logarithm of every rank, and the gains divided by it."""
    shift = 1 if measure.discount == "log2" else 0
    logs = [math.log2(rank + shift) for rank in range(1, len(gains) + 1)]
    return logs, [gain / max(log, 1.0) for gain, log in zip(gains, logs, strict=True)]


def joined_gains(gains: list[float]) -> str:
    """Write gains in order; long lists lose their middle."""
    shown = [number(gain) for gain in gains]
    if len(shown) > 16:
        shown = [*shown[:12], "...", *shown[-2:]]
    return " ".join(shown) or "none"
