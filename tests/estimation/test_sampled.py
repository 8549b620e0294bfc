"""Sampled rank measures: by hand, against a slow twin, exact for full samples, right on average."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from leadline.errors import InputError, UsageError
from leadline.estimation.sampled import sample_to_score, sampled
from leadline.estimation.strata import Estimates
from leadline.evaluation.evaluate import evaluate
from leadline.io.objects import Qrels, read_qrels, read_run
from leadline.io.objects import Run as ReadRun

Run = dict[str, dict[str, float]]
MEASURES = ["AP", "AP@3", "nDCG", "nDCG@5", "RR", "P@3", "R@4", "RBP", "ERR@10", "Rprec", "Success@2", "F@3"]


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


@examples(25)
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
def test_the_fast_and_the_slow_way_agree(relevant: list[float], others: list[float], size: int) -> None:
    names = {f"r{place}": score for place, score in enumerate(relevant)}
    run = {"q": names | {f"x{place}": score for place, score in enumerate(others)}}
    qrels = {"q": dict.fromkeys(names, 1) | {"gone": 1}}
    ranks = slow_ranks(relevant, others, size)
    found = sampled(
        qrels, run, ["AP", "RR", "P@4", "nDCG"], population={"q": size}, draws=0, correction="none"
    )
    whole = len(relevant) + 1  # one has no score: it counts as never found
    expected = [
        sum(place / rank for place, rank in enumerate(ranks, start=1)) / whole,
        1 / ranks[0],
        sum(rank <= 4 for rank in ranks) / 4,
        sum(1 / math.log2(rank + 1) for rank in ranks)
        / sum(1 / math.log2(place + 2) for place in range(whole)),
    ]
    assert found.means[0].tolist() == pytest.approx(expected)
    assert "no_score" in {notice.code for notice in found.warnings}
    less = sampled(
        qrels, run, ["AP"], population=size + whole, draws=0, correction="none"
    )  # a collection, with them
    assert less.means[0, 0] == pytest.approx(expected[0])


def collection(queries: int, seed: int) -> tuple[dict[str, dict[str, int]], Run]:
    """Make lists of 1,000 documents, 20 of them relevant and better by one deviation and a half."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(queries):
        scores = rng.normal(size=1000)
        scores[:20] += 1.5
        qrels[f"q{query}"] = {f"d{place}": 1 for place in range(20)}
        run[f"q{query}"] = {f"d{place}": float(score) for place, score in enumerate(scores)}
    return qrels, run


def read_collection(queries: int, seed: int) -> tuple[Qrels, ReadRun]:
    """Return a collection that is read once, for tests that draw from it many times."""
    qrels, run = collection(queries, seed)
    return read_qrels(qrels), read_run(run)


def test_uncorrected_estimates_of_first_ranks_are_too_high_and_corrected_ones_are_not() -> None:
    qrels, run = read_collection(30, seed=1)
    exact = evaluate(qrels, run, "AP").mean("run", "AP")
    means, uncorrected = [], []
    for seed in range(20):
        found = sampled(qrels, run, "AP", sample=100, seed=seed, draws=0)
        means.append(found.means[0, 0])
        uncorrected.append(found.uncorrected[0, 0])
        plain = sampled(qrels, run, "AP", sample=100, seed=seed, draws=0, correction="none")
        assert plain.means[0, 0] == found.uncorrected[0, 0] == plain.uncorrected[0, 0]
    assert min(uncorrected) > exact * 1.1
    assert np.mean(means) == pytest.approx(exact, rel=0.08)
    assert abs(np.mean(means) - exact) < abs(np.mean(uncorrected) - exact) / 3


def test_intervals_hold_the_truth_and_their_own_estimate() -> None:
    qrels, run = read_collection(40, seed=1)
    names = ["AP", "RR", "R@100", "P@10", "nDCG@10"]
    exact = evaluate(qrels, run, names).means[0]
    held = np.zeros(len(names))
    rounds = 40
    for seed in range(rounds):
        found = sampled(qrels, run, names, sample=200, seed=seed, draws=20)
        low, high, sampling_low, sampling_high, bias = found.limits[0].T
        assert (sampling_low < found.means[0]).all()
        assert (found.means[0] < sampling_high).all()
        assert (low < found.means[0]).all()
        assert (found.means[0] < high).all()
        assert not np.isnan(bias).any()
        held += (sampling_low <= exact) & (exact <= sampling_high)
    assert (held >= 0.85 * rounds).all(), held  # 0.95 less two and a half standard errors


