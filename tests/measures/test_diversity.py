"""Measures of the subtopics that a list covers."""

from __future__ import annotations

import math

import pytest

import leadline as ll
from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles.diversity import SubtopicCase
from subtopic_cases import join, ndeval, of_list, same_as_ndeval, value

of = MEASURES.parse


def test_by_hand() -> None:
    assert of_list("StRecall@1", ["ab", "c"], others=["d", "a"]) == 1 / 2
    assert of_list("StRecall", ["ab", "c"], others=["d", "a"]) == 3 / 4
    assert of_list("StRecall", [], others=["a"]) == 0


def test_p_ia_by_hand() -> None:
    assert of_list("P_IA@2", ["ab", "c", "a"]) == (1 / 2 + 1 / 2 + 1 / 2) / 3
    assert of_list("P_IA@5", ["a"]) == 1 / 5
    assert of_list("P_IA", ["a", "ab", "b"]) == pytest.approx(2 / 3)


def test_ap_ia_by_hand() -> None:
    assert of_list("AP_IA", ["a", "ab", "b"]) == pytest.approx((1 + (1 / 2 + 2 / 3) / 2) / 2)
    assert of_list("AP_IA", ["a", "ab"]) == 3 / 4
    assert of_list("AP_IA", ["a"], others=["ab"]) == 1 / 4


def test_err_ia_by_hand() -> None:
    assert of_list("ERR_IA@1", ["a", "b"]) == 1 / 2
    assert of_list("ERR_IA@2", ["a", "b"]) == (1 + 1 / 2) / (2 + 1 / 2)
    assert of_list("ERR_IA@2", ["ab", "ab"]) == 1


def test_ndeval_forgets_to_divide_at_rank_1() -> None:
    assert ndeval("ERR-IA@1", {"a": ["1", "2"], "b": ["3"]}, ["a", "b"]) == 2.0
    assert of_list("ERR_IA@1", ["ab", "c"]) == 2 / 3


def test_nerr_ia_by_hand() -> None:
    assert of_list("nERR_IA@1", ["c", "ab"]) == 1 / 2
    assert of_list("nERR_IA", ["c", "ab"]) == (1 + 2 / 2) / (2 + 1 / 2)
    assert of_list("nERR_IA", ["ab", "c"]) == 1


def test_alpha_dcg_by_hand() -> None:
    third = 1 / math.log2(3)
    assert of_list("alpha_DCG@1", ["a", "b"]) == 1 / 2
    assert of_list("alpha_DCG@2", ["a", "b"]) == pytest.approx((1 + third) / (2 + third))
    assert of_list("alpha_DCG@2", ["ab", "ab"]) == 1


def test_alpha_dcg_ndeval_forgets_to_divide_at_rank_1() -> None:
    assert ndeval("alpha-DCG@1", {"a": ["1", "2"], "b": ["3"]}, ["a", "b"]) == 2.0
    assert of_list("alpha_DCG@1", ["ab", "c"]) == 2 / 3


def test_alpha_ndcg_by_hand() -> None:
    third = 1 / math.log2(3)
    ideal = 2 + third  # ab, then c
    assert of_list("alpha_nDCG@2", ["c", "ab", "a"]) == pytest.approx((1 + 2 * third) / ideal)
    assert of_list("alpha_nDCG@2", ["ab", "c", "a"]) == 1
    assert of_list("alpha_nDCG@1", ["c", "ab", "a"]) == 1 / 2


def test_near_duplicates_are_precise_and_not_diverse() -> None:
    judged = {"1": {f"copy{place}": 1.0 for place in range(5)}, "2": {"other": 1.0}, "3": {"third": 1.0}}
    copies = SubtopicCase({f"copy{place}": -float(place) for place in range(5)}, judged)
    mixed = SubtopicCase({"copy0": 9.0, "other": 8.0, "third": 7.0}, judged)
    assert value(of("P@3"), copies) == 1
    assert value(of("alpha_nDCG@3"), copies) < 0.7
    assert value(of("alpha_nDCG@3"), mixed) == 1


def test_the_greedy_order_is_not_always_the_best_so_that_a_list_may_pass_1() -> None:
    third = 1 / math.log2(3)  # greedy begins with abcef, to which the others add less
    found = of_list("alpha_nDCG(alpha=1)@2", ["abcd", "efgh"], others=["abcef"])
    assert found == pytest.approx((4 + 4 * third) / (5 + 2 * third))
    assert found > 1


def test_the_ideal_is_made_once_for_all_runs() -> None:
    judged = join({"q": SubtopicCase({"a": 1.0}, {"s": {"a": 1.0, "b": 1.0}})})
    assert judged.qrels.subtopics is not None
    of("alpha_nDCG@5").values(judged)
    kept = judged.qrels.subtopics.ideals[1.0, 0.5]
    of("nNRBP").values(judged)
    of("alpha_nDCG").values(judged)
    assert judged.qrels.subtopics.ideals == {(1.0, 0.5): kept}


