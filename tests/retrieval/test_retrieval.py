"""Search and score: what comes back, what is counted, what is refused."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import leadline as ll
from leadline.errors import InputError, UsageError
from leadline.io.objects import read_run
from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import MODELS
from leadline.retrieval.search import SearchResult, score, search

TEXTS = {"d1": "wing wing tail", "d2": "tail heat", "d3": "heat heat flow", "d10": "tail heat", "d4": ""}
QUERIES = {"q2": "tail heat", "q1": "wing", "q3": "nowhere", "q4": ""}


@pytest.fixture(scope="module")
def index() -> Index:
    return build_index(TEXTS)


def codes(found: SearchResult) -> Mapping[str, int]:
    return {notice.code: notice.count for notice in found.warnings}


def test_a_search_finds_documents_that_share_a_term_and_breaks_ties_by_id(index: Index) -> None:
    found = search(index, QUERIES, "TF(dot)")
    assert {query: list(documents) for query, documents in found["TF(dot)"].to_dict().items()} == {
        "q1": ["d1"],
        "q2": ["d2", "d10", "d3", "d1"],
    }
    assert codes(found) == {"no_known_term": 2, "unknown_terms": 1}


def test_a_tie_at_the_cut_falls_as_in_the_whole_list(index: Index) -> None:
    assert list(search(index, QUERIES, "TF(dot)", k=1)["TF(dot)"].to_dict()["q2"]) == ["d2"]


def test_several_models_are_answered_in_one_call_and_can_be_evaluated(index: Index) -> None:
    found = search(index, QUERIES, ["BM25(k1=0.9)", "QL", MODELS.parse("TF(cosine)"), "BM25(k1=0.9)"])
    assert sorted(found) == ["BM25(k1=0.9)", "QLDirichlet", "TF(cosine)"]
    assert all(len(seconds) == 4 and (seconds > 0).all() for seconds in found.seconds.values())
    results = ll.evaluate({"q1": {"d1": 1}}, found, ["AP"])
    assert results.mean("BM25(k1=0.9)", "AP") == 1.0


def test_every_pair_comes_back_and_lost_ones_are_counted(index: Index) -> None:
    pairs = [
        ("q1", "d1"),
        ("q1", "d2"),
        ("q1", "d4"),
        ("q1", "d99"),
        ("q9", "d1"),
        ("q3", "d1"),
        ("q1", "d1"),
    ]
    found = score(index, QUERIES, pairs, "BM25")
    run = found["BM25"].to_dict()
    assert set(run["q1"]) == {"d1", "d2", "d4"}
    assert run["q1"]["d2"] == run["q1"]["d4"] == run["q3"]["d1"] == 0.0
    assert codes(found) == {
        "no_known_term": 1,
        "unknown_terms": 1,
        "unindexed_documents": 1,
        "unknown_queries": 1,
    }
    assert "found nothing" not in " ".join(map(str, found.warnings))  # the pair of q3 came back
    with pytest.raises(InputError, match="no pair has both a query with a text and an indexed document"):
        score(index, QUERIES, [("q1", "d99")], "BM25")
    for documents in (7, "d1"):
        with pytest.raises(UsageError, match=r"pairs\['q1'\] must be a list of documents, not"):
            score(index, QUERIES, {"q1": documents}, "BM25")  # type: ignore[arg-type]  # it is not


def test_judgments_teach_only_a_model_that_asks_for_them(index: Index) -> None:
    judged = {"q1": {"d3": 1, "d1": 0, "d99": 2}}
    found = search(index, QUERIES, "RM3(learn=judged)", feedback=judged)
    assert {"learned": 1, "no_feedback": 3, "no_known_term": 2}.items() <= codes(found).items()
    run = found["RM3(learn=judged)"].to_dict()
    assert set(run["q1"]) == {"d1", "d2", "d10", "d3"}  # heat and flow were learned of d3
    plain = search(index, QUERIES, "RM3(original=1)")["RM3(original=1)"].to_dict()["q2"]
    assert {name: run["q2"][name] for name in plain} == pytest.approx(plain)  # nothing to learn for q2
    for model in ("RM1(learn=judged)", "BM25RF(learn=judged)"):
        untaught = search(index, QUERIES, model, feedback={"q9": {"d1": 1}, "q1": {"d99": 1}})
        assert codes(untaught)["no_feedback"] == len(QUERIES)
        assert "learned" not in codes(untaught)
    taught = search(index, {"q": "zzzz"}, ["BM25", "RM3(learn=judged)"], feedback={"q": {"d3": 1}})
    assert taught["RM3(learn=judged)"].to_dict()["q"]
    assert codes(taught).keys() == {"unknown_terms", "learned"}
    for feedback, model in ((None, "BM25RF(learn=judged)"), (judged, "RM3")):
        with pytest.raises(UsageError, match="feedback"):
            search(index, QUERIES, model, feedback=feedback)


def test_bad_requests_are_refused(index: Index) -> None:
    with pytest.raises(UsageError, match="k must be a whole number of at least 1, not 0"):
        search(index, QUERIES, "BM25", k=0)
    with pytest.raises(UsageError, match="no retrieval model was given"):
        search(index, QUERIES, [])
    for text in ("PL2(c=1e-300)", "QLDirichlet(mu=1e308)"):
        with pytest.raises(UsageError, match="not finite"):
            search(index, QUERIES, text)
    with pytest.raises(UsageError, match="`terms` must be above 0"):
        search(index, QUERIES, "SDM(terms=0)")
    with pytest.raises(UsageError, match="index must be an Index object"):
        search({"d": "cat"}, QUERIES)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="there are no queries"):
        search(index, {}, "BM25")


def test_a_run_of_a_search_is_a_run_like_any_other(index: Index) -> None:
    run = search(index, QUERIES, "BM25")["BM25"]
    assert read_run(run.to_dict(), name="BM25") == run
    assert (run.name, run.tag) == ("BM25", "BM25")
