"""Coefficients of agreement: the lecture's numbers, slow twins, outside checks, laws."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from statsmodels.stats import inter_rater

from leadline.data.arrays import Floats
from leadline.errors import UsageError
from leadline.stats.agreement_coefficients import (
    COEFFICIENTS,
    Coefficient,
    Cohen,
    Fleiss,
    Krippendorff,
    PercentAgreement,
    Scott,
    acceptable,
    coincidences,
    confusions,
)

LECTURE = np.array([[1, 1]] * 300 + [[1, 0]] * 20 + [[0, 1]] * 10 + [[0, 0]] * 70, dtype=float)
INTERJUDGE = {
    51: (211, 6, 0.972),
    62: (400, 157, 0.608),
    67: (400, 68, 0.830),
    95: (400, 110, 0.725),
    127: (400, 106, 0.735),
}
WEIGHTS = ("none", "linear", "quadratic")
LEVELS = ("nominal", "ordinal", "interval")
CORRECTED = [
    Scott(),
    Fleiss(),
    *(Cohen(weights=each) for each in WEIGHTS),
    *(Krippendorff(level=each) for each in LEVELS),
]
TWO = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 30), st.just(2)), elements=st.integers(0, 3).map(float)
)
SEVERAL = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 20), st.integers(2, 5)),
    elements=st.sampled_from([0.0, 1.0, 2.0, 4.0]),
)
HOLED = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 20), st.integers(2, 5)),
    elements=st.sampled_from([0.0, 1.0, 2.0, 4.0, float("nan")]),
)


def test_the_lecture_prints_776_which_is_scott_and_cohen_alike() -> None:
    assert PercentAgreement().of(LECTURE) == 0.925
    assert round(Scott().of(LECTURE), 4) == 0.7759
    assert round(Cohen().of(LECTURE), 4) == 0.7761
    assert round(Scott().of(LECTURE), 3) == round(Cohen().of(LECTURE), 3) == 0.776
    assert acceptable(Scott().of(LECTURE), len(LECTURE))


def test_the_chance_agreement_printed_as_665_is_rounded_down_or_the_one_of_cohen() -> None:
    pooled = (630 / 800) ** 2 + (170 / 800) ** 2
    own = 320 / 400 * 310 / 400 + 80 / 400 * 90 / 400
    assert (round(pooled, 5), own) == (0.66531, 0.665)
    assert Scott().of(LECTURE) == pytest.approx((0.925 - pooled) / (1 - pooled))
    assert Cohen().of(LECTURE) == pytest.approx((0.925 - own) / (1 - own))
    assert round(0.7878**2 + 0.2125**2, 4) == 0.6658  # what the printed summands would give


@pytest.mark.parametrize(("judged", "apart", "printed"), INTERJUDGE.values(), ids=map(str, INTERJUDGE))
def test_the_table_of_interjudge_agreement_gives_raw_agreement(
    judged: int, apart: int, printed: float
) -> None:
    lists = [[1, 0]] * apart + [[0, 0]] * (judged - apart)
    assert round(PercentAgreement().of(lists), 3) == printed


def slow_alpha(grades: Floats, level: str) -> float:
    """Compute alpha from all pairs of judgments, as its definition says."""
    units = [[value for value in row if not math.isnan(value)] for row in grades.tolist()]
    units = [row for row in units if len(row) > 1]
    pooled = Counter(value for row in units for value in row)
    order = sorted(pooled)

    def apart(a: float, b: float) -> float:
        if level == "interval":
            return (a - b) ** 2
        if level == "nominal":
            return float(a != b)
        low, high = sorted((a, b))
        between = sum(pooled[value] for value in order if low <= value <= high)
        return (between - (pooled[a] + pooled[b]) / 2) ** 2

    every = [value for row in units for value in row]
    seen = sum(apart(a, b) / (len(row) - 1) for row in units for a, b in itertools.permutations(row, 2))
    chance = sum(apart(a, b) for a, b in itertools.permutations(every, 2))
    if not chance:
        return math.nan
    return 1 - (seen / len(every)) / (chance / (len(every) * (len(every) - 1)))


def slow_fleiss(grades: Floats) -> float:
    """Compute Fleiss' kappa unit by unit."""
    judges = grades.shape[1]
    rows = [Counter(row) for row in grades.tolist()]
    observed = sum(sum(n * (n - 1) for n in row.values()) / (judges * (judges - 1)) for row in rows) / len(
        rows
    )
    whole = sum(rows, Counter[float]())
    expected = sum((n / (len(rows) * judges)) ** 2 for n in whole.values())
    return math.nan if len(whole) == 1 else (observed - expected) / (1 - expected)


def same(found: float, expected: float) -> bool:
    """Say whether two values are equal, undefined ones too."""
    return (math.isnan(found) and math.isnan(expected)) or math.isclose(
        found, expected, rel_tol=1e-9, abs_tol=1e-9
    )


@given(HOLED)
def test_alpha_is_what_all_pairs_of_judgments_give(grades: Floats) -> None:
    for level in LEVELS:
        assert same(Krippendorff(level=level).of(grades), slow_alpha(grades, level))


@given(SEVERAL)
def test_fleiss_is_what_its_units_give(grades: Floats) -> None:
    assert same(Fleiss().of(grades), slow_fleiss(grades))


def test_fleiss_is_undefined_where_one_of_three_did_not_judge() -> None:
    grades = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, np.nan], [1.0, 1.0, 1.0]])
    assert np.isnan(Fleiss().of(grades))
    assert not np.isnan(Krippendorff().of(grades))


@given(TWO)
def test_fleiss_of_two_judges_is_scott(grades: Floats) -> None:
    assert same(Fleiss().of(grades), Scott().of(grades))


