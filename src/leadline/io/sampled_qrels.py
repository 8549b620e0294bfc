"""TREC qrels of five columns: judgments of a sample of the pool, with strata or inclusion probabilities.

Three forms are in use. Stratified samples (NIST's sample_eval; clinical decision support, TRECVID): `query
iteration document stratum grade`, grade -1 where a pooled document was not judged. Million Query track
("prels"): `query document grade method probability`. Legal track: `query iteration document grade
probability`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

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

COLUMNS = (
    "Sampled judgments have 5 columns ('query iteration document stratum grade', 'query document grade "
    "method probability' or 'query iteration document grade probability')"
)
FIELDS = 5
STRATIFIED = (
    "leadline reads lines with 5 columns as sampled judgments (query iteration document stratum grade). For "
    "ordinary qrels with a space in an id, use CSV or JSON"
)
PREFERENCES = "Preference judgments for trec_eval (query group subgroup document level) are not supported"


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


def read(source: Opened, subtopics: bool) -> QrelsColumns:
    """Read judgments of a sample."""
    path, window = source.path, source.text
    if subtopics:
        raise InputError(
            "contains sampled judgments, but --config read.subtopics needs judgments by subtopic, in "
            "4 columns",
            path=path,
            hint="Leave out --config read.subtopics or pass another file",
        )
    text = window.text[: window.end].tobytes()
    rows = parse(text, path)
    qrels = QrelsColumns.of([(row.query, row.document, row.grade) for row in rows], source=path)
    names = list(qrels.queries)
    pairs = [
        (names[code], to_text(document))
        for code, document in zip(qrels.query.tolist(), qrels.documents, strict=True)
    ]
    unjudged = int(np.count_nonzero(qrels.grades < 0))
    if rows[0].stratum is None:
        shares: dict[str, dict[str, float]] = {}
        for row in rows:
            if not math.isnan(row.probability):
                shares.setdefault(to_text(row.query), {})[to_text(row.document)] = row.probability
        qrels = qrels.with_inclusion(shares)
    else:
        of_pair = {(to_text(row.query), to_text(row.document)): row.stratum for row in rows}
        labels = {label: code for code, label in enumerate(sorted({row.stratum or b"" for row in rows}))}
        qrels.strata = np.array([labels[of_pair[pair] or b""] for pair in pairs], dtype=np.int32)
        words = (
            f"unjudged documents in a stratified sample: {unjudged:,} of {len(rows):,} (xinfAP, infNDCG and "
            "statAP make estimates from such a sample)"
        )
        qrels.remarks = (("sampled_judgments", words, len(rows)),)
    qrels.remarks = (*about_remarks(plain.after_remarks(text)[1]), *qrels.remarks)
    return qrels


def records(source: Opened, *_: object) -> Records:
    """Return the judgments of a sample as rows, for programs that check or convert them."""
    window = source.text
    rows = parse(window.text[: window.end].tobytes(), window.path)
    more = "probability" if rows[0].stratum is None else "stratum"
    return Records(
        ((row.line, to_text(row.query), to_text(row.document), row.grade, None) for row in rows),
        path=window.path,
        unit="line",
        names=("query_id", "doc_id", "relevance", more),
    )


def parse(text: bytes, path: str) -> list[SampledRow]:
    """Read judgments of five columns."""
    rows: list[tuple[int, list[bytes]]] = []
    for line_number, line in plain.data_lines(text):
        fields = plain.fields_of(line)
        if len(fields) != FIELDS:
            found = f"the line has {counted(len(fields), 'column')}"
            raise InputError(found, path=path, line=line_number, hint=COLUMNS, code="columns")
        rows.append((line_number, fields))
    if not rows:
        raise InputError("contains no judgments", path=path, hint=COLUMNS)
    if all(_is_whole(fields[4]) for _, fields in rows):
        return [_stratified(fields, path, line) for line, fields in rows]
    seconds = {fields[1] for _, fields in rows}  # documents, or an iteration, which is the same in all lines
    iteration = seconds == {b"0"} or len(seconds) == 1 < len(rows)
    if not iteration and all(_is_whole(fields[2]) and _is_whole(fields[3]) for _, fields in rows):
        return [_with_probability(fields, 1, 2, path, line) for line, fields in rows]
    other = next(((line, fields) for line, fields in rows if not is_number(fields[3])), None)
    if other is not None:
        raise InputError(
            f"column 4 has the unexpected value '{to_text(other[1][3])}'",
            path=path,
            line=other[0],
            hint=f"{COLUMNS}. {PREFERENCES}",
        )
    return [_with_probability(fields, 2, 3, path, line) for line, fields in rows]


def _is_whole(field: bytes) -> bool:
    return field.lstrip(b"-+").isdigit()


def _stratified(fields: Sequence[bytes], path: str, line: int) -> SampledRow:
    query, _, document, stratum, _ = fields
    if not stratum.isdigit():
        raise InputError(
            f"stratum '{to_text(stratum)}' of document '{to_text(document)}' is not a whole number",
            path=path,
            line=line,
            hint=f"{STRATIFIED}. {PREFERENCES}",
        )
    return SampledRow(line, query, document, _number(fields[4], "grade", path, line), stratum, math.nan)


def _with_probability(fields: Sequence[bytes], document: int, grade: int, path: str, line: int) -> SampledRow:
    value = _number(fields[4], "column 5 value", path, line)
    if value > 1:
        raise InputError(
            f"column 5 is read as an inclusion probability, but its value, "
            f"{fields[4].decode(errors='replace')}, is greater than 1",
            path=path,
            line=line,
        )
    # Documents that another method chose have 0, -1 or NaN: their probability is unknown.
    return SampledRow(
        line,
        fields[0],
        fields[document],
        _number(fields[grade], "grade", path, line),
        None,
        value if value > 0 else math.nan,
    )


def _number(field: bytes, what: str, path: str, line: int) -> float:
    number = number_in(field)
    if number is None:
        raise InputError(f"{what} '{field.decode(errors='replace')}' is not a number", path=path, line=line)
    return number
