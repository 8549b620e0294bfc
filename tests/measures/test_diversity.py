"""Measures of the subtopics that a list covers."""

from __future__ import annotations

import math

import pytest

from leadline.errors import UsageError
from leadline.measures import MEASURES
from oracles import Case
from subtopic_cases import (
    Pairs,
    SubtopicCase,
    agree,
    by_subtopic,
    join,
    ndeval,
    novel,
    of_list,
    same_as_ndeval,
    value,
)

of = MEASURES.parse


def oracle_subtopic_recall(case: Case | SubtopicCase, *, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    return len(set().union(*case.found(rel, cutoff))) / size if size else math.nan


def test_it_equals_its_oracle() -> None:
    agree(oracle_subtopic_recall, "StRecall", "StRecall@2", "StRecall(rel=2)", "StRecall(rel=0)@1")


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


p_ia_of = MEASURES.parse


def oracle_p_ia(case: Case | SubtopicCase, *, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)
    found = sum(map(len, case.found(rel, cutoff)))
    size = case.size(rel) * (cutoff or len(case.scores))
    return found / size if size else math.nan


def test_p_ia_equals_its_oracle() -> None:
    agree(oracle_p_ia, "P_IA", "P_IA@2", "P_IA(rel=2)@3")


def test_p_ia_by_hand() -> None:
    assert of_list("P_IA@2", ["ab", "c", "a"]) == (1 / 2 + 1 / 2 + 1 / 2) / 3
    assert of_list("P_IA@5", ["a"]) == 1 / 5
    assert of_list("P_IA", ["a", "ab", "b"]) == pytest.approx(2 / 3)


def test_p_ia_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(p_ia_of("P_IA@5"), case))
    assert value(p_ia_of("P_IA@5"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_p_ia_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"P_IA.* needs judgments by subtopic: --subtopics"):
        p_ia_of("P_IA@5").of([1, 0])


@pytest.mark.parametrize("text", ["P_IA@0", "P_IA(rel=-1)"])
def test_p_ia_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        p_ia_of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["P_IA@1", "P_IA@5", "P_IA@20"])
def test_p_ia_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "P-IA")


ap_ia_of = MEASURES.parse


def oracle_ap_ia(case: Case | SubtopicCase, *, rel: float) -> float:
    case = by_subtopic(case)
    judged = [case.covers(name, rel) for name in case.judged]
    topics, found = set().union(*judged), case.found(rel, None)
    total = 0.0
    for topic in topics:
        ranks = [rank for rank, covers in enumerate(found, start=1) if topic in covers]
        size = sum(topic in covers for covers in judged)
        total += sum(nth / rank for nth, rank in enumerate(ranks, start=1)) / size
    return total / len(topics) if topics else math.nan


def test_ap_ia_equals_its_oracle() -> None:
    agree(oracle_ap_ia, "AP_IA", "AP_IA(rel=2)")


def test_ap_ia_by_hand() -> None:
    assert of_list("AP_IA", ["a", "ab", "b"]) == pytest.approx((1 + (1 / 2 + 2 / 3) / 2) / 2)
    assert of_list("AP_IA", ["a", "ab"]) == 3 / 4
    assert of_list("AP_IA", ["a"], others=["ab"]) == 1 / 4


def test_ap_ia_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(ap_ia_of("AP_IA"), case))
    assert value(ap_ia_of("AP_IA"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_ap_ia_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"AP_IA.* needs judgments by subtopic: --subtopics"):
        ap_ia_of("AP_IA").of([1, 0])


@pytest.mark.parametrize("text", ["AP_IA@5", "AP_IA(rel=-1)"])
def test_ap_ia_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        ap_ia_of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["AP_IA"])
def test_ap_ia_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "MAP-IA")


err_ia_of = MEASURES.parse


