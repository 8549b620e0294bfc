"""Recall-precision curves: the lecture's two examples, and what is refused and counted."""

from __future__ import annotations

import pytest

from leadline.errors import UsageError
from leadline.evaluation.curves import Curves, curve
from leadline.measures.average_precision import RULES

RELEVANT_AT = {"first": [1, 2, 4, 6, 13], "second": [1, 3, 5, 8, 9, 14]}


def lecture(query: str, interpolation: str = "standard") -> Curves:
    """Return the curve of one example: lists of 14 documents, six relevant ones."""
    ranks = [*RELEVANT_AT[query], 99][:6]
    judgments = {f"d{rank}": 1 for rank in ranks}
    run = {f"d{rank}": -float(rank) for rank in range(1, 15)}
    return curve({query: judgments}, {query: run}, interpolation=interpolation)


@pytest.mark.parametrize(
    ("query", "printed"),
    [
        ("first", [(0.167, 1), (0.333, 1), (0.5, 0.75), (0.667, 0.667), (0.833, 0.385)]),
        ("second", [(0.167, 1), (0.333, 0.667), (0.5, 0.6), (0.667, 0.5), (0.833, 0.556), (1.0, 0.429)]),
    ],
)
def test_the_points_are_those_of_the_lecture(query: str, printed: list[tuple[float, float]]) -> None:
    points = lecture(query).points("run")[query]
    assert [rank for rank, _, _ in points] == RELEVANT_AT[query]
    assert [(round(recall, 3), round(precision, 3)) for _, recall, precision in points] == printed


@pytest.mark.parametrize("rule", ["standard", "printed-next"])
def test_on_example_1_the_printed_rule_equals_the_standard(rule: str) -> None:
    expected = [1, 1, 1, 1, 3 / 4, 3 / 4, 4 / 6, 5 / 13, 5 / 13, 0, 0]
    assert lecture("first", rule).precision[0].tolist() == expected


@pytest.mark.parametrize(("rule", "at_06"), [("standard", 5 / 9), ("printed-next", 1 / 2)])
def test_on_example_2_they_differ_at_level_06_alone(rule: str, at_06: float) -> None:
    expected = [1, 1, 2 / 3, 2 / 3, 3 / 5, 3 / 5, at_06, 5 / 9, 5 / 9, 3 / 7, 3 / 7]
    assert lecture("second", rule).precision[0].tolist() == expected


def test_a_stretch_without_a_point_is_0_under_printed_zero() -> None:
    expected = [0, 1, 0, 2 / 3, 3 / 5, 3 / 5, 1 / 2, 0, 5 / 9, 3 / 7, 3 / 7]
    assert lecture("second", "printed-zero").precision[0].tolist() == expected


def test_trec_eval_9_and_10_ask_for_other_counts() -> None:
    judgments = {"q": {"a": 1, "b": 1, "c": 1}}
    run = {"q": {"a": 9.0, "x": 8.0, "b": 7.0, "y": 6.0, "z": 5.0, "c": 4.0}}
    exact, nine, ten = (
        curve(judgments, run, interpolation=rule).precision[0].tolist()
        for rule in ("standard", "trec9", "trec10")
    )
    assert exact[4] == 2 / 3  # 1.2 documents: two
    assert ten[4] == 1.0  # 1.2 is rounded to one
    assert (exact[7], nine[7]) == (0.5, 2 / 3)  # 2.1 documents: three; 0.7 * 3 + 0.9 is below 3


def test_means_are_over_all_judged_queries_and_say_what_counts_0() -> None:
    judgments = {"1": {"a": 1}, "2": {"a": 0}, "3": {"a": 2}}
    found = curve(judgments, {"mine": {"1": {"a": 1.0}, "2": {"a": 1.0}}})
    assert found.precision[0].tolist() == [pytest.approx(1 / 3)] * 11
    assert found.points("mine") == {"1": [[1, 1.0, 1.0]], "2": [], "3": []}
    assert {notice.code: notice.count for notice in found.warnings} == {
        "no_relevant": 1,
        "missing_queries": 1,
    }


def test_the_least_relevant_grade_is_asked_for_and_named() -> None:
    judgments = {"1": {"a": 1}, "2": {"a": 2}}
    run = {"1": {"a": 1.0}, "2": {"b": 2.0, "a": 1.0}}
    found = curve(judgments, run, rel=2)
    assert found.points("run") == {"1": [], "2": [[2, 1.0, 0.5]]}
    assert str(found.warnings[0]) == (
        "1 judged query without a relevant document of grade 2 or more (scored 0)"
    )


def test_nothing_is_said_when_nothing_happened() -> None:
    assert curve({"q": {"a": 1}}, {"q": {"a": 1.0}}).warnings == []


def test_runs_come_in_order_of_their_mean_over_the_levels() -> None:
    found = curve(
        {"1": {"a": 1}},
        {"low": {"1": {"b": 2.0, "a": 1.0}}, "high": {"1": {"a": 1.0}}, "none": {"1": {"b": 1.0}}},
    )
    assert [found.names[place] for place in found.order()] == ["high", "low", "none"]
    assert list(found.to_dict()) == ["levels", "runs"]
    assert found.to_dict()["levels"] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


def test_unknown_rules_and_runs_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=", ".join(map(repr, RULES[:-1]))):
        lecture("first", "linear")
    with pytest.raises(UsageError, match=r"^no run is named 'other'\. Use run\.$"):
        lecture("first").points("other")


def test_progress_is_told_after_each_run() -> None:
    told: list[tuple[int, int]] = []
    runs = {"a": {"1": {"a": 1.0}}, "b": {"1": {"a": 1.0}}}
    curve({"1": {"a": 1}}, runs, on_run=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
