"""The engine of comparisons: columns of differences, families, verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_families import results_of

from leadline.comparison import engine
from leadline.comparison.compare import compare
from leadline.comparison.engine import AllPairs, Differences, few_queries_texts, verdicts
from leadline.comparison.pairing import Rules, pairs_of
from leadline.errors import UsageError
from leadline.stats import INTERVALS

CORRECTIONS = ["Holm", "Hochberg", "Bonferroni", "BH", "none", "MaxT"]
seeds = st.integers(0, 10**6)


def drawn(seed: int, queries: int = 12, columns: int = 5) -> np.ndarray[Any, Any]:
    """Draw differences, some of which are ties or shifted, so that some pairs are significant."""
    rng = np.random.default_rng(seed)
    table = np.round(rng.normal(size=(queries, columns)) + rng.choice([0.0, 0.5, 1.5], columns), 1)
    return np.where(rng.random(table.shape) < 0.1, np.nan, table)


@given(seed=seeds, correction=st.sampled_from(CORRECTIONS), family=st.sampled_from(["measure", "all"]))
def test_a_column_with_a_reason_is_as_if_it_were_not_there(seed: int, correction: str, family: str) -> None:
    if correction == "MaxT":
        return  # a joint procedure takes all columns
    rules = Rules.of(correction=correction, family=family)
    tables = [drawn(seed), drawn(seed + 1)]
    reasons = ["", "few", "", "", "few"]
    kept = [not reason for reason in reasons]
    found = engine.Tested([Differences(table, reasons=reasons) for table in tables], rules)
    alone = engine.Tested([Differences(table[:, kept]) for table in tables], rules)
    for name in ("p_uncorrected", "p_corrected", "limits", "shown_limits"):
        whole, part = getattr(found, name), getattr(alone, name)
        assert np.isnan(whole[:, ~np.array(kept)]).all()
        np.testing.assert_allclose(whole[:, kept], part, rtol=1e-9)
    for words, others in zip(found.verdicts, alone.verdicts, strict=True):
        assert [word for word, keep in zip(words, kept, strict=True) if keep] == others
        assert {word for word, keep in zip(words, kept, strict=True) if not keep} <= {
            "undecided",
            "identical",
        }


@given(seed=seeds, correction=st.sampled_from(CORRECTIONS))
def test_mirrored_differences_have_mirrored_limits_and_verdicts(seed: int, correction: str) -> None:
    rules = Rules.of(correction=correction)
    one, other = (engine.Tested([Differences(sign * drawn(seed))], rules) for sign in (1, -1))
    np.testing.assert_allclose(one.p_corrected, other.p_corrected, rtol=1e-9)
    np.testing.assert_allclose(one.shown_limits, -other.shown_limits[..., ::-1], rtol=1e-9, atol=1e-15)
    swapped = {"better": "worse", "worse": "better"}
    assert one.verdicts == [[swapped.get(word, word) for word in words] for words in other.verdicts]


@given(seed=seeds)
def test_of_a_falling_measure_the_smaller_mean_is_better(seed: int) -> None:
    rising, falling = (engine.Tested([Differences(drawn(seed), rising=up)], Rules()) for up in (True, False))
    swapped = {"better": "worse", "worse": "better"}
    assert [swapped.get(word, word) for word in rising.verdicts[0]] == falling.verdicts[0]


@given(seed=seeds, test=st.sampled_from(["T", "Sign", "Randomisation(draws=300)"]), gaps=st.booleans())
def test_all_pairs_of_many_runs_have_the_p_values_of_their_differences(
    seed: int, test: str, gaps: bool
) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.random((7, 9)), 1)
    values[-1] = values[0] + 0.25  # the same difference on every query
    results = results_of(np.where(rng.random(values.shape) < 0.1, np.nan, values) if gaps else values)
    pairs, rules = pairs_of(results, None), Rules.of(test=test)
    many, few = (engine.Tested(kind.of(results, pairs), rules) for kind in (AllPairs, Differences))
    np.testing.assert_allclose(many.p_uncorrected, few.p_uncorrected, rtol=1e-9, atol=1e-15)
    assert many.verdicts == few.verdicts


def test_of_one_family_all_measures_are_corrected_together() -> None:
    parts = [Differences(drawn(3)), Differences(drawn(4))]
    together = engine.Tested(parts, Rules(family="all"))
    joined = engine.Tested([Differences(np.concatenate([drawn(3), drawn(4)], axis=1))], Rules())
    assert together.size == joined.size == 10
    assert together.p_corrected.ravel().tolist() == joined.p_corrected.ravel().tolist()
    assert together.shown_limits.reshape(-1, 2).tolist() == joined.shown_limits.reshape(-1, 2).tolist()


@pytest.mark.parametrize(
    ("p", "mean", "equivalent", "identical", "expected"),
    [
        (0.01, 0.2, None, False, "better"),
        (0.01, -0.2, 0.01, False, "worse"),
        (0.05, 0.2, None, False, "not significant"),
        (0.3, 0.2, 0.01, False, "equivalent"),
        (np.nan, 0.2, 0.01, False, "undecided"),
        (np.nan, 0.0, None, True, "identical"),
    ],
)
def test_a_verdict_is_of_p_and_the_mean(
    p: float, mean: float, equivalent: float | None, identical: bool, expected: str
) -> None:
    found = verdicts(
        np.array([p]),
        np.array([mean]),
        0.05,
        rising=True,
        identical=np.array([identical]),
        p_equivalent=None if equivalent is None else np.array([equivalent]),
    )
    assert found == [expected]


def test_the_smallest_p_is_reached_by_differences_of_one_sign() -> None:
    for correction in CORRECTIONS:
        rules = Rules.of(test="Sign", correction=correction)
        table = np.linspace(0.1, 0.6, 6)[:, None] * np.array([1.0, 0.9, 0.8])
        found = engine.Tested([Differences(table)], rules)
        assert found.p_corrected[0, 0] == pytest.approx(found.smallest_p(6)), correction


@pytest.mark.parametrize(
    ("correction", "queries", "expected"),
    [
        ("Tukey", 4, "only 4 queries: p (Tukey) is at least 0.13"),
        ("Tukey", 6, ""),
        ("MaxT", 1, "only 1 query: p (MaxT) is undefined"),
        ("none", 1, "only 1 query: p (T) is undefined"),
    ],
)
def test_too_few_queries_are_said(correction: str, queries: int, expected: str) -> None:
    results = results_of(np.linspace(0, 0.9, 2 * queries).reshape(-1, 2).T ** 2)
    rules = Rules.of(correction=correction)
    found = engine.Tested(Differences.of(results, pairs_of(results, None)), rules)
    assert " ".join(map(str, found.notices())).endswith(expected)
    assert bool(found.notices()) == bool(expected)
    assert (found.verdicts == [["undecided"]]) == ("undefined" in expected)


@pytest.mark.parametrize(
    ("interval", "correction", "columns", "queries", "said"),
    [
        ("BCa", "Holm", 1, 12, True),
        ("Percentile", "none", 3, 12, True),
        ("BCa", "Holm", 3, 12, True),
        ("BCa", "BH", 3, 12, False),
        ("BCa", "MaxT", 1, 12, False),  # the interval is that of MaxT
        ("BCa", "Holm", 1, 300, False),
        ("Student", "Holm", 1, 12, False),
        ("Student", "Holm", 3, 12, True),
    ],
)
def test_intervals_from_few_queries_that_hold_too_rarely_are_named(
    interval: str, correction: str, columns: int, queries: int, *, said: bool
) -> None:
    rules = Rules.of(interval=interval, correction=correction)
    found = engine.Tested([Differences(drawn(3, queries, columns))], rules).notices()
    assert [one.code for one in found] == ["approximate_intervals"] * said


def test_the_sign_test_does_not_decide_for_joint_procedures() -> None:
    results = results_of([[0.1] * 8, [0.2] * 8, [0.3] * 8])
    pairs = pairs_of(results, None)
    for correction in ("Holm", "Tukey", "MaxT"):
        found = engine.Tested(Differences.of(results, pairs), Rules.of(correction=correction)).notices()
        assert any(one.code == "decided_by_sign" for one in found) == (correction == "Holm")


def test_the_sign_test_decides_for_groups_of_the_same_mean_difference() -> None:
    """The differences of a group are 0.1 and 0.3: no query has that of every other."""
    results = results_of([[0.5] * 12, [0.6, 0.8] * 6])
    groups = {query: place // 2 for place, query in enumerate(results.queries)}
    said = [
        str(one) for one in compare(results, query_group=groups).warnings if one.code == "decided_by_sign"
    ]
    assert len(said) == 1
    assert "in every group" in said[0]
    assert "every query" not in said[0]


def test_the_only_testable_column_of_a_family_has_its_interval() -> None:
    table = drawn(3, columns=2)
    found = engine.Tested([Differences(table, reasons=["", "few"])], Rules())
    assert found.shown_limits[0, 0].tolist() == found.limits[0, 0].tolist()
    assert np.isfinite(found.shown_limits[0, 0]).all()


def test_queries_and_groups_of_queries_must_be_five() -> None:
    table = np.ones((6, 3))
    table[4:, 1] = np.nan
    table[:, 2] = np.nan
    assert [bool(text) for text in few_queries_texts(table, None)] == [False, True, True]
    groups = np.array([0, 0, 1, 2, 3, 4])
    texts = few_queries_texts(table, groups)  # 36/8 effective groups
    assert "5 groups of queries (4.5 effective), but at least 5" in texts[0]
    assert all(texts)


def test_rules_are_checked_and_shown_as_given() -> None:
    shown = Rules.of(test="permutation", correction="fdr", query_group={"q": 1}).sized(3).shown()
    assert (shown["test"], shown["correction"]) == ("Randomisation", "BH")
    assert (shown["interval"], shown["query_group"]) == ("Randomisation", "in memory")
    options = {"seed": 3, "other": 1}
    assert (Rules.take(options).seed, options) == (3, {"other": 1})
    for wrong in ({"margin": 0}, {"power": 1}, {"family": "x"}, {"confidence": 1}, {"seed": -1}):
        with pytest.raises(UsageError):
            Rules.of(**wrong)


@pytest.mark.parametrize(
    ("interval", "queries", "words"),
    [
        ("BCa(draws=99)", 30, "with 25 queries, all 95 % CIs contained the true differences in 70 to 90 %"),
        (
            "Percentile(draws=99)",
            60,
            "with 50 queries, all 95 % CIs contained the true differences in 90 to 94 %",
        ),
        ("Student", 30, ""),
    ],
)
def test_bootstrap_intervals_have_their_own_figures(interval: str, queries: int, words: str) -> None:
    table = np.random.default_rng(1).normal(size=(queries, 3))
    found = engine.Tested([Differences(table)], Rules(interval=INTERVALS.parse(interval))).notices()
    assert [words in notice.message for notice in found] == [True] * bool(words)
