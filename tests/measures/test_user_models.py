"""Measures of a user who goes down the list and may stop: RBP, ERR, NERR, INSQ, INST, BPM."""

from __future__ import annotations

import pytest
from hypothesis import given

from case_values import undefined, value
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.measures import MEASURES
from oracles import Case, cases
from peer_values import by_ir_measures, random_graded, same_as_ir_measures

of = MEASURES.parse


def test_by_hand() -> None:
    assert of("RBP(p=0.5)").of([1, 0, 1]) == 0.625
    assert of("RBP(p=0.5,gain=graded)").of([4, 0, 2]) == pytest.approx(0.5 * (1 + 0.5 * 0.25))
    assert of("RBP(p=0.5,gain=scaled)").of([1, 0, 2], judged=[1, 0, 2, 2]) == 0.5 * (0.5 + 0.25)
    assert of("RBP(p=0.5,gain=scaled)").of([0.5]) == 0.25  # no grade reaches 1: gains stay


def test_graded_gains_above_the_largest_are_refused_and_binary_ones_are_not() -> None:
    with pytest.raises(UsageError, match="smaller grades, or max_grade=9"):
        of("RBP(gain=graded)").of([9])
    assert of("RBP").of([9]) == pytest.approx(0.2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("p", "rel"), [(0.8, 1), (0.5, 2)])
def test_it_equals_cwl_eval_up_to_the_rank_at_which_that_stops(seed: int, p: float, rel: int) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    # It weighs 1000 ranks only and scales the weights to 1: p^1000 is nothing at these p.
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures(f"RBP(p={p},rel={rel})", f"RBP(p={p},rel={rel})", qrels, run)


def test_rank_biased_residual_by_hand() -> None:
    assert of("RBPResidual(p=0.5)").of([1, None, 0]) == 0.375
    assert of("RBPResidual(p=0.5)@1").of([1, 0]) == 0.5
    assert of("RBPResidual").of([]) == 1


def test_a_negative_grade_is_no_judgment() -> None:
    assert of("RBPResidual(p=0.5)").of([-1, 1]) == of("RBPResidual(p=0.5)").of([None, 1]) == 0.75


def test_value_and_residual_are_what_relevant_documents_in_every_gap_would_have() -> None:
    @given(cases())
    def check(case: Case) -> None:
        grades = {name: grade for name, grade in case.grades.items() if grade >= 0} | {"more": 0.0}
        case = Case(case.scores | {"other": -1.0}, grades)
        missed = Case(case.scores, {name: float(grade < 1) for name, grade in grades.items()})
        best = 1 - value(of("RBP"), missed)
        assert value(of("RBP"), case) + value(of("RBPResidual"), case) == pytest.approx(best)

    check()


def test_an_unjudged_document_and_all_ranks_below_the_end_could_be_relevant() -> None:
    assert of("rbp_resid").of([1, None, 0]) == pytest.approx(0.1 * 0.9 + 0.9**3, rel=1e-14)


def test_where_all_is_judged_trec_eval_forgets_the_ranks_below_the_end() -> None:
    assert of("RBPUnjudged").of([1, 0]) == 0
    assert of("RBPResidual(p=0.9)").of([1, 0]) == pytest.approx(0.9**2, rel=1e-14)


def test_expected_reciprocal_rank_by_hand() -> None:
    assert of("ERR").of([4]) == 15 / 16
    assert of("ERR").of([0, 3, 4]) == pytest.approx(7 / 16 / 2 + 9 / 16 * 15 / 16 / 3)
    assert of("ERR@1").of([0, 3, 4]) == 0


def test_negative_and_missing_judgments_stop_nobody() -> None:
    assert of("ERR").of([-2, None, 2]) == 3 / 16 / 3


def test_a_grade_above_the_largest_is_refused_with_the_name_of_the_option() -> None:
    with pytest.raises(UsageError, match="5 is above max_grade=4"):
        of("ERR").of([1], judged=[1, 5])
    assert of("ERR(max_grade=5)").of([5]) == 31 / 32


@pytest.mark.parametrize("seed", range(5))
def test_it_equals_gdeval_to_the_five_digits_that_gdeval_prints(seed: int) -> None:
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures("ERR@10", "ERR@10", qrels, run, to=5.01e-6)


