"""Line-by-line readers of TREC files in plain Python, which also produce the error messages."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from leadline.errors import InputError, repeated

RUN_COLUMNS = "A line of a run has 6 columns (query Q0 document rank score tag)"
QRELS_COLUMNS = "A line of qrels has 4 columns (query iteration document grade)"
NUL = "the line contains a NUL byte, so the file is binary or not in UTF-8"
SPLITTING = (b"\x0b", b"\x0c")  # at these `bytes.split` parts words too
FIELD = re.compile(rb"[^ \t\r\n]+")
REMARKS = rb"(?:#(?:[ \t][^\n]*|\r?)(?:\n|\Z)|[ \t\r]*\n)+"  # and empty lines
NUMBER = rb"[-+.0-9][-+.0-9eE]*"
WHOLE = rb"[-+]?[0-9]+"
RANK = WHOLE + rb"(?:\.0*)?"
BOTH = (
    "Most commands that take both as arguments expect the qrels first (QRELS RUN...), but `leadline "
    "replicate` expects them last"
)
A_RUN = (
    f"This looks like a run, but qrels are needed here. {BOTH}. If you have no qrels, `leadline unjudged "
    "RUN RUN...` ranks two or more runs"
)
QRELS = (
    f"This looks like qrels, but a run is needed here. {BOTH}. To find unjudged documents, use `leadline "
    "pool RUN... --depth K --judged QRELS -o POOL`, or `leadline evaluate QRELS RUN... -m Judged@10` for the "
    "share that is judged"
)
FEATURES = "This looks like learning-to-rank features. If Quepid wrote them, export CSV or TREC files instead"
TEXTS = (
    "If these are texts of documents or queries, use `leadline index DOCUMENTS -o INDEX`, then `leadline "
    "search INDEX QUERIES -o RUN`"
)
RANKING = (
    "If the 4 columns are query, document, rank and score, use `--config "
    "read.columns=query_id,doc_id,rank,score`"
)
BY_RANK = "To order the documents by the rank column, add `--config read.order=rank`"
PARTED = "An id that contains a space is split into several columns. Use CSV or JSON for such ids"


class ParsedRows(NamedTuple):
    """Rows of some lines: columns by row, and where each list (one query) begins."""

    queries: list[bytes]
    bounds: list[int]
    documents: list[bytes]
    values: list[float]
    ranks: list[int]
    lines: list[int]
    extra: int
    tag: bytes
    dropped: int
    next_line: int
    next_byte: int
    remarks: int = 0


def fields_of(line: bytes) -> list[bytes]:
    r"""Return the columns of a line: between blanks and tabs; other control characters are part of an id.

    >>> fields_of(b"q1 0\td\x0b1 1\r")
    [b'q1', b'0', b'd\x0b1', b'1']
    """
    return splitter_of(line)(line)


def splitter_of(text: bytes) -> Callable[[bytes], list[bytes]]:
    """Return the function that splits the lines of a text into columns."""
    return FIELD.findall if any(byte in text for byte in SPLITTING) else bytes.split


def after_remarks(text: bytes) -> tuple[int, int]:
    r"""Return where the data of a text without a header begin, and how many remarks stand before.

    Remarks are lines at the top that begin with `#` and a blank, or are `#` alone.

    >>> after_remarks(b"# a\n\n#\n#q1 0 d1 1\n# 0 d1 1\n"), after_remarks(b"#a\n")
    ((7, 2), (0, 0))
    """
    found = re.match(REMARKS, text)
    head = found.group() if found else b""
    return len(head), head.count(b"#", 0, 1) + head.count(b"\n#")


def data_lines(text: bytes, line: int = 1) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of every line but empty ones and remarks; `line` is the number of the first."""
    begin = after_remarks(text)[0] if line == 1 else 0
    for number, raw in enumerate(text[begin:].split(b"\n"), start=line + text.count(b"\n", 0, begin)):
        if fields_of(raw):
            yield number, raw


def wrong_columns(fields: list[bytes], form: str, line: int) -> InputError:
    """Return the error for a line with too few or too many columns."""
    cause = about_remarks(fields) or other_kind(fields, run=form == RUN_COLUMNS)
    found = f"the line has {len(fields)} column{'s' * (len(fields) != 1)}"
    return InputError(found, line=line, hint=f"{form}. {cause}" if cause else form, code="columns")


def shown(field: bytes) -> str:
    """Return a field for a message, truncated to a readable length."""
    text = field.decode("utf-8", "backslashreplace")
    return f"'{text[:40]}...'" if len(text) > 40 else f"'{text}'"


