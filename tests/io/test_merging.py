"""Several judges, one grade: every rule by hand, and against a slow obvious one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.io.merged_judgments import Judgment, merge

TABLE = [
    ("d1", {"ann": 2, "bob": 2, "cid": 0}),
    ("d2", {"ann": 0, "bob": 2}),
    ("d3", {"bob": 1}),
    ("d4", {"ann": 0, "bob": 1, "cid": 2}),
]
ROWS = [Judgment("q", name, judge, grade) for name, grades in TABLE for judge, grade in grades.items()]


@pytest.mark.parametrize(
    ("rule", "grades", "tied"),
    [
        ("majority", [2, 0, 1, 0], 2),
        ("max", [2, 2, 1, 2], 0),
        ("mean", [4 / 3, 1, 1, 1], 0),
        ("ann", [2, 0, 0], 0),
        ("bob", [2, 2, 1, 1], 0),
    ],
)
def test_each_rule_gives_the_grades_of_the_hand(rule: str, grades: list[float], tied: int) -> None:
    found = merge(ROWS, rule)
    assert list(found.grades.values()) == pytest.approx(grades)
    assert found.tied == tied


def test_what_was_merged_is_said() -> None:
    found = merge(ROWS)
    assert (found.shared, len(found.votes), found.tied) == (3, 3, 2)
    words = "pairs with several judges: 3, 3 with different grades "
    words += "(merged by majority), 2 ties resolved to the lower grade"
    assert found.remarks == (("merged", words, 3),)
    assert merge(ROWS, "cid").remarks == ()


def test_a_rule_that_nobody_knows_names_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"no merge rule or judge is called 'majorty'\. Did you mean 'majority'"
    ):
        merge(ROWS, "majorty")
    with pytest.raises(UsageError, match="Did you mean 'bob'"):
        merge(ROWS, "bop")


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_rules_agree_with_slow_ones(grades: list[int]) -> None:
    rows = [Judgment("q", "d", str(place), grade) for place, grade in enumerate(grades)]
    most = max(grades.count(grade) for grade in grades)
    slow = {
        "majority": min(grade for grade in grades if grades.count(grade) == most),
        "max": max(grades),
        "mean": float(Fraction(sum(grades), len(grades))),
    }
    for rule, grade in slow.items():
        assert merge(rows, rule).grades == {("q", "d"): grade}
