"""Runs and qrels in memory: dictionaries, data frames, and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, count, pairwise, repeat
from numbers import Integral, Real
from operator import attrgetter, itemgetter
from typing import Any, Protocol

import numpy as np

from leadline import kernels
from leadline.data.arrays import Bytes, Codes, Floats, Integers
from leadline.data.ids import Ids, to_bytes
from leadline.data.qrels import QrelsColumns
from leadline.data.validation import refusal
from leadline.data.wording import type_of
from leadline.errors import InputError, UsageError, either, refuse_repeated
from leadline.io.columns import BATCH_ROWS
from leadline.io.row_columns import GRADE, JUDGE, LISTED, PROBABILITY, QUERY, SCORE, Records, Row, Table, find
from leadline.io.run_lists import Lists, qrels_of_lists

IN_DICTIONARY = (
    "If the dictionary contains document ids, leave out `queries` and `documents`. If it contains positions, "
    "pass list(hits.values()) with queries=list(hits)"
)


class MappingLike(Protocol):
    """Object with items: a dictionary, or an object of a JSON text including repeated names."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Return names and values in order."""


def mapping_records(
    source: MappingLike, what: str, *, path: str, unit: str = "", subtopics: bool = False
) -> Records:
    """Return the rows of a dictionary; `{query: [document, ...]}` is a run of score -rank, or relevant sets.

    With subtopics it is `{query: {subtopic: {document: grade}}}`.
    """
    if subtopics:
        return Records(_by_subtopic(source, path), path=path, unit=unit, ranked=True)
    first = next((documents for _, documents in source.items()), None)
    if what == "score" and _is_list(first):
        hit = next((one for _, several in source.items() if _is_list(several) for one in several), None)
        read = reader_of(hit)
        if read is not None:
            rows = _scored(source, read, path)
            return Records(rows, path=path, unit="hit", empty=_empty(source))
        rows = _listed(source, what, path)
        return Records(rows, path=path, unit="place", ranked=True, listed=True, empty=_empty(source))
    if what == "grade" and isinstance(first, (list, tuple, set, frozenset)):
        rows = _listed(source, what, path)
        return Records(rows, path=path, unit="place", listed=True, empty=_empty(source))
    return Records(_rows(source, what, path), path=path, unit=unit, empty=_empty(source))


def _empty(source: MappingLike) -> list[Any]:
    """Return the queries without documents: nothing was found for them in a run, or judged in qrels."""
    return [
        query
        for query, documents in source.items()
        if (_is_list(documents) and not documents)
        or (hasattr(documents, "items") and next(iter(documents.items()), None) is None)
    ]


def _rows(source: MappingLike, what: str, path: str) -> Iterator[Row]:
    place: Callable[[], int] = count(1).__next__
    for query, documents in source.items():
        for document, value in _members(documents, query, f"{{document: {what}}}", path):
            yield place(), query, document, value, None


def _by_subtopic(source: MappingLike, path: str) -> Iterator[Row]:
    place: Callable[[], int] = count(1).__next__
    for query, found in source.items():
        for subtopic, documents in _members(found, query, "{subtopic: {document: grade}}", path):
            if not hasattr(documents, "items"):
                raise InputError(
                    f"the value for {subtopic!r} under query {query!r} is of type {type_of(documents)}",
                    path=path,
                    hint="Use the form {query: {subtopic: {document: grade}}}, or leave out --config "
                    "read.subtopics",
                )
            for document, grade in documents.items():
                yield place(), query, document, grade, subtopic


def _members(value: Any, query: Any, expected: str, path: str) -> Iterable[tuple[Any, Any]]:
    if not hasattr(value, "items"):
        raise _unlike(query, value, expected, path)
    found: Iterable[tuple[Any, Any]] = value.items()
    return found


def _unlike(query: Any, value: Any, form: str, path: str) -> InputError:
    several = hasattr(type(value), "sources")  # runs or judgments by name
    hint = f"Pass only one of them, as in runs[{query!r}]" if several else f"Use the form {form}"
    return InputError(f"the value for query {query!r} is of type {type_of(value)}", path=path, hint=hint)


def _listed(source: MappingLike, what: str, path: str) -> Iterator[Row]:
    """Yield the documents of ranked lists, or of lists or sets of relevant documents."""
    for query, documents in source.items():
        if not (_is_list(documents) or (what == "grade" and isinstance(documents, (set, frozenset)))):
            raise _unlike(query, documents, "[document, ...]", path)
        for rank, document in enumerate(documents, start=1):
            yield (
                (rank, query, document, -rank, rank) if what == "score" else (rank, query, document, 1, None)
            )


