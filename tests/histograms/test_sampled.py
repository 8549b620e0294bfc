"""Sampled rank measures: by hand, against a slow twin, exact for full samples, right on average."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import InputError, UsageError
from leadline.evaluation import evaluate
from leadline.histograms.sampled import sampled

Run = dict[str, dict[str, float]]
MEASURES = [
    "AP",
    "AP@3",
    "nDCG",
    "nDCG@5",
    "RR",
    "P@3",
    "R@4",
    "RBP",
    "ERR@10",
    "Rprec",
    "Success@2",
    "F@3",
]


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], Run]:
    """Draw judgments and full lists without ties."""
    qrels, run = {}, {}
    for query in ("q1", "q2", "q3"):
        size = draw(st.integers(2, 12))
        grades = draw(st.lists(st.integers(-1, 3), min_size=size, max_size=size))
        order = draw(st.permutations(range(size)))
        qrels[query] = {f"d{place}": grade for place, grade in enumerate(grades)}
        run[query] = {f"d{place}": float(score) for place, score in enumerate(order)}
    return qrels, run


@given(cases(), st.sampled_from([None, 1, 2]))
def test_a_full_sample_gives_the_exact_value(
    case: tuple[dict[str, dict[str, int]], Run], level: int | None
) -> None:
    qrels, run = case
    exact = evaluate(qrels, run, MEASURES, rel=level)
    found = sampled(qrels, run, MEASURES, rel=level, draws=3)
    assert found.means[0].tolist() == pytest.approx(exact.means[0].tolist(), abs=1e-12)
    known = ~np.isnan(exact.values)
    assert found.values[known] == pytest.approx(exact.values[known], abs=1e-12)
    again = sampled(qrels, run, MEASURES, rel=level, sample=50, draws=3)
    assert again.means.tolist() == found.means.tolist()
    assert found.limits[0, :, 2] == pytest.approx(found.means[0], abs=1e-12)  # nothing left to draw
    assert found.limits[0, :, 3] == pytest.approx(found.means[0], abs=1e-12)


def slow_ranks(relevant: list[float], others: list[float], size: int) -> list[float]:
    """Estimate the rank of each relevant document, one by one, the best first."""
    weight = size / len(others)
    return [
        1 + place + weight * sum((other > score) + 0.5 * (other == score) for other in others)
        for place, score in enumerate(sorted(relevant, reverse=True))
    ]


@given(
    st.lists(st.integers(0, 6).map(float), min_size=1, max_size=5),
    st.lists(st.integers(0, 6).map(float), min_size=1, max_size=7),
    st.integers(7, 40),
)
def test_the_fast_and_the_slow_way_agree(
    relevant: list[float], others: list[float], size: int
) -> None:
    names = {f"r{place}": score for place, score in enumerate(relevant)}
    run = {"q": names | {f"x{place}": score for place, score in enumerate(others)}}
    qrels = {"q": dict.fromkeys(names, 1) | {"gone": 1}}
    ranks = slow_ranks(relevant, others, size)
    found = sampled(qrels, run, ["AP", "RR", "P@4", "nDCG"], population={"q": size}, draws=0)
    whole = len(relevant) + 1  # one has no score: it counts as never found
    expected = [
        sum(place / rank for place, rank in enumerate(ranks, start=1)) / whole,
        1 / ranks[0],
        sum(rank <= 4 for rank in ranks) / 4,
        sum(1 / math.log2(rank + 1) for rank in ranks)
        / sum(1 / math.log2(place + 2) for place in range(whole)),
    ]
    assert found.means[0].tolist() == pytest.approx(expected)
    assert "no_score" in {notice.code for notice in found.notices}
    less = sampled(qrels, run, ["AP"], population=size + whole, draws=0)  # a collection, with them
    assert less.means[0, 0] == pytest.approx(expected[0])


def collection(queries: int, seed: int) -> tuple[dict[str, dict[str, int]], Run]:
    """Make lists of 1,000 documents, 20 of them relevant and better by one deviation and a half."""
    dice = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(queries):
        scores = dice.normal(size=1000)
        scores[:20] += 1.5
        qrels[f"q{query}"] = {f"d{place}": 1 for place in range(20)}
        run[f"q{query}"] = {f"d{place}": float(score) for place, score in enumerate(scores)}
    return qrels, run


def test_estimates_near_the_full_sample_are_near_and_their_intervals_mostly_hold_the_value() -> (
    None
):
    qrels, run = collection(30, seed=1)
    exact = evaluate(qrels, run, "AP").mean("run", "AP")
    hits = 0
    for seed in range(10):
        found = sampled(qrels, run, "AP", sample=500, seed=seed, draws=60)
        low, high, sampling_low, sampling_high, bias = found.limits[0, 0].tolist()
        assert found.means[0, 0] == pytest.approx(exact, rel=0.15)
        assert low < sampling_low < sampling_high < high
        assert bias > 0
        hits += sampling_low <= exact <= sampling_high
    assert hits >= 6


def test_small_samples_are_too_high_and_nevertheless_order_systems() -> None:
    found, exact = [], []
    for shift in range(4):
        qrels, run = collection(10, seed=5)
        better = {
            query: {
                name: score + (shift / 2 if name in qrels[query] else 0)
                for name, score in one.items()
            }
            for query, one in run.items()
        }
        exact.append(evaluate(qrels, better, "AP").mean("run", "AP"))
        found.append(sampled(qrels, better, "AP", sample=30, draws=0).mean("run", "AP"))
    assert found == sorted(found)
    assert all(one > other for one, other in zip(found, exact, strict=True))


def test_the_same_seed_gives_the_same_result() -> None:
    qrels, run = collection(3, seed=2)
    one, two, other = (sampled(qrels, run, sample=50, seed=seed) for seed in (4, 4, 5))
    assert one.to_dict(per_query=True) == two.to_dict(per_query=True)
    assert one.to_dict() != other.to_dict()


def test_a_function_scores_only_the_relevant_and_the_sample() -> None:
    qrels, run = collection(2, seed=3)
    asked: list[int] = []

    def model(query: str, names: list[str]) -> list[float]:
        asked.append(len(names))
        return [run[query][name] for name in names]

    names = list(run["q0"])
    found = sampled(qrels, {"mine": model}, "AP", documents=names, sample=60)
    assert asked == [80, 80]
    assert found.means.tolist() == sampled(qrels, {"mine": run}, "AP", sample=60).means.tolist()


def test_queries_without_a_sample_are_left_out_and_counted() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "none": {"a": 0}}
    run = {"q1": {"a": 2.0, "x": 3.0}, "q2": {"a": 1.0}}
    found = sampled(qrels, run, "RR", population=4)
    assert found.values[0, :, 0].tolist() == pytest.approx([0.0, 1 / 4, math.nan], nan_ok=True)
    assert found.means[0, 0] == pytest.approx(
        1 / 8
    )  # the query without a relevant document counts 0
    assert sampled(qrels, run, "RR", population=4, queries="with_relevant").means[0, 0] == 1 / 4
    codes = {notice.code for notice in found.notices}
    assert codes >= {"no_sample", "no_relevant", "missing_queries"}
    assert "coarse_sample" in {
        notice.code for notice in sampled(qrels, run, "P@2", population=4).notices
    }


def test_what_cannot_be_estimated_is_refused() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "x": 3.0, "y": 1.0}}
    for measure in ("Bpref", "Judged@10", "infAP", "alpha_nDCG@10", "RankOf"):
        with pytest.raises(UsageError, match=measure.split("@")[0]):
            sampled(qrels, run, measure)
    with pytest.raises(
        InputError, match="2 scored documents that are not relevant in a population of 1"
    ):
        sampled(qrels, run, population=2)
    with pytest.raises(UsageError, match="population=0, fewer than"):
        sampled(qrels, run, population=0)
    with pytest.raises(UsageError, match="no population for query 'q'"):
        sampled(qrels, run, population={"other": 5})


def test_what_a_newcomer_overlooks_is_said() -> None:
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
    flat = {query: dict.fromkeys(("d1", "d2", "d3"), 1.0) for query in qrels}
    notices = {one.code: one for one in sampled(qrels, flat, "AP").notices}
    assert notices["constant_scores"].count == 2
    assert "taken for the whole collection" in notices["no_population"].message
    known = sampled(qrels, {"a": flat, "b": {"q1": {"d1": 2.0, "x": 1.0}}}, "AP", population=9)
    codes = [one.code for one in known.notices]
    assert "no_population" not in codes
    assert "constant_scores: lists of equal scores: 2 in a" in [
        f"{one.code}: {one.message.partition(';')[0]}" for one in known.notices
    ]


def test_a_bias_of_nothing_is_zero() -> None:
    found = sampled({"q1": {"d1": 1, "d2": 1}}, {"q1": {"d1": 3.0, "x": 2.0, "d2": 1.0}}, "AP")
    assert found.limits[0, 0, 4] == 0
