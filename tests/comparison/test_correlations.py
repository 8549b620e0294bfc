"""Correlations between results: by hand, against a slow twin and SciPy, intervals, files, refusals."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from leadline.cli.correlate import command
from leadline.comparison.correlate import QUERIES_COVERED, RUNS_COVERED, correlate
from leadline.errors import InputError, UsageError
from leadline.io.result_files import read_column
from leadline.stats.correlation import ROWS, over_queries
from leadline.stats.moments import interval, resamples


def test_coefficients_and_p_are_scipys() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=30)
    y = x + rng.normal(size=30)
    y[3] = y[4]
    found = correlate(*({f"r{place}": float(one) for place, one in enumerate(side)} for side in (x, y)))
    for name, other in (
        ("pearson", stats.pearsonr(x, y)),
        ("spearman", stats.spearmanr(x, y)),
        ("kendall", stats.kendalltau(x, y)),
    ):
        assert found[name].value == pytest.approx(other.statistic)
        assert found[name].p == pytest.approx(other.pvalue)
        assert found[name].low < found[name].value < found[name].high
        assert math.isnan(found[name].queries_low)
    assert math.isnan(found["tau_ap"].p)
    same = {f"r{place}": float(one) for place, one in enumerate(x)}
    assert "<0.0001" in str(correlate(same, same))


def test_runs_of_one_team_are_drawn_together_and_widen_the_interval() -> None:
    rng = np.random.default_rng(4)
    sides: tuple[dict[str, float], dict[str, float]] = ({}, {})
    teams = {}
    for team in range(10):
        x, y = rng.normal(size=2)
        for run in range(8):
            name = f"t{team}r{run}"
            teams[name] = str(team)
            sides[0][name] = float(x + 0.01 * rng.normal())
            sides[1][name] = float(y + 0.01 * rng.normal())
    alone, together = correlate(*sides)["pearson"], correlate(*sides, teams=teams)["pearson"]
    assert together.high - together.low > 1.3 * (alone.high - alone.low)


def test_queries_are_drawn_again_on_both_sides_at_once() -> None:
    rng = np.random.default_rng(1)
    truth = {f"r{run}": {f"q{q}": float(rng.uniform() + run / 10) for q in range(20)} for run in range(12)}
    same = correlate(truth, truth)
    assert (same["pearson"].queries_low, same["kendall"].queries_high) == pytest.approx((1, 1))
    means = {run: float(np.mean(list(row.values()))) for run, row in truth.items()}
    against = correlate(truth, means)  # the estimate stays as it is
    assert against["kendall"].value == 1
    assert against["kendall"].queries_low < 1
    assert correlate(truth, means).to_dict() == against.to_dict()


def test_results_and_tables_are_read(tmp_path: Path) -> None:
    evaluated = {
        "measures": ["AP", "P@5"],
        "runs": [
            {"name": "a", "mean": {"AP": 0.5, "P@5": 0.2}, "queries": {"1": {"AP": 0.4}, "2": {"AP": 0.6}}},
            {"name": "b", "mean": {"AP": None, "P@5": 0.1}, "queries": {"1": {"AP": None}}},
        ],
    }
    histogram = {"runs": [{"name": "a", "hsa": 1.5, "hsa_robust": None, "bins": []}]}
    sampled = {"runs": [{"name": "a", "mean": {"AP": {"value": 0.3, "low": 0.1}}}]}
    difference = {"k": None, "systems": ["a"], "ric": {"a": 0.3}, "wrong_way": {"a": 1}, "options": {"k": 1}}
    for name, data in (("e", evaluated), ("h", histogram), ("s", sampled), ("d", difference)):
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    (tmp_path / "t.csv").write_text("team,run,AP\nx,a,0.25\ny,b,-\n")
    (tmp_path / "q.tsv").write_text("run\tquery\tAP\na\t1\t0.5\na\t2\t0.1\nb\t1\t0\nb\t2\t0\n")
    found = read_column(f"{tmp_path}/e.json")
    assert (found.measure, found.values["a"], math.isnan(found.values["b"])) == ("AP", 0.5, True)
    assert found.queries["a"] == {"1": 0.4, "2": 0.6}
    assert read_column(f"{tmp_path}/e.json:P@5").values == {"a": 0.2, "b": 0.1}
    assert read_column(f"{tmp_path}/h.json").values == {"a": 1.5}
    assert math.isnan(read_column(f"{tmp_path}/h.json:hsa_robust").values["a"])
    assert read_column(f"{tmp_path}/s.json").values == {"a": 0.3}
    assert read_column(f"{tmp_path}/d.json:wrong_way").values == {"a": 1}
    assert read_column(f"{tmp_path}/t.csv:AP").values["a"] == 0.25
    assert read_column(f"{tmp_path}/q.tsv").queries == {"a": {"1": 0.5, "2": 0.1}, "b": {"1": 0, "2": 0}}
    (tmp_path / "q.csv").write_text("query_id,run,AP\n1,a,0.5\n2,a,0.1\n")
    assert read_column(f"{tmp_path}/q.csv").queries == {"a": {"1": 0.5, "2": 0.1}}
    (tmp_path / "l.csv").write_text("run,measure,value\na,AP,0.5\na,RR,1\nb,AP,0\nb,RR,0\n")
    assert read_column(f"{tmp_path}/l.csv").values == {"a": 0.5, "b": 0}
    assert read_column(f"{tmp_path}/l.csv:RR").values == {"a": 1, "b": 0}
    assert correlate(f"{tmp_path}/q.tsv", {"a": 1, "b": 2}).truth.tolist() == pytest.approx([0.3, 0])
    with pytest.raises(InputError, match=r"there is no measure 'MAP'"):
        read_column(f"{tmp_path}/e.json:MAP")
    with pytest.raises(InputError, match="'x' in column 'team' is not a number"):
        read_column(f"{tmp_path}/t.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "JSON"),
        ('{"a": 1}', "no per-run values were found"),
        ('{"runs": [{"hsa": 1}]}', "contains a run without a name"),
        ("", "contains no rows"),
        ("run,AP\na,1\na,2\n", "t:3: run 'a' appears twice"),
        ("run,AP\na\n", "t:2: the row has 1 cell, but the header has 2"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "t").write_text(text)
    with pytest.raises(InputError, match=words):
        read_column(f"{tmp_path}/t")


def test_what_is_left_out_is_counted_and_too_little_is_refused() -> None:
    found = correlate({"a": 1, "b": 2, "c": math.nan, "x": 1}, {"a": 2, "b": 1, "c": 3, "y": 1})
    assert found.names == ["a", "b"]
    assert [(notice.code, notice.count) for notice in found.warnings] == [
        ("only_one_side", 1),
        ("only_one_side", 1),
        ("undefined", 1),
        ("too_few_runs", 1),
    ]
    with pytest.raises(InputError, match="too few runs: 0 in both truth and estimate"):
        correlate({"a": 1}, {"b": 1})
    with pytest.raises(UsageError, match="no coefficient 'tau'"):
        found["tau"]


def test_a_run_without_one_of_two_measures_of_a_file_is_not_missing_from_the_file(tmp_path: Path) -> None:
    means = {"a": {"AP": 0.1, "P": 0.2}, "b": {"AP": 0.2}, "c": {"AP": 0.3, "P": 0.4}}
    path = tmp_path / "means.json"
    path.write_text(json.dumps({"runs": [{"name": name, "mean": mean} for name, mean in means.items()]}))
    found = correlate(f"{path}:AP", f"{path}:P")
    (said,) = (notice.message for notice in found.warnings if notice.code == "only_one_side")
    assert f"with AP ({path}) but not P ({path}): b" in said


def test_a_constant_side_is_said_and_numbers_that_are_missing_are_told_from_names() -> None:
    found = correlate({"a": 1, "b": 1, "c": 1}, {"a": 2, "b": 1, "c": 3}, draws=0)
    assert math.isnan(found["pearson"].value)
    assert found.warnings[0].message == "truth is the same for all runs, which leaves coefficients undefined"
    turned = correlate({"a": 2, "b": 1, "c": 3}, {"a": 1, "b": 1, "c": 1}, draws=0)
    undefined = [name for name, one in turned.found.items() if math.isnan(one.value)]
    assert undefined == [name for name in turned.found if name != "tau_ap"]
    assert "estimate is the same for all runs" in turned.warnings[0].message
    with pytest.raises(InputError, match="too few runs: 3 in both truth and estimate, 0 with") as caught:
        correlate({"a": 1, "b": 1, "c": 1}, dict.fromkeys("abc", math.nan))
    assert "names" not in str(caught.value)
    with pytest.raises(InputError, match="1 in both") as caught:
        correlate({"a": 1}, {"a": 2})  # the names match
    assert "names" not in str(caught.value)


@pytest.mark.parametrize(
    ("truth", "says"),
    [
        (
            None,
            (
                "truth cannot be of type NoneType. Pass FILE, FILE:MEASURE, {run: value} or the "
                "result of `evaluate`."
            ),
        ),
        (
            [1.0, 2.0],
            (
                "truth cannot be of type list. Pass FILE, FILE:MEASURE, {run: value} or the "
                "result of `evaluate`."
            ),
        ),
        ({"a": "x", "b": 1.0}, "the value 'x' of run 'a' is not a number"),
        ({"a": {"q": None}, "b": 1.0}, "the value None of run 'a' is not a number"),
    ],
)
def test_what_are_no_values_of_runs_is_one_line(truth: Any, says: str) -> None:
    with pytest.raises(UsageError) as error:
        correlate(truth, {"a": 1.0, "b": 2.0})
    assert str(error.value) == says


@pytest.mark.parametrize("row", [{"q1": 0.3}, {"q1": 0.3, "q2": math.nan}, {}])
def test_runs_without_a_value_for_a_query_are_refused(row: dict[str, float], tmp_path: Path) -> None:
    truth = {"a": {"q1": 0.1, "q2": 0.2}, "b": row, "c": 0.4}
    with pytest.raises(InputError, match=r"truth: run 'b' has no value for query 'q[12]'\. Add the value"):
        correlate(truth, {"a": 1, "b": 2, "c": 3})
    path = tmp_path / "q.tsv"
    path.write_text("run\tquery\tAP\na\tq1\t0.5\na\tq2\t0.1\nb\tq1\t0.2\n")
    with pytest.raises(InputError, match="run 'b' has no value for query 'q2'"):
        correlate(path, path)


def test_spearmans_p_is_exact_up_to_nine_runs() -> None:
    three = correlate({"a": 1, "b": 2, "c": 3}, {"a": 0.1, "b": 0.2, "c": 0.4})
    assert three["spearman"].value == pytest.approx(1)
    assert three["spearman"].p == pytest.approx(1 / 3)
    rng = np.random.default_rng(5)
    for runs in (4, 6):
        x = rng.integers(0, 4, runs).astype(float)  # ties
        y = rng.normal(size=runs)
        sides = [dict(zip("abcdefg", side.tolist(), strict=False)) for side in (x, y)]
        found = correlate(*sides, draws=0)["spearman"]
        rho = stats.spearmanr(x, y).statistic
        orders = [stats.spearmanr(x, list(order)).statistic for order in permutations(y)]
        share = np.mean(np.abs(orders) >= abs(rho) - 1e-9)
        assert found.p == pytest.approx(share)
    names = [f"r{place}" for place in range(10)]
    for runs, method in ((9, "permutation"), (10, "t")):
        x, y = rng.normal(size=(2, runs))
        found = correlate(
            dict(zip(names, x.tolist(), strict=False)), dict(zip(names, y.tolist(), strict=False)), draws=0
        )["spearman"]
        assert (found.p == pytest.approx(stats.spearmanr(x, y).pvalue)) == (method == "t")


def test_intervals_need_ten_runs_and_those_over_queries_five() -> None:
    rng = np.random.default_rng(2)
    for runs in (2, 4, 5, 9, 10):
        sides = [
            {f"r{run}": {f"q{q}": float(rng.uniform() + run) for q in range(9)} for run in range(runs)}
            for _ in range(2)
        ]
        found = correlate(*sides, draws=50)
        for name in ("pearson", "kendall"):
            one = found[name]
            assert math.isnan(one.queries_low) == (runs < 5)
        assert math.isnan(found["pearson"].low) == (runs < 10)
        said = [notice.message for notice in found.warnings if notice.code == "too_few_runs"]
        few = f"{runs} runs, but at least"
        assert said == [
            *[f"coefficients are unreliable and have no intervals over runs: {few} 10 are needed"]
            * (runs < 10),
            *[f"no intervals over queries: {few} 5 are needed"] * (runs < 5),
        ]


def test_intervals_over_teams_need_ten_and_runs_without_one_are_counted() -> None:
    x, y = np.random.default_rng(8).normal(size=(2, 20)).tolist()
    names = [f"r{place:02}" for place in range(20)]
    sides = dict(zip(names, x, strict=True)), dict(zip(names, y, strict=True))
    teams = {name: f"t{place // 2}" for place, name in enumerate(names)}
    ten, nine = (correlate(*sides, teams=each) for each in (teams, teams | {"r00": "t1", "r01": "t1"}))
    assert not math.isnan(ten["kendall"].low)
    assert ten.warnings == []
    assert math.isnan(nine["kendall"].low)
    (few,) = nine.warnings
    assert few.message.endswith("no intervals over teams: 9 teams, but at least 10 are needed")
    own = correlate(*sides, teams=teams | {"r00": "own 1", "r01": "own 2"})
    gaps = correlate(
        *sides, teams={name: team for name, team in teams.items() if name != "r00"} | {"r01": ""}
    )
    assert [one.message for one in gaps.warnings] == [
        "2 runs without a team each count as their own team (r00, r01)"
    ]
    width = own["pearson"].high - own["pearson"].low
    assert gaps["pearson"].high - gaps["pearson"].low == pytest.approx(width, rel=0.1)


def test_there_is_no_interval_over_runs_from_equal_resamples() -> None:
    x = {f"r{place}": float(place) for place in range(12)}
    found = correlate(x, {name: value**2 for name, value in x.items()})
    assert not math.isnan(found["pearson"].low)
    assert math.isnan(found["kendall"].low)
    assert [one.message for one in found.warnings] == [
        "no interval over runs for 4 of 5 coefficients, because all resamples give the same value"
    ]


def test_intervals_over_runs_cover_from_ten_runs_on() -> None:
    rng = np.random.default_rng(9)
    times = resamples(list(map(str, range(12))), draws=400).astype(float)
    held = []
    for _ in range(1000):
        x = rng.normal(size=12)
        y = 0.8 * x + 0.6 * rng.normal(size=12)
        low, high = interval(ROWS["pearson"](x[None], y[None], times))
        held.append(low <= 0.8 <= high)
    assert RUNS_COVERED[0] / 100 < np.mean(held) < 0.95


def test_tau_and_its_p_have_the_same_ties() -> None:
    x = {"a": 0.1 + 0.2, "b": 0.3, "c": 0.5, "d": 0.7, "e": 0.8}  # a and b differ by rounding
    y = {"a": 1.0, "b": 2.0, "c": 4.0, "d": 3.0, "e": 5.0}
    rounded = x | {"a": 0.3}
    assert correlate(x, y)["kendall"].p == correlate(rounded, y)["kendall"].p
    assert correlate(x, y)["kendall"].value == correlate(rounded, y)["kendall"].value


def test_intervals_over_queries_are_those_of_the_tables() -> None:
    rng = np.random.default_rng(3)
    x = rng.random((20, 7))
    y = x + rng.normal(0, 0.3, x.shape)
    sides = [
        {
            f"r{run}": {f"q{q:02}": row for q, row in enumerate(each.tolist())}
            for run, each in enumerate(side.T)
        }
        for side in (x, y)
    ]
    found = correlate(*sides, draws=80, confidence=0.9, seed=2)
    limits = over_queries(x, y, list(found.found), draws=80, confidence=0.9, seed=2)
    for one, row in zip(found.found.values(), limits, strict=True):
        assert (one.queries_low, one.queries_high) == pytest.approx(tuple(row))
        assert one.queries_low < one.value < one.queries_high


def test_noisy_means_are_said() -> None:
    rng = np.random.default_rng(5)
    for noise, noisy in ((0.1, 0), (3.0, 2)):
        sides = [
            {
                f"r{run}": {f"q{q}": float(run / 9 + rng.normal(0, noise)) for q in range(20)}
                for run in range(9)
            }
            for _ in range(2)
        ]
        codes = [notice.code for notice in correlate(*sides, draws=20).warnings]
        assert codes.count("noisy_means") == noisy


def test_the_coverage_that_is_printed_is_that_of_the_study() -> None:
    path = Path(__file__).resolve().parents[2] / "docs" / "studies" / "significance.json"
    held = [row["coverage"] for row in json.loads(path.read_text())["printed"]["correlate"]]
    assert (math.floor(100 * min(held)), math.ceil(100 * max(held))) == QUERIES_COVERED
    assert len(held) >= 80
    help_text = " ".join((command.__doc__ or "").split())
    for covered in (QUERIES_COVERED, RUNS_COVERED):
        assert "{} to {} %".format(*covered) in help_text


def test_one_common_query_is_not_told_as_means_that_do_not_match() -> None:
    sides = [{f"r{run}": {"q1": float(run**power)} for run in range(6)} for power in (1, 2)]
    said = [one.message for one in correlate(*sides).warnings if one.code == "queries_unused"]
    assert said == [
        "no intervals over queries, because the runs have 1 query in common, but at least 2 are needed"
    ]


def test_means_over_different_queries_are_told() -> None:
    sizes = (12, 9)
    sides = [{f"r{run}": {f"q{q}": run + q for q in range(size)} for run in range(6)} for size in sizes]
    (said,) = (one.message for one in correlate(*sides).warnings if one.code == "queries_unused")
    assert said.endswith("because the values are not arithmetic means over the queries that all runs share")


def test_the_note_of_intervals_over_teams_names_teams() -> None:
    sides = [{f"r{run}": float(run**power) for run in range(12)} for power in (1, 2)]
    assert "CI over teams" in str(correlate(*sides, teams={f"r{run}": f"t{run}" for run in range(12)}))
    assert "CI over runs" in str(correlate(*sides))


def test_columns_without_a_value_are_neither_printed_nor_explained() -> None:
    for runs, shown in ((5, False), (12, True)):
        found = correlate(*({f"r{run}": float(run**power) for run in range(runs)} for power in (1, 2)))
        head, *_ = str(found).splitlines()
        assert (" low" in head, "resamples" in str(found)) == (shown, shown)
        assert "queries" not in str(found)
        assert "queries low" in found.to_csv()
