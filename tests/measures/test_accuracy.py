"""Accuracy of pairs."""

from __future__ import annotations

import math

import pytest

from agreement import agree, undefined
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import UNDEFINED, Case, cut, is_relevant
from peer_values import by_ir_measures, random_graded

of = MEASURES.parse


def oracle(case: Case, *, rel: float, cutoff: int | None) -> float:
    hits = [is_relevant(case, name, rel) for name in cut(case, cutoff)]
    pairs = [
        upper < lower
        for upper, hit in enumerate(hits) if hit
        for lower, other in enumerate(hits) if not other
    ]  # fmt: skip
    return sum(pairs) / len(pairs) if pairs else UNDEFINED


def test_it_equals_its_oracle() -> None:
    agree("Accuracy", "Accuracy@3", "Accuracy(rel=2)", "Accuracy(rel=0)@2")


def test_by_hand() -> None:
    assert of("Accuracy").of([1, 0, None, 1]) == 0.5
    assert of("Accuracy").of([1, 1, 0]) == 1
    assert of("Accuracy").of([0, 1]) == 0


def test_it_is_undefined_without_a_pair() -> None:
    assert undefined(of("Accuracy").of([1, 1]))
    assert undefined(of("Accuracy").of([0, 0], judged=[0, 0, 1]))
    assert undefined(of("Accuracy@1").of([1, 0]))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("text", ["Accuracy", "Accuracy@10", "Accuracy(rel=2)@20"])
def test_it_equals_ir_measures_which_leaves_out_what_is_undefined(seed: int, text: str) -> None:
    qrels, run = random_graded(seed, 3)
    run = {query: scores | {"never judged": 1.0} for query, scores in run.items()}
    wanted = by_ir_measures(text, qrels, run)
    found = evaluate(qrels, run, text)
    for query in qrels:
        mine = found.value("run", query, text)
        assert math.isnan(mine) == (query not in wanted)
        assert math.isnan(mine) or mine == pytest.approx(wanted[query], rel=1e-12, abs=1e-15)


def test_ir_measures_divides_by_0_where_every_document_is_relevant() -> None:
    pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    with pytest.raises(ZeroDivisionError):
        by_ir_measures("Accuracy", {"1": {"a": 1}}, {"1": {"a": 1.0}})
