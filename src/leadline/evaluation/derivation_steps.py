"""Steps of the derivation of a value, and the list that it is derived from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

Columns: TypeAlias = Mapping[str, Sequence[str | float | None]]


class Listed(NamedTuple):
    """Ranked list of one query with its grades."""

    documents: list[str]
    scores: list[float]
    ties: list[str | None]  # range of tied ranks, such as "2-4"; None for untied documents
    grades: list[float | None]  # grades by rank; None for unjudged documents
    judged: list[float]  # grades of all judged documents of the query, retrieved or not
    subtopics: dict[str, dict[str, float]]  # grades of judged documents by subtopic; empty without subtopics

    def relevant(self, rel: float) -> list[int]:
        """Return 1 for every rank with a document of grade `rel` or more, else 0."""
        return [int(grade is not None and grade >= rel) for grade in self.grades]

    def count(self, rel: float) -> int:
        """Return R, the number of judged documents of grade `rel` or more."""
        return sum(grade >= rel for grade in self.judged)


@dataclass(frozen=True)
class Steps:
    """Derivation of a value."""

    value: float
    lines: list[str]  # formulas with numbers; the last line ends in the value
    last: int  # last rank that affects the value
    columns: Columns = field(default_factory=dict)  # quantities at each rank by name


class Derivation:
    """Derivation for a family of measures; measures without one show ranks and grades only."""

    measures: ClassVar[tuple[str, ...]] = ()

    def steps(self, measure: Any, listed: Listed) -> Steps:
        """Derive the value of one list."""
        raise NotImplementedError


def number(value: float) -> str:
    """Return a number as text with at most six digits after the decimal point.

    >>> number(0.5), number(2.0), number(2 / 3), number(float("nan"))
    ('0.5', '2', '0.666667', 'undefined')
    """
    if value != value:  # noqa: PLR0124  # NaN
        return "undefined"
    return f"{value:.6f}".rstrip("0").rstrip(".") if abs(value) < 1e9 else f"{value:g}"


def ratio(part: float, whole: float) -> float:
    """Return the quotient; NaN if the divisor is 0."""
    return part / whole if whole else float("nan")


def last_or_ten(flags: list[int], cutoff: int | None = None) -> int:
    """Return the last flagged rank up to the cutoff, at least the smaller of 10 and the cutoff."""
    return max(last_of(flags, cutoff), min(10 if cutoff is None else cutoff, 10))


def last_of(flags: list[int], cutoff: int | None = None) -> int:
    """Return the last flagged rank up to the cutoff; 0 if there is none."""
    return max((rank for rank, flag in enumerate(flags[:cutoff], start=1) if flag), default=0)