def oracle_err_ia(case: Case | SubtopicCase, *, rel: float, cutoff: int) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    best = sum(size * 0.5 ** (rank - 1) / rank for rank in range(1, cutoff + 1))
    found = novel(case.found(rel, cutoff), 0.5, lambda rank: 1 / rank)
    return found / best if size else math.nan


def test_err_ia_equals_its_oracle() -> None:
    agree(oracle_err_ia, "ERR_IA@1", "ERR_IA@3", "ERR_IA(rel=2)@10")


def test_err_ia_by_hand() -> None:
    assert of_list("ERR_IA@1", ["a", "b"]) == 1 / 2
    assert of_list("ERR_IA@2", ["a", "b"]) == (1 + 1 / 2) / (2 + 1 / 2)
    assert of_list("ERR_IA@2", ["ab", "ab"]) == 1


def test_err_ia_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(err_ia_of("ERR_IA@5"), case))
    assert value(err_ia_of("ERR_IA@5"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_err_ia_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"ERR_IA.* needs judgments by subtopic: --subtopics"):
        err_ia_of("ERR_IA@5").of([1, 0])


@pytest.mark.parametrize("text", ["ERR_IA", "ERR_IA@0", "ERR_IA(alpha=1)@5"])
def test_err_ia_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        err_ia_of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["ERR_IA@2", "ERR_IA@5", "ERR_IA@20"])
def test_err_ia_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "ERR-IA")


def test_ndeval_forgets_to_divide_at_rank_1() -> None:
    assert ndeval("ERR-IA@1", {"a": ["1", "2"], "b": ["3"]}, ["a", "b"]) == 2.0
    assert of_list("ERR_IA@1", ["ab", "c"]) == 2 / 3


nerr_ia_of = MEASURES.parse


def oracle_nerr_ia(case: Case | SubtopicCase, *, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)
    best = novel(case.ideal(rel, 0.5, cutoff), 0.5, lambda rank: 1 / rank)
    found = novel(case.found(rel, cutoff), 0.5, lambda rank: 1 / rank)
    return found / best if best else math.nan


def test_nerr_ia_equals_its_oracle() -> None:
    agree(oracle_nerr_ia, "nERR_IA", "nERR_IA@1", "nERR_IA@3", "nERR_IA(rel=2)@10")


def test_nerr_ia_by_hand() -> None:
    assert of_list("nERR_IA@1", ["c", "ab"]) == 1 / 2
    assert of_list("nERR_IA", ["c", "ab"]) == (1 + 2 / 2) / (2 + 1 / 2)
    assert of_list("nERR_IA", ["ab", "c"]) == 1


def test_nerr_ia_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(nerr_ia_of("nERR_IA"), case))
    assert value(nerr_ia_of("nERR_IA"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_nerr_ia_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"nERR_IA.* needs judgments by subtopic: --subtopics"):
        nerr_ia_of("nERR_IA").of([1, 0])


@pytest.mark.parametrize("text", ["nERR_IA@0", "nERR_IA(alpha=1)"])
def test_nerr_ia_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        nerr_ia_of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["nERR_IA@1", "nERR_IA@5", "nERR_IA@20"])
def test_nerr_ia_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "nERR-IA")


alpha_dcg_of = MEASURES.parse


def oracle_alpha_dcg(case: Case | SubtopicCase, *, alpha: float, rel: float, cutoff: int) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    best = sum(size * (1 - alpha) ** (r - 1) / math.log2(r + 1) for r in range(1, cutoff + 1))
    found = novel(case.found(rel, cutoff), alpha, lambda rank: 1 / math.log2(rank + 1))
    return found / best if size else math.nan


def test_alpha_dcg_equals_its_oracle() -> None:
    agree(
        oracle_alpha_dcg,
        "alpha_DCG@1",
        "alpha_DCG@3",
        "alpha_DCG(alpha=0)@3",
        "alpha_DCG(alpha=1)@4",
        "alpha_DCG(alpha=0.3,rel=2)@10",
    )


