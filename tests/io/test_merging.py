"""Several judges, one grade: every rule by hand, and against a slow obvious one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import leadline as ll
from leadline.data.judgment_tables import by_judge
from leadline.data.qrels import QrelsColumns
from leadline.errors import UsageError
from leadline.io.merged_judgments import Judgment, merge
from leadline.scale.evaluate_parts import evaluate_parts

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


GRADES = st.lists(st.integers(0, 3), min_size=0, max_size=4)
MEASURES = ["P@3", "AP", "RR", "nDCG@3", "ERR@3", "R@2", "bpref"]


@given(st.dictionaries(st.tuples(st.sampled_from("ab"), st.sampled_from("vwxyz")), GRADES, min_size=3))
def test_values_are_means_over_the_judges(said: dict[tuple[str, str], list[int]]) -> None:
    rows = [
        {"query_id": query, "doc_id": document, "relevance": grade, "judge": str(number)}
        for (query, document), grades in said.items()
        for number, grade in enumerate(grades)
    ]
    assume(rows)
    judged = {pair: grades for pair, grades in said.items() if grades}
    run = {query: {document: float(-place) for place, document in enumerate("zvywx")} for query in "ab"}
    turns = math.lcm(*map(len, judged.values()))  # 12 at most, of up to 4 judges
    each = []
    for turn in range(turns):
        qrels: dict[str, dict[str, float]] = {}
        for (query, document), grades in judged.items():
            qrels.setdefault(query, {})[document] = grades[turn % len(grades)]
        highest = max(max(grades) for grades in judged.values())
        qrels["none"] = {"d": highest}  # on which ERR depends
        each.append(ll.evaluate(qrels, run, MEASURES).values[:, :-1])
    results = ll.evaluate(rows, run, MEASURES)
    values = np.array(each)[:, 0]
    means = np.nansum(values, axis=0) / turns  # a judge to whom nothing is relevant counts 0
    means[np.isnan(values).all(axis=0)] = np.nan
    assert results.values[0] == pytest.approx(means, nan_ok=True)
    first = next(iter(judged))
    relevant = Fraction(sum(grade > 0 for grade in judged[first]), len(judged[first]))
    alone = ll.evaluate(rows, {first[0]: {first[1]: 1.0}}, "P@1", queries="both")
    assert alone.mean("run", "P@1") == pytest.approx(float(relevant))


def test_values_in_parts_are_means_over_the_judges() -> None:
    rows = [
        {"query_id": query, "doc_id": document, "relevance": grade, "judge": str(number)}
        for query, document, *grades in (("a", "x", 0, 2), ("a", "y", 1), ("b", "x", 3, 0, 1), ("b", "y", 0))
        for number, grade in enumerate(grades)
    ]
    parts = [{"a": {"x": 1.0, "y": 2.0}}, {"b": {"x": 1.0, "y": 2.0}}]
    whole = ll.evaluate(rows, parts[0] | parts[1], ["AP", "ERR@2"])
    for engine in ("local", "processes:2"):
        assert evaluate_parts(rows, parts, ["AP", "ERR@2"], engine=engine).values == pytest.approx(
            whole.values, nan_ok=True
        )
    assert [one.code for one in whole.warnings].count("merged") == 1
    assert "the mean of its judges" in whole.warnings[0].message


def test_many_unlike_numbers_of_judges_take_nearly_equal_turns() -> None:
    qrels = QrelsColumns.of([("q", "d", 0.0), ("q", "e", 0.0)])
    qrels.votes = {("q", "d"): (0.0, 1.0, 1.0, 1.0, 1.0), ("q", "e"): (0.0,) * 6 + (1.0,)}
    means = np.mean([one.grades for one in by_judge(qrels)], axis=0)
    assert means == pytest.approx([4 / 5, 1 / 7], abs=1 / 12)


def test_an_explanation_has_the_grade_of_the_majority_and_its_value() -> None:
    rows = [
        {"query_id": "q", "doc_id": document, "relevance": grade, "judge": judge}
        for document, judge, grade in (("a", "ann", 1), ("a", "bob", 0), ("b", "ann", 1))
    ]
    found = ll.explain(rows, {"q": ["a", "b"]}, "P@2", "q")
    assert (found.value, found.warnings[0].code) == (0.5, "merged")
