"""HSA and DO of whole runs: against a slow twin, laws, options, samples, functions, doubts."""

from __future__ import annotations

import math
import os
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_bins import slow_overlap, slow_slope

from leadline import demo
from leadline.errors import InputError, UsageError
from leadline.estimation.histogram import histogram
from leadline.estimation.histogram_result import OF_SAMPLES, Histograms, compute_hsa
from leadline.estimation.score_sets import scored

Run = dict[str, dict[str, float]]
Judgments = dict[str, dict[str, int]]
DOCUMENTS = [f"d{place}" for place in range(9)]
LISTS = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 12).map(float), min_size=1)
RUNS = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), LISTS, min_size=1)
QRELS = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 2), min_size=1),
    min_size=1,
)
OPTIONS = st.fixed_dictionaries(
    {
        "bins": st.sampled_from([2, 3, 7, 10]),
        "norm": st.sampled_from(["query", "model"]),
        "from_ranks": st.booleans(),
        "depth": st.sampled_from([None, 1, 3, 6]),
        "missing": st.sampled_from(["min", "skip"]),
        "nonrelevant": st.sampled_from(["retrieved", "judged"]),
        "sample": st.sampled_from([None, 1, 2]),
    }
)


def key(seed: int, query: str, document: str) -> bytes:
    """Return what samples are ordered by."""
    return sha256(f"{seed}\t{query}\t{document}".encode()).digest()


def scores_of(
    grades: dict[str, int], found: dict[str, float], query: str, options: dict[str, Any]
) -> tuple[list[float], list[float]]:
    """Return V_R and V_NR of one list, document by document."""
    order = sorted(found, key=lambda name: (found[name], name), reverse=True)[: options["depth"]]
    score = {name: -rank for rank, name in enumerate(order)} if options["from_ranks"] else found
    relevant = [name for name in grades if grades[name] >= 1]
    others = [name for name in order if name not in relevant]
    if options["nonrelevant"] == "judged":
        others = [name for name in others if name in grades]
    others = sorted(others, key=lambda name: key(0, query, name))[: options["sample"]]
    lowest = min(score[name] for name in order)
    of_relevant = [float(score[name]) for name in relevant if name in order]
    if options["missing"] == "min":
        of_relevant += [float(lowest)] * (len(relevant) - len(of_relevant))
    return of_relevant, [float(score[name]) for name in others]


def spread(values: list[float], pool: list[float]) -> list[float]:
    """Bring values to [0, 1] by the range of the pool."""
    low, high = min(pool, default=0.0), max(pool, default=0.0)
    return [0.5 if low == high else (value - low) / (high - low) for value in values]


def counted(values: list[float], bins: int) -> list[int]:
    """Count values bin by bin."""
    return [
        sum(k / bins <= value < (k + 1) / bins or (value == 1 and k == bins - 1) for value in values)
        for k in range(bins)
    ]


def slow(qrels: Judgments, run: Run, options: dict[str, Any]) -> tuple[float, float]:
    """Compute HSA and DO list by list."""
    pairs = [
        scores_of(grades, run[query], query, options)
        for query, grades in qrels.items()
        if query in run and any(grade >= 1 for grade in grades.values())
    ]
    pool = [value for pair in pairs for part in pair for value in part]
    tables = [
        [
            counted(
                spread(part, pool if options["norm"] == "model" else [*pair[0], *pair[1]]), options["bins"]
            )
            for part in pair
        ]
        for pair in pairs
    ]
    pooled = [[sum(column) for column in zip(*side, strict=True)] for side in zip(*tables, strict=True)]
    if not pooled:
        return math.nan, 0.0
    return slow_slope(*pooled), slow_overlap(*pooled)


def only(found: Histograms) -> tuple[float, float]:
    return float(found.hsa[0]), float(found.do[0])


@given(QRELS, RUNS, OPTIONS)
def test_the_fast_and_the_slow_way_agree(qrels: Judgments, run: Run, options: dict[str, Any]) -> None:
    found = histogram(qrels, run, draws=0, **options)
    assert only(found) == pytest.approx(slow(qrels, run, options), abs=1e-9, nan_ok=True)


@given(QRELS, RUNS, st.sampled_from([0.5, 4.0]), st.sampled_from([-8.0, 16.0]))
def test_an_increasing_line_of_the_scores_changes_nothing(
    qrels: Judgments, run: Run, factor: float, shift: float
) -> None:
    moved = {
        query: {name: factor * value + shift for name, value in one.items()} for query, one in run.items()
    }
    before, after = histogram(qrels, run, draws=50), histogram(qrels, moved, draws=50)
    assert before.to_dict() == after.to_dict()


