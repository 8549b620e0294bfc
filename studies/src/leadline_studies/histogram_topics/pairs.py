"""Texts to fit and to hold out, documents that are relevant to each other, and pairs to score."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leadline import InputError, UsageError, read_qrels
from leadline.data.arrays import Flags, Floats, Integers, sampled_documents
from leadline.data.ids import to_bytes
from leadline.data.validation import check_whole
from leadline.data.wording import counted
from leadline.estimation.score_sets import Values, counts_of
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.io.read import QrelsLike
from leadline.io.texts import TextsLike
from leadline.topics.model import check_languages, read_columns
from leadline_studies import at_least

Record = Mapping[str, str]


class TopicTexts(NamedTuple):
    """Records of all documents, the training documents, and those held out; their languages."""

    languages: list[str]
    all: Sequence[Record]
    train: Sequence[Record]
    held_out: Sequence[Record]

    @property
    def ids(self) -> list[str]:
        """Ids of all documents."""
        return [record["doc_id"] for record in self.all]


def read_texts(
    docs: TextsLike,
    train: TextsLike | None,
    *,
    languages: Sequence[str] = (),
    held_out: float = 0.1,
    seed: int = 0,
    id_column: str | None = None,
) -> TopicTexts:
    """Read documents; without separate training documents, a random part is held out.

    >>> texts = read_texts({"a": "wing", "b": "heat", "c": "flow"}, None, held_out=0.4)
    >>> len(texts.train), len(texts.held_out)
    (2, 1)
    """
    named = check_languages(languages)
    documents = _records(docs, named, id_column)
    if train is not None:
        return TopicTexts(named, documents, _records(train, named, id_column), documents)
    at_least(2, len(documents), "documents (one to hold out)")
    size = round(held_out * len(documents))
    if not 0 < size < len(documents):
        raise UsageError(
            f"--held-out {held_out:g} leaves none of {counted(len(documents), 'document')} to hold out, or "
            "none to train on. Give another share, such as 0.2."
        )
    chosen = set(np.random.default_rng([seed, 6]).choice(len(documents), size, replace=False).tolist())
    return TopicTexts(
        named,
        documents,
        [record for index, record in enumerate(documents) if index not in chosen],
        [documents[index] for index in sorted(chosen)],
    )


def _records(source: TextsLike, languages: Sequence[str], id_column: str | None) -> list[Record]:
    ids, texts = read_columns(source, languages, id_column, "utf-8")
    return [
        {"doc_id": key} | dict(zip(languages, row, strict=True))
        for key, row in zip(ids, zip(*texts, strict=True), strict=True)
    ]


def relevant_pairs(
    qrels: QrelsLike, documents: Sequence[str], *, level: float = 1.0, together: bool = False
) -> tuple[dict[str, list[str]], int]:
    """Return the documents relevant to each document but itself, and the number of ids without a document.

    Queries are document ids; with `together`, documents relevant to one query are relevant to each other.

    >>> relevant_pairs({"q": {"a": 1, "b": 1, "c": 0, "x": 1}}, ["a", "b", "c"], together=True)
    ({'a': ['b'], 'b': ['a']}, 1)
    """
    ids = set(documents)
    relevant_of: dict[str, set[str]] = {}
    unknown: set[str] = set()
    table = read_qrels(qrels)
    refuse_sample(table)
    for query, grades in table.to_dict().items():
        relevant = {name for name, grade in grades.items() if grade >= level}
        common = relevant & ids
        unknown |= (relevant if together else relevant | {query}) - ids
        for query_id in common if together else {query} & ids:
            relevant_of.setdefault(query_id, set()).update(common - {query_id})
    pairs = {query_id: sorted(found) for query_id, found in sorted(relevant_of.items()) if found}
    if not pairs:
        raise InputError(
            f"no document has a similar one with grade {level:g} or more. Check the level, and that the "
            "ids match those of DOCS",
            path=table.source,
            hint="" if together else "With --together, documents relevant to the same query are similar.",
        )
    return pairs, len(unknown)


class Pairs(NamedTuple):
    """Pairs of query and document, grouped by query, with flags of relevant pairs."""

    query: Integers
    document: Integers
    relevant: Flags

    def histograms(self, scores: Floats, *, norm: str = "query", bins: int = 10) -> Floats:
        """Return histograms of the scores of the pairs: queries x (relevant, non-relevant) x bins.

        Scores are scaled to [0, 1] per `query` or per `model`, according to `norm`.

        >>> pairs = Pairs(np.array([0, 0, 0]), np.array([3, 1, 2]), np.array([True, False, False]))
        >>> pairs.histograms(np.array([-0.1, -0.9, -0.8]), bins=2).tolist()
        [[[0.0, 1.0], [2.0, 0.0]]]
        """
        queries = int(self.query[-1]) + 1
        retrieved = np.bincount(self.query[self.relevant], minlength=queries).astype(np.int64)
        return counts_of(Values(self.query, self.relevant, scores, retrieved), norm, bins)


def draw_pairs(
    relevant: Mapping[str, Collection[str]],
    documents: Sequence[str],
    *,
    sample: int,
    seed: int = 0,
    own: bool = True,
) -> Pairs:
    """Return the relevant documents of each query and `sample` other documents with the smallest hashes.

    >>> pairs = draw_pairs({"a": ["b"]}, ["a", "b", "c"], sample=5, own=False)
    >>> pairs.document.tolist(), pairs.relevant.tolist()
    ([1, 2], [True, False])
    """
    check_whole(1, sample=sample)
    check_whole(0, seed=seed)
    row = {to_bytes(name): index for index, name in enumerate(documents)}
    names = sorted(row)
    rows: list[tuple[int, int, bool]] = []
    for index, (query_id, relevant_ids) in enumerate(relevant.items()):
        query, wanted = to_bytes(query_id), set(map(to_bytes, relevant_ids))
        left_out = wanted if own else wanted | {query}
        others = [name for name in names if name not in left_out]
        rows += [(index, row[name], True) for name in sorted(wanted)]
        rows += [(index, row[name], False) for name in sampled_documents(query, others, sample, seed)]
    query_of, document, flags = np.array(rows, dtype=np.int64).T
    return Pairs(query_of, document, flags.astype(np.bool_))
