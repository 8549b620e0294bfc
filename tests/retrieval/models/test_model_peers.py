"""Independent programs: BM25 against bm25s with matched options, on a real collection."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from leadline.io.texts import read_documents, read_queries
from leadline.retrieval.index.builder import build_index
from leadline.retrieval.search import search


def test_bm25_is_what_bm25s_gives_with_the_same_tokens(shared_data: Path) -> None:
    bm25s = pytest.importorskip("bm25s")
    folder = shared_data / "cranfield"
    index = build_index(str(folder / "docs.jsonl"))
    documents = list(read_documents(str(folder / "docs.jsonl")))
    queries = read_queries(str(folder / "queries.jsonl"))[:40]
    terms = index.analysis.terms
    peer = bm25s.BM25(k1=0.9, b=0.4, method="lucene", dtype="float64")
    peer.index([terms(document.content) for document in documents], show_progress=False)
    asked = {query.id: " ".join(dict.fromkeys(query.content.split())) for query in queries}
    ours = search(index, asked, "BM25(k1=0.9,b=0.4)", k=50)["BM25(k1=0.9,b=0.4)"].to_dict()
    for query, text in asked.items():
        theirs = peer.get_scores(terms(text))  # repeated terms count again there too
        by_id = dict(zip((document.id for document in documents), theirs.tolist(), strict=True))
        found = ours[query]
        assert list(found.values()) == pytest.approx([1.9 * by_id[name] for name in found], rel=1e-6)
        assert min(found.values()) >= 1.9 * np.sort(theirs)[-50] * (1 - 1e-6)
