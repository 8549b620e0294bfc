"""How much of the head of a list was not judged."""

from __future__ import annotations

from agreement import agree
from leadline.measures import MEASURES
from oracles import Case, cut

of = MEASURES.parse


def oracle(case: Case, *, cutoff: int) -> float:
    """Count, and divide by the cutoff."""
    return sum(case.grades.get(document, -1) < 0 for document in cut(case, cutoff)) / cutoff


def test_it_agrees_with_its_slow_twin() -> None:
    agree("Unj@1", "Unj@3", "Unj@10")


def test_a_negative_grade_is_no_judgment() -> None:
    assert of("unj_4").of([1, None, -1, 0]) == 2 / 4


def test_ranks_below_the_end_of_the_list_are_not_unjudged() -> None:
    assert of("Unj@20").of([None, None, 1]) == 2 / 20
    assert of("Unj@5").of([], judged=[1]) == 0


def test_the_spelling_of_trec_eval_alone_means_three_cutoffs() -> None:
    assert list(map(str, MEASURES.expand("unj"))) == ["Unj@5", "Unj@10", "Unj@20"]
