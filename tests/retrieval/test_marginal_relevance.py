"""Maximal marginal relevance, against a loop over documents."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import InputError, UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.retrieval.index import build_index
from leadline.retrieval.search import mmr, search

WORDS = ["jaguar", "cat", "car", "speed", "forest"]


def slow(docs: dict[str, str], scores: dict[str, float], share: float) -> list[str]:
    """Choose documents one after the other, by the definition."""
    df = Counter(word for text in docs.values() for word in set(text.split()))

    def vector(text: str) -> dict[str, float]:
        return {
            word: (1 + math.log(count)) * math.log(1 + len(docs) / df[word])
            for word, count in Counter(text.split()).items()
        }

    def cosine(a: dict[str, float], b: dict[str, float]) -> float:
        dot = sum(weight * b.get(word, 0.0) for word, weight in a.items())
        return dot / math.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))

    vectors = {name: vector(docs[name]) for name in scores}
    low, high = min(scores.values()), max(scores.values())
    left, chosen = sorted(scores, key=lambda name: (scores[name], name), reverse=True), list[str]()
    while left:

        def gain(name: str) -> float:
            near = max((cosine(vectors[name], vectors[other]) for other in chosen), default=0.0)
            return share * (scores[name] - low) / ((high - low) or 1) - (1 - share) * near

        best = max(left, key=lambda name: round(gain(name), 12))
        chosen.append(best)
        left.remove(best)
    return chosen


@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=2, max_size=6),
    st.sampled_from([0.0, 0.3, 0.7, 1.0]),
)
def test_documents_are_chosen_as_the_definition_says(texts: list[list[str]], share: float) -> None:
    docs = {f"d{place}": " ".join(words) for place, words in enumerate(texts)}
    scores = {name: 1.0 / (place + 1.37) for place, name in enumerate(docs)}
    index = build_index(docs, analysis="Words(stem=none,stop=none)")
    found = list(mmr(index, {"q": scores}, share=share).to_dict()["q"])
    expected = slow(docs, scores, share)
    if share == 1:
        assert found == list(scores)
    assert found == expected


def test_a_list_by_mmr_covers_subtopics_earlier() -> None:
    docs = {"a": "jaguar cat forest", "b": "jaguar cat forest", "c": "jaguar car speed", "d": "car"}
    run = {"q": {"a": 4.0, "b": 3.9, "c": 3.0, "d": 1.0}}
    qrels = {"q": {"animal": {"a": 1, "b": 1}, "vehicle": {"c": 1}}}
    index = build_index(docs)
    values = evaluate(qrels, {"given": run, "mmr": mmr(index, run)}, "alpha_nDCG@2", subtopics=True)
    assert values.mean("mmr", "alpha_nDCG@2") > values.mean("given", "alpha_nDCG@2")
    assert list(mmr(index, run, depth=2).to_dict()["q"]) == ["a", "b", "c", "d"]
    run["q"]["d"] = -math.inf  # below the depth, where scores do not count
    assert list(mmr(index, run, depth=2).to_dict()["q"]) == ["a", "b", "c", "d"]


def test_scores_whose_difference_is_no_float_are_reordered() -> None:
    index = build_index({"a": "cat", "b": "cat", "c": "car"})
    assert list(mmr(index, {"q": {"a": 1e308, "b": 0.0, "c": -1e308}}).to_dict()["q"]) == ["a", "c", "b"]


def test_what_cannot_be_reordered_is_refused() -> None:
    index = build_index({"a": "cat"})
    with pytest.raises(InputError, match="'b'"):
        mmr(index, {"q": {"a": 2.0, "b": 1.0}})
    with pytest.raises(InputError, match="'a' for query 'q' has the score inf"):
        mmr(index, {"q": {"a": math.inf}})
    with pytest.raises(UsageError, match="one run"):
        mmr(index, search(index, {"q": "cat"}, ["BM25", "TF"]))
    assert mmr(index, search(index, {"q": "cat"}, "BM25")).to_dict() == {"q": {"a": 1.0}}
    with pytest.raises(UsageError):
        mmr(index, {"q": {"a": 2.0}}, share=1.5)
