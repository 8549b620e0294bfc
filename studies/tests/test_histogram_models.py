"""The study of retrieval models: its columns are those of `histogram`, its verdict that of the rule."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.errors import InputError, UsageError
from leadline.estimation.histogram_result import HistogramOptions
from leadline.estimation.score_sets import pairs_to_score
from leadline.retrieval.models import MODELS
from leadline_studies import study
from leadline_studies.histogram_models.model_columns import (
    ASKED,
    NAMED,
    Truth,
    check_rule,
    from_lists,
    truth_of,
)

STUDY = study("histogram-models")
FEW = ("BM25", "QLDirichlet", "TF(dot)", "TFIDF(cosine)")
LETTERS = "abcdefghijklmnopqrst"
Texts = dict[str, str]


def collection() -> tuple[Texts, Texts, dict[str, dict[str, int]]]:
    """Make texts of 20 words; those that hold more of a query's two words are relevant to it, by chance."""
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.ones(20), 60)
    docs = {
        f"d{place:02}": " ".join(f"w{LETTERS[one]}" for one in rng.choice(20, 25, p=share))
        for place, share in enumerate(shares)
    }
    queries = {f"q{one}": f"w{LETTERS[one]} w{LETTERS[one + 8]}" for one in range(8)}
    qrels = {
        f"q{one}": {f"d{place:02}": 1 for place in np.argsort(-(shares[:, one] + shares[:, one + 8]))[:7]}
        for one in range(8)
    }
    return docs, queries, qrels


@pytest.fixture(scope="module")
def found() -> Any:
    """Conduct the study once with few models."""
    return STUDY.run(*collection(), model=FEW, samples="5,100", draws=10)


def test_the_settings_are_ten_or_more_and_have_the_paper_s_models() -> None:
    kinds = [type(MODELS.parse(text)).__name__ for text in STUDY.SETTINGS]
    assert len(set(STUDY.SETTINGS)) >= 10
    assert {"BM25", "BM25RF", "RM3", "SDM"} <= set(kinds)
    assert sum(kind.startswith("QL") for kind in kinds) >= 3
    assert set(NAMED) <= set(STUDY.SETTINGS)
    assert len(NAMED) == 7


def test_the_columns_of_lists_are_those_of_histogram(found: Any) -> None:
    docs, queries, qrels = collection()
    runs = ll.search(ll.build_index(docs), queries, FEW, k=60)
    models = found.data["models"]
    recipes: dict[str, dict[str, Any]] = {
        "by query": {},
        "by query, found only": {"missing": "skip"},
        "by model": {"norm": "model"},
        "by model, found only": {"as_printed": True},
        "from ranks": {"from_ranks": True},
    }
    assert list(models) == list(FEW)
    for name, options in recipes.items():
        twin = ll.histogram(qrels, runs, draws=0, **options)
        assert [one[f"HSA {name}"] for one in models.values()] == pytest.approx(twin.hsa)
        if name in ("by query", "by model", "by model, found only"):
            assert [one[f"DO {name}"] for one in models.values()] == pytest.approx(twin.do)
    plain = ll.histogram(qrels, runs, draws=0)
    assert [one["HSA robust"] for one in models.values()] == pytest.approx(plain.hsa_robust)
    assert [one["recall (control)"] for one in models.values()] == pytest.approx(plain.recall)
    bins = [plain.measured[place].by_bins for place in range(len(FEW))]
    truth = ll.evaluate(qrels, runs, "AP").means[:, 0]
    for place, one in enumerate(found.data["lists"]["HSA by query"]["bins"]):
        values = np.array([row[place] for row in bins])
        assert one["AP"]["pearson"] == pytest.approx(np.corrcoef(truth, values)[0, 1])


