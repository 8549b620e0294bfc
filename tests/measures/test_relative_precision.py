"""Relative precision."""

from __future__ import annotations

from agreement import agree, undefined
from leadline.measures import CUTOFFS, MEASURES
from oracles import Case, count_found, count_relevant, divide

of = MEASURES.parse


def oracle(case: Case, *, rel: float, cutoff: int) -> float:
    """Follow the definition: precision at k over the best precision at k."""
    return divide(count_found(case, rel, cutoff), min(cutoff, count_relevant(case, rel)))


def test_it_agrees_with_its_slow_twin() -> None:
    agree("RelP@1", "RelP@3", "RelP(rel=2)@5")


def test_it_is_precision_above_r_and_recall_below() -> None:
    grades, judged = [1, 0, 1, 0], [1, 1, 1, 0, 0]
    assert of("RelP@2").of(grades, judged) == of("P@2").of(grades, judged) == 1 / 2
    assert of("RelP@4").of(grades, judged) == of("R@4").of(grades, judged) == 2 / 3


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("RelP@5").of([0]))


def test_the_spelling_of_trec_eval_alone_means_its_nine_cutoffs() -> None:
    assert [measure.cutoff for measure in MEASURES.expand("relative_P")] == list(CUTOFFS)  # type: ignore[attr-defined]
