"""Precision, recall, and what is computed from them: F, E, R-precision, success, utility."""

from __future__ import annotations

import pytest

from case_values import undefined, value
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.explain import explain
from leadline.measures import CUTOFFS, MEASURES
from oracles import Case

of = MEASURES.parse


def test_it_is_the_share_of_relevant_documents_among_the_first_k() -> None:
    assert of("P@4").of([1, 0, 1, 0, 1]) == 1 / 2


def test_a_short_list_still_divides_by_k() -> None:
    assert of("P@10").of([1, 1]) == 2 / 10
    assert of("P@10").of([], judged=[1]) == 0


def test_without_a_cutoff_it_divides_by_the_length_of_the_list() -> None:
    assert of("P").of([1, None, 0, 1]) == 1 / 2


def test_without_a_cutoff_an_empty_list_is_undefined() -> None:
    assert undefined(of("P").of([], judged=[1]))


def test_it_is_0_where_nothing_is_relevant() -> None:
    assert of("P@5").of([0, 0]) == 0
    assert of("P").of([0, 0]) == 0


def test_a_level_decides_what_is_relevant() -> None:
    assert of("P(rel=2)@4").of([1, 2, 3, -1]) == 1 / 2
    assert of("P").of([0.5, 1.5]) == 1 / 2
    assert of("P(rel=0.5)").of([0.5, 1.5]) == 1


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("P@1"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 1
    assert value(of("P@1"), Case({"10": 1.0, "9": 1.0}, {"9": 1.0})) == 1  # as bytes, not numbers


def test_it_is_the_share_of_the_relevant_documents_that_were_found() -> None:
    assert of("R@2").of([1, 0, 1], judged=[1, 1, 1, 0]) == 1 / 3
    assert of("R").of([1, 0, 1], judged=[1, 1, 1, 0]) == 2 / 3


def test_a_cutoff_beyond_the_list_changes_nothing() -> None:
    assert of("R@1000").of([1, 0, 1]) == of("R").of([1, 0, 1]) == 1


def test_an_empty_list_has_0_and_nothing_relevant_is_undefined() -> None:
    assert of("R").of([], judged=[1]) == 0
    assert undefined(of("R").of([0]))
    assert undefined(of("R@5").of([], judged=[0]))


def test_recall_a_level_decides_what_is_relevant() -> None:
    assert of("R(rel=2)").of([1, 2], judged=[1, 2, 3]) == 1 / 2
    assert of("R(rel=0.5)@1").of([0.5, 1, -1]) == 1 / 2


def test_recall_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("R@1"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0})) == 0


def test_it_is_the_precision_at_the_number_of_relevant_documents() -> None:
    assert of("Rprec").of([1, 0, 1, 1]) == 2 / 3
    assert of("Rprec").of([1, 0, 1, 1]) == of("P@3").of([1, 0, 1, 1])


def test_a_list_shorter_than_r_divides_by_r() -> None:
    assert of("Rprec").of([1], judged=[1, 1, 1, 1]) == 1 / 4
    assert of("Rprec").of([], judged=[1]) == 0


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("Rprec").of([0, 0]))


def test_a_level_decides_how_many_are_relevant() -> None:
    assert of("Rprec(rel=2)").of([2, 1, 2]) == 1 / 2
    assert of("Rprec").of([0.5, 1, -1]) == 0
    assert of("Rprec(rel=0.5)").of([0.5, 1, -1]) == 1


def test_r_precision_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("Rprec"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0})) == 0


def test_once_r_is_r_precision() -> None:
    grades = [1, 0, 1, 1]
    assert of("RprecMult@1").of(grades) == of("Rprec").of(grades) == 2 / 3


def test_twice_r_divides_by_twice_r_even_below_the_end_of_the_list() -> None:
    assert of("Rprec_mult_2.00").of([1, 1, 0]) == 2 / 4


def test_it_is_undefined_where_the_rank_is_0() -> None:
    assert undefined(of("RprecMult@0.5").of([0]))
    assert undefined(of("RprecMult@0.05").of([1]))


def test_the_spelling_of_trec_eval_alone_means_its_ten_multiples() -> None:
    assert list(map(str, MEASURES.expand("Rprec_mult")))[::3] == [
        "RprecMult@0.2",
        "RprecMult@0.8",
        "RprecMult@1.4",
        "RprecMult@2",
    ]


def test_it_is_precision_above_r_and_recall_below() -> None:
    grades, judged = [1, 0, 1, 0], [1, 1, 1, 0, 0]
    assert of("RelP@2").of(grades, judged) == of("P@2").of(grades, judged) == 1 / 2
    assert of("RelP@4").of(grades, judged) == of("R@4").of(grades, judged) == 2 / 3


def test_relative_precision_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("RelP@5").of([0]))


def test_the_spelling_of_trec_eval_alone_means_its_nine_cutoffs() -> None:
    assert [measure.cutoff for measure in MEASURES.expand("relative_P")] == list(CUTOFFS)  # type: ignore[attr-defined]


def test_a_short_list_of_relevant_documents_is_perfect_and_so_is_a_long_one_with_all() -> None:
    assert of("set_relative_P").of([1], judged=[1, 1, 1]) == 1
    assert of("SetRelP").of([0, 0, 1], judged=[1, 0, 0]) == 1


def test_it_is_undefined_where_nothing_is_relevant_or_retrieved() -> None:
    assert undefined(of("SetRelP").of([0]))
    assert undefined(of("SetRelP").of([], judged=[1]))


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


def test_f_a_level_decides_what_is_relevant() -> None:
    assert of("F(rel=2)").of([1, 2, -1]) == 2 / 4
    assert of("F(rel=0.5)").of([0.5]) == 1