@pytest.mark.parametrize(
    ("sample", "draws", "approximate"), [(200, 20, True), (None, 20, False), (200, 0, False)]
)
def test_only_intervals_of_samples_are_called_approximate(
    sample: int | None, draws: int, approximate: bool
) -> None:
    qrels, run = read_collection(12, seed=1)
    found = sampled(qrels, run, "AP", sample=sample, draws=draws)
    assert ("approximate" in str(found)) is approximate


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
    found = sampled(qrels, {"mine": model}, "AP", documents=names, sample=60, draws=5)
    assert asked == [80, 80]
    assert found.means.tolist() == sampled(qrels, {"mine": run}, "AP", sample=60, draws=5).means.tolist()


def test_queries_without_a_sample_are_left_out_and_counted() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "none": {"a": 0}}
    run = {"q1": {"a": 2.0, "x": 3.0}, "q2": {"a": 1.0}}
    found = sampled(qrels, run, "RR", population=4, correction="none")
    assert found.values[0, :, 0].tolist() == pytest.approx([0.0, 1 / 4, math.nan], nan_ok=True)
    assert found.means[0, 0] == pytest.approx(1 / 8)  # the query without a relevant document counts 0
    fewer = sampled(qrels, run, "RR", population=4, queries="with_relevant", correction="none")
    assert fewer.means[0, 0] == 1 / 4
    codes = {notice.code for notice in found.warnings}
    assert codes >= {"no_sample", "no_relevant", "missing_queries"}


def test_what_cannot_be_estimated_is_refused() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "x": 3.0, "y": 1.0}}
    for measure in ("Bpref", "Judged@10", "infAP", "alpha_nDCG@10", "RankOf"):
        with pytest.raises(UsageError, match=measure.split("@")[0]):
            sampled(qrels, run, measure)
    with pytest.raises(UsageError, match="a lowest relevant grade above 0"):
        sampled(qrels, run, "AP", rel=0)
    with pytest.raises(InputError, match="2 scored non-relevant documents, more than the 1 in its"):
        sampled(qrels, run, population=2)
    with pytest.raises(UsageError, match="population of query 'q' is smaller than"):
        sampled(qrels, run, population=0)
    with pytest.raises(UsageError, match="query 'q' has no population"):
        sampled(qrels, run, population={"other": 5})
    for wrong, words in (
        (-1, "of at least 0, not -1"),
        (2.5, "of at least 0, not 2.5"),
        (True, "of at least 0, not True"),
        (10**20, f"from 0 to {2**63 - 1}, not {10**20}"),
    ):
        for name, population in (("population", wrong), ("population['q']", {"q": wrong})):
            with pytest.raises(UsageError, match=re.escape(f"{name} must be a whole number {words}")):
                sampled(qrels, run, population=population)  # type: ignore[arg-type]


@pytest.mark.parametrize("confidence", [95, 1.5, -1, 1.0])
def test_a_confidence_level_is_a_fraction(confidence: float) -> None:
    words = f"must be a fraction (at least 0.5 and below 1), such as 0.95, not {confidence}"
    with pytest.raises(UsageError, match=re.escape(f"the confidence level {words}")):
        sampled({"q": {"a": 1}}, {"q": {"a": 2.0, "x": 3.0}}, confidence=confidence)


def test_what_a_newcomer_overlooks_is_said() -> None:
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
    flat = {query: dict.fromkeys(("d1", "d2", "d3"), 1.0) for query in qrels}
    warnings = {one.code: one for one in sampled(qrels, flat, "AP").warnings}
    assert warnings["constant_scores"].count == 2
    assert "count as the whole collection" in warnings["no_population"].message
    assert "pool=pool" in warnings["no_population"].message
    known = sampled(qrels, {"a": flat, "b": {"q1": {"d1": 2.0, "x": 1.0}}}, "AP", population=9)
    codes = [one.code for one in known.warnings]
    assert "no_population" not in codes
    assert "2 lists of equal scores in a (every document has the middle rank)" in [
        one.message for one in known.warnings if one.code == "constant_scores"
    ]


