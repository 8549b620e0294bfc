"""The lists in a chunk of TREC text, in two forms: compiled columns and plain rows.

Both have the same methods, so that the readers of runs and qrels are written only once.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from leadline import kernels
from leadline.data.arrays import Bytes, Codes, Floats, Hashes, Integers, bytes_of
from leadline.data.ids import Ids, Vocabulary, to_text
from leadline.data.packed_ids import DocumentNumbers
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Reading
from leadline.data.wording import counted
from leadline.errors import InputError, repeated
from leadline.io.archives import COMPRESSIONS
from leadline.io.opening import BOM, WIDE_BOMS, Chunk
from leadline.kernels import plain


def _powers() -> Floats:
    """Return the powers of ten and of two that the list kernel uses, as they are laid out there.

    >>> _powers()[:3].tolist(), len(_powers())
    ([1.0, 10.0, 100.0], 1340)
    """
    pieces: list[int] = []
    for exponent in range(-64, 65):
        ten = 10 ** abs(exponent)
        wide = ten << 512 if exponent >= 0 else (1 << 1024) // ten
        wide >>= wide.bit_length() - 128
        pieces += [(wide >> shift) & 0xFFFFFFFF for shift in (96, 64, 32, 0)]
    twos = np.ldexp(1.0, np.arange(-400, 401))
    return np.concatenate((10.0 ** np.arange(23), np.array(pieces, dtype=np.float64), twos))


POWERS = _powers()
REPAIR = "`--config read.on_duplicate=first|last|max|hold` repairs it"
SHORTEST_LINE = 8  # "q 0 d 1\n"
# Beginnings that no line is written with: of a remark, a byte order mark, an archive.
UNLIKE_LINES = (b"#", BOM, *WIDE_BOMS, *COMPRESSIONS)


# What the compiled scan fills, in the order of its arguments.
COLUMNS = (
    "start",
    "stop",
    "hashes",
    "values",
    "ranks",
    "bounds",
    "query_start",
    "query_stop",
    "list_line",
    "list_byte",
)


def looks_trec(head: bytes) -> bool:
    r"""Return whether the first line that is no remark is one of a TREC file.

    >>> looks_trec(b"q1 0 d1 1\n"), looks_trec(b"query_id,doc_id,score\n")
    (True, False)
    """
    line = first_line(head)
    fields = plain.fields_of(line)
    if len(fields) in {0, 1, 2, 3, 5} or b"\0" in line:
        return False
    return is_number(fields[3 if len(fields) == 4 else 4])


def first_line(head: bytes) -> bytes:
    r"""Return the first line of a text without a header that is neither empty nor a remark.

    >>> first_line(b"# a\n\nq1 0 d1 1\n"), first_line(b"# a")
    (b'q1 0 d1 1', b'')
    """
    return next((line for _, line in plain.data_lines(head)), b"")


def about_remarks(count: int) -> tuple[tuple[str, str, int], ...]:
    """Return a remark on the lines at the top of judgments that are no data.

    >>> about_remarks(0), about_remarks(2)[0][0]
    ((), 'qrels_remark_lines')
    """
    words = f"{counted(count, 'comment line')} at the top of the judgments (begin with '# ', skipped)"
    return (("qrels_remark_lines", words, count),) if count else ()


def is_number(field: bytes) -> bool:
    """Return whether a field of a line is a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def as_fields(query: str, *more: str) -> list[bytes]:
    """Return ids as the columns of a line; refuse an id that such a line cannot contain.

    >>> as_fields("q1", "d1"), as_fields("#1")
    ([b'q1', b'd1'], [b' #1'])
    """
    fields = [name.encode("utf-8", "surrogateescape") for name in (query, *more)]
    for field in fields:
        if plain.fields_of(field) != [field] or b"\0" in field:
            raise InputError(
                f"id {to_text(field)!r} is not one column of a line",
                expected="an id without blanks (JSON can hold it)",
            )
    if fields[0].startswith(UNLIKE_LINES):  # a leading blank prevents its reading as a comment or an archive
        fields[0] = b" " + fields[0]
    return fields


