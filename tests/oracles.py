"""Every measure as a slow, obvious loop straight from its definition, and random lists.

Nothing here comes from the package: a list is a set of (document, score) pairs, judgments are
{document: grade}, and an undefined value is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import NamedTuple

from hypothesis import strategies as st

Ranked = list[tuple[str, float]]
Grades = dict[str, float]
UNDEFINED = float("nan")


class Case(NamedTuple):
    """One query: what was retrieved, what was judged, and what the user knew before."""

    scores: dict[str, float]
    grades: Grades
    known: frozenset[str] = frozenset()

    @property
    def ranked(self) -> Ranked:
        """Give the list in order: score falling, then document id falling by bytes."""
        by_id = sorted(self.scores.items(), key=lambda pair: pair[0].encode(), reverse=True)
        return sorted(by_id, key=lambda pair: -pair[1])


def cut(case: Case, cutoff: int | None) -> list[str]:
    """Give the documents at ranks up to the cutoff."""
    return [document for document, _ in case.ranked][:cutoff]


def is_relevant(case: Case, document: str, rel: float) -> bool:
    return document in case.grades and case.grades[document] >= rel


def count_relevant(case: Case, rel: float) -> int:
    return sum(grade >= rel for grade in case.grades.values())


def count_found(case: Case, rel: float, cutoff: int | None) -> int:
    return sum(is_relevant(case, document, rel) for document in cut(case, cutoff))


def divide(part: float, whole: float) -> float:
    return part / whole if whole else UNDEFINED


def precision(case: Case, *, rel: float, cutoff: int | None) -> float:
    return divide(count_found(case, rel, cutoff), cutoff or len(case.scores))


def recall(case: Case, *, rel: float, cutoff: int | None) -> float:
    return divide(count_found(case, rel, cutoff), count_relevant(case, rel))


def f(case: Case, *, beta: float, form: str = "squared", rel: float, cutoff: int | None) -> float:
    """Follow the lecture, from P and R; undefined only where nothing at all can be counted."""
    weight = beta if form == "linear" else beta * beta
    p = precision(case, rel=rel, cutoff=cutoff)
    r = recall(case, rel=rel, cutoff=cutoff)
    if math.isnan(p) and (beta == 0 or math.isnan(r)):
        return UNDEFINED
    if not p or not r or math.isnan(p) or math.isnan(r):
        return 0.0
    return (1 + weight) * p * r / (weight * p + r)


def e(case: Case, *, beta: float, form: str, rel: float, cutoff: int | None) -> float:
    value = f(case, beta=beta, rel=rel, cutoff=cutoff)
    return value if form == "lecture" else 1 - value


def average_precision(case: Case, *, rel: float, norm: str, cutoff: int | None) -> float:
    total, found = 0.0, 0
    for rank, document in enumerate(cut(case, cutoff), start=1):
        if is_relevant(case, document, rel):
            found += 1
            total += found / rank
    size = count_relevant(case, rel)
    return divide(total, min(size, cutoff) if norm == "min" and cutoff else size)


def r_precision(case: Case, *, rel: float) -> float:
    size = count_relevant(case, rel)
    return divide(count_found(case, rel, size), size)


def reciprocal_rank(case: Case, *, rel: float, cutoff: int | None) -> float:
    for rank, document in enumerate(cut(case, cutoff), start=1):
        if is_relevant(case, document, rel):
            return 1 / rank
    return 0.0


def success(case: Case, *, rel: float, cutoff: int) -> float:
    return 1.0 if count_found(case, rel, cutoff) else 0.0


def bpref(case: Case, *, rel: float) -> float:
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


def judged_share(case: Case, *, cutoff: int | None) -> float:
    documents = cut(case, cutoff)
    return divide(sum(case.grades.get(name, -1) >= 0 for name in documents), len(documents))


def cumulative_gain(case: Case, *, cutoff: int | None) -> float:
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


def discounted_gain(case: Case, *, gain: str, discount: str, cutoff: int | None) -> float:
    return added([case.grades.get(name, 0) for name in cut(case, cutoff)], gain, discount)


def ndcg(case: Case, *, gain: str, discount: str, cutoff: int | None) -> float:
    best = sorted(case.grades.values(), reverse=True)[:cutoff]
    value = discounted_gain(case, gain=gain, discount=discount, cutoff=cutoff)
    return divide(value, added(best, gain, discount))


def interpolated_precision(case: Case, *, rule: str, rel: float, recall: float) -> float:
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


def rank_of(case: Case, *, n: int | str, form: str, rel: float) -> float:
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


def coverage(case: Case, *, rel: float, cutoff: int | None) -> float:
    wanted = [name for name in case.known if is_relevant(case, name, rel)]
    return divide(sum(name in wanted for name in cut(case, cutoff)), len(wanted))


def novelty(case: Case, *, rel: float, cutoff: int | None) -> float:
    found = [name for name in cut(case, cutoff) if is_relevant(case, name, rel)]
    return divide(sum(name not in case.known for name in found), len(found))


def num_q(_: Case) -> float:
    return 1


def num_ret(case: Case) -> float:
    return len(case.scores)


def num_rel(case: Case, *, rel: float) -> float:
    return count_relevant(case, rel)


def num_rel_ret(case: Case, *, rel: float, cutoff: int | None) -> float:
    return count_found(case, rel, cutoff)


ORACLES: dict[str, Callable[..., float]] = {
    "AP": average_precision,
    "Bpref": bpref,
    "CG": cumulative_gain,
    "Coverage": coverage,
    "DCG": discounted_gain,
    "E": e,
    "F": f,
    "IPrec": interpolated_precision,
    "Judged": judged_share,
    "Novelty": novelty,
    "NumQ": num_q,
    "NumRel": num_rel,
    "NumRelRet": num_rel_ret,
    "NumRet": num_ret,
    "P": precision,
    "R": recall,
    "RR": reciprocal_rank,
    "RankOf": rank_of,
    "Rprec": r_precision,
    "Success": success,
    "nDCG": ndcg,
}

DOCUMENTS = ["a", "B", "b", "b1", "b10", "b2", "é", "Ω", "_", "zz"]
GRADES = [0.0, 0.0, 1.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, 1.5, 0.25]


def cases() -> st.SearchStrategy[Case]:
    """Give queries with ties, unjudged, missing and negative documents, and fractional grades."""
    some = st.sets(st.sampled_from(DOCUMENTS), max_size=6).map(frozenset)
    scores = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 4).map(float), max_size=7)
    judged = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(GRADES), min_size=1)
    return st.builds(Case, scores, judged, some)


def collections() -> st.SearchStrategy[dict[str, Case]]:
    """Give several queries; the first one retrieves something, any other may be missing."""
    first = cases().filter(lambda case: len(case.scores) > 0)
    rest = st.lists(cases(), max_size=3)
    return st.builds(
        lambda one, more: {f"q{place}": case for place, case in enumerate([one, *more])}, first, rest
    )