def test_alpha_dcg_by_hand() -> None:
    third = 1 / math.log2(3)
    assert of_list("alpha_DCG@1", ["a", "b"]) == 1 / 2
    assert of_list("alpha_DCG@2", ["a", "b"]) == pytest.approx((1 + third) / (2 + third))
    assert of_list("alpha_DCG@2", ["ab", "ab"]) == 1


def test_alpha_dcg_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(alpha_dcg_of("alpha_DCG@5"), case))
    assert value(alpha_dcg_of("alpha_DCG@5"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_alpha_dcg_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"alpha_DCG.* needs judgments by subtopic: --subtopics"):
        alpha_dcg_of("alpha_DCG@5").of([1, 0])


@pytest.mark.parametrize("text", ["alpha_DCG", "alpha_DCG(alpha=2)@5", "alpha_DCG(alpha=-0.1)@5"])
def test_alpha_dcg_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        alpha_dcg_of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["alpha_DCG@2", "alpha_DCG@5", "alpha_DCG@20", "alpha_DCG(alpha=0.25)@10"])
def test_alpha_dcg_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "alpha-DCG")


def test_alpha_dcg_ndeval_forgets_to_divide_at_rank_1() -> None:
    assert ndeval("alpha-DCG@1", {"a": ["1", "2"], "b": ["3"]}, ["a", "b"]) == 2.0
    assert of_list("alpha_DCG@1", ["ab", "c"]) == 2 / 3


alpha_ndcg_of = MEASURES.parse


def oracle_alpha_ndcg(case: Case | SubtopicCase, *, alpha: float, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)

    def added(found: Pairs) -> float:
        return novel(found, alpha, lambda rank: 1 / math.log2(rank + 1))

    best = added(case.ideal(rel, alpha, cutoff))
    return added(case.found(rel, cutoff)) / best if best else math.nan


def test_alpha_ndcg_equals_its_oracle() -> None:
    agree(
        oracle_alpha_ndcg,
        "alpha_nDCG",
        "alpha_nDCG@1",
        "alpha_nDCG@3",
        "alpha_nDCG(alpha=0)@3",
        "alpha_nDCG(alpha=1)",
        "alpha_nDCG(alpha=0.3,rel=2)@10",
    )


def test_alpha_ndcg_by_hand() -> None:
    third = 1 / math.log2(3)
    ideal = 2 + third  # ab, then c
    assert of_list("alpha_nDCG@2", ["c", "ab", "a"]) == pytest.approx((1 + 2 * third) / ideal)
    assert of_list("alpha_nDCG@2", ["ab", "c", "a"]) == 1
    assert of_list("alpha_nDCG@1", ["c", "ab", "a"]) == 1 / 2


