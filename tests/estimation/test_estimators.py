"""Estimates from drawn judgments: unbiased by enumeration, equal to slow twins, exact where all is judged."""

from __future__ import annotations

import csv
import itertools
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leadline.data.arrays import Floats
from leadline.data.judged_run import JudgedRun
from leadline.errors import UsageError
from leadline.estimation.designs import Linear, kind_of
from leadline.estimation.estimate import COVERAGE, COVERAGE_OF_NEW, COVERAGE_UNGUESSED, estimate
from leadline.estimation.estimators import Estimator, Sample
from leadline.estimation.guesses import OUTSIDE_SHRINKAGE, Guess, fit, fit_outside, merged_cells
from leadline.estimation.sampling_errors import MOST_GUESSED_OF_NEW, degrees_of_freedom, half_width, variance
from leadline.io.objects import Qrels, Run
from leadline.measures import MEASURES

GRADES = {
    b"q1": {b"a": 2.0, b"b": 0.0, b"c": 1.0, b"d": 0.0},
    b"q2": {b"a": 0.0, b"b": 1.0, b"e": 3.0},
    b"q3": {b"f": 1.0, b"g": 0.0},
}
SHARES = {b"q1": (0.5, 0.25, 1.0, 0.8), b"q2": (0.3, 0.6, 0.9), b"q3": (0.4, 0.7)}
LISTS = {b"q1": [b"b", b"a", b"d", b"c"], b"q2": [b"e", b"b", b"a"], b"q3": [b"g", b"f"]}
QRELS = Qrels.of(
    (query, document, grade) for query, grades in GRADES.items() for document, grade in grades.items()
)
RUN = Run.of(
    [
        (query, document, -float(rank))
        for query, documents in LISTS.items()
        for rank, document in enumerate(documents)
    ]
)
NDCG = "docs/ndcg-intervals.json"
LINEAR = ("P@3", "CG@3", "DCG@2", "RBP(p=0.8)", "P", "DCG(gain=exp)@3")
PRODUCTS = ("RR", "Success@2", "ERR(max_grade=3)@3")


def sample_of(judged: tuple[bool, ...], *, guessing: bool, share: float | None = None) -> Sample:
    """Return a sample with two cells in which some pairs were drawn."""
    probability = np.array([p for shares in SHARES.values() for p in shares])
    if share is not None:
        probability = np.full(len(probability), share)
    size = len(probability)
    rows, cells, ranks = np.array(judged, dtype=np.bool_), np.arange(size) % 2, np.arange(size) % 3 + 1
    pairs = (np.arange(size), ranks)
    return Sample(QRELS, probability, rows, cells, 2, 0, None, guessing, np.arange(3), pairs, 1)


def of_one_cell(table: Qrels, shares: Floats, judged: Any, *, guessing: bool) -> Sample:
    """Return a sample of one query whose runs are not looked at."""
    nothing = np.zeros(0, dtype=np.int64)
    cells, query = np.zeros(len(shares), dtype=np.int64), np.zeros(1, dtype=np.int64)
    return Sample(table, shares, judged, cells, 1, 0, None, guessing, query, (nothing, nothing), 0)


def draws() -> list[tuple[float, tuple[bool, ...]]]:
    """Return every draw with its probability."""
    shares = [p for one in SHARES.values() for p in one]
    found = []
    for chosen in itertools.product((False, True), repeat=len(shares)):
        chance = math.prod(p if one else 1 - p for p, one in zip(shares, chosen, strict=True))
        if chance > 0:
            found.append((chance, chosen))
    return found


@pytest.mark.parametrize("guessing", [False, True])
@pytest.mark.parametrize("name", [*LINEAR, *PRODUCTS])
def test_the_mean_over_all_draws_is_the_truth(name: str, guessing: bool) -> None:
    measure = MEASURES.parse(name)
    kind, judged = kind_of(measure), JudgedRun.of_run(RUN, QRELS)
    truth = measure.values(judged)
    total = np.zeros(3)
    for chance, chosen in draws():
        total += chance * Estimator(sample_of(chosen, guessing=guessing), kind).of(judged).values
    assert total == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("name", LINEAR)
