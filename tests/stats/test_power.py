"""Power, queries needed and detectable differences of the paired t-test."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr
from statsmodels.stats.power import TTestPower

from leadline.stats.power import MOST, detectable, power, queries_needed

THEIRS = TTestPower()
EFFECTS = (1e-6, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.8, 1.5, 3.0)
QUERIES = (2, 3, 5, 10, 25, 50, 100, 250, 1_000, 10_000, 1_000_000)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(80)


def integrated(effect: float, queries: int, level: float) -> float:
    """Integrate over the deviation: beyond both limits, a normal mean when the deviation is known."""
    shift, freedom = effect * math.sqrt(queries), queries - 1
    critical = stats.t.isf((1 - level) / 2, freedom)
    middle, slope = math.sqrt(freedom), critical / math.sqrt(freedom)
    low, high = max(0.0, middle - 12), middle + 12
    turns = [(turn + step) / slope for turn in (shift, -shift) for step in range(-10, 41, 2)]
    cuts = sorted({min(max(cut, low), high) for cut in [*np.linspace(low, high, 13), *turns]})
    total = 0.0
    for start, end in pairwise(cuts):
        at = (start + end) / 2 + (end - start) / 2 * NODES
        beyond = ndtr(shift - slope * at) + ndtr(-shift - slope * at)
        total += float((end - start) / 2 * (WEIGHTS * beyond * stats.chi.pdf(at, freedom)).sum())
    return total


def theirs(effect: float, queries: int, level: float) -> float:
    """Let statsmodels say it; it has no answer where the distribution of SciPy gives up."""
    found = float(THEIRS.power(effect, queries, 1 - level))
    return integrated(effect, queries, level) if math.isnan(found) else found


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
def test_it_equals_statsmodels(level: float) -> None:
    compared = 0
    for effect in EFFECTS:
        for queries in QUERIES:
            expected = THEIRS.power(effect, queries, 1 - level)
            if not math.isnan(expected):
                compared += 1
                assert power(effect, queries, level=level) == pytest.approx(expected, abs=1e-9)
    assert compared > 70


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("queries", [2, 3, 4, 10, 250, 10_000])
def test_it_equals_a_plain_integral_at_every_shift(level: float, queries: int) -> None:
    for shift in (0, 0.1, 1, 3, 4.7, 4.99, 5.01, 8, 20, 37, 38, 39, 40, 45, 60, 94, 300, 700, 2_000):
        effect = shift / math.sqrt(queries)
        found = power(effect, queries, level=level)
        assert found == pytest.approx(integrated(effect, queries, level), abs=1e-8)


@pytest.mark.parametrize("queries", [2, 10, 1_000])
def test_without_an_effect_it_is_alpha(queries: int) -> None:
    assert power(0.0, queries) == pytest.approx(0.05, abs=1e-11)
    assert power(0.0, queries, level=0.8) == pytest.approx(0.2, abs=1e-11)


def test_the_sign_of_the_effect_does_not_matter() -> None:
    assert power(-0.3, 40) == power(0.3, 40)


@pytest.mark.parametrize("effect", [1e3, 1e12, 1e300, math.inf])
def test_a_huge_effect_is_always_seen(effect: float) -> None:
    assert power(effect, 10) == 1.0


@pytest.mark.parametrize("level", [0.95, 0.9999])
def test_it_is_never_undefined_and_never_falls_with_the_effect(level: float) -> None:
    for queries in (2, 4, 30, 250, 5_000):
        found = [power(shift / math.sqrt(queries), queries, level=level) for shift in np.linspace(0, 60, 241)]
        assert (np.diff(found) > -1e-9).all()
        assert found[-1] <= 1 + 1e-12


@pytest.mark.parametrize("wanted", [0.06, 0.2, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("effect", [0.003, 0.05, 0.3, 0.9, 2.5, 20.0])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_the_queries_needed_are_the_least_that_reach_the_power(
    wanted: float, effect: float, level: float
) -> None:
    needed = queries_needed(effect, power_wanted=wanted, level=level)
    assert needed is not None
    assert theirs(effect, needed, level) >= wanted
    assert needed == 2 or theirs(effect, needed - 1, level) < wanted


@pytest.mark.parametrize("effect", [0.1, 0.3, 0.5, 1.0])
def test_the_queries_needed_are_what_statsmodels_solves_for(effect: float) -> None:
    solved = THEIRS.solve_power(effect_size=effect, alpha=0.05, power=0.8)
    assert queries_needed(effect) == math.ceil(float(solved))


def test_a_power_that_alpha_gives_away_needs_two_queries() -> None:
    assert queries_needed(1e-4, power_wanted=0.05 - 1e-9) == 2
    assert queries_needed(1e-4, power_wanted=0.01) == 2


def test_a_power_little_above_alpha_needs_few_queries_for_its_size() -> None:
    needed = queries_needed(1e-4, power_wanted=0.0501)
    assert needed is not None
    assert 80_000 < needed < 120_000
    assert power(1e-4, needed) >= 0.0501 > power(1e-4, needed - 1)


@pytest.mark.parametrize("effect", [0.0, 1e-4, 1e-200, math.nan, math.inf])
def test_no_number_of_queries_is_enough_for_what_cannot_be_seen(effect: float) -> None:
    assert queries_needed(effect) is None


def test_the_largest_answer_is_ten_million() -> None:
    smallest = (1.959964 + 0.841621) / math.sqrt(MOST)
    assert queries_needed(0.99 * smallest) is None
    assert queries_needed(1.01 * smallest) == pytest.approx(MOST / 1.01**2, rel=1e-4)


@pytest.mark.parametrize("wanted", [0.06, 0.5, 0.8, 0.999])
@pytest.mark.parametrize("queries", [2, 3, 10, 50, 249, 10_000])
def test_the_detectable_difference_has_the_power(wanted: float, queries: int) -> None:
    found = detectable(0.2, queries, power_wanted=wanted)
    theirs = THEIRS.power(found / 0.2, queries, 0.05)
    if math.isnan(theirs):
        pytest.skip("statsmodels has no power of so large an effect with SciPy before 1.17")
    assert theirs == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("level", [0.9, 0.99, 0.999])
def test_the_detectable_difference_is_what_statsmodels_solves_for(level: float) -> None:
    solved = THEIRS.solve_power(nobs=50, alpha=1 - level, power=0.8)
    assert detectable(1.0, 50, level=level) == pytest.approx(float(solved), rel=1e-6)


def test_the_detectable_difference_of_two_queries_at_a_high_level() -> None:
    found = detectable(1.0, 2, level=0.999)
    assert integrated(found, 2, 0.999) == pytest.approx(0.8, abs=1e-6)


def test_the_detectable_difference_grows_with_the_deviation() -> None:
    assert detectable(0.4, 50) == pytest.approx(2 * detectable(0.2, 50))
    assert detectable(0.0, 50) == 0.0


@pytest.mark.parametrize(("deviation", "queries"), [(0.2, 0), (0.2, 1), (math.nan, 50)])
def test_without_a_deviation_nothing_is_said(deviation: float, queries: int) -> None:
    assert math.isnan(detectable(deviation, queries))