def test_nrbp_by_hand() -> None:
    assert of_list("NRBP", ["a", "b"]) == 3 / 4 / 2 * (1 + 1 / 2)
    assert of_list("NRBP(alpha=1)", ["ab"]) == 1


def test_nnrbp_by_hand() -> None:
    assert of_list("nNRBP", ["c", "ab"]) == (1 + 2 / 2) / (2 + 1 / 2)
    assert of_list("nNRBP", ["ab", "c"]) == 1


def test_d_ndcg_by_hand() -> None:
    judged = {"1": {"x": 2.0, "y": 1.0}, "2": {"y": 2.0, "z": -2.0}}
    third = 1 / math.log2(3)
    case = SubtopicCase({"x": 3.0, "z": 2.0, "y": 1.0}, judged)
    assert value(of("D_nDCG"), case) == pytest.approx((2 + 3 / 2) / (3 + 2 * third))
    assert value(of("D_nDCG@1"), case) == 2 / 3


def test_d_sharp_ndcg_by_hand() -> None:
    judged = {"1": {"x": 2.0, "y": 1.0}, "2": {"y": 2.0, "z": -2.0}}
    case = SubtopicCase({"x": 3.0, "z": 2.0, "y": 1.0}, judged)
    assert value(of("D#-nDCG@1"), case) == (1 / 2 + 2 / 3) / 2
    assert value(of("Dsharp_nDCG(gamma=1)@1"), case) == value(of("I-rec@1"), case) == 1 / 2
    assert value(of("Dsharp_nDCG(gamma=0)@1"), case) == value(of("D-nDCG@1"), case) == 2 / 3


EVERY_MEASURE = tuple(
    """
        StRecall P_IA@5 AP_IA ERR_IA@5 nERR_IA alpha_DCG@5 alpha_nDCG NRBP nNRBP D_nDCG Dsharp_nDCG
    """.split()
)


@pytest.mark.parametrize("text", EVERY_MEASURE)
def test_it_is_undefined_where_no_document_covers_a_subtopic(text: str) -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of(text), case))
    assert value(of(text), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


@pytest.mark.parametrize("text", EVERY_MEASURE)
def test_without_subtopics_it_asks_for_them(text: str) -> None:
    name = text.partition("@")[0]
    with pytest.raises(UsageError, match=rf"{name}.* needs judgments by subtopic. Use subtopics=True"):
        ll.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, text)
    with pytest.raises(UsageError, match=rf"{name}.* cannot be computed from grades alone"):
        of(text).of([1, 0])


@pytest.mark.parametrize(
    "text",
    """
            StRecall@0 StRecall(alpha=1) P_IA@0 P_IA(rel=-1) AP_IA@5 AP_IA(rel=-1) ERR_IA ERR_IA@0
            ERR_IA(alpha=1)@5 nERR_IA@0 nERR_IA(alpha=1) alpha_DCG alpha_DCG(alpha=2)@5
            alpha_DCG(alpha=-0.1)@5 alpha_nDCG@0 alpha_nDCG(alpha=2)@5 alpha_nDCG(beta=1) NRBP@5
            NRBP(beta=0) NRBP(beta=1) NRBP(alpha=2) nNRBP@5 nNRBP(beta=0) nNRBP(beta=1) nNRBP(alpha=2)
            D_nDCG@0 D_nDCG(rel=1) Dsharp_nDCG@0 Dsharp_nDCG(gamma=2)
        """.split(),
)
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"must be|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("text", "theirs"),
    [
        ("StRecall@1", "strec"),
        ("StRecall@5", "strec"),
        ("StRecall@20", "strec"),
        ("P_IA@1", "P-IA"),
        ("P_IA@5", "P-IA"),
        ("P_IA@20", "P-IA"),
        ("AP_IA", "MAP-IA"),
        ("ERR_IA@2", "ERR-IA"),
        ("ERR_IA@5", "ERR-IA"),
        ("ERR_IA@20", "ERR-IA"),
        ("nERR_IA@1", "nERR-IA"),
        ("nERR_IA@5", "nERR-IA"),
        ("nERR_IA@20", "nERR-IA"),
        ("alpha_DCG@2", "alpha-DCG"),
        ("alpha_DCG@5", "alpha-DCG"),
        ("alpha_DCG@20", "alpha-DCG"),
        ("alpha_DCG(alpha=0.25)@10", "alpha-DCG"),
        ("alpha_nDCG@1", "alpha-nDCG"),
        ("alpha_nDCG@5", "alpha-nDCG"),
        ("alpha_nDCG@20", "alpha-nDCG"),
        ("alpha_nDCG(alpha=0.25)@10", "alpha-nDCG"),
        ("NRBP", "NRBP"),
        ("NRBP(alpha=0.25,beta=0.75)", "NRBP"),
        ("nNRBP", "nNRBP"),
        ("nNRBP(alpha=0.25,beta=0.75)", "nNRBP"),
    ],
)
def test_it_equals_ndeval(seed: int, text: str, theirs: str) -> None:
    same_as_ndeval(seed, text, theirs)
