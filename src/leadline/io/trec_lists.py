"""TREC text: its form, its ids, and the compiled scan of its lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from leadline import kernels
from leadline.data.arrays import Bytes, bytes_of
from leadline.data.ids import to_text
from leadline.data.wording import counted
from leadline.errors import InputError
from leadline.io.ahead import COLUMNS, POWERS, SHORTEST_LINE
from leadline.io.archives import COMPRESSIONS
from leadline.io.opening import BOM, WIDE_BOMS, Chunk
from leadline.io.row_columns import is_header
from leadline.io.run_lists import Lists
from leadline.kernels import plain

REMARK_LINES = "qrels_remark_lines"  # code of the remark on lines at the top that are no data
# Beginnings that no line is written with: of a remark, a byte order mark, an archive.
UNLIKE_LINES = (b"#", BOM, *WIDE_BOMS, *COMPRESSIONS)


def looks_trec(head: bytes) -> bool:
    r"""Return whether the first line that is no remark is one of a TREC file.

    >>> looks_trec(b"q1 0 d1 1\n"), looks_trec(b"query_id,doc_id,judge one or 1\n")
    (True, False)
    """
    line = first_line(head)
    fields = plain.fields_of(line)
    if len(fields) in {0, 1, 2, 3, 5} or b"\0" in line:
        return False
    if not is_number(fields[3 if len(fields) == 4 else 4]):
        return False
    text = to_text(line)
    cells = re.split("[,;\t]", text)
    return cells == text.split() or not is_header(cells)  # a column may be named `judge 1`


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
    words = f"{counted(count, 'comment line')} at the top of the judgments (skipped)"
    return ((REMARK_LINES, words, count),) if count > 0 else ()


def without_read(remarks: Sequence[tuple[str, str, int]], lines: int) -> tuple[tuple[str, str, int], ...]:
    """Return remarks on judgments of which some lines at the top were read.

    >>> without_read(about_remarks(3), 1) == about_remarks(2), without_read(about_remarks(1), 1)
    (True, ())
    """
    kept = (about_remarks(one[2] - lines) if one[0] == REMARK_LINES else (one,) for one in remarks)
    return tuple(chain.from_iterable(kept))


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
                f"id {to_text(field)!r} cannot be written as one column of TREC text",
                hint="Use JSON for such ids",
            )
    if fields[0].startswith(UNLIKE_LINES):  # a leading blank prevents its reading as a comment or an archive
        fields[0] = b" " + fields[0]
    return fields


class ScannedText(NamedTuple):
    """What the compiled scan found in a text: its columns, its tally, and the number of remarks before."""

    columns: dict[str, Any]
    tally: list[int]
    remarks: int


def scan_lists(window: Chunk, line: int, *, run: bool) -> Lists | None:
    """Find the lists in a window; None if the text is not clean or there is no compiled kernel.

    The arrays are in the workspace of the window: use them before it advances.
    """
    found = scan_text(window, line, run=run)
    return None if found is None else lists_of_scan(window.text, *found)


def scan_text(window: Chunk, line: int, *, run: bool) -> ScannedText | None:
    """Scan a window; None if the text is not clean or there is no compiled kernel."""
    if kernels.compiled is None:
        return None
    columns = window.workspace.columns(COLUMNS, window.end // SHORTEST_LINE + 2)
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


def lists_of_scan(text: Bytes, columns: dict[str, Any], tally: list[int], remarks: int = 0) -> Lists:
    """Return the lists that a compiled scan found in a text."""
    rows, lists = tally[0], tally[1]
    view = bytes_of(text)
    starts, stops = (columns[name][:lists].tolist() for name in ("query_start", "query_stop"))
    queries = [view[start:stop].tobytes() for start, stop in zip(starts, stops, strict=True)]
    ids = text, columns["start"][:rows], columns["stop"][:rows]
    made = Lists(
        queries,
        columns["bounds"][: lists + 1],
        ids,
        columns["values"][:rows],
        columns["ranks"][:rows],
        owned=False,
    )
    made.hashes = columns["hashes"][:rows]
    made.extra, made.next_line, made.next_byte = tally[2:5]
    made.tag, made.remarks = view[tally[5] : tally[6]].tobytes(), remarks
    return made