def test_gdeval_says_nothing_of_a_query_without_a_relevant_document_and_here_it_is_0() -> None:
    qrels, run = {"1": {"a": 0}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"a": 1.0}}
    wanted = by_ir_measures("ERR@10", qrels, run)
    assert wanted["2"] == 0.0625
    assert wanted.get("1", 0.0) == 0.0
    assert evaluate(qrels, run, "ERR@10").value("run", "1", "ERR@10") == 0.0


def test_nerr8_by_hand() -> None:
    assert of("NERR8(max_grade=2)@2").of([1, 2]) == pytest.approx(2 / 3)


def test_nerr9_by_hand() -> None:
    assert of("NERR9(max_grade=2)@2").of([1, 2]) == pytest.approx(0.6)


def test_nerr10_by_hand() -> None:
    assert of("NERR10(max_grade=2,depth=2)").of([1, 2]) == pytest.approx(0.95 / 1.45)


def test_nerr11_by_hand() -> None:
    assert of("NERR11(max_grade=2,depth=2)").of([1, 2]) == pytest.approx(13 / 22)


def test_insq_by_hand() -> None:
    assert of("INSQ(max_grade=1,depth=2)").of([1, 0]) == pytest.approx(1 / (1 + 4 / 9))


def test_inst_by_hand() -> None:
    assert of("INST(max_grade=1,depth=2)").of([1, 0]) == pytest.approx(1 / (1 + 1 / 4))
    assert of("INST(max_grade=1,depth=2)").of([0, 1]) == pytest.approx(4 / 9 / (1 + 4 / 9))


def test_bejeweled_player_by_hand() -> None:
    assert of("BPM(max_grade=1)@5").of([0, 1, 1]) == 1 / 2
    assert of("BPM(max_grade=1,T=2)@5").of([0, 1, 1]) == 2 / 3
    assert of("BPM(max_grade=1,T=3)@5").of([0, 1, 1]) == 2 / 5
    assert of("BPM@5").of([]) == 0


def test_cwl_eval_adds_thirds_and_misses_the_goal_by_rounding() -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    qrels = {"1": {f"d{place}": 1 for place in range(6)} | {"best": 3}}
    run = {"1": {f"d{place}": -float(place) for place in range(6)} | {"rest": -9.0}}
    assert by_ir_measures("BPM(T=2.0,max_rel=3)@10", qrels, run)["1"] == pytest.approx(2 / 10)
    assert of("BPM(T=2,max_grade=3)@10").of([1] * 6 + [0]) == pytest.approx(2 / 6)


def test_compatibility_by_hand() -> None:
    assert of("Compat").of([2, 1, 0]) == 1
    assert of("Compat(p=0.5)").of([1, 2]) == pytest.approx(0.5 / 1.5)
    assert of("Compat(p=0.5)").of([0, 1]) == pytest.approx(0.25 / 1.25)
    assert of("Compat").of([], judged=[1]) == 0


def test_equal_grades_are_ideal_in_the_order_of_the_list() -> None:
    assert of("Compat").of([1, 1, 1], judged=[1, 1, 1, 0]) == 1


def test_it_is_undefined_where_nothing_has_a_positive_grade() -> None:
    assert undefined(of("Compat").of([0, -1]))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("text", ["Compat", "Compat(p=0.8)"])
def test_it_equals_ir_measures_where_no_score_is_negative(seed: int, text: str) -> None:
    qrels, run = random_graded(seed, 3)
    run = {query: {name: score + 100 for name, score in scores.items()} for query, scores in run.items()}
    same_as_ir_measures(text, text, qrels, run)


def test_ir_measures_takes_what_was_not_retrieved_for_a_score_of_0() -> None:
    qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": -1.0, "c": -2.0}}
    wanted = by_ir_measures("Compat", qrels, run)["1"]  # its ideal is b, a; the list has a first
    mine = evaluate(qrels, run, "Compat").value("run", "1", "Compat")
    assert wanted < mine == pytest.approx((1 + 0.95 / 2) / (1 + 0.95))


