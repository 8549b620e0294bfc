"""Plans: queries x judgments per query for a half-width over queries, from a judged pilot."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from conftest import Leadline
from leadline.data.judgment_tables import DrawnPool
from leadline.errors import UsageError
from leadline.estimation.designs import random_numbers_of
from leadline.estimation.estimate import EstimatedResults, estimate
from leadline.estimation.pool_designs import pool_for
from leadline.io.pool_files import write_drawn_pool
from leadline.judging.half_widths import PoolPrecision, plans
from leadline.stats.power import half_width_of, queries_for_half_width, queries_needed

RNG = np.random.default_rng(8)
NAMES = [f"q{number:03}" for number in range(240)]
DOCUMENTS = [f"d{number:02}" for number in range(40)]
RATES = dict(zip(NAMES, RNG.uniform(0.05, 0.75, len(NAMES)).tolist(), strict=True))
GRADES = {(query, name): float(RNG.random() < RATES[query]) for query in NAMES for name in DOCUMENTS}
RUNS = {
    run: {query: [DOCUMENTS[place] for place in RNG.permutation(40)[:20]] for query in NAMES} for run in "abc"
}


def studied(
    queries: list[str], budget: float, measure: str = "P@10", **options: Any
) -> tuple[EstimatedResults, DrawnPool]:
    runs = {run: {query: lists[query] for query in queries} for run, lists in RUNS.items()}
    pool = pool_for(runs, measure, budget=budget, **options).pool
    judged: dict[str, dict[str, float]] = {}
    for query, name, drawn in zip(pool.queries, pool.documents, pool.drawn, strict=True):
        if drawn:
            judged.setdefault(query, {})[name] = GRADES[query, name]
    return estimate(judged, runs, measure, pool=pool), pool


def test_with_all_judged_it_is_the_variance_over_queries() -> None:
    results, pool = studied(NAMES[:40], 60)
    (plan,) = plans(results, pool, half_width=0.02)
    values = results.averaged_values(0)
    wide = int(values.var(axis=1).argmax())
    deviation = float(values[wide].std(ddof=1))
    assert plan.of == results.names[wide]
    for number, half in plan.half_widths.items():
        assert half == pytest.approx(stats.t.ppf(0.975, number - 1) * deviation / math.sqrt(number))
    assert list(plan.half_widths) == [40, 80, 160]
    low, high = results.estimate(plan.of, "P@10").low, results.estimate(plan.of, "P@10").high
    assert plan.half_widths[40] == pytest.approx((high - low) / 2)
    needed = next(n for n in range(2, 10_000) if stats.t.ppf(0.975, n - 1) * deviation / math.sqrt(n) <= 0.02)
    assert plan.queries == needed
    assert plan.judgments == math.ceil(needed * plan.per_query)


def test_the_variance_of_other_budgets_is_that_of_their_probabilities() -> None:
    """The share is the sum of (1 - p) / p w^2 at scaled p over that of the pool, pair by pair."""
    _, pool = studied(NAMES[:30], 6)
    found = dict(PoolPrecision(pool).budgets("P@10"))
    numbers = random_numbers_of(list(zip(pool.queries, pool.documents, strict=True)), pool.design["seed"])

    def spread(scale: float) -> tuple[float, float]:
        total = judgments = 0.0
        for row, order in enumerate(pool.order.tolist()):
            if pool.probability[row] > 0:
                p = min(1.0, max(0.02, scale * numbers[row] / order))
                ranks = [rank for rank in pool.contributors[row].values() if rank <= 10]
                total += (1 - p) / p * len(ranks) * 0.1**2 / 3
                judgments += p / 30
        return judgments, total

    scale = pool.design["scale"]
    now = spread(scale)[1]
    for times in (0.5, 1, 2):
        judgments, total = spread(times * scale)
        nearest = min(found, key=lambda budget: abs(budget - judgments))
        assert nearest == pytest.approx(judgments, rel=1e-6)
        assert found[nearest] == pytest.approx(total / now, rel=1e-6)
    assert min(found.values()) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("differ", [False, True])
def test_forecasts_from_a_pilot_come_true(differ: bool) -> None:
    results, pool = studied(NAMES[:60], 8, seed=1)
    rest = NAMES[60:]
    for plan in plans(results, pool, half_width=0.05, differences=differ):
        later, _ = studied(rest, plan.per_query, seed=2)
        values = later.averaged_values(0)
        if differ:
            first, _, second = plan.of.partition(" - ")
            values = (values[later.names.index(first)] - values[later.names.index(second)])[None]
        deviation = math.sqrt(float(values.var(axis=1, ddof=1).mean()))
        assert plan.queries is not None
        forecast = plan.half_widths[60] / half_width_of(1.0, 60)
        assert deviation / forecast == pytest.approx(1, abs=0.2)


def test_more_judgments_need_fewer_queries() -> None:
    results, pool = studied(NAMES[:40], 6)
    found = plans(results, pool, half_width=0.03)
    queries = [plan.queries or 0 for plan in found]
    assert queries == sorted(queries, reverse=True)
    assert [plan.per_query for plan in found] == sorted(plan.per_query for plan in found)
    detected = plans(results, pool, smallest=0.05, power=0.9)
    for plan in detected:
        deviation = plan.half_widths[40] / half_width_of(1.0, 40)
        assert plan.queries == queries_needed(0.05 / deviation, power_wanted=0.9)


def test_what_cannot_be_planned_is_refused() -> None:
    results, pool = studied(NAMES[:40], 6)
    for half_width, smallest in ((None, None), (0.1, 0.1), (0.0, None), (None, math.nan)):
        with pytest.raises(UsageError):
            plans(results, pool, half_width=half_width, smallest=smallest)
    with pytest.raises(UsageError, match=r"nDCG@10, because its half-width cannot be forecast"):
        plans(*studied(NAMES[:40], 6, "nDCG@10"), half_width=0.1)
    other = pool_for(RUNS, "P@5", budget=6).pool
    with pytest.raises(UsageError, match="was drawn only for"):
        plans(results, other, half_width=0.1)
    assert queries_for_half_width(1e6, 1e-3) is None
    nothing = {query: dict.fromkeys(DOCUMENTS, 0.0) for query in NAMES[:40]}
    same = {run: {query: lists[query] for query in NAMES[:40]} for run, lists in RUNS.items()}
    with pytest.raises(UsageError, match=r"\(or their differences\) are the same for all queries"):
        plans(estimate(nothing, same, "P@10", pool=pool), pool, half_width=0.1)


def test_commands_show_the_plan(tmp_path: Path, leadline: Leadline) -> None:
    queries = NAMES[:40]
    _, pool = studied(queries, 6)
    write_drawn_pool(pool, str(tmp_path / "pool.tsv"), [])
    rows = zip(pool.queries, pool.documents, pool.drawn, strict=True)
    text = "".join(f"{query} 0 {name} {GRADES[query, name]:g}\n" for query, name, drawn in rows if drawn)
    (tmp_path / "qrels.txt").write_text(text)
    paths = []
    for run, lists in RUNS.items():
        paths.append(tmp_path / f"{run}.run")
        lines = (f"{q} Q0 {d} {n} {-n} {run}\n" for q in queries for n, d in enumerate(lists[q], start=1))
        paths[-1].write_text("".join(lines))
    drawn = ["--pool", tmp_path / "pool.tsv", "-m", "P@10"]
    given = ["evaluate", tmp_path / "qrels.txt", *paths, *drawn, "-C", "half_width=0.03"]
    data = leadline(*given, "-f", "json").data
    assert data["options"]["half_width"] == 0.03
    found = data["plan"]
    assert found[0]["queries"] > found[-1]["queries"] > 40
    least = min(found, key=lambda one: one["judgments"])
    assert f"{least['judgments']:,} in all" in leadline(*given).out
    compared = leadline("compare", *given[1:], "-f", "json").data["plan"]
    assert " - " in compared[0]["of"]
    told = leadline("compare", *given[1:-1], "smallest=0.05", "-f", "json").data
    detected = told["plan"]
    assert "no_plan" not in [one["code"] for one in told["warnings"]]
    assert detected[0]["of"] == compared[0]["of"]
    (tmp_path / "kinds.csv").write_text("query,kind\n" + "".join(f"{query},all\n" for query in queries))
    by_kind = ["smallest=0.05", "--query-slice", f"{tmp_path / 'kinds.csv'}:kind", "-f", "json"]
    told = leadline("compare", *given[1:-1], *by_kind).data["warnings"]
    assert ["--query-slice" in one["message"] for one in told if one["code"] == "no_plan"] == [True]
    whole = [tmp_path / "qrels.txt", *paths, "-m", "P@10", "-C", "half_width=0.03"]
    for command in ("evaluate", "compare"):
        refused = leadline(command, *whole).refusal
        assert "half_width needs a pool from `leadline pool --for` and its judgments. Pass QRELS" in refused
        refused = leadline(command, *given[1:-1], "half_width=0").refusal
        assert "--config test.half_width must be a number above 0, not 0" in refused
