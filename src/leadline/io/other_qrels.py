"""Judgments in text that are not TREC qrels of four columns: samples of the pool, and SMART relevance files.

Samples have five columns, with strata or inclusion probabilities, in one of three forms. Stratified samples
(NIST's sample_eval; clinical decision support, TRECVID): `query iteration document stratum grade`, grade -1
where a pooled document was not judged. Million Query track ("prels"): `query document grade method
probability`. Legal track: `query iteration document grade probability`.

SMART collections, of which that of MED is TREC text. CISI and CACM: `query document 0 0`, every listed
document is relevant. TIME: a query and its relevant documents per line. Cranfield: `query document code`,
where code 1 is best, 4 worst, and 5 or -1 not relevant; its queries are numbered by their place in the query
file, whose own numbers have gaps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from leadline.data.arrays import freeze
from leadline.data.ids import to_text
from leadline.data.qrels import QrelsColumns
from leadline.data.wording import counted
from leadline.errors import InputError
from leadline.io.row_columns import Records
from leadline.io.score_cells import number_in
from leadline.io.trec_lists import about_remarks, first_line, is_number
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.io.formats import Opened

PREFERENCES = "Preference judgments for trec_eval (query group subgroup document level) are not supported"
COLUMNS = (
    "Sampled judgments have 5 columns ('query iteration document stratum grade', 'query document grade "
    f"method probability' or 'query iteration document grade probability'). {PREFERENCES}"
)
FIELDS = 5
STRATIFIED = (
    "leadline reads lines with 5 columns as sampled judgments (query iteration document stratum grade). For "
    f"ordinary qrels with a space in an id, use CSV or JSON. {PREFERENCES}"
)


class SampledRow(NamedTuple):
    """One judgment: a stratum, or an inclusion probability (NaN where it is unknown), not both."""

    line: int
    query: bytes
    document: bytes
    grade: float
    stratum: bytes | None
    probability: float


def is_sample(head: bytes) -> bool:
    r"""Return whether the first line with any text is one of these forms, and not of a run without its tag.

    >>> is_sample(b"1 0 d1 2 -1\n"), is_sample(b"1 Q0 d1 2 0.5\n"), is_sample(b"1 0 d1 2 tag\n")
    (True, False, False)
    """
    fields = plain.fields_of(first_line(head))
    return len(fields) == FIELDS and fields[1].upper() != b"Q0" and is_number(fields[4])


def read_sample(source: Opened, subtopics: bool) -> QrelsColumns:
    """Read judgments of a sample."""
    path, window = source.path, source.text
    if subtopics:
        raise InputError(
            "contains sampled judgments, but --config read.subtopics needs judgments by subtopic, in "
            "4 columns",
            path=path,
            hint="Leave out --config read.subtopics or pass another file",
        )
    text = window.content()
    rows = sorted(parse(text, path), key=attrgetter("query"))  # in the order of the judgments below
    qrels = QrelsColumns.of([(row.query, row.document, row.grade) for row in rows], source=path)
    if rows[0].stratum is None:
        qrels.inclusion = np.array([row.probability for row in rows], dtype=np.float64)
        freeze(qrels.inclusion)
    else:
        strata = [row.stratum or b"" for row in rows]
        labels = {label: code for code, label in enumerate(sorted(set(strata)))}
        qrels.strata = np.array([labels[label] for label in strata], dtype=np.int32)
        unjudged = int(np.count_nonzero(qrels.grades < 0))
        words = (
            f"unjudged documents in a stratified sample: {unjudged:,} of {len(rows):,} (xinfAP, infNDCG and "
            "statAP make estimates from such a sample)"
        )
        qrels.remarks = (("sampled_judgments", words, len(rows)),)
    qrels.remarks = (*about_remarks(plain.after_remarks(text)[1]), *qrels.remarks)
    return qrels


def sample_records(source: Opened, *_: object) -> Records:
    """Return the judgments of a sample as rows, for programs that check or convert them."""
    window = source.text
    rows = parse(window.content(), window.path)
    more = "probability" if rows[0].stratum is None else "stratum"
    return Records(
        ((row.line, to_text(row.query), to_text(row.document), row.grade, None) for row in rows),
        path=window.path,
        unit="line",
        names=("query_id", "doc_id", "relevance", more),
    )


def parse(text: bytes, path: str) -> list[SampledRow]:
    """Read judgments of five columns."""
    rows = list(_lines(text))
    for line, fields in rows:
        if len(fields) != FIELDS:
            found = f"the line has {counted(len(fields), 'column')}"
            raise InputError(found, path=path, line=line, hint=COLUMNS, code="columns")
    if not rows:
        raise InputError("contains no judgments", path=path, hint=COLUMNS)
    if all(_is_whole(fields[4]) for _, fields in rows):
        return [_stratified(fields, path, line) for line, fields in rows]
    seconds = {fields[1] for _, fields in rows}  # documents, or an iteration, which is the same in all lines
    iteration = seconds == {b"0"} or len(seconds) == 1 < len(rows)
    if not iteration and all(_is_whole(fields[2]) and _is_whole(fields[3]) for _, fields in rows):
        return [_with_probability(fields, 1, 2, path, line) for line, fields in rows]
    return [_with_probability(fields, 2, 3, path, line) for line, fields in rows]


def _is_whole(field: bytes) -> bool:
    return field.lstrip(b"-+").isdigit()


def _stratified(fields: Sequence[bytes], path: str, line: int) -> SampledRow:
    query, _, document, stratum, _ = fields
    if not stratum.isdigit():
        raise InputError(
            f"stratum '{to_text(stratum)}' of document '{to_text(document)}' is not a whole number of at "
            "least 0",
            path=path,
            line=line,
            hint=STRATIFIED,
        )
    return SampledRow(line, query, document, _number(fields[4], "the grade", path, line), stratum, math.nan)


def _with_probability(fields: Sequence[bytes], document: int, grade: int, path: str, line: int) -> SampledRow:
    value = _number(fields[4], "column 5", path, line)
    if value > 1:
        raise InputError(
            f"column 5 is read as an inclusion probability, but its value, "
            f"{fields[4].decode(errors='replace')}, is greater than 1",
            path=path,
            line=line,
            hint=COLUMNS,
        )
    # Documents that another method chose have 0, -1 or NaN: their probability is unknown.
    return SampledRow(
        line,
        fields[0],
        fields[document],
        _number(fields[grade], f"column {grade + 1}", path, line),
        None,
        value if value > 0 else math.nan,
    )


def _number(field: bytes, what: str, path: str, line: int) -> float:
    number = number_in(field)
    if number is None:
        found = f"{what} must be a number, not '{field.decode(errors='replace')}'"
        raise InputError(found, path=path, line=line, hint=COLUMNS)
    return number


Lines = Iterable[tuple[int, list[bytes]]]
CODES = {b"1": 4.0, b"2": 3.0, b"3": 2.0, b"4": 1.0, b"5": 0.0, b"-1": 0.0}
LISTED = "qrels read as SMART relevance judgments (listed documents are relevant)"
CODED = (
    "qrels read as SMART relevance judgments in the Cranfield format. Codes 1 (best) to 4 become grades 4 to "
    "1, and 5 and -1 become grade 0. Query ids are positions in the query file (for `leadline search`, use "
    "`--config text.id_column=place`)"
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
    'qrels read as SMART relevance judgments (listed documents are relevant)'
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


def smart_records(source: Opened, *_: object) -> Records:
    """Return the judgments of a relevance file; a number such as `01` is the id `1` of the query file."""
    window = source.text
    text = window.content()
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
        if not layout.fits(fields) or (layout is LISTS and int(fields[0]) <= last):
            found = b" ".join(fields)[:40].decode("utf-8", "replace")
            order = (
                ", in which query numbers must increase from line to line, and document numbers within a line"
            )
            order *= layout is LISTS
            raise InputError(
                f"'{found}' does not have the format of the lines above",
                path=path,
                line=line,
                hint=f"leadline reads this file as judgments in SMART format{order}. Correct this line",
            )
        last = int(fields[0])
        yield line, fields
