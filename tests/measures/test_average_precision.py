"""Average precision and interpolated precision."""

from __future__ import annotations

import math

import pytest

from case_values import undefined, value
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from leadline.measures.average_precision import AvgIPrec
from oracles import Case

of = MEASURES.parse


def test_it_is_the_mean_of_the_precision_at_every_relevant_document() -> None:
    assert of("AP").of([1, 0, 1, 0]) == (1 / 1 + 2 / 3) / 2


def test_a_relevant_document_that_was_not_retrieved_adds_0() -> None:
    assert of("AP").of([0, 1], judged=[1, 1, 1, 0]) == (1 / 2) / 3


def test_a_list_without_relevant_documents_has_0_and_so_has_an_empty_one() -> None:
    assert of("AP").of([0, None], judged=[0, 1]) == 0
    assert of("AP").of([], judged=[1]) == 0


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("AP").of([0, 0]))


def test_with_a_cutoff_it_still_divides_by_all_relevant_documents() -> None:
    assert of("AP@2").of([1, 0, 1]) == 1 / 2
    assert of("AP@1000").of([1, 0, 1]) == of("AP").of([1, 0, 1])


def test_on_request_it_divides_by_the_cutoff_if_that_is_smaller() -> None:
    assert of("AP(norm=min)@2").of([1, 1, 0], judged=[1, 1, 1, 0]) == 1
    assert of("AP(norm=min)@5").of([1, 1, 0], judged=[1, 1, 1, 0]) == 2 / 3
    assert of("AP(norm=min)").of([1, 0], judged=[1, 1, 0]) == of("AP").of([1, 0], judged=[1, 1, 0])


def test_negative_grades_and_fractions_below_the_level_are_not_relevant() -> None:
    assert of("AP").of([-1, 0.99, 1]) == 1 / 3
    assert of("AP(rel=0.5)").of([-1, 0.99, 1]) == (1 / 2 + 2 / 3) / 2
    assert of("AP(rel=2)").of([1, 2, 3]) == (1 / 2 + 2 / 3) / 2


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("AP"), Case({"a": 1.0, "b": 1.0, "c": 1.0}, {"b": 1.0})) == 1 / 2


def test_notes_say_as_what_a_zero_counts_in_a_geometric_mean() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 0}, "q3": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    alone, mixed = (
        {one.code: one.message for one in evaluate(qrels, run, measures).warnings}
        for measures in ("GMAP", ["AP", "GMAP"])
    )
    assert "(scored 0.00001)" in alone["no_relevant"]
    assert "(scored 0.00001)" in alone["missing_queries"]
    assert "(scored 0, except for GMAP)" in mixed["no_relevant"]
    assert "scored" not in mixed["missing_queries"]


def test_its_mean_is_geometric() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0, "b": 2.0}}
    mean = evaluate(qrels, run, "gm_map").mean("run", "GMAP")
    assert mean == pytest.approx(math.sqrt(1 * 0.5), rel=1e-14)


def test_0_and_undefined_values_and_missing_queries_count_as_a_hundred_thousandth() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"a": 1.0}}
    mean = evaluate(qrels, run, "GMAP").mean("run", "GMAP")
    assert mean == pytest.approx((1 * 1e-5 * 1e-5 * 1e-5) ** (1 / 4), rel=1e-12)


def test_without_a_query_there_is_no_mean() -> None:
    runs = {"none": {"q2": {"a": 1.0}}, "one": {"q1": {"a": 1.0}}}
    results = evaluate({"q1": {"a": 1}}, runs, "GMAP", queries="both")
    assert math.isnan(results.mean("none", "GMAP"))
    assert results.mean("one", "GMAP") == 1


def test_it_is_precision_times_recall() -> None:
    assert of("set_map").of([1, 0, 0], judged=[1, 1, 0, 0]) == (1 / 3) * (1 / 2)


