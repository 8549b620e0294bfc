"""Bounds over ties, against all orders of small lists."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from case_values import join
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Cut
from leadline.evaluation.bounds import RULES, bounds_of
from leadline.io.objects import read_qrels, read_run
from leadline.measures import MEASURES, Measure
from oracles import Case
from small_lists import all_orders, forms, random_cases

claimed = pytest.mark.parametrize("name", sorted(RULES))


def tie_bounds(measure: Measure, judged: JudgedRun) -> tuple[float, float, float]:
    """Return the three bounds of the only query."""
    low, high, expected = bounds_of([measure], judged).limits[0, 0, :3].tolist()
    return low, high, expected


def is_expectation(measure: Measure) -> bool:
    """Say whether a measure is a mean over all orders by its definition."""
    return getattr(measure, "form", "") == "search"


@cache
def lists_and_all_their_orders() -> list[tuple[Case, JudgedRun, JudgedRun]]:
    """Return lists with ties, each joined as it is and in every order of its ties."""
    return [(case, join({"q": case}), join(all_orders(case))) for case in random_cases(1, 40)]


@claimed
def test_they_are_those_of_all_orders(name: str) -> None:
    for case, judged, orders in lists_and_all_their_orders():
        for measure in forms(name):
            values = measure.values(orders)
            found = bounds_of([measure], judged)
            wanted = np.array([values.min(), values.max(), values.mean()])
            if is_expectation(measure):
                wanted[:] = values.mean()
            known = [True, True, found.available[0, 2]]
            limits = found.limits[0, 0, :3]
            assert np.allclose(limits[known], wanted[known], rtol=1e-12, atol=1e-12, equal_nan=True), (
                measure,
                case,
            )


@cache
def lists_without_ties() -> list[JudgedRun]:
    return [join({"q": next(iter(all_orders(case).values()))}) for case in random_cases(2, 20)]


@claimed
def test_all_are_the_value_when_there_are_no_ties(name: str) -> None:
    for judged in lists_without_ties():
        for measure in forms(name):
            value = float(measure.values(judged)[0])
            found = bounds_of([measure], judged)
            for bound in np.flatnonzero(found.available[0, :3]).tolist():
                assert found.limits[0, 0, bound] == value or math.isnan(value)


@claimed
def test_the_value_lies_between_the_ends_and_so_does_the_expected_one(name: str) -> None:
    judged = join({str(number): case for number, case in enumerate(random_cases(3, 60))})
    for measure in forms(name):
        values = measure.values(judged)
        found = bounds_of([measure], judged)
        defined = ~np.isnan(values)
        low, high, expected = found.limits[defined, 0, :3].T
        assert (low <= values[defined]).all()
        assert (values[defined] <= high).all()
        if found.available[0, 2]:
            assert (low <= expected).all()
            assert (expected <= high).all()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # two documents share ranks 1 and 2, one of them is relevant; another relevant one is not retrieved
        ("P@1", (0.0, 1.0, 0.5)),
        ("RR", (0.5, 1.0, 0.75)),
        ("AP", (0.25, 0.5, 0.375)),
        ("DCG", (1 / math.log2(3), 1.0, (1 / math.log2(3) + 1) / 2)),
        ("DCG(discount=jk)", (1.0, 1.0, 1.0)),
        ("RankOf", (1.0, 2.0, 1.5)),
    ],
)
def test_by_hand(text: str, wanted: tuple[float, float, float]) -> None:
    judged = join({"q": Case({"a": 1.0, "b": 1.0}, {"a": 1.0, "c": 1.0})})
    assert tie_bounds(MEASURES.parse(text), judged) == pytest.approx(wanted, abs=1e-15)


def test_a_large_group_of_equal_scores_is_no_trouble() -> None:
    # All 10,000 documents share one score, 3 are relevant: precision at 10 is expected at 3 / 10,000.
    names = [f"d{place:05}" for place in range(10_000)]
    qrels = read_qrels({"q": dict.fromkeys(names[:3], 1)})
    judged = JudgedRun.of_run(read_run({"q": dict.fromkeys(names, 1.0)}), qrels)
    assert tie_bounds(MEASURES.parse("P@10"), judged) == pytest.approx((0.0, 0.3, 0.0003))
    # By symmetry the first of 3 is expected at rank 10,001 / 4.
    assert tie_bounds(MEASURES.parse("RankOf"), judged) == pytest.approx((1.0, 9998.0, 2500.25))


def test_a_list_cut_inside_a_group_changes_the_order_of_what_is_left() -> None:
    run = read_run({"q": {"a": 1.0, "b": 1.0, "c": 1.0}})
    qrels = read_qrels({"q": {"c": 1, "b": 0, "a": 1}})
    judged = JudgedRun.of_run(run, qrels, cut=Cut(2))  # c and b are left
    assert tie_bounds(MEASURES.parse("RR"), judged) == (0.5, 1.0, 0.75)


@pytest.mark.parametrize("text", ["Novelty", "Coverage"])
def test_where_nothing_is_proved_nothing_is_said(text: str) -> None:
    judged = join({"q": Case({"a": 1.0, "b": 1.0}, {"a": 1.0})})
    found = bounds_of([MEASURES.parse(text)], judged)
    assert not found.available.any()
    assert np.isnan(found.limits).all()


def test_the_mean_of_interpolated_precision_over_orders_is_not_known() -> None:
    judged = join({"q": Case({"a": 1.0, "b": 1.0}, {"a": 1.0})})
    assert bounds_of([MEASURES.parse("IPrec@0.1")], judged).available.tolist() == [
        [True, True, False, True, True]
    ]


def test_every_claim_names_a_measure() -> None:
    assert set(RULES) <= set(MEASURES.classes)
