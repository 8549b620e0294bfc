"""RIC and id once more, as a slow and obvious loop over ordered pairs of documents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple


class Said(NamedTuple):
    """The values of two lists for one query."""

    ric: tuple[float, float]
    concordance: tuple[float, float]
    only: tuple[float, float]


def cut_list(
    ranked: Sequence[str],
    grades: Mapping[str, float],
    *,
    k: int | None = None,
    rel: float = 1.0,
    truncate: bool = True,
    condense: bool = False,
) -> list[str]:
    """Cut at k, then after the last relevant document; unjudged ones take up ranks."""
    found = [name for name in ranked if not condense or name in grades][:k]
    while truncate and found and grades.get(found[-1], 0) < rel:
        found.pop()
    return found


def says(ranked: Sequence[str], left: str, right: str) -> int:
    """Return R of an ordered pair."""
    a = ranked.index(left) if left in ranked else math.inf
    b = ranked.index(right) if right in ranked else math.inf
    return (a < b) - (a > b)


def place_weights(grades: Mapping[str, float], *, printed6: bool = False) -> dict[str, float]:
    """Return P(d): the mean probability of the ranks where a document stands in an ideal list."""
    found = {}
    for name, grade in grades.items():
        low = 1 + sum(other > grade for other in grades.values())
        many = sum(other == grade for other in grades.values())
        ranks = range(low, low + many + printed6)
        total = sum(1 / math.log2(rank + 1) - 1 / math.log2(rank + 2) for rank in ranks)
        found[name] = total / many
    return found


def mutual(joint: Mapping[tuple[object, int], float]) -> float:
    """Return I(X; Q) of a table of probabilities by (x, q)."""
    xs: Counter[object] = Counter()
    qs: Counter[int] = Counter()
    for (x, q), p in joint.items():
        xs[x] += p  # type: ignore[assignment]  # a Counter of weights
        qs[q] += p  # type: ignore[assignment]
    return math.fsum(p * math.log2(p / (xs[x] * qs[q])) for (x, q), p in joint.items() if p > 0)


def compare(
    grades: Mapping[str, float],
    first: Sequence[str],
    second: Sequence[str],
    weights: Mapping[str, float] | None = None,
) -> Said:
    """Compare two lists, already cut."""
    tables: list[Counter[tuple[object, int]]] = [Counter(), Counter(), Counter()]
    signed = [0.0, 0.0]
    total = 0.0
    for left, right in permutations(grades, 2):
        if grades[left] == grades[right]:
            continue
        weight = 1.0 if weights is None else weights[left] * weights[right]
        total += weight
        q = int(grades[left] > grades[right])
        answers = says(first, left, right), says(second, left, right)
        for table, x in zip(tables, (*answers, answers), strict=True):
            table[x, q] += weight  # type: ignore[assignment]
        for place, answer in enumerate(answers):
            signed[place] += weight * answer * (1 if q else -1)
    one, two, both = (mutual({key: weight / total for key, weight in table.items()}) for table in tables)
    return Said((one, two), (signed[0] / total, signed[1] / total), (both - two, both - one))
