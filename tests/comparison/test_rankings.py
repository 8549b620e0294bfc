"""Ranks of runs: as compare tests them, in both directions, with groups of queries and missing values."""

from __future__ import annotations

import csv
import itertools
import math
import re
from typing import Any

import numpy as np
import pytest

import leadline as ll
from conftest import REPOSITORY
from leadline.comparison.comparison_result import outperformed_runs
from leadline.comparison.rank import BOOTSTRAP_COVERAGE, rank
from leadline.errors import UsageError
from leadline.pages.report import story
from leadline.stats.ranks import mid_ranks


def scores(values: list[list[float]], measure: str = "AP") -> ll.Results:
    """Return results of runs (columns) by queries (rows)."""
    rows = {
        f"r{run}": {f"q{query}": {measure: float(row[run])} for query, row in enumerate(values)}
        for run in range(len(values[0]))
    }
    return ll.read_scores(rows)


def drawn(runs: int = 6, queries: int = 25, seed: int = 0) -> list[list[float]]:
    """Return values of runs whose means differ by more and less."""
    rng = np.random.default_rng(seed)
    values = rng.random((queries, runs)) * 0.4 + np.linspace(0.5, 0, runs)
    found: list[list[float]] = np.round(values, 3).tolist()
    return found


@pytest.mark.parametrize(
    "correction", ["Holm", "Bonferroni", "Hochberg", "BH", "Uncorrected", "MaxT", "Tukey"]
)
@pytest.mark.parametrize("test", ["T", "Wilcoxon"])
def test_intervals_count_the_significant_pairs_of_compare(correction: str, test: str) -> None:
    results = scores(drawn())
    comparison = ll.compare(results, correction=correction, test=test)
    ranking = ll.rank(results, correction=correction, test=test, draws=0)
    for run in ranking.runs_of():
        better = sum(
            (pair.verdict == "worse" and pair.a == run.name)
            or (pair.verdict == "better" and pair.b == run.name)
            for pair in comparison.pairs
        )
        worse = sum(
            (pair.verdict == "better" and pair.a == run.name)
            or (pair.verdict == "worse" and pair.b == run.name)
            for pair in comparison.pairs
        )
        assert (run.rank_low, run.rank_high) == (1 + better, 6 - worse)
        assert run.rank_low <= run.rank <= run.rank_high


@pytest.mark.parametrize(
    ("correction", "interval"),
    [("Holm", "all runs at once"), ("BH", "BH-adjusted"), ("Uncorrected", "uncorrected tests")],
)
def test_the_figure_says_what_its_intervals_hold_for(correction: str, interval: str) -> None:
    pytest.importorskip("matplotlib")
    figure = ll.rank(scores(drawn()), correction=correction, draws=0).plot()
    assert figure.legends[0].get_texts()[1].get_text() == f"95 % interval, {interval}"


def test_the_family_of_all_measures_is_larger() -> None:
    first, second = drawn(seed=1), drawn(seed=2)
    rows = {
        f"r{run}": {
            f"q{query}": {"AP": one[run], "RR": two[run]}
            for query, (one, two) in enumerate(zip(first, second, strict=True))
        }
        for run in range(6)
    }
    results = ll.read_scores(rows)
    for family, correction in itertools.product(("measure", "all"), ("Holm", "MaxT")):
        ranking = ll.rank(results, family=family, correction=correction, draws=0)
        comparison = ll.compare(results, family=family, correction=correction)
        for index in range(2):
            width = sum(run.rank_high - run.rank_low for run in ranking.runs_of(index))
            significant = int(comparison.rejected[index].sum())
            assert width == 6 * 5 - 2 * significant


def test_less_is_better_turns_all_ranks() -> None:
    values = drawn()
    rows = {
        f"r{run}": {f"q{query}": {"quality": row[run], "cost": -row[run]} for query, row in enumerate(values)}
        for run in range(6)
    }
    ranking = ll.rank(ll.read_scores(rows, lower_is_better="cost"), draws=500)
    quality, cost = ranking.runs_of(0), ranking.runs_of(1)
    for one, two in zip(quality, cost, strict=True):
        assert one._replace(measure="", mean=0) == two._replace(measure="", mean=0)


def test_probabilities_to_be_best_add_up_and_ties_share_ranks() -> None:
    values = [[row[0], row[0], row[3]] for row in drawn()]
    ranking = ll.rank(scores(values), draws=300)
    runs = ranking.runs_of()
    assert [run.rank for run in runs] == [1.5, 1.5, 3.0]
    assert sum(run.best for run in runs) == pytest.approx(1.0)
    assert runs[0].best == runs[1].best
    assert runs[0].group == runs[1].group == 1


