"""Measures of pairs of relevant and non-relevant documents: bpref, accuracy, binG."""

from __future__ import annotations

import math

import pytest

from case_values import undefined, value
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import Case
from peer_values import by_ir_measures, random_graded

of = MEASURES.parse


def test_each_relevant_document_loses_for_the_judged_ones_above_it() -> None:
    # R = 2, N = 3: nothing above the first, one above the second
    assert of("Bpref").of([1, 0, 1, 0, 0]) == (1 + (1 - 1 / 2)) / 2


def test_documents_without_a_judgment_are_skipped() -> None:
    assert of("Bpref").of([None, 1, None, 0, None, 1]) == of("Bpref").of([1, 0, 1])


def test_a_negative_grade_is_not_a_judgment() -> None:
    assert of("Bpref").of([-1, 1, 0, -2, 1]) == of("Bpref").of([1, 0, 1])


def test_no_more_than_r_others_count_against_a_document() -> None:
    assert of("Bpref").of([0, 0, 0, 1]) == 0
    assert of("Bpref").of([0, 1], judged=[0, 1, 1]) == (1 - 1 / 1) / 2


def test_without_judged_others_every_retrieved_relevant_document_counts_in_full() -> None:
    assert of("Bpref").of([None, 1], judged=[1, 1]) == 1 / 2


def test_a_grade_below_the_level_is_a_judged_other() -> None:
    assert of("Bpref(rel=2)").of([1, 2]) == 0
    assert of("Bpref").of([0.5, 1]) == 0


def test_an_empty_list_has_0_and_nothing_relevant_is_undefined() -> None:
    assert of("Bpref").of([], judged=[1, 0]) == 0
    assert undefined(of("Bpref").of([0], judged=[0]))


def test_ties_stand_in_the_order_of_falling_ids() -> None:
    assert value(of("Bpref"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 0.0})) == 0
    assert value(of("Bpref"), Case({"a": 1.0, "b": 1.0}, {"a": 0.0, "b": 1.0})) == 1


def test_its_mean_is_geometric() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 0, "c": 0, "d": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 2.0, "b": 3.0, "d": 1.0}}
    values = [1, ((1 - 1 / 2) + (1 - 1 / 2)) / 2]
    mean = evaluate(qrels, run, "gm_bpref").mean("run", "GMBpref")
    assert mean == pytest.approx(math.sqrt(values[0] * values[1]), rel=1e-14)


def test_only_what_is_not_relevant_above_a_document_counts_against_it() -> None:
    assert of("binG").of([1, 1, 0, 0, 1], judged=[1] * 4 + [0] * 2) == (1 + 1 + 1 / 2) / 4


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("binG").of([0]))


def test_by_hand() -> None:
    assert of("PairAccuracy").of([1, 0, None, 1]) == 0.5
    assert of("PairAccuracy").of([1, 1, 0]) == 1
    assert of("PairAccuracy").of([0, 1]) == 0


def test_it_is_undefined_without_a_pair() -> None:
    assert undefined(of("PairAccuracy").of([1, 1]))
    assert undefined(of("PairAccuracy").of([0, 0], judged=[0, 0, 1]))
    assert undefined(of("PairAccuracy@1").of([1, 0]))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("text", ["Accuracy", "Accuracy@10", "Accuracy(rel=2)@20"])
def test_it_equals_ir_measures_which_leaves_out_what_is_undefined(seed: int, text: str) -> None:
    qrels, run = random_graded(seed, 3)
    run = {query: scores | {"never judged": 1.0} for query, scores in run.items()}
    wanted = by_ir_measures(text, qrels, run)
    found, text = evaluate(qrels, run, f"Pair{text}"), f"Pair{text}"
    for query in qrels:
        mine = found.value("run", query, text)
        assert math.isnan(mine) == (query not in wanted)
        assert math.isnan(mine) or mine == pytest.approx(wanted[query], rel=1e-12, abs=1e-15)


def test_ir_measures_divides_by_0_where_every_document_is_relevant() -> None:
    pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    with pytest.raises(ZeroDivisionError):
        by_ir_measures("Accuracy", {"1": {"a": 1}}, {"1": {"a": 1.0}})


def test_the_other_divisors_of_bpref_by_hand() -> None:
    grades, judged = [0, 1, 0, 1], [0, 1, 0, 1, 1, 0, 0, 0]  # R = 3, N = 5
    assert of("bpref_R").of(grades, judged=judged) == pytest.approx((2 / 3 + 1 / 3) / 3)
    assert of("bpref_N").of(grades, judged=judged) == pytest.approx((4 / 5 + 3 / 5) / 3)
    assert of("bpref_relative").of(grades, judged=judged) == pytest.approx((0 + 1 / 3) / 3)


def test_rpref_weighs_losses_by_gain() -> None:
    assert of("rpref_relative").of([0, 1, 3], judged=[0, 1, 3]) == pytest.approx(
        (1 * (1 - 1) + 3 * (1 - (1 + 2 / 3) / 2)) / 4
    )
    most = 1 + 2 - 4 / 3
    assert of("rpref_N").of([0, 1, 3]) == pytest.approx((1 - 1 / most + 3 * (1 - (1 + 2 / 3) / most)) / 4)
    assert of("rpref_N").of([3, 1, 0]) == 1


def test_rpref_of_binary_grades_is_bpref() -> None:
    for grades in ([0, 1, None, 1, 0], [1, 0, 1, 0, 0, 1], [0, 0, 1]):
        judged = [*(grade for grade in grades if grade is not None), 1, 0]
        for one, other in (("rpref_relative", "bpref_relative"), ("rpref_N", "bpref_N")):
            assert of(one).of(grades, judged=judged) == pytest.approx(of(other).of(grades, judged=judged))


def test_a_tied_pair_is_half_a_pair_in_the_area_under_the_curve() -> None:
    case = Case({"a": 2.0, "b": 2.0, "c": 1.0}, {"a": 1.0, "b": 0.0, "c": 0.0})
    assert value(of("AUROC"), case) == 0.75
    assert value(of("PairAccuracy"), case) == 0.5
    assert value(of("AUROC"), Case({"a": 1.0, "b": 1.0}, {"a": 1.0})) == 0.5


def test_without_ties_the_area_is_the_accuracy_of_pairs() -> None:
    for text in ("", "@3", "(rel=2)@4"):
        for grades in ([1, 0, 2, None], [0, 3, 1, 0, 2], [2, 1, 0]):
            assert of(f"AUROC{text}").of(grades) == of(f"PairAccuracy{text}").of(grades)