def reader_of(hit: Any) -> Callable[[Any], tuple[Any, Any]] | None:
    """Return what gives document and score of one hit of a list; None for an id, and for a row with a query.

    >>> reader_of(("d1", 0.5))(("d2", 0.4)), reader_of({"corpus_id": 3, "score": 0.5}) is None
    (('d2', 0.4), False)
    >>> reader_of("d1"), reader_of(("q1", "d1", 0.5)), reader_of({"qid": 1, "docid": 3, "score": 0.5})
    (None, None, None)
    """
    if isinstance(hit, Mapping):
        names: list[Any] = list(hit)
    elif isinstance(hit, (tuple, list)) and not hasattr(hit, "_fields"):
        number = len(hit) == 2 and isinstance(hit[1], Real) and not isinstance(hit[1], bool)
        return itemgetter(0, 1) if number else None
    elif isinstance(hit, (str, bytes, Real)):
        return None
    else:
        names = [name for name in (*QUERY, *LISTED, *SCORE) if hasattr(hit, name)]
    document, score = find(names, LISTED), find(names, SCORE)
    if document is None or score is None or find(names, QUERY) is not None:
        return None
    return itemgetter(document, score) if isinstance(hit, Mapping) else attrgetter(document, score)


def _scored(source: MappingLike, read: Callable[[Any], tuple[Any, Any]], path: str) -> Iterator[Row]:
    for query, hits in source.items():
        if not _is_list(hits):
            raise _unlike(query, hits, "[(document, score), ...]", path)
        for place, (document, score) in enumerate(_pairs(hits, read, query, path), start=1):
            yield place, query, document, score, None


def _pairs(
    hits: Iterable[Any], read: Callable[[Any], tuple[Any, Any]], query: Any, path: str
) -> Iterator[tuple[Any, Any]]:
    """Yield document and score of the hits of a query."""
    for place, hit in enumerate(hits, start=1):
        try:
            if isinstance(hit, str):  # has no members, but letters
                raise TypeError
            yield read(hit)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            found = f"hit {place} of query {query!r} does not have the form of the run's first hit"
            raise InputError(found, path=path) from None


def by_query(
    hits: Any, queries: Iterable[Any] | None, documents: Sequence[str] | None, path: str
) -> dict[Any, Any]:
    """Return lists of hits in the order of the queries as `{query: hits}`, and positions as ids of documents.

    >>> by_query([[{"corpus_id": 1, "score": 0.5}]], ["q1"], ["d0", "d1"], "run")
    {'q1': [('d1', 0.5)]}
    """
    hint = IN_DICTIONARY if isinstance(hits, Mapping) else ""
    if queries is None:
        hint = hint or "Pass the hits as one list per query, and add queries=[...]"
        raise UsageError(f"`documents` works only together with `queries`. {hint}")
    for argument, given in (("queries", queries), ("documents", documents)):
        if isinstance(given, str):
            raise refusal(argument, given, "a list of ids")
    names, lists = list(queries), []
    form = "if you pass `queries`, the hits must be a list of lists, one per query, but"
    if not _is_iterable(hits):
        raise InputError(f"{form} they are of type {type(hits).__name__}", path=path, hint=hint)
    for place, each in enumerate(hits, start=1):
        if not _is_iterable(each):
            raise InputError(f"{form} item {place} is of type {type(each).__name__}", path=path)
        lists.append(list(each))
    if len(lists) != len(names):
        raise InputError(
            f"the number of lists ({len(lists):,}) differs from the number of queries ({len(names):,})",
            path=path,
            hint="Pass one list per query",
        )
    refuse_repeated("query", names, path=path)
    found = dict(zip(names, lists, strict=True))
    if documents is None:
        return found

    def named(place: Any) -> str:
        if isinstance(place, bool) or not isinstance(place, Integral) or not 0 <= int(place) < len(documents):
            valid = (
                f"valid positions: 0 to {len(documents) - 1:,}"
                if len(documents)
                else "no document ids were given"
            )
            raise InputError(f"document {place!r} is not a position in `documents` ({valid})", path=path)
        return documents[int(place)]

    read = reader_of(next((hit for each in lists for hit in each), None))
    if read is None:
        return {name: list(map(named, each)) for name, each in found.items()}
    return {
        name: [(named(document), score) for document, score in _pairs(each, read, name, path)]
        for name, each in found.items()
    }


