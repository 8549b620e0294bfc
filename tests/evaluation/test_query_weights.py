"""Means weighted by query: values, intervals, tests, notes, saved results and refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from conftest import Leadline
from leadline.comparison import engine
from leadline.comparison.pairing import Pairs, Rules
from leadline.comparison.query_slices import slices_of
from leadline.data.arrays import Floats
from leadline.errors import InputError, UsageError
from leadline.evaluation.limits import read_weights
from leadline.evaluation.results import Results
from leadline.scale import RunParts, evaluate_parts
from leadline.stats.intervals import BCa, Percentile, Randomisation, Student
from leadline.stats.moments import Groups, Weighted, means, totals
from leadline.stats.paired_tests import Bootstrap, T
from leadline.stats.paired_tests import Randomisation as RandomisationTest
from leadline.stats.ranks import bootstrap_ranks
from leadline.stats.simultaneous import max_t

RNG = np.random.default_rng(3)
QUERIES = [f"q{number}" for number in range(12)]
QRELS = {query: {"d": 1, "e": 1} for query in QUERIES}
LISTS = (["d", "e"], ["x", "d", "e"], ["x", "y", "e", "d"], ["d", "x", "e"], ["x"])
RUNS = {name: {query: LISTS[RNG.integers(5)] for query in QUERIES} for name in ("old", "new")}
WEIGHTS = {query: float(1 + number % 5) for number, query in enumerate(QUERIES)} | {"unjudged": 12.0}


def repeated(values: Floats, weights: Floats) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return every row as often as its weight says, and the row of each as its group."""
    rows = np.repeat(np.arange(len(values)), weights.astype(int))
    return values[rows], rows


STATISTICS: dict[str, Callable[[Floats, Groups], Any]] = {
    "T": lambda values, groups: T().p_values(values, groups=groups),
    "Randomisation": lambda values, groups: RandomisationTest(draws=999).p_values(values, groups=groups),
    "Bootstrap": lambda values, groups: Bootstrap(draws=999).p_values(values, groups=groups),
    "Student": lambda values, groups: Student().limits(values, groups=groups),
    "BCa": lambda values, groups: BCa(draws=999).limits(values, groups=groups),
    "Percentile": lambda values, groups: Percentile(draws=999).limits(values, groups=groups),
    "inverted": lambda values, groups: Randomisation(draws=999).limits(values, groups=groups),
    "MaxT": lambda values, groups: max_t(values, draws=999, groups=groups).p,
    "MaxT limits": lambda values, groups: max_t(values, draws=999, groups=groups).limits(0.9),
    "ranks": lambda values, groups: bootstrap_ranks(values, draws=999, groups=groups).counts,
}


@pytest.mark.parametrize("name", STATISTICS)
def test_a_weight_is_as_many_queries_of_one_group(name: str) -> None:
    values = RNG.normal(0.3, 1, (12, 3)).round(3)
    weights = np.array([1.0, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4])
    many, groups = repeated(values, weights)
    weighted = STATISTICS[name](values, Weighted(np.arange(12), weights))
    np.testing.assert_allclose(weighted, STATISTICS[name](many, groups), rtol=1e-9)


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0.01, 100)), min_size=2, max_size=30))
def test_the_error_is_that_of_leaving_each_query_out(rows: list[tuple[float, float]]) -> None:
    values, weights = np.array(rows).T
    found = means(totals(values[:, None], Weighted(np.arange(len(rows)), weights)))
    assert found.mean[0] == pytest.approx(np.average(values, weights=weights))
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert found.effective[0] == pytest.approx(effective)
    if effective < 5:
        assert np.isnan(found.error[0])
        return
    left = [np.average(np.delete(values, row), weights=np.delete(weights, row)) for row in range(len(values))]
    squares = sum((one - found.mean[0]) ** 2 for one in left)
    assert found.error[0] == pytest.approx(np.sqrt((len(rows) - 1) / len(rows) * squares), rel=1e-6, abs=1e-9)


def test_equal_weights_change_nothing() -> None:
    plain = ll.compare(QRELS, RUNS, "AP")
    same = ll.compare(QRELS, RUNS, "AP", query_weights=dict.fromkeys(QUERIES, 7))
    for name in ("difference", "low", "high", "p", "mean_a"):
        np.testing.assert_allclose(same[name], plain[name], rtol=1e-9)


