"""Oracles of the measures in `leadline.measures.precision`."""

from __future__ import annotations

import math
from itertools import permutations

from oracles import UNDEFINED, Case, count_found, count_relevant, cut, divide, is_relevant


def P(case: Case, *, rel: float, cutoff: int | None) -> float:
    return divide(count_found(case, rel, cutoff), cutoff or len(case.scores))


def R(case: Case, *, rel: float, cutoff: int | None) -> float:
    return divide(count_found(case, rel, cutoff), count_relevant(case, rel))


def F(case: Case, *, beta: float, form: str = "squared", rel: float, cutoff: int | None) -> float:
    """Follow the lecture, from P and R; undefined only where nothing at all can be counted."""
    weight = beta if form == "linear" else beta * beta
    p = P(case, rel=rel, cutoff=cutoff)
    r = R(case, rel=rel, cutoff=cutoff)
    if math.isnan(p) and (beta == 0 or math.isnan(r)):
        return UNDEFINED
    if not p or not r or math.isnan(p) or math.isnan(r):
        return 0.0
    return (1 + weight) * p * r / (weight * p + r)


def E(case: Case, *, beta: float, form: str, rel: float, cutoff: int | None) -> float:
    value = F(case, beta=beta, rel=rel, cutoff=cutoff)
    if form == "lecture":
        return value
    return 1.0 if math.isnan(value) else 1 - value


def FallOut(case: Case, *, documents: int, rel: float, cutoff: int | None) -> float:
    names = cut(case, cutoff)
    if documents:
        found = [name for name in names if not is_relevant(case, name, rel)]
        return divide(len(found), documents - count_relevant(case, rel))
    others = [name for name, grade in case.grades.items() if 0 <= grade < rel]
    return divide(len([name for name in names if name in others]), len(others))


def Rprec(case: Case, *, rel: float) -> float:
    size = count_relevant(case, rel)
    return divide(count_found(case, rel, size), size)


def Success(case: Case, *, rel: float, cutoff: int) -> float:
    return 1.0 if count_found(case, rel, cutoff) else 0.0


def Complete(case: Case, *, rel: float, cutoff: int | None) -> float:
    """Go through the relevant documents, each of which must be there."""
    wanted = [name for name in case.grades if is_relevant(case, name, rel)]
    if not wanted:
        return UNDEFINED
    return float(all(name in cut(case, cutoff) for name in wanted))


def RprecMult(case: Case, *, rel: float, multiple: float) -> float:
    """Follow the definition: precision at a cutoff of its own for every query."""
    cutoff = int(multiple * count_relevant(case, rel) + 0.9)
    return divide(count_found(case, rel, cutoff), cutoff)


def RelP(case: Case, *, rel: float, cutoff: int) -> float:
    """Follow the definition: precision at k over the best precision at k."""
    return divide(count_found(case, rel, cutoff), min(cutoff, count_relevant(case, rel)))


def SetRelP(case: Case, *, rel: float) -> float:
    """Follow the definition: precision over the best precision of such a list."""
    return divide(count_found(case, rel, None), min(len(case.scores), count_relevant(case, rel)))


def Utility(  # one argument per parameter
    case: Case, *, a: float, b: float, c: float, d: float, documents: int, rel: float
) -> float:
    """Count the four kinds of documents one by one."""
    found, size = count_found(case, rel, None), count_relevant(case, rel)
    others = len(case.scores) - found
    return a * found + b * others + c * (size - found) + d * (documents - size - others)


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
    """Return the mean number of others before the wanted relevant document, over all orders of a group."""
    orders = set(permutations([True] * relevant + [False] * others))
    total = 0
    for order in orders:
        seen = 0
        for index, hit in enumerate(order):
            seen += hit
            if hit and seen == wanted:
                total += index + 1 - wanted
    return total / len(orders)