def test_f_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("F@1"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 1


def test_linear_does_not_square_beta() -> None:
    grades, judged = ([1, None, 1, None], [1] * 6)  # P = 1/2, R = 1/3: 3 P R / (2 P + R) = (1/2) / (4/3)
    assert of("F(beta=2,form=linear)").of(grades, judged) == 0.375
    assert of("F(beta=2)").of(grades, judged) == pytest.approx(5 / 14)  # 5 P R / (4 P + R)


def test_both_forms_are_one_measure_with_beta_1() -> None:
    assert str(of("F(form=linear)")) == "F"
    assert of("F(form=linear)") == of("set_F") == of("SetF") == of("F")


def test_the_steps_follow_the_form() -> None:
    qrels, run = {"q": dict.fromkeys("abcdef", 1)}, {"q": {"a": 4, "x": 3, "b": 2, "y": 1}}
    assert explain(qrels, run, "F(beta=2,form=linear)", query="q").value == 0.375


def test_it_is_1_less_f() -> None:
    grades, judged = [1, 0, 1, 0], [1, 1, 1, 0, 0]
    for form in ("", "(beta=2)", "(rel=2)", "@2", "(beta=0.5)@3"):
        assert of(f"E{form}").of(grades, judged) == 1 - of(f"F{form}").of(grades, judged)


def test_the_form_of_the_lecture_is_f_itself() -> None:
    assert of("E(form=lecture,beta=2)").of([1, 0, 1]) == of("F(beta=2)").of([1, 0, 1])


def test_it_falls_as_lists_get_better_and_the_form_of_the_lecture_rises() -> None:
    assert not of("E").rising
    assert of("E(form=lecture)").rising
    assert of("E").of([1]) == 0
    assert of("E").of([0], judged=[0, 1]) == 1
    assert of("E(form=lecture)").of([1]) == 1


def test_the_best_run_of_a_table_follows_the_form() -> None:
    qrels, good, poor = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0}}, {"q": {"b": 1.0}}
    results = evaluate(qrels, {"poor": poor, "good": good}, ["E", "E(form=lecture)"])
    assert results.best() == [{1}, {1}]
    assert results.order() == [1, 0]


def test_it_is_1_where_f_is_undefined_and_counts_as_0() -> None:
    assert of("E").of([], judged=[0]) == 1
    assert undefined(of("E(form=lecture)").of([], judged=[0]))
    qrels, run = {"a": {"d": 1}, "b": {"d": 0}}, {"a": {"d": 1.0}}
    e, f = evaluate(qrels, run, ["E", "F"]).means[0].tolist()
    assert e == 1 - f == 0.5


def test_e_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("E@1"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 0


def test_it_is_1_when_any_of_the_first_k_is_relevant() -> None:
    assert of("Success@1").of([0, 1]) == 0
    assert of("Success@2").of([0, 1]) == 1
    assert of("Success@2").of([1, 1]) == 1
    assert of("Success@1000").of([0, None, 1]) == 1


def test_it_is_0_and_never_undefined_where_nothing_was_found_or_is_relevant() -> None:
    assert of("Success@5").of([], judged=[1]) == 0
    assert of("Success@5").of([0, -1]) == 0


def test_success_a_level_decides_what_is_relevant() -> None:
    assert of("Success(rel=2)@1").of([1]) == 0
    assert of("Success(rel=0.5)@1").of([0.5]) == 1


def test_complete_is_1_where_recall_is_1() -> None:
    assert of("Complete@2").of([1, 1]) == 1
    assert of("Complete@2").of([1, 0, 1]) == 0
    assert of("Complete").of([1, 0, 1]) == 1
    assert of("Complete(rel=2)@1").of([2, 1]) == 1
    assert undefined(of("Complete@2").of([0], judged=[0]))


def test_it_needs_a_cutoff() -> None:
    with pytest.raises(UsageError, match=r"Success needs a cutoff\. Write Success@10"):
        of("Success")


def test_success_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("Success@1"), Case({"a": 1.0, "b": 1.0}, {"b": 1.0})) == 1


def test_by_default_it_is_relevant_minus_other_documents() -> None:
    assert of("utility").of([1, 0, None, 1, -1], judged=[1, 1, 1, 0, -1]) == 2 - 3


def test_what_was_not_retrieved_counts_with_c_and_d() -> None:
    measure = of("Utility(a=0,b=0,c=-1,d=0.5,documents=10)")
    assert measure.of([1, 0], judged=[1, 0, 1, 1]) == -2 + 0.5 * 6


def test_the_size_of_a_collection_is_not_negative() -> None:
    with pytest.raises(UsageError, match="documents=-1"):
        of("Utility(documents=-1)")


def test_fall_out_is_recall_of_what_is_not_relevant() -> None:
    assert of("FallOut@3").of([1, 0, None, 0], judged=[1, 0, 0, 0, 0]) == 0.25
    assert of("FallOut").of([1, 0, None, 0], judged=[1, 0, 0, 0, 0]) == 0.5
    assert of("FallOut(rel=2)").of([1, -1, 0], judged=[1, -1, 0, 2, 1]) == pytest.approx(2 / 3)
    assert undefined(of("FallOut").of([1]))


def test_with_the_size_of_the_collection_unjudged_documents_count_in_fall_out() -> None:
    assert of("FallOut(documents=12)@3").of([1, 0, None, 0], judged=[1, 0, 0, 1]) == 0.2
    with pytest.raises(UsageError, match="documents=3 is"):
        of("FallOut(documents=3)").of([1, 0, 0, None])