def test_a_bias_of_nothing_is_zero() -> None:
    found = sampled({"q1": {"d1": 1, "d2": 1}}, {"q1": {"d1": 3.0, "x": 2.0, "d2": 1.0}}, "AP")
    assert found.limits[0, 0, 4] == 0


def reasons(found: Estimates) -> list[str]:
    return [reason.partition(",")[0] for reason in found.withheld[0]]


def test_an_interval_that_was_not_confirmed_is_withheld_with_the_reason() -> None:
    qrels, run = collection(12, seed=3)
    names = ["AP", "P@10", "R@100", "Rprec"]
    found = sampled(qrels, run, names, sample=60)
    assert reasons(found) == ["", "a sampled document has weight 16.3", "", "no correction is available"]
    assert np.isnan(found.limits[0, 1, :4]).all()
    assert not np.isnan(found.limits[0, [0, 2], :4]).any()
    shown = found.to_dict()["runs"][0]["mean"]
    assert shown["P@10"]["sampling_low"] is None
    assert shown["P@10"]["low"] is None
    assert shown["P@10"]["withheld"].startswith("a sampled document has weight 16.3")
    assert shown["AP"]["withheld"] is None
    (one, two) = [notice for notice in found.warnings if notice.code == "no_interval"]
    assert (one.count, two.count) == (1, 1)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"sample": 30}, "intervals need at least 31 sampled documents per query"),
        ({"sample": 40}, "a sampled document has weight 24.5"),
        ({"sample": 100, "correction": "none"}, "intervals are available only with correction 'log'"),
        ({"sample": 100, "draws": 0}, "intervals are turned off (0 draws)"),
    ]
    for options, reason in cases:
        assert reasons(sampled(qrels, run, "AP", **options)) == [reason]
    large = sampled(qrels, run, "AP", sample=100, population=2 * 10**9)
    assert large.withheld[0][0].startswith("a query has a population of")  # and not: too many sampled
    few = {query: qrels[query] for query in list(qrels)[:9]}
    assert reasons(sampled(few, run, "AP", sample=100)) == ["intervals need at least 10 queries"]
    whole = sampled(few, run, "AP")
    assert reasons(whole) == [""]
    assert whole.limits[0, 0, 2] == whole.limits[0, 0, 3] == whole.means[0, 0]


def test_names_of_corrections_are_checked() -> None:
    qrels, run = collection(3, seed=3)
    with pytest.raises(UsageError, match="correction"):
        sampled(qrels, run, "AP", correction="best")


def test_single_queries_without_a_sample_and_measures_that_are_undefined_stay_so() -> None:
    qrels, run = collection(11, seed=4)
    qrels["none"] = {"d0": 0}
    run["none"] = run["q0"]
    qrels["bare"] = {"d0": 1}
    run["bare"] = {"d0": 1.0}
    found = sampled(qrels, run, "AP", sample=100, population=1000)
    places = {name: place for place, name in enumerate(found.queries)}
    assert math.isnan(found.values[0, places["bare"], 0])  # no other has a score
    assert not found.counted[0, places["bare"]]
    assert found.counted[0, places["none"]]
    assert math.isnan(found.values[0, places["none"], 0])


def test_systems_with_other_negatives_are_counted() -> None:
    qrels, run = collection(4, seed=6)
    rng = np.random.default_rng(0)

    def some(seed: int, queries: int) -> Run:
        made = {}
        for place, (query, one) in enumerate(run.items()):
            other = np.random.default_rng([seed if place < queries else 0, place])
            kept = set(other.choice([f"d{n}" for n in range(20, 1000)], 50, replace=False).tolist())
            rows = [(name, value) for name, value in one.items() if name in kept or name in qrels[query]]
            made[query] = {rows[at][0]: rows[at][1] for at in rng.permutation(len(rows)).tolist()}
        return made

    def differ(*runs: Run) -> int:
        systems = {f"s{place}": one for place, one in enumerate(runs)}
        found = sampled(qrels, systems, "AP", population=1000, draws=0)
        return sum(one.count for one in found.warnings if one.code == "different_samples")

    assert differ(some(0, 4), some(0, 4)) == 0
    assert differ(some(0, 4), some(1, 3), some(0, 4)) == 3
    assert differ(some(1, 4)) == 0  # one system alone


