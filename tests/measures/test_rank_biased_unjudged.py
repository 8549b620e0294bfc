"""The residual of rank-biased precision as trec_eval 10 has it."""

from __future__ import annotations

import pytest

from agreement import agree
from leadline.measures import MEASURES
from oracles import Case, cut

of = MEASURES.parse


def oracle(case: Case, *, p: float) -> float:
    """Walk down the list; the weight below its end counts only where something was unjudged."""
    total, weight = 0.0, 1.0
    for document in cut(case, None):
        if case.grades.get(document, -1) < 0:
            total += weight
        weight *= p
    return (1 - p) * total + weight if total else 0.0


def test_it_agrees_with_its_slow_twin() -> None:
    agree("RBPUnjudged", "RBPUnjudged(p=0.5)")


def test_an_unjudged_document_and_all_ranks_below_the_end_could_be_relevant() -> None:
    assert of("rbp_resid").of([1, None, 0]) == pytest.approx(0.1 * 0.9 + 0.9**3, rel=1e-14)


def test_where_all_is_judged_trec_eval_forgets_the_ranks_below_the_end() -> None:
    assert of("RBPUnjudged").of([1, 0]) == 0
    assert of("RBPResidual(p=0.9)").of([1, 0]) == pytest.approx(0.9**2, rel=1e-14)
