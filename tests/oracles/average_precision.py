"""Oracles of the measures in `leadline.measures.average_precision`."""

from __future__ import annotations

import math
from fractions import Fraction

from oracles import UNDEFINED, Case, count_found, count_relevant, cut, divide, is_relevant


def AP(case: Case, *, rel: float, norm: str, cutoff: int | None) -> float:
    total, found = 0.0, 0
    for rank, document in enumerate(cut(case, cutoff), start=1):
        if is_relevant(case, document, rel):
            found += 1
            total += found / rank
    size = count_relevant(case, rel)
    return divide(total, min(size, cutoff) if norm == "min" and cutoff else size)


def IPrec(case: Case, *, rule: str, rel: float, recall: float) -> float:
    size = count_relevant(case, rel)
    if not size:
        return UNDEFINED
    points: list[tuple[int, float]] = []  # relevant documents so far, precision
    for rank, document in enumerate(cut(case, None), start=1):
        if is_relevant(case, document, rel):
            points.append((len(points) + 1, (len(points) + 1) / rank))
    level = Fraction(str(recall))
    if rule == "trec9":
        return max((p for n, p in points if n >= int(recall * size + 0.9)), default=0.0)
    if rule == "trec10":
        return max((p for n, p in points if n >= math.floor(recall * size + 0.5)), default=0.0)
    if rule == "standard":
        return max((p for n, p in points if Fraction(n, size) >= level), default=0.0)
    while level <= 1:
        upper = level + Fraction(1, 10)
        here = [p for n, p in points if level <= Fraction(n, size) <= upper]
        if here or rule == "printed-zero":
            return max(here, default=0.0)
        level = upper
    return 0.0


def GMAP(case: Case, *, rel: float) -> float:
    """Take average precision: only the mean differs."""
    return AP(case, rel=rel, norm="relevant", cutoff=None)


def SetAP(case: Case, *, rel: float) -> float:
    """Follow the definition: precision times recall."""
    found = count_found(case, rel, None)
    return divide(found * found, len(case.scores) * count_relevant(case, rel))


def infAP(case: Case, *, rel: float) -> float:
    """Walk down the list and count what stands above each relevant document."""
    total, found, others, pooled = 0.0, 0, 0, 0
    for rank, document in enumerate(cut(case, None), start=1):
        if document not in case.grades:
            continue
        grade = case.grades[document]
        if grade < 0:
            pooled += 1
        elif grade < rel:
            others += 1
        else:
            above = found + others + pooled
            share = (found + 0.00001) / (found + others + 0.00002)
            total += 1 / rank + (0 if rank == 1 else (rank - 1) / rank * above / (rank - 1) * share)
            found += 1
    return divide(total, count_relevant(case, rel))


def AvgIPrec(case: Case, *, rule: str, levels: str, rel: float) -> float:
    """Take the mean of interpolated precision, level by level."""
    texts = [f"{tenth / 10}" for tenth in range(11)] if levels == "eleven" else levels.split("/")
    values = [IPrec(case, rule=rule, rel=rel, recall=float(level)) for level in texts]
    return sum(values) / len(values)


def GAP(case: Case, *, weights: str, norm: str, cutoff: int | None) -> float:
    def cumulated(grade: float) -> float:
        return max(grade, 0) * (max(grade, 0) + 1) / 2 if weights == "level" else max(grade, 0)

    names = cut(case, cutoff)
    total = 0.0
    for rank, name in enumerate(names, start=1):
        here = case.grades.get(name, 0)
        above = [case.grades.get(other, 0) for other in names[:rank]]
        total += sum(cumulated(min(here, grade)) for grade in above) / rank
    best = sorted(map(cumulated, case.grades.values()), reverse=True)
    return divide(total, sum(best[:cutoff] if norm == "min" else best))
