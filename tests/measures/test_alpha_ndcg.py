"""nDCG that values novelty."""

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
    novel,
    of_list,
    same_as_ndeval,
    value,
)

of = MEASURES.parse


def oracle(case: Case | SubtopicCase, *, alpha: float, rel: float, cutoff: int | None) -> float:
    case = by_subtopic(case)

    def added(found: Pairs) -> float:
        return novel(found, alpha, lambda rank: 1 / math.log2(rank + 1))

    best = added(case.ideal(rel, alpha, cutoff))
    return added(case.found(rel, cutoff)) / best if best else math.nan


def test_it_equals_its_oracle() -> None:
    agree(
        oracle,
        "alpha_nDCG",
        "alpha_nDCG@1",
        "alpha_nDCG@3",
        "alpha_nDCG(alpha=0)@3",
        "alpha_nDCG(alpha=1)",
        "alpha_nDCG(alpha=0.3,rel=2)@10",
    )


def test_by_hand() -> None:
    third = 1 / math.log2(3)
    ideal = 2 + third  # ab, then c
    assert of_list("alpha_nDCG@2", ["c", "ab", "a"]) == pytest.approx((1 + 2 * third) / ideal)
    assert of_list("alpha_nDCG@2", ["ab", "c", "a"]) == 1
    assert of_list("alpha_nDCG@1", ["c", "ab", "a"]) == 1 / 2


def test_it_is_undefined_where_no_document_covers_a_subtopic() -> None:
    case = SubtopicCase({"a": 1.0}, {"s": {"a": 0.0, "b": -1.0}})
    assert math.isnan(value(of("alpha_nDCG"), case))
    assert value(of("alpha_nDCG"), case._replace(grades={"s": {"a": 0.0, "b": 1.0}})) == 0.0


def test_without_subtopics_it_asks_for_them() -> None:
    with pytest.raises(UsageError, match=r"alpha_nDCG.* needs judgments by subtopic: --subtopics"):
        of("alpha_nDCG").of([1, 0])


@pytest.mark.parametrize("text", ["alpha_nDCG@0", "alpha_nDCG(alpha=2)@5", "alpha_nDCG(beta=1)"])
def test_bad_parameters_are_refused_when_parsed(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|cutoff|has no parameter"):
        of(text)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    "text", ["alpha_nDCG@1", "alpha_nDCG@5", "alpha_nDCG@20", "alpha_nDCG(alpha=0.25)@10"]
)
def test_it_equals_ndeval(seed: int, text: str) -> None:
    same_as_ndeval(seed, text, "alpha-nDCG")


def test_near_duplicates_are_precise_and_not_diverse() -> None:
    judged = {
        "1": {f"copy{place}": 1.0 for place in range(5)},
        "2": {"other": 1.0},
        "3": {"third": 1.0},
    }
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
