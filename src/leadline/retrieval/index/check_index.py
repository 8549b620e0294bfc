"""Consistency check of an index: all checksums, then the relations between the arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from leadline.data.arrays import Integers
from leadline.errors import InputError, LeadlineError
from leadline.io.check import Checked
from leadline.io.check_remarks import Problem
from leadline.retrieval.index.index_arrays import OFFSETS, IndexArrays, are_offsets
from leadline.retrieval.index.reader import Index

STRETCH = 1 << 22  # entries that are compared at a time


def check_index(path: str) -> Checked:
    """Read an entire index and return all problems found, as `check` does for runs and qrels.

    Examples
    --------
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
        checked.problems.append(_problem("damaged", _without_path(error, path)))
        return checked
    checked.rows = arrays.header["documents"]
    for name in arrays.lengths:
        try:
            mapped = arrays.mapped(name)
            mapped.verify(0, len(mapped.array))
        except InputError as error:
            checked.problems.append(_problem("damaged", _without_path(error, path)))
    if not checked.problems:
        checked.problems += [_problem("inconsistent", message) for message in _inconsistent(arrays)]
    if not checked.problems:
        try:
            outdated = Index(path).is_outdated()
        except LeadlineError as error:
            checked.problems.append(_problem("damaged", str(error)))
        else:
            if outdated:
                message = "the source of the index has changed since it was made"
                checked.problems.append(Problem("outdated", None, message, 1))
    return checked


def _problem(code: str, message: str) -> Problem:
    return Problem(code, None, message, 1, error=True)


def _without_path(error: InputError, path: str) -> str:
    return str(error).removeprefix(f"{path}: ")


def _inconsistent(arrays: IndexArrays) -> Iterator[str]:
    """Return the inconsistencies between arrays whose checksums are correct."""
    documents, terms = arrays.header["documents"], arrays.header["terms"]
    wrong = [
        name
        for name in OFFSETS
        if name in arrays.lengths and not are_offsets(_all(arrays, name), arrays.lengths[OFFSETS[name]])
    ]
    yield from (f"{name}.bin does not rise to the length of {OFFSETS[name]}.bin" for name in wrong)
    for name, high in {"document": documents, "stream": terms, "by_id": documents}.items():
        if any(len(part) and (part.min() < 0 or part.max() >= high) for part in _parts(arrays, name)):
            yield f"{name}.bin has a code that is not below {high}"
            wrong.append(name)
    if any(len(part) and part.min() < 1 for part in _parts(arrays, "counts")):
        yield "counts.bin has a count below 1"
        wrong.append("counts")
    if wrong:
        return
    if len(np.unique(_all(arrays, "by_id"))) != documents:
        yield "by_id.bin has a document twice"
    if not _rise(arrays):
        yield "document.bin does not rise within a term"
    if _totals(arrays, "counts") != np.diff(_all(arrays, "position_offset")).tolist():
        yield "counts.bin does not add up to the occurrences of the terms"
    lengths = _all(arrays, "length").astype(np.int64)
    if _by_document(arrays) != lengths.tolist():
        yield "counts.bin does not add up to the lengths of the documents"


def _all(arrays: IndexArrays, name: str) -> Integers:
    return arrays.mapped(name).array


def _parts(arrays: IndexArrays, name: str) -> Iterator[Integers]:
    array = _all(arrays, name)
    for begin in range(0, len(array), STRETCH):
        yield array[begin : begin + STRETCH]


def _rise(arrays: IndexArrays) -> bool:
    """Return whether the documents of every term are in increasing order."""
    document, offset = _all(arrays, "document"), _all(arrays, "posting_offset")
    for begin in range(0, len(document) - 1, STRETCH):
        rises = np.diff(document[begin : begin + STRETCH + 1].astype(np.int64)) > 0
        low, high = np.searchsorted(offset, [begin + 1, begin + 1 + len(rises)])
        rises[offset[low:high] - begin - 1] = True  # a new term begins anywhere
        if not rises.all():
            return False
    return True


def _by_document(arrays: IndexArrays) -> list[int]:
    """Return the sum of the counts of every document."""
    totals = np.zeros(arrays.header["documents"], dtype=np.int64)
    for document, counts in zip(_parts(arrays, "document"), _parts(arrays, "counts"), strict=True):
        totals += np.bincount(document, counts, len(totals)).astype(np.int64)
    sums: list[int] = totals.tolist()
    return sums


def _totals(arrays: IndexArrays, name: str) -> list[int]:
    """Return the sum of the entries of every term."""
    offset = _all(arrays, "posting_offset")
    cumulated = np.concatenate(([0], np.cumsum(_all(arrays, name), dtype=np.int64)))
    totals: list[int] = np.diff(cumulated[offset]).tolist()
    return totals
