"""nDCG from a sample of judgments: the model equals a dense twin, completions a loop, intervals hold."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline as ll
from leadline.data.judgment_tables import DrawnPool
from leadline.errors import UsageError
from leadline.estimation import ideal_lists
from leadline.estimation.designs import Ratio, kind_of
from leadline.estimation.estimate import EstimatedResults, estimate
from leadline.estimation.ideal_lists import Features, IdealLists, _residuals, fit, list_values, probabilities
from leadline.estimation.measured_pool import _Relevance, _variance_between
from leadline.estimation.pool_designs import pool_for
from leadline.estimation.samples import evidence_of
from leadline.measures import MEASURES

World = tuple[dict[str, dict[str, list[str]]], dict[str, dict[str, float]]]


def world(seed: int, queries: int, *, runs: int = 2, top: float = 0.4, rest: float = 0.05) -> World:
    """Return runs and grades: relevant documents are at the first ranks, few below."""
    rng = random.Random(seed)
    lists: dict[str, dict[str, list[str]]] = {f"run{number}": {} for number in range(runs)}
    grades: dict[str, dict[str, float]] = {}
    for number in range(queries):
        query, level = f"q{number}", rng.gauss(0, 0.8)
        documents = [f"d{place}" for place in range(40)]
        grades[query] = {}
        for place, document in enumerate(documents):
            logit = (
                level + math.log(top / (1 - top)) * (place < 8) + math.log(rest / (1 - rest)) * (place >= 8)
            )
            relevant = rng.random() < 1 / (1 + math.exp(-logit))
            grades[query][document] = float(relevant) * rng.choice([1, 2])
        for ranked in lists.values():
            noisy = sorted(range(40), key=lambda place: place + rng.gauss(0, 4))
            ranked[query] = [documents[place] for place in noisy]
    return lists, grades


def drawn_of(pool: DrawnPool, grades: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the judgments of the drawn pairs."""
    judged: dict[str, dict[str, float]] = {}
    for query, document, drawn in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if drawn:
            judged.setdefault(query, {})[document] = grades[query][document]
    return judged


def estimated(lists: Any, grades: Any, budget: float, seed: int = 0, **options: Any) -> EstimatedResults:
    pool = pool_for(lists, "nDCG@10", budget=budget, seed=seed).pool
    return estimate(drawn_of(pool, grades), lists, "nDCG@10", pool=pool, **options)


def truth(lists: Any, grades: Any, run: str, measure: str = "nDCG@10") -> float:
    """Return the value over the frame: the documents at ranks 1 to 20 of any run."""
    frame = {query: {d for one in lists.values() for d in one[query][:20]} for query in grades}
    kept = {q: {d: g for d, g in documents.items() if d in frame[q]} for q, documents in grades.items()}
    return ll.evaluate(kept, {run: lists[run]}, measure).mean(run, measure)


# The model.