def _is_iterable(hits: object) -> bool:
    return isinstance(hits, Iterable) and not isinstance(hits, (str, Mapping))


def split_of(source: Mapping[Any, Any], *, path: str) -> Any:
    """Return the split `test`, or the only one, of a DatasetDict of Hugging Face; others as they are."""
    if not source or not all(hasattr(split, "column_names") for split in source.values()):
        return source
    if len(source) > 1 and "test" not in source:
        choices = either(f"dataset[{name!r}]" for name in source)
        raise InputError(f"is a dataset with {len(source)} splits", path=path, hint=f"Pass {choices}")
    return source["test"] if "test" in source else next(iter(source.values()))


def _is_list(documents: object) -> bool:
    return isinstance(documents, (list, tuple))


SHAPES = (
    "Use {query: [document, ...]}, or rows that all have the form [query, document, number] or all have the "
    "fields query_id, doc_id and score (in qrels, relevance)"
)


def table_of_rows(source: Iterable[tuple[int, Any]], *, path: str, unit: str = "record") -> Table | Records:
    """Return the table of an iterable of (place, row); rows without names are (query, document, number).

    The iterable is consumed once; its first row determines the names of the columns.
    """
    rows = iter(source)
    first = next(rows, None)
    if first is None:
        return Records((), path=path, unit=unit)
    rows = chain([first], rows)
    present = names_of(first[1])
    if present is None:
        found = Records((), path=path, unit=unit)
        found.rows = _plain(rows, found)
        return found

    def cells(chosen: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
        return _cells(rows, chosen, first[1], Records((), path=path, unit=unit))

    return Table(present, cells, path, unit, place=first[0])


def rows_of_columns(found: Mapping[str, Any], queries: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of `{column: [cell, ...]}`, or of the inputs and results of Haystack; else none.

    `queries` are the names that the column of queries may have.

    >>> rows_of_columns({"query": ["q1", "q2"], "mrr": [0.5, 1.0]}, QUERY)
    [{'query': 'q1', 'mrr': 0.5}, {'query': 'q2', 'mrr': 1.0}]
    >>> rows_of_columns({"q1": ["d1", "d2"]}, QUERY)
    []
    """
    inputs, results = found.get("inputs"), found.get("results")
    columns = found
    if isinstance(inputs, Mapping) and isinstance(results, Mapping):
        scores = {name: one.get("individual_scores") for name, one in results.items()}
        columns = {**inputs, **scores}
    lists = [cells for cells in columns.values() if isinstance(cells, list)]
    if find(columns, queries) is None or len(lists) < len(columns) or len(set(map(len, lists))) > 1:
        return []
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def names_of(row: object) -> list[str] | None:
    """Return the names of the columns of a row; None if it has none."""
    if isinstance(row, Mapping):
        return list(row)
    fields = getattr(row, "_fields", None)
    return None if fields is None else list(fields)


def _cells(
    rows: Iterable[tuple[int, Any]], chosen: Sequence[str], first: Any, records: Records
) -> Iterator[tuple[int, Sequence[Any]]]:
    make: Any = itemgetter if isinstance(first, Mapping) else attrgetter
    getters = [make(name) if name else (lambda _row: None) for name in chosen]
    getters[3:] = map(_if_there, chosen[3:])  # rows without a rank, tag, probability or judge are valid
    known = set(first) if isinstance(first, Mapping) and chosen[2] in GRADE else set()
    for place, row in rows:
        if known and isinstance(row, Mapping) and not row.keys() <= known:
            late = find(row.keys() - known, (*PROBABILITY, *JUDGE))
            if late is not None:
                found = f"the {records.unit} has '{late}', but the first one does not"
                hint = f"Add '{late}' to the first one, with null (in Python, None) if it is unknown"
                raise records.at(InputError(found, hint=hint), place)
            known |= row.keys()
        try:
            yield place, [get(row) for get in getters]
        except (AttributeError, KeyError, TypeError):
            present = names_of(row)
            shown = f"is of type {type_of(row)}" if present is None else "has " + ", ".join(present)
            shown = "has no fields" if present == [] else shown
            needed = ", ".join(filter(None, chosen[:3]))
            raise records.at(InputError(f"the {records.unit} {shown}, but needs {needed}"), place) from None


def _if_there(name: str) -> Callable[[Any], Any]:
    return lambda row: row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)


def _plain(rows: Iterable[tuple[int, Any]], records: Records) -> Iterator[Row]:
    for place, row in rows:
        if not isinstance(row, (tuple, list)) or len(row) != 3:
            size = f" and has length {len(row)}" if isinstance(row, (tuple, list)) else ""
            error = InputError(f"the {records.unit} is of type {type_of(row)}{size}", hint=SHAPES)
            raise records.at(error, place)
        yield place, row[0], row[1], row[2], None


def open_frame(source: Any) -> Any:
    """Return a narwhals frame, or None if the object is not a data frame; a lazy one is collected."""
    import narwhals as nw

    try:
        frame = nw.from_native(source, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = list(map(str, getattr(source, "column_names", source.columns)))
        name = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the data frame has more than one column called '{name}'") from None
    if isinstance(frame, nw.LazyFrame):
        return frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def _na(frame: Any) -> Any:
    """Return what a missing cell is in a frame of pandas."""
    return getattr(frame.implementation.to_native_namespace(), "NA", None)


def rows_of_frame(frame: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a frame, with None in missing cells."""
    missing = _na(frame)
    for row in frame.iter_rows(named=True):
        yield {name: None if cell is missing else cell for name, cell in row.items()}


def table_of_frame(frame: Any, *, path: str) -> Table:
    """Return a frame as a table; the first row is row 1."""

    def cells(chosen: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
        present = [name for name in chosen if name]
        places = [present.index(name) if name else len(present) for name in chosen]
        missing = _na(frame)
        for number, row in enumerate(frame.select(present).iter_rows(), start=1):
            whole = (*(None if cell is missing else cell for cell in row), None)
            yield number, [whole[place] for place in places]

    def batches(chosen: Sequence[str]) -> Iterator[Any]:
        some = frame.select([name for name in chosen if name])
        for start in range(0, len(some), BATCH_ROWS):  # to avoid a copy of a whole column
            yield from some[start : start + BATCH_ROWS].to_arrow().to_batches()

    from importlib.util import find_spec

    convert = ".astype(str)" if frame.implementation.is_pandas_like() else ".cast(str)"
    convert = '.cast("string")' if frame.implementation.is_pyarrow() else convert  # 7.0 is "7" there
    arrow = batches if find_spec("pyarrow") else None
    return Table(frame.columns, cells, path, "row", convert=convert, arrow=arrow)


def dictionary_lists(source: object, *, empty: bool = False) -> DictionaryLists | None:
    """Return the lists of a dictionary whose ids are text and whose numbers are finite; else None.

    Other dictionaries are read row by row, which locates the fault. `empty` keeps queries without documents.

    >>> lists = dictionary_lists({"q1": {"d1": 1, "d2": 0.5}})
    >>> lists and lists.scores.tolist()
    [1.0, 0.5]
    >>> dictionary_lists({"q1": {7: 1}}), dictionary_lists({"q1": {"d1": "1"}})
    (None, None)
    """
    if not isinstance(source, dict) or not all(
        isinstance(query, str) and isinstance(documents, dict) for query, documents in source.items()
    ):
        return None
    filled = {query: documents for query, documents in source.items() if documents or empty}
    bounds = np.cumsum([0, *map(len, filled.values())], dtype=np.int64)
    values = np.empty(int(bounds[-1]))
    try:
        with np.errstate(all="ignore"):  # of sums, whose values are not used
            for documents, (low, high) in zip(filled.values(), pairwise(bounds.tolist()), strict=True):
                _fill(values[low:high], documents)
        queries = list(map(to_bytes, filled))
    except (TypeError, ValueError, ArithmeticError):
        return None
    if not len(values) or not np.isfinite(values).all():
        return None
    return DictionaryLists(queries, list(filled.values()), bounds, values)


def _fill(values: Floats, documents: dict[str, Any]) -> None:
    """Fill the numbers of some documents; raise TypeError or ValueError for ids or numbers that are none."""
    kernel = None if kernels.compiled is None else kernels.compiled.numbers_of
    if kernel is not None and type(documents) is dict and kernel(documents, values):
        return
    text = "".join(documents)  # TypeError if one is not text
    if not text.isascii():
        text.encode()  # surrogates raise: such ids are compared as bytes elsewhere
    sum(documents.values())  # TypeError if one is not a number
    values[:] = np.fromiter(documents.values(), np.float64, len(values))


def _judged_in(scores: dict[str, Any], names: list[str]) -> tuple[Integers, Floats]:
    """Return the places of the judged documents that a list has, and their scores."""
    kernel = None if kernels.compiled is None else kernels.compiled.looked_up
    if kernel is not None and type(scores) is dict:
        places, values = np.empty(len(names), dtype=np.int64), np.empty(len(names))
        count = kernel(scores, names, places, values)
        if count >= 0:
            return places[:count], values[:count]
    found = np.fromiter(map(scores.get, names, repeat(np.nan)), np.float64, len(names))
    judged = np.flatnonzero(found == found)  # noqa: PLR0124  # not NaN
    return judged, found[judged]


def dictionary_qrels(lists: DictionaryLists, source: str) -> QrelsColumns:
    """Return the judgments of a dictionary.

    >>> lists = dictionary_lists({"q2": {"d1": 1}, "q1": {"d1": 0, "é": 2}})
    >>> dictionary_qrels(lists, "").to_dict() if lists else None
    {'q1': {'d1': 0, 'é': 2}, 'q2': {'d1': 1}}
    """
    made = qrels_of_lists(lists, source)
    order = np.argsort(made.queries.encode(lists.queries))
    made.names = [list(lists.documents[place]) for place in order.tolist()]
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


class DictionaryLists(Lists):
    """The lists of a run in a dictionary, matched by its own look-ups while it is whole."""

    unique = True

    def __init__(  # ids are joined where they are asked for
        self, queries: list[bytes], documents: list[dict[str, Any]], bounds: Integers, values: Floats
    ) -> None:
        self.queries = queries
        self.bounds = bounds
        self.given = self.scores = values
        self.documents = documents
        self.ranks: Integers = np.full(len(values), -1, dtype=np.int64)
        self.owned = True
        self.lines, self.held, self.unmeasured = [], [], {}

    @cached_property
    def _joined(self) -> Ids:
        return _ids_of(self.documents)

    @cached_property
    def text(self) -> Bytes:  # type: ignore[override]  # made where it is asked for
        return self._joined.text

    @cached_property
    def start(self) -> Integers:  # type: ignore[override]
        return self._joined.start

    @cached_property
    def stop(self) -> Integers:  # type: ignore[override]
        return self._joined.stop

    def keep_rows(self, rows: Integers) -> None:
        """Keep some rows, which are lists as any other then."""
        super().keep_rows(rows)
        self.documents = []

    def match(self, qrels: QrelsColumns, codes: Integers) -> Codes | None:
        """Return every row's row in the qrels, -1 for none."""
        if not self.documents:
            return super().match(qrels, codes)
        rows = np.full(len(self.scores), -1, dtype=np.int32)
        bounds, begin = self.bounds.tolist(), qrels.begin.tolist()
        falling = np.ones(len(codes), dtype=np.bool_)
        falling[self.unsorted()] = False
        negated = -self.given
        for place in np.flatnonzero(codes >= 0).tolist():
            code, low, high = int(codes[place]), bounds[place], bounds[place + 1]
            names, scores = qrels.names[code], self.documents[place]
            if falling[place]:  # a score tells the place of its document, and fewer are judged than retrieved
                judged, found = _judged_in(scores, names)
                at = np.searchsorted(negated[low:high], -found)
                rows[low + at] = begin[code] + judged
            else:
                find = dict(zip(names, range(begin[code], begin[code] + len(names)), strict=True)).get
                rows[low:high] = np.fromiter(map(find, scores, repeat(-1)), np.int32, high - low)
        return rows

    def order(self) -> Integers | None:
        """Return the rows in the order of the lists, or None if they are in order."""
        doubtful = self.unsorted().tolist()
        if not doubtful or not self.documents:
            return super().order() if doubtful else None
        spans = [np.arange(*self.bounds[place : place + 2].tolist()) for place in doubtful]
        rows, ids = np.concatenate(spans), _ids_of(self.documents[place] for place in doubtful)
        ends = np.cumsum([0, *map(len, spans)], dtype=np.int64)
        moved = Lists([], ends, (ids.text, ids.start, ids.stop), self.scores[rows]).order()
        if moved is None:
            return None
        order = np.arange(len(self.scores))
        order[rows] = rows[moved]
        return order