def test_the_mean_of_estimated_variances_is_the_variance(name: str) -> None:
    kind, judged = kind_of(MEASURES.parse(name)), JudgedRun.of_run(RUN, QRELS)
    means, estimated, chances = [], [], []
    for chance, chosen in draws():
        found = Estimator(sample_of(chosen, guessing=False), kind).of(judged)
        means.append(found.values.mean())
        estimated.append(variance(found.errors, found.replicates))
        chances.append(chance)
    weight = np.array(chances)
    centre = weight @ np.array(means)
    true = weight @ (np.array(means) - centre) ** 2
    assert weight @ np.array(estimated) == pytest.approx(true, abs=1e-12)


@pytest.mark.parametrize("name", LINEAR)
def test_the_noise_in_the_degrees_of_freedom_is_the_variance_of_the_estimated_variance(name: str) -> None:
    """Over all draws, the mean of sum (1 - p) error^4 is the variance of the sum of error^2."""
    kind, judged = kind_of(MEASURES.parse(name)), JudgedRun.of_run(RUN, QRELS)
    chances, spreads, noises = [], [], []
    for chance, chosen in draws():
        sample = sample_of(chosen, guessing=False)
        squares = Estimator(sample, kind).of(judged).errors ** 2
        chances.append(chance)
        spreads.append(squares.sum())
        p = sample.probability[sample.drawn]
        noises.append(((1 - p) * squares**2).sum())
        if noises[-1] > 0:
            degrees = degrees_of_freedom(np.sqrt(squares), p)
            assert degrees == pytest.approx(2 * spreads[-1] ** 2 / noises[-1])
    weight, spread = np.array(chances), np.array(spreads)
    true = weight @ (spread - weight @ spread) ** 2
    assert weight @ np.array(noises) == pytest.approx(true, abs=1e-12)


def test_predicted_errors_of_a_cascade_by_hand() -> None:
    """q1 lists b, a, c: b (relevant) and c were drawn with p = 1/2, a was not, with p = 1/4; q2 alike."""
    grades = {b"a": 0.0, b"b": 1.0, b"c": 0.0}
    qrels = Qrels.of((query, d, grade) for query in (b"q1", b"q2") for d, grade in grades.items())
    run = Run.of((query, d, -r) for query in (b"q1", b"q2") for r, d in enumerate((b"b", b"a", b"c")))
    shares, judged = np.array([0.25, 0.5, 0.5] * 2), np.array([False, True, True] * 2)
    cells, pairs = np.zeros(6, dtype=np.int64), (np.arange(6), np.array([2, 1, 3] * 2))
    sample = Sample(qrels, shares, judged, cells, 1, 0, None, True, np.arange(2), pairs, 1)
    estimator = Estimator(sample, kind_of(MEASURES.parse("RR")))
    m = float(estimator.guessed[0])  # the same for all, for both queries have the same judgments
    assert 0 < m < 1
    # squared residuals (1 - m)^2 of b and m^2 of c, their expectation m (1 - m) each, all with p = 1/2
    sigma = math.sqrt(((1 - m) ** 2 + m**2) / 2)
    assert estimator.predicted_error == pytest.approx([math.sqrt(3) * sigma, sigma, sigma] * 2)
    found = estimator.of(JudgedRun.of_run(run, qrels))
    # expected targets 1, m, 0: derivative 1 - m/2 at rank 1, and 0 below a document that is relevant
    terms = dict(zip(found.predicted[0].tolist(), found.predicted[1].tolist(), strict=True))
    term = (1 - m / 2) * sigma / 2
    assert terms == pytest.approx({0: 0.0, 1: term, 2: 0.0, 3: 0.0, 4: term, 5: 0.0})
    assert found.predicted_difference(found, 6) == pytest.approx(np.zeros(6))
    p = sample.probability[sample.drawn]
    half = half_width(found.errors, found.replicates, p, 0.95, found.predicted[1])
    both = (variance(found.errors, found.replicates) + 2 * term**2) / 2
    quantile = stats.t.ppf(0.975, degrees_of_freedom(found.errors, p))
    assert half == pytest.approx(quantile * math.sqrt(both))


