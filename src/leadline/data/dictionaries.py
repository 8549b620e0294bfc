"""Dictionaries of scores and of grades, column by column.

Only what is in order is taken here. Anything else is None, and is read row by row by
`leadline.io.row_checks`, which says what is wrong and where.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Floats, Hashes, Integers
from leadline.data.ids import Ids, Vocabulary, to_bytes
from leadline.data.qrels import Qrels


class Columns(NamedTuple):
    """The rows of `{query: {document: number}}`, by query; queries without documents are left out."""

    queries: list[bytes]
    documents: list[dict[str, Any]]
    bounds: Integers
    values: Floats


def columns_of(source: object) -> Columns | None:
    """Return the columns of a dictionary whose ids are text and whose numbers are finite; None for others.

    >>> columns = columns_of({"q1": {"d1": 1, "d2": 0.5}})
    >>> columns and columns.values.tolist()
    [1.0, 0.5]
    >>> columns_of({"q1": {7: 1}}), columns_of({"q1": {"d1": "1"}}), columns_of({"q1": ["d1"]})
    (None, None, None)
    """
    if not isinstance(source, dict) or not all(
        isinstance(query, str) and isinstance(documents, dict) for query, documents in source.items()
    ):
        return None
    filled = {query: documents for query, documents in source.items() if documents}
    sizes = [len(documents) for documents in filled.values()]
    values = np.empty(sum(sizes))
    begin = 0
    try:
        with np.errstate(all="ignore"):  # of sums, which are not used
            for documents, size in zip(filled.values(), sizes, strict=True):
                text = "".join(documents)  # a TypeError for what is no text
                if not text.isascii():
                    text.encode()  # bytes of another encoding are other texts: compared as bytes elsewhere
                sum(documents.values())  # a TypeError for what is no number, such as the text of one
                values[begin : begin + size] = np.fromiter(documents.values(), np.float64, size)
                begin += size
        queries = list(map(to_bytes, filled))
    except (TypeError, ValueError, ArithmeticError):
        return None
    if not begin or not np.isfinite(values).all():
        return None
    bounds = np.cumsum([0, *sizes], dtype=np.int64)
    return Columns(queries, list(filled.values()), bounds, values)


def qrels_of(columns: Columns, *, source: str = "") -> Qrels:
    """Return the judgments of a dictionary.

    >>> columns = columns_of({"q2": {"d1": 1}, "q1": {"d1": 0, "é": 2}})
    >>> qrels_of(columns).to_dict() if columns else None
    {'q1': {'d1': 0, 'é': 2}, 'q2': {'d1': 1}}
    """
    queries = Vocabulary.of_bytes(columns.queries)
    order = np.argsort(queries.encode(columns.queries))
    made = Qrels.of_columns(
        queries,
        columns.bounds[:-1][order],
        columns.bounds[1:][order],
        _ids_of(columns.documents),
        columns.values,
        source=source,
    )
    made.names = [list(columns.documents[place]) for place in order.tolist()]
    return made


def _ids_of(documents: Iterable[dict[str, Any]]) -> Ids:
    """Return the ids of some dictionaries."""
    texts: list[bytes] = []
    lengths: list[int] = []
    for names in documents:
        text = "".join(names)
        if text.isascii():
            texts.append(text.encode())
            lengths += map(len, names)
        else:
            encoded = [name.encode() for name in names]
            texts += encoded
            lengths += map(len, encoded)
    stop = np.cumsum([0, *lengths], dtype=np.int64)
    return Ids(np.frombuffer(bytearray(b"".join(texts)), dtype=np.uint8), stop[:-1].copy(), stop[1:].copy())


class DictionaryLists:
    """The lists of a run in a dictionary, with the methods of lists of TREC text."""

    extra = dropped = repeated = next_line = next_byte = 0
    tag = b""
    hashes: Hashes | None = None

    def __init__(self, columns: Columns) -> None:
        self.queries = columns.queries
        self.bounds = columns.bounds
        self.given = self.scores = columns.values
        self.documents = columns.documents
        self.ranks: Integers = np.full(len(self.scores), -1, dtype=np.int64)
        self.held: list[int] = []

    def ids(self) -> Ids:
        """Return the document of every row."""
        return _ids_of(self.documents)

    def group(self) -> None:
        """Bring the lists of one query together: a dictionary has each once."""

    def match(self, qrels: Qrels, codes: Integers) -> Codes:
        """Return every row's row in the qrels, -1 for none."""
        rows = np.full(len(self.scores), -1, dtype=np.int32)
        bounds, begin = self.bounds.tolist(), qrels.begin.tolist()
        falling = np.ones(len(codes), dtype=np.bool_)
        falling[self._unsorted()] = False
        for place in np.flatnonzero(codes >= 0).tolist():
            code, low, high = int(codes[place]), bounds[place], bounds[place + 1]
            names, scores = qrels.names[code], self.documents[place]
            if falling[place]:  # a score tells the place of its document, and fewer are judged than retrieved
                found = np.fromiter(map(scores.get, names, repeat(np.nan)), np.float64, len(names))
                judged = np.flatnonzero(found == found)  # noqa: PLR0124  # not NaN
                at = np.searchsorted(-self.given[low:high], -found[judged])
                rows[low + at] = begin[code] + judged
            else:
                find = dict(zip(names, range(begin[code], begin[code] + len(names)), strict=True)).get
                rows[low:high] = np.fromiter(map(find, scores, repeat(-1)), np.int32, high - low)
        return rows

    def narrow(self) -> None:
        """Round the scores to 32-bit floats."""
        with np.errstate(over="ignore"):
            self.scores = self.scores.astype(np.float32).astype(np.float64)

    def order(self) -> Integers | None:
        """Return the rows in the order of the lists, or None when they are in order."""
        doubtful = self._unsorted()
        if not len(doubtful):
            return None
        order = np.arange(len(self.scores))
        for place in doubtful.tolist():
            low, high = self.bounds[place : place + 2].tolist()
            order[low:high] = low + self._sorted(place, self.scores[low:high])
        return order

    def _unsorted(self) -> Integers:
        """Return the lists whose scores do not fall strictly."""
        rising = np.flatnonzero(self.scores[1:] >= self.scores[:-1]) + 1
        lists = np.searchsorted(self.bounds, rising, side="right") - 1
        return np.unique(lists[self.bounds[lists] != rising])

    def _sorted(self, place: int, scores: Floats) -> Integers:
        """Return the rows of one list in order: by score, ties by falling id."""
        rows = np.argsort(-scores, kind="stable")
        tied = np.zeros(len(rows) + 1, dtype=np.bool_)
        tied[1:-1] = scores[rows][1:] == scores[rows][:-1]
        starts = np.flatnonzero(tied[1:] & ~tied[:-1]).tolist()
        ends = (np.flatnonzero(tied[:-1] & ~tied[1:]) + 1).tolist()
        names = list(self.documents[place]) if starts else []
        for start, end in zip(starts, ends, strict=True):  # texts are ordered as their bytes in UTF-8
            rows[start:end] = sorted(rows[start:end].tolist(), key=names.__getitem__, reverse=True)
        return rows
