"""Bpref for a geometric mean."""

from __future__ import annotations

import math

import pytest

from agreement import agree
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import Case, bpref

of = MEASURES.parse


def oracle(case: Case, *, rel: float) -> float:
    """Take bpref: only the mean differs."""
    return bpref(case, rel=rel)


def test_it_agrees_with_its_slow_twin() -> None:
    agree("GMBpref", "GMBpref(rel=2)")


def test_its_mean_is_geometric() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 0, "c": 0, "d": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 2.0, "b": 3.0, "d": 1.0}}
    values = [1, ((1 - 1 / 2) + (1 - 1 / 2)) / 2]
    mean = evaluate(qrels, run, "gm_bpref").mean("run", "GMBpref")
    assert mean == pytest.approx(math.sqrt(values[0] * values[1]), rel=1e-14)
