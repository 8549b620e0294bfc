"""Measures of which ranks hold relevant documents."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, ClassVar

from leadline.explanation import Derivation, Listed, Steps, last_of, last_or_ten, number, ratio
from leadline.measures.average_precision import AP
from leadline.measures.interpolated_precision import IPrec
from leadline.measures.reciprocal_rank import RR


class Shares(Derivation):
    """Relevant documents at ranks 1..k, divided by k, R, or both."""

    measures: ClassVar[tuple[str, ...]] = ("P", "R", "Rprec", "F", "E", "Success", "NumRelRet")

    def steps(self, measure: Any, listed: Listed) -> Steps:
        """Count relevant documents, then divide."""
        relevant = listed.relevant(measure.rel)
        size = listed.count(measure.rel)
        name = type(measure).__name__
        cutoff = size if name == "Rprec" else measure.cutoff
        count = sum(relevant[:cutoff])
        where = f"at ranks 1..{cutoff}" if cutoff is not None else "in the list"
        lines = [f"relevant documents {where}: {count}"]
        depth = len(relevant) if cutoff is None else cutoff
        value, line = _share(measure, name, count, size, depth)
        return Steps(
            value,
            [*lines, *line],
            last_or_ten(relevant, cutoff),
            {
                "relevant": relevant,
                "found": list(accumulate(relevant)),
            },
        )


def _share(measure: Any, name: str, count: int, size: int, depth: int) -> tuple[float, list[str]]:
    """Give the value and the lines that end in it."""
    if name in ("F", "E"):
        return _f(measure, name, count, size, depth)
    if name == "Success":
        return float(count > 0), [f"{measure} = {int(count > 0)}"]
    if name == "NumRelRet":
        return float(count), [f"{measure} = {count}"]
    whole = size if name in ("R", "Rprec") else depth
    value = ratio(count, whole)
    said = [f"relevant documents judged: R = {size}"] if name in ("R", "Rprec") else []
    return value, [*said, f"{measure} = {count} / {whole} = {number(value)}"]


def _f(measure: Any, name: str, count: int, size: int, depth: int) -> tuple[float, list[str]]:
    linear = measure.form == "linear"
    weight = measure.beta if linear else measure.beta**2
    part, whole = (weight + 1) * count, weight * size + depth
    value = ratio(part, whole)
    beta = "beta" if linear else "beta^2"
    formula = f"F = (1 + {beta}) {count} / ({beta} {size} + {depth})"
    lines = [
        f"relevant documents judged: R = {size}",
        f"{formula} = {number(part)} / {number(whole)} = {number(value)}",
    ]
    if name == "E" and measure.form == "complement":
        value = 1.0 - value
        lines.append(f"E = 1 - F = {number(value)}")
    return value, lines


class AveragePrecision(Derivation):
    """Precision at every relevant document, added up, divided by R."""

    measures: ClassVar[tuple[str, ...]] = ("AP",)

    def steps(self, measure: AP, listed: Listed) -> Steps:
        """Add up precision at relevant documents."""
        relevant = listed.relevant(measure.rel)
        found = list(accumulate(relevant))
        precision = [count / rank for rank, count in enumerate(found, start=1)]
        cutoff = len(relevant) if measure.cutoff is None else measure.cutoff
        added = [
            part * flag * (rank <= cutoff)
            for rank, (part, flag) in enumerate(zip(precision, relevant, strict=True), start=1)
        ]
        sums = list(accumulate(added))
        size = listed.count(measure.rel)
        whole = size
        lines = [f"relevant documents judged: R = {size}"]
        if measure.norm == "min" and measure.cutoff is not None:
            whole = min(size, measure.cutoff)
            lines.append(f"min(R, k) = {whole}")
        total = sums[-1] if sums else 0.0
        value = ratio(total, whole)
        terms = [f"{found[place]}/{place + 1}" for place, part in enumerate(added) if part]
        lines.append(f"sum = {joined(terms)} = {number(total)}")
        lines.append(f"{measure} = {number(total)} / {whole} = {number(value)}")
        columns: dict[str, Sequence[float]] = {
            "relevant": relevant,
            "found": found,
            "precision": precision,
            "sum": sums,
        }
        return Steps(value, lines, last_of(relevant, cutoff), columns)


class ReciprocalRank(Derivation):
    """One over the rank of the first relevant document."""

    measures: ClassVar[tuple[str, ...]] = ("RR",)

    def steps(self, measure: RR, listed: Listed) -> Steps:
        """Find the first relevant document."""
        relevant = listed.relevant(measure.rel)
        columns = {"relevant": relevant}
        first = relevant[: measure.cutoff].index(1) + 1 if any(relevant[: measure.cutoff]) else 0
        if not first:
            where = "in the list" if measure.cutoff is None else f"at ranks 1..{measure.cutoff}"
            lines = [f"no relevant document {where}", f"{measure} = 0"]
            return Steps(0.0, lines, last_or_ten(relevant, measure.cutoff), columns)
        lines = [
            f"first relevant document at rank {first}",
            f"{measure} = 1 / {first} = {number(1 / first)}",
        ]
        return Steps(1 / first, lines, first, columns)


class Interpolated(Derivation):
    """The highest precision at a rank where recall has reached the level."""

    measures: ClassVar[tuple[str, ...]] = ("IPrec",)

    def steps(self, measure: IPrec, listed: Listed) -> Steps:
        """Show recall and precision at every rank; the highest of the precisions counts."""
        from leadline.judged import Judged

        relevant = listed.relevant(measure.rel)
        found = list(accumulate(relevant))
        size = listed.count(measure.rel)
        value = float(measure.values(Judged.of_grades(listed.grades, listed.judged))[0])
        lines = [
            f"relevant documents judged: R = {size}",
            f"highest precision with recall from {number(measure.recall)} on ({measure.rule})",
            f"{measure} = {number(value)}",
        ]
        columns: dict[str, Sequence[str | float | None]] = {
            "found": found,
            "recall": [ratio(count, size) if size else None for count in found],
            "precision": [count / rank for rank, count in enumerate(found, start=1)],
        }
        return Steps(value, lines, last_of(relevant), columns)


def joined(terms: list[str]) -> str:
    """Write a sum of many terms; long ones lose their middle."""
    if len(terms) > 12:
        terms = [*terms[:8], "...", *terms[-2:]]
    return " + ".join(terms) or "0"
