"""Measures of sampled judgments as plain loops; without strata the pool of a query is one stratum."""

from __future__ import annotations

import math
from collections.abc import Mapping

from oracles import Case, cut, divide

EPSILON = 0.00001


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