def test_alpha_ndcg_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(alpha_ndcg_of("alpha_nDCG"), case))
    assert value(alpha_ndcg_of("alpha_nDCG"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_alpha_ndcg_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"alpha_nDCG.* needs judgments by subtopic: --subtopics"):
        alpha_ndcg_of("alpha_nDCG").of([1, 0])


@pytest.mark.parametrize("text", ["alpha_nDCG@0", "alpha_nDCG(alpha=2)@5", "alpha_nDCG(beta=1)"])
def test_alpha_ndcg_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        alpha_ndcg_of(text)


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
    assert value(alpha_ndcg_of("P@3"), copies) == 1
    assert value(alpha_ndcg_of("alpha_nDCG@3"), copies) < 0.7
    assert value(alpha_ndcg_of("alpha_nDCG@3"), mixed) == 1


def test_the_greedy_order_is_not_always_the_best_so_that_a_list_may_pass_1() -> None:
    third = 1 / math.log2(3)  # greedy begins with abcef, to which the others add less
    found = of_list("alpha_nDCG(alpha=1)@2", ["abcd", "efgh"], others=["abcef"])
    assert found == pytest.approx((4 + 4 * third) / (5 + 2 * third))
    assert found > 1


def test_the_ideal_is_made_once_for_all_runs() -> None:
    judged = join({"q": SubtopicCase({"a": 1.0}, {"s": {"a": 1.0, "b": 1.0}})})
    assert judged.qrels.subtopics is not None
    alpha_ndcg_of("alpha_nDCG@5").values(judged)
    kept = judged.qrels.subtopics.ideals[1.0, 0.5]
    alpha_ndcg_of("nNRBP").values(judged)
    alpha_ndcg_of("alpha_nDCG").values(judged)
    assert judged.qrels.subtopics.ideals == {(1.0, 0.5): kept}


nrbp_of = MEASURES.parse


def oracle_nrbp(case: Case | SubtopicCase, *, alpha: float, beta: float, rel: float) -> float:
    case = by_subtopic(case)
    size = case.size(rel)
    found = novel(case.found(rel, None), alpha, lambda rank: beta ** (rank - 1))
    return found * (1 - (1 - alpha) * beta) / size if size else math.nan


def test_nrbp_equals_its_oracle() -> None:
    agree(oracle_nrbp, "NRBP", "NRBP(alpha=0,beta=0.8)", "NRBP(alpha=1)", "NRBP(alpha=0.3,rel=2)")


def test_nrbp_by_hand() -> None:
    assert of_list("NRBP", ["a", "b"]) == 3 / 4 / 2 * (1 + 1 / 2)
    assert of_list("NRBP(alpha=1)", ["ab"]) == 1


def test_nrbp_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(nrbp_of("NRBP"), case))
    assert value(nrbp_of("NRBP"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_nrbp_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"NRBP.* needs judgments by subtopic: --subtopics"):
        nrbp_of("NRBP").of([1, 0])


@pytest.mark.parametrize("text", ["NRBP@5", "NRBP(beta=0)", "NRBP(beta=1)", "NRBP(alpha=2)"])
def test_nrbp_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        nrbp_of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["NRBP", "NRBP(alpha=0.25,beta=0.75)"])
def test_nrbp_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "NRBP")


nnrbp_of = MEASURES.parse


def oracle_nnrbp(case: Case | SubtopicCase, *, alpha: float, beta: float, rel: float) -> float:
    case = by_subtopic(case)

    def added(found: Pairs) -> float:
        return novel(found, alpha, lambda rank: beta ** (rank - 1))

    best = added(case.ideal(rel, alpha, None))
    return added(case.found(rel, None)) / best if best else math.nan


def test_nnrbp_equals_its_oracle() -> None:
    agree(oracle_nnrbp, "nNRBP", "nNRBP(alpha=0,beta=0.8)", "nNRBP(alpha=1)", "nNRBP(alpha=0.3,rel=2)")


def test_nnrbp_by_hand() -> None:
    assert of_list("nNRBP", ["c", "ab"]) == (1 + 2 / 2) / (2 + 1 / 2)
    assert of_list("nNRBP", ["ab", "c"]) == 1


def test_nnrbp_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(nnrbp_of("nNRBP"), case))
    assert value(nnrbp_of("nNRBP"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_nnrbp_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"nNRBP.* needs judgments by subtopic: --subtopics"):
        nnrbp_of("nNRBP").of([1, 0])


@pytest.mark.parametrize("text", ["nNRBP@5", "nNRBP(beta=0)", "nNRBP(beta=1)", "nNRBP(alpha=2)"])
def test_nnrbp_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        nnrbp_of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("text", ["nNRBP", "nNRBP(alpha=0.25,beta=0.75)"])
def test_nnrbp_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "nNRBP")


d_ndcg_of = MEASURES.parse