def test_a_decreasing_line_of_the_scores_negates_hsa() -> None:
    rng = np.random.default_rng(3)
    qrels = {"q": {f"d{place:03}": int(place % 4 == 0) for place in range(200)}}
    run = {"q": {name: float(rng.normal(grade)) for name, grade in qrels["q"].items()}}
    mirrored = {"q": {name: -value for name, value in run["q"].items()}}
    before, after = histogram(qrels, run), histogram(qrels, mirrored)
    assert before.hsa[0] > 0
    assert after.hsa[0] == pytest.approx(-before.hsa[0])
    assert after.do[0] == pytest.approx(before.do[0])


@given(QRELS, RUNS)
def test_a_monotone_map_changes_nothing_from_ranks(qrels: Judgments, run: Run) -> None:
    bent = {query: {name: math.exp(value) for name, value in one.items()} for query, one in run.items()}
    before = histogram(qrels, run, from_ranks=True, draws=0)
    after = histogram(qrels, bent, from_ranks=True, draws=0)
    assert before.to_dict() == after.to_dict()


def test_as_printed_is_per_model_pooled_and_without_unretrieved_documents() -> None:
    qrels = {"q1": {"a": 1, "b": 1, "gone": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 10.0, "b": 0.0, "x": 10.0, "y": 0.0}, "q2": {"a": 6.0, "x": 2.0, "y": 6.0, "z": 6.0}}
    found = histogram(qrels, run, bins=2, as_printed=True, draws=0)
    assert found.histograms("run").tolist() == [[1, 2], [2, 3]]
    assert found.hsa[0] == pytest.approx(2 * (math.log(2 / 3) - math.log(1 / 2)))
    assert found.recipe.as_printed
    assert found.to_dict()["definition"].startswith(
        "as printed in Krstovski et al. 2015, scores normalized per model"
    )
    ranks = histogram(qrels, run, bins=2, as_printed=True, from_ranks=True, draws=0)
    assert ranks.to_dict()["definition"].startswith("ranks normalized per model")
    by_query = histogram(qrels, run, bins=2, draws=0)
    assert by_query.histograms("run").tolist() == [[2, 2], [2, 3]]
    assert not by_query.recipe.as_printed
    needed = r"^as_printed=True needs norm='model', missing='skip' and nonrelevant='retrieved'\."
    with pytest.raises(UsageError, match=needed):
        histogram(qrels, run, as_printed=True, nonrelevant="judged")


def test_the_robust_variant_is_one_recipe_whatever_the_other_options_say() -> None:
    qrels = {"q1": {"a": 1, "gone": 1}, "q2": {"b": 1}}
    run = {"q1": {"a": 9.0, "x": 3.0, "y": 1.0}, "q2": {"x": 5.0, "b": 4.5, "y": 4.0, "z": 0.0}}
    plain = histogram(qrels, run)
    for more in ({"norm": "model"}, {"missing": "skip"}, {"as_printed": True}):
        assert histogram(qrels, run, **more).hsa_robust == plain.hsa_robust
    same = histogram(qrels, run, from_ranks=True)
    assert compute_hsa(same.counts[0], plain.recipe.robust) == plain.hsa_robust[0]
    assert plain.recall[0] == 0.75


def test_a_sample_from_the_union_is_the_same_for_all_runs() -> None:
    qrels = {"q": {"r": 1}}
    runs = {
        "long": {"q": {"r": 9.0} | {f"x{place}": float(-place) for place in range(40)}},
        "short": {"q": {"r": 5.0} | {f"x{place}": float(place) for place in range(20)}},
    }
    found = histogram(qrels, runs, sample=10, sample_from="union", draws=0)
    assert found.counts.sum(axis=(1, 3)).tolist() == [[1, 10], [1, 10]]
    skipped = histogram(qrels, runs, sample=10, sample_from="union", missing="skip", draws=0)
    names = sorted((f"x{place}" for place in range(40)), key=lambda name: key(0, "q", name))[:10]
    inside = sum(int(name[1:]) < 20 for name in names)
    assert skipped.counts.sum(axis=(1, 3)).tolist() == [[1, 10], [1, inside]]
    codes = {notice.code for notice in histogram(qrels, runs, sample=10).warnings}
    assert "samples_differ" in codes
    assert "samples_differ" not in {notice.code for notice in found.warnings}