def test_intervals_of_reciprocal_rank_hold_where_nearly_all_is_judged() -> None:
    """40 lists whose first document is judged and mostly relevant: only few of the others matter.

    The estimated variance alone covers less; binomial error of the coverage: .007.
    """
    rng = np.random.default_rng(5)
    queries, depth = 40, 6
    grades = (rng.random((queries, depth)) < np.array([0.85, 0.4, 0.4, 0.4, 0.4, 0.4])).astype(float)
    names = [(b"q%02d" % q, b"d%d" % d) for q in range(queries) for d in range(depth)]
    qrels = Qrels.of((q, d, g) for (q, d), g in zip(names, grades.ravel().tolist(), strict=True))
    run = Run.of((q, d, -float(i % depth)) for i, (q, d) in enumerate(names))
    judged = JudgedRun.of_run(run, qrels)
    kind = kind_of(MEASURES.parse("RR"))
    truth = float(MEASURES.parse("RR").values(judged).mean())
    probability = np.tile([1.0, 0.8, 0.5, 0.3, 0.2, 0.2], queries)
    size = queries * depth
    place = (np.arange(size), np.arange(size) % depth + 1)
    held = {"estimated": 0, "both": 0}
    draws_ = 800
    for _ in range(draws_):
        drawn = rng.random(size) < probability
        cell = np.zeros(size, dtype=np.int64)
        sample = Sample(qrels, probability, drawn, cell, 1, 0, None, True, np.arange(queries) % 5, place, 1)
        found = Estimator(sample, kind).of(judged)
        error = abs(float(found.values.mean()) - truth)
        p = probability[sample.drawn]
        held["estimated"] += error <= half_width(found.errors, found.replicates, p, 0.95)
        held["both"] += error <= half_width(found.errors, found.replicates, p, 0.95, found.predicted[1])
    assert held["estimated"] < held["both"]
    assert 0.93 <= held["both"] / draws_ <= 0.99


def test_degrees_of_freedom_by_hand() -> None:
    # squares 4 and 1: V = 5, noise = .5 x 16 + .75 x 1 = 8.75, 2 x 25 / 8.75
    found = degrees_of_freedom(np.array([2.0, -1.0]), np.array([0.5, 0.25]))
    assert found == pytest.approx(50 / 8.75)
    assert degrees_of_freedom(np.zeros(2), np.array([0.5, 0.25])) == np.inf
    half = half_width(np.array([2.0, -1.0]), np.zeros(0), np.array([0.5, 0.25]), 0.9)
    assert half == pytest.approx(stats.t.ppf(0.95, 50 / 8.75) * math.sqrt(5))
    assert half_width(np.zeros(0), np.zeros(0), np.zeros(0), 0.95) == 0
    replicates = np.array([1.0, 2.0, 4.0])
    many = half_width(np.zeros(2), replicates, np.array([0.5, 0.25]), 0.95)
    assert many == pytest.approx(stats.norm.ppf(0.975) * replicates.std(ddof=1), rel=1e-5)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.floats(1e-6, 1e6))
def test_degrees_of_freedom_do_not_depend_on_the_scale(errors: list[float], scale: float) -> None:
    p = np.linspace(0.02, 0.9, len(errors))
    values = np.where(np.abs(errors) < 1e-3, 0.0, errors)
    assert degrees_of_freedom(values * scale, p) == pytest.approx(degrees_of_freedom(values, p))


def test_few_draws_with_small_probabilities_need_a_wider_quantile_than_the_normal_one() -> None:
    """400 pairs, of which 19 are drawn on average: the normal interval misses too often, Student's t holds.

    Binomial error of the coverage: 0.0022.
    """
    rng = np.random.default_rng(2)
    p = np.where(np.arange(400) % 8 == 0, 0.2, 0.025)
    grade = (rng.random(400) < 0.3) - 0.3
    held = {"normal": 0, "t": 0}
    for _ in range(10_000):
        drawn = rng.random(400) < p
        share = p[drawn]
        errors = np.sqrt(1 - share) / share * grade[drawn]
        missed = abs(float((grade[drawn] / share).sum() - grade.sum()))
        held["normal"] += missed <= 1.959964 * math.sqrt(variance(errors, np.zeros(0)))
        held["t"] += missed <= half_width(errors, np.zeros(0), share, 0.95)
    assert held["normal"] < held["t"]
    assert 9_300 <= held["t"] <= 9_700