def test_two_runs_worked_by_hand() -> None:
    # differences 0.1, 0.3, -0.1, 0.2, 0.2: p = 0.1079 by t
    results = scores([[0.5, 0.4], [0.9, 0.6], [0.3, 0.4], [0.6, 0.4], [0.7, 0.5]])
    loose, strict = (ll.rank(results, confidence=level, draws=0).runs_of() for level in (0.89, 0.9))
    assert [(run.name, run.rank_low, run.rank_high, run.group) for run in loose] == [
        ("r0", 1, 1, 1),
        ("r1", 2, 2, 2),
    ]
    assert [(run.name, run.rank_low, run.rank_high, run.group) for run in strict] == [
        ("r0", 1, 2, 1),
        ("r1", 1, 2, 1),
    ]
    assert all(math.isnan(run.best) and math.isnan(run.bootstrap_low) for run in loose)


def test_groups_of_queries_are_units() -> None:
    values = drawn(queries=24)
    results = scores(values)
    groups = {f"q{query}": f"g{query % 4}" for query in range(24)}
    ranking = ll.rank(results, query_group=groups, draws=200)
    comparison = ll.compare(results, query_group=groups)
    assert (
        sum(run.rank_high - run.rank_low for run in ranking.runs_of()) == 30 - 2 * comparison.rejected.sum()
    )
    assert ranking.options["query_group"] == "in memory"


def test_pairs_are_compared_on_the_queries_of_both() -> None:
    qrels = {f"q{n}": {"d": 1} for n in range(12)}
    full = {query: {"d": 1.0} for query in qrels}
    part = {query: {"x": 2.0, "d": 1.0} for n, query in enumerate(qrels) if n < 8}
    results = ll.evaluate(qrels, {"full": full, "part": part}, ["RR"], queries="both")
    ranking = ll.rank(results, draws=100)
    assert [run.name for run in ranking.runs_of()] == ["full", "part"]
    assert ranking.runs_of()[0].rank_high == 1


def test_the_ranks_are_those_of_the_means() -> None:
    results = scores(drawn(runs=9, seed=5))
    ranking = ll.rank(results, draws=0)
    expected = mid_ranks(results.means[:, 0]).tolist()
    assert {run.name: run.rank for run in ranking.runs_of()} == dict(
        zip(results.names, expected, strict=True)
    )


def test_too_few_queries_are_said_and_leave_all_ranks_open() -> None:
    ranking = ll.rank(scores(drawn(queries=4)), test="Randomisation", draws=0)
    assert [notice.code for notice in ranking.warnings] == ["too_few_queries"]
    assert {(run.rank_low, run.rank_high) for run in ranking.runs_of()} == {(1, 6)}
    single = ll.rank(scores(drawn(queries=1)), draws=100)
    assert {(run.rank_low, run.rank_high) for run in single.runs_of()} == {(1, 6)}


def test_no_run_is_probably_the_best_where_the_runs_may_be_equal() -> None:
    # two runs vary together, so that of equal means the third is the best in half of the resamples
    noise = np.random.default_rng(3).normal(size=(40, 2))
    alike, other = 0.5 + noise[:, 0] / 10, 0.5 + noise[:, 1] / 10
    close = np.stack([alike + 0.001, alike, other], axis=1).tolist()
    apart = np.stack([alike + 0.3, alike, other], axis=1).tolist()
    equal, different = (ll.rank(scores(values), draws=200) for values in (close, apart))
    assert [notice.code for notice in equal.warnings] == ["approximate_intervals", "no_probability"]
    assert all(math.isnan(run.best) and run.expected >= 1 for run in equal.runs_of())
    assert different.runs_of()[0].best > 0.95
    for ranking, named in ((equal, False), (different, True)):
        assert any("P(best):" in note for note in ranking._notes()) == named


def test_columns_that_are_left_out_are_not_explained() -> None:
    few = ll.rank(scores(drawn(queries=5)), draws=100)
    assert not any("boot low, boot high:" in note for note in few._notes())
    assert any("100 resamples" in note for note in few._notes())