@given(TWO)
def test_cohen_is_that_of_statsmodels(grades: Floats) -> None:
    if len(np.unique(grades)) < 2:
        return
    table = np.zeros((4, 4))
    np.add.at(table, (grades[:, 0].astype(int), grades[:, 1].astype(int)), 1)
    for weights, theirs in {"none": None, "linear": "linear", "quadratic": "quadratic"}.items():
        found = inter_rater.cohens_kappa(table, wt=theirs, return_results=False)
        assert same(Cohen(weights=weights).of(grades), float(found))


@given(HOLED)
def test_alpha_is_that_of_the_package_krippendorff(grades: Floats) -> None:
    package = pytest.importorskip("krippendorff")
    kept = grades[(~np.isnan(grades)).sum(axis=1) > 1]
    if len(np.unique(kept[~np.isnan(kept)])) < 2:  # it refuses one grade alone
        return
    for level in LEVELS:
        theirs = package.alpha(reliability_data=grades.T, level_of_measurement=level)
        assert same(Krippendorff(level=level).of(grades), float(theirs))


@given(SEVERAL)
def test_fleiss_is_that_of_statsmodels(grades: Floats) -> None:
    if len(np.unique(grades)) < 2:
        return
    table: Any = inter_rater.aggregate_raters(grades.astype(int))[0]
    assert same(Fleiss().of(grades), float(inter_rater.fleiss_kappa(table)))


@pytest.mark.parametrize("one", CORRECTED, ids=str)
def test_full_agreement_is_one(one: Coefficient) -> None:
    assert one.of([[0, 0], [1, 1], [2, 2], [1, 1]]) == pytest.approx(1)


@pytest.mark.parametrize("one", CORRECTED, ids=str)
def test_judges_who_grade_by_chance_have_about_nothing(one: Coefficient) -> None:
    rng = np.random.default_rng(7)
    assert one.of(rng.integers(0, 4, size=(40_000, 2))) == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("one", [Cohen(weights=each) for each in WEIGHTS], ids=str)
def test_exact_independence_is_exactly_nothing(one: Coefficient) -> None:
    grid = [[a, b] for a in (0, 0, 1, 2) for b in (0, 1, 1, 2)]
    assert one.of(grid) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("one", CORRECTED, ids=str)
@pytest.mark.parametrize("grades", [[[1, 1], [1, 1]], [[1, np.nan]], np.empty((0, 2))], ids=str)
def test_one_grade_alone_or_nothing_is_undefined_not_one(one: Coefficient, grades: Any) -> None:
    assert math.isnan(one.of(grades))
    assert acceptable(one.of(grades), 100) is None


@given(HOLED, st.randoms(use_true_random=False))
def test_the_order_of_judges_and_units_does_not_matter(grades: Floats, rng: Any) -> None:
    units, judges = list(range(grades.shape[0])), list(range(grades.shape[1]))
    rng.shuffle(units)
    rng.shuffle(judges)
    shuffled = grades[np.ix_(units, judges)]
    for level in LEVELS:
        one = Krippendorff(level=level)
        assert same(one.of(grades), one.of(shuffled))


@given(TWO)
def test_two_judges_may_change_places(grades: Floats) -> None:
    for one in (PercentAgreement(), *CORRECTED):
        assert same(one.of(grades), one.of(grades[:, ::-1]))


@given(TWO)
def test_names_of_grades_do_not_matter_where_only_equality_does(grades: Floats) -> None:
    for one in (Scott(), Fleiss(), Cohen(), Krippendorff(), PercentAgreement()):
        assert same(one.of(grades), one.of(7 - 2 * grades))


@given(HOLED)
def test_tables_of_groups_add_up_to_the_whole(grades: Floats) -> None:
    codes = np.where(np.isnan(grades), -1, grades).astype(np.int64)
    group = np.arange(len(grades)) % 3
    parts = coincidences(codes, 5, group, 3)
    assert np.allclose(parts.sum(axis=0), coincidences(codes, 5)[0])
    pairs = confusions(codes[:, 0], codes[:, 1], 5, group, 3)
    assert np.array_equal(pairs.sum(axis=0), confusions(codes[:, 0], codes[:, 1], 5)[0])


def test_weighted_kappa_uses_the_grades_as_numbers() -> None:
    near, far = [[0, 0], [1, 2], [2, 2]], [[0, 0], [1, 9], [9, 9]]
    assert Cohen(weights="linear").of(near) == pytest.approx(2 / 3, abs=0.2)
    assert Cohen(weights="linear").of(near) != Cohen(weights="linear").of(far)
    assert Cohen().of(near) == Cohen().of(far)


def test_every_coefficient_says_what_it_is_and_none_is_called_just_kappa() -> None:
    assert set(COEFFICIENTS.classes) == {"Cohen", "Fleiss", "Krippendorff", "PercentAgreement", "Scott"}
    for name, kind in COEFFICIENTS.classes.items():
        assert name.lower() != "kappa"
        assert kind.title
        assert kind.source
        assert kind.key


@pytest.mark.parametrize(
    ("grades", "says"),
    [
        ([1, 0], "the shape"),
        ([[1], [0]], "at least two judges"),
        ([["a", "b"]], "not a table of numbers"),
        ([[1, math.inf]], "infinite"),
    ],
    ids=str,
)
def test_what_is_no_table_of_judgments_is_refused(grades: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Scott().of(grades)


def test_three_judges_are_refused_where_two_are_meant() -> None:
    with pytest.raises(UsageError, match="Scott compares two judges, not 3"):
        Scott().of([[1, 1, 1]])