@pytest.mark.parametrize(
    "name", [*LINEAR, *PRODUCTS, "nDCG@3", "R@2", "F(beta=2)@2", "AP", "AP@2", "nDCG(discount=jk)"]
)
def test_certain_judgments_give_the_measure_itself(name: str) -> None:
    measure, judged = MEASURES.parse(name), JudgedRun.of_run(RUN, QRELS)
    sample = sample_of((True,) * 9, guessing=False, share=1.0)
    assert sample.exact
    found = Estimator(sample, kind_of(measure)).of(judged)
    assert found.values == pytest.approx(measure.values(judged), abs=1e-12)
    assert variance(found.errors, found.replicates) == 0
    assert found.shares.tolist() == [1, 0, 0, 0]


def test_a_pair_drawn_with_one_half_counts_twice() -> None:
    # q1: only a (grade 2, p = .5) is judged, at rank 2: P@3 = 2 / 3
    sample = sample_of((True, *[False] * 8), guessing=False)
    found = Estimator(sample, kind_of(MEASURES.parse("P@3"))).of(JudgedRun.of_run(RUN, QRELS))
    assert found.values.tolist() == pytest.approx([2 / 3, 0, 0])


pairs = st.lists(st.booleans(), min_size=9, max_size=9)


@settings(max_examples=40, deadline=None)
@given(pairs, st.lists(st.floats(0, 1), min_size=2, max_size=2))
def test_sums_equal_a_loop_over_documents(chosen: list[bool], guesses: list[float]) -> None:
    sample = sample_of(tuple(chosen), guessing=True)
    estimator = Estimator(sample, kind_of(MEASURES.parse("P@3")))
    fixed = Guess(*[np.tile(np.array(guesses), (3, 1))] * 2)
    estimator.__dict__["_guess"] = fixed
    found = estimator.of(JudgedRun.of_run(RUN, QRELS))
    row, expected, spread = 0, [], 0.0
    for query, grades in GRADES.items():
        value = 0.0
        for document, p in zip(grades, SHARES[query], strict=True):
            m, y = guesses[row % 2], float(grades[document] >= 1)
            if document in LISTS[query][:3]:
                value += (m + (chosen[row] / p) * (y - m)) / 3
                if chosen[row]:
                    spread += (1 - p) / p**2 * ((y - m) / 9) ** 2
            row += 1
        expected.append(value)
    assert found.values == pytest.approx(expected, abs=1e-12)
    assert variance(found.errors, found.replicates) == pytest.approx(spread, abs=1e-12)
    assert found.shares.sum() == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given(pairs)
def test_reciprocal_rank_equals_a_loop_and_its_slopes_are_differences(chosen: list[bool]) -> None:
    sample = sample_of(tuple(chosen), guessing=True)
    estimator = Estimator(sample, kind_of(MEASURES.parse("RR")))
    found = estimator.of(JudgedRun.of_run(RUN, QRELS))
    places = {
        (query, document): row
        for row, (query, document) in enumerate(
            (query, document) for query, grades in GRADES.items() for document in grades
        )
    }

    def value(pseudo: np.ndarray, query: bytes) -> float:
        total, left = 0.0, 1.0
        for rank, document in enumerate(LISTS[query], start=1):
            z = pseudo[places[query, document]]
            total, left = total + left * z / rank, left * (1 - z)
        return total

    assert found.values == pytest.approx([value(estimator.pseudo, q) for q in LISTS], abs=1e-9)
    for place, row in enumerate(sample.drawn.tolist()):
        query = next(q for (q, _), number in places.items() if number == row)
        moved = estimator.pseudo.copy()
        moved[row] += 1.0
        slope = (value(moved, query) - value(estimator.pseudo, query)) / 3
        p, residual = sample.probability[row], sample.reached(estimator.kind.target) - estimator.guessed
        error = math.sqrt(1.0 - p) / p * residual[row]
        assert found.errors[place] == pytest.approx(slope * error, abs=1e-9)


