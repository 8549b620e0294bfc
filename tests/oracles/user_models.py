"""Oracles of the measures in `leadline.measures.user_models`."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from oracles import Case, cut, divide


def RBP(case: Case, *, p: float, rel: float, gain: str, max_grade: float, cutoff: int | None) -> float:
    largest = max(1, *case.grades.values()) if gain == "scaled" else max_grade
    total = 0.0
    for rank, name in enumerate(cut(case, cutoff), start=1):
        grade = case.grades.get(name, -1)
        part = float(grade >= rel) if gain == "binary" else max(grade, 0) / largest
        total += (1 - p) * p ** (rank - 1) * part
    return total


def RBPResidual(case: Case, *, p: float, cutoff: int | None) -> float:
    names = cut(case, cutoff)
    unjudged = sum(
        (1 - p) * p ** (rank - 1) for rank, name in enumerate(names, start=1) if case.grades.get(name, -1) < 0
    )
    return unjudged + p ** len(names)


def RBPUnjudged(case: Case, *, p: float) -> float:
    """Walk down the list; the weight below its end counts only where something was unjudged."""
    total, weight = 0.0, 1.0
    for document in cut(case, None):
        if case.grades.get(document, -1) < 0:
            total += weight
        weight *= p
    return (1 - p) * total + weight if total else 0.0


def stops(grades: list[float], gain: str, max_grade: float) -> list[float]:
    """Return the probabilities that documents of these grades satisfy."""
    if gain == "linear":
        return [max(grade, 0) / (max_grade + 1) for grade in grades]
    return [(2 ** max(grade, 0) - 1) / 2**max_grade for grade in grades]


def ERR(case: Case, *, gain: str, max_grade: float, cutoff: int | None) -> float:
    total, left = 0.0, 1.0
    listed = [case.grades.get(name, 0) for name in cut(case, cutoff)]
    for rank, stop in enumerate(stops(listed, gain, max_grade), start=1):
        total += left * stop / rank
        left *= 1 - stop
    return total


def nERR(case: Case, *, gain: str, max_grade: float, cutoff: int | None) -> float:
    listed = [case.grades.get(name, 0) for name in cut(case, cutoff)]
    ideal = sorted(case.grades.values(), reverse=True)[:cutoff]
    found = []
    for grades in (listed, ideal):
        chances = stops(grades, gain, max_grade)
        passed = [prod(1 - stop for stop in chances[:place]) for place in range(len(chances))]
        found.append(sum(passed[place] * stop / (place + 1) for place, stop in enumerate(chances)))
    return divide(*found)


def iRBU(case: Case, *, p: float, gain: str, max_grade: float, cutoff: int | None) -> float:
    listed = [case.grades.get(name, 0) for name in cut(case, cutoff)]
    chances = stops(listed, gain, max_grade)
    return sum(
        prod(1 - other for other in chances[: rank - 1]) * stop * p**rank
        for rank, stop in enumerate(chances, start=1)
    )


def NERR8(case: Case, *, max_grade: float, cutoff: int) -> float:
    ranked = [max(case.grades.get(name, 0), 0) / max_grade for name in cut(case, cutoff)]
    gains = ranked + [0.0] * (cutoff - len(ranked))
    look, weights, total = 1.0, 0.0, 0.0
    for gain in gains:
        weights += look
        total += look * gain
        look *= 1 - gain
    return total / weights


def NERR9(case: Case, *, max_grade: float, cutoff: int) -> float:
    ranked = [max(case.grades.get(name, 0), 0) / max_grade for name in cut(case, cutoff)]
    gains = ranked + [0.0] * (cutoff - len(ranked))
    look, weights, total = 1.0, 0.0, 0.0
    for rank, gain in enumerate(gains, start=1):
        weights += look
        total += look * gain
        look *= rank / (rank + 1) * (1 - gain)
    return total / weights


def NERR10(case: Case, *, p: float, max_grade: float, depth: int) -> float:
    ranked = [max(case.grades.get(name, 0), 0) / max_grade for name in cut(case, depth)]
    gains = ranked + [0.0] * (depth - len(ranked))
    look, weights, total = 1.0, 0.0, 0.0
    for gain in gains:
        weights += look
        total += look * gain
        look *= p * (1 - gain)
    return total / weights


def NERR11(case: Case, *, T: float, max_grade: float, depth: int) -> float:  # noqa: N803  # its name
    ranked = [max(case.grades.get(name, 0), 0) / max_grade for name in cut(case, depth)]
    gains = ranked + [0.0] * (depth - len(ranked))
    look, weights, total = 1.0, 0.0, 0.0
    for rank, gain in enumerate(gains, start=1):
        weights += look
        total += look * gain
        look *= ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2 * (1 - gain)
    return total / weights


def INSQ(case: Case, *, T: float, max_grade: float, depth: int) -> float:  # noqa: N803  # its name
    ranked = [max(case.grades.get(name, 0), 0) / max_grade for name in cut(case, depth)]
    gains = ranked + [0.0] * (depth - len(ranked))
    look, weights, total = 1.0, 0.0, 0.0
    for rank, gain in enumerate(gains, start=1):
        weights += look
        total += look * gain
        look *= ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2
    return total / weights


def INST(case: Case, *, T: float, max_grade: float, depth: int) -> float:  # noqa: N803  # its name
    ranked = [max(case.grades.get(name, 0), 0) / max_grade for name in cut(case, depth)]
    gains = ranked + [0.0] * (depth - len(ranked))
    look, weights, total, so_far = 1.0, 0.0, 0.0, 0.0
    for rank, gain in enumerate(gains, start=1):
        weights += look
        total += look * gain
        so_far += gain
        look *= ((rank + 2 * T - so_far - 1) / (rank + 2 * T - so_far)) ** 2
    return total / weights


def BPM(case: Case, *, T: float, max_grade: float, cutoff: int) -> float:  # noqa: N803  # its name
    gain, wanted = Fraction(0), Fraction(T) * Fraction(max_grade)
    for rank, name in enumerate(cut(case, cutoff), start=1):
        gain += Fraction(max(case.grades.get(name, 0), 0))
        if gain >= wanted:
            return float(gain / Fraction(max_grade) / rank)
    return float(gain / Fraction(max_grade) / cutoff)


def overlap(one: list[str], two: list[str], p: float, depth: int) -> float:
    return sum(p**d / (d + 1) * len({*one[: d + 1]} & {*two[: d + 1]}) for d in range(depth))


def Compat(case: Case, *, p: float) -> float:
    ranked = cut(case, None)
    good = [name for name in case.grades if case.grades[name] > 0]
    ideal = sorted(good, key=lambda name: (-case.grades[name], [*ranked, name].index(name)))
    depth = max(len(ranked), len(ideal))
    return divide(overlap(ranked, ideal, p, depth), overlap(ideal, ideal, p, depth))
