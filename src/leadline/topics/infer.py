"""Topics of unseen documents, held-out perplexity, files of topic vectors, and similar documents."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.ids import Vocabulary, to_bytes, to_text
from leadline.data.optional import import_optional
from leadline.data.validation import check_whole, check_word
from leadline.data.wording import counted
from leadline.errors import InputError, UsageError, place_of, repeated
from leadline.io.formats import BY_SUFFIX, suffix_of
from leadline.io.objects import Run
from leadline.io.read_paths import path_of, public
from leadline.io.row_checks import identify
from leadline.io.texts import TextsLike, rows_of
from leadline.io.write import write_bytes, write_whole
from leadline.topics.model import (
    Corpus,
    TopicModel,
    corpus_of,
    draw_buffers,
    gibbs_kernel,
    read_columns,
    topic_counts,
)


@dataclass(frozen=True)
class Vectors:
    """Documents and their topic distributions: one row per document, with sum 1."""

    ids: list[str]
    theta: Floats
    unknown: int = 0
    empty: int = 0


@dataclass(frozen=True)
class Perplexity:
    """Perplexity of a text, and the number of tokens; `unknown` tokens were excluded."""

    value: float
    tokens: int
    unknown: int
    documents: int


class TextOptions(TypedDict, total=False):
    """How the texts of documents are read, as in `encoded`."""

    language: str | None
    field: str | None
    id_column: str | None
    encoding: str
    queries: bool


def encoded(
    model: TopicModel,
    documents: TextsLike,
    *,
    language: str | None = None,
    field: str | None = None,
    id_column: str | None = None,
    encoding: str = "utf-8",
    queries: bool = False,
) -> Corpus:
    """Read documents or queries as tokens of all languages of a model, or of one; `field` is its column."""
    if field is not None and language is None and len(model.languages) > 1:
        raise UsageError("`--config topics.field` needs `--language` to name the language of the column")
    if language is None and len(model.languages) > 1:
        try:
            ids, texts = read_columns(documents, model.languages, id_column, encoding, queries=queries)
        except InputError as error:
            if any(f"has no column '{name}'" in error.found for name in model.languages):
                noun = "query" if queries else "document"
                error.hint = (
                    f"Each {noun} needs one text column per language of the model. If the texts are in one "
                    "language, name it with --language."
                )
            raise
        return corpus_of(ids, texts, model.analyses, model.vocabularies)
    index = model.language_index(language)
    column = field or model.languages[index]
    try:
        ids, texts = read_columns(documents, [column], id_column, encoding, queries=queries)
    except InputError as error:
        if "has no column" in error.found and field is None:
            error.hint = error.hint or (
                f"Rename the text column to '{column}'. If all files use another name for it, use "
                "`--config topics.field=COLUMN`"
            )
        raise
    corpus = corpus_of(ids, texts, [model.analyses[index]], [model.vocabularies[index]])
    first = int(sum(map(len, model.vocabularies[:index])))
    return Corpus(
        ids,
        model.vocabularies,
        corpus.document,
        (corpus.word + first).astype(np.int32),
        np.full_like(corpus.language, index),
        corpus.unknown,
    )


@public
def infer(
    model: TopicModel,
    documents: TextsLike | Corpus,
    *,
    burn_in: int = 50,
    samples: int = 10,
    spacing: int = 5,
    seed: int = 0,
    **options: Unpack[TextOptions],
) -> Vectors:
    """Infer the topics of documents by Gibbs sampling with fixed topic-word probabilities.

    theta = (n_t + alpha_t) / (n + sum alpha), the mean over `samples` draws, `spacing` sweeps apart, after
    `burn_in` sweeps. A document without a known word has the prior mean.
    """
    if min(burn_in + 1, samples, spacing) < 1:
        raise UsageError("`burn_in` must be at least 0, and `samples` and `spacing` must be at least 1")
    check_whole(0, seed=seed)
    corpus = documents if isinstance(documents, Corpus) else encoded(model, documents, **options)
    chance = np.random.default_rng(seed)
    latent = chance.integers(0, model.topics, len(corpus.word)).astype(np.int32)
    counts = topic_counts(corpus.document, latent, (len(corpus.ids), model.topics))
    buffers, sample = draw_buffers(model.topics), gibbs_kernel().infer
    total = np.zeros_like(counts)
    for sweep in range(1, burn_in + samples * spacing + 1):
        sample(
            corpus.document,
            corpus.word,
            latent,
            chance.random(len(latent)),
            model.alpha,
            model.phi,
            counts,
            *buffers,
        )
        if sweep > burn_in and (sweep - burn_in) % spacing == 0:
            total += counts
    theta = total / samples + model.alpha
    return Vectors(corpus.ids, theta / theta.sum(axis=1, keepdims=True), corpus.unknown, corpus.empty)


@public
def perplexity(
    model: TopicModel,
    documents: TextsLike,
    *,
    estimator: str = "left-to-right",
    particles: int = 20,
    seed: int = 0,
    **options: Unpack[TextOptions],
) -> Perplexity:
    """Return the held-out perplexity exp(-sum ln p(document) / tokens); smaller is better.

    `left-to-right` (Wallace et al. 2009, with resampling) estimates p of whole documents with `particles`;
    `completion` scores the tokens at odd positions by topics inferred from those at even ones. Unknown words
    are excluded from both sums and counted.
    """
    check_whole(0, seed=seed)
    check_whole(1, particles=particles)
    check_word(("left-to-right", "completion"), estimator=estimator)
    corpus = encoded(model, documents, **options)
    if estimator == "left-to-right":
        total, tokens = _left_to_right(model, corpus, particles, seed), len(corpus.word)
    else:
        total, tokens = _completed(model, corpus, seed)
    if not tokens:
        raise InputError(
            "the texts contain too few words that the model knows",
            path=path_of(documents),
            hint="Pass longer texts in a language of the model.",
        )
    return Perplexity(math.exp(-total / tokens), tokens, corpus.unknown, len(corpus.ids))


def _left_to_right(model: TopicModel, corpus: Corpus, particles: int, seed: int) -> float:
    """Return the sum of the logarithms of the estimated probabilities of all documents."""
    particle, buffers = gibbs_kernel().left_to_right, draw_buffers(model.topics)
    ends = np.searchsorted(corpus.document, np.arange(len(corpus.ids) + 1))
    alpha_sum, total = float(model.alpha.sum()), 0.0
    for index in range(len(corpus.ids)):
        words = corpus.word[ends[index] : ends[index + 1]]
        size = len(words)
        chance = np.random.default_rng((seed, index))
        probability = np.zeros(size)
        for _ in range(particles):
            particle(
                words,
                np.zeros(size, dtype=np.int32),
                chance.random(size * (size + 1) // 2),
                model.alpha,
                alpha_sum,
                model.phi,
                np.zeros(model.topics),
                probability,
                *buffers,
            )
        total += float(np.log(probability / particles).sum())
    return total


def _completed(model: TopicModel, corpus: Corpus, seed: int) -> tuple[float, int]:
    """Score every second token of each document by the topics of the others."""
    start = np.searchsorted(corpus.document, corpus.document)
    even = (np.arange(len(corpus.word)) - start) % 2 == 0
    observed = Corpus(
        corpus.ids, corpus.vocabularies, corpus.document[even], corpus.word[even], corpus.language[even]
    )
    theta = infer(model, observed, seed=seed).theta
    document, word = corpus.document[~even], corpus.word[~even]
    return float(np.log((theta[document] * model.phi[word]).sum(axis=1)).sum()), len(word)


def write_vectors(vectors: Vectors, path: str | os.PathLike[str]) -> None:
    """Write vectors in full precision: Parquet by its suffix, else JSON Lines."""
    name = os.fspath(path)
    if suffix_of(name) in {*BY_SUFFIX, ".npz"} - {".jsonl", ".ndjson", ".parquet"}:
        raise UsageError(
            f"{name}: topic vectors are written as JSON Lines or Parquet. Use a file name that ends in "
            ".jsonl or .parquet."
        )
    rows = [
        {"doc_id": key, "topics": topics}
        for key, topics in zip(vectors.ids, vectors.theta.tolist(), strict=True)
    ]
    if suffix_of(name) == ".parquet":
        pyarrow, parquet = import_optional("pyarrow"), import_optional("pyarrow.parquet")
        target = io.BytesIO()
        parquet.write_table(pyarrow.Table.from_pylist(rows), target)
        write_whole(name, target.getvalue())
        return
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_bytes(name, (line.encode("utf-8", "surrogateescape") for line in lines))


def vectors_of(vectors: str | os.PathLike[str] | Vectors) -> Vectors:
    """Return topic vectors, read from a file if that is given, after checking that each is a distribution."""
    if not isinstance(vectors, Vectors):
        return read_vectors(vectors)
    _check_distributions(vectors.ids, vectors.theta)
    return vectors


def _check_distributions(
    ids: Sequence[str], theta: Floats, *, path: str = "", lines: Sequence[int] | None = None
) -> None:
    wrong = np.flatnonzero(~((theta >= 0).all(axis=1) & (np.abs(theta.sum(axis=1) - 1) < 1e-6)))
    for number in wrong[:1].tolist():
        raise InputError(
            f"the topics of document '{ids[number]}' are not a probability distribution "
            f"(they add up to {theta[number].sum():.9g})",
            path=path,
            line=None if lines is None else lines[number],
            hint="Each probability must be at least 0, and all probabilities must add up to 1.",
        )


def read_vectors(path: str | os.PathLike[str]) -> Vectors:
    """Read vectors; raise InputError unless all are distributions of one length."""
    name = os.fspath(path)
    if name.endswith(".npz"):
        hint = "Pass vectors from `leadline topics infer MODEL DOCS -o VECTORS.jsonl`"
        raise InputError("is a topic model, not topic vectors", path=name, hint=hint)
    places: dict[str, int] = {}
    rows: list[list[float]] = []
    for number, row in rows_of(name, "document"):
        topics = row.get("topics")
        if "doc_id" not in row or not isinstance(topics, list) or not all(map(_is_number, topics)):
            raise InputError(
                "the row needs 'doc_id' and 'topics' (a list of numbers)",
                path=name,
                line=number,
                hint="Pass vectors from `leadline topics infer`",
            )
        if rows and len(topics) != len(rows[0]):
            raise InputError(
                f"the row has {counted(len(topics), 'topic')}, but the first row has {len(rows[0]):,}",
                path=name,
                line=number,
                hint="All vectors in a file must come from the same model",
            )
        try:
            key = to_text(identify(row["doc_id"], "doc_id"))
        except InputError as error:
            raise error.at(name, number) from None
        if key in places:
            first = place_of(name, places[key])
            raise repeated(f"document '{key}'", first=first, path=name, line=number)
        places[key] = number
        rows.append(topics)
    theta = np.array(rows, dtype=np.float64)
    if not len(theta):
        raise InputError(
            "there are no topic vectors", path=name, hint="Pass vectors from `leadline topics infer`"
        )
    _check_distributions(list(places), theta, path=name, lines=list(places.values()))
    return Vectors(list(places), theta)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


DISTANCES = ("hellinger", "js", "cosine")


def similarities(left: Floats, right: Floats, distance: str = "hellinger") -> Floats:
    """Return rows x rows of similarities: the negative distance, or the cosine.

    Hellinger: sqrt(1 - sum sqrt(p q)). Jensen-Shannon: square root of the mean divergence from the midpoint,
    base 2. Both are from 0 to 1.

    >>> similarities(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])).tolist()
    [[-0.0, -1.0]]
    """
    check_word(DISTANCES, distance=distance)
    if distance == "hellinger":
        return from_roots(np.sqrt(left), np.sqrt(right))
    if distance == "cosine":
        lengths = np.outer(np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=1))
        return (left @ right.T) / np.where(lengths == 0, 1, lengths)
    return np.stack([_jensen_shannon(row, right) for row in left])


def from_roots(left: Floats, right: Floats) -> Floats:
    """Return the negative Hellinger distances of distributions given by their square roots."""
    negative: Floats = -np.sqrt(np.maximum(1 - left @ right.T, 0))
    return negative


def _jensen_shannon(row: Floats, rows: Floats) -> Floats:
    middle = (row + rows) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(row > 0, row * np.log2(row / middle), 0.0).sum(axis=1)
        right = np.where(rows > 0, rows * np.log2(rows / middle), 0.0).sum(axis=1)
    negative: Floats = -np.sqrt(np.maximum((left + right) / 2, 0))
    return negative


def nearest(
    queries: Vectors, documents: Vectors, *, k: int = 1000, distance: str = "hellinger", name: str = "topics"
) -> Run:
    """Return the k documents with the nearest topics for every query; ties in decreasing order of id."""
    return ranked(
        lambda row: similarities(queries.theta[[row]], documents.theta, distance)[0],
        queries.ids,
        documents.ids,
        k=k,
        name=name,
    )


def ranked(
    scores: Callable[[int], Floats],
    queries: Sequence[str],
    documents: Sequence[str],
    *,
    k: int = 1000,
    own: bool = True,
    name: str = "topics",
) -> Run:
    """Return the k documents with the highest scores for every query; ties in decreasing order of id.

    `scores(row)` are those of all documents for a query. Without `own`, a query does not retrieve its own id.

    >>> table = np.array([[0.0, -0.2, -0.1]])
    >>> ranked(lambda row: table[row], ["a"], ["a", "b", "c"], own=False).to_dict()
    {'a': {'c': -0.1, 'b': -0.2}}
    """
    check_whole(1, k=k)
    names = Vocabulary(documents)
    code = names.encode(map(to_bytes, documents))
    query_ids = Vocabulary(queries)
    row_of = {query: row for row, query in enumerate(queries)}
    themselves = names.encode(map(to_bytes, query_ids)) if not own else np.full(len(query_ids), -1)
    rows, retrieved = [], []
    for query, itself in zip(query_ids, themselves.tolist(), strict=True):
        score = scores(row_of[query])
        order = np.lexsort((-code, -score))
        order = order[code[order] != itself][:k]
        rows.append(code[order])
        retrieved.append(score[order] + 0.0)
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Run.of_columns(
        query_ids,
        offsets,
        names,
        np.concatenate(rows).astype(np.int32),
        np.concatenate(retrieved),
        name=name,
        tag=name,
    )


def count_top_mates(run: Run) -> tuple[int, int]:
    """Count the queries whose top document has the query's own id, and those with such a document."""
    ids = set(run.documents)
    lists = run.to_dict()
    mated = [query for query in lists if query in ids]
    return sum(next(iter(lists[query])) == query for query in mated), len(mated)
