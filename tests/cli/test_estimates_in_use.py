"""Estimates where other commands use them: correlations, figures, pages, pools for a new run, tables."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from conftest import Leadline
from leadline.comparison.compare import compare
from leadline.comparison.correlate import correlate
from leadline.comparison.gate import BELOW, Condition, thresholds
from leadline.errors import UsageError
from leadline.estimation.estimate import EstimatedResults, estimate
from leadline.estimation.pool_designs import pool_for
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.score_results import read_scores

QUERIES = [f"q{number:02}" for number in range(12)]
RNG = np.random.default_rng(8)
RUNS = {
    name: {query: [f"d{one + first}" for one in RNG.permutation(40)[:30]] for query in QUERIES}
    for name, first in zip("abcdef", (0, 0, 0, 0, 20, 20), strict=True)
}
TRUTH = {query: {f"d{one}": int(RNG.random() < 0.4) for one in range(40)} for query in QUERIES}


@pytest.fixture(scope="module")
def estimates() -> EstimatedResults:
    """Estimate six runs from a pool of the first four, so that two have no interval."""
    pool = pool_for({name: RUNS[name] for name in "abcd"}, "P@10", budget=9).pool
    judged: dict[str, dict[str, int]] = {}
    for query, document, drawn in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if drawn:
            judged.setdefault(query, {})[document] = TRUTH[query][document]
    return estimate(judged, RUNS, ["P@10", "R@10", "AP"], pool=pool)


@pytest.fixture(scope="module")
def saved(estimates: EstimatedResults, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("saved")
    estimates.write(folder / "e.parquet")
    read_scores([str(folder / "e.parquet")]).write(folder / "again.parquet")
    estimates.write(folder / "e.json")
    return [folder / name for name in ("e.parquet", "again.parquet", "e.json")]


@pytest.mark.parametrize("measure", ["P@10", "AP"])
def test_a_correlation_counts_the_estimates_whose_interval_was_withheld(
    estimates: EstimatedResults, saved: list[Path], measure: str
) -> None:
    count = sum(bool(estimates.estimate(name, measure).reason) for name in RUNS)
    assert count == 6 if measure == "AP" else 0 < count < 6
    truth = {name: evaluate(TRUTH, {name: RUNS[name]}, measure).mean(name, measure) for name in RUNS}
    for path in saved:
        found = correlate(truth, f"{path}:{measure}", draws=0)
        assert {one.code: one.count for one in found.warnings}["withheld_intervals"] == count
    four = {name: truth[name] for name in "abcd"}
    codes = {one.code for one in correlate(four, f"{saved[0]}:P@10", draws=0).warnings}
    assert "withheld_intervals" not in codes


def test_a_run_without_a_query_in_common_has_no_value_to_correlate(tmp_path: Path) -> None:
    runs = {name: RUNS[name] for name in "abc"} | {"z": {f"x{query}": ["d1"] for query in QUERIES}}
    path = tmp_path / "e.parquet"
    estimate(TRUTH, runs, "P@10").write(path)
    found = correlate({"a": 1.0, "b": 2.0, "c": 3.0, "z": 4.0}, str(path), draws=0)
    assert found.names == ["a", "b", "c"]
    assert {one.code: one.count for one in found.warnings}["undefined"] == 1


@pytest.mark.parametrize("figure", ["differences", "scatter", "critical-difference", "box", "line"])
def test_figures_of_single_queries_refuse_estimates(leadline: Leadline, tmp_path: Path, figure: str) -> None:
    target = tmp_path / "f.svg"
    runs = {name: RUNS[name] for name in "abc"}
    comparison = compare(estimate(TRUTH, runs, "P@10"))
    with pytest.raises(
        UsageError, match=f"per-query estimates from sampled judgments are too noisy for the {figure} figure"
    ):
        comparison.plot(target, figure=figure)
    with pytest.raises(UsageError) as caught:
        compare(estimate(TRUTH, runs, "P@10"), baseline="a").plot(target, figure=figure)
    assert "groups" not in str(caught.value)  # which need tests of all pairs
    estimate(TRUTH, runs, "P@10").write(tmp_path / "three.parquet")
    done = leadline(*("compare", tmp_path / "three.parquet", "-o", target, "--figure", figure))
    assert (done.status, done.err.count("leadline: error: "), target.exists()) == (2, 1, False)
    compare(evaluate(TRUTH, runs, "P@10")).plot(target, figure=figure)
    assert target.exists()


def test_the_default_figure_of_two_estimated_runs_has_an_interval() -> None:
    comparison = compare(estimate(TRUTH, {name: RUNS[name] for name in "ab"}, "P@10"))
    drawn = comparison.plot()
    (label,) = drawn.axes[0].get_yticklabels()
    assert label.get_text() == "b \N{MINUS SIGN} a"


def test_estimates_are_drawn_with_their_intervals_and_not_by_query(
    estimates: EstimatedResults, saved: list[Path]
) -> None:
    drawn = estimates.plot(measure="P@10")
    names = [estimates.names[run] for run in estimates.order(0)]
    assert [text.get_text() for text in drawn.axes[0].get_yticklabels()] == names
    whole = [estimates.estimate(name, "P@10") for name in names]
    ends = sorted(end for one in whole if not one.reason for end in (one.these_low, one.these_high))
    ends += [end for one in whole if not one.reason for end in (one.low, one.high)]
    lines = [
        np.asarray(path.vertices)[:, 0] for each in drawn.axes[0].collections for path in each.get_paths()
    ]
    assert sorted(np.concatenate(lines).tolist()) == pytest.approx(sorted(ends))
    again = read_scores([str(saved[0])]).plot(measure="P@10")
    assert [text.get_text() for text in again.axes[0].get_yticklabels()] == names


def test_slices_of_saved_results_withhold_the_intervals_of_estimates_alone(
    leadline: Leadline, tmp_path: Path
) -> None:
    files = tmp_path / "e.parquet", tmp_path / "t.parquet"
    estimate(TRUTH, {name: RUNS[name] for name in "ab"}, "P@10").write(files[0])
    evaluate(TRUTH, {name: RUNS[name] for name in "cd"}, "P@10").write(files[1])
    kinds = "".join(f"{query},{number % 2}\n" for number, query in enumerate(QUERIES))
    (tmp_path / "kinds.csv").write_text(f"query_id,kind\n{kinds}")
    found = leadline("compare", *files, "--query-slice", f"{tmp_path / 'kinds.csv'}:kind", "-f", "json")
    rows = [row for row in found.data["slices"] if row["slice"] is not None]
    known = {frozenset((row["a"], row["b"])) for row in rows if not row["reason"]}
    assert (len(rows), known) == (12, {frozenset("cd")})


@pytest.mark.usefixtures("undrawn")
def test_a_report_on_estimates_shows_no_single_queries(leadline: Leadline, tmp_path: Path) -> None:
    runs = {name: RUNS[name] for name in "abc"}
    pages = []
    for name, results in (("e", estimate(TRUTH, runs, "P@10")), ("t", evaluate(TRUTH, runs, "P@10"))):
        results.write(tmp_path / f"{name}.parquet")
        page = tmp_path / f"{name}.html"
        assert leadline("report", tmp_path / f"{name}.parquet", "-o", page).status == 0
        pages.append(page.read_text())
    assert [page.count("<figure>") for page in pages] == [2, 5]
    assert ["differ most" in page for page in pages] == [False, True]


def test_measures_with_a_divisor_have_no_range_over_unjudged_grades(estimates: EstimatedResults) -> None:
    """Documents outside the list change the number of relevant ones: one that is relevant lowers R."""
    judged = {"q": {"d1": 1, "d2": 0}}
    run = {"r": {"q": ["d1", "d2"]}}
    before = estimate(judged, run, ["R@2", "P@2"])
    after = estimate({"q": judged["q"] | {"d3": 1}}, run, ["R@2", "P@2"])
    assert after.mean("r", "R@2") < before.mean("r", "R@2")
    one = before.estimate("r", "R@2")
    assert math.isnan(one.lowest)
    assert math.isnan(one.highest)
    exact = before.estimate("r", "P@2")
    assert exact.lowest == exact.value == exact.highest
    for name in estimates.names:
        for measure in ("R@10", "AP"):
            assert math.isnan(estimates.estimate(name, measure).lowest)


def test_every_withheld_interval_has_its_reason_in_json(estimates: EstimatedResults) -> None:
    data = json.loads(json.dumps(estimates.to_dict()))
    for run in data["runs"]:
        for one in run["estimate"].values():
            assert bool(one["reason"]) is (one["low"] is None) is (one["these_low"] is None)


def test_saved_estimates_keep_their_intervals(estimates: EstimatedResults, saved: list[Path]) -> None:
    known = estimates.to_dict()["runs"]
    for path in saved:
        restored = read_scores([str(path)])
        for found, run in zip(restored.to_dict()["runs"], known, strict=True):
            assert (found["new"], found["estimate"]) == (run["new"], run["estimate"])
        assert restored.withheld == estimates.withheld


def test_a_gate_on_saved_estimates_cannot_tell_within_their_interval(
    estimates: EstimatedResults, saved: list[Path]
) -> None:
    one = estimates.estimate("a", "P@10")
    results = read_scores([str(saved[0])])
    for floor, told in ((one.these_low - 1e-6, True), (one.these_low + 1e-6, False)):
        (gate, *_) = thresholds(results, [(0, Condition("P@10", floor, BELOW))])
        assert (gate.run, gate.cannot_tell) == ("a", not told)


def test_data_frames_have_both_intervals_unclipped(estimates: EstimatedResults) -> None:
    columns = estimates.to_columns()
    for row, (run, measure) in enumerate(zip(columns["run"], columns["measure"], strict=True)):
        one = estimates.estimate(run, measure)
        for name in ("value", "low", "high", "these_low", "these_high"):
            assert columns[name][row] == pytest.approx(getattr(one, name), nan_ok=True)
