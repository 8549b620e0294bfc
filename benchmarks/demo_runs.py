"""Make the embedded runs and labels from Cranfield's text: `python benchmarks/demo_runs.py FOLDER`.

FOLDER holds `docs.jsonl` (doc_id, title, text), `queries.jsonl` (query_id, text) and `qrels.txt`.
The queries must be numbered by position, 1 to 225, as the judgments are; the original query file
has other numbers. Only ids and numbers are written, never text; made again, nothing changes.
"""

from __future__ import annotations

import lzma
import os
import re
import sys
from collections.abc import Iterator, Mapping

from leadline.demo import DATA, circular_lists, run_paths
from leadline.io.objects import read_run
from leadline.retrieval.index.builder import build_index
from leadline.retrieval.index.reader import Index
from leadline.retrieval.search import search

DEPTH = 100
MODELS = (
    "BM25(k1=0.9,b=0.4)",
    "BM25(k1=1.2,b=0.75)",
    "QLDirichlet",
    "QLJelinekMercer",
    "TF(dot)",
    "TFIDF(cosine)",
)
JUDGE = "PL2"  # over titles alone: its first documents are labeled relevant
LABELLED = 10  # documents of a query
KEPT = 20  # documents of a query of the run made by the labels
PLAIN = "Words(stem=none,stop=none)"


def name_of(model: str) -> str:
    """Make the name of a run of the text of its model, good for a file anywhere.

    >>> name_of("BM25(k1=0.9,b=0.4)"), name_of("TF(dot)")
    ('bm25-k1_0.9-b_0.4', 'tf-dot')
    """
    return re.sub(r"[(,]", "-", model.rstrip(")").replace("=", "_")).lower()


def run_lines(name: str, lists: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Write the lists of a run in trec_eval's order.

    Scores have six digits: enough to tell nearly all apart, and the same on every machine. What became equal
    is put in order again. The rank is 0 everywhere, which compresses to three quarters of the size that ranks
    would need; `ranked` counts them when the files are written.
    """
    for query, scores in lists.items():
        short = [(float(f"{score:.6g}"), document.encode()) for document, score in scores.items()]
        for score, document in sorted(short, reverse=True):
            yield f"{query} Q0 {document.decode()} 0 {score:.6g} {name}\n"


def write(data: str, name: str, text: str) -> None:
    """Write a compressed file; xz keeps no time, so the bytes depend on the text alone."""
    with lzma.open(os.path.join(data, name + ".xz"), "wb", preset=9 | lzma.PRESET_EXTREME) as file:
        file.write(text.encode())


def write_run(data: str, name: str, index: Index, queries: str, model: str) -> None:
    """Search with a model and write the run."""
    runs = search(index, queries, model, k=DEPTH)
    (run,) = runs.values()
    lists = run.to_dict()
    write(data, f"{name}.run", "".join(run_lines(name, dict(sorted(lists.items(), key=_number)))))


def _number(item: tuple[str, object]) -> int:
    return int(item[0])


def main(folder: str, data: str = DATA) -> None:
    """Make every run and copy the judgments."""
    documents, queries = (os.path.join(folder, f"{name}.jsonl") for name in ("docs", "queries"))
    os.makedirs(data, exist_ok=True)
    whole, titles = build_index(documents), build_index(documents, fields=["title"])
    for model in MODELS:
        write_run(data, name_of(model), whole, queries, model)
    write_run(data, "bm25-titles", titles, queries, MODELS[0])
    write_run(data, "tf-dot-plain", build_index(documents, analysis=PLAIN), queries, "TF(dot)")
    (judge,) = search(titles, queries, JUDGE, k=LABELLED).values()
    labels = {query: dict.fromkeys(scores, 1.0) for query, scores in judge.to_dict().items()}
    lines = (
        f"{query} 0 {document} 1\n"
        for query, row in sorted(labels.items(), key=_number)
        for document in sorted(row)
    )
    write(data, "machine-labels.qrels", "".join(lines))
    lists = [
        {
            query: sorted(row, key=lambda name: (-row[name], name))
            for query, row in read_run(path).to_dict().items()
        }
        for path in run_paths()
    ]
    pleasing = circular_lists(lists, labels, depth=DEPTH)
    short = {query: dict(list(row.items())[:KEPT]) for query, row in sorted(pleasing.items(), key=_number)}
    write(data, "circular.txt", "".join(run_lines("circular", short)))
    with open(os.path.join(folder, "qrels.txt"), encoding="utf-8") as file:
        write(data, "cranfield.qrels", "".join(" ".join(line.split()) + "\n" for line in file))


if __name__ == "__main__":
    main(sys.argv[1])