def number(field: bytes, name: str, line: int) -> float:
    """Parse a number in any notation that Python accepts; NaN is returned as NaN."""
    try:
        if b"_" in field:
            raise ValueError
        return float(field)
    except ValueError:
        raise InputError(f"{name} {shown(field)} is not a number", line=line, code=name) from None


def grade(field: bytes, line: int) -> float:
    """Parse a grade: a finite number."""
    value = number(field, "grade", line)
    if not math.isfinite(value):
        raise InputError(f"grade {shown(field)} is not a finite number", line=line, code="grade")
    return value


def score(field: bytes, line: int) -> float:
    """Parse a score; NaN is returned as NaN."""
    return number(field, "score", line)


def value_of(parse: Callable[[bytes, int], float], fields: list[bytes], place: int, line: int) -> float:
    """Parse the number of a line; say what remarks are if the line may be meant as one."""
    try:
        return parse(fields[place], line)
    except InputError as error:
        ranked = BY_RANK if parse is score and fields[3].isdigit() else ""
        error.hint = error.hint or about_remarks(fields) or ranked
        raise


def rank_of(field: bytes, *, decimal: bool = False) -> int:
    """Parse a rank; -1 if the column holds something else. `decimal` also accepts 1.0."""
    if decimal and not field.isdigit():
        field = re.sub(rb"(?<=[0-9])\.0*\Z", b"", field)
    return int(field) if field.isdigit() and len(field) < 10 else -1


def wrong_rank(field: bytes) -> str:
    """Return what is wrong with a rank."""
    return "has more than nine digits" if field.isdigit() else "is not a whole number of at least 0"


def check_text(raw: bytes, line: int) -> None:
    """Raise an error for bytes that indicate another kind of file."""
    if b"\0" in raw:
        raise InputError(NUL, line=line, code="nul")
    if b"\r" in raw.removesuffix(b"\r"):
        raise InputError(
            "the line contains a carriage return",
            line=line,
            hint="Lines must end in LF or CRLF",
            code="carriage_return",
        )


def scan_run(
    text: bytes, line: int, last: bool, *, by_rank: bool = False, drop_nan: bool = False
) -> ParsedRows:
    """Read whole lines of a run; `by_rank` computes scores from the rank column.

    Unless the text is the last chunk, its last list may be incomplete and is excluded.
    """
    queries: list[bytes] = []
    bounds: list[int] = []
    documents: list[bytes] = []
    values: list[float] = []
    ranks: list[int] = []
    lines: list[int] = []
    extra = dropped = byte = remarks = 0
    begun = (line, 0, 0, 0)  # line, byte, extra, dropped where the last list begins
    tag = query = b""
    strange = b"\0" in text or b"\r" in text
    split = splitter_of(text)
    if line == 1:
        byte, remarks = after_remarks(text)
        line += text.count(b"\n", 0, byte)
    for line_number, raw in enumerate(text[byte:].split(b"\n"), start=line):
        start, byte = byte, byte + len(raw) + 1
        if strange:
            check_text(raw, line_number)
        fields = split(raw)
        if len(fields) != 6:
            if not fields:
                continue
            if len(fields) < (4 if by_rank else 6):
                raise wrong_columns(fields, RUN_COLUMNS, line_number)
            if is_parted(fields):
                found = f"the line has {len(fields)} columns, and the rank is in column 5 instead of column 4"
                hint = f"{RUN_COLUMNS}. {about_remarks(fields) or PARTED}"
                raise InputError(found, line=line_number, hint=hint, code="columns")
        if fields[0] != query or not queries:
            query = fields[0]
            queries.append(query)
            bounds.append(len(documents))
            begun = (line_number, start, extra, dropped)
        extra += len(fields) > 6
        rank = rank_of(fields[3], decimal=by_rank)
        if by_rank:
            if rank < 0:
                found = f"rank {shown(fields[3])} {wrong_rank(fields[3])}"
                raise InputError(found, line=line_number, code="rank")
            value = float(-rank)
        else:
            value = value_of(score, fields, 4, line_number)
            if math.isnan(value):
                if not drop_nan:
                    raise InputError(
                        f"score {shown(fields[4])} of document {shown(fields[2])} is not a number",
                        line=line_number,
                        hint="To leave out such lines, add `--config read.on_nan=drop`",
                        code="nan",
                    )
                dropped += 1
                continue
        documents.append(fields[2])
        values.append(value)
        ranks.append(rank)
        lines.append(line_number)
        if len(fields) > 5:
            tag = fields[5]
    if not last:
        line_number, byte, extra, dropped = begun
        remarks = remarks if queries else 0  # they are read again
        size = bounds.pop() if queries else 0
        del queries[-1:], documents[size:], values[size:], ranks[size:], lines[size:]
    bounds.append(len(documents))
    filled = [place for place, (low, high) in enumerate(pairwise(bounds)) if low < high]
    queries = [queries[place] for place in filled]  # without those of which every score is NaN
    bounds = [0, *(bounds[place + 1] for place in filled)]
    return ParsedRows(
        queries, bounds, documents, values, ranks, lines, extra, tag, dropped, line_number, byte, remarks
    )


