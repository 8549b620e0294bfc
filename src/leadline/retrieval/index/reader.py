"""An open index: arrays are mapped, and only what is asked for is read."""

from __future__ import annotations

import bisect
import json
import os
import shutil
import weakref
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.ids import Ids, to_bytes, to_text
from leadline.data.results import ResultWarning
from leadline.errors import UsageError
from leadline.retrieval.index.index_arrays import Arrays
from leadline.retrieval.index.index_files import TYPES
from leadline.text import ANALYSES, Analysis

KEPT = 4096  # pairs whose windows are kept between queries


def windows(index: Index, first: int, second: int, *, ordered: bool, width: int) -> Postings:
    """Give the documents in which two terms share a window, and the number of such windows.

    Ordered: positions of the first term with the second one at most `width` words after it (1: next to it).
    Unordered: positions where a smallest window of at most `width` words begins; it begins with one of the
    terms and ends with the next occurrence of the other. This is what one finds by going through both lists
    of positions and advancing the smaller position. A term with itself makes windows of neighbours.
    """
    made: dict[tuple[int, int, bool, int], Postings] = index.made.setdefault("windows", {})
    key = (first, second, ordered, width)
    if key not in made:
        if len(made) >= KEPT:
            made.clear()
        made[key] = _windows(index, *key)
    return made[key]


