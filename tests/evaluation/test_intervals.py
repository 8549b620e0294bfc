"""Intervals of means, beside the means of `evaluate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from conftest import Leadline
from leadline.comparison.compare import compare
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.limits import mean_intervals
from leadline.evaluation.results import Results
from leadline.io.objects import read_qrels, read_run, write_qrels, write_run

QRELS = {f"q{place}": {"d": 1} for place in range(12)}
RUN = {
    f"q{place}": {"d": 1.0} | {f"x{other}": 2.0 for other in range(place % 5)} for place in range(11)
}  # the last query is missing


def test_the_interval_of_a_mean_is_that_of_scipy_over_the_same_queries() -> None:
    results = evaluate(QRELS, RUN, ["RR", "AP"], intervals=True)
    assert results.intervals is not None
    values = np.nan_to_num(results.values[0, :, 0])
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert results.intervals.limits[0, 0] == pytest.approx([expected.low, expected.high])
    assert (results.intervals.by, results.intervals.confidence) == ("Student", 0.95)


def test_queries_left_out_of_the_mean_are_left_out_of_the_interval() -> None:
    both = evaluate(QRELS, RUN, "RR", queries="both", intervals="BCa", confidence=0.9, seed=3)
    assert both.intervals is not None
    low, high = both.intervals.limits[0, 0]
    assert low < both.means[0, 0] < high
    assert both.options["intervals"] == "BCa"
    assert (both.options["confidence"], both.options["seed"]) == (0.9, 3)


def test_a_geometric_mean_has_the_interval_of_its_logarithms() -> None:
    results = evaluate(QRELS, RUN, ["GMAP", "NumRet"])
    limits = mean_intervals(results).limits[0]
    logs = np.log(np.maximum(np.nan_to_num(results.values[0, :, 0]), 0.00001))
    expected = stats.ttest_1samp(logs, 0).confidence_interval(0.95)
    assert limits[0] == pytest.approx(np.exp([expected.low, expected.high]))
    assert np.isnan(limits[1]).all(), "a count has none"


@pytest.mark.parametrize(
    ("interval", "measures", "queries", "said"),
    [
        (True, ["RR"], 12, True),
        ("Randomisation", ["RR"], 12, True),
        ("BCa", ["RR"], 12, True),
        ("Percentile", ["RR"], 60, True),
        (True, ["RR"], 60, False),
        ("BCa", ["RR"], 100, False),
        (True, ["RR", "NoAnswer"], 60, True),  # 10 of the queries have no answer
        (True, ["NumRet"], 12, False),
        (True, ["RR"], 1, False),  # has no interval
        (False, ["RR"], 12, False),
    ],
)
def test_intervals_of_means_over_few_queries_are_called_approximate(
    interval: bool | str, measures: list[str], queries: int, *, said: bool
) -> None:
    qrels = {f"q{place}": {"d": int(place >= 10 or "NoAnswer" not in measures)} for place in range(queries)}
    run = {query: {"d": 1.0} | {f"x{place}": 2.0 for place in range(len(query))} for query in qrels}
    whole = evaluate(qrels, run, measures, intervals=interval)
    for results in (whole, Results.merge(whole)):
        codes = [one.code for one in results.warnings]
        assert codes.count("approximate_intervals") == said


def test_missing_intervals_are_not_called_approximate() -> None:
    qrels = {f"q{place}": {"d": 1} for place in range(6)}
    runs = {name: {query: {"x": 2.0 * (name == "b"), "d": 1.0} for query in qrels} for name in "ab"}
    uneven = {query: 9.0 if query == "q0" else 1.0 for query in qrels}  # 2.2 of equal weight
    weighted = evaluate(qrels, runs, "RR", query_weights=uneven, intervals=True)
    assert weighted.intervals is not None
    assert np.isnan(weighted.intervals.limits).all()
    grouped = compare(evaluate(qrels, runs, "RR"), query_group={query: str(query < "q3") for query in qrels})
    assert np.isnan(grouped.limits).all()
    for found in (weighted, grouped):
        assert "approximate_intervals" not in [one.code for one in found.warnings]


def test_the_command_shows_them_in_every_form(leadline: Leadline, tmp_path: Path) -> None:
    write_qrels(read_qrels(QRELS), str(tmp_path / "q"))
    write_run(read_run(RUN), str(tmp_path / "r"))
    asked = ("evaluate", tmp_path / "q", tmp_path / "r", "-m", "RR", "-m", "NumRet", "--intervals")
    data = leadline(*asked, "-f", "json").data
    limits = data["runs"][0]["intervals"]["RR"]
    assert limits["low"] < data["runs"][0]["mean"]["RR"] < limits["high"]
    assert data["runs"][0]["intervals"]["NumRet"] == {"low": None, "high": None}
    rows = leadline(*asked, "-f", "csv").out.splitlines()
    assert rows[0] == "run,measure,value,low,high"
    assert rows[1].split(",")[3:] == [repr(limits["low"]), repr(limits["high"])]
    assert rows[2] == "r,NumRet,31.0,,"
    assert "95 % confidence interval" in leadline(*asked).out
    rejected = leadline(*asked, "-f", "trec")
    assert (rejected.status, "-f trec cannot be combined with --intervals" in rejected.err) == (2, True)
    without = leadline(*asked[:-1], "--confidence", "0.9")
    assert (without.status, "--confidence needs --intervals" in without.err) == (2, True)
    rejected = leadline(*asked, "--config", "test.interval=Studnet")
    assert (rejected.status, "Did you mean Student" in rejected.err) == (2, True)
