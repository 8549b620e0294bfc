"""Time indexing, search and score beside bm25s, in turn in one process: medians and ratios.

    python benchmarks/texts.py SETS/texts
    python benchmarks/retrieval.py SETS/texts

Both index the same JSON Lines with the same stemmer, reading in and writing out; ours keeps positions.
Times are of the processor, for the machine may be shared; all queries of one and of the other take turns.
Ratios are ours / theirs: to search is to turn texts into runs; theirs also to retrieve alone, tokens given.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bm25s
import Stemmer

from leadline.io.texts import read_queries
from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import MODELS
from leadline.retrieval.search import score, search

ROUNDS = 3


def timed(work: Callable[[], Any]) -> float:
    """Return the processor seconds of some work."""
    began = time.process_time()
    work()
    return time.process_time() - began


def index_theirs(docs: Path, target: str) -> Any:
    """Index with bm25s as its documentation does."""
    with docs.open(encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    tokens = bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)
    peer = bm25s.BM25(k1=1.2, b=0.75)
    peer.index(tokens, show_progress=False)
    peer.save(target)
    return peer


def main(folder: Path) -> None:
    """Print the figures as JSON."""
    docs, stemmer = folder / "docs.jsonl", Stemmer.Stemmer("english")
    texts = [query.text for query in read_queries(str(folder / "queries.jsonl"))]
    with tempfile.TemporaryDirectory() as target:
        pairs = [
            (
                timed(lambda: build_index(str(docs), f"{target}/ours", overwrite=True)),
                timed(lambda: index_theirs(docs, f"{target}/theirs")),
            )
            for _ in range(ROUNDS)
        ]
        index, peer = Index(f"{target}/ours"), index_theirs(docs, f"{target}/theirs")
        figures: dict[str, Any] = {
            "documents": index.documents,
            "tokens": index.tokens,
            "index_bytes": index.size,
            "index_seconds": statistics.median(ours for ours, _ in pairs),
            "index_ratio": statistics.median(ours / theirs for ours, theirs in pairs),
        }

        def tokens_of(text: str) -> Any:
            return bm25s.tokenize(
                text, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False
            )

        def ask_theirs() -> None:
            for text in texts:
                peer.retrieve(tokens_of(text), k=1000, show_progress=False)

        ready = list(map(tokens_of, texts))

        def retrieve_theirs() -> None:
            for tokens in ready:
                peer.retrieve(tokens, k=1000, show_progress=False)

        asked = {f"q{place}": text for place, text in enumerate(texts)}
        found = search(index, asked, "BM25", k=100)["BM25"].to_dict()
        for name in MODELS.classes:
            model = str(MODELS.parse(name))
            search(index, asked, model)  # what is made once is made
            turns = []
            for _ in range(ROUNDS):
                ours = timed(lambda model=model: search(index, asked, model))  # type: ignore[misc]
                turns.append((ours, timed(ask_theirs), timed(retrieve_theirs)))
            hundred = [
                sum(score(index, {q: asked[q]}, {q: found[q]}, model).seconds[model].tolist())
                for q in list(found)[:50]
                if len(found[q]) == 100
            ]
            figures[model] = {
                "milliseconds": 1000 * statistics.median(ours for ours, *_ in turns) / len(texts),
                "ratio": statistics.median(ours / theirs for ours, theirs, _ in turns),
                "ratio_retrieve": statistics.median(ours / theirs for ours, _, theirs in turns),
                "hundred_pairs_milliseconds": 1000 * statistics.median(hundred),
            }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
