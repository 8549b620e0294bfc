"""P@1 of translations by topics and by LSI on the same texts, over five fits, as tables for docs/search.md.

    python benchmarks/translations.py DATA

DATA holds multi30k (train.tsv.gz, val.tsv) and xquad-retrieval (docs.LANGUAGE.jsonl, queries.LANGUAGE.jsonl,
qrels.txt). Models are fitted with 200 sweeps and seeds 0 to 4; a text in one language asks, and is found
where its translation is nearer than every other text: by Hellinger distance of topics, or by cosine of LSI
factors.
LSI: the truncated singular value decomposition of terms by pairs, terms of both languages apart, texts folded
in by the left singular vectors; the same terms as the topic models have.
"""

from __future__ import annotations

import csv
import gzip
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import svds

from leadline.topics.infer import infer, similarities
from leadline.topics.model import Corpus, analyses_of, corpus_of, fit

SEEDS = range(5)
SWEEPS = 200
PAIRS = 6000  # captions to train on
ASKED = 1000  # captions
Records = list[dict[str, str]]
Answers = Sequence[int]


def main(data: Path) -> None:
    """Print the tables."""
    of_captions(*captions(data / "multi30k"))
    of_paragraphs(data / "xquad-retrieval")
    of_questions(data / "xquad-retrieval")


def of_captions(pairs: Records, asked: Records) -> None:
    """Print P@1 of captions by topics and by LSI."""
    print(f"multi30k, German to English, first {ASKED:,} captions of val, {len(pairs):,} pairs\n")
    print("| LSI | raw counts | log(1 + count) idf |\n| --- | ---: | ---: |")
    for factors in (100, 200):
        both = [lsi(pairs, asked, factors, ("de", "en"), idf=idf) for idf in (False, True)]
        print(f"| {factors} factors | {both[0]:.3f} | {both[1]:.3f} |", flush=True)
    heads("T", "alpha")
    for topics, alpha in ((100, 0.1), (100, 0.5), (200, 0.05)):
        row(topics, alpha, values=fits(pairs, asked, asked, topics, alpha, ("de", "en")))


def of_paragraphs(folder: Path) -> None:
    """Print P@1 of paragraphs, fitted to every second one, asked about the others."""
    print("\nXQuAD paragraphs, fitted to every second one, asked about the others\n")
    heads("languages", "T", "alpha")
    for first in ("de", "es"):
        texts = paragraphs(folder, first)
        for alpha in (0.1, 0.5):
            found = fits(texts[::2], texts[1::2], texts[1::2], 100, alpha, (first, "en"))
            row(f"{first} to en", 100, alpha, values=found)
        both = [lsi(texts[::2], texts[1::2], 100, (first, "en"), idf=idf) for idf in (False, True)]
        print(f"LSI, {first} to en, 100 factors: {both[0]:.3f} {both[1]:.3f}", flush=True)


def of_questions(folder: Path) -> None:
    """Print P@1 of questions: the English paragraph among all, fitted to the paragraphs."""
    print("\nXQuAD questions, the English paragraph among all, fitted to the paragraphs\n")
    heads("languages", "T", "alpha")
    for first in ("de", "es"):
        texts, answers = paragraphs(folder, first), {}
        place = {one["doc_id"]: row_ for row_, one in enumerate(texts)}
        for line in (folder / "qrels.txt").read_text().splitlines():
            question, _, paragraph, _ = line.split()
            answers[question] = place[paragraph]
        rows = jsonl(folder / f"queries.{first}.jsonl")
        questions = [{"doc_id": one["query_id"], first: one["text"]} for one in rows]
        wanted = [answers[one["doc_id"]] for one in questions]
        found = fits(texts, questions, texts, 100, 0.1, (first, "en"), wanted)
        row(f"{first} to en", 100, 0.1, values=found)


