"""Selection while runs are read: some queries, no document that is its query, no chunks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from copy import copy
from itertools import compress
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from leadline.data.arrays import Codes, Integers
from leadline.data.ids import Ids, Vocabulary, to_bytes, to_text
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import ChunkIds, Lengths, QueryFile, Reading
from leadline.errors import InputError, RecordNumber, did_you_mean
from leadline.io.opening import BINARY_TABLES, read_whole, text_of
from leadline.io.row_columns import DOCUMENT, QUERY, find
from leadline.io.run_lists import Lists, Unmeasured
from leadline.io.score_cells import id_of, json_of, json_or_none
from leadline.io.small_tables import FIELD, column_of, csv_table, delimiter_of, need_columns, parquet, records
from leadline.io.trec_lists import looks_trec
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.data.reading import DocumentsOf, LengthsOf


CHUNK = ("chunk_id", "passage_id", "node_id", "chunk", "passage")
DOCUMENTS = (*DOCUMENT, "doc")
MOST = 10.0**12  # length of a document; sums of these are exact


def wanted_queries(reading: Reading) -> frozenset[bytes] | None:
    """Return the selected queries, None for all; their file is read once.

    >>> sorted(wanted_queries(Reading(queries_in=["q2", "q1"])) or ())
    [b'q1', b'q2']
    """
    chosen = reading.queries_in
    if chosen is None:
        return None
    if not isinstance(chosen, QueryFile):
        assert not isinstance(chosen, os.PathLike)  # a QueryFile once it has been checked
        return frozenset(map(to_bytes, chosen))
    if chosen.ids is None:
        chosen.order = tuple(read_query_ids(chosen))
        chosen.ids = frozenset(map(to_bytes, chosen.order))
    return chosen.ids


def queries_in_order(reading: Reading) -> tuple[str, ...]:
    """Return the selected queries in their order; none if all are read."""
    wanted_queries(reading)
    chosen = reading.queries_in
    if isinstance(chosen, QueryFile):
        return chosen.order
    return chosen if isinstance(chosen, tuple) else ()


def clean(lists: Lists, reading: Reading, *, whole: bool = False) -> None:
    """Select what is to be read, merge the lists of a query if these are all, and round scores if asked for.

    Documents whose id is that of their query are left out if that is asked for, and a list without any other
    document. Chunks that are left become their documents, with the length of all chunks down to each.
    """
    if reading.selects:
        _select(lists, reading)
    unknown = [] if reading.lengths is None else _measure(lists, reading.lengths)
    if reading.documents_of is not None:
        lists.replace_ids(documents_of(lists, reading.documents_of))
    if whole:
        lists.group()
    if reading.single_precision:
        lists.narrow()
    if lists.costs is not None:
        _add_up(lists, unknown)


def cleaned(lists: Lists, reading: Reading, path: str) -> Lists:
    """Return the lists of a whole run, cleaned; refuse them where nothing is left."""
    if not len(lists.scores):
        refuse_empty(path, lists.dropped)
    clean(lists, reading)
    if not len(lists.scores):
        refuse_nothing(reading, path)
    return lists


def _select(lists: Lists, reading: Reading) -> None:
    """Keep the lists of selected queries, unless they lose every document."""
    wanted = wanted_queries(reading)
    sizes = np.diff(lists.bounds)
    asked = np.array([wanted is None or query in wanted for query in lists.queries], dtype=np.bool_)
    kept = np.repeat(asked, sizes)
    if reading.drop_identical_ids:
        same = _identical(lists)
        lists.identical = int(kept[same].sum())
        kept[same] = False
    left = np.diff(np.concatenate(([0], np.cumsum(kept)))[lists.bounds])
    asked &= (left > 0) | (sizes == 0)
    if not (asked.all() and kept.all()):
        lists.queries = list(compress(lists.queries, asked.tolist()))
        lists.bounds = np.concatenate(([0], np.cumsum(left[asked]))).astype(np.int64)
        lists.keep_rows(np.flatnonzero(kept))


def _identical(lists: Lists) -> Integers:
    """Return the rows whose document is the query."""
    same = QrelsColumns.of([(query, query, 1.0) for query in dict.fromkeys(lists.queries)])
    return np.flatnonzero(_matched(lists, same, same.queries.encode(lists.queries)) >= 0)


def _matched(lists: Lists, table: QrelsColumns, codes: Integers) -> Codes:
    """Return every row's row in a table, also if a list has a document twice."""
    rows = Lists.match(lists, table, codes)
    return lists.looked_up(table, codes) if rows is None else rows


