"""Corrections of sampled ranks: by hand, against a slow twin, by enumeration, against SciPy."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from leadline.data.arrays import Floats
from leadline.data.judged_run import JudgedRun
from leadline.estimation.rank_corrections import (
    EXPONENTS,
    Channel,
    Pairs,
    RankEstimator,
    channel,
    corrected,
    rank_terms,
    sums_over_ranks,
)
from leadline.measures import MEASURES

SUMS = """
        AP AP@4 AP(norm=min)@3 AP(rel=2) RR RR@3 RR(rel=2) P@3 P(rel=2)@5 R@4 R(rel=2)@4 Success@2 nDCG
        nDCG@4 nDCG(gain=exp)@5 nDCG(discount=jk)@4 DCG@5 DCG(gain=exp) RBP(p=0.5) RBP@4
    """.split()
LOG = EXPONENTS.tolist().index(1)


def slow(size: int, drawn: int, exponent: float, gamma: float, function: Floats) -> list[float]:
    """Solve the published formula as it is written: ((1 - gamma) A'A + gamma diag(c))^-1 A'b."""
    prior = np.array([(1 + d) ** -exponent for d in range(size + 1)])
    prior /= prior.sum()
    law = np.array(
        [
            [
                comb(d, x) * comb(size - d, drawn - x) / comb(size, drawn) if x <= d else 0.0
                for x in range(drawn + 1)
            ]
            for d in range(size + 1)
        ]
    )
    a = np.sqrt(prior)[:, None] * law
    b = np.sqrt(prior) * function
    c = prior @ law
    left = (1 - gamma) * a.T @ a + gamma * np.diag(c)
    return list(np.linalg.solve(left, a.T @ b))


@given(
    st.integers(2, 25),
    st.integers(1, 8),
    st.sampled_from(range(len(EXPONENTS))),
    st.floats(0.01, 1),
    st.integers(0, 100),
)
def test_the_fast_solution_is_that_of_the_published_formula(
    size: int, drawn: int, exponent: int, gamma: float, seed: int
) -> None:
    drawn = min(drawn, size)
    function = np.random.default_rng(seed).normal(size=size + 1)
    found = Channel(size, drawn).estimator(exponent, gamma) @ function
    expected = slow(size, drawn, float(EXPONENTS[exponent]), gamma, function)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_by_hand_the_posterior_mean_of_one_drawn_of_two() -> None:
    # N = 2, n = 1, uniform prior. P(X = 0 | d) = 1, 1/2, 0 for d = 0, 1, 2. With gamma = 1 this is the
    # posterior mean: for X = 0, (f(0) + f(1) / 2) / (3 / 2).
    one = Channel(2, 1)
    assert one.law.tolist() == pytest.approx(np.array([[1, 0], [0.5, 0.5], [0, 1]]))
    found = one.estimator(0, 1.0) @ np.array([1.0, 1 / 2, 1 / 3])  # 1 / rank
    assert found.tolist() == pytest.approx([(1 + 1 / 4) / 1.5, (1 / 4 + 1 / 3) / 1.5])


@pytest.mark.parametrize(("size", "drawn"), [(1, 1), (7, 3), (60, 20), (500, 40), (5000, 100)])
def test_the_law_is_hypergeometric(size: int, drawn: int) -> None:
    one = Channel(size, drawn)
    expected = hypergeom.pmf(np.arange(drawn + 1)[None], size, one.offset[:, None], drawn)
    assert one.law == pytest.approx(expected, abs=1e-9)
    assert one.law.sum(axis=1) == pytest.approx(np.ones(len(one.offset)))
    assert one.prior.sum(axis=1) == pytest.approx(np.ones(len(EXPONENTS)))


@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_without_weight_on_the_variance_what_can_be_unbiased_is(degree: int) -> None:
    # E[C(X, j)] = C(d, j) C(n, j) / C(N, j): polynomials of degree n or less have an unbiased estimate.
    size, drawn = 12, 5
    function = np.array([float(comb(d, degree)) for d in range(size + 1)])
    one = Channel(size, drawn)
    for exponent in (0, LOG):
        values = one.estimator(exponent, 1e-9) @ function
        assert one.law @ values == pytest.approx(function, rel=1e-3, abs=1e-3)


@given(st.integers(2, 30), st.integers(1, 10), st.floats(0.001, 1))
def test_the_bias_is_zero_on_average_over_the_prior(size: int, drawn: int, gamma: float) -> None:
    one = Channel(size, min(drawn, size))
    function = 1 / (1.0 + one.offset)
    for exponent in (0, LOG, len(EXPONENTS) - 1):
        bias = one.law @ (one.estimator(exponent, gamma) @ function) - function
        assert one.prior[exponent] @ bias == pytest.approx(0, abs=1e-7)


def test_less_weight_on_the_variance_is_less_bias_and_more_variance() -> None:
    one = Channel(100, 20)
    function = 1 / (1.0 + one.offset)
    bias, variance = [], []
    for gamma in (1.0, 0.1, 0.01, 0.001):
        values = one.estimator(LOG, gamma) @ function
        mean = one.law @ values
        bias.append(float(one.prior[LOG] @ (mean - function) ** 2))
        variance.append(float(one.prior[LOG] @ (one.law @ values**2 - mean**2)))
    assert bias == sorted(bias, reverse=True)
    assert variance == sorted(variance)


def test_large_populations_share_a_table_and_small_or_full_ones_are_exact() -> None:
    assert channel(171_332, 100) is channel(171_331, 100)
    assert channel(171_332, 100).size == pytest.approx(171_332, rel=0.0051)
    assert [channel(*one).size for one in ((999, 10), (1399, 800))] == [999, 1399]


# The whole estimate of a query, by enumeration of all samples


def everything(size: int, drawn: int, offsets: list[int], exponent: float) -> tuple[float, Floats]:
    """Estimate AP from every sample of a query; others 0..d-1 stand above the document with offset d."""
    rows = len(offsets)
    weights = np.arange(1.0, rows + 1) / rows
    values = []
    for chosen in combinations(range(size), drawn):
        above = np.array([sum(one < d for one in chosen) for d in offsets], dtype=float)
        pairs = Pairs(
            np.zeros(rows, dtype=np.int64),
            np.arange(1.0, rows + 1),
            above,
            np.full(rows, size),
            np.full(rows, drawn),
        )
        estimator = RankEstimator(pairs, 1e-6, exponent)
        made = corrected(estimator, [weights], [np.reciprocal], 0, np.random.default_rng(0))
        values.append(made.values[0, 0])
    truth = sum((i + 1) / rows / (i + 1 + d) for i, d in enumerate(offsets))
    return truth, np.array(values)


@pytest.mark.parametrize("offsets", [[0], [2], [0, 1, 4], [1, 1, 7]])
def test_the_mean_over_all_samples_is_the_truth_where_the_sample_resolves_it(offsets: list[int]) -> None:
    truth, values = everything(9, 6, offsets, 1.0)
    plain = [sum((i + 1) / len(offsets) / (i + 1 + d) for i, d in enumerate(offsets))]
    assert truth == pytest.approx(plain[0])
    assert values.mean() == pytest.approx(truth, abs=0.004)
    assert values.std() > 0 or offsets == [0]


def test_the_variance_is_about_that_of_samples_drawn_again() -> None:
    rng = np.random.default_rng(2)
    size, drawn, queries, draws = 400, 80, 60, 150
    offsets = np.sort(np.exp(rng.uniform(0, np.log(size), (queries, 3))).astype(int) - 1, axis=1)
    weights = np.tile([1 / 3, 2 / 3, 1.0], queries)
    made, said = [], []
    for _ in range(draws):
        above = np.empty((queries, 3))
        for row, one in enumerate(offsets):
            chosen = rng.choice(size, drawn, replace=False)
            above[row] = [(chosen < d).sum() for d in one]
        pairs = Pairs(
            np.repeat(np.arange(queries), 3),
            np.tile([1.0, 2, 3], queries),
            above.ravel(),
            np.full(3 * queries, size),
            np.full(3 * queries, drawn),
        )
        estimator = RankEstimator(pairs, 1 / queries, 1.0)
        one = corrected(estimator, [weights], [np.reciprocal], 10, rng)
        made.append(one.values.mean())
        said.append(one.variance.sum() / queries**2)
    truth = (weights / (np.tile([1, 2, 3], queries) + offsets.ravel())).sum() / queries
    assert np.mean(made) == pytest.approx(truth, rel=0.03)
    assert np.sqrt(np.mean(said)) == pytest.approx(np.std(made), rel=0.2)


def test_samples_drawn_again_stay_possible_and_are_right_on_average() -> None:
    pairs = Pairs(
        np.array([0, 0, 0, 1]),
        np.array([1.0, 2, 3, 1]),
        np.array([0.0, 2, 5, 10]),
        np.array([50, 50, 50, 30]),
        np.array([10, 10, 10, 30]),
    )
    estimator = RankEstimator(pairs, 0.1, None)
    offset, above = estimator.redrawn(400, np.random.default_rng(1))
    assert offset.shape == (4, 400)
    assert above.shape == (4, 800)
    assert (np.diff(offset[:3], axis=0) >= 0).all()
    assert (np.diff(above[:3], axis=0) >= 0).all()
    assert (above <= np.tile(offset, 2)).all()
    assert (above[:3] <= 10).all()
    assert (above[3] == 10).all()  # everything was drawn: nothing is uncertain
    assert (offset[3] == 10).all()
    assert above[:3].mean(axis=1) == pytest.approx(offset[:3].mean(axis=1) / 5, abs=0.2)


# Measures as sums over ranks


@st.composite
def lists(draw: st.DrawFn) -> JudgedRun:
    """Draw one list with ranks that need not be whole."""
    grades = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    more = draw(st.lists(st.integers(1, 3), max_size=3))
    steps = draw(st.lists(st.floats(0, 4), min_size=len(grades), max_size=len(grades)))
    rank = np.arange(1, len(grades) + 1) + np.cumsum(steps)
    whole = JudgedRun.of_grades([float(one) for one in grades], [*map(float, grades), *map(float, more)])
    return JudgedRun(
        whole.qrels,
        present=whole.present,
        length=whole.length,
        offsets=whole.offsets,
        rank=rank,
        row=whole.row,
        unjudged_ties=whole.unjudged_ties,
    )


@given(lists())
def test_a_measure_is_the_sum_of_its_terms(judged: JudgedRun) -> None:
    for name in SUMS:
        measure = MEASURES.parse(name)
        terms = rank_terms(measure, judged)
        assert terms is not None, name
        total = float((terms.weight * terms.of_rank(np.asarray(judged.rank, dtype=float))).sum())
        expected = float(np.nan_to_num(measure.values(judged)[0]))
        assert total == pytest.approx(expected, abs=1e-9), name


def test_measures_that_are_no_such_sums_are_known() -> None:
    names = ["P", "R", "Rprec", "F@3", "RBP(gain=graded)", "ERR@10", "AP"]
    assert sums_over_ranks(list(map(MEASURES.parse, names))) == [False] * 6 + [True]


@given(st.integers(0, 50), st.floats(0.01, 1))
def test_no_other_estimate_has_a_smaller_objective(seed: int, gamma: float) -> None:
    rng = np.random.default_rng(seed)
    one = Channel(15, 5)
    function = rng.normal(size=16)

    def objective(values: Floats) -> float:
        mean = one.law @ values
        variance = one.law @ values**2 - mean**2
        return float(one.prior[LOG] @ ((mean - function) ** 2 + gamma * variance))

    best = one.estimator(LOG, gamma) @ function
    for _ in range(5):
        assert objective(best) <= objective(best + 0.1 * rng.normal(size=6)) + 1e-12