def dense_fit(features: Features, query: np.ndarray, queries: int, reached: np.ndarray) -> Any:
    """Fit the same model with one large matrix: coefficients of all features and queries together."""
    f, group, z = features
    size = f.shape[1]
    whole = np.zeros((len(f), size + 2 * queries))
    whole[:, :size] = f
    for row, number in enumerate(query.tolist()):
        whole[row, size + 2 * number : size + 2 * number + 2] = z[row]
    mean = min(max((reached.sum() + 0.5) / (len(reached) + 1), 0.01), 0.99)
    theta = np.zeros(whole.shape[1])
    theta[0] = math.log(mean / (1 - mean))
    lam, spread = np.array([9.0, 0.25, 0.25, 0.25])[group], np.diag([1.0, 0.25])
    cov: Any = None
    hessian: Any = None
    for number in range(ideal_lists.ROUNDS):
        logit = np.clip(whole @ theta, -12, 12)
        slope = np.ones(len(f))
        if number >= 3:
            doubt = np.einsum("np,pr,nr->n", whole, cov, whole)
            slope = 1 / np.sqrt(1 + math.pi * np.minimum(doubt, 25) / 8)
        mu = 1 / (1 + np.exp(-slope * logit))
        weight = np.maximum(slope * mu * (1 - mu), 1e-5)
        prior = np.zeros((len(theta), len(theta)))
        prior[:size, :size] = np.diag(1 / lam)
        for one in range(queries):
            block = slice(size + 2 * one, size + 2 * one + 2)
            prior[block, block] = np.linalg.inv(spread)
        hessian = (whole * weight[:, None]).T @ whole + prior
        cov = np.linalg.inv(hessian)
        step = cov @ (whole.T @ (reached - mu) - prior @ theta)
        theta = theta + min(1.0, 3 / max(np.abs(step).max(), 1e-9)) * step
        if number >= 2:
            total = 3 * np.diag([1.0, 0.25])
            for one in range(queries):
                block = slice(size + 2 * one, size + 2 * one + 2)
                total = total + np.outer(theta[block], theta[block]) + cov[block, block]
            spread = total / (queries + 3)
            for one in range(1, 4):
                kept = np.flatnonzero(group == one)
                if len(kept):
                    squares = (theta[kept] ** 2).sum() + cov[kept, kept].sum()
                    lam[kept] = (squares + 3 * 0.25) / (len(kept) + 3)
    return theta, cov


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0.05, 0.95))
def test_the_model_equals_a_fit_with_one_large_matrix(seed: int, queries: int, rate: float) -> None:
    rng = np.random.default_rng(seed)
    query = np.sort(rng.integers(0, queries, 40))
    group = np.array([0, 0, 1, 1, 2])
    common = np.concatenate([np.ones((40, 1)), rng.normal(size=(40, 4))], axis=1)
    own = np.stack([np.ones(40), rng.normal(size=40)], axis=1)
    features, reached = Features(common, group, own), rng.random(40) < rate
    found = fit(features, query, queries, reached)
    theta, cov = dense_fit(features, query, queries, reached.astype(float))
    assert found.common == pytest.approx(theta[:5], abs=1e-6)
    assert found.own.ravel() == pytest.approx(theta[5:], abs=1e-6)
    assert np.linalg.inv(found.precision) == pytest.approx(cov[:5, :5], abs=1e-6)


def test_draws_have_the_mean_and_covariance_of_the_posterior() -> None:
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(3), 8)
    common = np.concatenate([np.ones((24, 1)), rng.normal(size=(24, 2))], axis=1)
    own = np.stack([np.ones(24), rng.normal(size=24)], axis=1)
    features, reached = Features(common, np.array([0, 1, 1]), own), rng.random(24) < 0.4
    model = fit(features, query, 3, reached)
    theta, cov = dense_fit(features, query, 3, reached.astype(float))
    moved, effects = model.draws(40_000, rng)
    both = np.concatenate([moved, effects.reshape(6, -1)])
    assert both.mean(axis=1) == pytest.approx(theta, abs=0.05)
    assert np.cov(both) == pytest.approx(cov, abs=0.06)
    chances = probabilities(features, query, moved[:, :2], effects[:, :, :2])
    logit = common[5] @ moved[:, 1] + own[5] @ effects[0, :, 1]
    assert chances[5, 1] == pytest.approx(1 / (1 + math.exp(-logit)))


# Completions and the correction.


def completions(measure: str, *, budget: float = 7, seed: int = 5, queries: int = 12) -> IdealLists:
    """Return the completions of a pool drawn for nDCG@5."""
    lists, grades = world(seed, queries)
    pool = pool_for(lists, "nDCG@5", budget=budget, seed=2).pool
    sample = evidence_of(drawn_of(pool, grades), pool, None, None, skipped=False, seed=1).sample
    kind = kind_of(MEASURES.parse(measure))
    assert isinstance(kind, Ratio)
    return IdealLists(sample.pool_pairs, kind, 1)


