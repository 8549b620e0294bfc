"""The study of query prediction: thresholds against slow loops, and what a small collection shows."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as ll
from conftest import Leadline
from leadline.errors import UsageError
from leadline.evaluation.results import Results
from leadline_studies import studies, study
from leadline_studies.query_prediction.study import halves, held_out, select_models, threshold

STUDY = study("query-prediction")
DOCS = {
    "d1": "wing lift wing flow",
    "d2": "wing drag and lift",
    "d3": "heat flow in pipes",
    "d4": "heat of plates",
    "d5": "lift of a wing in flow",
    "d6": "pipes and plates and pans",
    "d7": "pans of heat",
}
QUERIES = {"q1": "wing lift", "q2": "heat", "q3": "flow in pipes", "q4": "drag", "q5": "pans"}
QRELS = {
    "q1": {"d1": 1, "d5": 1},
    "q2": {"d4": 1, "d7": 1},
    "q3": {"d3": 1},
    "q4": {"d2": 1, "d1": 1},
    "q5": {"d6": 1, "d7": 1},
}
PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 2.0, 3.0, math.nan]), st.integers(-5, 5)), min_size=1, max_size=12
)


def tried(**options: Any) -> Any:
    return STUDY.run(DOCS, QUERIES, QRELS, topics=3, fits=2, sweeps=10, splits=6, draws=20, **options)


@given(pairs=PAIRS)
def test_a_threshold_gains_as_much_as_the_best_of_all(pairs: list[tuple[float, int]]) -> None:
    values, gain = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    known = sorted({value for value in values.tolist() if not math.isnan(value)})
    tries = [math.inf, -math.inf, *(low + 0.5 for low in known)]
    gained = {at: float(gain[values > at].sum()) for at in tries}
    found = threshold(values, gain)
    assert gain[values > found].sum() == max(gained.values())
    fewest = min(int((values > at).sum()) for at in tries if gained[at] == max(gained.values()))
    assert int((values > found).sum()) == fewest


def test_a_threshold_stands_between_values_and_may_be_none() -> None:
    gain = np.array([0.3, 0.1, -0.2])
    assert threshold(np.array([5.0, 4.0, 1.0]), gain) == 2.5
    assert threshold(np.array([1.0, 1.0, 1.0]), gain) == -np.inf  # what is equal goes together
    assert threshold(np.array([1.0, 2.0, 3.0]), -np.ones(3)) == np.inf
    assert threshold(np.full(3, math.nan), gain) == np.inf


def test_a_threshold_is_never_learned_from_the_query_that_it_serves() -> None:
    values, gain = np.array([1.0, 2.0, 3.0, 4.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    halved = [np.array([True, False, True, False])]
    # from queries 1 and 3: above 2, so 4 is expanded and 2 is not; from 2 and 4: above 3, so none
    assert held_out(values, gain, halved).tolist() == [0, 0, 0, 1]
    assert held_out(np.full(4, math.nan), gain, halved).tolist() == [0, 0, 0, 0]


def test_halves_are_halves_and_the_same_again() -> None:
    found = list(halves(7, 5, 0))
    assert [int(first.sum()) for first in found] == [3] * 5
    assert all((a == b).all() for a, b in zip(found, halves(7, 5, 0), strict=True))


def perfect() -> tuple[Results, Results]:
    """Return runs of two models, the second better for half of the queries, and a predictor that knows."""
    rng = np.random.default_rng(2)
    qrels, runs = {}, {"ql": {}, "rm": {}}  # type: ignore[var-annotated]
    for place in range(40):
        query, helps = f"q{place:02}", place % 2 == 0
        qrels[query] = {"r": 1}
        good, bad = {"r": 9.0, "x": 1.0}, {"x": 2.0, "r": 1.9 + 0.05 * rng.random()}
        runs["ql"][query], runs["rm"][query] = (bad, good) if helps else (good, bad)
    return ll.predict(runs, "WIG"), ll.evaluate(qrels, runs, ["AP"])


def test_a_predictor_that_knows_reaches_the_oracle() -> None:
    prediction, results = perfect()
    found = select_models(prediction, results, splits=10, seed=0)
    rows = {(row["policy"], row["rule"]): row for row in found["policies"]}
    assert (found["wins"], found["losses"]) == (20, 20)
    assert rows["oracle", ""]["mean"] == 1
    for rule in ("compare", "difference"):
        assert rows["WIG(tail)", rule]["mean"] == pytest.approx(1)
        assert rows["WIG(tail)", rule]["expanded"] == 0.5
        assert rows["WIG(tail)", rule]["difference"] == pytest.approx(0.25)
        assert rows["WIG(tail)", rule]["p_corrected"] < 0.001
    # a high value of the first list means that expansion harms: a threshold from below learns nothing
    assert rows["WIG(tail)", "threshold"]["mean"] < 0.8
    assert rows["always", "ql"]["mean"] == rows["always", "rm"]["mean"] == 0.75


def test_too_few_queries_are_refused() -> None:
    prediction, _ = perfect()
    runs = {name: {"q00": {"r": 1.0, "x": 0.5}} for name in ("ql", "rm")}
    with pytest.raises(UsageError, match="need at least 4 queries to halve, not 1"):
        select_models(prediction, ll.evaluate({"q00": {"r": 1}}, runs, ["AP"]), splits=1, seed=0)


def test_means_are_those_of_evaluate_and_no_choice_passes_the_oracle() -> None:
    data = tried().data
    index = ll.build_index(DOCS)
    results = ll.evaluate(QRELS, ll.search(index, QUERIES, ["QLDirichlet", "RM3"]), ["AP"])
    rows = {(row["policy"], row["rule"]): row for row in data["expansion"]["policies"]}
    for name in ("QLDirichlet", "RM3"):
        assert rows["always", name]["mean"] == pytest.approx(results.mean(name, "AP"))
    best = rows["oracle", ""]["mean"]
    assert all(row["mean"] <= best + 1e-12 for row in rows.values())
    assert ("QueryLength", "compare") not in rows  # both lists have one query


def test_every_predictor_is_correlated_for_every_model() -> None:
    found = tried()
    rows = found.data["correlations"]
    assert {row["run"] for row in rows} == {"QLDirichlet", "RM3", "BM25"}
    assert {row["predictor"] for row in rows} >= {"DeShaTo(total)", "Clarity", "NQC(tail)"}
    assert set(found.tables) == set(found.figures) == {"correlations", "expansion"}
    assert [line.partition(":")[0] for line in found.lines[:3]] == ["QLDirichlet", "RM3", "BM25"]
    assert "the oracle" in found.lines[3]


def test_what_makes_no_sense_is_refused() -> None:
    assert "query-prediction" in studies()
    with pytest.raises(UsageError, match=r"need at least 2 models \(--model\), not 1"):
        tried(model=["BM25"])
    with pytest.raises(UsageError, match="'P@5,10' stands for 2 measures"):
        tried(measure="P@5,10")
    with pytest.raises(UsageError, match="splits must be"):
        STUDY.run(DOCS, QUERIES, QRELS, splits=0)


def test_the_command_fills_a_folder(leadline: Leadline, tmp_path: Path) -> None:
    for name, texts in (("doc", DOCS), ("query", QUERIES)):
        rows = [json.dumps({f"{name}_id": key, "text": text}) for key, text in texts.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    lines = [f"{query} 0 {doc} 1\n" for query, docs in QRELS.items() for doc in docs]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    given_files = [tmp_path / name for name in ("doc.jsonl", "query.jsonl", "qrels.txt")]
    quick = ["--topics", 3, "--fits", 1, "--sweeps", 5, "--splits", 2, "--draws", 5]
    done = leadline("study", "query-prediction", *given_files, *quick, "-o", tmp_path / "out")
    assert done.status == 0, done.err
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "correlations.csv",
        "expansion.csv",
        "correlations.svg",
        "expansion.svg",
        "query-prediction.json",
        "index.html",
    }
    data = json.loads((tmp_path / "out" / "query-prediction.json").read_text())
    assert data["options"]["study"] == "query-prediction"
    assert data["expansion"]["between"] == ["QLDirichlet", "RM3"]
