"""What a topic model is tried on: which documents are alike, and which of them it is trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leadline.errors import InputError, UsageError
from leadline.formats import QrelsLike, read_qrels
from leadline.formats.texts import TextsLike
from leadline.topics.corpus import check_languages, read_columns

Record = Mapping[str, str]


class Texts(NamedTuple):
    """Records of all documents, of those to train on, and of those held out; their languages."""

    languages: list[str]
    all: Sequence[Record]
    train: Sequence[Record]
    held_out: Sequence[Record]

    @property
    def ids(self) -> list[str]:
        """Give the ids of all documents."""
        return [one["doc_id"] for one in self.all]


class Alike(NamedTuple):
    """The documents that are like each document, and how many relevant ids are no documents."""

    pairs: dict[str, list[str]]
    unknown: int = 0


def read_texts(
    docs: TextsLike, train: TextsLike | None, *, languages: Sequence[str] = (), held_out: float = 0.1,
    seed: int = 0, id_column: str | None = None,
) -> Texts:  # fmt: skip
    """Read documents; without others to train on, a share of them chosen at random is held out.

    >>> texts = read_texts({"a": "wing", "b": "heat", "c": "flow"}, None, held_out=0.4)
    >>> len(texts.train), len(texts.held_out)
    (2, 1)
    """
    named = check_languages(languages)
    every = _records(docs, named, id_column)
    if train is not None:
        return Texts(named, every, _records(train, named, id_column), every)
    size = round(held_out * len(every))
    if not 0 < size < len(every):
        raise UsageError(
            f"held_out={held_out:g} of {len(every)} documents; expected some on either side"
        )
    chosen = set(np.random.default_rng([seed, 6]).choice(len(every), size, replace=False).tolist())
    return Texts(
        named, every, [one for place, one in enumerate(every) if place not in chosen],
        [every[place] for place in sorted(chosen)],
    )  # fmt: skip


def _records(source: TextsLike, languages: Sequence[str], id_column: str | None) -> list[Record]:
    ids, texts = read_columns(source, languages, id_column, "utf-8")
    return [
        {"doc_id": key} | dict(zip(languages, row, strict=True))
        for key, row in zip(ids, zip(*texts, strict=True), strict=True)
    ]


def alike(
    qrels: QrelsLike, documents: Sequence[str], *, level: float = 1.0, together: bool = False
) -> Alike:
    """Give the documents that are like each document, none for itself.

    The queries of the qrels are documents; with `together` they are anything, and the documents relevant to
    one are alike. Only `documents` take part, and only those with another one alike are asked about.

    >>> alike({"q": {"a": 1, "b": 1, "c": 0, "x": 1}}, ["a", "b", "c"], together=True)
    Alike(pairs={'a': ['b'], 'b': ['a']}, unknown=1)
    """
    known = set(documents)
    found: dict[str, set[str]] = {}
    unknown: set[str] = set()
    table = read_qrels(qrels)
    for query, grades in table.to_dict().items():
        relevant = {name for name, grade in grades.items() if grade >= level}
        wanted = relevant & known
        unknown |= relevant - known
        if not together:
            unknown |= {query} - known
        for asked in wanted if together else {query} & known:
            found.setdefault(asked, set()).update(wanted - {asked})
    pairs = {asked: sorted(found[asked]) for asked in sorted(found) if found[asked]}
    if not pairs:
        raise InputError(
            "no document has another one that is like it", path=table.source,
            expected=f"pairs of grade {level:g} or more, of ids as in DOCS",
            hint="" if together else "--together makes them of judgments for other queries",
        )  # fmt: skip
    return Alike(pairs, len(unknown))