@pytest.mark.parametrize("measure", ["nDCG@3", "nDCG@10", "nDCG(gain=exp)@5", "nDCG(discount=jk)@4", "nDCG"])
def test_values_are_means_over_the_completions_plus_the_correction(measure: str) -> None:
    lists = completions(measure)
    pairs, found, gains = lists.pairs, lists.completed, lists.levels.gains
    cutoff = lists.kind.cutoff or 1000
    assert (found.level[pairs.judged] == lists.levels.of[pairs.judged][:, None]).all()
    size = found.level.shape[1]
    ranks = pairs.ranks[:, 0]
    chosen = np.flatnonzero((ranks > 0) & (ranks <= cutoff))
    weight = lists.kind.weights(ranks[chosen].astype(float))
    got, got_replicates = list_values(lists, pairs.query[chosen], chosen, weight, np.zeros(pairs.queries))
    total = np.zeros((pairs.queries, size))
    for query in range(pairs.queries):
        rows = np.flatnonzero(pairs.query == query)
        for s in range(size):
            gain = gains[found.level[rows, s]]
            ideal = sorted(gain.tolist(), reverse=True)[:cutoff]
            best = sum(g * float(lists.kind.weights(np.array([i + 1.0]))[0]) for i, g in enumerate(ideal))
            listed = [place for place, row in enumerate(rows) if 0 < ranks[row] <= cutoff]
            dcg = sum(
                gain[place] * float(lists.kind.weights(np.array([float(ranks[rows[place]])]))[0])
                for place in listed
            )
            total[query, s] = dcg / best if best > 0 else 0.0
    corrections = found.corrections
    assert corrections is not None
    gained = np.zeros((pairs.queries, size))
    discount = np.zeros(len(pairs.query))
    for pair, w in zip(chosen.tolist(), weight.tolist(), strict=True):
        discount[pair] = w
        gained[pairs.query[pair]] += w * gains[found.level[pair]]
    residual, noise = _residuals(
        corrections, gains, discount[corrections.pair], gained[pairs.query[corrections.pair]]
    )
    values, replicates = total.mean(axis=1), total.mean(axis=0)
    for place, pair in enumerate(corrections.pair.tolist()):
        assert pairs.judged[pair]
        assert pairs.probability[pair] < 1
        factor = 1 / pairs.probability[pair] - 1
        values[pairs.query[pair]] += factor * residual[place]
        replicates = replicates + factor * noise[place] / pairs.queries
    wider = replicates.mean() + 1.1 * (replicates - replicates.mean())
    assert got == pytest.approx(values, abs=1e-9)
    assert got_replicates == pytest.approx(wider, abs=1e-9)


def test_completions_have_the_chances_of_the_model() -> None:
    lists = completions("nDCG@5", queries=40)
    pairs, found = lists.pairs, lists.completed
    kept = np.flatnonzero(pairs.judged)
    features = lists._features
    draws = np.random.default_rng(9)
    first = fit(features.rows(kept), pairs.query[kept], pairs.queries, lists.levels.of[kept] >= 1)
    second_rows = kept[lists.levels.of[kept] >= 1]
    second = fit(
        features.rows(second_rows), pairs.query[second_rows], pairs.queries, lists.levels.of[second_rows] >= 2
    )
    one = probabilities(features, pairs.query, *first.draws(4000, draws))
    two = probabilities(features, pairs.query, *second.draws(4000, draws))
    open_ = ~pairs.judged
    assert (found.level[open_] >= 1).mean() == pytest.approx(one[open_].mean(), abs=0.02)
    assert (found.level[open_] >= 2).mean() == pytest.approx((one * two)[open_].mean(), abs=0.02)


def corrected(
    lists: IdealLists, gains: Any, own: Any, others: Any, chances: Any, discount: Any, gained: Any
) -> tuple[Any, Any, Any]:
    """Return residuals and noise of drawn pairs with given levels, other documents and chances."""
    lists.__dict__["levels"] = lists.levels._replace(gains=np.array(gains), of=np.array(own))
    corrections = lists._corrections(np.arange(len(own)), others, chances, np.random.default_rng(0))
    return *_residuals(corrections, np.array(gains), np.array(discount), gained), corrections


