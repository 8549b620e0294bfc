"""Measures of the subtopics that a list covers."""

from __future__ import annotations

import math

import pytest

from leadline.errors import UsageError
from leadline.measures import MEASURES
from subtopic_cases import SubtopicCase, join, ndeval, of_list, same_as_ndeval, value

of = MEASURES.parse


def test_by_hand() -> None:
    assert of_list("StRecall@1", ["ab", "c"], others=["d", "a"]) == 1 / 2
    assert of_list("StRecall", ["ab", "c"], others=["d", "a"]) == 3 / 4
    assert of_list("StRecall", [], others=["a"]) == 0


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("StRecall"), case))
    assert value(of("StRecall"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"StRecall.* needs judgments by subtopic: --subtopics"):
        of("StRecall").of([1, 0])


@pytest.mark.parametrize("text", ["StRecall@0", "StRecall(alpha=1)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["StRecall@1", "StRecall@5", "StRecall@20"])
def test_it_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "strec")


def test_p_ia_by_hand() -> None:
    assert of_list("P_IA@2", ["ab", "c", "a"]) == (1 / 2 + 1 / 2 + 1 / 2) / 3
    assert of_list("P_IA@5", ["a"]) == 1 / 5
    assert of_list("P_IA", ["a", "ab", "b"]) == pytest.approx(2 / 3)


def test_p_ia_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("P_IA@5"), case))
    assert value(of("P_IA@5"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_p_ia_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"P_IA.* needs judgments by subtopic: --subtopics"):
        of("P_IA@5").of([1, 0])


@pytest.mark.parametrize("text", ["P_IA@0", "P_IA(rel=-1)"])
def test_p_ia_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["P_IA@1", "P_IA@5", "P_IA@20"])
def test_p_ia_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "P-IA")


def test_ap_ia_by_hand() -> None:
    assert of_list("AP_IA", ["a", "ab", "b"]) == pytest.approx((1 + (1 / 2 + 2 / 3) / 2) / 2)
    assert of_list("AP_IA", ["a", "ab"]) == 3 / 4
    assert of_list("AP_IA", ["a"], others=["ab"]) == 1 / 4


def test_ap_ia_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("AP_IA"), case))
    assert value(of("AP_IA"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_ap_ia_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"AP_IA.* needs judgments by subtopic: --subtopics"):
        of("AP_IA").of([1, 0])


@pytest.mark.parametrize("text", ["AP_IA@5", "AP_IA(rel=-1)"])
def test_ap_ia_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["AP_IA"])
def test_ap_ia_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "MAP-IA")


def test_err_ia_by_hand() -> None:
    assert of_list("ERR_IA@1", ["a", "b"]) == 1 / 2
    assert of_list("ERR_IA@2", ["a", "b"]) == (1 + 1 / 2) / (2 + 1 / 2)
    assert of_list("ERR_IA@2", ["ab", "ab"]) == 1


def test_err_ia_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("ERR_IA@5"), case))
    assert value(of("ERR_IA@5"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_err_ia_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"ERR_IA.* needs judgments by subtopic: --subtopics"):
        of("ERR_IA@5").of([1, 0])


@pytest.mark.parametrize("text", ["ERR_IA", "ERR_IA@0", "ERR_IA(alpha=1)@5"])
def test_err_ia_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["ERR_IA@2", "ERR_IA@5", "ERR_IA@20"])
def test_err_ia_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "ERR-IA")


def test_ndeval_forgets_to_divide_at_rank_1() -> None:
    assert ndeval("ERR-IA@1", {"a": ["1", "2"], "b": ["3"]}, ["a", "b"]) == 2.0
    assert of_list("ERR_IA@1", ["ab", "c"]) == 2 / 3


def test_nerr_ia_by_hand() -> None:
    assert of_list("nERR_IA@1", ["c", "ab"]) == 1 / 2
    assert of_list("nERR_IA", ["c", "ab"]) == (1 + 2 / 2) / (2 + 1 / 2)
    assert of_list("nERR_IA", ["ab", "c"]) == 1


def test_nerr_ia_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("nERR_IA"), case))
    assert value(of("nERR_IA"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_nerr_ia_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"nERR_IA.* needs judgments by subtopic: --subtopics"):
        of("nERR_IA").of([1, 0])


@pytest.mark.parametrize("text", ["nERR_IA@0", "nERR_IA(alpha=1)"])
def test_nerr_ia_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["nERR_IA@1", "nERR_IA@5", "nERR_IA@20"])
def test_nerr_ia_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "nERR-IA")


def test_alpha_dcg_by_hand() -> None:
    third = 1 / math.log2(3)
    assert of_list("alpha_DCG@1", ["a", "b"]) == 1 / 2
    assert of_list("alpha_DCG@2", ["a", "b"]) == pytest.approx((1 + third) / (2 + third))
    assert of_list("alpha_DCG@2", ["ab", "ab"]) == 1


