"""Conditions of a pipeline: what fails, what passes, and what is said."""

from __future__ import annotations

import numpy as np
import pytest
from test_comparison import QRELS, RUNS, varied

from leadline.comparison import compare_results
from leadline.comparison.gate import Condition, Gate, condition_of, gates
from leadline.errors import UsageError
from leadline.evaluation import evaluate


def tried(condition: Condition, baseline: str = "best", test: str = "T") -> dict[str, Gate]:
    """Try one condition on the runs, by RR; give what became of each run."""
    results = evaluate(QRELS, RUNS | {"same": RUNS["best"]}, condition.measure)
    rules = compare_results(results, test=test).rules
    return {gate.run: gate for gate in gates(results, [(0, condition)], baseline, rules)}


def test_a_clearly_worse_run_fails_and_the_same_passes() -> None:
    found = tried(Condition("RR"))
    assert {run: gate.failed for run, gate in found.items()} == {
        "middle": True, "worst": True, "same": False,
    }  # fmt: skip
    assert str(found["worst"]).startswith("FAILED: worst is worse than best by RR: -0.7")


def test_a_margin_forgives() -> None:
    assert tried(Condition("RR", 0.5))["worst"].failed
    assert not tried(Condition("RR", 0.9))["worst"].failed
    assert "by more than 0.9 by RR" in str(tried(Condition("RR", 0.9))["worst"])


def test_a_better_run_passes() -> None:
    assert not any(gate.failed for gate in tried(Condition("RR"), baseline="worst").values())


def test_of_a_falling_measure_more_is_worse() -> None:
    found = tried(Condition("RankOf(n=1)"))
    assert found["worst"].failed
    worst = found["worst"]
    results = evaluate(QRELS, RUNS, "RankOf(n=1)")
    pair = compare_results(results, baseline="best").pairs[1]
    assert worst.difference == pair.difference > 0, "the first run minus the second, as everywhere"
    assert worst.worst == pair.high, "less is better, so the upper limit is the bad one"
    assert f"{pair.difference:+.4f} (could be as bad as {pair.high:+.4f})" in str(worst)


def test_the_same_loss_everywhere_fails_without_a_p() -> None:
    results = evaluate(QRELS, {"a": varied(2), "b": varied(1)}, "RR")
    found = gates(results, [(0, Condition("RR"))], "b", compare_results(results).rules)
    assert np.isnan(found[0].p)
    assert found[0].failed
    assert str(found[0]) == (
        "FAILED: a differs from b by -0.5000 in RR on each of 24 queries: no spread to test by, so the "
        "condition fails"
    )


def test_one_query_fails_nobody() -> None:
    results = evaluate({"q0": QRELS["q0"]}, {"a": varied(2), "b": varied(1)}, "RR")
    found = gates(results, [(0, Condition("RR"))], "b", compare_results(results).rules)
    assert not found[0].failed
    assert str(found[0]).endswith("by RR: -0.5000, p undefined")


def test_runs_without_a_common_query_do_not_pass() -> None:
    runs = {"a": {"q0": RUNS["best"]["q0"]}, "b": {"q1": RUNS["best"]["q1"]}}
    results = evaluate(QRELS, runs, "RR", queries="both")
    found = gates(results, [(0, Condition("RR"))], "b", compare_results(results).rules)
    assert found[0].failed
    assert str(found[0]) == (
        "FAILED: a and b cannot be compared by RR: no query counts in the means of both"
    )


def test_a_loss_of_just_the_margin_passes() -> None:
    queries = {f"q{query}": {"good": 1} for query in range(3)}
    better = {query: {"good": 1.0} for query in queries}
    worse = {
        query: {f"x{place}": 9.0 - place for place in range(9)} | {"good": 0.0} for query in queries
    }
    results = evaluate(queries, {"a": worse, "b": better}, "RR")
    assert (results.values[0] - results.values[1]).mean() == pytest.approx(-0.9)
    for margin in (0.9, np.nextafter(0.9, 0)):
        condition = Condition("RR", float(margin))
        assert not gates(results, [(0, condition)], "b", compare_results(results).rules)[0].failed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AP", Condition("AP")),
        ("nDCG@10:0.01", Condition("nDCG@10", 0.01)),
        ("nDCG(gain=exp)@10:1e-3", Condition("nDCG(gain=exp)@10", 0.001)),
    ],
)
def test_a_condition_is_a_measure_and_perhaps_a_margin(text: str, expected: Condition) -> None:
    assert condition_of(text) == expected


@pytest.mark.parametrize("text", ["AP:", "AP:x", "AP:-0.1", "AP:nan", "AP:inf"])
def test_a_margin_is_a_number_from_0(text: str) -> None:
    with pytest.raises(UsageError, match="expected a number, 0 or more"):
        condition_of(text)