def test_the_correction_by_one_pair_by_hand() -> None:
    """One other relevant document, at rank 1 of the run; the pair, at rank 2, is relevant with chance 1/2.

    If it is, list and ideal are 1 + 1/log2(3), nDCG is 1. If not, both are 1, nDCG is 1 too: judging it
    changes nothing. At rank 3, nDCG with it is (1 + 1/2) / (1 + 1/log2(3)) = 0.9197, without it 1, and 0.9599
    is expected.
    """
    others, chances = [np.array([[1, 1], [1, 1]])], [np.full((2, 2), 0.5)]
    for rank, value in ((2, 1.0), (3, 1.5 / (1 + 1 / math.log2(3)))):
        discount = 1 / math.log2(rank + 1)
        gained = np.array([[1 + discount] * 2, [1.0] * 2])  # the first pair is relevant, the second is not
        residual, noise, _ = corrected(
            completions("nDCG@5"), [0.0, 1.0], [1, 0], others, chances, [discount] * 2, gained
        )
        half = (value - 1) / 2
        assert residual == pytest.approx([half, -half], abs=1e-6)
        if rank == 2:
            assert noise == pytest.approx(np.zeros((2, 2)), abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_corrections_equal_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gains = [0.0, 1.0, 3.0]
    drawn, size = 4, 50
    twos = rng.integers(0, 4, (drawn, size))
    others = [twos + rng.integers(0, 4, (drawn, size)), twos]
    chances = [rng.uniform(0.02, 0.98, (drawn, size)) for _ in range(2)]
    own, discount = rng.integers(0, 3, drawn), rng.uniform(0, 1, drawn)
    gained = rng.uniform(3, 6, (drawn, size))
    residual, noise, corrections = corrected(
        completions("nDCG@5"), gains, own, others, chances, discount, gained
    )
    for i in range(drawn):
        exactly = [[1 - a, a * (1 - b), a * b] for a, b in zip(chances[0][i], chances[1][i], strict=True)]
        weights = [1 / max(one[own[i]], 1e-3) for one in exactly]
        most = sum(weights) / size * math.sqrt(size)
        weights = [min(weight, most) for weight in weights]
        weights = [weight / sum(weights) for weight in weights]
        values, chance = [], []
        for level in range(3):
            mean = 0.0
            for s in range(size):
                two = twos[i, s] + (level == 2)
                one = others[0][i, s] - twos[i, s] + (level == 1)
                best = ([3.0] * two + [1.0] * one)[:5]
                ideal = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(best))
                list_gain = gained[i, s] + discount[i] * (gains[level] - gains[own[i]])
                mean += weights[s] * list_gain / ideal if ideal > 0 else 0.0
            values.append(mean)
            chance.append(sum(weight * one[level] for weight, one in zip(weights, exactly, strict=True)))
        expected = sum(value * share for value, share in zip(values, chance, strict=True))
        assert residual[i] == pytest.approx(values[own[i]] - expected, abs=1e-5)
        for s in range(size):
            simulated = expected - values[corrections.simulated[i, s]]
            both = (simulated + residual[i] * corrections.normal[i, s]) / math.sqrt(2)
            assert noise[i, s] == pytest.approx(both, abs=1e-5)


# The estimates.


def test_everything_judged_gives_the_measure_itself() -> None:
    lists, grades = world(3, 30)
    found = estimated(lists, grades, 60)
    for run in lists:
        assert found.mean(run, "nDCG@10") == truth(lists, grades, run)
        one = found.estimate(run, "nDCG@10")
        assert one.these_low == one.these_high == one.value


def test_certain_lists_do_not_make_the_ideal_certain() -> None:
    """All documents above the cutoff are judged, the others are not: the value depends on the model."""
    lists, grades = world(3, 30)
    pool = pool_for(lists, "nDCG@10", budget=20, new_runs=0, depth=10).pool
    whole = pool_for(lists, "nDCG@10", budget=60).pool
    above = set(zip(pool.queries, pool.documents, strict=True))
    share = np.array([pair in above for pair in zip(whole.queries, whole.documents, strict=True)])
    thin = replace(whole, probability=share.astype(float), drawn=share)
    found = estimate(drawn_of(thin, grades), lists, "nDCG@10", pool=thin)
    one = found.estimate("run0", "nDCG@10")
    assert one.judged == 1
    assert one.value != truth(lists, grades, "run0")
    assert abs(one.value - truth(lists, grades, "run0")) < 0.05
    assert one.these_low < one.value < one.these_high or one.reason