def test_the_order_does_not_matter() -> None:
    assert of("SetAP").of([1, 0, 1]) == of("SetAP").of([0, 1, 1])


def test_it_is_undefined_where_nothing_is_relevant_or_retrieved() -> None:
    assert undefined(of("SetAP").of([0]))
    assert undefined(of("SetAP").of([], judged=[1]))


def test_where_all_is_judged_it_is_nearly_average_precision() -> None:
    grades = [1, 0, 0, 1, 1, 0]
    assert of("infAP").of(grades) == pytest.approx(of("AP").of(grades), abs=1e-4)


def test_a_pooled_document_without_a_judgment_is_as_relevant_as_the_judged_ones() -> None:
    wanted = (1 + 1 / 4 + 3 / 4 * (3 / 3) * (1 / 2)) / 2
    assert of("infAP").of([1, -1, 0, 1]) == pytest.approx(wanted, abs=1e-4)


def test_a_document_outside_the_pool_is_not_relevant() -> None:
    wanted = (1 + 1 / 4 + 3 / 4 * (2 / 3) * (1 / 2)) / 2
    assert of("infAP").of([1, None, 0, 1]) == pytest.approx(wanted, abs=1e-4)


def test_inferred_average_precision_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("infAP").of([0]))


LIST = [1, 0, 1, 0, 0, 1]  # points: recall 1/3 at 1/1, 2/3 at 2/3, 3/3 at 3/6


def test_it_is_the_highest_precision_where_recall_has_reached_the_level() -> None:
    found = [of(f"IPrec@{level}").of(LIST) for level in ("0", "0.3", "0.34", "0.66", "0.67", "1")]
    assert found == [1, 1, 2 / 3, 2 / 3, 1 / 2, 1 / 2]


def test_a_later_point_may_lift_an_earlier_level() -> None:
    assert of("IPrec@0.1").of([0, 0, 0, 1, 1, 1]) == 3 / 6


def test_level_and_recall_are_compared_exactly() -> None:
    ten = [1.0] * 3 + [0.0] + [1.0] * 7
    assert of("IPrec@0.3").of(ten) == 1  # 3 of 10, though 0.1 * 3 > 0.3 in floating point
    assert of("IPrec@0.30000000000000004").of(ten) == 10 / 11


def test_levels_with_many_digits_do_not_overflow() -> None:
    many = [1.0] * 40000
    assert of("IPrec@0.3333333333333333").of(many) == 1
    assert of("IPrec@0.9999999999999999").of([*many[1:], 0.0, 1.0]) == 40000 / 40001


def test_it_is_0_where_recall_never_reaches_the_level() -> None:
    assert of("IPrec@0.6").of([1], judged=[1, 1]) == 0
    assert of("IPrec@0").of([0], judged=[0, 1]) == 0
    assert of("IPrec@0").of([], judged=[1]) == 0


def test_interpolated_precision_is_undefined_where_nothing_is_relevant() -> None:
    for rule in ("standard", "printed-next", "printed-zero", "trec9", "trec10"):
        assert undefined(of(f"IPrec(rule={rule})@0.5").of([0]))


def test_the_printed_rules_look_at_one_tenth_of_recall_only() -> None:
    zero = [of(f"IPrec(rule=printed-zero)@{level}").of(LIST) for level in ("0.3", "0.4", "0.6")]
    after = [of(f"IPrec(rule=printed-next)@{level}").of(LIST) for level in ("0.3", "0.4", "0.6")]
    assert zero == [1, 0, 2 / 3]
    assert after == [1, 2 / 3, 2 / 3]


def test_both_ends_of_a_tenth_belong_to_it() -> None:
    five = [1, 0, 1, 1, 1, 1]  # recall 0.2 at 1/1, 0.4 at 2/3
    assert of("IPrec(rule=printed-zero)@0.1").of(five) == 1
    assert of("IPrec(rule=printed-zero)@0.2").of(five) == 1
    assert of("IPrec(rule=printed-zero)@0.3").of(five) == 2 / 3