def selected_qrels(qrels: QrelsColumns, reading: Reading) -> QrelsColumns:
    """Return the judgments of the selected queries, with a remark on queries without judgments."""
    wanted = wanted_queries(reading)
    if wanted is None or qrels.selected == frozenset(map(to_text, wanted)):  # selected before
        return qrels
    codes = [code for code, name in enumerate(qrels.queries.names) if name in wanted]
    shown = _shown(reading)
    if not codes:
        raise InputError(f"has no judgments for {_selected(wanted)}{shown}", path=qrels.source)
    whole = len(codes) == len(qrels.queries)
    made = copy(qrels) if whole else qrels.of_codes(np.array(codes, dtype=np.int64))
    made.selected = frozenset(map(to_text, wanted))
    unknown = sorted(wanted.difference(qrels.queries.names))
    if unknown:
        words = f"selected queries{shown} without judgments: {len(unknown):,} (left out)"
        made.remarks = (*made.remarks, ("unknown_queries", words, len(unknown)))
    return made


def absent(reading: Reading, queries: int) -> int:
    """Return the number of selected queries that a run with that many of them lacks."""
    wanted = wanted_queries(reading)
    return 0 if wanted is None else len(wanted) - queries


def refuse_empty(path: str, dropped: int) -> NoReturn:
    """Refuse a run without documents, or of which every score was NaN and was dropped."""
    raise InputError("contains only NaN scores" if dropped else "contains no documents", path=path)


NOTHING_LEFT = "nothing_left"  # code of the error, which is no fault of one part among several


def refuse_nothing(reading: Reading, path: str) -> NoReturn:
    """Refuse a run of which the selection left nothing."""
    wanted = wanted_queries(reading)
    if wanted is None:
        same = "contains only documents that have the same id as their query"
        more = "so --config read.drop_identical_ids leaves no documents"
        raise InputError(f"{same}, {more}", path=path, code=NOTHING_LEFT)
    more = ", not counting documents that have the same id as their query" * reading.drop_identical_ids
    found = f"contains no documents for {_selected(wanted)}{_shown(reading)}{more}"
    raise InputError(found, path=path, code=NOTHING_LEFT)


def _shown(reading: Reading) -> str:
    chosen = reading.queries_in
    return f" from {chosen}" if isinstance(chosen, QueryFile) else ""


def _selected(wanted: Sized) -> str:
    return "the selected query" if len(wanted) == 1 else f"any of the {len(wanted):,} selected queries"


def documents_of(chunks: Lists, given: DocumentsOf) -> list[bytes]:
    """Return the document of every chunk of some lists; a chunk without one is refused."""
    assert isinstance(given, ChunkIds)
    if given.table is None and os.path.exists(given):
        given.table = _read(str(given))
    known: dict[bytes, bytes | None] = {}
    match = None if given.table is not None else re.compile(given).search
    found: list[bytes] = []
    for row, name in enumerate(chunks.located()):
        document = known.get(name)
        if document is None:
            if given.table is not None:
                document = given.table.get(name)
            elif match is not None:
                hit = match(to_text(name))
                document = None if hit is None or not hit[1] else to_bytes(hit[1])
            if document is None:
                raise _unknown(to_text(name), given, chunks.lines[row] if chunks.lines else None)
            known[name] = document
        found.append(document)
    return found


def _measure(lists: Lists, given: LengthsOf) -> list[bytes]:
    """Set the length of every row; return the ids without one, whose rows get -1 minus their place here."""
    assert isinstance(given, Lengths)
    if given.table is None:
        given.table = read_lengths(given)
    rows = _matched(lists, given.table, np.zeros(len(lists.queries), dtype=np.int64))
    lists.costs = given.table.grades[rows]
    unknown = np.flatnonzero(rows < 0)
    lists.costs[unknown] = -1.0 - np.arange(len(unknown))
    return list(lists.located().take(unknown))