def test_other_gains_discounts_and_pools_for_other_measures_were_not_simulated() -> None:
    lists, grades = world(3, 40)
    for drawn_for, measures, printed in (
        ("nDCG@10", ["nDCG@10", "nDCG(gain=exp)@10", "nDCG(discount=jk)@10"], [True, False, False]),
        ("P@10", ["nDCG@10"], [False]),
    ):
        pool = pool_for(lists, drawn_for, budget=10).pool
        found = estimate(drawn_of(pool, grades), lists, measures, pool=pool)
        ones = [found.estimate("run0", measure) for measure in measures]
        assert [not one.reason for one in ones] == printed
        assert [math.isnan(one.these_low) for one in ones] == [not one for one in printed]


def test_nothing_depends_on_the_order_of_runs_or_rows_or_the_ids_of_documents() -> None:
    lists, grades = world(8, 30, runs=3)
    pool = pool_for(lists, "nDCG@10", budget=8).pool
    judged = drawn_of(pool, grades)
    first = estimate(judged, lists, "nDCG@10", pool=pool)
    shuffled = np.random.default_rng(1).permutation(len(pool.queries))
    turned = replace(
        pool,
        queries=[pool.queries[row] for row in shuffled],
        documents=[pool.documents[row] for row in shuffled],
        probability=pool.probability[shuffled],
        order=pool.order[shuffled],
        contributors=[dict(reversed(pool.contributors[row].items())) for row in shuffled],
        drawn=pool.drawn[shuffled],
    )
    backwards = dict(reversed(lists.items()))
    second = estimate(judged, backwards, "nDCG@10", pool=turned)
    other = {f"d{place}": f"x{(place * 17) % 40}" for place in range(40)}
    renamed = replace(pool, documents=[other[document] for document in pool.documents])
    third = estimate(
        {query: {other[d]: g for d, g in documents.items()} for query, documents in judged.items()},
        {name: {q: [other[d] for d in ranked] for q, ranked in one.items()} for name, one in lists.items()},
        "nDCG@10",
        pool=renamed,
    )
    for run in lists:
        one = first.estimate(run, "nDCG@10")
        for found in (second, third):
            same = found.estimate(run, "nDCG@10")
            assert (same.value, same.these_low, same.these_high) == pytest.approx(
                (one.value, one.these_low, one.these_high), abs=1e-9, nan_ok=True
            )


@pytest.mark.parametrize("grade", [0.0, 1.0])
@pytest.mark.parametrize("queries", [1, 12])
def test_judgments_that_are_all_alike_give_no_interval(grade: float, queries: int) -> None:
    lists, grades = world(4, queries)
    alike = {query: dict.fromkeys(documents, grade) for query, documents in grades.items()}
    found = estimated(lists, alike, 8)
    one = found.estimate("run0", "nDCG@10")
    assert one.reason
    assert math.isnan(one.these_low)
    assert one.value == pytest.approx(grade, abs=0.15)


def test_hundreds_of_different_grades_are_grouped() -> None:
    lists, grades = world(6, 30)
    rng = random.Random(1)
    fine = {q: {d: g * rng.random() for d, g in documents.items()} for q, documents in grades.items()}
    found = estimated(lists, fine, 8)
    assert abs(found.mean("run0", "nDCG@10") - truth(lists, fine, "run0")) < 0.1