def test_equivalence_is_decided_by_weighted_means() -> None:
    values = np.concatenate([np.full((20, 1), 0.5), RNG.normal(0, 0.01, (80, 1))])
    weights = Weighted(np.arange(100), np.repeat([0.01, 1.0], [20, 80]))
    pairs = Pairs(np.array([0]), np.array([1]))
    both = engine.Differences(np.column_stack([values, np.zeros(100)]), pairs)
    tested = [engine.Tested([both], Rules(margin=0.05), groups).p_equivalent for groups in (weights, None)]
    assert tested[0] is not None
    assert tested[1] is not None
    assert tested[0][0, 0] < 0.01 < tested[1][0, 0]


def evaluated(**options: object) -> Results:
    return ll.evaluate(QRELS, RUNS, ["AP", "RR"], query_weights=WEIGHTS, **options)  # type: ignore[arg-type]


def test_means_of_runs_are_weighted() -> None:
    results = evaluated(bounds=True)
    weights = [WEIGHTS[query] for query in results.queries]
    expected = np.average(results.values, axis=1, weights=weights)
    np.testing.assert_allclose(results.means, expected)
    np.testing.assert_allclose(results.mean_bounds[:, :, 2], expected)  # no ties
    (note,) = [one for one in results.warnings if one.code == "query_weights"]
    sizes = np.array(weights)
    effective = sizes.sum() ** 2 / (sizes**2).sum()
    assert (
        f"equivalent to {effective:.1f} queries of equal weight (design effect {12 / effective:.2f})"
        in note.message
    )
    assert f"{100 * sizes.sum() / sum(WEIGHTS.values()):.4g} %" in note.message


def test_a_weight_of_0_leaves_a_query_out() -> None:
    weights = WEIGHTS | {"q3": 0}
    without = {query: grades for query, grades in QRELS.items() if query != "q3"}
    for function in (ll.compare, ll.rank):
        found = function(QRELS, RUNS, "AP", query_weights=weights).to_columns()
        expected = function(without, RUNS, "AP", query_weights=weights).to_columns()
        assert found.keys() == expected.keys()
        for name, values in found.items():
            for one, other in zip(values, expected[name], strict=True):
                assert one == (pytest.approx(other, nan_ok=True) if isinstance(other, float) else other)
    assert "left out 1 query with weight 0" in str(ll.evaluate(QRELS, RUNS, "AP", query_weights=weights))