def test_documents_outside_the_frame_are_guessed_or_unknown_and_counted() -> None:
    other = Run.of([(b"q1", b"z", 2.0), (b"q1", b"c", 1.0), (b"q2", b"e", 1.0), (b"q3", b"f", 1.0)])
    judged = JudgedRun.of_run(other, QRELS)
    kind = kind_of(MEASURES.parse("P@2"))
    guessed = Estimator(sample_of((True,) * 9, guessing=True), kind).of(judged)
    unknown = Estimator(sample_of((True,) * 9, guessing=False), kind).of(judged)
    assert guessed.shares[2] == pytest.approx(1 / 6)
    assert unknown.shares[3] == pytest.approx(1 / 6)
    assert guessed.doubt.sum() == pytest.approx(1 / 6)  # one place of six could be anything
    assert unknown.values[0] == pytest.approx(1 / 2)
    assert guessed.values[0] > unknown.values[0]


def test_the_doubt_of_a_difference_is_the_most_that_free_grades_can_change() -> None:
    """Try all grades of the pairs outside the frame; what both runs list alike cancels."""
    sample = replace(
        sample_of((False, True, True, False, True, True, False, True, True), guessing=True),
        probability=np.array([0.0, 0.5, 1.0, 0.0, 0.3, 0.6, 0.0, 0.4, 0.7]),
    )
    other = Run.of([(b"q1", b"a", 2.0), (b"q1", b"c", 1.0), (b"q2", b"b", 2.0), (b"q2", b"a", 1.0)])
    judged = [JudgedRun.of_run(one, QRELS) for one in (RUN, other)]
    for name in ("P@2", "RBP(p=0.8)@3"):
        kind = kind_of(MEASURES.parse(name))
        assert isinstance(kind, Linear)
        first, second = (Estimator(sample, kind).of(one) for one in judged)
        doubt, proportion = first.doubt_of_difference(second, 9)
        gaps = []
        for grades in itertools.product((0.0, 1.0), repeat=3):
            table = Estimator(sample, kind).pseudo.copy()
            table[[0, 3, 6]] = grades
            values = [
                sum(
                    float(kind.weights(np.array([float(rank)]))[0]) * table[row]
                    for row, rank in zip(one.row.tolist(), one.rank.tolist(), strict=True)
                    if kind.cutoff is None or rank <= kind.cutoff
                )
                for one in judged
            ]
            gaps.append((values[0] - values[1]) / 3)
        estimated = float(first.values.mean() - second.values.mean())
        assert doubt.tolist() == pytest.approx([estimated - min(gaps), max(gaps) - estimated])
        assert proportion == pytest.approx(doubt.sum() / (first.doubt.sum() + second.doubt.sum()))


def test_the_number_of_documents_is_exact_for_certain_pairs_and_never_below_what_was_found() -> None:
    kind = kind_of(MEASURES.parse("R@2"))
    everything = replace(sample_of((True,) * 9, guessing=True), probability=np.ones(9))
    target = kind.target
    assert Estimator(everything, kind)._count(target)[:, 0].tolist() == [2, 2, 1]
    some = Estimator(sample_of((True,) * 9, guessing=True), kind)._count(target)
    assert (some >= np.array([1, 0, 0])[:, None]).all()


def test_replicates_have_the_mean_and_variance_of_the_weights() -> None:
    size = 4000
    table = Qrels.of((b"q", f"d{row:05}".encode(), 0.0) for row in range(size))
    sample = of_one_cell(table, np.full(size, 0.25), np.ones(size, dtype=np.bool_), guessing=True)
    weights = sample.replicated
    assert (weights[:, 0] == 4).all()
    assert weights[:, 1:].mean() == pytest.approx(4, abs=0.05)
    assert weights[:, 1:].var() == pytest.approx(0.75 / 0.25**2, rel=0.05)
    assert weights.min() > 0


def test_a_guess_is_made_without_the_judgments_of_its_query() -> None:
    target, cell = np.array([1.0, 1.0, 0.0, 0.0]), np.zeros(4, dtype=np.int64)
    fold, ones = np.array([0, 0, 1, 1]), np.ones(4)
    found = fit(target, cell, fold, ones, ones, cells=1, folds=2)
    assert found[:, 0].tolist() == [0.0, 1.0]


