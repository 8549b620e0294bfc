"""Several judges, one grade: every rule by hand, and against a slow obvious one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import leadline as ll
from leadline.data.judgment_tables import Judgment, by_judge, merge
from leadline.data.qrels import QrelsColumns
from leadline.errors import UsageError
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
    assert (found.shared, len(found.votes["q"]), found.tied) == (3, 3, 2)
    words = "pairs with several judges: 3 (3 with different grades, merged by majority, 2 ties resolved to "
    words += "the lowest tied grade)"
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
    assert "means over the judges" in whole.warnings[0].message


@pytest.mark.parametrize("numbers", [(5, 7), (8, 11), (20, 3), (70, 2), (13, 13)])
def test_judges_of_a_pair_take_as_many_turns(numbers: tuple[int, int]) -> None:
    qrels = QrelsColumns.of([("q", "d", 0.0), ("q", "e", 0.0), ("r", "d", 0.0)])
    grades = [(0.0,) * (number // 2) + (1.0,) * (number - number // 2) for number in numbers]
    qrels.votes = {"q": dict(zip("de", grades, strict=True)), "r": {"d": (0.0, 1.0)}}
    turns = by_judge(qrels)
    means = [
        np.mean([one.grades[row] for one in turns.tables[: turns.number[code]]])
        for row, code in enumerate((0, 0, 1))
    ]
    exact = math.lcm(*numbers) <= 60
    expected = [*map(np.mean, grades), 0.5]
    assert means == pytest.approx(expected, abs=1e-12 if exact else 1 / 60)


def test_values_do_not_depend_on_the_order_of_judgments() -> None:
    rows = [
        {"query_id": "q", "doc_id": document, "relevance": grade, "judge": judge}
        for document, *grades in (("a", 1, 0), ("b", 0, 1), ("c", 2, 0))
        for judge, grade in zip(("ann", "bob"), grades, strict=True)
    ]
    run = {"q": ["a", "b", "c"]}
    each = [ll.evaluate(rows[judge::2], run, ["AP", "nDCG@3"]).values for judge in (0, 1)]
    for order in (rows, rows[::-1], sorted(rows, key=lambda row: str(row["relevance"]))):
        results = ll.evaluate(order, run, ["AP", "nDCG@3"])
        assert results.values == pytest.approx(np.mean(each, axis=0))
        assert ll.read_qrels(order).digest == ll.read_qrels(rows).digest


def test_a_negative_grade_is_no_judgment() -> None:
    rows = [
        {"query_id": "q", "doc_id": "a", "relevance": grade, "judge": judge}
        for judge, grade in (("ann", 1), ("bob", -1))
    ]
    for options in ({}, {"negative": "unjudged"}, {"judged_only": True}):
        assert ll.evaluate(rows, {"q": ["a"]}, "P@1", **options).mean("run", "P@1") == 1.0


def test_a_judge_to_whom_nothing_is_relevant_is_left_out_with_the_query() -> None:
    rows = [
        {"query_id": "q", "doc_id": document, "relevance": grade, "judge": judge}
        for judge, document, grade in (("ann", "a", 0), ("ann", "b", 0), ("bob", "a", 1), ("bob", "b", 0))
    ]
    results = ll.evaluate(rows, {"q": ["a", "b"]}, ["AP", "P@2"], queries="with_relevant")
    assert results.means.tolist() == [[1.0, 0.5]]
    results = ll.evaluate(rows, {"q": ["a", "b"]}, ["AP", "P@2"])
    assert results.means.tolist() == [[0.5, 0.25]]
    assert "without a relevant" not in str([warning.message for warning in results.warnings])


def test_an_explanation_has_the_grade_of_the_majority_and_its_value() -> None:
    rows = [
        {"query_id": "q", "doc_id": document, "relevance": grade, "judge": judge}
        for document, judge, grade in (("a", "ann", 1), ("a", "bob", 0), ("b", "ann", 1))
    ]
    found = ll.explain(rows, {"q": ["a", "b"]}, "P@2", "q")
    assert (found.value, found.warnings[0].code) == (0.5, "merged")