def is_parted(fields: list[bytes]) -> bool:
    """Return whether an id with a blank has moved the rank and the score by one column or more.

    >>> is_parted(b"q1 Q0 doc A 1 0.5 t".split()), is_parted(b"q1 Q0 d1 1 0.5 my tag".split())
    (True, False)
    >>> is_parted(b"q1 Q0 doc 7 1 0.5 t".split()), is_parted(b"q1 Q0 d1 1.0 12 my tag".split())
    (True, False)
    """
    if len(fields) < 7 or not re.fullmatch(WHOLE, fields[4]):
        return False
    return not re.fullmatch(RANK, fields[3]) or bool(re.fullmatch(NUMBER, fields[5]))


def scan_qrels(text: bytes, line: int) -> ParsedRows:
    """Read whole lines of qrels."""
    queries: list[bytes] = []
    bounds: list[int] = []
    documents: list[bytes] = []
    values: list[float] = []
    lines: list[int] = []
    query = b""
    for line_number, fields in qrels_fields(text, line):
        value = value_of(grade, fields, 3, line_number)
        if fields[0] != query or not queries:
            query = fields[0]
            queries.append(query)
            bounds.append(len(documents))
        documents.append(fields[2])
        values.append(value)
        lines.append(line_number)
    bounds.append(len(documents))
    remarks = after_remarks(text)[1] if line == 1 else 0
    return ParsedRows(queries, bounds, documents, values, [], lines, 0, b"", 0, 0, len(text), remarks)


def scan_subtopics(text: bytes, line: int) -> dict[tuple[bytes, bytes], dict[bytes, float]]:
    """Read whole lines of qrels whose second column is a subtopic: grades by (query, document)."""
    grades: dict[tuple[bytes, bytes], dict[bytes, float]] = {}
    first: dict[tuple[bytes, ...], int] = {}
    for line_number, fields in qrels_fields(text, line):
        query, subtopic, document, value = fields
        earlier = first.setdefault((query, subtopic, document), line_number)
        if earlier != line_number:
            of = f"subtopic {shown(subtopic)} of query {shown(query)}"
            raise repeated(
                f"document {shown(document)}",
                verb="is judged",
                of=of,
                first=f"line {earlier}",
                line=line_number,
            )
        grades.setdefault((query, document), {})[subtopic] = grade(value, line_number)
    return grades


def qrels_fields(text: bytes, line: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the four fields of every line of qrels with its line number."""
    strange = b"\0" in text or b"\r" in text
    split = splitter_of(text)
    begin = after_remarks(text)[0] if line == 1 else 0
    for line_number, raw in enumerate(text[begin:].split(b"\n"), start=line + text.count(b"\n", 0, begin)):
        if strange:
            check_text(raw, line_number)
        fields = split(raw)
        if not fields:
            continue
        if len(fields) != 4:
            raise wrong_columns(fields, QRELS_COLUMNS, line_number)
        yield line_number, fields


def other_kind(fields: list[bytes], *, run: bool) -> str:
    """Return a hint at what an invalid line of a run or of qrels may be."""
    with_q0 = len(fields) > 1 and fields[1].upper() == b"Q0"
    tagged = fields[0].startswith(b"<")  # XML, TREC topics or TREC documents
    if tagged or (len(fields) > 1 and fields[1].startswith(b"qid:")):
        return TEXTS if tagged else FEATURES
    if not run and (len(fields) >= 6 or (len(fields) == 5 and with_q0)) and fields[3].isdigit():
        return A_RUN
    if len(fields) == 5 and not with_q0 and re.fullmatch(WHOLE, fields[4]):
        return PARTED
    if len(fields) == 5 and run:
        return "If the tag is missing, add the name of the run as column 6"
    if len(fields) == 4 and not with_q0 and re.fullmatch(NUMBER, fields[3]):
        whole = re.fullmatch(WHOLE, fields[3]) and fields[1].isdigit()
        ranking = fields[2].isdigit() and not whole
        return RANKING if ranking else QRELS
    return "This looks like CSV" if len(fields) == 1 and b"," in fields[0] else ""


def about_remarks(fields: list[bytes]) -> str:
    """Return a hint at a line that may be meant as a remark."""
    if not fields[0].startswith(b"#"):
        return ""
    return "Comments begin with '# ' and belong at the top of the file"
