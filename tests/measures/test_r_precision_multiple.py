"""Precision at a multiple of the number of relevant documents."""

from __future__ import annotations

from agreement import agree, undefined
from leadline.measures import MEASURES
from oracles import Case, count_found, count_relevant, divide

of = MEASURES.parse


def oracle(case: Case, *, rel: float, multiple: float) -> float:
    """Follow the definition: precision at a cutoff of its own for every query."""
    cutoff = int(multiple * count_relevant(case, rel) + 0.9)
    return divide(count_found(case, rel, cutoff), cutoff)


def test_it_agrees_with_its_slow_twin() -> None:
    agree("RprecMult@0", "RprecMult@0.2", "RprecMult@1", "RprecMult(rel=2)@1.6")


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
        "RprecMult@0.2", "RprecMult@0.8", "RprecMult@1.4", "RprecMult@2",
    ]  # fmt: skip
