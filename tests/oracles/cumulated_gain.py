"""Oracles of the measures in `leadline.measures.cumulated_gain`."""

from __future__ import annotations

import math

from oracles import Case, count_relevant, cut, divide


def CG(case: Case, *, cutoff: int | None) -> float:
    return sum(max(0.0, case.grades.get(document, 0)) for document in cut(case, cutoff))


def added(grades: list[float], gain: str, discount: str) -> float:
    total = 0.0
    for rank, grade in enumerate(grades, start=1):
        value = 2 ** max(grade, 0) - 1 if gain == "exp" else max(grade, 0)
        if discount == "jk":
            total += value if rank <= 2 else value / math.log2(rank)
        else:
            total += value / math.log2(rank + 1)
    return total


def DCG(case: Case, *, gain: str, discount: str, cutoff: int | None) -> float:
    return added([case.grades.get(name, 0) for name in cut(case, cutoff)], gain, discount)


def nDCG(case: Case, *, gain: str, discount: str, cutoff: int | None) -> float:
    best = sorted(case.grades.values(), reverse=True)[:cutoff]
    value = DCG(case, gain=gain, discount=discount, cutoff=cutoff)
    return divide(value, added(best, gain, discount))


def SDCG(case: Case, *, max_grade: float, cutoff: int) -> float:
    total = sum(
        max(case.grades.get(name, 0), 0) / max_grade / math.log2(rank + 1)
        for rank, name in enumerate(cut(case, cutoff), start=1)
    )
    return total / sum(1 / math.log2(rank + 1) for rank in range(1, cutoff + 1))


def gain_of(case: Case, document: str, gains: str) -> float:
    """Return the gain of a document."""
    grade = case.grades.get(document, 0)
    table = {} if gains == "grade" else dict(part.split(":") for part in gains.split("/"))
    found = {float(key): float(gain) for key, gain in table.items()}
    return found.get(grade, max(grade, 0.0)) if document in case.grades else 0.0


def GnDCG(case: Case, *, gains: str, cutoff: int | None) -> float:
    """Add up the discounted gains of the list and of the best list."""
    listed = [gain_of(case, document, gains) for document in cut(case, cutoff)]
    best = sorted((gain_of(case, document, gains) for document in case.grades), reverse=True)
    best = [gain for gain in best if gain > 0][:cutoff]
    value, ideal = (
        sum(gain / math.log2(rank + 1) for rank, gain in enumerate(some, start=1)) for some in (listed, best)
    )
    return divide(value, ideal)


def RnDCG(case: Case, *, gains: str, rel: float) -> float:
    """Take nDCG at each level, one by one."""
    assert gains == "grade"
    wanted = [grade for grade in case.grades.values() if grade > 0]
    if not count_relevant(case, rel) or not wanted:
        return math.nan
    cutoffs = [sum(grade >= level for grade in wanted) for level in sorted(set(wanted))]
    values = [nDCG(case, gain="linear", discount="log2", cutoff=cutoff) for cutoff in cutoffs]
    if len(case.scores) > len(wanted) + 1:
        whole = DCG(case, gain="linear", discount="log2", cutoff=None)
        perfect = Case(dict(case.grades), case.grades)
        best = DCG(perfect, gain="linear", discount="log2", cutoff=None)
        values.append(whole / best)
    return sum(values) / len(values)


def nDCGrel(case: Case, *, gains: str) -> float:
    """Take nDCG at the rank of each document with a gain, one by one."""
    assert gains == "grade"
    wanted = [document for document, grade in case.grades.items() if grade > 0]
    listed = cut(case, None)
    total = 0.0
    for document in wanted:
        rank = listed.index(document) + 1 if document in listed else None
        if rank is not None:
            total += nDCG(case, gain="linear", discount="log2", cutoff=rank)
        else:
            whole = DCG(case, gain="linear", discount="log2", cutoff=None)
            perfect = Case(dict(case.grades), case.grades)
            total += whole / DCG(perfect, gain="linear", discount="log2", cutoff=None)
    return total / len(wanted) if wanted else math.nan


def G(case: Case, *, gains: str) -> float:
    """Walk down the list beside the best one."""
    assert gains == "grade"
    best = sorted((grade for grade in case.grades.values() if grade > 0), reverse=True)
    total, paid, got = 0.0, 0.0, 0.0
    for place, document in enumerate(cut(case, None)):
        gain = max(case.grades.get(document, 0.0), 0.0)
        paid += max(best[place], 1.0) if place < len(best) else 1.0
        got += gain
        if gain:
            total += gain / math.log2(2 + paid - got)
    return divide(total, sum(best))