def test_a_cell_shrinks_toward_the_mean_of_all() -> None:
    target = np.array([1.0] * 5 + [0.0] * 15)
    cell = np.array([0] * 5 + [1] * 15)
    found = fit(target, cell, np.ones(20, dtype=np.int64), np.ones(20), np.ones(20), cells=2, folds=2)
    assert found[0].tolist() == pytest.approx([(5 * 1 + 5 * 0.25) / 10, (5 * 0.25) / 20])


judgments_of_rest = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 2), st.integers(0, 3), st.floats(1, 50)), max_size=25
)


@given(judgments_of_rest, st.sampled_from([None, 0]))
def test_predictions_outside_the_frame_equal_a_loop(
    rows: list[tuple[float, int, int, float]], apart: int | None
) -> None:
    table = np.linspace(0.2, 0.9, 12).reshape(4, 3)
    y, cell, fold, weight = np.array(rows).T if rows else np.zeros((4, 0))
    found = fit_outside(table, y, cell.astype(np.int64), fold.astype(np.int64), weight, apart)
    for number, one in itertools.product(range(4), range(3)):
        others = [row for row in rows if row[2] != number]
        alike = [row for row in others if row[1] == one]
        if one == apart and not alike:
            alike = others
        total = sum(row[3] for row in alike)
        mean = sum(row[0] * row[3] for row in alike) / total if alike else 0.0
        expected = (len(alike) * mean + OUTSIDE_SHRINKAGE * table[number, one]) / (
            len(alike) + OUTSIDE_SHRINKAGE
        )
        assert found[number, one] == pytest.approx(expected)


def test_documents_outside_the_frame_are_guessed_from_what_no_pooled_run_ranks_high() -> None:
    """P@2: the pairs at rank 3 of the pooled run, by 1 / p, and what is in the frame by weight."""
    chosen = (True,) * 9
    sample = replace(sample_of(chosen, guessing=True), cell=np.zeros(9, dtype=np.int64), cells=1)
    guess = sample.guess(kind_of(MEASURES.parse("P@2")).target, lambda ranks: ranks * 0 + 0.5, 2)
    grades = [g for one in GRADES.values() for g in one.values()]
    shares = [p for one in SHARES.values() for p in one]
    query = [0, 0, 0, 0, 1, 1, 1, 2, 2]
    for number in range(3):
        rows = [row for row in (2, 5, 8) if query[row] != number]  # ranks are 1, 2, 3, 1, 2, 3, ...
        total = sum(1 / shares[row] for row in rows)
        mean = sum((grades[row] >= 1) / shares[row] for row in rows) / total
        m = guess.table[number, 0]
        assert guess.outside[number, 0] == pytest.approx((2 * mean + 20 * m) / 22)
    without = replace(sample, pooled=0).guess(kind_of(MEASURES.parse("P@2")).target, lambda ranks: ranks, 2)
    assert (without.outside == without.table).all()


@given(st.lists(st.integers(0, 12), min_size=1, max_size=8))
def test_merged_cells_are_neighbours_with_enough_judgments(counts: list[int]) -> None:
    group = merged_cells(np.array(counts))
    assert (np.diff(group) >= 0).all()
    assert (np.diff(group) <= 1).all()
    sizes = np.bincount(group, counts)
    assert len(sizes) == 1 or (sizes >= 5).all()