def qrels_of_lists(lists: TrecLists, source: str) -> QrelsColumns:
    """Return the qrels of judgments by query, without a check for repeated documents."""
    queries = Vocabulary.of_bytes(lists.queries)
    order = np.argsort(queries.encode(lists.queries))
    return QrelsColumns.of_columns(
        queries,
        lists.bounds[:-1][order],
        lists.bounds[1:][order],
        lists.ids(),
        lists.scores,
        hashes=lists.hashes,
        source=source,
    )


class TrecLists(Protocol):
    """Lists of a chunk of text: `bounds` has their first rows, the other arrays an entry per row."""

    queries: list[bytes]
    bounds: Integers
    scores: Floats
    ranks: Integers
    extra: int
    tag: bytes
    dropped: int
    repeated: int
    identical: int  # number of documents left out because their id is that of the query
    remarks: int  # number of remarks at the top of the text
    held: list[int]
    next_line: int
    next_byte: int
    hashes: Hashes | None

    def ids(self) -> Ids:
        """Return the document of every row."""

    def group(self) -> None:
        """Merge the lists of each query, in the order of first appearance."""

    def match(self, qrels: QrelsColumns, codes: Integers) -> Codes | None:
        """Return every row's row in the qrels, -1 for none; None if a list contains a document twice."""

    def narrow(self) -> None:
        """Round the scores to 32-bit floats."""

    def order(self) -> Integers | None:
        """Return the rows in the order of the lists, or None if they are in order."""


class RankedLists:
    """Some lists of a run, best first; their arrays may be views of memory that is reused."""

    def __init__(self, lists: TrecLists) -> None:
        self.queries = lists.queries
        self.bounds = lists.bounds
        self.scores = lists.scores
        self.ranks = lists.ranks
        self.unordered = lists
        self._order = lists.order()
        if self._order is not None:
            self.scores, self.ranks = self.scores[self._order], self.ranks[self._order]

    def rows_in(self, qrels: QrelsColumns, codes: Integers) -> Codes | None:
        """Return every document's row in the qrels (-1: none); None if a list contains one twice.

        `codes` holds the code of each list's query in the qrels, -1 for a query without judgments.
        """
        rows = self.unordered.match(qrels, codes)
        return rows if rows is None or self._order is None else rows[self._order]

    def ids(self) -> Ids:
        """Return the id of every document, as a copy."""
        ids = self.unordered.ids()
        return ids if self._order is None else ids.take(self._order)

    def numbered(self, numbers: DocumentNumbers, depth: int | None) -> tuple[Integers, Codes]:
        """Return the bounds of the lists cut at a depth, and the numbers of their documents."""
        lists, bounds, rows = self.unordered, self.bounds, self._order
        ids = lists.located() if isinstance(lists, CompiledLists) else lists.ids()
        hashes = lists.hashes
        if depth is not None:
            bounds, first = first_rows(bounds, depth)
            rows = first if rows is None else rows[first]
        if rows is not None:
            ids, hashes = ids.take(rows), None if hashes is None else hashes[rows]
        return bounds, numbers.of(ids, bounds, hashes)


def first_rows(bounds: Integers, depth: int) -> tuple[Integers, Integers]:
    """Return the bounds of lists that are cut at a depth, and the rows that are left.

    >>> [part.tolist() for part in first_rows(np.array([0, 3, 4]), 2)]
    [[0, 2, 3], [0, 1, 3]]
    """
    sizes = np.minimum(np.diff(bounds), depth)
    cut = np.concatenate(([0], np.cumsum(sizes)))
    return cut, np.arange(cut[-1]) + np.repeat(bounds[:-1] - cut[:-1], sizes)


