"""Forecasts of a pool: where `estimate` gives no interval there is none, and advice leads to one."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.estimation.estimate import estimate
from leadline.estimation.measured_pool import MeasuredPool
from leadline.estimation.pool_designs import pool_for
from leadline.judging.half_widths import PoolPrecision

RNG = np.random.default_rng(3)
QUERIES = [f"q{number:02}" for number in range(32)]
RUNS = {
    name: {query: [f"d{one}" for one in RNG.permutation(60)[:40]] for query in QUERIES}
    for name in ("a", "b", "c")
}
TRUTH = {query: {f"d{one}": int(RNG.random() < 0.4) for one in range(60)} for query in QUERIES}


def drawn_of(found: MeasuredPool) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {query: {} for query in QUERIES}
    for query, document in found.pool.drawn_rows():
        grades[query][document] = TRUTH[query][document]
    return grades


def test_judgments_count_beside_labels_in_the_forecast_of_ndcg() -> None:
    judged = {q: {d: TRUTH[q][d] for d in RUNS["a"][q][:10]} for q in QUERIES}
    labels = {QUERIES[0]: {RUNS["b"][QUERIES[0]][0]: 1}}
    for machine in (None, labels):
        found = pool_for(RUNS, "nDCG@10", budget=6, judged=judged, machine=machine)
        assert found.expected["nDCG@10"]["half_width"] is not None


def test_the_advised_depth_gives_ndcg_a_forecast() -> None:
    shallow = pool_for(RUNS, "nDCG@10", budget=5, depth=5, machine=TRUTH)
    assert "(use a depth of at least 11)" in str(shallow.warnings)
    assert pool_for(RUNS, "nDCG@10", budget=6, depth=11, machine=TRUTH).expected["nDCG@10"]["half_width"]


@pytest.mark.parametrize("measures", ["nDCG@5", ["nDCG@10", "P@10"]])
def test_labels_are_advised_only_where_they_bring_a_forecast(measures: str | list[str]) -> None:
    found = pool_for(RUNS, measures, budget=8)
    assert "no_forecast" in {one.code for one in found.warnings}
    assert "labels" not in str(found.warnings)
    assert "labels" in str(pool_for(RUNS, "nDCG@10", budget=8).warnings)


@pytest.mark.parametrize(("budget", "given"), [(1, False), (2, True)])
def test_judgments_made_before_the_draw_bring_no_forecast(budget: int, given: bool) -> None:
    judged = {q: {d: TRUTH[q][d] for d in RUNS["a"][q][:3]} for q in QUERIES}
    found = pool_for(RUNS, "P@1", budget=budget, new_runs=0.0, judged=judged, seed=2)
    results = estimate(drawn_of(found), RUNS, "P@1", pool=found.pool)
    reasons = [results.estimate(name, "P@1").reason for name in "bc"]
    assert (found.expected["P@1"]["half_width"] is not None) is given
    assert any("before the draw" in one for one in reasons) is not given


def test_the_exact_budget_beside_ndcg_is_one_that_makes_the_values_exact() -> None:
    budget = pool_for(RUNS, ["nDCG@10", "P@10"], budget=6).expected["P@10"]["exact_budget"]
    assert budget is not None
    widths = [
        pool_for(RUNS, ["nDCG@10", "P@10"], budget=one).expected["P@10"]["half_width"]
        for one in (budget, budget - 0.1)
    ]
    assert widths[0] == 0
    assert widths[1]


def test_a_forecast_counts_judgments_without_those_made_before() -> None:
    judged = {q: {d: TRUTH[q][d] for d in RUNS["a"][q][:20]} for q in QUERIES}
    found = pool_for(RUNS, "P@10", budget=6, judged=judged, seed=2)
    exact = found.expected["P@10"]["exact_budget"]
    assert exact is not None
    assert 6 < exact < found.pairs / len(QUERIES)
    (line,) = [one for one in found.forecast() if "half-width" in one]
    assert "new judgments per query" in line
    assert "enough" not in line


def test_a_budget_that_the_pairs_cannot_fill_is_told() -> None:
    for budget, told in ((600, True), (6, False)):
        codes = [one.code for one in pool_for(RUNS, "P@10", budget=budget).warnings]
        assert ("large_budget" in codes) is told
    assert not pool_for(RUNS, "P@10", total=100_000).warnings
    judged = {q: {d: TRUTH[q][d] for d in RUNS["a"][q][:20]} for q in QUERIES}
    found = pool_for(RUNS, "P@10", budget=600, judged=judged)
    new = found.pairs / len(QUERIES) - 20
    assert "large_budget" in [
        one.code for one in pool_for(RUNS, "P@10", budget=new + 1, judged=judged).warnings
    ]


def test_precision_without_a_cutoff_has_no_forecast_because_lists_have_other_lengths() -> None:
    found = pool_for(RUNS, ["P", "P@10"], budget=8)
    assert found.expected["P"]["half_width"] is None
    assert found.expected["P@10"]["half_width"] is not None
    assert PoolPrecision(found.pool).forecast("P", found.pairs) is None
    assert pool_for(RUNS, "P", budget=60).expected["P"]["half_width"] == 0