def test_alpha_dcg_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("alpha_DCG@5"), case))
    assert value(of("alpha_DCG@5"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_alpha_dcg_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"alpha_DCG.* needs judgments by subtopic: --subtopics"):
        of("alpha_DCG@5").of([1, 0])


@pytest.mark.parametrize("text", ["alpha_DCG", "alpha_DCG(alpha=2)@5", "alpha_DCG(alpha=-0.1)@5"])
def test_alpha_dcg_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["alpha_DCG@2", "alpha_DCG@5", "alpha_DCG@20", "alpha_DCG(alpha=0.25)@10"])
def test_alpha_dcg_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "alpha-DCG")


def test_alpha_dcg_ndeval_forgets_to_divide_at_rank_1() -> None:
    assert ndeval("alpha-DCG@1", {"a": ["1", "2"], "b": ["3"]}, ["a", "b"]) == 2.0
    assert of_list("alpha_DCG@1", ["ab", "c"]) == 2 / 3


def test_alpha_ndcg_by_hand() -> None:
    third = 1 / math.log2(3)
    ideal = 2 + third  # ab, then c
    assert of_list("alpha_nDCG@2", ["c", "ab", "a"]) == pytest.approx((1 + 2 * third) / ideal)
    assert of_list("alpha_nDCG@2", ["ab", "c", "a"]) == 1
    assert of_list("alpha_nDCG@1", ["c", "ab", "a"]) == 1 / 2


def test_alpha_ndcg_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("alpha_nDCG"), case))
    assert value(of("alpha_nDCG"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_alpha_ndcg_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"alpha_nDCG.* needs judgments by subtopic: --subtopics"):
        of("alpha_nDCG").of([1, 0])


@pytest.mark.parametrize("text", ["alpha_nDCG@0", "alpha_nDCG(alpha=2)@5", "alpha_nDCG(beta=1)"])
def test_alpha_ndcg_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "text", ["alpha_nDCG@1", "alpha_nDCG@5", "alpha_nDCG@20", "alpha_nDCG(alpha=0.25)@10"]
)
def test_alpha_ndcg_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "alpha-nDCG")


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


def test_nrbp_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("NRBP"), case))
    assert value(of("NRBP"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_nrbp_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"NRBP.* needs judgments by subtopic: --subtopics"):
        of("NRBP").of([1, 0])


@pytest.mark.parametrize("text", ["NRBP@5", "NRBP(beta=0)", "NRBP(beta=1)", "NRBP(alpha=2)"])
def test_nrbp_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["NRBP", "NRBP(alpha=0.25,beta=0.75)"])
def test_nrbp_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "NRBP")


def test_nnrbp_by_hand() -> None:
    assert of_list("nNRBP", ["c", "ab"]) == (1 + 2 / 2) / (2 + 1 / 2)
    assert of_list("nNRBP", ["ab", "c"]) == 1


def test_nnrbp_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("nNRBP"), case))
    assert value(of("nNRBP"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_nnrbp_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"nNRBP.* needs judgments by subtopic: --subtopics"):
        of("nNRBP").of([1, 0])


@pytest.mark.parametrize("text", ["nNRBP@5", "nNRBP(beta=0)", "nNRBP(beta=1)", "nNRBP(alpha=2)"])
def test_nnrbp_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["nNRBP", "nNRBP(alpha=0.25,beta=0.75)"])
def test_nnrbp_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "nNRBP")


def test_d_ndcg_by_hand() -> None:
    judged = {"1": {"x": 2.0, "y": 1.0}, "2": {"y": 2.0, "z": -2.0}}
    third = 1 / math.log2(3)
    case = SubtopicCase({"x": 3.0, "z": 2.0, "y": 1.0}, judged)
    assert value(of("D_nDCG"), case) == pytest.approx((2 + 3 / 2) / (3 + 2 * third))
    assert value(of("D_nDCG@1"), case) == 2 / 3


def test_d_ndcg_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("D_nDCG"), case))
    assert value(of("D_nDCG"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_d_ndcg_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"D_nDCG.* needs judgments by subtopic: --subtopics"):
        of("D_nDCG").of([1, 0])


@pytest.mark.parametrize("text", ["D_nDCG@0", "D_nDCG(rel=1)"])
def test_d_ndcg_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


def test_d_sharp_ndcg_by_hand() -> None:
    judged = {"1": {"x": 2.0, "y": 1.0}, "2": {"y": 2.0, "z": -2.0}}
    case = SubtopicCase({"x": 3.0, "z": 2.0, "y": 1.0}, judged)
    assert value(of("D#-nDCG@1"), case) == (1 / 2 + 2 / 3) / 2
    assert value(of("Dsharp_nDCG(gamma=1)@1"), case) == value(of("I-rec@1"), case) == 1 / 2
    assert value(of("Dsharp_nDCG(gamma=0)@1"), case) == value(of("D-nDCG@1"), case) == 2 / 3


def test_d_sharp_ndcg_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("Dsharp_nDCG"), case))
    assert value(of("Dsharp_nDCG"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_d_sharp_ndcg_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"Dsharp_nDCG.* needs judgments by subtopic: --subtopics"):
        of("Dsharp_nDCG").of([1, 0])


@pytest.mark.parametrize("text", ["Dsharp_nDCG@0", "Dsharp_nDCG(gamma=2)"])
def test_d_sharp_ndcg_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)