@pytest.mark.parametrize("budget", [10, 12, 16])
def test_intervals_hold_where_the_first_documents_are_certain(budget: int) -> None:
    """Two runs, 83 queries, few relevant documents below the cutoff: 12 draws of two runs.

    The ratio estimator that predicted undrawn documents at the rate of the judged ones held 0 to 4 of 20.
    """
    lists, grades = world(1, 83, top=0.3, rest=0.04)
    values = {run: truth(lists, grades, run) for run in lists}
    held = 0
    for seed in range(12):
        pool = pool_for(lists, "nDCG@10", budget=budget, seed=seed).pool
        judged = drawn_of(pool, grades)
        found = estimate(judged, lists, "nDCG@10", pool=pool, seed=seed)
        for run, value in values.items():
            one = found.estimate(run, "nDCG@10")
            held += one.these_low <= value <= one.these_high
    sample = evidence_of(judged, pool, None, None, skipped=False, seed=seed).sample
    assert len(sample.probability) == len(pool.queries)
    assert held >= 18


# The forecast.


@pytest.mark.parametrize(("top", "rest"), [(0.3, 0.05), (0.6, 0.2)])
def test_the_forecast_with_labels_is_what_estimates_of_other_draws_give(top: float, rest: float) -> None:
    lists, grades = world(5, 40, runs=3, top=top, rest=rest)
    _, labels = world(6, 40, runs=3, top=top, rest=rest)
    forecast = pool_for(lists, "nDCG@10", budget=10, machine=labels).expected["nDCG@10"]["half_width"]
    halves = []
    for seed in range(4):
        results = estimated(lists, grades, 10, seed=seed + 1)
        halves += [
            (one.these_high - one.these_low) / 2 for one in (results.estimate(r, "nDCG@10") for r in lists)
        ]
    assert forecast is not None
    assert 1 / 1.4 < forecast / np.median(halves) < 1.4


def test_a_forecast_needs_labels_and_a_simulated_design() -> None:
    lists, grades = world(7, 40)
    assert pool_for(lists, "nDCG@10", budget=10).expected["nDCG@10"]["half_width"] is None
    few = {query: dict(list(documents.items())[:1]) for query, documents in grades.items()}
    assert pool_for(lists, "nDCG@10", budget=10, machine=few).expected["nDCG@10"]["half_width"] is None
    for measures in (["nDCG@5"], ["nDCG@10", "P@10"]):
        found = pool_for(lists, measures, budget=10, machine=grades)
        assert found.expected[measures[0]]["half_width"] is None
        assert "no_forecast" in {one.code for one in found.warnings}
    told = [
        {one.code for one in pool_for(lists, "nDCG@10", budget=10, machine=one).warnings}
        for one in (grades, few)
    ]
    assert ["without_labels" in codes for codes in told] == [True, False]
    again = [pool_for(lists, "nDCG@10", budget=10, machine=grades).expected for _ in range(2)]
    assert again[0] == again[1]
    wider = pool_for(lists, "nDCG@10", budget=6, machine=grades).expected["nDCG@10"]["half_width"]
    narrower = again[0]["nDCG@10"]["half_width"]
    assert wider is not None
    assert narrower is not None
    assert 0 < narrower < wider


def test_labels_leave_no_interval_and_the_error_says_how_to_go_without_them() -> None:
    lists, grades = world(7, 40)
    pool = pool_for(lists, "nDCG@10", budget=10).pool
    labels = {query: {one: float(int(one[-1]) % 2) for one in given} for query, given in grades.items()}
    found = estimate(drawn_of(pool, grades), lists, "nDCG@10", pool=pool, machine=labels)
    with pytest.raises(UsageError, match="machine='none'"):
        ll.compare(found)


def test_relevance_is_simulated_at_the_rates_of_the_labels() -> None:
    rng = np.random.default_rng(3)
    query = np.repeat(np.arange(400), 20)
    depth = np.log(np.tile(np.arange(1.0, 21.0), 400))
    top = depth <= math.log(10)
    model = _Relevance(query, depth, top, 0.4, 0.1, 0.02, np.array([1.0, 2.0]))
    drawn = [model.draw(rng) > 0 for _ in range(5)]
    assert np.mean([one[top].mean() for one in drawn]) == pytest.approx(0.4, abs=0.01)
    assert np.mean([one[~top].mean() for one in drawn]) == pytest.approx(0.1, abs=0.01)
    spread = [_variance_between(query[top], one[top]) for one in drawn]
    assert np.mean([one or 0.0 for one in spread]) == pytest.approx(0.02, abs=0.005)