def test_merged_parts_and_engines_have_the_same_means() -> None:
    whole = ll.evaluate(QRELS, {"new": RUNS["new"]}, "AP", query_weights=WEIGHTS, intervals=True)
    halves = [{query: RUNS["new"][query] for query in some} for some in (QUERIES[:5], QUERIES[5:])]
    merged = Results.merge(
        [ll.evaluate(QRELS, {"new": half}, "AP", query_weights=WEIGHTS, intervals=True) for half in halves]
    )
    parts = evaluate_parts(QRELS, RunParts(halves, name="new"), "AP", query_weights=WEIGHTS, intervals=True)
    for other in (merged, parts):
        np.testing.assert_allclose(other.means, whole.means)
        assert other.intervals is not None
        assert whole.intervals is not None
        np.testing.assert_allclose(other.intervals.limits, whole.intervals.limits)
    others = ll.evaluate(QRELS, {"new": halves[1]}, "AP", query_weights=dict.fromkeys(QUERIES, 1))
    with pytest.raises(UsageError, match="query weights"):
        Results.merge([ll.evaluate(QRELS, {"new": halves[0]}, "AP", query_weights=WEIGHTS), others])


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_saved_values_keep_their_weights(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"base.{suffix}"
    old = ll.evaluate(QRELS, {"run": RUNS["old"]}, "AP", query_weights=WEIGHTS)
    ll.write_baseline(old, path)
    found = ll.compare(QRELS, {"run": RUNS["new"]}, "AP", query_weights=WEIGHTS, baseline=str(path))
    direct = ll.compare(QRELS, RUNS, "AP", query_weights=WEIGHTS)
    assert (found.difference, found.p) == pytest.approx((direct.difference, direct.p))
    with pytest.raises(UsageError, match="query weights"):
        ll.compare(QRELS, {"run": RUNS["new"]}, "AP", baseline=str(path))
    assert ll.compare(ll.read_scores(str(path)), measures=None, baseline=str(path)).difference == 0


def test_slices_are_weighted() -> None:
    slices = {query: "short" if int(query[1:]) < 7 else "long" for query in QUERIES}
    for record in slices_of(evaluated(), slices).records:
        if (record.measure, record.slice) == ("AP", "short"):
            results = evaluated()
            row = results.names.index(record.run)
            codes = [code for code, query in enumerate(results.queries) if slices[query] == "short"]
            weights = [WEIGHTS[results.queries[code]] for code in codes]
            assert record.mean == pytest.approx(np.average(results.values[row, codes, 0], weights=weights))


def test_groups_and_weights_together() -> None:
    groups = {query: f"g{int(query[1:]) // 2}" for query in QUERIES}
    pair = ll.compare(QRELS, RUNS, "AP", query_weights=WEIGHTS, query_group=groups).pairs[0]
    sizes = [WEIGHTS[f"q{2 * number}"] + WEIGHTS[f"q{2 * number + 1}"] for number in range(6)]
    assert pair.groups == 6
    assert pair.effective_groups == pytest.approx(sum(sizes) ** 2 / sum(size**2 for size in sizes))


def test_too_few_effective_queries_are_not_tested() -> None:
    weights = dict.fromkeys(QUERIES, 0.1) | {"q0": 50, "q1": 40}
    pair = ll.compare(QRELS, RUNS, "AP", query_weights=weights).pairs[0]
    assert np.isnan(pair.p)
    assert pair.verdict == "undecided"
    units = Weighted(np.arange(12), np.array(list(weights.values())))
    (text,) = engine.few_queries_texts(np.ones((12, 1)), units)
    assert text == "12 queries (2.0 effective), but at least 5 effective ones are needed for a test"


@pytest.mark.parametrize("sizes", [(46, 44, 45, 45, 45), (76, 30, 30, 30, 30, 29)])
def test_groups_that_are_just_too_few_are_not_told_as_enough(sizes: tuple[int, ...]) -> None:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    (text,) = engine.few_queries_texts(np.ones((len(groups), 1)), groups)
    assert text.startswith(f"{len(sizes)} groups of queries (4.9 effective), but at least 5 effective ones")


@pytest.mark.parametrize("test", ["Wilcoxon", "Sign"])
def test_tests_without_weights_are_refused(test: str) -> None:
    with pytest.raises(UsageError, match="one of Bootstrap, Randomisation, T"):
        ll.compare(QRELS, RUNS, "AP", query_weights=WEIGHTS, test=test)


def test_what_has_no_weighted_form_is_refused() -> None:
    for measure, options in (("num_rel", {}), ("AP", {"correction": "Tukey"})):
        with pytest.raises(UsageError):
            ll.compare(QRELS, RUNS, measure, query_weights=WEIGHTS, **options)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="query_weights"):
        ll.evaluate(QRELS, RUNS, "P@5", query_weights=WEIGHTS, pool={"q0": {"d": 0.5, "e": 0.5}})


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ({"q1": -1}, "the weight of query 'q1' must be a finite number of at least 0, not -1"),
        ({"q1": "many"}, "the weight of query 'q1' must be a finite number of at least 0, not 'many'"),
        ({"q1": float("inf")}, "the weight of query 'q1' must be a finite number of at least 0, not inf"),
        ({"q2": 1}, "query 'q1' has no weight"),
        ({"q1": 0}, "no judged query has a positive weight"),
    ],
)
def test_bad_weights_are_refused(weights: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_weights(weights, ["q1"])


def test_the_command_line(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 d 1\n" for query in QUERIES))
    for name in ("old", "new"):
        lines = (
            f"{query} Q0 {document} {rank} {9 - rank} {name}\n"
            for query in QUERIES
            for rank, document in enumerate(RUNS[name][query], start=1)
        )
        (tmp_path / f"{name}.run").write_text("".join(lines))
    rows = "".join(f"{query},{weight:g}\n" for query, weight in WEIGHTS.items())
    (tmp_path / "traffic.csv").write_text(f"query_id,visits\n{rows}")
    paths = [str(tmp_path / name) for name in ("qrels.txt", "old.run", "new.run")]
    given = ["--query-weights", f"{tmp_path}/traffic.csv:visits"]
    expected = ll.evaluate(*paths, "RR", query_weights=WEIGHTS)
    for command in ("evaluate", "compare", "rank"):
        done = leadline(command, *paths, *given, "-m", "RR", "-f", "json")
        assert f"{expected.mean('new', 'RR'):.10f}"[:-1] in done.out
        assert done.data["options"]["query_weights"] == given[1]
        assert "query_weights" in [one["code"] for one in done.data["warnings"]]
    (tmp_path / "traffic.csv").write_text(f"query_id,visits\n{rows}q1,4\n")
    assert "query 'q1' has more than one weight" in leadline("evaluate", *paths, *given).refusal
    assert leadline("evaluate", *paths, *given, "-f", "trec").status == 2
