"""Relevance files of the SMART collections CISI, CACM, Cranfield and TIME; that of MED is TREC text.

CISI and CACM: `query document 0 0`, every listed document is relevant. TIME: a query and its relevant
documents per line. Cranfield: `query document code`, where code 1 is best, 4 worst, and 5 or -1 not relevant;
its queries are numbered by their place in the query file, whose own numbers have gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from leadline.errors import InputError
from leadline.io.row_columns import Records
from leadline.io.trec_lists import about_remarks, first_line
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.io.formats import Opened

Lines = Iterable[tuple[int, list[bytes]]]
CODES = {b"1": 4.0, b"2": 3.0, b"3": 2.0, b"4": 1.0, b"5": 0.0, b"-1": 0.0}
LISTED = "read as SMART relevance (listed documents are relevant)"
CODED = (
    "read as SMART relevance of Cranfield. Code 1 is the best (grade 4), 4 the worst (grade 1), and 5 and -1 "
    "are not relevant. Queries are numbered by position in the query file (`--config text.id_column=place`)"
)


class Layout(NamedTuple):
    """A layout: what it is called, whether a line has it, and the documents of a line with their grades."""

    says: str
    fits: Callable[[Sequence[bytes]], bool]
    documents: Callable[[Sequence[bytes]], list[tuple[bytes, float]]]


def _are_numbers(fields: Iterable[bytes]) -> bool:
    """Return whether all fields are whole numbers above 0, as all ids of these collections are."""
    return all(field.isdigit() and field.strip(b"0") for field in fields)


def _is_pair(fields: Sequence[bytes]) -> bool:
    """Return whether a line is one of CISI or CACM."""
    return (
        len(fields) == 4
        and fields[2] == b"0"
        and _are_numbers(fields[:2])
        and not fields[3].replace(b".", b"", 1).strip(b"0")
    )


def _is_coded(fields: Sequence[bytes]) -> bool:
    """Return whether a line is one of Cranfield."""
    return len(fields) == 3 and _are_numbers(fields[:2]) and fields[2] in CODES


def _is_list(fields: Sequence[bytes]) -> bool:
    """Return whether a line is one of TIME: the documents rise."""
    return len(fields) > 1 and _are_numbers(fields) and _rise(map(int, fields[1:]))


def _rise(numbers: Iterable[int]) -> bool:
    found = list(numbers)
    return all(low < high for low, high in pairwise(found))


PAIRS = Layout(LISTED, _is_pair, lambda fields: [(fields[1], 1.0)])
CODED_PAIRS = Layout(CODED, _is_coded, lambda fields: [(fields[1], CODES[fields[2]])])
LISTS = Layout(LISTED, _is_list, lambda fields: [(document, 1.0) for document in fields[1:]])
LAYOUTS = (PAIRS, CODED_PAIRS, LISTS)


def layout_of(head: bytes) -> Layout | None:
    r"""Return the layout that all lines of a text have; None is another format.

    >>> layout_of(b"1 28 0 0.000000\n1 35 0 0.000000\n").says
    'read as SMART relevance (listed documents are relevant)'
    >>> layout_of(b"1 0 28 1\n") is None
    True
    """
    first = plain.fields_of(first_line(head))
    for layout in LAYOUTS:
        if layout.fits(first):
            lines = [fields for _, fields in _lines(head[: head.rfind(b"\n") + 1] or head)]
            if all(map(layout.fits, lines)) and _is_typical(layout, lines, head):
                return layout
    return None


def _is_typical(layout: Layout, lines: Sequence[Sequence[bytes]], head: bytes) -> bool:
    """Return whether lines that fit a layout are no table of ranks or of equally many columns."""
    if layout is LISTS:
        return _rise(int(fields[0]) for fields in lines) and len(set(map(len, lines))) > 1
    codes = [fields[2] for fields in lines if fields[0] == lines[0][0]]
    ranks = len(codes) > 1 and codes == [b"%d" % rank for rank in range(1, len(codes) + 1)]
    return layout is PAIRS or not (ranks or b"\t" in head)


def records(source: Opened, *_: object) -> Records:
    """Return the judgments of a relevance file; a number such as `01` is the id `1` of the query file."""
    window = source.text
    text = window.text[: window.end].tobytes()
    first = plain.fields_of(first_line(text))
    layout = layout_of(text[: 1 << 20]) or next(one for one in LAYOUTS if one.fits(first))
    rows = [
        (line, str(int(fields[0])), str(int(document)), grade, None)
        for line, fields in _checked(_lines(text), layout, window.path)
        for document, grade in layout.documents(fields)
    ]
    remarks = (*about_remarks(plain.after_remarks(text)[1]), ("smart_relevance", layout.says, len(rows)))
    return Records(rows, path=window.path, unit="line", remarks=remarks)


def _lines(text: bytes) -> Iterator[tuple[int, list[bytes]]]:
    return ((line, plain.fields_of(raw)) for line, raw in plain.data_lines(text))


def _checked(lines: Lines, layout: Layout, path: str) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the lines; refuse one of another layout, and a query of TIME that is out of order."""
    last = 0
    for line, fields in lines:
        if not layout.fits(fields):
            found = b" ".join(fields)[:40].decode("utf-8", "replace")
            raise InputError(
                f"'{found}' does not have the format of the lines above",
                path=path,
                line=line,
                hint="leadline reads this file as judgments in SMART format. Correct this line",
            )
        if layout is LISTS and int(fields[0]) <= last:
            raise InputError(
                f"query {int(fields[0])} is repeated or out of order",
                path=path,
                line=line,
                hint="leadline reads this file as judgments in SMART format, in which query numbers must "
                "increase from line to line",
            )
        last = int(fields[0])
        yield line, fields