def test_a_printed_level_after_the_last_point_is_0() -> None:
    for rule in ("printed-next", "printed-zero"):
        assert of(f"IPrec(rule={rule})@0.9").of([1, 0], judged=[1, 1, 0]) == 0


def test_a_level_of_relevance_decides_what_is_found() -> None:
    assert of("IPrec(rel=2)@1").of([1, 2, -1, 3]) == 1 / 2


def test_interpolated_precision_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("IPrec@1"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0})) == 1 / 2


def test_a_perfect_list_has_1() -> None:
    assert of("AvgIPrec").of([1, 1, 0]) == 1


def test_average_interpolated_precision_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("AvgIPrec").of([0]))


def test_the_versions_of_trec_eval_ask_for_different_numbers_of_documents() -> None:
    """With 7 relevant, level 0.2 asks for 2 in version 9 (1.4 + 0.9) and for 1 (1.4) in version 10."""
    grades = [1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1]
    nine, ten = (of(f"AvgIPrec(rule={rule})").of(grades, [1] * 7 + [0] * 8) for rule in ("trec9", "trec10"))
    assert nine == pytest.approx((1 + 1 + 2 / 3 + 4 / 7 + 4 / 7 + 4 / 7 + 5 / 10 + 5 / 10 + 6 / 14) / 11)
    assert ten == pytest.approx((1 + 1 + 1 + 2 / 3 + 4 / 7 + 4 / 7 + 4 / 7 + 5 / 10 + 6 / 14 + 6 / 14) / 11)


def test_levels_are_written_in_one_way() -> None:
    assert str(of("AvgIPrec(levels=.25/.5)")) == "AvgIPrec(levels=0.25/0.5)"
    eleven = tuple(tenth / 10 for tenth in range(11))
    assert AvgIPrec(levels=eleven) == AvgIPrec()


@pytest.mark.parametrize("levels", ["1.5", "0.1/", "x", "eleven/0.1"])
def test_other_levels_are_refused(levels: str) -> None:
    with pytest.raises(UsageError, match="must be 'eleven', or levels from 0 to 1"):
        of(f"AvgIPrec(levels={levels})")


def test_graded_average_precision_by_hand() -> None:
    gap = MEASURES.parse("GAP")
    assert gap.of([1, 2]) == pytest.approx((1 + (1 + 2) / 2) / 3)
    assert gap.of([2, 1]) == 1
    assert gap.of([0, 3, 1], judged=[0, 3, 1, 2]) == pytest.approx((3 / 2 + (1 + 1) / 3) / 6)
    assert MEASURES.parse("GAP(weights=level)").of([1, 2]) == pytest.approx((1 + (1 + 3) / 2) / 4)


def test_graded_average_precision_of_equal_grades_is_average_precision() -> None:
    for grades in ([0, 3, 0, 3], [3, 0, 0], [0, 3]):
        binary = [grade / 3 for grade in grades]
        wanted = MEASURES.parse("AP").of(binary, judged=[*binary, 1])
        for text in ("GAP", "GAP(weights=level)"):
            assert MEASURES.parse(text).of(grades, judged=[*grades, 3]) == pytest.approx(wanted, rel=1e-14)


def test_graded_average_precision_is_the_mean_over_users_with_each_threshold() -> None:
    grades, more = [0, 2, 1, 3, 1], [3, 2, 0]
    levels, parts, sizes = (1, 2, 3), [], []
    for level in levels:
        judged = [float(grade >= level) for grade in [*grades, *more]]
        sizes.append(sum(judged))
        parts.append(MEASURES.parse("AP").of(judged[: len(grades)], judged=judged) * sizes[-1])
    assert MEASURES.parse("GAP").of(grades, judged=[*grades, *more]) == pytest.approx(sum(parts) / sum(sizes))
