"""Pairs drawn once: the same as those of a scoring function, whichever model scores them."""

from __future__ import annotations

import numpy as np
import pytest

import leadline as ll
from leadline.errors import UsageError
from leadline.estimation.histogram_result import overlap, slope
from leadline_studies.histogram_topics.pairs import draw_pairs


@pytest.mark.parametrize("norm", ["query", "model"])
def test_pairs_have_the_histograms_of_a_scoring_function(norm: str) -> None:
    rng = np.random.default_rng(3)
    documents = [f"d{place:02}" for place in range(60)]
    qrels = {f"q{q}": dict.fromkeys(rng.choice(documents, 5, replace=False).tolist(), 1) for q in range(7)}
    table = {
        query: dict(zip(documents, rng.normal([2 * (name in one) for name in documents]), strict=True))
        for query, one in qrels.items()
    }
    whole = ll.histogram(
        qrels,
        {"f": lambda query, names: [table[query][name] for name in names]},
        documents=documents,
        sample=20,
        seed=4,
        norm=norm,
        draws=0,
    )
    pairs = draw_pairs(qrels, documents, sample=20, seed=4)
    scores = np.array(
        [
            table[list(qrels)[query]][documents[document]]
            for query, document in zip(pairs.query.tolist(), pairs.document.tolist(), strict=True)
        ]
    )
    counts = pairs.histograms(scores, norm=norm)
    assert np.array_equal(counts, whole.counts[0])
    assert slope(*counts.sum(axis=0)) == pytest.approx(whole.hsa[0])
    assert overlap(*counts.sum(axis=0)) == pytest.approx(whole.do[0])


def test_a_query_is_not_its_own_document_unless_it_is_said() -> None:
    documents = ["a", "b", "c", "d"]
    relevant = {"a": ["c"], "d": ["b"]}
    for own, others in ((True, [["a", "b", "d"], ["a", "c", "d"]]), (False, [["b", "d"], ["a", "c"]])):
        pairs = draw_pairs(relevant, documents, sample=9, own=own)
        for query, wanted in enumerate(others):
            chosen = pairs.document[(pairs.query == query) & ~pairs.relevant]
            assert [documents[row] for row in chosen.tolist()] == wanted
    assert [documents[row] for row in pairs.document[pairs.relevant].tolist()] == ["c", "b"]


def test_a_sample_grows_by_keeping_what_it_has() -> None:
    documents = [f"d{place}" for place in range(30)]
    small, large = (
        set(draw_pairs({"q": ["d3"]}, documents, sample=size, seed=1).document.tolist()) for size in (5, 10)
    )
    assert small < large
    with pytest.raises(UsageError, match="sample must be"):
        draw_pairs({"q": ["d3"]}, documents, sample=0)