def test_scored_pairs_are_the_relevant_documents_and_one_sample_for_all_models(found: Any) -> None:
    docs, queries, qrels = collection()
    index = ll.build_index(docs)
    pairs = pairs_to_score(ll.read_qrels(qrels), list(docs), sample=5)
    assert {len(one) for one in pairs.values()} == {7 + 5}
    runs = ll.score(index, queries, pairs, FEW)
    truth = ll.evaluate(qrels, ll.search(index, queries, FEW, k=60), "AP").means[:, 0]
    column = ll.histogram(qrels, runs, draws=0, norm="model").hsa
    told = found.data["samples"]["5"]["HSA by model"]["AP"]["pearson"]["value"]
    assert told == pytest.approx(np.corrcoef(truth, column)[0, 1])
    weighted = ll.sampled(qrels, runs, "AP", population=60, draws=0, correction="none").means[:, 0]
    told = found.data["samples"]["5"]["AP weighted"]["AP"]["pearson"]["value"]
    assert told == pytest.approx(np.corrcoef(truth, weighted)[0, 1])


def test_a_number_of_drawn_queries_is_that_of_the_queries_alone() -> None:
    docs, queries, qrels = collection()
    runs = ll.search(ll.build_index(docs), queries, FEW, k=60)
    table = ll.read_qrels(qrels)
    truth, _ = truth_of(table, runs, 1.0)
    columns, _ = from_lists(table, runs, HistogramOptions(), truth, 60)
    times = np.array([[0.0] + [1.0] * 7, [1.0] * 8])  # without the first query, and with all
    less = {name: grades for name, grades in qrels.items() if name != "q0"}
    twin = ll.histogram(less, runs, draws=0)
    for name, values in {
        "HSA by query": twin.hsa,
        "DO by query": twin.do,
        "HSA robust": twin.hsa_robust,
        "recall (control)": twin.recall,
    }.items():
        assert columns[name].again(times)[0] == pytest.approx(values)
        assert columns[name].again(times)[1] == pytest.approx(columns[name].values)


def test_equal_means_tie_whatever_the_order_of_their_parts() -> None:
    parts = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.6, 0.0, 0.0]])
    truth = Truth(["a", "b", "c"], parts[:, :, None].repeat(3, axis=2), np.arange(3))
    assert len(set(truth.quality[:, 0].tolist())) == 1


def test_all_is_said_beside_the_control_and_twice_the_same(found: Any) -> None:
    assert set(found.figures) == {"all", "by-query", "by-model", "bins", "samples"}  # no seven of four
    assert set(found.tables) == {"models", "correlations", "sevens", "bins", "samples"}
    assert "no verdict, because the rule requires 50 queries (8 here), BM25RF, RM3, SDM" in found.lines[0]
    assert any(line.startswith("recall (control): R") for line in found.lines)
    again = STUDY.run(*collection(), model=FEW, samples="5,100", draws=10)
    assert json.dumps(again.data, allow_nan=False) == json.dumps(found.data, allow_nan=False)
    assert "time" not in found.data


def test_an_index_does_as_its_collection(found: Any, tmp_path: Path) -> None:
    docs, queries, qrels = collection()
    ll.build_index(docs, tmp_path / "index")
    again = STUDY.run(str(tmp_path / "index"), queries, qrels, model=FEW, samples="5,100", draws=10)
    assert again.data == found.data


def test_more_than_seven_models_are_drawn_by_sevens_and_the_paper_s_seven_are_named() -> None:
    found = STUDY.run(*collection(), model=(*NAMED, "TF(dot)"), samples="5", draws=10)
    one = found.data["lists"]["HSA by query"]
    assert one["sevens_pearson"]["low"] <= one["sevens_pearson"]["median"]
    values = [found.data["models"][name] for name in NAMED]
    told = np.corrcoef([one["nDCG"] for one in values], [one["HSA by query"] for one in values])[0, 1]
    assert one["named_seven"]["nDCG"]["pearson"] == pytest.approx(told)
    assert {"sevens", "all"} <= set(found.figures)
    assert "named_seven" in found.tables


