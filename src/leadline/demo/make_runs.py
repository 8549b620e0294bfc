"""Make the embedded runs from Cranfield's text: `python make_runs.py FOLDER`.

FOLDER holds `docs.jsonl` (doc_id, title, text), `queries.jsonl` (query_id, text) and `qrels.txt`.
The queries must be numbered by position, 1 to 225, as the judgments are; the original query file
has other numbers. Only ids and numbers are written, never text; made again, nothing changes.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
DEPTH = 100
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a an and any are as at be been by can do does for from has have how if in is it its made
        may must no not of on or other so such than that the their there these they this to was were
        what when where which who will with would""",
    )
)


def tokens(text: str) -> list[str]:
    """Give the words without stop words and plural endings.

    >>> tokens("The bodies of two wings")
    ['body', 'two', 'wing']
    """
    return [stem(word) for word in re.findall(r"\w+", text.lower()) if word not in STOP_WORDS]


def stem(word: str) -> str:
    """Take off a plural ending, as Harman's S stemmer does."""
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


class Collection:
    """Documents x terms: how often each term occurs, small enough to hold whole."""

    def __init__(self, texts: list[str]) -> None:
        words = [tokens(text) for text in texts]
        self.place = {
            term: i for i, term in enumerate(sorted({term for text in words for term in text}))
        }
        self.tf = np.zeros((len(texts), len(self.place)))
        for row, text in enumerate(words):
            np.add.at(self.tf[row], [self.place[term] for term in text], 1.0)
        self.length = self.tf.sum(axis=1)
        self.df = (self.tf > 0).sum(axis=0)
        self.share = self.tf.sum(axis=0) / self.length.sum()
        self.idf = np.log(len(texts) / self.df)

    @cached_property
    def directions(self) -> Floats:
        """Give the tf-idf vector of every document, of length 1 (0 for an empty document)."""
        vectors = (np.log1p(np.maximum(self.tf - 1, 0)) + (self.tf > 0)) * self.idf
        norm = np.sqrt((vectors**2).sum(axis=1))
        found: Floats = vectors / np.maximum(norm, 1e-12)[:, None]
        return found

    def query(self, text: str) -> tuple[npt.NDArray[np.int64], Floats]:
        """Give the known terms of a query and how often each stands in it."""
        known = [self.place[term] for term in tokens(text) if term in self.place]
        terms, counts = np.unique(np.array(known, dtype=np.int64), return_counts=True)
        return terms, counts.astype(np.float64)

    def bm25(self, text: str, k1: float, b: float) -> Floats:
        """Score by BM25."""
        terms, qtf = self.query(text)
        tf, df = self.tf[:, terms], self.df[terms]
        idf = np.log(1 + (len(tf) - df + 0.5) / (df + 0.5))
        norm = k1 * (1 - b + b * self.length / self.length.mean())
        return weighted(idf * tf * (k1 + 1) / (tf + norm[:, None]), qtf)

    def dirichlet(self, text: str, mu: float) -> Floats:
        """Score by query likelihood with Dirichlet smoothing."""
        terms, qtf = self.query(text)
        smoothed = (self.tf[:, terms] + mu * self.share[terms]) / (self.length + mu)[:, None]
        return weighted(np.log(smoothed), qtf)

    def jelinek_mercer(self, text: str, weight: float) -> Floats:
        """Score by query likelihood with Jelinek-Mercer smoothing; `weight` is the collection's."""
        terms, qtf = self.query(text)
        inside = self.tf[:, terms] / np.maximum(self.length, 1)[:, None]
        return weighted(np.log((1 - weight) * inside + weight * self.share[terms]), qtf)

    def tfidf_cosine(self, text: str) -> Floats:
        """Score by the cosine of (1 + ln tf) ln(N/df) vectors."""
        terms, qtf = self.query(text)
        return weighted(self.directions[:, terms], (1 + np.log(qtf)) * self.idf[terms])

    def tf_dot(self, text: str) -> Floats:
        """Score by the dot product of the counts."""
        terms, qtf = self.query(text)
        return weighted(self.tf[:, terms], qtf)

    def coordination(self, text: str) -> Floats:
        """Score by the number of query terms that occur: many ties."""
        terms, _ = self.query(text)
        return weighted(self.tf[:, terms] > 0, np.ones(len(terms)))


def weighted(parts: npt.NDArray[Any], weights: Floats) -> Floats:
    """Add up weighted columns without BLAS, whose last digit depends on the machine."""
    found: Floats = (parts * weights).sum(axis=1)
    return found


def records(path: str) -> Iterator[dict[str, str]]:
    """Read JSON lines."""
    with open(path, encoding="utf-8") as file:
        yield from map(json.loads, file)


def run_lines(
    name: str, query: str, ids: list[str], matching: Floats, scores: Floats
) -> Iterator[str]:
    """Write the best documents of one query that share a term with it, in trec_eval's order.

    Scores are 32-bit numbers in full: shorter than 64 bits, and equal ones stay equal.
    """
    single = scores.astype(np.float32)
    rows = np.flatnonzero(matching > 0).tolist()
    rows.sort(key=lambda row: (single[row], ids[row].encode()), reverse=True)
    for rank, row in enumerate(rows[:DEPTH], start=1):
        yield f"{query} Q0 {ids[row]} {rank} {single[row]} {name}\n"


def write(name: str, text: str) -> None:
    """Write a compressed file; xz keeps no time, so the bytes depend on the text alone."""
    with lzma.open(os.path.join(DATA, name + ".xz"), "wb", preset=9 | lzma.PRESET_EXTREME) as file:
        file.write(text.encode())


def main(folder: str) -> None:
    """Make every run and copy the judgments."""
    documents = list(records(os.path.join(folder, "docs.jsonl")))
    queries = list(records(os.path.join(folder, "queries.jsonl")))
    ids = [document["doc_id"] for document in documents]
    whole = Collection([document["text"] for document in documents])
    titles = Collection([document["title"] for document in documents])
    models: dict[str, tuple[Collection, Callable[[str], Floats]]] = {
        "bm25-k1_0.9-b_0.4": (whole, lambda text: whole.bm25(text, 0.9, 0.4)),
        "bm25-k1_1.2-b_0.75": (whole, lambda text: whole.bm25(text, 1.2, 0.75)),
        "bm25-titles": (titles, lambda text: titles.bm25(text, 0.9, 0.4)),
        "coordination": (whole, whole.coordination),
        "ql-dirichlet-mu_1500": (whole, lambda text: whole.dirichlet(text, 1500)),
        "ql-jm-lambda_0.1": (whole, lambda text: whole.jelinek_mercer(text, 0.1)),
        "tf-dot": (whole, whole.tf_dot),
        "tfidf-cosine": (whole, whole.tfidf_cosine),
    }
    os.makedirs(DATA, exist_ok=True)
    for name, (collection, model) in models.items():
        write(f"{name}.run", "".join(
            line
            for query in queries
            for line in run_lines(
                name, query["query_id"], ids, collection.tf_dot(query["text"]), model(query["text"])
            )
        ))  # fmt: skip
    with open(os.path.join(folder, "qrels.txt"), encoding="utf-8") as file:
        write("cranfield.qrels", "".join(" ".join(line.split()) + "\n" for line in file))


if __name__ == "__main__":
    main(sys.argv[1])
