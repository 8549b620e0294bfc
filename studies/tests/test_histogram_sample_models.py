"""The study of samples over models: full MAP, rescoring and samples are what the functions give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.errors import UsageError
from leadline.stats.correlation import pearson
from leadline_studies import study
from leadline_studies.histogram_sample_models.study import places_lost

MODELS = study("histogram-sample-models")
WORDS = ("wing", "flow", "heat", "bird", "plate", "cold", "air", "drag")
DICE = np.random.default_rng(5)
DOCS = {f"d{place:02}": " ".join(DICE.choice(WORDS, 6)) for place in range(60)}
QUERIES = {f"q{place}": " ".join(DICE.choice(WORDS, 2, replace=False)) for place in range(6)}
QRELS = {
    query: {name: int(set(words.split()) <= set(text.split())) for name, text in DOCS.items()}
    for query, words in QUERIES.items()
}
TRIED = ("BM25", "TF(dot)", "QLDirichlet", "RM3(docs=2)", "BM25RF(docs=2,terms=2)")


def tried(**options: Any) -> Any:
    given = {"model": TRIED, "tops": "5,20", "samples": "4,8", "shares": "50,100", "repeats": 2}
    return MODELS.run(DOCS, QUERIES, QRELS, **given | {"draws": 8} | options)


def test_map_whole_and_rescored_is_what_the_functions_give() -> None:
    index = ll.build_index(DOCS)
    first = ll.search(index, QUERIES, "BM25", k=5)["BM25"].to_dict()
    data = tried().data
    assert [one["model"] for one in data["models"]][:2] == list(
        map(str, ll.search(index, QUERIES, TRIED[:2]))
    )
    for one in data["models"]:
        name = one["model"]
        whole = ll.search(index, QUERIES, name, k=60)[name]
        assert one["map"] == pytest.approx(ll.evaluate(QRELS, whole, "AP").means[0, 0])
        again = ll.score(index, QUERIES, first, name)[name]
        assert one["rescored"]["5"] == pytest.approx(ll.evaluate(QRELS, again, "AP").means[0, 0])
        assert one["expands"] == name.startswith(("RM3", "BM25RF"))
        relevant = sum(map(sum, (grades.values() for grades in QRELS.values())))
        new = sum(
            QRELS[query][name]
            for query, found in whole.to_dict().items()
            for name in set(list(found)[:5]) - set(first[query])
        )
        assert one["new"]["5"] == pytest.approx(new / relevant)


def test_a_sample_of_all_others_weighs_as_the_function_does() -> None:
    index = ll.build_index(DOCS)
    cell = tried(samples="4,60").data["estimates"]["AP weighted"][-1]
    pairs = {query: list(DOCS) for query in QUERIES}
    scored = ll.score(index, QUERIES, pairs, TRIED)
    wanted = ll.sampled(QRELS, scored, "AP", population=60, draws=0).means[:, 0]
    exact = [one["map"] for one in tried().data["models"]]
    assert cell["mean"] == pytest.approx(wanted.mean())
    assert cell["pearson"]["value"] == pytest.approx(pearson(np.array(exact), wanted))


def test_samples_are_those_that_the_function_draws_from_the_collection() -> None:
    index = ll.build_index(DOCS)
    found = tried(samples="8", shares="100", repeats=1, draws=0, seed=3)
    wanted = []
    for name in (one["model"] for one in found.data["models"]):

        def scores(query: str, documents: list[str], name: str = name) -> list[float]:
            given = ll.score(index, QUERIES, {query: documents}, name)[name].to_dict()[query]
            return [given[document] for document in documents]

        options: dict[str, Any] = {"documents": list(DOCS), "sample": 8, "seed": 3, "draws": 0}
        wanted.append(ll.histogram(QRELS, {"run": scores}, **options).hsa[0])
    cell = found.data["estimates"]["HSA, scores"][0]
    assert cell["mean"] == pytest.approx(np.nanmean(wanted))
    assert cell["undefined"] == np.isnan(wanted).sum()


def test_expansion_is_told_apart_and_every_table_is_there() -> None:
    found = tried()
    assert set(found.tables) == {"tracking", "models", "rescoring"}
    assert set(found.figures) == {"tracking", "shares", "underrated"}
    assert len(found.tables["rescoring"].rows) == 2 + 5 * 2
    assert len(found.lines) == 3 + 2
    assert "runs_low" not in found.tables["tracking"].columns
    assert found.data == tried().data
    alone = tried(model=TRIED[:3])
    assert alone.data["underrated"][0]["places"]["value"] is None
    assert alone.lines[-1].startswith("Rescoring the first 20 documents of BM25 has R")


def test_places_are_lost_by_models_that_an_estimate_puts_too_low() -> None:
    exact = np.array([0.1, 0.2, 0.3, 0.4])[:, None, None]
    learns = np.array([False, False, False, True])
    last = np.array([0.2, 0.3, 0.4, 0.1])[:, None, None]
    assert places_lost(exact, last, learns).tolist() == [[3.0]]
    assert places_lost(exact, exact, learns).tolist() == [[0.0]]
    assert places_lost(exact, np.full_like(last, np.nan), learns).tolist() == [[1.5]]
    assert np.isnan(places_lost(exact, last, ~learns & learns)).all()


def test_judged_queries_without_a_text_are_counted() -> None:
    found = MODELS.run(
        DOCS,
        {name: text for name, text in QUERIES.items() if name != "q0"},
        QRELS,
        model=TRIED[:3],
        tops="5",
        samples="4",
        shares="100",
        repeats=1,
        draws=0,
    )
    assert found.warnings[0].code == "lost_queries"
    assert found.warnings[0].count == 1


def test_too_few_models_are_refused() -> None:
    with pytest.raises(UsageError, match=r"need at least 3 models \(--model\), not 2"):
        tried(model=TRIED[:2])
    with pytest.raises(UsageError, match="tops 'x' is not valid"):
        tried(tops="x")
