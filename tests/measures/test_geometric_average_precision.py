"""Average precision for a geometric mean."""

from __future__ import annotations

import math

import pytest

from agreement import agree
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import Case, average_precision

of = MEASURES.parse


def oracle(case: Case, *, rel: float) -> float:
    """Take average precision: only the mean differs."""
    return average_precision(case, rel=rel, norm="relevant", cutoff=None)


def test_it_agrees_with_its_slow_twin() -> None:
    agree("GMAP", "GMAP(rel=2)")


def test_its_mean_is_geometric() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0, "b": 2.0}}
    mean = evaluate(qrels, run, "gm_map").mean("run", "GMAP")
    assert mean == pytest.approx(math.sqrt(1 * 0.5), rel=1e-14)


def test_0_and_undefined_values_and_missing_queries_count_as_a_hundred_thousandth() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"a": 1.0}}
    mean = evaluate(qrels, run, "GMAP").mean("run", "GMAP")
    assert mean == pytest.approx((1 * 1e-5 * 1e-5 * 1e-5) ** (1 / 4), rel=1e-12)


def test_without_a_query_there_is_no_mean() -> None:
    results = evaluate({"q1": {"a": 1}}, {"q2": {"a": 1.0}}, "GMAP", queries="both")
    assert math.isnan(results.mean("run", "GMAP"))