def captions(folder: Path) -> tuple[Records, Records]:
    """Read the pairs to train on and those to ask about."""
    with gzip.open(folder / "train.tsv.gz", "rt", encoding="utf-8", newline="") as file:
        train = records(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    with (folder / "val.tsv").open(encoding="utf-8", newline="") as file:
        asked = records(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return train[:PAIRS], asked[:ASKED]


def records(rows: Any) -> Records:
    """Keep the id and both texts."""
    return [{"doc_id": one["pair_id"], "de": one["de"], "en": one["en"]} for one in rows]


def jsonl(path: Path) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def paragraphs(folder: Path, first: str) -> Records:
    """Read the paragraphs in two languages."""
    english = {one["doc_id"]: one["text"] for one in jsonl(folder / "docs.en.jsonl")}
    return [
        {"doc_id": one["doc_id"], first: one["text"], "en": english[one["doc_id"]]}
        for one in jsonl(folder / f"docs.{first}.jsonl")
    ]


def fits(
    train: Records,
    asked: Records,
    found: Records,
    topics: int,
    alpha: float,
    languages: tuple[str, str],
    answers: Answers | None = None,
) -> list[float]:
    """Return P@1 of every seed."""
    values = []
    for seed in SEEDS:
        model = fit(train, topics, languages=languages, alpha=alpha, sweeps=SWEEPS, seed=seed)
        left = infer(model, asked, seed=seed, language=languages[0]).theta
        right = infer(model, found, seed=seed, language=languages[1]).theta
        values.append(first_is_right(similarities(left, right), answers))
    return values


def first_is_right(scores: Any, answers: Answers | None) -> float:
    """Return the share of rows whose answer (default: the same place) scores above all others."""
    rows = np.arange(len(scores))
    wanted = rows if answers is None else np.asarray(answers)
    own = scores[rows, wanted].copy()
    scores = scores.copy()
    scores[rows, wanted] = -np.inf
    return float((own > scores.max(axis=1)).mean())


def lsi(train: Records, asked: Records, factors: int, languages: tuple[str, str], *, idf: bool) -> float:
    """Return P@1 of LSI, of raw counts or of log(1 + count) times idf."""
    analyses = analyses_of(languages, None)

    def corpus(part: Records, vocabularies: Any = None) -> Corpus:
        columns = [[one[name] for one in part] for name in languages]
        return corpus_of([one["doc_id"] for one in part], columns, analyses, vocabularies)

    known = corpus(train)
    counts = matrix(known)
    weight = np.ones(counts.shape[1])
    if idf:
        weight = np.log(len(train) / np.maximum((counts > 0).sum(axis=0), 1))
    left = svds(weighed(counts, weight, idf=idf), k=factors, random_state=0)[2]
    tested = corpus(asked, known.vocabularies)
    sides = []
    for place in range(2):
        kept = tested.language == place
        part = matrix(tested, kept, counts.shape[1])
        folded = weighed(part, weight, idf=idf) @ left.T
        sides.append(folded / np.maximum(np.linalg.norm(folded, axis=1, keepdims=True), 1e-12))
    return first_is_right(sides[0] @ sides[1].T, None)


def matrix(corpus: Corpus, kept: Any = slice(None), terms: int | None = None) -> csr_array:
    """Count the terms of documents, all or some of the tokens."""
    document, word = corpus.document[kept], corpus.word[kept]
    shape = (len(corpus.ids), terms or corpus.first[-1])
    return coo_array((np.ones(len(word)), (document, word)), shape=shape).tocsr()


def weighed(counts: csr_array, weight: Any, *, idf: bool) -> csr_array:
    """Weigh counts."""
    return (counts.log1p() if idf else counts).multiply(weight[None, :]).tocsr()


def heads(*names: str) -> None:
    """Print the heads of a table of fits."""
    columns = [*names, "P@1 of five fits", "mean", "deviation"]
    print("| " + " | ".join(columns) + " |\n|" + " --- |" * len(columns))


def row(*cells: Any, values: list[float]) -> None:
    """Print one row of a table of fits."""
    spread = f"{min(values):.3f} to {max(values):.3f}"
    rest = [spread, f"{statistics.mean(values):.3f}", f"{statistics.stdev(values):.3f}"]
    print("| " + " | ".join([*map(str, cells), *rest]) + " |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