# Certain documents


def slow_certain(relevant: list[float], certain: list[float], drawn: list[float], rest: int) -> list[float]:
    """Estimate the rank of each relevant document with certain documents of weight 1."""
    return [
        1
        + place
        + sum((other > score) + 0.5 * (other == score) for other in certain)
        + rest / len(drawn) * sum((other > score) + 0.5 * (other == score) for other in drawn)
        for place, score in enumerate(sorted(relevant, reverse=True))
    ]


@given(
    st.lists(st.integers(0, 6).map(float), min_size=1, max_size=4),
    st.lists(st.integers(0, 6).map(float), min_size=1, max_size=4),
    st.lists(st.integers(0, 6).map(float), min_size=1, max_size=5),
    st.integers(5, 20),
)
def test_certain_documents_weigh_one_and_drawn_ones_what_the_rest_is(
    relevant: list[float], certain: list[float], drawn: list[float], rest: int
) -> None:
    names = {f"r{place}": score for place, score in enumerate(relevant)}
    fixed = {f"c{place}": score for place, score in enumerate(certain)}
    scores = {"q": names | fixed | {f"x{place}": score for place, score in enumerate(drawn)}}
    baseline = {"q": {name: 100.0 - place for place, name in enumerate([*fixed, "r0", "x0"])}}
    ranks = slow_certain(relevant, certain, drawn, rest)
    found = sampled(
        {"q": dict.fromkeys(names, 1)},
        scores,
        ["AP", "RR"],
        correction="none",
        draws=0,
        population={"q": rest + len(certain)},
        certain=(baseline, len(certain)),
    )
    expected = sum(place / rank for place, rank in enumerate(ranks, start=1)) / len(relevant)
    assert found.means[0].tolist() == pytest.approx([expected, 1 / ranks[0]])


def test_certain_documents_among_all_scores_change_nothing() -> None:
    qrels, run = collection(12, seed=7)
    exact = evaluate(qrels, run, MEASURES).means
    found = sampled(qrels, run, MEASURES, certain=(run, 50))
    assert found.means == pytest.approx(exact, abs=1e-12)


def test_half_for_certain_is_nearer_than_all_drawn() -> None:
    qrels, run = collection(20, seed=8)
    other = {
        query: {
            name: score + 0.3 * np.random.default_rng(place).normal()
            for place, (name, score) in enumerate(one.items())
        }
        for query, one in run.items()
    }
    judgments, baseline, others = read_qrels(qrels), read_run(run), read_run(other)
    exact = evaluate(judgments, others, "AP").mean("run", "AP")
    errors: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(10):
        for half, made in errors.items():
            options: dict[str, Any] = {"certain": (baseline, 50)} if half else {}
            found = sampled(judgments, others, "AP", sample=100, seed=seed, draws=0, **options)
            made.append(abs(found.means[0, 0] - exact))
    assert np.mean(errors[True]) < np.mean(errors[False]) / 2


def test_certain_documents_without_a_score_are_counted() -> None:
    qrels = {"q": {"r": 1}}
    baseline = {"q": {"c1": 3.0, "c2": 2.0, "r": 1.0}}
    found = sampled(
        qrels,
        {"q": {"r": 2.0, "c1": 3.0, "x": 1.0}},
        "RR",
        population=11,
        certain=(baseline, 3),
        draws=0,
        correction="none",
    )
    (notice,) = [one for one in found.warnings if one.code == "certain_without_score"]
    assert notice.count == 1
    assert found.means[0, 0] == 1 / 2  # c2 counts as ranked last