def are_unique(lists: TrecLists) -> bool:
    """Return whether no list contains a document twice."""
    return lists.match(QrelsColumns.of([]), np.full(len(lists.queries), -1)) is not None


class ListConsumer(Protocol):
    """Consumer of the lists of a run while it is read."""

    def take(self, lists: RankedLists) -> bool:
        """Take some lists; return False if one has a document twice.

        The caller retries with duplicates removed.
        """

    def restart(self) -> None:
        """Discard all lists: a query reappeared, and the whole run follows."""


class ScannedText(NamedTuple):
    """What the compiled scan found in a text: its columns, its tally, and the number of remarks before."""

    columns: dict[str, Any]
    tally: list[int]
    remarks: int


class CompiledLists:
    """Lists found by the compiled kernels: documents are positions in the text."""

    dropped = 0
    repeated = 0
    identical = 0
    remarks = 0

    def __init__(self, text: Bytes, columns: dict[str, Any], tally: list[int], remarks: int = 0) -> None:
        rows, lists = tally[0], tally[1]
        self.remarks = remarks
        self.text = text
        self.start: Integers = columns["start"][:rows]
        self.stop: Integers = columns["stop"][:rows]
        self.hashes: Hashes | None = columns["hashes"][:rows]
        self.scores: Floats = columns["values"][:rows]
        self.ranks: Integers = columns["ranks"][:rows]
        self.bounds: Integers = columns["bounds"][: lists + 1]
        view = bytes_of(text)
        self.queries = [
            view[start:stop].tobytes()
            for start, stop in zip(
                columns["query_start"][:lists].tolist(), columns["query_stop"][:lists].tolist(), strict=True
            )
        ]
        self.extra = tally[2]
        self.next_line, self.next_byte = tally[3], tally[4]
        self.tag = view[tally[5] : tally[6]].tobytes()
        self.held: list[int] = []

    @classmethod
    def scan(cls, window: Chunk, line: int, *, run: bool) -> CompiledLists | None:
        """Find the lists in a window; None if the text is not clean or there is no compiled kernel.

        The arrays are in the workspace of the window: use them before it advances.
        """
        found = cls.scanned(window, line, run=run)
        return None if found is None else cls(window.text, *found)

    @classmethod
    def scanned(cls, window: Chunk, line: int, *, run: bool) -> ScannedText | None:
        """Scan a window; None if the text is not clean or there is no compiled kernel."""
        if kernels.compiled is None:
            return None
        columns: dict[str, Any] = window.workspace.columns(COLUMNS, window.end // SHORTEST_LINE + 2)
        columns = columns | {
            "hashes": columns["hashes"].view(np.uint64),
            "values": columns["values"].view(np.float64),
            "ranks": columns["ranks"].view(np.int32),
        }
        tally = np.zeros(8, dtype=np.int64)
        begin, end, remarks = 0, window.end, 0
        if line == 1 and end and window.text[0] <= ord("#"):
            text = window.text[:end].tobytes()
            begin, remarks = plain.after_remarks(text)
            line += text.count(b"\n", 0, begin)
        if begin == end and not window.last:  # the next line may be another remark
            begin, end, remarks, line = 0, 0, 0, 1
        clean = kernels.compiled.scan(
            window.text, begin, end, line, run, window.last, POWERS, *columns.values(), tally
        )
        return ScannedText(columns, tally.tolist(), remarks) if clean else None

    def ids(self) -> Ids:
        """Return the document of every row."""
        # copies: columns of ids are read-only, while the text may be in a workspace that is overwritten
        return Ids.copied(self.text, self.start, self.stop)

    def located(self) -> Ids:
        """Return the document of every row, as a view that is valid until the window advances."""
        return Ids(self.text[:], self.start[:], self.stop[:])

    def group(self) -> None:
        """Merge the lists of each query, in the order of first appearance."""
        if len(set(self.queries)) == len(self.queries):
            return
        places: dict[bytes, int] = {}
        pieces = np.array([places.setdefault(query, len(places)) for query in self.queries])
        owner = np.repeat(pieces, np.diff(self.bounds))
        order = np.argsort(owner, kind="stable")
        self.queries = list(places)
        self.bounds = np.searchsorted(owner[order], np.arange(len(places) + 1)).astype(np.int64)
        self.keep_rows(order)

    def keep_rows(self, rows: Integers) -> None:
        """Keep some rows, in their order; the bounds are left to the caller."""
        self.start, self.stop = self.start[rows], self.stop[rows]
        self.hashes = None if self.hashes is None else self.hashes[rows]
        self.scores, self.ranks = self.scores[rows], self.ranks[rows]

    def match(self, qrels: QrelsColumns, codes: Integers) -> Codes | None:
        """Return every row's row in the qrels, -1 for none; None if a list contains a document twice."""
        if kernels.compiled is None:
            return None
        rows = np.empty(len(self.start), dtype=np.int32)
        longest = int(np.diff(self.bounds).max(initial=1))
        seen = np.zeros(8 * longest + 8, dtype=np.int32)
        unique = kernels.compiled.match(
            self.text, self.start, self.stop, self.hashes, self.bounds, codes, *qrels.slots, seen, rows
        )
        return rows if unique else None

    def narrow(self) -> None:
        """Round the scores to 32-bit floats."""
        self.scores = _narrowed(self.scores)

    def order(self) -> Integers | None:
        """Return the rows in the order of the lists, or None if they are in order."""
        if kernels.compiled is None:
            return None
        order = np.empty(len(self.start), dtype=np.int64)
        moved = kernels.compiled.arrange(
            self.text, self.start, self.stop, self.scores, self.bounds, order, np.empty_like(order)
        )
        return order if moved else None


class PlainLists:
    """Lists found by `bytes.split`: documents are Python bytes."""

    hashes: Hashes | None = None
    remarks = 0
    unit = "line"  # unit of `lines`
    identical = 0

    def __init__(self, rows: plain.ParsedRows) -> None:
        self.queries = rows.queries
        self.bounds: Integers = np.array(rows.bounds, dtype=np.int64)
        self.documents = rows.documents
        self.scores: Floats = np.array(rows.values, dtype=np.float64)
        self.ranks: Integers = np.array(rows.ranks, dtype=np.int64)
        self.lines = rows.lines
        self.extra = rows.extra
        self.tag = rows.tag
        self.dropped = rows.dropped
        self.next_line, self.next_byte = rows.next_line, rows.next_byte
        self.remarks = rows.remarks
        self.repeated = 0
        self.held: list[int] = []

    @classmethod
    def of_list(cls, query: bytes, ids: Ids, scores: Floats, held: list[int]) -> PlainLists:
        """Return the only list of a query; `held` has the rows of repeats that are held."""
        names, ranks = list(ids), [-1] * len(ids)
        made = cls(
            plain.ParsedRows([query], [0, len(ids)], names, scores.tolist(), ranks, [], 0, b"", 0, 0, 0)
        )
        made.held = held
        return made

    def ids(self) -> Ids:
        """Return the document of every row."""
        return Ids.of(self.documents)

    def keep_rows(self, rows: Integers) -> None:
        """Keep some rows, in their order; the bounds are left to the caller."""
        self._keep(rows.tolist())

    def _keep(self, rows: list[int]) -> None:
        self.documents = [self.documents[row] for row in rows]
        self.lines = [self.lines[row] for row in rows]
        self.scores = self.scores[rows]
        self.ranks = self.ranks[rows] if len(self.ranks) else self.ranks

    def group(self) -> None:
        """Merge the lists of each query, in the order of first appearance."""
        rows: dict[bytes, list[int]] = {}
        bounds = self.bounds.tolist()
        for place, query in enumerate(self.queries):
            rows.setdefault(query, []).extend(range(bounds[place], bounds[place + 1]))
        self.queries = list(rows)
        self.bounds = np.cumsum([0, *map(len, rows.values())], dtype=np.int64)
        self._keep([row for found in rows.values() for row in found])

    def match(self, qrels: QrelsColumns, codes: Integers) -> Codes:
        """Return every row's row in the qrels, -1 for none and for a repeat that is held."""
        rows: list[int] = []
        bounds = self.bounds.tolist()
        for place, code in enumerate(codes.tolist()):
            judged = qrels.lookup[code] if code >= 0 else {}
            rows += [
                judged.get(document, -1) for document in self.documents[bounds[place] : bounds[place + 1]]
            ]
        found = np.array(rows, dtype=np.int32)
        found[self.held] = -1
        return found

    def narrow(self) -> None:
        """Round the scores to 32-bit floats."""
        self.scores = _narrowed(self.scores)

    def order(self) -> Integers | None:
        """Return the rows in the order of the lists, or None if they are in order."""
        bounds = self.bounds.tolist()
        scores, documents = self.scores.tolist(), self.documents
        rising = np.flatnonzero(self.scores[1:] >= self.scores[:-1])
        doubtful = np.flatnonzero(np.bincount(np.searchsorted(self.bounds, rising, side="right") - 1))
        if not len(doubtful):
            return None
        order = np.arange(len(documents))
        for place in doubtful.tolist():
            low, high = bounds[place], bounds[place + 1]
            order[low:high] = sorted(
                range(low, high), key=lambda row: (scores[row], documents[row]), reverse=True
            )
        return order

    def resolve_duplicates(self, reading: Reading, *, action: str = "appears") -> None:
        """Refuse or repair documents that occur twice in a list; refuse ranks that do."""
        drop: set[int] = set()
        bounds = self.bounds.tolist()
        for place, query in enumerate(self.queries):
            low, high = bounds[place], bounds[place + 1]
            if reading.by_rank and len(set(self.ranks[low:high].tolist())) < high - low:
                self._refuse_repeated_rank(query, low, high)
            if len(set(self.documents[low:high])) < high - low:
                drop |= self._resolve_in_list(query, low, high, reading.on_duplicate, action)
        if drop:
            keep = [row for row in range(len(self.documents)) if row not in drop]
            self.bounds = np.searchsorted(np.array(keep), self.bounds).astype(np.int64)
            self._keep(keep)

    def _refuse_repeated_rank(self, query: bytes, low: int, high: int) -> None:
        seen: dict[int, int] = {}
        for row in range(low, high):
            first = seen.setdefault(int(self.ranks[row]), row)
            if first != row:
                raise InputError(
                    f"rank {self.ranks[row]} appears twice for query '{to_text(query)}' "
                    f"(first at {self.unit} {self.lines[first]})",
                    expected="each rank once with --config read.order=rank",
                    line=self.lines[row],
                )

    def _resolve_in_list(self, query: bytes, low: int, high: int, on_duplicate: str, action: str) -> set[int]:
        kept: dict[bytes, int] = {}
        drop: set[int] = set()
        rows = list(range(low, high))
        if on_duplicate == "hold":  # the first occurrence is the one of highest score
            rows.sort(key=lambda row: (-self.scores[row], row))
        for row in rows:
            document = self.documents[row]
            first = kept.setdefault(document, row)
            if first == row:
                continue
            if on_duplicate == "refuse":
                raise repeated(
                    f"document '{to_text(document)}'",
                    verb=action,
                    of=f"query '{to_text(query)}'",
                    first=f"{self.unit} {self.lines[first]}",
                    line=self.lines[row],
                    hint=REPAIR if action == "appears" else "",
                )
            self.repeated += 1
            if on_duplicate == "hold":
                self.held.append(row)
            elif on_duplicate == "last" or (on_duplicate == "max" and self.scores[row] > self.scores[first]):
                drop.add(first)
                kept[document] = row
            else:
                drop.add(row)
        return drop


def _narrowed(scores: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)
