"""The study of sampled candidates: what it counts, and that small cells do what the page says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.errors import InputError, UsageError
from leadline.estimation.sampled import sampled
from leadline.estimation.strata import COVERAGE, COVERAGE_BESIDE_CERTAIN
from leadline_studies import study
from leadline_studies.histogram_topics.pairs import relevant_pairs
from leadline_studies.sampled_intervals.study import estimates_of, intervals_of

STUDY = study("sampled-intervals")
WORDS = [f"w{n}" for n in range(60)]
RNG = np.random.default_rng(7)
CHANCES = 1 / np.arange(1, 61)
DOCS = {f"d{n:03}": " ".join(RNG.choice(WORDS, 12, p=CHANCES / CHANCES.sum())) for n in range(300)}
QUERIES = {f"q{n}": " ".join(RNG.choice(WORDS[3:], 4, replace=False)) for n in range(24)}
QRELS = {
    query: {
        name: 1
        for name, text in DOCS.items()
        if len(set(words.split()) & set(text.split())) >= 3 or RNG.random() < 0.004
    }
    for query, words in QUERIES.items()
}
ASKED = [query for query, one in QRELS.items() if one]


def tried(**options: Any) -> Any:
    given = {"model": ("BM25", "QLDirichlet", "TF(dot)"), "samples": "20,100", "draws": 12}
    return STUDY.run(DOCS, QUERIES, QRELS, **given | options)


def test_intervals_hold_the_truth_and_corrections_take_the_bias_away() -> None:
    found = tried()
    cells = {(one["n"], one["certain"], one["measure"]): one for one in found.data["cells"]}
    assert len(cells) == 2 * 2 * 5
    assert found.data["queries"] == len(ASKED)
    for (size, _, _), one in cells.items():
        assert (one["sampling"]["intervals"] > 0) == (size == 100)
        assert bool(one["withheld"]) == (size == 20)
    shares = [one["sampling"] for one in cells.values() if one["sampling"]["intervals"]]
    held = sum(one["coverage"] * one["intervals"] for one in shares)
    assert held / sum(one["intervals"] for one in shares) > 0.9
    others = [one["queries"]["coverage"] for one in cells.values() if one["queries"]["intervals"]]
    assert np.mean(others) > 0.88
    first = cells[20, False, "AP"]
    assert first["none"]["bias"] > 0.05
    assert first["log"]["bias"] < first["none"]["bias"]
    assert abs(cells[100, True, "AP"]["none"]["bias"]) < cells[100, False, "AP"]["none"]["bias"]
    assert len(found.lines) == 2
    assert set(found.figures) == {"coverage"}
    assert len(found.tables["cells"].rows) == 20


def test_the_truth_is_that_of_whole_lists_and_the_seed_decides() -> None:
    found = tried(samples="100", draws=6)
    index = ll.build_index(DOCS)
    pairs = {query: list(DOCS) for query in ASKED}
    runs = dict(ll.score(index, QUERIES, pairs, ["BM25", "QLDirichlet", "TF(dot)"]))
    qrels = {query: QRELS[query] for query in ASKED}
    exact = sampled(qrels, runs, draws=0)  # a full sample, ties in the middle as in the study
    rows = [one for one in found.data["cells"] if not one["certain"]]
    for column, one in enumerate(rows):
        assert one["truth"] == pytest.approx(exact.means[:, column].mean())
    assert tried(samples="100", draws=6).data == found.data
    assert tried(samples="100", draws=6, seed=1).data != found.data


def test_intervals_without_width_are_left_out() -> None:
    truth = np.array([[0.5, 0.5], [0.2, 0.2]])
    limits = [
        np.array([0, 0, 0.4, 0.6, 0]),
        np.array([0, 0, 0.3, 0.4, 0]),
        np.array([0, 0, 0.5, 0.5, 0]),
        np.array([0, 0, 0.1, 0.3, 0]),
    ]
    values = [np.array([0.5, 0.5]), np.array([0.2, 0.2])] * 2
    found = intervals_of(truth, values, limits, np.random.default_rng(0))
    assert found["sampling"]["intervals"] == 3
    assert found["sampling"]["coverage"] == pytest.approx(2 / 3)
    assert found["queries"] == {"coverage": 1.0, "intervals": 4}


def test_what_cannot_be_simulated_is_refused() -> None:
    with pytest.raises(UsageError, match="draws must be"):
        tried(draws=1)
    for samples in ("x", "100000", "1" + "0" * 19):
        with pytest.raises(UsageError, match="samples"):
            tried(samples=samples)


def test_a_sample_is_not_the_truth(tmp_path: Path) -> None:
    sample = tmp_path / "sample.csv"
    sample.write_text("query_id,doc_id,relevance,probability\nq0,d0,1,0.5\n")
    with pytest.raises(InputError, match="only a sample"):
        STUDY.run(DOCS, QUERIES, sample)
    with pytest.raises(InputError, match="only a sample"):
        relevant_pairs(sample, ["q0", "d0"])


def test_a_model_without_relevant_documents_has_no_relative_bias() -> None:
    found = estimates_of(np.zeros((1, 3)), {name: np.zeros((2, 1)) for name in ("none", "log", "uniform")})
    assert (found["log"]["bias"], found["sd"]) == (None, None)


def test_samples_too_large_for_the_collection_are_left_out_and_counted() -> None:
    found = tried(samples="3,100000,200000", draws=2)
    assert {row["n"] for row in found.data["cells"]} == {3}
    assert [one.count for one in found.warnings] == [2]


@pytest.mark.parametrize("certain", [False, True])
def test_the_coverage_that_is_printed_is_that_of_the_kept_study(certain: bool) -> None:
    place = Path(__file__).resolve().parents[2] / "docs" / "studies" / "sampled-intervals.json"
    kept = json.loads(place.read_text(encoding="utf-8"))
    shares = [
        one["sampling"]["coverage"]
        for part in kept.values()
        for one in part["cells"]
        if one["certain"] == certain and not one["withheld"] and one["sampling"]["intervals"]
    ]
    printed = COVERAGE_BESIDE_CERTAIN if certain else COVERAGE
    assert printed == (round(min(shares), 2), round(max(shares), 2))
    assert len(shares) >= 8


def test_the_kept_study_has_the_intervals_that_were_asked_for() -> None:
    place = Path(__file__).resolve().parents[2] / "docs" / "studies" / "sampled-intervals.json"
    cells = json.loads(place.read_text(encoding="utf-8"))["cranfield"]["cells"]
    printed = {(one["n"], one["certain"], one["measure"]) for one in cells if not one["withheld"]}
    for certain in (False, True):
        for measure in ("AP", "RR", "R@100"):
            assert (100, certain, measure) in printed
        for measure in ("AP", "RR", "R@100", "P@10", "nDCG@10"):
            assert (300, certain, measure) in printed
            assert (30, certain, measure) not in printed
