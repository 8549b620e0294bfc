"""Oracles of the measures in `leadline.measures.preference`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from oracles import UNDEFINED, Case, count_relevant, cut, divide, is_relevant

EPSILON = 0.00001


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


def xinfAP(case: Case, *, rel: float, strata: Mapping[str, str] | None = None) -> float:
    label = dict.fromkeys(case.grades, "") if strata is None else strata
    stands_for = {}
    for stratum in set(label.values()):
        pool = [document for document in case.grades if label[document] == stratum]
        judged = [document for document in pool if case.grades[document] >= 0]
        stands_for[stratum] = len(pool) / len(judged) if judged else 0.0
    total = sum(stands_for[label[document]] for document, grade in case.grades.items() if grade >= rel)
    value = 0.0
    above: list[str] = []
    for rank, document in enumerate(cut(case, None), start=1):
        if document not in case.grades:
            continue
        if case.grades[document] >= rel:
            expected = 1.0
            for stratum in stands_for:
                inside = [other for other in above if label[other] == stratum]
                seen = [other for other in inside if case.grades[other] >= 0]
                relevant = [other for other in seen if case.grades[other] >= rel]
                expected += len(inside) * (len(relevant) + EPSILON) / (len(seen) + 3 * EPSILON)
            value += expected / rank * stands_for[label[document]]
        above.append(document)
    return divide(value, total)


def infNDCG(case: Case, *, cutoff: int | None, strata: Mapping[str, str] | None = None) -> float:
    label = dict.fromkeys(case.grades, "") if strata is None else strata
    found, numbers = 0.0, dict[float, float]()
    for stratum in set(label.values()):
        pool = [document for document in case.grades if label[document] == stratum]
        judged = [document for document in pool if case.grades[document] >= 0]
        for document in judged:
            if case.grades[document] > 0:
                numbers[case.grades[document]] = numbers.get(case.grades[document], 0.0) + len(pool) / len(
                    judged
                )
        retrieved = [document for document in cut(case, cutoff) if document in pool]
        seen = [document for document in retrieved if document in judged]
        gain = sum(
            case.grades[document] / math.log2(rank + 1)
            for rank, document in enumerate(cut(case, cutoff), start=1)
            if document in seen and case.grades[document] > 0
        )
        found += len(retrieved) * gain / len(seen) if seen else 0.0
    ideal: list[float] = []
    for grade in sorted(numbers, reverse=True):
        ideal += [grade] * math.floor(numbers[grade] + 0.5)
    return divide(
        found, sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal[:cutoff], start=1))
    )


def statAP(case: Case, *, rel: float, inclusion: Mapping[str, float] | None = None) -> float:
    weight = dict.fromkeys(case.grades, 1.0)
    if inclusion is not None:
        weight = {document: 1 / inclusion[document] for document in case.grades}
    total = sum(weight[document] for document, grade in case.grades.items() if grade >= rel)
    value = above = 0.0
    for rank, document in enumerate(cut(case, None), start=1):
        if case.grades.get(document, -1.0) >= rel:
            value += (1 + above) / rank * weight[document]
            above += weight[document]
    return divide(value, total)