def _add_up(lists: Lists, unknown: Sequence[bytes]) -> None:
    """Turn lengths into those of each document and all above it in its list."""
    order, lengths = lists.order(), lists.costs
    assert lengths is not None
    if order is not None:
        lengths = lengths[order]
    missing = np.flatnonzero(lengths < 0)
    first = np.append(missing, len(lengths))[np.searchsorted(missing, lists.bounds[:-1])]
    total = np.concatenate(([0.0], np.cumsum(np.maximum(lengths, 0.0))))
    sizes = np.diff(lists.bounds)
    costs = total[1:] - np.repeat(total[lists.bounds[:-1]], sizes)
    costs[np.arange(len(costs)) >= np.repeat(first, sizes)] = np.nan
    for place in np.flatnonzero(first < lists.bounds[1:]).tolist():
        row, begin = int(first[place]), int(lists.bounds[place])
        above = float(total[row] - total[begin])
        lists.unmeasured[lists.queries[place]] = Unmeasured(
            unknown[-1 - int(lengths[row])], row - begin + 1, above
        )
    lists.costs = costs
    if order is not None:
        lists.costs = np.empty_like(costs)
        lists.costs[order] = costs


def read_lengths(given: Lengths) -> QrelsColumns:
    """Return the length of each document, as grades of one query."""
    path, cells = "lengths", list[tuple[int | None, str, object]]()
    if given.given is not None:
        cells += ((None, str(name), length) for name, length in given.given.items())
    else:
        path, rows = column_of(given, (*CHUNK[:3], *DOCUMENTS), example="chunks.csv:tokens")
        cells += ((line, str(name), cell) for line, name, cell in rows)
    found: dict[bytes, float] = {}
    for line, name, cell in cells:
        length = _length(cell)
        if length is None:
            what = f"length {cell!r} of document '{name}' is not a whole number from 0 to {MOST:,.0f}"
            raise InputError(what, path=path, line=line)
        if found.setdefault(to_bytes(name), length) != length:
            raise InputError(f"document '{name}' has two different lengths", path=path, line=line)
    return QrelsColumns.of_columns(
        Vocabulary(["1"]),
        np.zeros(1, dtype=np.int64),
        np.array([len(found)], dtype=np.int64),
        Ids.of(found),
        np.array(list(found.values()), dtype=np.float64),
    )


def _length(cell: object) -> float | None:
    """Return a whole number, 0 or more; None for anything else.

    >>> _length("180"), _length(" 2e2 "), _length("1.5"), _length(-1), _length("")
    (180.0, 200.0, None, None, None)
    """
    try:
        number = float(cell)  # type: ignore[arg-type]  # of any type, as it was given
    except (TypeError, ValueError):
        return None
    return number if number.is_integer() and 0 <= number <= MOST else None


def _unknown(name: str, given: ChunkIds, line: int | None) -> InputError:
    if given.table is None:
        return InputError(
            f"the documents_of pattern '{given}' finds no document id in '{name}'",
            hint="The pattern must match every id. For example, '^(.*?)(?:#\\d+)?$' also matches ids without "
            "a number",
            line=line,
        )
    meant = did_you_mean(name, map(to_text, given.table), most=1)
    hint = f"{meant} If not, add the chunk and its document" if meant else "Add the chunk and its document"
    table = str(given) if os.path.exists(given) else "documents_of"
    return InputError(f"chunk '{name}' is missing from {table}", line=line, hint=hint)


def _read(path: str) -> dict[bytes, bytes]:
    """Read a table of chunks and documents: their columns by name, else the first two."""
    found: dict[bytes, bytes] = {}
    for line, row in records(path, known=(*CHUNK, *DOCUMENTS, "id"), quoted=True):
        names = list(row)
        if len(names) < 2 or (len(names) > 2 and not {*CHUNK, *DOCUMENTS, "id"} & set(names)):
            lacking = [one[0] for one in (CHUNK, DOCUMENTS) if find(names, one) is None]
            need_columns(names, lacking, path, line)
        document = find(names, DOCUMENTS)
        chunk = find(names, CHUNK) or next(name for name in names if name != document)
        document = document or next(name for name in names if name != chunk)
        try:
            cells = id_of(row[chunk], "chunk", chunk), id_of(row[document], "document", document)
        except InputError as error:
            raise error.at(path, line) from None
        key, value = map(to_bytes, cells)
        if found.setdefault(key, value) != value:
            raise InputError(
                f"chunk '{cells[0]}' is assigned to two different documents", path=path, line=line
            )
    if not found:
        raise InputError(
            "contains no chunks", path=path, hint="Use a table with the columns chunk_id and doc_id"
        )
    return found