def test_an_interval_that_no_run_has_is_not_explained() -> None:
    found = str(histogram({"q": {"r": 1}}, {"q": {"r": 2.0, "x": 1.0, "y": 0.5}}, sample=1))
    assert "resamples" not in found
    assert "1 non-relevant document per query" in found


def test_lists_of_the_same_documents_have_the_same_sample() -> None:
    scores = {"r": 9.0} | {f"x{place}": float(place) for place in range(40)}
    runs = {
        name: {"q": {document: share * one for document, one in scores.items()}}
        for name, share in (("a", 1), ("b", -1))
    }
    assert "samples_differ" not in {one.code for one in histogram({"q": {"r": 1}}, runs, sample=10).warnings}


@pytest.mark.parametrize("documents", [None, [f"d{place}" for place in range(50)]])
def test_a_python_function_needs_no_ranking(documents: list[str] | None) -> None:
    qrels = {"q1": {"d1": 1, "d2": 2, "d3": 0, "d4": 0}, "q2": {"d7": 0}, "q3": {"d5": 1, "d6": 0}}
    asked: dict[str, list[str]] = {}

    def model(query: str, names: list[str]) -> list[float]:
        asked[query] = names
        return [float(name[1:]) for name in names]

    found = histogram(qrels, {"mine": model}, documents=documents, sample=3, bins=4)
    assert asked.keys() == {"q1", "q3"}
    expected = 2 if documents is None else 3
    assert (len(asked["q1"]), len(asked["q3"])) == (2 + expected, 1 + (1 if documents is None else 3))
    again = scored(model, qrels, documents=documents, sample=3)
    assert histogram(qrels, again, bins=4, sample=3).hsa_robust == found.hsa_robust
    with pytest.raises(UsageError, match="has the shape"):
        histogram(qrels, lambda _query, _names: [1.0])


def test_hsa_of_samples_is_lower_by_what_the_note_says() -> None:
    paths = {os.path.basename(path): path for path in demo.run_paths()}
    for name, lower in (("bm25-k1_0.9-b_0.4.run.xz", 0.5), ("tf-dot-plain.run.xz", 0.7)):
        whole = histogram(demo.qrels_path(), paths[name], draws=0)
        assert OF_SAMPLES not in str(whole)
        parts = [
            histogram(demo.qrels_path(), paths[name], sample=20, seed=seed, draws=0) for seed in range(10)
        ]
        assert OF_SAMPLES in str(parts[0])
        mean = sum(float(part.hsa[0]) for part in parts) / len(parts)
        assert float(whole.hsa[0]) - mean == pytest.approx(lower, abs=0.07)


def test_intervals_hold_the_estimate_with_a_sample_and_without() -> None:
    rng = np.random.default_rng(1)
    qrels = {f"q{q}": {f"d{place:03}": int(place < 15) for place in range(150)} for q in range(12)}
    run = {
        query: {name: float(rng.normal(1.5 * grade)) for name, grade in grades.items()}
        for query, grades in qrels.items()
    }
    whole, part = (histogram(qrels, run, sample=n, seed=2) for n in (None, 15))
    for found in (whole, part):
        one = found.measured[0]
        assert one.low < one.hsa < one.high
        assert one.robust_low < one.hsa_robust < one.robust_high
    again = histogram(qrels, run, sample=15, seed=2)
    assert again.to_dict() == part.to_dict()


def test_what_should_not_be_trusted_is_said() -> None:
    qrels = {"q": {"a": 1, "b": 1, "lost": 1}, "none": {"a": 0}}
    flat = {"q": dict.fromkeys("abxyz", 1.0)}
    found = histogram(qrels, flat)
    assert np.isnan(found.hsa[0])
    assert {notice.code for notice in found.warnings} >= {
        *"""
            undefined few_relevant lopsided_scores unretrieved constant_scores no_relevant
            missing_queries
        """.split()
    }
    assert found.do[0] == pytest.approx(math.log(3))
    assert found.to_dict()["runs"][0]["hsa"] is None


