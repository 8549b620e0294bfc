"""Conditions of a pipeline: what fails, what passes, what cannot be told."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from test_comparison import QRELS, RUNS, ranked, varied

from leadline.comparison.compare import compare
from leadline.comparison.gate import (
    BELOW,
    NOT_WORSE,
    WORSE,
    Condition,
    Gate,
    condition_of,
    gates_of,
    resolve_conditions,
    thresholds,
)
from leadline.comparison.gate_reports import gate, report_of
from leadline.errors import InputError, UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.score_results import read_scores


def tried(
    condition: Condition, baseline: str = "best", runs: Any = None, qrels: Any = None, **options: Any
) -> dict[str, Gate]:
    """Test one condition on the runs; give the outcome of each run."""
    runs = RUNS | {"same": RUNS["best"]} if runs is None else runs
    results = evaluate(QRELS if qrels is None else qrels, runs, condition.measure)
    found = gates_of(compare(results, baseline=baseline, **options), [condition])
    return {gate.run: gate for gate in found}


def test_a_clearly_worse_run_fails_and_the_same_passes() -> None:
    found = tried(Condition("RR"))
    assert {run: gate.failed for run, gate in found.items()} == {"middle": True, "worst": True, "same": False}
    assert str(found["worst"]).startswith("FAILED: worst is worse than best on RR: -0.7")


def test_a_margin_forgives() -> None:
    assert tried(Condition("RR", 0.5))["worst"].failed
    assert not tried(Condition("RR", 0.9))["worst"].failed
    assert "by more than 0.9 on RR" in str(tried(Condition("RR", 0.9))["worst"])


def test_a_better_run_passes() -> None:
    assert not any(gate.failed for gate in tried(Condition("RR"), baseline="worst").values())
    required = tried(Condition("RR", 0.01, NOT_WORSE), baseline="worst")
    assert not any(gate.failed for gate in required.values())


def test_p_and_limit_are_those_of_the_one_sided_t_test() -> None:
    results = evaluate(QRELS, RUNS, "RR")
    values = results.values[:, :, 0]
    for kind, tail in ((WORSE, "less"), (NOT_WORSE, "greater")):
        found = tried(Condition("RR", 0.02, kind))["middle"]
        difference = values[1] - values[0]
        expected = stats.ttest_1samp(difference, -0.02, alternative=tail)
        assert found.p == pytest.approx(expected.pvalue, abs=1e-14)
        low = stats.ttest_1samp(difference, 0, alternative="greater").confidence_interval(0.95).low
        assert found.limit == pytest.approx(low)


def test_each_condition_stands_alone() -> None:
    """A guard that is added does not weaken another: p is the same with one condition and with four."""
    results = evaluate(QRELS, RUNS, ["RR", "Success@1", "P@5", "AP"])
    comparison = compare(results, baseline="best")
    one = gates_of(comparison, [Condition("RR")])
    four = gates_of(comparison, [Condition(name) for name in ("RR", "Success@1", "P@5", "AP")])
    assert [gate.p for gate in four[:2]] == [gate.p for gate in one]
    assert [gate.failed for gate in four[:2]] == [gate.failed for gate in one]


def test_of_a_falling_measure_more_is_worse() -> None:
    found = tried(Condition("RankOf(n=1)"))
    worst = found["worst"]
    assert worst.failed
    results = evaluate(QRELS, RUNS, "RankOf(n=1)")
    pair = compare(results, baseline="best", confidence=0.9).pairs[1]
    assert worst.difference == pair.difference > 0, "the first run minus the second, as everywhere"
    assert worst.limit == pytest.approx(pair.high), "less is better, so the upper limit is the bad one"
    assert not tried(Condition("RankOf(n=1)", 20.0, NOT_WORSE))["worst"].failed
    assert tried(Condition("RankOf(n=1)", 0.1, NOT_WORSE))["worst"].failed


@pytest.mark.parametrize("test", ["T", "Randomisation", "Bootstrap", "Wilcoxon", "Sign"])
def test_the_same_loss_everywhere_fails_by_the_sign_test(test: str) -> None:
    runs = {"a": varied(2), "b": varied(1)}
    found = tried(Condition("RR"), "b", runs, test=test)["a"]
    assert found.failed
    assert found.p == pytest.approx(2.0**-24, abs=1e-4)
    five = tried(Condition("RR"), "b", runs, dict(list(QRELS.items())[:5]), test=test)["a"]
    assert (five.failed, five.cannot_tell) == (True, False)
    assert five.p == pytest.approx(2.0**-5)


@pytest.mark.parametrize("kind", [WORSE, NOT_WORSE])
@pytest.mark.parametrize("queries", [1, 2, 4])
def test_fewer_than_five_queries_cannot_tell(kind: str, queries: int) -> None:
    qrels = dict(list(QRELS.items())[:queries])
    runs = {"worse": varied(2, 4), "better": varied(1), "base": varied(1, 2), "same": varied(1, 2)}
    found = tried(Condition("RR", 0.01, kind), "base", runs, qrels)
    assert {run: gate.failed for run, gate in found.items()} == {
        "worse": True,
        "better": queries > 1,
        "same": False,
    } | ({"better": False} if queries == 1 else {})
    assert found["worse"].cannot_tell
    assert str(found["worse"]).startswith("CANNOT TELL: ")
    assert not found["same"].cannot_tell


def test_a_test_that_cannot_become_significant_cannot_tell() -> None:
    qrels = dict(list(QRELS.items())[:5])
    runs = {"worse": varied(3, 4, 5), "base": varied(1)}
    for options in (
        {"test": "Sign", "confidence": 0.99},
        {"test": "Randomisation", "confidence": 0.97},
        {"test": "Randomisation(draws=10)"},
    ):
        found = tried(Condition("RR"), "base", runs, qrels, **options)["worse"]
        assert (found.failed, found.cannot_tell) == (True, True)
    assert not tried(Condition("RR"), "base", runs, qrels)["worse"].cannot_tell


def test_fewer_than_five_groups_cannot_tell() -> None:
    pairs = {query: str(place % 4) for place, query in enumerate(QRELS)}
    found = tried(Condition("RR"), query_group=pairs)
    assert found["worst"].cannot_tell
    assert "4 groups of queries" in found["worst"].reason
    assert not found["same"].failed
    pairs = {query: str(place % 6) for place, query in enumerate(QRELS)}
    assert tried(Condition("RR"), query_group=pairs)["worst"].groups == 6


def test_runs_without_a_common_query_do_not_pass() -> None:
    runs = {"a": {"q0": RUNS["best"]["q0"]}, "b": {"q1": RUNS["best"]["q1"]}}
    results = evaluate(QRELS, runs, "RR", queries="both")
    found = gates_of(compare(results, baseline="b"), [Condition("RR")])
    assert (found[0].failed, found[0].cannot_tell) == (True, True)
    assert str(found[0]) == (
        "CANNOT TELL: a and b cannot be compared on RR, because no query counts toward both means"
    )


def test_without_spread_no_margin_is_said_to_be_carried() -> None:
    second = {query: {"x": 2.0, next(iter(judged)): 1.0} for query, judged in RUNS["best"].items()}
    compared = compare(QRELS, {"best": RUNS["best"], "second": second}, "RR", baseline="second")
    (found,) = gates_of(compared, [Condition("RR", 0.1, NOT_WORSE)])
    assert found.detectable_difference == 0
    assert "equally good" not in str(found) + report_of(found, compared.results)


@pytest.mark.parametrize(("size", "second"), [(4, 2), (5, 9)])
def test_no_margin_is_advised_that_is_refused_or_lets_no_run_pass(size: int, second: int) -> None:
    """Four queries are too few for any margin; five of these need one above the range of the measure."""
    qrels = dict(list(QRELS.items())[:size])
    runs = {"a": varied(1, second), "b": varied(second, 1)}
    found = tried(Condition("RR", 0.1, NOT_WORSE), "b", runs, qrels)["a"]
    assert found.failed
    assert "equally good" not in str(found)


def test_a_loss_of_just_the_margin_passes_and_one_above_it_does_not() -> None:
    queries = {f"q{query}": {"good": 1} for query in range(6)}
    better = {query: {"good": 1.0} for query in queries}
    worse = {query: {f"x{place}": 9.0 - place for place in range(9)} | {"good": 0.0} for query in queries}
    results = evaluate(queries, {"a": worse, "b": better}, "RR")
    comparison = compare(results, baseline="b")
    for margin, failed in ((0.9, False), (float(np.nextafter(0.9, 0)), False), (0.89, True)):
        found = gates_of(comparison, [Condition("RR", margin)])[0]
        assert found.failed == failed
    required = gates_of(comparison, [Condition("RR", 0.9, NOT_WORSE)])[0]
    assert required.failed, "the limit is not above -0.9"


@given(
    ranks=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=5, max_size=24),
    margin=st.sampled_from([0.05, 0.2, 0.5]),
    test=st.sampled_from(["T", "Sign", "Wilcoxon", "Randomisation(draws=2000)"]),
)
def test_what_is_required_passes_only_with_its_limit_inside_the_margin(
    ranks: list[tuple[int, int]], margin: float, test: str
) -> None:
    runs = {"a": ranked(*(one for one, _ in ranks)), "b": ranked(*(other for _, other in ranks))}
    qrels = dict.fromkeys(runs["a"], QRELS["q0"])
    found = tried(Condition("RR", margin, NOT_WORSE), "b", runs, qrels, test=test)["a"]
    differences = np.array([1 / one - 1 / other for one, other in ranks])
    if not differences.any():
        assert not found.failed
    elif not found.failed:
        assert found.limit > -margin
        assert found.p < 0.05
    harm = tried(Condition("RR", margin), "b", runs, qrels, test=test)["a"]
    if differences.min() >= -margin + 1e-9:
        assert not (harm.failed and not harm.cannot_tell), "no query is worse by the margin"


def test_the_margin_that_queries_carry_is_met_by_an_equal_run_with_the_power() -> None:
    rng = np.random.default_rng(1)
    rules = compare(evaluate(QRELS, RUNS, "RR")).rules
    gate = tried(Condition("RR", 0.2, NOT_WORSE))["middle"]
    results = evaluate(QRELS, RUNS, "RR")
    deviation = float(np.std(results.values[1, :, 0] - results.values[0, :, 0], ddof=1))
    drawn = rng.normal(0.0, deviation, size=(4000, 24))
    low = drawn.mean(axis=1) - stats.t.ppf(0.95, 23) * drawn.std(axis=1, ddof=1) / math.sqrt(24)
    assert float((low > -gate.detectable_difference).mean()) == pytest.approx(rules.power, abs=0.02)


def test_a_measure_that_leaves_empty_lists_out_cannot_tell_of_half_a_run() -> None:
    qrels = {f"q{query}": {"d": 1, "e": 0} for query in range(6)}
    half = {f"q{query}": {"d": 1.0, "e": 0.5} for query in range(3)}
    stated: dict[str, dict[str, float]] = half | {f"q{query}": {} for query in range(3, 6)}
    for run, told in ((half, True), (stated, False)):
        results = evaluate(qrels, {"run": run}, "PairAccuracy@5")
        (gate,) = thresholds(results, [(0, Condition("PairAccuracy@5", 0.9, BELOW))])
        assert (gate.failed, "lacks 3 judged queries" in gate.reason) == (told, told)


def test_values_that_only_the_run_lacks_are_not_dropped_from_a_gate() -> None:
    names = [f"q{query}" for query in range(12)]
    full = {name: {"RR": 0.5, "AP": 0.5} for name in names}
    half = {name: {"RR": 1.0, "AP": 0.5} if name in names[6:] else {"AP": 0.5} for name in names}
    results = read_scores({"full": full, "half": half}, missing="drop")
    conditions = [Condition("RR"), Condition("RR", 0.6, BELOW), Condition("AP"), Condition("AP", 0.5, BELOW)]
    found = gates_of(compare(results, baseline="full"), conditions)
    assert [gate.cannot_tell for gate in found] == [True, True, False, False]
    assert all("no RR values for 6 queries" in gate.reason for gate in found[:2]), (
        "none is judged, all have AP"
    )
    assert not any("JSON" in gate.reason for gate in found), "a query without values does not count as 0"
    assert not gates_of(compare(results, baseline="half"), conditions[:1])[0].cannot_tell


def test_values_that_a_run_lacks_count_0_in_a_gate_where_the_user_says_so() -> None:
    names = [f"q{query}" for query in range(12)]
    full = {name: {"RR": 0.5} for name in names}
    results = read_scores({"full": full, "less": dict(list(full.items())[1:])}, missing="zero")
    compared = compare(results, baseline="full")
    (passed,) = gates_of(compared, [Condition("RR", 0.2)])
    (failed,) = gates_of(compared, [Condition("RR", 0.01, NOT_WORSE)])
    assert (passed.failed, passed.cannot_tell, failed.failed, failed.cannot_tell) == (
        False,
        False,
        True,
        False,
    )
    assert passed.difference == pytest.approx(-0.5 / 12)
    assert gates_of(compare(results, baseline="less"), [Condition("RR")])[0].cannot_tell


def test_a_reason_in_python_names_keywords() -> None:
    half = {query: RUNS["best"][query] for query in list(QRELS)[::2]}
    (found,) = gate(compare(QRELS, {"a": RUNS["best"], "b": half}, "RR", baseline="b"), fail_if_worse="RR")
    assert found.reason.endswith("the queries of the baseline with queries='both'")
    assert found.reason in report_of(found, evaluate(QRELS, {"a": RUNS["best"], "b": half}, "RR"))


def test_baselines_are_not_tested_against_each_other_in_any_order() -> None:
    results = evaluate(QRELS, RUNS, "RR")
    for baseline in (["best", "worst"], ["worst", "best"]):
        found = gates_of(compare(results, baseline=baseline), [Condition("RR")])
        assert {(gate.run, gate.baseline): gate.failed for gate in found} == {
            ("middle", "best"): True,
            ("middle", "worst"): False,
        }
    with pytest.raises(UsageError, match="every run is a baseline"):
        gates_of(compare(results, baseline=list(RUNS)), [Condition("RR")])


def test_a_least_mean_is_of_every_run_that_is_not_a_baseline() -> None:
    results = evaluate(QRELS, RUNS, "RR")
    found = thresholds(results, [(0, Condition("RR", 0.5, BELOW))], ["best"])
    assert {gate.run: gate.failed for gate in found} == {"middle": False, "worst": True}
    mean = float(results.means[1, 0])
    exactly = thresholds(results, [(0, Condition("RR", mean, BELOW))])
    assert not exactly[1].failed
    assert exactly[2].to_dict()["difference"] == pytest.approx(float(results.means[2, 0]) - mean)
    falling = evaluate(QRELS, RUNS, "RankOf(n=1)")
    found = thresholds(falling, [(0, Condition("RankOf(n=1)", 3.0, BELOW))])
    assert [gate.failed for gate in found] == [False, False, True]


def test_a_least_mean_without_a_mean_cannot_tell() -> None:
    results = evaluate({"q0": {"bad": 0}}, {"a": {"q0": {"bad": 1.0}}}, "RankOf(n=1)")
    found = thresholds(results, [(0, Condition("RankOf(n=1)", 3.0, BELOW))])[0]
    assert (found.failed, found.cannot_tell) == (True, True)


def test_a_run_of_which_nothing_is_judged_is_refused() -> None:
    dead = {
        query: {f"x{name}": score for name, score in documents.items()}
        for query, documents in RUNS["best"].items()
    }
    results = evaluate(QRELS, RUNS | {"dead": dead}, "RR")
    for refuse in (lambda: compare(results), lambda: thresholds(results, [(0, Condition("RR", 0.0, BELOW))])):
        with pytest.raises(InputError, match=r"no document in dead is judged\. Do the document ids"):
            refuse()


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("AP", WORSE, Condition("AP")),
        ("nDCG@10:0.01", WORSE, Condition("nDCG@10", 0.01)),
        ("nDCG(gain=exp)@10:1e-3", WORSE, Condition("nDCG(gain=exp)@10", 0.001)),
        ("AP:0.01", NOT_WORSE, Condition("AP", 0.01, NOT_WORSE)),
        ("nDCG(gain=exp)@10=0.3", BELOW, Condition("nDCG(gain=exp)@10", 0.3, BELOW)),
    ],
)
def test_a_condition_is_a_measure_and_a_number(text: str, kind: str, expected: Condition) -> None:
    assert condition_of(text, kind) == expected


@pytest.mark.parametrize(
    "text", ["AP:", "AP:x", "AP:-0.1", "AP:nan", "AP:inf", "AP=0.1", ":0.1", "0.01", "1%", ""]
)
def test_a_margin_is_a_number_from_0(text: str) -> None:
    with pytest.raises(
        UsageError, match=r"Write MEASURE, or MEASURE:MARGIN with a margin of 0 or more, as in AP"
    ):
        condition_of(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("AP", NOT_WORSE),
        ("AP:0", NOT_WORSE),
        ("AP:x", NOT_WORSE),
        ("AP", BELOW),
        ("AP=", BELOW),
        ("RBP(p=0.8)", BELOW),
        ("AP=nan", BELOW),
        ("AP>=0.3", BELOW),
    ],
)
def test_what_needs_a_number_is_refused_without_one(text: str, kind: str) -> None:
    with pytest.raises(UsageError, match="MEASURE"):
        condition_of(text, kind)


def test_a_condition_that_no_run_can_fail_is_refused() -> None:
    results = evaluate(QRELS, RUNS, ["RR", "P@5"])
    for text, kind in (("RR:1", WORSE), ("P@5:5", NOT_WORSE), ("RR=0", BELOW), ("RR=-1", BELOW)):
        with pytest.raises(UsageError, match="allows any"):
            resolve_conditions(results, [condition_of(text, kind)], rel=None)
    for text, kind in (("RR:0.99", WORSE), ("RR=0.01", BELOW), ("RR=2", BELOW)):
        assert resolve_conditions(results, [condition_of(text, kind)], rel=None)


def test_equal_runs_without_any_relevant_document_do_not_pass() -> None:
    qrels = {query: dict.fromkeys(grades, 0) for query, grades in QRELS.items()}
    for condition in (Condition("RR"), Condition("RR", 0.1, NOT_WORSE)):
        found = tried(condition, qrels=qrels)
        assert all(gate.failed for gate in found.values())
        assert "RR is 0 on every query for both runs" in str(found["same"])


def test_a_reason_names_the_sign_test_where_it_decides() -> None:
    """The t test can be below 0.01 with six queries; the sign test of equal differences cannot."""
    qrels = dict(list(QRELS.items())[:6])
    runs = {"best": varied(1), "worse": varied(2)}
    found = tried(Condition("RR"), runs=runs, qrels=qrels, confidence=0.99)["worse"]
    assert found.cannot_tell
    assert "p (Sign)" in found.reason
