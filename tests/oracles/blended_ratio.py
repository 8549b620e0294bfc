"""Oracles of the measures in `leadline.measures.blended_ratio`."""

from __future__ import annotations

from oracles import Case, count_relevant, cut, divide, is_relevant


def gain_of(grade: float, gains: str) -> float:
    """Return the gain of a grade by a table such as 1:3/2:9."""
    table = {} if gains == "grade" else dict(part.split(":") for part in gains.split("/"))
    chosen = [float(gain) for level, gain in table.items() if float(level) == grade]
    return chosen[0] if chosen else max(grade, 0.0)


def ratios(case: Case, *, beta: float, rel: float, gains: str, cutoff: int | None) -> list[tuple[str, float]]:
    """Return the retrieved relevant documents, each with the blended ratio at its rank."""
    best = sorted((gain_of(grade, gains) for grade in case.grades.values()), reverse=True)
    found = []
    for rank, name in enumerate(cut(case, cutoff), start=1):
        if is_relevant(case, name, rel):
            above = cut(case, rank)
            count = sum(is_relevant(case, other, rel) for other in above)
            gain = sum(gain_of(case.grades[other], gains) for other in above if other in case.grades)
            found.append((name, (count + beta * gain) / (rank + beta * sum(best[:rank]))))
    return found


def Q(case: Case, *, beta: float, rel: float, gains: str, norm: str, cutoff: int | None) -> float:
    total = sum(ratio for _, ratio in ratios(case, beta=beta, rel=rel, gains=gains, cutoff=cutoff))
    size = count_relevant(case, rel)
    return divide(total, min(size, cutoff) if norm == "min" and cutoff else size)


def O_measure(case: Case, *, beta: float, rel: float, gains: str, cutoff: int | None) -> float:
    found = ratios(case, beta=beta, rel=rel, gains=gains, cutoff=cutoff)
    return divide(found[0][1] if found else 0.0, float(count_relevant(case, rel) > 0))


def until_the_best(case: Case, found: list[tuple[str, float]]) -> list[float]:
    """Return the ratios down to the first of the documents of the highest grade."""
    grades = [case.grades[name] for name, _ in found]
    return [ratio for _, ratio in found[: grades.index(max(grades)) + 1]]


def P_measure(case: Case, *, beta: float, rel: float, gains: str, cutoff: int | None) -> float:
    if not count_relevant(case, rel):
        return float("nan")
    found = ratios(case, beta=beta, rel=rel, gains=gains, cutoff=cutoff)
    return until_the_best(case, found)[-1] if found else 0.0


def P_plus(case: Case, *, beta: float, rel: float, gains: str, cutoff: int | None) -> float:
    if not count_relevant(case, rel):
        return float("nan")
    found = ratios(case, beta=beta, rel=rel, gains=gains, cutoff=cutoff)
    read = until_the_best(case, found) if found else [0.0]
    return sum(read) / len(read)


def NCUgu(case: Case, *, beta: float, rel: float, gains: str, stop: str, cutoff: int | None) -> float:
    weights = {name: gain_of(grade, gains if stop == "gain" else stop) for name, grade in case.grades.items()}
    found = ratios(case, beta=beta, rel=rel, gains=gains, cutoff=cutoff)
    whole = sum(weights[name] for name in case.grades if is_relevant(case, name, rel))
    return divide(sum(weights[name] * ratio for name, ratio in found), whole)


def NCUrb(case: Case, *, beta: float, rel: float, gains: str, gamma: float, cutoff: int | None) -> float:
    found = ratios(case, beta=beta, rel=rel, gains=gains, cutoff=cutoff)
    whole = sum(gamma**place for place in range(count_relevant(case, rel)))
    return divide(sum(gamma**place * ratio for place, (_, ratio) in enumerate(found)), whole)


def NCUrbIE(case: Case, *, gamma: float, p: float, rel: float, cutoff: int | None) -> float:
    ranks = [rank for rank, name in enumerate(cut(case, cutoff), start=1) if is_relevant(case, name, rel)]
    whole = sum(gamma**place for place in range(count_relevant(case, rel)))
    return divide(sum(gamma**place * p**rank for place, rank in enumerate(ranks)), whole)


def EBR(case: Case, *, beta: float, gain: str, max_grade: float, cutoff: int | None) -> float:
    gains = {
        name: max(grade, 0.0) if gain == "linear" else 2.0 ** max(grade, 0.0) - 1.0
        for name, grade in case.grades.items()
    }
    best = sorted(gains.values(), reverse=True)
    largest = max_grade + 1 if gain == "linear" else 2.0**max_grade
    total, left, count, added = 0.0, 1.0, 0, 0.0
    for rank, name in enumerate(cut(case, cutoff), start=1):
        own = gains.get(name, 0.0)
        count += own > 0
        added += own
        total += left * own / largest * (count + beta * added) / (rank + beta * sum(best[:rank]))
        left *= 1 - own / largest
    return total
