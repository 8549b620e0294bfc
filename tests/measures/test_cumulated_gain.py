"""Cumulated gain, discounted and normalised: CG, DCG, nDCG, G."""

from __future__ import annotations

import math

import pytest

from case_values import join, undefined, value, values
from leadline.errors import UsageError
from leadline.measures import MEASURES
from leadline.measures.cumulated_gain import GnDCG
from oracles import Case
from peer_values import random_graded, same_as_ir_measures

of = MEASURES.parse


def test_it_is_the_sum_of_the_grades() -> None:
    assert of("CG").of([3, 2, 0, 1]) == 6
    assert of("CG@2").of([3, 2, 0, 1]) == 5
    assert of("CG@100").of([3, 2, 0, 1]) == 6


def test_fractions_count_as_they_are() -> None:
    assert of("CG").of([0.25, None, 0.5]) == 0.75


def test_negative_grades_and_unjudged_documents_gain_nothing() -> None:
    assert of("CG").of([-2, None, 1]) == 1


def test_it_is_0_and_never_undefined_where_there_is_nothing_to_gain() -> None:
    assert of("CG").of([]) == 0
    assert of("CG").of([0, 0]) == 0
    assert of("CG").of([], judged=[1]) == 0


def test_gains_that_no_number_can_hold_are_refused() -> None:
    with pytest.raises(UsageError, match="CG: the sum of the gains exceeds 1e308"):
        of("CG").of([1e308, 1e308])
    assert of("CG@1").of([1e308, 1e308]) == 1e308


def test_it_takes_no_level() -> None:
    with pytest.raises(UsageError, match=r"CG has no parameter 'rel'\. Every positive grade"):
        of("CG(rel=2)")


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("CG@1"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0})) == 2


def test_a_gain_is_divided_by_the_logarithm_of_the_rank_and_one() -> None:
    assert of("DCG").of([3, 0, 2]) == 3 / 1 + 2 / 2
    assert of("DCG").of([0, 1]) == 1 / math.log2(3)


def test_in_the_form_of_the_lecture_ranks_1_and_2_are_not_discounted() -> None:
    assert of("DCG(discount=jk)").of([3, 2, 0, 1]) == 3 + 2 + 1 / 2


def test_exponential_gain_is_two_to_the_grade_less_one() -> None:
    assert of("DCG(gain=exp)").of([3, 0, 2]) == 7 / 1 + 3 / 2
    assert of("DCG(gain=exp)").of([0.5]) == pytest.approx(math.sqrt(2) - 1, rel=1e-15)


def test_the_cutoff_ends_the_sum() -> None:
    assert of("DCG@1").of([3, 3, 3]) == 3
    assert of("DCG@1000").of([3, 0, 2]) == of("DCG").of([3, 0, 2])


def test_discounted_gain_negative_grades_and_unjudged_documents_gain_nothing() -> None:
    assert of("DCG").of([-3, None, 1]) == of("DCG").of([0, 0, 1])
    assert of("DCG(gain=exp)").of([-3, None, 1]) == of("DCG(gain=exp)").of([0, 0, 1])


def test_discounted_gain_is_0_and_never_undefined_where_there_is_nothing_to_gain() -> None:
    assert of("DCG").of([]) == 0
    assert of("DCG").of([0, None]) == 0


@pytest.mark.parametrize("text", ["DCG", "DCG(gain=exp)", "DCG(discount=jk)@3"])
def test_gains_that_no_number_can_hold_are_refused_without_a_warning(text: str) -> None:
    with pytest.raises(UsageError, match="exceeds 1e308"):
        of(text).of([1e308, 1e308, 1e308])


def test_the_largest_grade_with_exponential_gain_is_1023() -> None:
    assert of("DCG(gain=exp)").of([1023]) == 2.0**1023
    with pytest.raises(UsageError, match="smaller grades"):
        of("DCG(gain=exp)").of([1024])


def test_discounted_gain_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("DCG@1"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0})) == 2


