"""Read TREC qrels."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
import numpy.typing as npt

from leadline import kernels
from leadline.data.arrays import Bytes, Floats, Integers, Small, are_small, zeros
from leadline.data.ids import PackedIds, Slots, Vocabulary, table_sizes
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import Reading
from leadline.errors import InputError
from leadline.io import ahead, swapped_arguments
from leadline.io.ahead import computed_ahead
from leadline.io.lines_by_query import LARGE, NOT_THE_TOP, Parts
from leadline.io.opening import KINDS, Buffers, Chunk, file_size, read_whole, text_size
from leadline.io.run_lists import Lists, qrels_of_lists
from leadline.io.trec_lists import about_remarks, as_fields, lists_of_scan, scan_lists
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.io.tables import OutputTable

Column = TypeVar("Column", bound=npt.NDArray[np.generic])


def read(
    path: str, *, subtopics: bool = False, whole: Chunk | None = None, sure: bool = False
) -> QrelsColumns:
    """Read a qrels file; refuses a document that is judged twice for one query.

    `subtopics` reads the second column: then a document is judged once for each subtopic. `whole` is the text
    where it is read already. A ranking of four columns is refused unless `sure`.
    """

    def text() -> Chunk:
        return whole or read_whole(path)

    if subtopics:
        return _by_subtopic(text())
    qrels = _in_chunks(path) if whole is None and kernels.compiled is not None else None
    if qrels is None:
        whole = text()
        qrels = _of_whole(whole)
    if not sure:
        bounds = np.append(np.sort(qrels.begin), len(qrels.documents))
        if swapped_arguments.is_ranking(qrels.documents, bounds):
            swapped_arguments.refuse_ranking(text().content(), path)
        if swapped_arguments.has_grades_for_documents(qrels):
            swapped_arguments.refuse_other_columns(qrels, text().content(), path)
    if qrels.duplicate is not None:
        _refuse_repeat(text())
    return qrels


GROUPS = (
    "The second column has several values. If they name subtopics, add `--config read.subtopics`. If they "
    "name judgment groups (as in the qrels_jg format of trec_eval), write one file per group"
)


class _Packed:
    """Columns of judgments that grow while a file is read, list by list."""

    def __init__(self, prefix: bytes | None) -> None:
        self.prefix = prefix
        self.text: Bytes = np.empty(0, dtype=np.uint8)
        self.ends: Integers = np.zeros(1, dtype=np.int64)
        self.grades: Floats | Small = np.empty(0, dtype=np.int8)
        self.slots: npt.NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)
        self.offsets: list[Integers] = []
        self.bounds: list[Integers] = []
        self.queries: dict[bytes, None] = {}
        self.rows = self.filled = self.remarks = 0
        self.shortened = self.returned = False  # why lists did not fit

    def add(self, lists: Lists | None, share: float) -> bool:
        """Add some lists, with which a share of the file has been read; return False if they do not fit."""
        if lists is None or not np.isfinite(lists.scores).all():
            return False
        assert kernels.compiled is not None
        assert lists.hashes is not None
        self.remarks += lists.remarks
        expected = len(self.queries) + len(lists.queries)
        self.queries |= dict.fromkeys(lists.queries)
        self.returned = len(self.queries) < expected
        if self.returned:
            return False
        low, high = self.rows, self.rows + len(lists.scores)
        used = int(self.ends[low])
        self.text = _grown(self.text, used, used + int((lists.stop - lists.start).sum()), share)
        self.ends = _grown(self.ends, low + 1, high + 1, share)
        if not self._pack(lists, self.ends[low : high + 1]):
            return False
        self._add_grades(lists.scores, share)
        sizes = table_sizes(np.diff(lists.bounds))
        offset, before = np.cumsum(sizes) - sizes, self.filled
        self.filled += int(sizes.sum())
        self.slots = _grown(self.slots, before, self.filled, share)
        self.offsets.append(offset + before)
        self.bounds.append(lists.bounds[1:] + low)
        self.rows = high
        repeated = kernels.compiled.fill_slots(
            self.text,
            self.ends[low:high],
            self.ends[low + 1 : high + 1],
            lists.hashes,
            lists.bounds[:-1],
            lists.bounds[1:],
            offset,
            self.slots[before : self.filled],
            np.zeros(1, dtype=np.int64),
        )
        return bool(repeated < 0)

    def _pack(self, lists: Lists, ends: Integers) -> bool:
        """Copy the documents; where one has another prefix, shorten the prefix and return False."""
        assert kernels.compiled is not None
        if not len(lists.scores):
            return True
        given = self.prefix is not None
        if self.prefix is None:
            self.prefix = lists.text[int(lists.start[0]) : int(lists.stop[0])].tobytes()
        while True:
            columns = (lists.text, lists.start, lists.stop, _bytes(self.prefix), self.text, ends)
            shared = kernels.compiled.pack(*columns)
            if shared == len(self.prefix):
                return True
            self.prefix = self.prefix[:shared]
            if given:
                self.shortened = True
                return False

    def _add_grades(self, grades: Floats, share: float) -> None:
        low, high = self.rows, self.rows + len(grades)
        if self.grades.dtype == np.int8 and not are_small(grades):
            self.grades = self.grades.astype(np.float64)
        self.grades = _grown(self.grades, low, high, share)
        self.grades[low:high] = grades

    def qrels(self, source: str) -> QrelsColumns:
        """Return the judgments."""
        queries = Vocabulary.of_bytes(self.queries)
        order = np.argsort(queries.encode(self.queries))
        bounds = np.concatenate([np.zeros(1, dtype=np.int64), *self.bounds])
        begin, end = bounds[:-1][order], bounds[1:][order]
        ids = PackedIds(
            self.prefix or b"", self.text[: int(self.ends[self.rows])], self.ends[: self.rows + 1]
        )
        slots = Slots(
            _bytes(ids.prefix),
            ids.rest,
            ids.ends[:-1],
            ids.ends[1:],
            begin,
            end,
            np.concatenate(self.offsets)[order],
            self.slots,
        )
        made = QrelsColumns.of_columns(
            queries, begin, end, ids, self.grades[: self.rows], slots=slots, source=source
        )
        made.remarks = about_remarks(self.remarks)
        return made


def _bytes(text: bytes) -> Bytes:
    return np.frombuffer(text, dtype=np.uint8)


def _grown(column: Column, used: int, needed: int, share: float) -> Column:
    """Return a column with capacity for what is needed, and for the rest of the file; new slots are 0."""
    if needed <= len(column):
        return column
    larger = zeros(max(int(1.1 * needed / share), needed + 16), column.dtype)
    larger[:used] = column[:used]
    return cast(Column, larger)


def _in_chunks(path: str) -> QrelsColumns | None:
    """Read judgments chunk by chunk into little memory."""
    prefix: bytes | None = None
    disordered = False
    while True:
        packed = _Packed(prefix)
        with closing((_disordered if disordered else _chunks)(path)) as chunks:
            fits = all(packed.add(*lists) for lists in chunks)
        if fits:
            return packed.qrels(path) if packed.queries else None
        if packed.returned and not disordered and text_size(path) > LARGE:
            disordered = True
        elif not packed.shortened:
            return None
        prefix = packed.prefix


def _chunks(path: str) -> Generator[tuple[Lists | None, float], None, None]:
    """Yield the lists of a file chunk by chunk, with the share of the file that has been read."""
    scanned = ahead.taken(path)
    if scanned is not None:
        yield _lists_of(scanned, path), 1.0
        return
    size = file_size(path)

    def scan(place: tuple[int, int]) -> tuple[tuple[Lists | None, float], tuple[int, int] | None]:
        byte, line = place
        window.advance(byte)
        lists = scan_lists(window, line, run=False)
        if lists is None or window.last:
            return (lists, 1.0), None
        return (lists, window.file.tell() / size), (lists.next_byte, lists.next_line)

    with Chunk(path, Buffers(), Buffers()) as window:
        yield from computed_ahead(scan, (0, 1), background=True)


def _lists_of(scanned: ahead.Scan, path: str) -> Lists:
    """Return the lists of a text that has been scanned already."""
    columns = {name: np.frombuffer(each, KINDS.get(name, np.int64)) for name, each in scanned.columns.items()}
    workspace = Buffers(0)
    workspace.text = np.frombuffer(scanned.text, dtype=np.uint8)
    Chunk.of_text(path, workspace, len(scanned.text)).check()
    return lists_of_scan(workspace.text, columns, scanned.tally)


def _disordered(path: str) -> Generator[tuple[Lists | None, float], None, None]:
    """Yield the lists of a file after its lines have been grouped on disk."""
    with Parts(path, text_size(path)) as parts:
        clean = parts.fill(run=False)
        read, remarks = 0, parts.remarks
        for part in parts if clean else ():
            lists = scan_lists(part, NOT_THE_TOP, run=False)
            if lists is not None:
                lists.group()
                lists.remarks, remarks = remarks, 0
            read += part.end
            yield lists, read / parts.size
        if not clean:
            yield None, 1.0


def _of_whole(window: Chunk) -> QrelsColumns:
    """Return the judgments of a text, without a check for repeated documents."""
    lists: Lists | None = scan_lists(window, 1, run=False)
    if lists is None or not np.isfinite(lists.scores).all():
        lists = _plain_lists(window)
    if not lists.queries:
        raise InputError("contains no judgments", path=window.path, hint=plain.QRELS_COLUMNS)
    lists.group()
    made = qrels_of_lists(lists, window.path)
    made.remarks = about_remarks(lists.remarks)
    return made


def _by_subtopic(window: Chunk) -> QrelsColumns:
    try:
        text = window.content()
        found = plain.scan_subtopics(text, 1)
    except InputError as error:
        raise error.at(window.path) from None
    if not found:
        raise InputError("contains no judgments", path=window.path, hint=plain.QRELS_COLUMNS)
    made = QrelsColumns.of_subtopics(found, source=window.path)
    made.remarks = about_remarks(plain.after_remarks(text)[1])
    return made


def _plain_lists(window: Chunk) -> Lists:
    try:
        return Lists.of_rows(plain.scan_qrels(window.content(), 1))
    except InputError as error:
        raise error.at(window.path) from None


def _refuse_repeat(window: Chunk) -> None:
    """Refuse a document that is judged twice, with the lines."""
    lists = _plain_lists(window)
    lists.group()
    try:
        lists.resolve_duplicates(Reading(), action="is judged")
    except InputError as error:
        text = window.content()
        if len({fields[1] for _, fields in plain.qrels_fields(text, 1)}) > 1:
            error.hint = error.hint or GROUPS
        raise error.at(window.path) from None


def write(table: OutputTable) -> Iterator[bytes]:
    """Yield qrels as text; the second column is the subtopic, or 0; there is no place for a probability."""
    second = 4 if table.columns[3:4] not in {(), ("probability",)} else 3
    for query, document, grade, *more in table.rows:
        code, name, *column = as_fields(query, document, *more[: second - 3])
        yield b"%b %b %b %b\n" % (code, *(column or [b"0"]), name, repr(grade).encode())
