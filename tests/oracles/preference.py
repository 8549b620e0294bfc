"""Oracles of the measures in `leadline.measures.preference`."""

from __future__ import annotations

import math

from oracles import UNDEFINED, Case, count_relevant, cut, divide, is_relevant


def Bpref(case: Case, *, divisor: str = "min", rel: float) -> float:
    relevant = count_relevant(case, rel)
    others = sum(0 <= grade < rel for grade in case.grades.values())
    total, above, found = 0.0, 0, 0
    for document in cut(case, None):
        grade = case.grades.get(document, -1)
        if grade >= rel:
            if divisor == "above":
                total += 1 - above / (above + found) if above + found else 0
            elif divisor == "N":
                total += 1 - above / others if above else 1
            else:
                bound = relevant if divisor == "R" else min(others, relevant)
                total += 1 - min(above, relevant) / bound if above else 1
            found += 1
        elif grade >= 0:
            above += 1
    return divide(total, relevant)


def GMBpref(case: Case, *, rel: float) -> float:
    """Take bpref: only the mean differs."""
    return Bpref(case, rel=rel)


def Rpref(case: Case, *, divisor: str) -> float:
    grades = [case.grades[name] for name in cut(case, None) if case.grades.get(name, -1) >= 0]
    judged = [grade for grade in case.grades.values() if grade >= 0]
    total = 0.0
    for place, own in enumerate(grades):
        if own <= 0:
            continue
        loss = sum((own - grade) / own for grade in grades[:place] if grade < own)
        most = float(place) if divisor == "above" else sum(1 - grade / max(judged) for grade in judged)
        if divisor == "above" and not place:
            continue
        total += own * (1 - (loss / most if loss else 0))
    return divide(total, sum(judged))


def binG(case: Case, *, rel: float) -> float:
    """Walk down the list and count what is not relevant."""
    total, others = 0.0, 0
    for document in cut(case, None):
        if is_relevant(case, document, rel):
            total += 1 / math.log2(2 + others)
        else:
            others += 1
    return divide(total, count_relevant(case, rel))


def PairAccuracy(case: Case, *, rel: float, cutoff: int | None) -> float:
    hits = [is_relevant(case, name, rel) for name in cut(case, cutoff)]
    pairs = [
        upper < lower
        for upper, hit in enumerate(hits)
        if hit
        for lower, other in enumerate(hits)
        if not other
    ]
    return sum(pairs) / len(pairs) if pairs else UNDEFINED


def AUROC(case: Case, *, rel: float, cutoff: int | None) -> float:
    names = cut(case, cutoff)
    pairs = [
        (case.scores[one] > case.scores[other]) + (case.scores[one] == case.scores[other]) / 2
        for one in names
        if is_relevant(case, one, rel)
        for other in names
        if not is_relevant(case, other, rel)
    ]
    return sum(pairs) / len(pairs) if pairs else UNDEFINED
