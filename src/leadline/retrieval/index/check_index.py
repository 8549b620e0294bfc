"""Consistency check of an index: all checksums, then the relations between the arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from leadline.data.arrays import Integers
from leadline.errors import InputError, LeadlineError
from leadline.io.check import Checked
from leadline.io.check_remarks import Problem
from leadline.retrieval.index.byte_codes import Numbers, parts
from leadline.retrieval.index.index_arrays import OFFSETS, CodedArray, IndexArrays, are_offsets
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
    try:
        problems = [
            f"{name}.bin does not rise to the length of {OFFSETS[name]}.bin"
            for name in OFFSETS
            if name in arrays.lengths
            and not are_offsets(arrays.mapped(name).array, arrays.lengths[OFFSETS[name]])
        ]
        problems += _names(arrays)
        yield from problems or _lists(arrays)
    except InputError as error:
        yield _without_path(error, arrays.folder).removeprefix("a broken index: ")


def _names(arrays: IndexArrays) -> Iterator[str]:
    documents, terms = arrays.header["documents"], arrays.header["terms"]
    arrays.offsets("term_size", terms, "term_text")
    arrays.offsets("id_size", documents, "id_text")
    arrays.offsets("record_size", documents, "record_text")
    if not np.array_equal(np.sort(arrays.mapped("by_id").array), np.arange(documents)):
        yield "by_id.bin does not have every document once"


def _lists(arrays: IndexArrays) -> Iterator[str]:
    """Compare postings, positions and the terms of the documents."""
    documents, terms = arrays.header["documents"], arrays.header["terms"]
    df, lengths = arrays.numbers("df", terms), arrays.numbers("length", documents)
    cf = df + arrays.numbers("surplus", terms)
    of_documents, of_terms = (np.zeros(size, dtype=np.int64) for size in (documents, terms))
    document, counts = (CodedArray(arrays, name, terms) for name in ("document", "counts"))
    position = CodedArray(arrays, "position", terms) if arrays.header["positions"] else None
    for begin, end in parts(np.concatenate(([0], np.cumsum(df))), STRETCH):
        found, numbers = document.between(begin, end), counts.between(begin, end)
        yield from _wrong("document", "counts", found, numbers, documents)
        if not np.array_equal(found.counts, df[begin:end]):
            yield "document.bin does not have as many documents of a term as df.bin says"
            return
        of_documents += np.bincount(found.running(), numbers.values, documents).astype(np.int64)
        if not np.array_equal(_sums(numbers), cf[begin:end]):
            yield "counts.bin does not add up to the occurrences of the terms"
            return
        if position is not None and not _rise(position.between(begin, end), numbers, cf[begin:end]):
            yield "position.bin does not rise within a document"
    forward, frequencies = (
        CodedArray(arrays, name, documents) for name in ("forward_term", "forward_counts")
    )
    for begin, end in parts(np.concatenate(([0], np.cumsum(lengths))), STRETCH):
        found, numbers = forward.between(begin, end), frequencies.between(begin, end)
        yield from _wrong("forward_term", "forward_counts", found, numbers, terms)
        of_terms += np.bincount(found.running(), numbers.values, terms).astype(np.int64)
        if not np.array_equal(_sums(numbers), lengths[begin:end]):
            yield "forward_counts.bin does not add up to the lengths of the documents"
            return
    if not np.array_equal(of_documents, lengths):
        yield "counts.bin does not add up to the lengths of the documents"
    if not np.array_equal(of_terms, cf):
        yield "forward_counts.bin does not add up to the occurrences of the terms"


def _wrong(name: str, other: str, codes: Numbers, counts: Numbers, size: int) -> Iterator[str]:
    """Raise InputError for lists of codes with counts that are not what they should be."""
    values = codes.running()
    if len(values) and values.max() >= size:
        raise InputError(f"{name}.bin has a code that is not below {size}")
    steps = np.ones(len(values), dtype=np.bool_)
    steps[codes.first] = False
    if (codes.values[steps] < 1).any():
        yield f"{name}.bin does not rise within a list"
    if not np.array_equal(codes.counts, counts.counts):
        raise InputError(f"{other}.bin does not have as many numbers as {name}.bin")
    if (counts.values < 1).any():
        yield f"{other}.bin has a count below 1"


def _sums(numbers: Numbers) -> Integers:
    """Return the sum of every list."""
    sums = np.concatenate(([0], np.cumsum(numbers.values)))
    return np.diff(sums[np.concatenate(([0], np.cumsum(numbers.counts)))])


def _rise(positions: Numbers, counts: Numbers, cf: Integers) -> bool:
    """Return whether the positions of a term rise within every document."""
    if not np.array_equal(positions.counts, cf):
        return False
    steps = np.ones(len(positions.values), dtype=np.bool_)
    steps[np.cumsum(counts.values) - counts.values] = False
    return bool((positions.values[steps] > 0).all())