def test_a_run_without_a_relevant_document_is_defined() -> None:
    found = histogram({"q": {"a": 1, "b": 1}}, {"q": {"x": 2.0, "y": 1.0}}, missing="skip")
    assert np.isnan(found.hsa[0])
    assert (found.do[0], found.recall[0]) == (0, 0)
    nobody = histogram({"q": {"a": 1}}, {"other": {"x": 2.0}})
    assert np.isnan(nobody.hsa[0])
    assert np.isnan(nobody.hsa_robust[0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bins": 1}, "bins must be a whole number of at least 2, not 1"),
        ({"norm": "topic"}, "norm must be 'query', 'model' or 'none', not 'topic'"),
        ({"norm": "none"}, "the scores range from 3 to 7"),
        ({"norm": "none", "from_ranks": True}, "norm='none'"),
        ({"sample_from": "union"}, "sample_from='union' needs sample"),
        ({"depth": 0}, "depth must be"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises((UsageError, InputError), match=words.replace("(", r"\(")):
        histogram({"q": {"a": 1}}, {"q": {"a": 7.0, "x": 3.0}}, **options)


def test_a_score_just_above_1_is_shown_as_it_is() -> None:
    with pytest.raises(InputError, match=r"the scores range from 0 to 1\.0000001"):
        histogram({"q": {"a": 1}}, {"q": {"a": 1.0000001, "x": 0.0}}, norm="none")


def test_infinite_scores_are_refused_unless_ranks_are_taken() -> None:
    run = {"q": {"a": math.inf, "x": 3.0, "y": -math.inf}}
    with pytest.raises(InputError, match=r"query 'q' has a score of inf.*from_ranks=True"):
        histogram({"q": {"a": 1}}, run)
    assert histogram({"q": {"a": 1}}, run, from_ranks=True).hsa_robust[0] > 0


def test_the_widest_scores_do_not_overflow() -> None:
    run = {"q": {"a": 1.7e308, "x": -1.7e308, "b": 1.7e308, "y": 0.0}}
    found = histogram({"q": {"a": 1, "b": 1}}, run, bins=2, draws=0)
    assert found.histograms("run").tolist() == [[0, 2], [1, 1]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "for query 'q1'"),
        (0.5, "for query 'q1'"),
        (["x", "y"], "for query 'q1'"),
        ({"d1": 1.0, "d2": 2.0}, "for query 'q1'"),
        ([1.0], r"the shape \(1,\)"),
        ([[1.0], [2.0]], r"the shape \(2, 1\)"),
    ],
)
def test_a_function_that_gives_no_scores_is_refused(given: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        histogram({"q1": {"d1": 1, "d2": 0}}, lambda _query, _documents: given)


@pytest.mark.parametrize("documents", ["docs.txt", []])
def test_a_collection_is_a_list_of_ids(documents: Any) -> None:
    with pytest.raises(UsageError, match="at least one document id"):
        histogram({"q1": {"d1": 1}}, lambda _query, ids: [1.0] * len(ids), documents=documents)


def test_the_interval_of_samples_alone_is_narrower_and_needs_a_sample() -> None:
    rng = np.random.default_rng(1)
    qrels = {f"q{q}": {f"d{place}": int(place < 8) for place in range(200)} for q in range(12)}
    run = {
        query: {name: float(rng.normal(grade)) for name, grade in grades.items()}
        for query, grades in qrels.items()
    }
    one = histogram(qrels, run, sample=20).to_dict()["runs"][0]
    width = one["hsa_high"] - one["hsa_low"]
    assert 0 < one["hsa_sampling_high"] - one["hsa_sampling_low"] < width
    whole = histogram(qrels, run).to_dict()["runs"][0]
    assert whole["hsa_sampling_low"] is whole["hsa_sampling_high"] is None


def test_many_runs_are_drawn_by_the_highest_and_lowest_defined_value() -> None:
    rng = np.random.default_rng(4)
    qrels = {f"q{query}": {f"d{place}": int(place % 2) for place in range(20)} for query in range(5)}
    runs: Any = {
        f"r{run}": {query: {doc: float(rng.random()) for doc in row} for query, row in qrels.items()}
        for run in range(5)
    }
    found = histogram(qrels, runs | {"empty": {"q0": {"d1": 1.0}}})
    assert np.isnan(found.hsa[found.place("empty")])
    figure = found.plot()
    shown = [found.names[found.order()[0]], found.names[found.order()[4]]]
    assert [axes.get_title().split("\n")[0] for axes in figure.axes[:2]] == shown
    assert figure.get_suptitle() == "highest and lowest HSA: 2 of 6 runs"
    empty = {f"e{run}": {"q0": {"d1": 1.0}} for run in range(5)}
    for runs_shown in (empty, empty | {"r0": runs["r0"]}):  # no two values to be the highest and the lowest
        figure = histogram(qrels, runs_shown).plot()
        assert figure.get_suptitle() == f"2 of {len(runs_shown)} runs"
        assert len({axes.get_title().split("\n")[0] for axes in figure.axes[:2]}) == 2
