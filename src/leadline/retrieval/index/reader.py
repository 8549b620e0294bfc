"""An open index: arrays are memory-mapped, and only the parts needed are read."""

from __future__ import annotations

import bisect
import json
import os
import shutil
import weakref
from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.ids import Ids, to_bytes, to_text
from leadline.data.table import ResultWarning
from leadline.data.wording import counted
from leadline.errors import Answering, InputError, LeadlineError, UsageError
from leadline.io.check import Checked
from leadline.io.check_remarks import Problem
from leadline.retrieval.index.index_files import AGAIN, TYPES, IndexArrays, digest
from leadline.text import ANALYSES, Analysis

KEPT = 4096  # pairs whose windows are kept between queries


def windows(index: Index, first: int, second: int, *, ordered: bool, width: int) -> Postings:
    """Return the documents in which two terms share a window, and the number of windows in each.

    Ordered: positions of the first term with the second at most `width` words after it (1: adjacent).
    Unordered: positions where a minimal window of at most `width` words begins, from one of the terms to the
    next occurrence of the other, as found by merging both position lists. A term with itself forms windows of
    consecutive occurrences.
    """
    cache: dict[tuple[int, int, bool, int], Postings] = index.made.setdefault("windows", {})
    key = (first, second, ordered, width)
    if key not in cache:
        if len(cache) >= KEPT:
            cache.clear()
        cache[key] = _windows(index, *key)
    return cache[key]


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
    """Return document x stride + position of every occurrence in some documents, in increasing order."""
    document, counts = index.postings(term)
    inside = np.zeros(len(document), dtype=np.bool_)
    inside[np.searchsorted(document, documents)] = True
    positions = index.positions(term)[np.repeat(inside, counts)]
    return np.repeat(document[inside].astype(np.int64) * stride, counts[inside]) + positions


def _followed(keys: Integers, next_keys: Integers, reach: int) -> Integers:
    """Return the indices of the keys whose next other key is at most `reach` away."""
    following = np.searchsorted(next_keys, keys, side="right")
    near = following < len(next_keys)
    near[near] = next_keys[following[near]] - keys[near] <= reach
    return np.flatnonzero(near)


IN_MEMORY = 1_000_000  # so many ids are looked up in a dictionary; among more they are searched


class Postings(NamedTuple):
    """Postings of a term or window: document codes in increasing order, and the frequency in each."""

    document: Codes
    counts: Codes


