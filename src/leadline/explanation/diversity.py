"""Measures of the subtopics that a list covers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import ClassVar

from leadline.explanation import Derivation, Listed, Steps, last_of, number, ratio
from leadline.explanation.relevance import joined
from leadline.measures.alpha_ndcg import alpha_nDCG
from leadline.measures.subtopic_recall import StRecall


class Novel(Derivation):
    """Gain of every document from the subtopics it covers, less what earlier documents had of them."""

    measures: ClassVar[tuple[str, ...]] = ("alpha_nDCG",)

    def steps(self, measure: alpha_nDCG, listed: Listed) -> Steps:
        """Add up discounted gains, and divide by those of the greedy ideal."""
        covers = _covers(listed, measure.rel)
        cutoff = len(listed.documents) if measure.cutoff is None else measure.cutoff
        shown = [covers.get(name, []) for name in listed.documents]
        gains = _gains(shown, measure.alpha)
        sums = _discounted(gains, cutoff)
        ideal = _discounted(_gains(_ideal(covers, measure.alpha), measure.alpha), measure.cutoff)
        part, whole = (rows[-1] if rows else 0.0 for rows in (sums, ideal))
        value = ratio(part, whole)
        reached = [*ideal, *[whole] * len(sums)][: len(sums)]
        less = number(1.0 - measure.alpha)
        lines = [
            f"a subtopic adds {less}^n to the gain, n documents above cover it; discount 1/log2(rank+1)",
            f"DCG = {joined([number(part) for part in _steps_of(sums) if part])} = {number(part)}",
            f"ideal DCG, each rank the document that adds most = {number(whole)}",
            f"{measure} = {number(part)} / {number(whole)} = {number(value)}",
        ]
        columns: dict[str, Sequence[str | float | None]] = {
            "subtopics": [",".join(names) for names in shown],
            "gain": gains,
            "DCG": sums,
            "ideal DCG": reached,
            "alpha_nDCG": [
                one / most if most else None for one, most in zip(sums, reached, strict=True)
            ],
        }
        last = last_of([int(gain > 0) for gain in gains], cutoff)
        return Steps(value, lines, last, columns)


class Subtopics(Derivation):
    """Subtopics covered so far, divided by all that can be."""

    measures: ClassVar[tuple[str, ...]] = ("StRecall",)

    def steps(self, measure: StRecall, listed: Listed) -> Steps:
        """Count subtopics, then divide."""
        covers = _covers(listed, measure.rel)
        shown = [covers.get(name, []) for name in listed.documents]
        new = [len(_unseen(shown, place)) for place in range(len(shown))]
        every = {name for names in covers.values() for name in names}
        count = sum(new[: measure.cutoff])
        value = ratio(count, len(every))
        lines = [
            f"subtopics that judged documents cover: {len(every)}",
            f"{measure} = {count} / {len(every)} = {number(value)}",
        ]
        columns: dict[str, Sequence[str | float | None]] = {
            "subtopics": [",".join(names) for names in shown],
            "new": new,
            "found": list(accumulate(new)),
        }
        return Steps(value, lines, last_of(new, measure.cutoff), columns)


def _covers(listed: Listed, rel: float) -> dict[str, list[str]]:
    """Give the subtopics that each judged document covers."""
    found = {
        document: sorted(name for name, grade in grades.items() if grade >= rel)
        for document, grades in listed.subtopics.items()
    }
    return {document: names for document, names in found.items() if names}


def _unseen(shown: list[list[str]], place: int) -> set[str]:
    return set(shown[place]).difference(*shown[:place])


def _gains(shown: Iterable[list[str]], alpha: float) -> list[float]:
    """Give the gain of every rank from the subtopics there."""
    seen: dict[str, int] = {}
    gains = []
    for names in shown:
        gains.append(sum(((1.0 - alpha) ** seen.get(name, 0) for name in names), 0.0))
        for name in names:
            seen[name] = seen.get(name, 0) + 1
    return gains


def _discounted(gains: list[float], cutoff: int | None) -> list[float]:
    """Add up discounted gains to every rank."""
    counted = [
        gain / math.log2(rank + 1) * (cutoff is None or rank <= cutoff)
        for rank, gain in enumerate(gains, start=1)
    ]
    return list(accumulate(counted))


def _steps_of(sums: list[float]) -> list[float]:
    """Give what was added up."""
    return [one - before for one, before in zip(sums, [0.0, *sums], strict=False)]


def _ideal(covers: Mapping[str, list[str]], alpha: float) -> list[list[str]]:
    """Give the subtopics of the ideal list: each rank takes the document that adds most."""
    left = sorted(covers, key=lambda name: name.encode("utf-8", "surrogateescape"), reverse=True)
    shown: list[list[str]] = []
    while left:
        adds = [round(_gains([*shown, covers[name]], alpha)[-1], 12) for name in left]
        shown.append(covers[left.pop(adds.index(max(adds)))])
    return shown