@pytest.mark.parametrize("name", ["INSQ", "INST", "NERR11"])
def test_a_target_that_is_too_large_for_numbers_is_the_limit_of_large_ones(name: str) -> None:
    largest, large = (of(f"{name}(T={target},max_grade=1,depth=4)") for target in ("1e308", "1e15"))
    assert largest.of([1, 0, 1, 0]) == pytest.approx(large.of([1, 0, 1, 0]))
    assert largest.of([1, 0, 1, 0]) > 0


@pytest.mark.parametrize("text", ["NERR8@5", "NERR9@5", "NERR10", "NERR11", "INSQ", "INST", "BPM@5"])
def test_a_grade_above_the_largest_is_refused_whatever_the_user_model(text: str) -> None:
    with pytest.raises(UsageError, match="above max_grade=4"):
        of(text).of([5])


@pytest.mark.parametrize(
    "text",
    """
            RBP(p=0) RBP(p=1) RBP(p=1.5) RBP(gain=log) RBP@0 ERR(max_grade=0) ERR(max_grade=-1) ERR@0
            ERR(rel=1) NERR8 NERR8@0 NERR8@1000000 NERR9 NERR9@0 NERR9@1000000 NERR10(p=0)
            NERR10(depth=0) NERR10(depth=1000000) NERR10@5 NERR11(T=0) NERR11(depth=0)
            NERR11(depth=1000000) NERR11@5 INSQ(T=0) INSQ(max_grade=0) INSQ(depth=0) INSQ(depth=1000000)
            INSQ@5 INST(T=0.4) INST(max_grade=0) INST(depth=0) INST(depth=1000000) INST@5 BPM BPM(T=0)@5
            BPM(max_grade=0)@5 Compat(p=1) Compat(p=0) Compat@5 Compat(normalize=no)
        """.split(),
)
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"^measure '"):
        of(text)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("NERR8@10", "NERR8(max_rel=4)@10"),
        ("NERR8@100", "NERR8(max_rel=4)@100"),
        ("NERR9@10", "NERR9(max_rel=4)@10"),
        ("NERR9@100", "NERR9(max_rel=4)@100"),
        ("NERR10", "NERR10(max_rel=4)"),
        ("NERR10(p=0.5)", "NERR10(p=0.5,max_rel=4)"),
        ("NERR11", "NERR11(max_rel=4)"),
        ("NERR11(T=3)", "NERR11(T=3.0,max_rel=4)"),
        ("INSQ", "INSQ(max_rel=4)"),
        ("INSQ(T=3)", "INSQ(T=3.0,max_rel=4)"),
        ("INST", "INST(max_rel=4)"),
        ("INST(T=3)", "INST(T=3.0,max_rel=4)"),
        ("BPM@10", "BPM(max_rel=4)@10"),
        ("BPM(T=3)@20", "BPM(T=3.0,max_rel=4)@20"),
    ],
)
def test_it_equals_cwl_eval(seed: int, ours: str, theirs: str) -> None:
    pytest.importorskip("cwl", reason="cwl-eval is not installed")
    qrels, run = random_graded(seed, 4)
    same_as_ir_measures(ours, theirs, qrels, run)


def test_the_linear_form_of_err_by_hand() -> None:
    assert of("ERR(gain=linear,max_grade=3)").of([1, 3]) == pytest.approx(1 / 4 + 3 / 4 * 3 / 4 / 2)


def test_err_is_divided_by_that_of_the_ideal_list() -> None:
    best = 3 / 4 + 1 / 4 * 1 / 4 / 2
    assert of("nERR(max_grade=2)").of([1, 2]) == pytest.approx((1 / 4 + 3 / 4 * 3 / 4 / 2) / best)
    assert of("nERR(max_grade=2)@1").of([1, 2]) == pytest.approx(1 / 3)
    assert of("nERR").of([2, 1, 0]) == 1
    assert undefined(of("nERR").of([0]))


def test_intentwise_utility_falls_with_the_rank_of_the_stop() -> None:
    assert of("iRBU(p=0.5,max_grade=2)").of([0, 1, 2]) == pytest.approx(
        1 / 4 * 0.5**2 + 3 / 4 * 3 / 4 * 0.5**3
    )
    assert of("iRBU(p=0.5,max_grade=2)@2").of([0, 1, 2]) == pytest.approx(1 / 4 * 0.5**2)
