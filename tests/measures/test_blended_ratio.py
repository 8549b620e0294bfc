"""Measures of the blended ratio: Q, O, P, P-plus, NCU, EBR."""

from __future__ import annotations

import pytest
from hypothesis import given

from case_values import join, undefined, value, values
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case, cases, random_cases

of = MEASURES.parse


def test_q_measure_by_hand() -> None:
    assert of("Q").of([1, 0, 2]) == pytest.approx((2 / 3 + 5 / 6) / 2)
    assert of("Q").of([3, 2, 1, 0]) == 1
    assert of("Q").of([0, 3], judged=[0, 3, 1]) == pytest.approx((1 + 3) / (2 + 4) / 2)
    assert of("Q(beta=2)").of([0, 1]) == pytest.approx((1 + 2) / (2 + 2))


def test_the_cutoff_divides_by_r_unless_told_otherwise() -> None:
    assert of("Q@1").of([1, 1]) == 0.5
    assert of("Q(norm=min)@1").of([1, 1]) == 1


def test_without_gain_it_is_average_precision() -> None:
    @given(cases().filter(lambda case: bool(case.scores)))
    def check(case: Case) -> None:
        one, two = value(of("Q(beta=0)"), case), value(of("AP"), case)
        assert one == two or (undefined(one) and undefined(two))

    check()


def test_q_measure_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("Q").of([0, 0]))
    assert of("Q").of([], judged=[1]) == 0


def test_q_measure_bad_parameters_are_refused_when_parsed() -> None:
    with pytest.raises(UsageError, match="must be a number of at least 0"):
        of("Q(beta=-1)")


def test_gains_replace_the_grades() -> None:
    assert of("Q(gains=1:1/2:3)").of([1, 2]) == pytest.approx((2 / (1 + 3) + 1) / 2)
    assert of("Q(gains=2:0)").of([2], judged=[2, 1]) == pytest.approx(1 / (1 + 1) / 2)
    with pytest.raises(UsageError, match="gains=1:-1"):
        of("Q(gains=1:-1)")


def test_the_o_measure_stops_at_the_first_relevant_document() -> None:
    assert of("O_measure").of([0, 1, 2]) == pytest.approx((1 + 1) / (2 + 3))
    assert of("O_measure@1").of([0, 1]) == 0
    assert of("O_measure(rel=2)").of([1, 2]) == pytest.approx((1 + 3) / (2 + 3))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("O_measure(beta=0)", "RR"),
        ("NCUrb(gamma=0)", "O_measure"),
        ("NCUrb(gamma=1,beta=2)", "Q(beta=2)"),
        ("NCUgu(stop=1:1/2:1/3:1/0.5:1/0.25:1/1.5:1)", "Q"),
    ],
)
def test_one_measure_is_a_special_case_of_another(text: str, other: str) -> None:
    judged = join(random_cases(100))
    here, there = values(of(text), judged), values(of(other), judged)
    for query, one in here.items():
        if "RR" in other and undefined(one):
            assert there[query] == 0  # RR is 0 where nothing is relevant
        else:
            assert one == pytest.approx(there[query], rel=1e-12, nan_ok=True)


def test_the_preferred_rank_is_that_of_the_best_document_of_the_list_not_of_the_judgments() -> None:
    assert of("P_measure").of([1, 0, 0], judged=[1, 0, 0, 3]) == pytest.approx((1 + 1) / (1 + 3))
    assert of("P_measure").of([1, 0, 2, 2]) == pytest.approx((2 + 3) / (3 + 5))
    assert of("P_measure@2").of([1, 0, 2]) == pytest.approx((1 + 1) / (1 + 2))
    assert of("P_plus").of([1, 0, 2, 1]) == pytest.approx((2 / 3 + 5 / 7) / 2)


def test_below_the_preferred_rank_nothing_matters() -> None:
    for text in ("P_measure", "P_plus"):
        assert of(text).of([0, 2, 1, 0], judged=[0, 2, 1, 0]) == of(text).of([0, 2, 0, 1])


def test_stops_are_more_likely_at_higher_grades() -> None:
    assert of("NCUguP").of([2, 0, 1]) == pytest.approx(2 / 3 * 1 + 1 / 3 * 2 / 3)
    assert of("NCUguP(stop=1:1/2:9)").of([2, 0, 1]) == pytest.approx(0.9 + 0.1 * 2 / 3)
    assert of("NCUguP(gains=2:9)").of([2, 0, 1]) == of("NCUguP(stop=1:1/2:9)").of([2, 0, 1])
    assert undefined(of("NCUgu(stop=1:0)").of([1]))


def test_inverse_effort_is_a_power_of_the_rank() -> None:
    assert of("NCUrbIE(p=0.5,gamma=0.5)").of([0, 1, 1]) == pytest.approx((0.25 + 0.5 * 0.125) / 1.5)


def test_the_expected_blended_ratio_by_hand() -> None:
    first = 1 / 4 * (1 + 1) / (1 + 3)
    assert of("EBR(max_grade=2)").of([1, 2]) == pytest.approx(first + 3 / 4 * 3 / 4 * (2 + 4) / (2 + 4))
    first = 1 / 3 * (1 + 1) / (1 + 2)
    assert of("EBR(max_grade=2,gain=linear)").of([1, 2]) == pytest.approx(first + 2 / 3 * 2 / 3 * 1)
    assert of("EBR").of([]) == of("EBR").of([0], judged=[0]) == 0
    with pytest.raises(UsageError, match="max_grade=5"):
        of("EBR").of([5])


def test_measures_of_the_blended_ratio_are_0_or_undefined_without_relevant_documents() -> None:
    for text in ("O_measure", "P_measure", "P_plus", "NCUgu", "NCUrb"):
        assert of(text).of([0], judged=[0, 1]) == 0
        assert undefined(of(text).of([0]))
