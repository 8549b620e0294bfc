"""nDCG averaged over relevant documents."""

from __future__ import annotations

import math

import pytest

from agreement import agree, undefined
from leadline.measures import MEASURES
from oracles import Case, cut, discounted_gain, ndcg

of = MEASURES.parse


def oracle(case: Case, *, gains: str) -> float:
    """Take nDCG at the rank of each document with a gain, one by one."""
    assert gains == "grade"
    wanted = [document for document, grade in case.grades.items() if grade > 0]
    listed = cut(case, None)
    total = 0.0
    for document in wanted:
        rank = listed.index(document) + 1 if document in listed else None
        if rank is not None:
            total += ndcg(case, gain="linear", discount="log2", cutoff=rank)
        else:
            whole = discounted_gain(case, gain="linear", discount="log2", cutoff=None)
            perfect = Case(dict(case.grades), case.grades)
            total += whole / discounted_gain(perfect, gain="linear", discount="log2", cutoff=None)
    return total / len(wanted) if wanted else math.nan


def test_it_agrees_with_its_slow_twin() -> None:
    agree("nDCGrel")


def test_it_is_the_mean_of_ndcg_at_the_ranks_of_the_relevant_documents() -> None:
    grades = [1, 0, 0, 2]
    at = [of(f"nDCG@{rank}").of(grades) for rank in (1, 4)]
    assert of("ndcg_rel").of(grades) == pytest.approx(sum(at) / 2, rel=1e-14)


def test_gains_of_ones_own() -> None:
    assert of("nDCGrel(gains=1:3)").of([0, 1, 2]) == pytest.approx(
        (
            (3 / math.log2(3)) / (3 + 2 / math.log2(3))
            + (3 / math.log2(3) + 2 / 2) / (3 + 2 / math.log2(3))
        )
        / 2
    )


def test_it_is_undefined_where_nothing_has_a_gain() -> None:
    assert undefined(of("nDCGrel").of([0, None]))
