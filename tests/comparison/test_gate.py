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
    assert found["worst"].difference < 0


def test_the_same_loss_everywhere_fails_without_a_p() -> None:
    results = evaluate(QRELS, {"a": varied(2), "b": varied(1)}, "RR")
    found = gates(results, [(0, Condition("RR"))], "b", compare_results(results).rules)
    assert np.isnan(found[0].p)
    assert found[0].failed


def test_one_query_fails_nobody() -> None:
    results = evaluate({"q0": QRELS["q0"]}, {"a": varied(2), "b": varied(1)}, "RR")
    found = gates(results, [(0, Condition("RR"))], "b", compare_results(results).rules)
    assert not found[0].failed


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