def _windows(index: Index, first: int, second: int, ordered: bool, width: int) -> Postings:
    left, right = index.postings(first), index.postings(second)
    common = np.intersect1d(left.document, right.document, assume_unique=True)
    reach = width if ordered else width - 1  # the largest distance of the two positions
    stride = int(index.length.max() if index.documents else 0) + 1
    stride = max(stride, _last(index, first), _last(index, second)) + reach + 1
    a, b = (_keys(index, term, common, stride) for term in (first, second))
    begins = a[_followed(a, b, reach)]
    if not ordered and first != second:
        begins = np.concatenate((begins, b[_followed(b, a, reach)]))
    documents, counts = np.unique(begins // stride, return_counts=True)
    return Postings(documents.astype(np.int32), counts.astype(np.int32))


def _last(index: Index, term: int) -> int:
    positions = index.positions(term)
    return int(positions.max()) + 1 if len(positions) else 0


def _keys(index: Index, term: int, documents: Codes, stride: int) -> Integers:
    """Give document x stride + position for every occurrence in some documents, rising."""
    document, counts = index.postings(term)
    inside = np.zeros(len(document), dtype=np.bool_)
    inside[np.searchsorted(document, documents)] = True
    positions = index.positions(term)[np.repeat(inside, counts)]
    return np.repeat(document[inside].astype(np.int64) * stride, counts[inside]) + positions


def _followed(keys: Integers, others: Integers, reach: int) -> Integers:
    """Give the places of keys whose next other key is at most `reach` away."""
    following = np.searchsorted(others, keys, side="right")
    near = following < len(others)
    near[near] = others[following[near]] - keys[near] <= reach
    return np.flatnonzero(near)


IN_MEMORY = 1_000_000  # so many ids are looked up in a dictionary; among more they are searched


class Postings(NamedTuple):
    """Where something occurs: documents by code, rising, and how often in each."""

    document: Codes
    counts: Codes


class Index:
    """An inverted index with positions; documents and terms are codes, terms sorted by their bytes.

    `documents` N, `tokens` C (stop words left out), `terms` the size of the vocabulary.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, verify: bool = False, temporary: bool = False
    ) -> None:
        self.path = os.fspath(path)
        if temporary:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self._arrays = Arrays(self.path)
        self.header = self._arrays.header
        self.documents: int = self.header["documents"]
        self.tokens: int = self.header["tokens"]
        self.terms: int = self.header["terms"]
        self.analysis: Analysis = ANALYSES.parse(self.header["analysis"])
        self.made: dict[Any, Any] = {}  # what models keep between queries
        if verify:
            for name in self._arrays.lengths:
                self.array(name)

    def array(self, name: str) -> Any:
        """Return a whole array; it is verified when it is first read."""
        return self._arrays.whole(name)

    def check_unchanged(self) -> None:
        """Refuse to go on when the index was built again, otherwise, after it was opened."""
        self._arrays.check_unchanged()

    @property
    def size(self) -> int:
        """Give the bytes of all its arrays."""
        lengths = self._arrays.lengths
        return sum(np.dtype(TYPES[name]).itemsize * length for name, length in lengths.items())

    @property
    def warnings(self) -> list[ResultWarning]:
        """Give what was said when the index was made."""
        return [ResultWarning(**given) for given in self.header["warnings"]]

    @cached_property
    def length(self) -> Floats:
        """Give the number of terms of every document."""
        found: Floats = self.array("length").astype(np.float64)
        return found

    @property
    def average_length(self) -> float:
        """Give the mean number of terms of a document."""
        return self.tokens / self.documents

    @cached_property
    def _posting_offset(self) -> Integers:
        return np.asarray(self.array("posting_offset"))

    @cached_property
    def _position_offset(self) -> Integers:
        return np.asarray(self.array("position_offset"))

    @cached_property
    def _terms(self) -> Ids:
        offset = self.array("term_offset")
        return Ids(self.array("term_text"), offset[:-1], offset[1:])

    @cached_property
    def ids(self) -> Ids:
        """Give the ids of the documents by code."""
        offset = self.array("id_offset")
        return Ids(self.array("id_text"), offset[:-1], offset[1:])

    @cached_property
    def id_rank(self) -> Integers:
        """Give the place of every document when ids are sorted by bytes: what breaks ties."""
        rank = np.empty(self.documents, dtype=np.int64)
        rank[self.array("by_id")] = np.arange(self.documents)
        return rank

    def term(self, code: int) -> str:
        """Give a term."""
        return to_text(self._terms[code])

    def code(self, term: str) -> int | None:
        """Give the code of a term, or None when no document has it."""
        name = to_bytes(term)
        place = bisect.bisect_left(self._terms, name)
        return place if place < self.terms and self._terms[place] == name else None

    def postings(self, code: int) -> Postings:
        """Give the documents that have a term, and how often."""
        return self.postings_between(code, code + 1)

    def postings_between(self, begin: int, end: int) -> Postings:
        """Give the postings of neighbouring terms, one after the other."""
        low, high = self._posting_offset[begin], self._posting_offset[end]
        part = self._arrays.part
        return Postings(part("document", low, high), part("counts", low, high))

    def positions(self, code: int) -> Codes:
        """Give the positions of a term in all its documents, one after the other."""
        begin, end = self._position_offset[code : code + 2]
        found: Codes = self._arrays.part("position", begin, end)
        return found

    def df(self, code: int) -> int:
        """Count the documents that have a term."""
        return int(self._posting_offset[code + 1] - self._posting_offset[code])

    def cf(self, code: int) -> int:
        """Count the occurrences of a term."""
        return int(self._position_offset[code + 1] - self._position_offset[code])

    @cached_property
    def document_frequencies(self) -> Integers:
        """Give the number of documents of every term."""
        return np.diff(self._posting_offset)

    @cached_property
    def collection_frequencies(self) -> Integers:
        """Give the number of occurrences of every term."""
        return np.diff(self._position_offset)

    @cached_property
    def _start(self) -> Integers:
        return np.concatenate(([0], np.cumsum(self.array("length"), dtype=np.int64)))

    def terms_of(self, document: int) -> Codes:
        """Give the terms of a document in the order of its text, stop words left out."""
        begin, end = self._start[document : document + 2]
        found: Codes = self._arrays.part("stream", begin, end)
        return found

    @cached_property
    def _codes(self) -> dict[bytes, int]:
        return {name: code for code, name in enumerate(self.ids)}

    def document_codes(self, names: Iterable[bytes]) -> Integers:
        """Give the code of every document id, -1 for one that is not here."""
        if self.documents <= IN_MEMORY:
            return np.array([self._codes.get(name, -1) for name in names], dtype=np.int64)
        return np.array([self._search(name) for name in names], dtype=np.int64)

    def _search(self, name: bytes) -> int:
        by_id = self.array("by_id")
        place = bisect.bisect_left(by_id, name, key=lambda code: self.ids[int(code)])
        found = int(by_id[place]) if place < self.documents else -1
        return found if found >= 0 and self.ids[found] == name else -1

    def record(self, document: int) -> dict[str, Any]:
        """Give title and other columns of a document."""
        begin, end = self._arrays.part("record_offset", document, document + 2)
        raw = self._arrays.part("record_text", begin, end)
        text = raw.tobytes().decode("utf-8", "replace")
        found: dict[str, Any] = json.loads(text)
        return found

    @property
    def has_text(self) -> bool:
        """Say whether the texts were stored."""
        return "text" in self.header["arrays"]

    def text(self, document: int) -> bytes:
        """Give the stored text of a document, as far as it was stored."""
        if not self.has_text:
            raise UsageError(f"{self.path} has no texts; `leadline index --store-text` keeps them")
        begin, end = self._arrays.part("text_offset", document, document + 2)
        found: bytes = self._arrays.part("text", begin, end).tobytes()
        return found

    def spans(self, document: int) -> tuple[Codes, Codes]:
        """Give, by position, the bytes of the stored text where each word begins and ends."""
        self.text(document)
        begin, end = self._arrays.part("token_offset", document, document + 2)
        part = self._arrays.part
        return part("token_begin", begin, end), part("token_end", begin, end)

    def is_outdated(self) -> bool:
        """Say whether the source is there and is no longer what was indexed."""
        from leadline.retrieval.index.builder import digest

        known, now = self.header["sha256"], digest(self.header["source"])
        return known is not None and now is not None and known != now

    def __repr__(self) -> str:
        return f"Index({self.documents} documents, {self.terms} terms, {self.analysis})"
