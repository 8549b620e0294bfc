"""Oracles of the measures in `leadline.measures.first_rank`."""

from __future__ import annotations

from itertools import permutations

from oracles import UNDEFINED, Case, count_found, count_relevant, cut, is_relevant


def RR(case: Case, *, rel: float, cutoff: int | None) -> float:
    for rank, document in enumerate(cut(case, cutoff), start=1):
        if is_relevant(case, document, rel):
            return 1 / rank
    return 0.0


def RankOf(case: Case, *, n: int | str, form: str, rel: float) -> float:
    relevant = count_relevant(case, rel)
    wanted = relevant if n == "all" else int(n)
    if not wanted or count_found(case, rel, None) < wanted:
        return UNDEFINED
    if form == "rank":
        return min(k for k in range(len(case.scores) + 1) if count_found(case, rel, k) == wanted)
    before, groups = 0, sorted(set(case.scores.values()), reverse=True)
    for score in groups:
        group = [is_relevant(case, name, rel) for name, value in case.scores.items() if value == score]
        if sum(group) >= wanted:
            return before + mean_before(sum(group), len(group) - sum(group), wanted)
        wanted -= sum(group)
        before += len(group) - sum(group)
    return UNDEFINED


def mean_before(relevant: int, others: int, wanted: int) -> float:
    """Give how many others stand before the wanted relevant one, over all orders of a group."""
    orders = set(permutations([True] * relevant + [False] * others))
    total = 0
    for order in orders:
        seen = 0
        for place, hit in enumerate(order):
            seen += hit
            if hit and seen == wanted:
                total += place + 1 - wanted
    return total / len(orders)
