"""`ll.predict`: runs, indexes and vectors from anywhere, what is missing, correlation over queries."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import leadline as ll
from leadline.errors import InputError, UsageError
from leadline.estimation.predict import over_queries, predict
from leadline.estimation.predictors import NQC, WIG
from leadline.evaluation.results import Results
from leadline.result import Result
from leadline.topics.infer import Vectors, write_vectors

DOCS = {"d1": "wing lift", "d2": "wing drag flow", "d3": "heat flow"}
QUERIES = {"q1": "wing", "q2": "heat of a wing", "q3": "unknown"}
RUNS = {
    "a": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d3": 1.0, "new": 0.5}},
    "b": {"q1": {"d2": 1.0, "d1": 1.0}, "q3": {"d1": 2.0}},
}
VECTORS = Vectors(["d1", "d2"], np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]))


def codes(found: Result) -> dict[str, int]:
    return {notice.code: notice.count for notice in found.warnings}


def test_scores_alone_serve_what_needs_no_more() -> None:
    found = ll.predict(RUNS)
    assert list(map(str, found.measures)) == ["NQC(tail)", "WIG(tail)"]
    assert (found.names, list(found.queries)) == (["a", "b"], ["q1", "q2", "q3"])
    assert found.value("a", "q1", "NQC") == pytest.approx(math.sqrt(2 / 3))
    assert found.value("b", "q1", "WIG(tail)") == 0
    assert math.isnan(found.value("b", "q2", "NQC"))
    assert codes(found) == {"missing_queries": 2, "equal_scores": 1, "single_documents": 1, "undefined": 2}


def test_notes_on_scores_are_for_predictors_of_scores() -> None:
    found = ll.predict(RUNS, "DeShaTo", vectors=VECTORS)
    assert not codes(found).keys() & {"equal_scores", "single_documents"}


def test_the_mean_of_a_run_leaves_undefined_values_out() -> None:
    found = ll.predict(RUNS, "NQC")
    assert found.mean("b", "NQC") == 0  # q1 alone; q3 has no tail
    assert found.mean("a", "NQC") == pytest.approx((math.sqrt(2 / 3) + 0.25 / 0.5) / 2)


def test_scores_beyond_all_numbers_are_undefined() -> None:
    found = ll.predict({"a": {"q": {"d1": 1e308, "d2": -1e308}}, "b": {"q": {"d1": math.inf, "d2": 1.0}}})
    assert math.isnan(found.value("a", "q", "NQC"))
    assert np.isnan(found.values[1]).all()


def test_an_index_and_vectors_bring_the_rest() -> None:
    index = ll.build_index(DOCS)
    found = ll.predict(RUNS, index=index, queries=QUERIES, vectors=VECTORS)
    names = list(map(str, found.measures))
    assert {"DeShaTo(total)", "DeShaTo(product_s)", "NQC(tail)", "WIG(tail,length=root)"} < set(names)
    by_length = found.value("a", "q2", "WIG(tail,length=root)")
    assert by_length == pytest.approx(found.value("a", "q2", "WIG") / math.sqrt(2))
    assert math.isnan(found.value("a", "q2", "DeShaTo"))  # neither d3 nor new has a vector
    said = codes(found)
    assert said["without_vectors"] == 2
    assert "unknown_queries" not in said
    fewer = ll.predict(RUNS, "WIG(length=root)", index=index, queries={"q1": "wing"})
    assert codes(fewer)["unknown_queries"] == 2


def test_what_several_runs_lack_counts_once() -> None:
    runs = {"a": {"q1": {"d1": 2.0, "new": 1.0}}, "b": {"q1": {"d1": 2.0, "new": 1.0}}}
    index = ll.build_index(DOCS)
    found = ll.predict(runs, index=index, queries={"q2": "wing"}, vectors=VECTORS)
    assert {"unknown_queries": 1, "without_vectors": 1}.items() <= codes(found).items()
    assert any("1 of 2 retrieved documents" in one.message for one in found.warnings)
    three = runs | {"c": {"q2": {"d1": 2.0, "d2": 1.0}}}
    assert codes(ll.predict(three, "NQC"))["missing_queries"] == 2  # q1 in one run, q2 in two
    assert "1 query per run missing" in str(ll.predict(three, "NQC"))
    assert codes(ll.unjudged(three, method="reference-count"))["missing_queries"] == 2


def test_files_give_the_same_as_memory(tmp_path: Path) -> None:
    index = ll.build_index(DOCS, path=tmp_path / "ix")
    write_vectors(VECTORS, tmp_path / "v.jsonl")
    for name, run in RUNS.items():
        ll.write_run(ll.read_run(run, name=name), tmp_path / f"{name}.run")
    files = [str(tmp_path / f"{name}.run") for name in RUNS]
    found = ll.predict(files, index=tmp_path / "ix", queries=QUERIES, vectors=tmp_path / "v.jsonl")
    again = ll.predict(RUNS, index=index, queries=QUERIES, vectors=VECTORS)
    np.testing.assert_array_equal(found.values, again.values)
    assert found.options["index"] == str(tmp_path / "ix")


def test_a_list_is_predicted_alone() -> None:
    both, one = ll.predict(RUNS), ll.predict({"a": RUNS["a"]})
    assert both.values[0, :2].tolist() == one.values[0].tolist()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"predictors": "WIG(length=root)"}, "WIG(tail,length=root) needs an index and queries. Add `index`"),
        ({"predictors": ["DeShaTo"]}, "DeShaTo(total) needs topic vectors. Add `vectors`"),
        ({"predictors": []}, "no predictors were given. Leave out `predictors`"),
        ({"predictors": "best"}, "unknown predictor 'best'. "),
        ({"predictors": ["nqq"]}, "unknown predictor 'nqq'. Did you mean NQC"),
        ({"queries": QUERIES}, "queries needs index"),
        ({"index": "x"}, "index needs queries"),
        ({"predictors": "NQC", "vectors": VECTORS}, "chosen predictor"),
        ({"name_by": "tag "}, "name_by must be 'file' or 'tag', not 'tag '"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as rejected:
        ll.predict(RUNS, **options)
    assert words in str(rejected.value)


def test_vectors_that_are_none_and_empty_runs_are_refused() -> None:
    with pytest.raises(InputError, match="topics of document 'd1' are not a probability distribution"):
        ll.predict(RUNS, vectors=Vectors(["d1"], np.array([[0.5, 0.1]])))
    with pytest.raises(InputError, match="contains no documents"):
        ll.predict({"b": RUNS["b"], "a": {}})


def test_predictors_may_be_objects_and_come_once() -> None:
    index = ll.build_index(DOCS)
    found = ll.predict(RUNS, [NQC(), "NQC", WIG(k=1, length="root")], index=index, queries=QUERIES)
    assert list(map(str, found.measures)) == ["NQC(tail)", "WIG(tail,k=1,length=root)"]


def random_lists(queries: int = 12) -> tuple[Results, dict[str, dict[str, float]]]:
    rng = np.random.default_rng(3)
    lists = {
        f"q{place:02}": {f"d{n}": float(s) for n, s in enumerate(1 + rng.random(20))}
        for place in range(queries)
    }
    truth = {"a": {query: float(rng.random()) for query in lists}}
    return predict({"a": lists}), truth


def test_correlations_over_queries_are_those_of_scipy() -> None:
    found, truth = random_lists()
    for row in over_queries(found, truth, draws=200):
        column = found.values[0, :, found.measure_index(row["predictor"])]
        right = list(truth["a"].values())
        assert row["queries"] == 12
        assert row["pearson"]["value"] == pytest.approx(stats.pearsonr(column, right).statistic)
        assert row["kendall"]["value"] == pytest.approx(stats.kendalltau(column, right).statistic)
        for one in (row["pearson"], row["kendall"]):
            assert -1 <= one["low"] < one["value"] < one["high"] <= 1
    assert over_queries(found, truth, draws=9, seed=1) == over_queries(found, truth, draws=9, seed=1)


def test_a_query_that_is_undefined_on_a_side_is_left_out() -> None:
    found, truth = random_lists()
    del truth["a"]["q00"]
    truth["a"]["q01"] = math.nan
    assert over_queries(found, truth, draws=0)[0]["queries"] == 10
    few = over_queries(found, {"a": {"q02": 0.5}}, draws=5)[0]
    assert few["kendall"] == {"value": None, "low": None, "high": None}
    same = {"a": dict.fromkeys(truth["a"], 0.1)}
    assert over_queries(found, same, draws=5)[0]["pearson"]["value"] is None
    with pytest.raises(InputError, match="no run has both"):
        over_queries(found, {"other": {}})