def test_bootstrap_intervals_of_few_queries_are_approximate_or_withheld() -> None:
    several, few, enough = (ll.rank(scores(drawn(queries=size)), draws=100) for size in (12, 5, 50))
    assert [notice.code for notice in several.warnings] == ["approximate_intervals"]
    assert "with 10 queries, 95 % intervals" in str(several.warnings[0])
    assert [notice.code for notice in few.warnings] == ["no_interval"]
    assert all(math.isnan(run.bootstrap_low) and not math.isnan(run.best) for run in few.runs_of())
    assert {row["bootstrap_high"] for row in few.to_dict()["runs"]} == {None}
    assert "nan" not in str(few)
    assert not enough.warnings
    groups = {f"q{query}": str(query % 5) for query in range(50)}
    grouped = ll.rank(scores(drawn(queries=50)), draws=100, query_group=groups)
    assert (grouped.warnings[0].code, grouped.warnings[0].count) == ("no_interval", 5)


def test_the_coverage_that_is_said_is_that_of_the_study() -> None:
    table = (REPOSITORY / "docs" / "data" / "ranks-ten-runs.csv").read_text(encoding="utf-8")
    rows = {row[0]: row for row in csv.reader(table.splitlines())}
    for size, (adjacent, random) in BOOTSTRAP_COVERAGE.items():
        shares = [[float(share) for share in re.findall(r"\d+\.\d", cell)] for cell in rows[str(size)][3:5]]
        assert (adjacent, random) == (round(min(shares[1])), round(max(shares[0])))


def test_the_result_is_like_any_other() -> None:
    ranking = ll.rank(scores(drawn()), draws=100)
    data = ranking.to_dict()
    assert set(data["runs"][0]) == {
        *("name", "measure", "mean", "rank", "rank_low", "rank_high", "bootstrap_low", "bootstrap_high"),
        *("best", "expected", "group"),
    }
    assert ranking.to_columns()["name"] == [run.name for run in ranking.runs_of()]
    assert "booktabs" not in ranking.to_latex()
    assert "\\toprule" in ranking.to_latex()
    assert ranking.plot().axes[0].get_xlabel() == "rank by AP (1 is best)"
    assert repr(ranking) == "Ranking(6 runs by AP)"


def test_what_cannot_be_ranked_is_refused() -> None:
    results = scores(drawn())
    with pytest.raises(UsageError, match="at least two runs"):
        ll.rank(scores([[0.5], [0.4]]))
    with pytest.raises(
        UsageError,
        match=r"^runs cannot be passed with results, which already contain runs\. Leave out the runs\.$",
    ):
        ll.rank(results, {"a": {}})
    with pytest.raises(UsageError, match="judgments but no runs"):
        ll.rank({"q": {"d": 1}})
    calls: tuple[Any, ...] = ll.compare, ll.rank
    for call in calls:
        with pytest.raises(UsageError, match="takes a single result"):
            call([results, results])
        with pytest.raises(UsageError, match="a list alone cannot be"):
            call(["a.run", "b.run"])
    with pytest.raises(UsageError, match="draws must be a whole number of at least 0"):
        rank(results, draws=-1)


def test_one_query_gives_no_probability_to_be_the_best() -> None:
    ranking = ll.rank({"q": {"a": 1, "b": 0}}, {"x": {"q": {"a": 1.0}}, "y": {"q": {"b": 1.0}}}, "AP")
    assert all(math.isnan(run.best) and math.isnan(run.expected) for run in ranking.runs_of())
    assert "nan" not in str(ranking)


def test_a_measure_of_the_judgments_calls_no_run_better() -> None:
    qrels = {f"q{n}": {"d1": 1} for n in range(30)}
    runs = {"all": {query: {"d1": 1.0} for query in qrels}, "few": {query: {"d9": 1.0} for query in qrels}}
    runs["few"]["q0"] = {"d1": 1.0}
    runs["some"] = {query: {"d1" if n % 3 else "d8": 1.0} for n, query in enumerate(qrels)}
    found = ll.compare(qrels, runs, ["Judged@10", "P@1"])
    judged, precise = (outperformed_runs(found, place) for place in (0, 1))
    assert not any(judged)
    assert any(precise)
    ranking = ll.rank(qrels, runs, ["Judged@10", "P@1"], draws=0)
    assert len(next(column for column in ranking._columns() if column.name == "mean").best) == 1
    for result in (found, ranking):
        (notice,) = [one for one in result.warnings if one.code == "no_quality"]
        assert (notice.count, "Judged@10" in notice.message) == (1, True)
    assert not [one for one in ll.compare(qrels, runs, "P@1").warnings if one.code == "no_quality"]
    assert story(found) == ["Judged@10 describes the judgments, so it does not show which run is best."]