def oracle_d_ndcg(case: Case | SubtopicCase, *, cutoff: int | None) -> float:
    case = by_subtopic(case)

    def gain(name: str) -> float:
        return sum(max(grades.get(name, 0), 0) for grades in case.grades.values())

    def added(names: list[str]) -> float:
        return sum(gain(name) / math.log2(rank + 1) for rank, name in enumerate(names, start=1))

    best = added(sorted(case.judged, key=gain, reverse=True)[:cutoff])
    return added(case.ranked[:cutoff]) / best if best else math.nan


def test_d_ndcg_equals_its_oracle() -> None:
    agree(oracle_d_ndcg, "D_nDCG", "D_nDCG@1", "D_nDCG@3")


def test_d_ndcg_by_hand() -> None:
    judged = {"1": {"x": 2.0, "y": 1.0}, "2": {"y": 2.0, "z": -2.0}}
    third = 1 / math.log2(3)
    case = SubtopicCase({"x": 3.0, "z": 2.0, "y": 1.0}, judged)
    assert value(d_ndcg_of("D_nDCG"), case) == pytest.approx((2 + 3 / 2) / (3 + 2 * third))
    assert value(d_ndcg_of("D_nDCG@1"), case) == 2 / 3


def test_d_ndcg_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(d_ndcg_of("D_nDCG"), case))
    assert value(d_ndcg_of("D_nDCG"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_d_ndcg_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"D_nDCG.* needs judgments by subtopic: --subtopics"):
        d_ndcg_of("D_nDCG").of([1, 0])


@pytest.mark.parametrize("text", ["D_nDCG@0", "D_nDCG(rel=1)"])
def test_d_ndcg_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        d_ndcg_of(text)


d_sharp_ndcg_of = MEASURES.parse


def oracle_d_sharp_ndcg(case: Case | SubtopicCase, *, gamma: float, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)

    def gain(name: str) -> float:
        return sum(max(grades.get(name, 0), 0) for grades in case.grades.values())

    def added(names: list[str]) -> float:
        return sum(gain(name) / math.log2(rank + 1) for rank, name in enumerate(names, start=1))

    best, size = added(sorted(case.judged, key=gain, reverse=True)[:cutoff]), case.size(rel)
    if not best or not size:
        return math.nan
    recall = len(set().union(*case.found(rel, cutoff))) / size
    return gamma * recall + (1 - gamma) * added(case.ranked[:cutoff]) / best


def test_d_sharp_ndcg_equals_its_oracle() -> None:
    agree(
        oracle_d_sharp_ndcg, "Dsharp_nDCG", "Dsharp_nDCG@1", "Dsharp_nDCG(gamma=0.2)@3", "Dsharp_nDCG(rel=2)"
    )


def test_d_sharp_ndcg_by_hand() -> None:
    judged = {"1": {"x": 2.0, "y": 1.0}, "2": {"y": 2.0, "z": -2.0}}
    case = SubtopicCase({"x": 3.0, "z": 2.0, "y": 1.0}, judged)
    assert value(d_sharp_ndcg_of("D#-nDCG@1"), case) == (1 / 2 + 2 / 3) / 2
    assert (
        value(d_sharp_ndcg_of("Dsharp_nDCG(gamma=1)@1"), case)
        == value(d_sharp_ndcg_of("I-rec@1"), case)
        == 1 / 2
    )
    assert (
        value(d_sharp_ndcg_of("Dsharp_nDCG(gamma=0)@1"), case)
        == value(d_sharp_ndcg_of("D-nDCG@1"), case)
        == 2 / 3
    )


def test_d_sharp_ndcg_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(d_sharp_ndcg_of("Dsharp_nDCG"), case))
    assert value(d_sharp_ndcg_of("Dsharp_nDCG"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_d_sharp_ndcg_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"Dsharp_nDCG.* needs judgments by subtopic: --subtopics"):
        d_sharp_ndcg_of("Dsharp_nDCG").of([1, 0])


@pytest.mark.parametrize("text", ["Dsharp_nDCG@0", "Dsharp_nDCG(gamma=2)"])
def test_d_sharp_ndcg_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        d_sharp_ndcg_of(text)