class Index(Answering):
    """Inverted index; documents and terms are codes, terms sorted by their bytes.

    `documents` is N, `tokens` C (without stop words), `terms` the size of the vocabulary.
    """

    _words = dict.fromkeys(
        ["search", "query", "retrieve", "get_scores", "get_top_n", "bm25"],
        "search(index, {{'q1': 'text of a query'}})",
    ) | dict.fromkeys(["save", "write"], "build_index(documents, path)")
    _read_by = "open_index(path)"

    def __init__(
        self, path: str | os.PathLike[str], *, verify: bool = False, temporary: bool = False
    ) -> None:
        self.path = os.fspath(path)
        self.temporary = temporary
        if temporary:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self._arrays = IndexArrays(self.path)
        self.header = self._arrays.header
        self.documents: int = self.header["documents"]
        self.tokens: int = self.header["tokens"]
        self.terms: int = self.header["terms"]
        try:
            self.analysis: Analysis = ANALYSES.parse(self.header["analysis"])
        except UsageError as error:  # of another version of leadline
            raise InputError(str(error), path=self.path, hint=AGAIN) from None
        self.made: dict[Any, Any] = {}  # what models keep between queries
        if verify:
            for name in self._arrays.lengths:
                self._arrays.whole(name)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        """Return what opens the index again; one in memory has no files of its own."""
        if self.temporary:
            raise UsageError(
                "an index in memory cannot be copied or pickled. Build it in a folder, as in "
                "build_index(documents, path)"
            )
        return type(self), (self.path,)

    def array(self, name: str) -> Any:
        """Return a whole array as it is stored, verified on first use."""
        return self._arrays.whole(name)

    def check_unchanged(self) -> None:
        """Raise an error if the index was rebuilt with other content since it was opened."""
        self._arrays.check_unchanged()

    @property
    def size(self) -> int:
        """Total size of the arrays, in bytes."""
        lengths = self._arrays.lengths
        return sum(np.dtype(TYPES[name]).itemsize * length for name, length in lengths.items())

    @property
    def warnings(self) -> list[ResultWarning]:
        """Warnings issued when the index was built."""
        return [ResultWarning(**fields) for fields in self.header["warnings"]]

    @cached_property
    def length(self) -> Floats:
        """Number of terms of every document."""
        lengths: Floats = self.array("length").astype(np.float64)
        return lengths

    @property
    def average_length(self) -> float:
        """Mean number of terms of a document."""
        return self.tokens / self.documents

    @cached_property
    def _terms(self) -> Ids:
        offset = self.array("term_offset")
        return Ids(self.array("term_text"), offset[:-1], offset[1:])

    @cached_property
    def ids(self) -> Ids:
        """Document ids by code."""
        offset = self.array("id_offset")
        return Ids(self.array("id_text"), offset[:-1], offset[1:])

    @cached_property
    def id_rank(self) -> Integers:
        """Rank of every document when ids are sorted by bytes, which breaks ties."""
        rank = np.empty(self.documents, dtype=np.int64)
        rank[self.array("by_id")] = np.arange(self.documents)
        return rank

    def term(self, code: int) -> str:
        """Return the term of a code."""
        return to_text(self._terms[code])

    def code(self, term: str) -> int | None:
        """Return the code of a term, or None if no document contains it."""
        name = to_bytes(term)
        index = bisect.bisect_left(self._terms, name)
        return index if index < self.terms and self._terms[index] == name else None

    def postings(self, code: int) -> Postings:
        """Return the documents that contain a term, and its frequencies."""
        return self.postings_between(code, code + 1)

    def postings_between(self, begin: int, end: int) -> Postings:
        """Return the concatenated postings of consecutive terms."""
        offset, part = self.array("posting_offset"), self._arrays.part
        return Postings(*(part(name, offset[begin], offset[end]) for name in ("document", "counts")))

    @property
    def has_positions(self) -> bool:
        """Whether the positions were stored."""
        return bool(self.header["positions"])

    def positions(self, code: int) -> Codes:
        """Return the concatenated positions of a term in its documents."""
        if not self.has_positions:
            raise UsageError(
                f"{self.path} has no positions, which SDM needs. Rebuild it with `leadline index DOCS -o "
                "INDEX --overwrite`, without --config index.positions=no (in Python, with "
                "`build_index(..., positions=True)`)."
            )
        return self._arrays.part("position", *self.array("position_offset")[code : code + 2])

    def df(self, code: int) -> int:
        """Return the document frequency of a term."""
        return int(self.document_frequencies[code])

    def cf(self, code: int) -> int:
        """Return the collection frequency of a term."""
        return int(self.collection_frequencies[code])

    @cached_property
    def document_frequencies(self) -> Integers:
        """Document frequency of every term."""
        found: Integers = np.diff(self.array("posting_offset"))
        return found

    @cached_property
    def collection_frequencies(self) -> Integers:
        """Collection frequency of every term."""
        found: Integers = np.diff(self.array("position_offset"))
        return found

    def bag_of(self, document: int) -> tuple[Integers, Integers]:
        """Return the terms of a document by code, and their frequencies."""
        bounds, part = self.array("forward_offset")[document : document + 2], self._arrays.part
        terms, counts = (part(name, *bounds).astype(np.int64) for name in ("forward_term", "forward_counts"))
        return terms, counts

    def terms_of(self, document: int) -> Codes:
        """Return the terms of a document by code, each as often as it occurs, without stop words."""
        return np.repeat(*self.bag_of(document)).astype(np.int32)

    @cached_property
    def _codes(self) -> dict[bytes, int]:
        return {name: code for code, name in enumerate(self.ids)}

    def document_codes(self, names: Iterable[bytes]) -> Integers:
        """Return the codes of document ids, -1 for ids not in the index."""
        if self.documents <= IN_MEMORY:
            return np.array([self._codes.get(name, -1) for name in names], dtype=np.int64)
        return np.array([self._search(name) for name in names], dtype=np.int64)

    def _search(self, name: bytes) -> int:
        by_id = self.array("by_id")
        index = bisect.bisect_left(by_id, name, key=lambda code: self.ids[int(code)])
        match = int(by_id[index]) if index < self.documents else -1
        return match if match >= 0 and self.ids[match] == name else -1

    def record(self, document: int) -> dict[str, Any]:
        """Return title and other fields of a document."""
        begin, end = self._arrays.part("record_offset", document, document + 2)
        raw = self._arrays.part("record_text", begin, end)
        text = raw.tobytes().decode("utf-8", "replace")
        fields: dict[str, Any] = json.loads(text)
        return fields

    @property
    def has_text(self) -> bool:
        """Whether the texts were stored."""
        return "text" in self.header["arrays"]

    def text(self, document: int) -> bytes:
        """Return the stored text of a document, possibly truncated."""
        if not self.has_text:
            raise UsageError(
                f"{self.path} contains no document texts. Rebuild it with `leadline index DOCS -o INDEX "
                "--store-text --overwrite` (in Python, with `build_index(..., store_text=True)`)."
            )
        begin, end = self._arrays.part("text_offset", document, document + 2)
        stored: bytes = self._arrays.part("text", begin, end).tobytes()
        return stored

    def spans(self, document: int) -> tuple[Codes, Codes]:
        """Return, by position, the byte offsets in the stored text where each word begins and ends."""
        self.text(document)
        begin, end = self._arrays.part("token_offset", document, document + 2)
        part = self._arrays.part
        return part("token_begin", begin, end), part("token_end", begin, end)

    def is_outdated(self) -> bool:
        """Return whether the source file exists and has changed since it was indexed."""
        checksum, now = self.header["sha256"], digest(self.header["source"])
        return checksum is not None and now is not None and checksum != now

    @property
    def outdated(self) -> str:
        """What a warning says if `is_outdated`; a relative path may also lead to another file."""
        return f"{self.header['source']} differs from the file that was indexed"

    def __repr__(self) -> str:
        sizes = f"{counted(self.documents, 'document')}, {counted(self.terms, 'term')}"
        return f"Index({sizes}, {self.analysis})"


def check_index(path: str) -> Checked:
    """Read an entire index and return all problems found, as `check` does for runs and qrels.

    >>> from leadline.retrieval.index import build_index
    >>> index = build_index({"d1": "two wings"})
    >>> found = check_index(index.path)
    >>> found.kind, found.rows, found.problems
    ('index', 1, [])
    """
    checked = Checked(path, kind="index", form="index")
    try:
        arrays = IndexArrays(path)
    except InputError as error:
        checked.problems.append(_damaged(error, path))
        return checked
    checked.rows = arrays.header["documents"]
    for name in arrays.lengths:
        try:
            arrays.whole(name)
        except InputError as error:
            checked.problems.append(_damaged(error, path))
    if not checked.problems:
        try:
            index = Index(path)
            outdated = index.outdated if index.is_outdated() else ""
        except LeadlineError as error:
            checked.problems.append(_damaged(error, path))
        else:
            if outdated:
                checked.problems.append(Problem("outdated", None, outdated, 1))
    return checked


def _damaged(error: LeadlineError, path: str) -> Problem:
    return Problem("damaged", None, str(error).removeprefix(f"{path}: "), 1, error=True)
