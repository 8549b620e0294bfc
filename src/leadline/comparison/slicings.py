"""Slices of the queries, by a column of a table or of queries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from leadline.data.arrays import Flags
from leadline.data.ids import to_bytes
from leadline.errors import InputError, UsageError
from leadline.evaluation.results import Results

MOST = 200  # slices of one column; more are hardly meant
LENGTH = "length"  # column that is computed from the text of a query, unless there is one of this name
LENGTHS = (2, 4, 8, 16)  # largest numbers of words of the slices of `length` but the last
IN_MEMORY = "in memory"


SliceSource: TypeAlias = str | Mapping[str, object]


class SliceMean(NamedTuple):
    """Mean of a run over a slice of the queries, or over all queries (slice None).

    `by` is the source of the slices. `reason` says why there is no interval.
    """

    by: str
    slice: str | None
    run: str
    measure: str
    queries: int
    mean: float
    low: float
    high: float
    reason: str


class SliceDifference(NamedTuple):
    """Difference of two runs on a slice of the queries; fields as in `ComparedPair` and `SliceMean`.

    Simultaneous intervals and corrected p-values are over slices and pairs; all queries (slice None) are no
    part of the family. `reason` explains the verdict "cannot tell".
    """

    by: str
    slice: str | None
    a: str
    b: str
    measure: str
    queries: int
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    simultaneous_low: float
    simultaneous_high: float
    p: float
    p_corrected: float
    verdict: str
    reason: str


class Slicing(NamedTuple):
    """Slices of the queries of results: names of those with a query, and flags of slices x queries."""

    by: str
    names: list[str]
    members: Flags


def read_slices(source: str) -> dict[str, list[str]]:
    """Read the slices of queries from a column of a table or of queries."""
    from leadline.io.small_tables import split_place

    path, column = split_place(source)
    if not path or not column:
        raise UsageError(f"'{source}' is not valid. Write FILE:COLUMN, as in queries.tsv:type.")
    found: dict[str, list[str]] = {}
    for query, value, line in _cells(path, column):
        for name in _names(value, path, line):
            labels = found.setdefault(query, [])
            if name not in labels:
                labels.append(name)
    return found


def _cells(path: str, column: str) -> Iterator[tuple[str, object, int]]:
    """Yield query, value and line of every row that has a value."""
    from leadline.io.opening import BOM, first_bytes
    from leadline.io.small_tables import records, unguarded_table
    from leadline.io.texts import QUERY, read_queries, rows_of

    topics = (first_bytes(path) or b"").removeprefix(BOM).lstrip().startswith(b"<")
    columns, rows = unguarded_table(rows_of(path, "query") if topics else records(path, quoted=True))
    if column not in columns:
        if column == LENGTH:
            for document in read_queries(path):
                yield document.id, _length(document.text), document.place
            return
        choose = f"Choose one of {', '.join(columns)}"
        raise InputError(f"there is no column '{column}'", path=path, line=1, hint=choose)
    key = next((name for name in QUERY if name in columns), columns[0])
    for line, row in rows:
        if row.get(key) is None:
            raise InputError(f"the query has no id in '{key}'", path=path, line=line, hint="Give it an id")
        yield str(row[key]), row.get(column), line


def _length(text: str) -> str:
    """Return the slice of a query by its number of words.

    >>> _length("wing"), _length("flow past a wing"), _length("w " * 17)
    ('1-2 words', '3-4 words', '17 or more words')
    """
    words, low = len(text.split()), 1
    for high in LENGTHS:
        if words <= high:
            return f"{low}-{high} words"
        low = high + 1
    return f"{low} or more words"


def _names(value: object, path: str = "", line: int | None = None) -> list[str]:
    """Return the slices that a cell names; none if it is empty."""
    if isinstance(value, Mapping):
        raise InputError(
            "a slice cannot be an object",
            path=path,
            line=line,
            hint="Use a text, a number, or a list of texts and numbers",
        )
    values = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
    texts = [
        str(each).lower() if isinstance(each, bool) else str(each) for each in values if each is not None
    ]
    return [text.strip() for text in texts if text.strip()]


def slicings_of(results: Results, by: SliceSource | Iterable[SliceSource]) -> list[Slicing]:
    """Return the slices of the queries of results, by source."""
    sources = [by] if isinstance(by, (str, Mapping)) else by
    if not isinstance(sources, Iterable):
        raise UsageError(
            f"slices cannot be of type {type(by).__name__}. Pass FILE:COLUMN, or {{query: slice}}."
        )
    return _named_apart([_slicing(source, results) for source in sources])


def _slicing(source: object, results: Results) -> Slicing:
    """Return the slices of the queries of results."""
    if isinstance(source, str):
        by, labels = source, read_slices(source)
    elif isinstance(source, Mapping):
        by, labels = IN_MEMORY, {str(query): _names(value) for query, value in source.items()}
    else:
        raise UsageError(
            f"slices cannot be of type {type(source).__name__}. Pass FILE:COLUMN, or {{query: slice}}."
        )
    codes = results.queries.encode(map(to_bytes, labels))
    by_code = {
        int(code): names for code, names in zip(codes.tolist(), labels.values(), strict=True) if code >= 0
    }
    names = sorted({name for found in by_code.values() for name in found}, key=_natural)
    if not names:
        raise InputError(
            "none of the judged queries has a slice",
            path=by.rpartition(":")[0] or by,
            hint=f"Use query ids such as {results.queries[0]}" if len(results.queries) else "",
        )
    if len(names) > MOST:
        raise InputError(
            f"there are {len(names):,} different slices",
            path=by,
            hint=f"Use at most {MOST} slices, such as query types",
        )
    rows = {name: row for row, name in enumerate(names)}
    members = np.zeros((len(names), len(results.queries)), dtype=np.bool_)
    for code, found in by_code.items():
        for name in found:
            members[rows[name], code] = True
    return Slicing(by, names, members)


def _named_apart(slicings: Sequence[Slicing]) -> list[Slicing]:
    """Return slices whose sources have different names: those in memory are numbered."""
    names = [each.by for each in slicings]
    twice = [name for name in names if names.count(name) > 1 and name != IN_MEMORY]
    if twice:
        raise UsageError(f"The slices {twice[0]} are given twice. Give them once.")
    if not slicings:
        raise UsageError("No slices were given. Pass FILE:COLUMN, or {query: slice}.")
    number = 0
    named = []
    for each in slicings:
        number += each.by == IN_MEMORY
        later = each.by == IN_MEMORY and number > 1
        named.append(each._replace(by=f"{IN_MEMORY} {number}") if later else each)
    return named


def _natural(name: str) -> list[tuple[int, float, str]]:
    """Return a key that sorts numbers in a text by size.

    >>> sorted(["10 words", "9 words", "de"], key=_natural)
    ['9 words', '10 words', 'de']
    """
    parts = [part for part in re.split(r"([0-9]+)", name) if part]
    return [(0, float(part), "") if part.isdecimal() and part.isascii() else (1, 0.0, part) for part in parts]