def test_the_rule_asks_for_both_coefficients_with_both_measures_and_for_all_bins() -> None:
    both = {"pearson": {"value": 0.8}, "spearman": {"value": 0.7}}
    at = {measure: {"pearson": 0.6, "spearman": 0.6} for measure in ("AP", "nDCG")}
    good: dict[str, Any] = {
        "undefined": 0,
        "AP": both,
        "nDCG": both,
        "bins": [copy.deepcopy(at) for _ in range(6)],
    }
    assert check_rule(good) == ASKED | {"holds": True}
    for place, holds in enumerate((True, False, False, False, False, True)):  # 5 and 200 do not count
        worse = copy.deepcopy(good)
        worse["bins"][place]["nDCG"]["spearman"] = 0.59
        assert check_rule(worse)["holds"] is holds
    for measure in ("AP", "nDCG"):
        for kind in ("pearson", "spearman"):
            worse = copy.deepcopy(good)
            worse[measure][kind]["value"] -= 0.01
            assert not check_rule(worse)["holds"]
            worse[measure][kind]["value"] = None
            assert not check_rule(worse)["holds"]
    assert not check_rule(good | {"undefined": 1})["holds"]


def test_one_collection_alone_never_reproduces_the_claim_but_may_refute_it(found: Any) -> None:
    data = copy.deepcopy(found.data) | {"lacking": []}
    rule = data["lists"]["HSA by query"]["rule"]
    rule["holds"] = True
    assert STUDY.lines(data)[0].endswith("agree, not counting Cranfield")
    rule["holds"] = False
    assert STUDY.lines(data)[0].endswith(": not reproduced")


def test_times_are_measured_only_when_asked() -> None:
    found = STUDY.run(*collection(), model=FEW, samples="5", draws=2, time=2)
    times = found.data["time"]
    assert [row["model"] for row in times["models"]] == list(FEW)
    assert all(row["samples"]["5"]["ratio"] >= 0 for row in times["models"])
    assert times["all_models"]["5"]["ratio"] > 0
    assert found.lines[-1].startswith("Time, n = 5: ranking and evaluating everything takes")
    assert len(found.tables["time"].rows) == len(FEW)


def test_what_cannot_be_tried_is_refused() -> None:
    docs, queries, qrels = collection()
    with pytest.raises(UsageError, match=r"need at least 3 models \(--model\), not 2"):
        STUDY.run(docs, queries, qrels, model=("BM25", "BM25", "RM3"))
    with pytest.raises(UsageError, match="bins must be"):
        STUDY.run(docs, queries, qrels, bins=1)
    with pytest.raises(UsageError, match="Give positive integers"):
        STUDY.run(docs, queries, qrels, samples="10,0")
    with pytest.raises(InputError, match="no query has a relevant document"):
        STUDY.run(docs, queries, {"q1": {"d01": 0}})
    with pytest.raises(InputError, match="no query with a relevant document has a text"):
        STUDY.run(docs, queries, {"other": {"d01": 1}})


def test_models_that_cannot_be_told_apart_have_undefined_coefficients() -> None:
    docs = {"d1": "wing flow", "d2": "heat flow", "d3": "tail"}
    found = STUDY.run(docs, {"q1": "wing"}, {"q1": {"d1": 1}}, model=FEW, samples="2", draws=3)
    assert found.data["lists"]["HSA by query"]["AP"]["pearson"]["value"] is None
    assert found.data["lists"]["HSA by query"]["undefined"] == len(FEW)
    assert "R undefined with MAP" in found.lines[0]
    json.dumps(found.data, allow_nan=False)


def test_relevant_documents_that_are_not_indexed_are_never_found_and_said() -> None:
    docs, queries, qrels = collection()
    more = {query: grades | {f"lost{place}": 1 for place in range(3)} for query, grades in qrels.items()}
    found = STUDY.run(docs, queries, more, model=FEW, samples="100", draws=2)
    assert found.data["relevant"] == 8 * (7 + 3)
    assert any("24 pairs whose document is not indexed" in str(notice) for notice in found.warnings)
    assert max(one["recall (control)"] for one in found.data["models"].values()) <= 0.7


def test_queries_without_a_text_are_said_and_those_without_a_relevant_document_are_not_asked() -> None:
    docs, queries, qrels = collection()
    texts = {name: text for name, text in queries.items() if name != "q7"}
    found = STUDY.run(docs, texts, qrels | {"q8": {"d00": 0}}, model=FEW, samples="5", draws=2)
    assert found.data["queries"] == 7
    said = [str(notice) for notice in found.warnings]
    assert "left out the pairs of 1 query without a text" in said
    assert not any("missing from" in notice for notice in said)
