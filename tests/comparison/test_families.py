"""Families of pairs: an interval excludes 0 exactly where its pair is significant."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import stdtr

from conftest import examples
from leadline.comparison.compare import compare
from leadline.comparison.comparison_result import Comparison
from leadline.data.ids import Vocabulary
from leadline.data.table import RunInfo
from leadline.evaluation.results import Results
from leadline.measures import MEASURES
from leadline.stats.moments import means, totals
from leadline.stats.power import detectable


def results_of(values: Any, *names: str) -> Results:
    """Make results of runs x queries (x measures) values, by AP or the measures named."""
    table = np.asarray(values, dtype=np.float64)
    table = table[:, :, None] if table.ndim == 2 else table
    runs, queries, measures = table.shape
    return Results(
        [RunInfo(f"r{place}") for place in range(runs)],
        Vocabulary([f"q{place:03}" for place in range(queries)]),
        [MEASURES.parse(name) for name in names or ("AP",) * measures],
        table,
        np.ones(table.shape, dtype=np.bool_),
        options={"profile": "leadline", "documents": None},
    )


def excludes_zero(comparison: Comparison) -> np.ndarray[Any, Any]:
    """Say of which shown intervals 0 is no part."""
    limits = comparison.shown_limits
    return np.asarray((limits[..., 0] > 0) | (limits[..., 1] < 0))


COARSE = st.sampled_from([0.0, 0.25, 0.5, 1.0])  # ties, equal differences, columns of zeros
SMOOTH = st.floats(0, 1, width=32)


@given(
    values=st.integers(2, 5).flatmap(
        lambda runs: st.integers(2, 9).flatmap(
            lambda queries: st.lists(
                st.lists(st.one_of(COARSE, SMOOTH), min_size=queries, max_size=queries),
                min_size=runs,
                max_size=runs,
            )
        )
    ),
    correction=st.sampled_from(["Holm", "Hochberg", "Bonferroni", "BH", "none", "MaxT"]),
    test=st.sampled_from(["T", "Randomisation"]),
    confidence=st.sampled_from([0.6, 0.8, 0.95]),
    baseline=st.booleans(),
)
def test_a_pair_is_significant_exactly_where_its_interval_excludes_0(
    values: list[list[float]], correction: str, test: str, confidence: float, baseline: bool
) -> None:
    comparison = compare(
        results_of(values),
        correction=correction,
        test=test,
        confidence=confidence,
        baseline="r0" if baseline else None,
    )
    assert excludes_zero(comparison).tolist() == comparison.rejected.tolist()


@pytest.mark.parametrize("correction", ["Holm", "BH", "Hochberg", "MaxT", "Tukey"])
@pytest.mark.parametrize("family", ["measure", "all"])
def test_of_many_runs_too(correction: str, family: str) -> None:
    if correction == "Tukey" and family == "all":
        pytest.skip("Tukey corrects within a measure")
    rng = np.random.default_rng(3)
    values = rng.random((14, 40, 2)) * 0.6 + np.linspace(0, 0.4, 14)[:, None, None]
    comparison = compare(results_of(values, "AP", "RR"), correction=correction, family=family)
    told = comparison.rejected
    assert 0 < told.sum() < told.size
    assert excludes_zero(comparison).tolist() == told.tolist()


@pytest.mark.parametrize("test", ["T", "Randomisation"])
def test_with_groups_too(test: str) -> None:
    rng = np.random.default_rng(4)
    values = rng.random((6, 48)) + np.linspace(0, 0.3, 6)[:, None]
    groups = {f"q{place:03}": str(place // 4) for place in range(48)}
    comparison = compare(results_of(values), test=test, query_group=groups)
    assert 0 < comparison.rejected.sum() < comparison.rejected.size
    assert excludes_zero(comparison).tolist() == comparison.rejected.tolist()
    assert {pair.groups for pair in comparison.pairs} == {12}


def test_limits_of_a_pair_alone_stay_and_simultaneous_ones_are_wider() -> None:
    rng = np.random.default_rng(2)
    values = rng.random((5, 30))
    found = compare(results_of(values))
    for pair, (second, first) in zip(found.pairs, zip(*np.triu_indices(5, 1), strict=True), strict=True):
        own = stats.ttest_rel(values[first], values[second]).confidence_interval(0.95)
        wide = stats.ttest_rel(values[first], values[second]).confidence_interval(1 - 0.05 / 10)
        assert (pair.low, pair.high) == pytest.approx((own.low, own.high))
        assert (pair.simultaneous_low, pair.simultaneous_high) == pytest.approx((wide.low, wide.high))


def test_one_pair_has_no_simultaneous_interval() -> None:
    found = compare(results_of(np.random.default_rng(1).random((2, 9))))
    assert np.isnan(found.pairs[0].simultaneous_low)
    assert found.to_dict()["pairs"][0]["simultaneous_low"] is None
    uncorrected = compare(results_of(np.random.default_rng(1).random((3, 9))), correction="none")
    assert uncorrected.simultaneous is None


def test_where_only_a_later_step_of_holm_rejects_the_interval_ends_at_0() -> None:
    """Two huge differences, one with p between .05/3 and .05: Holm tests it at .05, Bonferroni at .05/3."""
    queries = 20
    noise = np.random.default_rng(8).normal(size=queries)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    near = 0.5 + 0.01 * noise * np.sqrt(queries) / 2.3  # t = 2.3, p = .033
    values = np.stack([np.full(queries, 0.5), near - 0.01 * 0, np.linspace(0, 0.1, queries)])
    values[1] += 0.01
    found = compare(results_of(values))
    pair = found.pairs[0]
    assert 0.05 / 3 < pair.p < 0.05
    assert pair.p_corrected < 0.05
    assert pair.verdict == "better"
    assert 0 < pair.simultaneous_low < 1e-300, "beside 0, which it does not hold"


def test_detectable_is_at_the_level_of_the_family() -> None:
    from leadline.stats.power import detectable

    values = np.random.default_rng(5).random((4, 25))
    deviation = float(np.std(values[0] - values[1], ddof=1))
    one = compare(results_of(values), correction="none").pairs[0]
    six = compare(results_of(values)).pairs[0]
    assert one.detectable == pytest.approx(detectable(deviation, 25))
    assert six.detectable == pytest.approx(detectable(deviation, 25, level=1 - 0.05 / 6))


def test_the_queries_needed_are_for_the_smallest_difference_and_not_the_one_seen() -> None:
    from leadline.stats.power import queries_needed, upper_deviation

    values = np.random.default_rng(6).random((2, 25))
    assert compare(results_of(values)).pairs[0].needed is None
    found = compare(results_of(values), smallest=0.1).pairs[0]
    deviation = float(np.std(values[0] - values[1], ddof=1))
    assert found.needed == queries_needed(0.1 / upper_deviation(deviation, 25))
    moved = values + np.array([[0.3], [0.0]])
    assert compare(results_of(moved), smallest=0.1).pairs[0].needed == found.needed


def test_maxt_of_pairs_with_a_baseline_is_over_these_alone() -> None:
    rng = np.random.default_rng(9)
    values = rng.random((6, 30)) + np.linspace(0, 0.2, 6)[:, None]
    every = compare(results_of(values), correction="MaxT")
    based = compare(results_of(values), correction="MaxT", baseline="r0")
    corrected = {(pair.a, pair.b): pair.p_corrected for pair in every.pairs}
    assert all(pair.p_corrected <= corrected[pair.a, pair.b] + 0.01 for pair in based.pairs), (
        "five pairs, not fifteen"
    )
    assert based.rules.shown()["correction"] == "MaxT"


def test_wilcoxon_keeps_students_interval() -> None:
    values = np.random.default_rng(10).random((3, 30))
    by_rank, by_t = (compare(results_of(values), test=test) for test in ("Wilcoxon", "T"))
    assert by_rank.limits.tolist() == by_t.limits.tolist()
    assert not by_rank.rules.matched


def test_randomisation_has_its_own_interval_up_to_a_hundred_pairs() -> None:
    values = np.random.default_rng(11).random((15, 12))
    few = compare(results_of(values[:4]), test="Randomisation")
    many = compare(results_of(values), test="Randomisation")
    assert str(few.rules.interval) == "Randomisation"
    assert str(many.rules.interval) == "Student", "105 pairs"
    assert excludes_zero(many).tolist() == many.rejected.tolist()


@pytest.mark.parametrize("number", [1, 2, 7])
def test_a_number_of_pairs_takes_those_of_smallest_p(number: int) -> None:
    values = np.random.default_rng(12).random((5, 20)) + np.linspace(0, 0.3, 5)[:, None]
    found = compare(results_of(values))
    chosen = found.chosen(number)[0]
    assert len(chosen) == number
    rest = sorted(set(range(10)) - set(chosen))
    assert found.p_corrected[0, chosen].max() <= found.p_corrected[0, rest].min()
    assert found.chosen("significant")[0] == np.flatnonzero(found.rejected[0]).tolist()


def test_resamples_without_spread_are_said_for_the_bootstrap_test() -> None:
    """One query of ten differs: (9/10)^10 + (1/10)^10 = 34.9 % of the resamples hold one value."""
    values = np.full((2, 10), 0.5)
    values[0, 0] = 1.0
    warnings = compare(results_of(values), test="Bootstrap").warnings
    said = [notice for notice in warnings if notice.code == "resamples_without_spread"]
    assert "up to 35 % of the resamples" in str(said[0])
    assert not [
        notice for notice in compare(results_of(values)).warnings if notice.code == "resamples_without_spread"
    ]


def test_resamples_without_spread_are_those_of_groups_where_groups_are_resampled() -> None:
    """Six groups of two queries, all with other differences; five groups have the mean 0: (5/6)^6 = 33 %."""
    values = np.full((2, 12), 0.5)
    values[0, ::2] += np.arange(1, 7) / 20
    values[0, 1::2] -= np.arange(1, 7) / 20
    values[0, 11] += 0.2
    results = results_of(values)
    groups = {query: place // 2 for place, query in enumerate(results.queries)}
    for query_group, share in ((groups, "up to 33 %"), (None, "")):
        found = compare(results, test="Bootstrap", query_group=query_group).warnings
        said = [str(notice) for notice in found if notice.code == "resamples_without_spread"]
        assert len(said) == bool(share)
        assert all(share in text and "in every group" in text for text in said)


def simulated(draws: int, *, truth: np.ndarray[Any, Any], **options: Any) -> float:
    """Return how often all simultaneous intervals hold the true differences from the last run."""
    rng = np.random.default_rng(13)
    held = 0
    for _ in range(draws):
        common = rng.normal(size=25)
        values = truth[:, None] + 0.5 * common + rng.normal(size=(len(truth), 25))
        found = compare(results_of(values), **options)
        true = truth[found.pairing.first] - truth[found.pairing.second]
        limits = found.shown_limits[0]
        held += bool(np.all((limits[:, 0] <= true) & (true <= limits[:, 1])))
    return held / draws


@pytest.mark.parametrize(
    ("options", "low"),
    [({"correction": "Bonferroni"}, 0.93), ({"correction": "MaxT"}, 0.92), ({"correction": "Holm"}, 0.90)],
    ids=str,
)
def test_simultaneous_intervals_hold_all_true_differences_together(
    options: dict[str, Any], low: float
) -> None:
    """Four runs, one far away: Holm spends its level on the others, which costs the intervals a little."""
    assert simulated(200, truth=np.array([0.0, 0.0, 0.0, 3.0]), **options) >= low


@example(level=0.95)
@given(level=st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_the_interval_of_an_effect_is_that_of_the_noncentral_t(level: float) -> None:
    from leadline.stats.power import standardised_limits

    values = np.random.default_rng(14).normal(0.3, 1.0, size=(20, 3))
    low, high = standardised_limits(values, level=level)
    t = values.mean(axis=0) / (values.std(axis=0, ddof=1) / np.sqrt(20))
    assert stats.nct.sf(t, 19, low * np.sqrt(20)) == pytest.approx((1 - level) / 2, abs=1e-4)
    assert stats.nct.cdf(t, 19, high * np.sqrt(20)) == pytest.approx((1 - level) / 2, abs=1e-4)


def test_the_interval_of_an_effect_covers() -> None:
    from leadline.stats.power import standardised_limits

    drawn = np.random.default_rng(15).normal(0.4, 1.0, size=(15, 2000))
    low, high = standardised_limits(drawn)
    assert float(((low <= 0.4) & (high >= 0.4)).mean()) == pytest.approx(0.95, abs=0.015)


def test_the_upper_limit_of_a_deviation_covers() -> None:
    from leadline.stats.power import upper_deviation

    drawn = np.random.default_rng(16).normal(0.0, 2.0, size=(2000, 12)).std(axis=1, ddof=1)
    covered = np.mean([upper_deviation(float(one), 12) >= 2.0 for one in drawn])
    assert float(covered) == pytest.approx(0.95, abs=0.015)


@examples(60)
@given(st.integers(0, 10**6), st.sampled_from(["Tukey", "MaxT", "Holm"]), st.integers(5, 12))
def test_limits_exclude_zero_exactly_where_the_verdict_does(seed: int, correction: str, queries: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (queries, 3)) / 3 + np.array([0.0, 1 / 3, 2 / 3])
    comparison = compare(results_of(values.T), correction=correction)
    low, high = comparison.shown_limits[0].T
    assert (((low > 0) | (high < 0)) == comparison.rejected[0]).all()


def test_effect_size_and_detectable_difference_are_those_of_groups() -> None:
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(8), [6, 4, 3, 2, 2, 2, 2, 3])
    values = rng.normal(size=(24, 2)) + rng.normal(size=(8, 2))[groups]
    labels = {f"q{place:03}": str(group) for place, group in enumerate(groups)}
    (pair,) = compare(results_of(values.T), query_group=labels).pairs
    found = means(totals(values[:, 1:] - values[:, :1], groups))  # the later run less the earlier
    assert pair.effective_groups == found.effective[0] == 24**2 / 86
    assert pair.effect * math.sqrt(pair.effective_groups) == pytest.approx(found.mean[0] / found.error[0])
    assert pair.p == pytest.approx(float(2 * stdtr(24**2 / 86 - 1, -abs(found.mean[0] / found.error[0]))))
    expected = detectable(float(found.deviation[0]), 24**2 / 86)
    assert pair.detectable == pytest.approx(expected)


def test_fewer_than_five_effective_groups_are_undecided() -> None:
    values = np.random.default_rng(3).normal(size=(40, 2)) + np.array([5.0, 0.0])
    labels = {f"q{place:03}": str(min(place, 9)) for place in range(40)}
    (pair,) = compare(results_of(values.T), query_group=labels).pairs
    assert (pair.groups, pair.verdict, pair.needed) == (10, "undecided", None)
    assert all(math.isnan(value) for value in (pair.p, pair.low, pair.high, pair.effect, pair.detectable))
