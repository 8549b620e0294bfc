"""Oracles of the measures in `leadline.measures.known_documents`."""

from __future__ import annotations

from oracles import Case, cut, divide, is_relevant


def Coverage(case: Case, *, rel: float, cutoff: int | None) -> float:
    wanted = [name for name in case.known if is_relevant(case, name, rel)]
    return divide(sum(name in wanted for name in cut(case, cutoff)), len(wanted))


def Novelty(case: Case, *, rel: float, cutoff: int | None) -> float:
    found = [name for name in cut(case, cutoff) if is_relevant(case, name, rel)]
    return divide(sum(name not in case.known for name in found), len(found))
