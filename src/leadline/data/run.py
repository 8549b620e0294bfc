"""Run: what one system retrieved for each query, best first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers, freeze
from leadline.data.ids import Vocabulary, encoded, to_text
from leadline.data.wording import counted, queries
from leadline.errors import InputError


class Run:
    """The lists of one system: rows of one query stand together, the best first.

    Order is score falling, then document id falling by bytes; a rank is a place and is never stored.
    `documents.names[document[i]]` is the id of row i, `scores[i]` its score, `offsets` bound the lists.

    >>> run = Run.of([(b"q1", b"d1", 0.5), (b"q1", b"d2", 0.5)], name="tied")
    >>> run.to_dict()
    {'q1': {'d2': 0.5, 'd1': 0.5}}
    """

    def __init__(
        self,
        queries: Vocabulary,
        offsets: Integers,
        documents: Vocabulary,
        document: Codes,
        scores: Floats,
        *,
        name: str = "",
        tag: str = "",
    ) -> None:
        freeze(offsets, document, scores)
        self.queries = queries
        self.offsets = offsets
        self.documents = documents
        self.document = document
        self.scores = scores
        self.name = name
        self.tag = tag

    @classmethod
    def of(
        cls, rows: Iterable[tuple[bytes | str, bytes | str, float]], *, name: str = "", tag: str = ""
    ) -> Run:
        """Make a run from (query, document, score) rows, ids as text or bytes; refuses repeats and NaN."""
        ids: list[tuple[bytes, bytes, float]] = [
            (encoded(query), encoded(document), score) for query, document, score in rows
        ]
        queries = Vocabulary.of_bytes(row[0] for row in ids)
        documents = Vocabulary.of_bytes(row[1] for row in ids)
        query = queries.encode(row[0] for row in ids)
        document = documents.encode(row[1] for row in ids)
        scores = np.array([row[2] for row in ids], dtype=np.float64)
        for place in np.flatnonzero(np.isnan(scores))[:1]:
            raise InputError(
                f"document '{to_text(ids[place][1])}' of query '{to_text(ids[place][0])}' has score NaN",
                expected="a number",
                path=name,
            )
        pairs, counts = np.unique(query * (len(documents) + 1) + document, return_counts=True)
        for pair in pairs[counts > 1][:1]:
            raise InputError(
                f"document '{documents[int(pair) % (len(documents) + 1)]}' appears twice for query "
                f"'{queries[int(pair) // (len(documents) + 1)]}'",
                expected="each once",
                path=name,
            )
        order = np.lexsort((-document, -scores, query))
        offsets = np.searchsorted(query[order], np.arange(len(queries) + 1)).astype(np.int64)
        return cls(
            queries, offsets, documents, document[order].astype(np.int32), scores[order], name=name, tag=tag
        )

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"Run({self.name or self.tag!r}, {queries(len(self.queries))}, {counted(len(self), 'row')})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # equal by content, so not for dictionaries

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Give `{query: {document: score}}`, the best first."""
        names = list(self.documents)
        bounds = self.offsets.tolist()
        documents, scores = self.document.tolist(), self.scores.tolist()
        return {
            query: {names[documents[row]]: scores[row] for row in range(bounds[code], bounds[code + 1])}
            for code, query in enumerate(self.queries)
        }