def test_a_sample_to_score_is_the_one_that_is_kept_of_whole_lists() -> None:
    qrels, run = collection(12, seed=9)
    names = list(run["q0"])
    for certain in (None, (run, 30)):
        drawn = sample_to_score(qrels, names, sample=60, certain=certain, seed=3)
        per_query = drawn.by_query()
        for query, chances in per_query.items():
            others = {name: chance for name, chance in chances.items() if name not in qrels[query]}
            assert len(others) == 60 - (certain is not None) * sum(
                name in qrels[query] for name in sorted(run[query], key=lambda one: -run[query][one])[:30]
            )
            left = [chance for chance in others.values() if chance < 1]
            assert len(left) == (60 if certain is None else 30)
            assert len(set(left)) == 1
        scored = {query: {name: run[query][name] for name in chances} for query, chances in per_query.items()}
        options: dict[str, Any] = {"certain": certain, "draws": 5}
        kept = sampled(qrels, run, sample=60, seed=3, **options)
        again = sampled(qrels, scored, population=1000, seed=3, **options)
        assert again.to_dict()["runs"][0]["mean"] == kept.to_dict()["runs"][0]["mean"]


def test_a_run_may_find_no_relevant_document_of_the_last_query() -> None:
    judgments = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    scores = {"q1": {"d1": 2.0, "x": 1.0}, "q2": {"x": 1.0, "y": 0.5}}
    assert sampled(judgments, scores, "AP", population=12).values[0, 1].tolist() == [0.0]


def test_a_refused_run_is_named() -> None:
    scores = {"small": {"q1": {"d1": 2.0}}, "large": {"q1": {"d1": 2.0, "x": 1.0}}}
    with pytest.raises(InputError, match=r"^large: query 'q1' has 1 scored non-relevant document"):
        sampled({"q1": {"d1": 1}}, scores, "AP", population=1)


def test_the_scored_documents_are_told_from_those_that_are_sampled() -> None:
    scores = {"q1": {"d1": 2.0, "x": 1.0, "y": 0.5, "z": 0.2}}
    with pytest.raises(InputError, match="has 3 scored non-relevant documents"):
        sampled({"q1": {"d1": 1}}, scores, "AP", population=2, sample=2)
    whole, part = (sampled({"q1": {"d1": 1}}, scores, "AP", sample=size) for size in (None, 2))
    assert ["a sample of" in one.table().notes[0] for one in (whole, part)] == [False, True]


def test_certain_is_a_run_and_a_number() -> None:
    qrels, run = collection(2, seed=3)
    for wrong in ("bm25.run", "bm25.run:", "bm25.run:0", ":5", (run, 0), (run, True), (run,), 5):
        with pytest.raises(UsageError, match="must be RUN:K"):
            sampled(qrels, run, "AP", certain=wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="sample=50"):
        sampled(qrels, run, "AP", certain=(run, 50), sample=50)
    with pytest.raises(
        UsageError, match="is smaller than the number of its relevant documents and documents"
    ):
        sampled(qrels, run, "AP", certain=({"q0": {f"x{n}": 1.0 * n for n in range(30)}}, 30), population=25)
    sizes = dict.fromkeys(qrels, 25)  # without the relevant documents
    with pytest.raises(UsageError, match="is smaller than the number of its documents from"):
        sampled(
            qrels, run, "AP", certain=({"q0": {f"x{n}": 1.0 * n for n in range(30)}}, 30), population=sizes
        )


def test_what_both_runs_lack_is_not_summed() -> None:
    qrels, run = collection(12, seed=3)
    lacking = {query: dict(list(scores.items())[1:]) for query, scores in run.items()}
    found = sampled(qrels, {"a": lacking, "b": lacking}, "AP")
    (said,) = [one for one in found.warnings if one.code == "no_score"]
    assert said.message.startswith(f"both runs: {said.count // 2} relevant documents per run")


def test_pooled_pairs_without_a_judgment_are_counted() -> None:
    qrels = {"q1": {"d1": 1, "d2": -1, "d3": -1}}
    found = sampled(qrels, {"q1": {"d1": 3.0, "x": 2.0, "d2": 1.0}}, "AP", population=9)
    (notice,) = [one for one in found.warnings if one.code == "negative_grades"]
    assert (notice.count, "infAP" in notice.message) == (2, True)
