"""Oracles of the measures in `leadline.measures.counts`."""

from __future__ import annotations

from oracles import UNDEFINED, Case, count_found, count_relevant, cut, divide


def Judged(case: Case, *, cutoff: int | None) -> float:
    documents = cut(case, cutoff)
    return divide(sum(case.grades.get(name, -1) >= 0 for name in documents), len(documents))


def NumQ(_: Case) -> float:
    return 1


def NumRet(case: Case) -> float:
    return len(case.scores)


def NumRel(case: Case, *, rel: float) -> float:
    return count_relevant(case, rel)


def NumRelRet(case: Case, *, rel: float, cutoff: int | None) -> float:
    return count_found(case, rel, cutoff)


def NumNonrelRet(case: Case, *, rel: float) -> float:
    """Count."""
    return sum(0 <= case.grades.get(document, -1) < rel for document in case.scores)


def Unj(case: Case, *, cutoff: int) -> float:
    """Count, and divide by the cutoff."""
    return sum(case.grades.get(document, -1) < 0 for document in cut(case, cutoff)) / cutoff


def Hole(case: Case, *, cutoff: int) -> float:
    """Count the documents without any judgment, as for the only query."""
    return sum(document not in case.grades for document in cut(case, cutoff)) / cutoff


def NoAnswer(case: Case, *, above: float | None, rel: float) -> float:
    """Go through the scores of a query without an answer."""
    if count_relevant(case, rel):
        return UNDEFINED
    return float(not any(above is None or score > above for score in case.scores.values()))