def test_the_coverage_that_is_printed_is_the_measured_one() -> None:
    path = Path(__file__).resolve().parents[2] / "docs" / "studies" / "estimate.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    cells = kept["cells"]
    ndcg = json.loads((Path(__file__).resolve().parents[2] / NDCG).read_text(encoding="utf-8"))
    redrawn = (Path(__file__).resolve().parents[2] / "docs" / "estimated-differences.csv").read_text("utf-8")
    of_ndcg = [
        100 * one[part]["coverage"]
        for one in ndcg
        for part in ("run", "difference")
        if one["measure"] == "nDCG@10" and one["given"]
    ]
    assert (round(min(of_ndcg)), round(max(of_ndcg))) == COVERAGE["nDCG"]
    printed = [(kind, limits, False) for kind, limits in COVERAGE.items() if kind != "nDCG"]
    printed += [(kind, limits, True) for kind, limits in COVERAGE_UNGUESSED.items()]
    for kind, limits, unguessed in printed:
        shares = [
            100 * one["coverage_pooled"]
            for one in cells
            if one["measure"].startswith(kind)
            and (one["proxy"] == "none") is unguessed
            and one["coverage_pooled"] is not None
        ]
        if not unguessed:  # and over pools that were drawn again, rounded down
            shares += [
                math.floor(100 * float(row["share"]))
                for row in csv.DictReader(redrawn.splitlines())
                if row["measure"] == kind and row["kind"] == "draws"
            ]
        assert (round(min(shares)), round(max(shares))) == limits
    shares = [
        100 * one["coverage_new"]
        for one in cells
        if one["measure"].partition("(")[0] in {"P", "RBP", "DCG"}
        and one["proxy"] != "none"
        and one.get("coverage_new") is not None
    ]
    by_set: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    for one in kept["outside"]:
        if one["measure"] != "RR" and one["proxy"] != "none" and one["most"] <= MOST_GUESSED_OF_NEW:
            group = by_set.setdefault((one["set"], one["measure"], one["proxy"]), [])
            group.append((100 * one["coverage"], one["estimates"]))
    for group in by_set.values():
        shares.append(sum(share * count for share, count in group) / sum(count for _, count in group))
    assert (round(min(shares)), round(max(shares))) == COVERAGE_OF_NEW


def test_one_stratum_without_guesses_has_the_expectation_of_infap() -> None:
    """Uniform draws from the pool of one query, by rank: both estimate the precision at each relevant rank.

    infAP (Yilmaz and Aslam 2006) estimates the precision at rank k by 1/k + (k - 1)/k times the share of
    relevant documents among those drawn above it. The expectation is taken where one was drawn at all: the
    constants that infAP adds otherwise are a bias.
    """
    grades, share = [1, 0, 1, 1, 0, 1], 0.3
    table = Qrels.of((b"q", b"d%d" % rank, float(grade)) for rank, grade in enumerate(grades))
    run = JudgedRun.of_run(Run.of([(b"q", b"d%d" % rank, -float(rank)) for rank in range(6)]), table)
    weight, infap, mean = np.zeros(6), np.zeros(6), np.zeros(6)
    for chosen in itertools.product((False, True), repeat=6):
        chance = math.prod(share if one else 1 - share for one in chosen)
        sample = of_one_cell(table, np.full(6, share), np.array(chosen), guessing=False)
        estimator = Estimator(sample, kind_of(MEASURES.parse("AP")))
        pseudo = estimator.pseudo[run.row]
        above = np.cumsum(pseudo) - pseudo
        mean += chance * pseudo * (1 + above) / np.arange(1, 7)
        for place, yes in enumerate(chosen):
            drawn = [grade for grade, one in zip(grades[:place], chosen[:place], strict=True) if one]
            if yes and (drawn or not place):
                weight[place] += chance
                found = place * sum(drawn) / len(drawn) if place else 0.0
                infap[place] += chance * grades[place] * (1 + found) / (place + 1)
    assert mean == pytest.approx(infap / weight, abs=1e-12)
    relevant = sum(grades)
    assert mean.sum() / relevant == pytest.approx(MEASURES.parse("AP").of(grades), abs=1e-12)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("runs", [1, 2])
def test_an_infinite_estimate_is_refused(runs: int) -> None:
    found = {f"run {number}": {"q": {"a": 2.0, "b": 1.0}} for number in range(runs)}
    with pytest.raises(UsageError, match="the estimate of CG@2 is infinite"):
        _ = estimate({"q": {"a": 1, "b": 1e308}}, found, "CG@2", pool={"q": {"a": 1.0, "b": 0.5}}).warnings
    with pytest.raises(UsageError, match="infinite"):
        estimate({"q": {"a": 1, "b": 4000}}, found, "DCG(gain=exp)@2", pool={"q": {"a": 1.0, "b": 0.5}})