QUERY_IDS = (*QUERY, "num", "id", "_id")
DOCUMENT_IDS = (*DOCUMENT, "id", "_id")
WITH_TEXTS = ("id", "_id", "num")  # names of ids in a table of queries, in which `query` is the text


def read_query_ids(path: str) -> list[str]:
    """Return the ids of queries in a file, in their order, each once.

    The file is a list of one id a line; a table of queries, judgments or results with a column of query ids
    (CSV, TSV, JSON, JSON Lines, Parquet); queries in two columns without a header, id and text, with a tab
    between; or qrels or a run in TREC format.
    """
    found = dict.fromkeys(_ids(path, _column, "query"))
    if not found:
        raise InputError("contains no query ids", path=path)
    return list(found)


def read_document_ids(path: str) -> list[str]:
    """Return the ids of a collection, in the forms of `read_query_ids` but those of TREC."""
    found = list(_ids(path, lambda names: find(names, DOCUMENT_IDS), "doc"))
    if not found:
        raise InputError("contains no document ids", path=path)
    return found


def _ids(path: str, column: Callable[[Iterable[Any]], Any], noun: str) -> Iterator[str]:
    window = read_whole(path)
    content = window.content()
    if content.startswith(BINARY_TABLES):
        yield from _ids_in(parquet(path), path, column, noun)
        return
    text = text_of(window)
    start = text.lstrip()[:1]
    if start == "{":
        whole = json_or_none(text)
        if isinstance(whole, dict) and noun == "query" and find(whole, QUERY_IDS) is None:
            yield from whole  # {query: {document: number}}
            return
        lines = ((line, raw) for line, raw in enumerate(text.split("\n"), start=1) if raw.strip())
        yield from _ids_in(((line, json_of(raw, path, line)) for line, raw in lines), path, column, noun)
        return
    if start == "[":
        numbered = enumerate(json_of(text, path), start=1)
        yield from _ids_in(((RecordNumber(place), row) for place, row in numbered), path, column, noun)
        return
    header = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    delimiter = delimiter_of(header)
    names = [cell.strip('"') for cell in header.rstrip("\r").split(delimiter)]
    name = column(names)
    if name is not None and (delimiter in header or text.rstrip().rpartition("\n")[2].strip() != name):
        columns, cells = csv_table(text, path)
        yield from (row[columns.index(name)] for _, row in cells)
        return
    trec = noun == "query" and looks_trec(content)
    for line, raw_line in plain.data_lines(content):
        raw = to_text(raw_line).rstrip("\r")
        words = FIELD.findall(raw)
        if "\t" in raw and not trec:
            yield raw.split("\t")[0]
        elif len(words) == 1 or trec:
            yield words[0]
        else:
            raise InputError(
                f"the line has {len(words)} words",
                path=path,
                line=line,
                hint=f"Write one {noun}_id per line, or use a table with a column '{noun}_id'",
            )


def _column(names: Iterable[Any]) -> Any:
    """Return the name of the ids of queries; beside documents `id` is none of them.

    >>> _column(["id", "query"]), _column(["id", "query", "docid"]), _column(["text"])
    ('id', 'query', None)
    """
    present = list(names)
    first = find(present, QUERY_IDS)
    texts = first in {"query", "topic"} and find(present, DOCUMENT) is None
    return (find(present, WITH_TEXTS) if texts else None) or first


def _ids_in(
    rows: Iterable[tuple[int, Any]], path: str, column: Callable[[Iterable[Any]], Any], noun: str
) -> Iterator[str]:
    for line, row in rows:
        found = row
        if isinstance(row, Mapping):
            name = column(row)
            found = None if name is None else row[name]
        if not isinstance(found, (str, int)) or found == "" or isinstance(found, bool):
            wanted = f"each record needs a {noun}_id that is nonempty text or a whole number"
            raise InputError(wanted, path=path, line=line)
        yield str(found)
