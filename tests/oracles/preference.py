"""Oracles of the measures in `leadline.measures.preference`."""

from __future__ import annotations

import math

from oracles import UNDEFINED, Case, count_relevant, cut, divide, is_relevant


def Bpref(case: Case, *, rel: float) -> float:
    relevant = count_relevant(case, rel)
    others = sum(0 <= grade < rel for grade in case.grades.values())
    total, above = 0.0, 0
    for document in cut(case, None):
        grade = case.grades.get(document, -1)
        if grade >= rel:
            total += 1 - min(above, relevant) / min(others, relevant) if above else 1
        elif grade >= 0:
            above += 1
    return divide(total, relevant)


def GMBpref(case: Case, *, rel: float) -> float:
    """Take bpref: only the mean differs."""
    return Bpref(case, rel=rel)


def binG(case: Case, *, rel: float) -> float:
    """Walk down the list and count what is not relevant."""
    total, others = 0.0, 0
    for document in cut(case, None):
        if is_relevant(case, document, rel):
            total += 1 / math.log2(2 + others)
        else:
            others += 1
    return divide(total, count_relevant(case, rel))


def Accuracy(case: Case, *, rel: float, cutoff: int | None) -> float:
    hits = [is_relevant(case, name, rel) for name in cut(case, cutoff)]
    pairs = [
        upper < lower
        for upper, hit in enumerate(hits)
        if hit
        for lower, other in enumerate(hits)
        if not other
    ]
    return sum(pairs) / len(pairs) if pairs else UNDEFINED