def test_by_hand() -> None:
    assert of("SDCG(max_grade=2)@1").of([1]) == 0.5
    assert of("SDCG@3").of([4, 4, 4]) == 1
    assert of("SDCG@3").of([]) == 0


def test_a_long_way_below_the_list_costs_no_memory() -> None:
    assert 0 < of("SDCG@3000000").of([4]) < 1e-5


def test_a_grade_above_the_largest_is_refused_with_the_name_of_the_option() -> None:
    with pytest.raises(UsageError, match="above max_grade=4"):
        of("SDCG@5").of([5])


@pytest.mark.parametrize("text", ["SDCG", "SDCG@0", "SDCG(max_grade=0)@5"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"cutoff|must be|write max_grade"):
        of(text)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cutoff", [1, 10, 100])
def test_it_equals_cwl_eval(seed: int, cutoff: int) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures(f"SDCG@{cutoff}", f"SDCG(max_rel=4)@{cutoff}", qrels, run)


def test_it_divides_by_the_gain_of_the_ideal_order() -> None:
    found = 1 / 1 + 3 / math.log2(3)
    ideal = 3 / 1 + 1 / math.log2(3)
    assert of("nDCG").of([1, 3, 0]) == pytest.approx(found / ideal, rel=1e-15)


def test_the_ideal_holds_documents_that_were_not_retrieved() -> None:
    assert of("nDCG").of([1], judged=[1, 3]) == pytest.approx(1 / (3 + 1 / math.log2(3)))


def test_the_cutoff_ends_the_ideal_too() -> None:
    assert of("nDCG@1").of([1, 3]) == 1 / 3
    assert of("nDCG@1").of([3, 1, 1]) == 1
    assert of("nDCG@1000").of([1, 3]) == of("nDCG").of([1, 3])


def test_the_best_order_has_exactly_1() -> None:
    for form in ("nDCG", "nDCG(gain=exp)", "nDCG(discount=jk)", "nDCG(gain=exp)@2"):
        assert of(form).of([3, 2.5, 1, 0.1]) == 1


def test_any_positive_grade_is_a_gain_relevant_or_not() -> None:
    assert of("nDCG").of([0, 0.5]) == pytest.approx(1 / math.log2(3), rel=1e-15)


def test_negative_grades_gain_nothing_and_never_lower_it() -> None:
    assert of("nDCG").of([-2, 1]) == of("nDCG").of([0, 1]) == of("nDCG").of([None, 1])


def test_it_is_undefined_where_there_is_nothing_to_gain() -> None:
    assert undefined(of("nDCG").of([0, -1]))
    assert of("nDCG").of([], judged=[1]) == 0


def test_grades_of_any_size_give_a_number_without_a_warning() -> None:
    assert of("nDCG(gain=exp)").of([1000, 2000]) == pytest.approx(1 / math.log2(3))
    assert of("nDCG(gain=exp)").of([2000, 1000]) == 1
    assert of("nDCG(gain=exp)").of([1e300, 1.0]) == 1
    assert of("nDCG").of([1e308, 1e308, 1e308]) == 1
    assert of("nDCG").of([1, 1e308]) == pytest.approx(1 / math.log2(3))


def test_large_grades_of_one_query_do_not_touch_another() -> None:
    small = Case({"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 1.0})
    large = Case({"a": 1.0}, {"a": 1e308, "b": 1e308})
    found = values(of("nDCG(gain=exp)"), join({"q1": small, "q2": large}))
    assert found["q1"] == value(of("nDCG(gain=exp)"), small)


def test_the_level_of_ranx_is_refused_because_it_changes_the_gains() -> None:
    for text in ("nDCG(rel=2)", "ndcg@10-l2"):
        with pytest.raises(UsageError, match="in ranx, such a grade gives none"):
            of(text)


def test_ndcg_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("nDCG"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 1
    assert value(of("nDCG"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0})) == 1 / math.log2(3)


def test_without_gains_it_is_ndcg() -> None:
    assert of("GnDCG@2").of([0, 1, 2]) == of("nDCG@2").of([0, 1, 2])


def test_grades_that_are_not_named_keep_their_gain() -> None:
    value = (3 + 2 / math.log2(3)) / (3 + 2 / math.log2(3))
    assert of("GnDCG(gains=1:3)").of([1, 2]) == value


def test_a_document_without_a_judgment_has_no_gain_whatever_grade_0_has() -> None:
    assert of("GnDCG(gains=0:1)").of([None, 0]) == pytest.approx(1 / math.log2(3))


def test_gains_are_written_in_one_way() -> None:
    assert str(of("GnDCG(gains=2:9/1:3.0)")) == "GnDCG(gains=1:3/2:9)"
    assert GnDCG(gains={1: 3, 2.0: 9}) == of("GnDCG(gains=1:3/2:9)")


@pytest.mark.parametrize("gains", ["1", "1:x", "1:2/1:3", "-1:2", "1:nan", "1:1e99", ""])
def test_other_gains_are_refused(gains: str) -> None:
    with pytest.raises(UsageError, match="must be 'grade', or grade:gain pairs"):
        of(f"GnDCG(gains={gains})")


def test_it_is_the_mean_of_ndcg_at_the_number_of_documents_of_each_level() -> None:
    grades, judged = [1, 3, 0], [3, 3, 2, 1, 0]
    at = [of(f"nDCG@{cutoff}").of(grades, judged) for cutoff in (2, 3, 4)]
    assert of("Rndcg").of(grades, judged) == pytest.approx(sum(at) / 3, rel=1e-14)


def test_a_list_longer_by_two_adds_its_end() -> None:
    grades = [0, 0, 1]
    assert of("RnDCG").of(grades) == pytest.approx((0 + 1 / 2) / 2, rel=1e-14)
    assert of("RnDCG").of([0, 1]) == 0


def test_equal_gains_are_one_level() -> None:
    assert of("RnDCG(gains=2:1)").of([1, 2]) == of("RnDCG").of([1, 1]) == 1


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("RnDCG").of([0]))
    assert undefined(of("RnDCG(rel=2)").of([1]))


def test_it_is_the_mean_of_ndcg_at_the_ranks_of_the_relevant_documents() -> None:
    grades = [1, 0, 0, 2]
    at = [of(f"nDCG@{rank}").of(grades) for rank in (1, 4)]
    assert of("ndcg_rel").of(grades) == pytest.approx(sum(at) / 2, rel=1e-14)


def test_gains_of_ones_own() -> None:
    assert of("nDCGrel(gains=1:3)").of([0, 1, 2]) == pytest.approx(
        ((3 / math.log2(3)) / (3 + 2 / math.log2(3)) + (3 / math.log2(3) + 2 / 2) / (3 + 2 / math.log2(3)))
        / 2
    )


def test_it_is_undefined_where_nothing_has_a_gain() -> None:
    assert undefined(of("nDCGrel").of([0, None]))


def test_what_the_list_missed_so_far_counts_against_a_document() -> None:
    """At rank 3 the ideal list has 2 + 1 + 1, this one 0 + 0 + 2."""
    assert of("G").of([0, 0, 2], judged=[2, 1, 0, 0]) == 2 / math.log2(2 + 4 - 2) / 3


def test_with_one_level_it_is_binary_g() -> None:
    grades, judged = [0, 1, 1, 0, 1], [1, 1, 1, 1, 0, 0]
    assert of("G").of(grades, judged) == of("binG").of(grades, judged)


def test_normalised_gain_gains_of_ones_own() -> None:
    assert of("G(gains=1:3)").of([1, 2]) == 1
    assert of("G(gains=1:3)").of([2, 1]) == (2 / math.log2(2 + 3 - 2) + 3 / 1) / 5


def test_normalised_gain_is_undefined_where_nothing_has_a_gain() -> None:
    assert undefined(of("G").of([0, None]))


def test_gains_that_add_up_to_no_number_are_refused() -> None:
    with pytest.raises(UsageError, match="smaller grades"):
        of("G").of([1e308, 1e308])
