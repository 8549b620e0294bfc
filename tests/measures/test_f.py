"""F: precision and recall in one number."""

from __future__ import annotations

import pytest

from agreement import agree, undefined, value
from leadline.evaluation.explain import explain
from leadline.measures import MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_the_harmonic_mean_of_precision_and_recall() -> None:
    # P = 2/4, R = 2/3
    assert of("F").of([1, 0, 1, 0], judged=[1, 1, 1, 0, 0]) == pytest.approx(4 / 7, rel=1e-15)


def test_beta_0_is_precision_and_a_large_beta_goes_to_recall() -> None:
    grades, judged = [1, 0, 1, 0], [1, 1, 1, 0, 0]
    assert of("F(beta=0)").of(grades, judged) == 1 / 2
    assert of("F(beta=1000000)").of(grades, judged) == pytest.approx(2 / 3, abs=1e-11)


def test_a_cutoff_takes_both_at_the_same_rank() -> None:
    assert of("F@2").of([1, 0, 1], judged=[1, 1, 1, 0]) == pytest.approx(2 / 5)  # P 1/2, R 1/3
    assert of("F@5").of([1], judged=[1]) == pytest.approx(2 / 6)  # P is 1/5


def test_it_is_0_where_only_one_of_both_could_be_counted() -> None:
    assert of("F").of([0], judged=[0]) == 0  # nothing is relevant
    assert of("F").of([], judged=[1]) == 0  # nothing was retrieved


def test_it_is_undefined_where_nothing_is_relevant_nor_retrieved() -> None:
    assert undefined(of("F").of([], judged=[0]))
    assert undefined(of("F(beta=0)").of([], judged=[1]))
    assert of("F@5").of([], judged=[0]) == 0


@pytest.mark.parametrize("beta", ["0.1", "0.35", "0.7", "1", "3.3"])
def test_finding_exactly_the_relevant_documents_has_exactly_1(beta: str) -> None:
    for size in range(1, 40):
        assert of(f"F(beta={beta})").of([1] * size) == 1


def test_a_level_decides_what_is_relevant() -> None:
    assert of("F(rel=2)").of([1, 2, -1]) == 2 / 4
    assert of("F(rel=0.5)").of([0.5]) == 1


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("F@1"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 1


def test_it_equals_its_oracle() -> None:
    agree("F", "F(beta=2)", "F(beta=0.5)@3", "F(beta=0)", "F(rel=2)@2")
    agree("F(beta=2,form=linear)", "F(beta=0.5,form=linear,rel=2)@3")


def test_linear_does_not_square_beta() -> None:
    grades, judged = (
        [1, None, 1, None],
        [1] * 6,
    )  # P = 1/2, R = 1/3: 3 P R / (2 P + R) = (1/2) / (4/3)
    assert of("F(beta=2,form=linear)").of(grades, judged) == 0.375
    assert of("F(beta=2)").of(grades, judged) == pytest.approx(5 / 14)  # 5 P R / (4 P + R)


def test_both_forms_are_one_measure_with_beta_1() -> None:
    assert str(of("F(form=linear)")) == "F"
    assert of("F(form=linear)") == of("set_F") == of("SetF") == of("F")


def test_the_steps_follow_the_form() -> None:
    qrels, run = {"q": dict.fromkeys("abcdef", 1)}, {"q": {"a": 4, "x": 3, "b": 2, "y": 1}}
    assert explain(qrels, run, "F(beta=2,form=linear)", query="q").value == 0.375
