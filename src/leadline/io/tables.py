"""Runs and qrels as tables: CSV and TSV, with and without a header, Parquet and Arrow; writers of JSON."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, groupby, islice, repeat
from math import isfinite
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from leadline.data.arrays import bytes_of
from leadline.data.optional import import_optional
from leadline.data.qrels import QrelsColumns
from leadline.data.run import RunColumns
from leadline.data.table import MACHINE_LABELS
from leadline.data.wording import counted
from leadline.errors import InputError, refuse_repeated
from leadline.io import python_inputs, row_checks, row_columns
from leadline.io.columns import csv_scan
from leadline.io.opening import ARROW, HEAD, STREAM, Chunk, open_raw
from leadline.io.read_paths import Watch
from leadline.io.row_columns import Records, Table
from leadline.io.score_cells import number_in
from leadline.io.small_tables import FIELD, cells_of, delimiter_of, refuse_ragged
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.io.formats import Opened

CELL = r'(?:\A|,)(?:"((?:[^"]|"")*)"(?=,|\Z)|([^,]*))'  # in quotation marks, or not
BLOCK_ROWS = 1 << 16  # number of rows written at a time
NO_DOCUMENTS = {"Doc ID", "Doc Position"}  # columns missing in Quepid's rows of queries without documents
RUN_COLUMNS = ("query_id", "doc_id", "score")
QRELS_COLUMNS = ("query_id", "doc_id", "relevance")


class OutputTable(NamedTuple):
    """Rows by query, best first in a run; `suffix` is that of the output file.

    Qrels may have more columns: the subtopic, the probability to be judged. `header` are comments before the
    rows of TREC text and CSV, `empty` the queries for which a run states that nothing was found. `machine`
    are the automatic judges of qrels.
    """

    columns: tuple[str, ...]
    rows: Collection[tuple[Any, ...]]
    suffix: str = ""
    tag: str = ""
    header: bytes = b""
    empty: tuple[str, ...] = ()
    machine: str = ""

    def marked(self, form: str) -> OutputTable:
        """Return the table with the mark of automatic judges that a format has a place for, or refuse."""
        if not self.machine or row_columns.JUDGE[0] in self.columns:
            return self
        if form in {"trec", "csv"}:
            return self._replace(header=f"{row_columns.MACHINE_LINE} {self.machine}\n".encode())
        if form in {"jsonl", "parquet"}:
            rows = [(*row, f"machine: {self.machine}") for row in self.rows]
            return self._replace(columns=(*self.columns, row_columns.JUDGE[0]), rows=rows)
        raise InputError(
            f"the {form} format cannot store the names of automatic judges ({self.machine})",
            hint="Save the file as .csv, .jsonl, .parquet or TREC text instead",
        )


def table_of_run(run: RunColumns) -> OutputTable:
    """Return a run as an output table."""
    empty = tuple(run.queries[code] for code in np.flatnonzero(np.diff(run.offsets) == 0).tolist())
    return OutputTable(RUN_COLUMNS, _RunRows(run), tag=run.tag or run.name, empty=empty)


class _RunRows(Collection[tuple[Any, ...]]):
    """Rows of a run, of which those of some queries at a time are in memory."""

    def __init__(self, run: RunColumns) -> None:
        self.run = run

    def __len__(self) -> int:
        return len(self.run.scores)

    def __contains__(self, row: object) -> bool:
        return row in list(self)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        run = self.run
        names, low = list(run.queries), 0
        while low < len(names):
            least = run.offsets[low] + BLOCK_ROWS
            high = max(low + 1, min(len(names), int(np.searchsorted(run.offsets, least, side="right")) - 1))
            rows = np.arange(run.offsets[low], run.offsets[high])
            sizes = np.diff(run.offsets[low : high + 1]).tolist()
            queries = chain.from_iterable(map(repeat, names[low:high], sizes))
            yield from zip(queries, run.ids.take(rows).texts(), run.scores[rows].tolist(), strict=True)
            low = high


def table_of_qrels(qrels: QrelsColumns) -> OutputTable:
    """Return qrels as an output table; whole grades are integers."""
    qrels.refuse_part_judged()
    made = _judgments(qrels)._replace(machine=machine_of(qrels.remarks))
    shares = qrels.inclusion_probabilities()
    if shares is None:
        return made
    rows = [(*row, shares[row[0]].get(row[1])) for row in made.rows]
    return made._replace(columns=(*made.columns, "probability"), rows=rows)


def machine_of(remarks: Iterable[tuple[str, str, int]]) -> str:
    """Return the automatic judges that a remark on judgments names; empty without one."""
    said = next((words for code, words, _ in remarks if code == MACHINE_LABELS), "")
    names = said.partition("(")[2].partition(")")[0].removeprefix("machine").lstrip(": ")
    return said and (names or "unknown")


def _judgments(qrels: QrelsColumns) -> OutputTable:
    rows: list[tuple[Any, ...]]
    by_subtopic = qrels.by_subtopic()
    if by_subtopic is not None:
        rows = [
            (query, document, grade, subtopic)
            for query, found in by_subtopic.items()
            for subtopic, documents in found.items()
            for document, grade in documents.items()
        ]
        return OutputTable((*QRELS_COLUMNS, "subtopic"), rows)
    judged = qrels.to_dict().items()
    rows = [(query, document, grade) for query, grades in judged for document, grade in grades.items()]
    return OutputTable(QRELS_COLUMNS, rows)


def table_of_csv(source: Opened, *_: object) -> Table:
    """Return the table in a CSV or TSV text."""
    path = source.path

    def rows(window: Chunk) -> Iterator[tuple[int, list[str]]]:
        return cells_of(enumerate(_text_lines(window), start=1), path)

    head = source.head or source.text
    place, header = next(rows(head), None) or next(rows(source.text), (1, []))
    first = next(byte_lines(head), b"").decode("utf-8", "surrogateescape")

    def cells(chosen: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
        places = [header.index(name) if name else -1 for name in chosen]
        for line, row in islice(rows(source.text), 1, None):
            if {*header[len(row) :]} >= NO_DOCUMENTS:
                row.extend([""] * (len(header) - len(row)))
            refuse_ragged(row, header, path, line)
            yield line, [row[place] if place >= 0 else None for place in places]

    headed = first.strip("\r\n") and not first.startswith("#")
    scan = csv_scan(source, header, delimiter_of(first)) if headed else None
    return Table(header, cells, path, "line", place=place, text=True, scan=scan)


LETTERS = {"S": "3", "A": "2", "B": "1", "C": "0", "D": "0"}  # levels of relevance in collections of NTCIR
PRINTED = {"all", "num_q", "num_ret", "num_rel", "runid"}  # what trec_eval prints: means, lines
LETTER_LEVELS = ("letter_levels", "NTCIR levels: S is read as grade 3, A as 2, B as 1, C and D as 0")
NAMED = {
    "score": ", as in --config read.columns=query_id,{0}doc_id,{1}score{2}",
    "grade": ", as in --config read.qrels_columns=query_id,{3}doc_id,grade{4}",
}
# What fills {0} to {4} above, by the number of columns.
BESIDES = {4: ("", "rank,", "", "iteration,", ""), 6: ("q0,", "rank,", ",tag", "", ",other4,other5,other6")}


def refuse_headerless(source: Opened, what: str, *_: object) -> Records:
    """Refuse a table without a header, whose columns are to be named."""
    rows = list(_headerless_lines(source))
    line, first = rows[0]
    if len(first) == 3 and PRINTED & {cell.strip() for _, cells in rows for cell in cells[:2]}:
        found = "contains measure values, as printed by `trec_eval`"
        raise InputError(
            found,
            path=source.path,
            hint="Commands such as `leadline compare` can read the output of `trec_eval -q` if tabs or "
            "spaces separate the columns",
        )
    named = NAMED.get(what, " of a run{score}, or of judgments{grade}".format_map(NAMED))
    more = "".join(f",other{place}" for place in range(4, len(first) + 1))
    named = named.format(*BESIDES.get(len(first), ("", "", more, "", more)))
    raise InputError(
        f"has {counted(len(first), 'column')} but no header",
        hint=f"Add a header, or name all columns{named}",
        path=source.path,
        line=line,
    )


def named_rows(source: Opened, names: list[str], what: str = "score") -> Records:
    """Return the rows of a text without a header, whose columns have these names."""
    rows = list(_headerless_lines(source))
    numbers = [any(number_in(cell) is not None for cell in cells) for _, cells in rows[:2]]
    known = any(row_columns.is_header(cells) for _, cells in rows[:1])
    if numbers[:1] == [False] and (known or numbers[1:] == [True]):
        key = "columns" if what == "score" else "qrels_columns"
        found = f"the first line looks like a header ({', '.join(rows[0][1])})"
        use = "to use the header" if known else f"and rename the columns to {', '.join(names)}"
        hint = f"Leave out `--config read.{key}` {use}, or delete that line"
        hint = "Delete that line" if not known and rows[0][1] == names else hint
        raise InputError(found, path=source.path, line=rows[0][0], hint=hint)
    for line, cells in rows:
        if len(cells) != len(names):
            found = f"the line has {counted(len(cells), 'column')}"
            hint = f"Each line needs {len(names)} ({', '.join(names)})"
            raise InputError(found, path=source.path, line=line, hint=hint, code="columns")
    letters = 0
    if what == "grade" and names[-1:] and rows and all(is_level(cells[-1]) for _, cells in rows):
        letters = sum(cells[-1] in LETTERS for _, cells in rows)
        rows = [(line, [*cells[:-1], grade_of_level(cells[-1])]) for line, cells in rows]
    records = _under_names(rows, names, what, source)
    records.remarks = ((*LETTER_LEVELS, letters),) if letters else ()
    return records


def _under_names(rows: list[tuple[int, list[str]]], names: list[str], what: str, source: Opened) -> Records:
    """Return rows under the names of their columns; without scores the ranks order the documents."""
    rank = row_columns.find(names, (*row_columns.RANK, *row_columns.PLACE))
    if rank is not None and row_columns.find(names, row_columns.SCORE) is None:
        place = names.index(rank)
        names = [*names, "score"]
        rows = [(line, [*cells, f"-{cells[place]}"]) for line, cells in rows]

    def cells_of_rows(chosen: Sequence[str]) -> Iterator[tuple[int, Sequence[Any]]]:
        places = [names.index(name) if name else -1 for name in chosen]
        for line, cells in rows:
            yield line, [cells[place] if place >= 0 else None for place in places]

    table = Table(names, cells_of_rows, source.path, "line", place=1, text=True)
    records = row_checks.table_records(table, what)
    records.comments = plain.after_remarks(source.text.content())[1]
    return records


def headerless_cells(line: str) -> list[str]:
    r"""Return the cells of a line, without quotation marks: at tabs, else at commas, else at blanks.

    >>> headerless_cells("q1\td1\t1"), headerless_cells('q1,"d,1",0.5'), headerless_cells("q1  d1  L2")
    (['q1', 'd1', '1'], ['q1', 'd,1', '0.5'], ['q1', 'd1', 'L2'])
    """
    delimiter = next((sign for sign in "\t," if sign in line), None)
    if delimiter is None:
        return FIELD.findall(line)
    line = line.strip("\r\n")
    if '"' not in line:
        return line.split(delimiter)
    cells = re.findall(CELL.replace(",", delimiter), line)
    return [cell or quoted.replace('""', '"') for quoted, cell in cells]


def _headerless_lines(source: Opened) -> Iterator[tuple[int, list[str]]]:
    for number, raw in plain.data_lines(source.text.content()):
        yield number, headerless_cells(raw.decode("utf-8", "surrogateescape"))


def is_level(cell: str) -> bool:
    """Return whether a cell is a level of relevance in a collection of NTCIR: L0, L1, ..., or S, A, B, C, D.

    >>> is_level("L2"), is_level("S"), is_level("2")
    (True, True, False)
    """
    return cell in LETTERS or (cell[:1] == "L" and cell[1:].isdecimal())


def grade_of_level(cell: str) -> str:
    """Return the grade that a level is read as.

    >>> grade_of_level("L2"), grade_of_level("A")
    ('2', '2')
    """
    return LETTERS.get(cell) or cell[1:]


def byte_lines(window: Chunk) -> Iterator[bytes]:
    """Yield the lines of a text without their ends; the text is not copied as a whole."""
    begin, size = 0, 1 << 16
    while begin < window.end:
        block = window.text[begin : min(begin + size, window.end)].tobytes()
        stop = block.rfind(b"\n")
        if stop < 0:
            size *= 2
            continue
        yield from block[:stop].split(b"\n")
        begin += stop + 1


def _text_lines(window: Chunk) -> Iterator[str]:
    """Yield the lines of a text with their ends, of which a carriage return is one."""
    for raw in byte_lines(window):
        line = raw.decode("utf-8", "surrogateescape") + "\n"
        if "\r" in line:
            yield from io.StringIO(line, newline="")
        else:
            yield line


def row_blocks(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows in blocks of those that are written at a time.

    >>> list(row_blocks([("q1", "d1", 1)]))
    [[('q1', 'd1', 1)]]
    """
    pulled = iter(rows)
    while block := list(islice(pulled, BLOCK_ROWS)):
        yield block


# Columns for which some programs have no place.
NOT_STORED = {"score": "scores", "subtopic": "subtopics", "probability": "probabilities"}


def write_quepid(table: OutputTable) -> Iterator[bytes]:
    """Yield judgments in the CSV columns imported by Quepid."""
    if table.columns != QRELS_COLUMNS:
        found = NOT_STORED[table.columns[-1]]
        raise InputError(f"Quepid imports only queries, documents and grades, not {found}")
    return write_csv(table._replace(columns=("query", "docid", row_columns.RATING)))


def write_csv(table: OutputTable) -> Iterator[bytes]:
    """Yield a CSV or TSV table with a header."""
    import csv

    target = io.StringIO(newline="")
    target.write(table.header.decode() if table.columns != RUN_COLUMNS else "")
    writer = csv.writer(target, lineterminator="\n", delimiter="\t" if table.suffix == ".tsv" else ",")
    quoting = csv.writer(target, writer.dialect, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(table.columns)
    for block in row_blocks(table.rows):
        for query, document, number, *more in block:
            if not query or not document:
                raise InputError(
                    "an id is empty, so this format cannot store it. Save the file as .json instead"
                )
            whole = quoting if "\r" in query or "\r" in document else writer  # not done before Python 3.13
            whole.writerow([query, document, repr(number), *more])
        yield target.getvalue().encode("utf-8", "surrogateescape")
        target.seek(0)
        target.truncate()
    yield target.getvalue().encode("utf-8", "surrogateescape")


def write_json(table: OutputTable) -> Iterator[bytes]:
    """Yield `{query: {document: number}}`, a query on a line; by subtopic where there are some."""
    before = "{\n"
    for query, documents in chain(((query, {}) for query in table.empty), _by_query(table)):
        yield f"{before}{dump_json(query)}: {dump_json(documents)}".encode()
        before = ",\n"
    yield b"\n}\n"


def _by_query(table: OutputTable) -> Iterator[tuple[str, dict[str, Any]]]:
    for query, rows in groupby(table.rows, key=itemgetter(0)):
        found: dict[str, Any] = {}
        for _, document, number, *subtopic in rows:
            documents = found
            for name in subtopic:
                documents = documents.setdefault(name, {})
            documents[document] = number
        yield query, found


def dump_json(value: Any) -> str:
    """Return a value as one line of valid UTF-8; invalid Unicode is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def write_json_lines(table: OutputTable) -> Iterator[bytes]:
    """Yield JSON Lines with one record per line; lists if one is empty, which no record can say."""
    if table.empty:
        for query, found in chain(((query, {}) for query in table.empty), _by_query(table)):
            hits = [{"doc_id": document, "score": score} for document, score in found.items()]
            yield (dump_json({"query_id": query, "hits": hits}) + "\n").encode()
        return
    quoted = json.encoder.encode_basestring
    for block in row_blocks(table.rows):
        if table.columns == RUN_COLUMNS and all(isfinite(row[2]) for row in block):
            names = {query: quoted(query) for query, _, _ in block}
            records = [
                f'{{"query_id": {names[query]}, "doc_id": {quoted(document)}, "score": {score!r}}}\n'
                for query, document, score in block
            ]
            with suppress(UnicodeEncodeError):  # invalid Unicode in an id is escaped below
                yield "".join(records).encode()
                continue
        lines = [dump_json(dict(zip(table.columns, row, strict=True))) for row in block]
        yield "".join(line + "\n" for line in lines).encode()


def parquet_table(source: Opened, *_: object) -> Table:
    """Return the table in a Parquet or Arrow file."""
    arrow = _pyarrow()
    watch = Watch(source.path)
    with arrow_errors(arrow, source.path):
        names, batches = _arrow_file(arrow, source)
    refuse_repeated("column", names, path=source.path)

    def some(chosen: Sequence[str]) -> Iterator[Any]:
        with arrow_errors(arrow, source.path):
            for batch in batches(list(filter(None, chosen))):
                batch.validate(full=True)  # the offsets and the text of strings, which Arrow does not check
                yield batch
        watch.check()

    def cells(chosen: Sequence[str]) -> Iterable[tuple[int, Sequence[Any]]]:
        found = list(some(chosen))
        if not found:
            return iter(())
        table = arrow.Table.from_batches(found)
        return python_inputs.table_of_frame(python_inputs.open_frame(table), path=source.path).cells(chosen)

    return Table(names, cells, source.path, "row", arrow=some)


@contextmanager
def arrow_errors(arrow: Any, path: str) -> Iterator[None]:
    """Convert the errors of a damaged file into an InputError."""
    try:
        yield
    except (arrow.ArrowException, OSError, UnicodeError) as error:
        reason = str(error).split("\n", maxsplit=1)[0][:100]
        raise InputError(f"cannot be read as Parquet or Arrow ({reason})", path=path) from None


def _arrow_file(arrow: Any, source: Opened) -> tuple[list[str], Callable[[Sequence[str]], Iterator[Any]]]:
    """Return the names of the columns of a file, and a function that yields some of them in batches."""
    whole = source.whole
    if whole is None:  # an uncompressed file
        regular = os.path.isfile(source.path)
        content = arrow.OSFile(source.path) if regular else arrow.PythonFile(open_raw(source.path))
        head = content.read(HEAD)
        content.seek(0)
    else:
        content = arrow.BufferReader(arrow.py_buffer(bytes_of(whole.text)[: whole.read]))
        head = whole.text[:HEAD].tobytes()
    if head.startswith((ARROW, STREAM)):
        opened = arrow.ipc.open_file if head.startswith(ARROW) else arrow.ipc.open_stream
        names = opened(content).schema.names

        def batches(chosen: Sequence[str]) -> Iterator[Any]:
            content.seek(0)
            wanted = [names.index(name) for name in chosen]
            file = opened(content, options=arrow.ipc.IpcReadOptions(included_fields=wanted))
            if head.startswith(STREAM):
                yield from file
            else:
                yield from map(file.get_batch, range(file.num_record_batches))

        return names, batches
    from pyarrow import parquet

    file = parquet.ParquetFile(content)
    return file.schema_arrow.names, lambda chosen: file.iter_batches(columns=chosen, use_threads=False)


def write_parquet(table: OutputTable) -> Iterator[bytes]:
    """Yield a Parquet file, or an Arrow file if the suffix is that of one."""
    arrow = _pyarrow()
    from pyarrow import parquet

    whole = table.columns != RUN_COLUMNS and all(isinstance(row[2], int) for row in table.rows)
    number = arrow.int64() if whole else arrow.float64()
    text = arrow.string()
    more = [arrow.float64() if name == "probability" else text for name in table.columns[3:]]
    schema = arrow.schema(list(zip(table.columns, (text, text, number, *more), strict=True)))
    target = io.BytesIO()
    form = parquet.ParquetWriter if table.suffix == ".parquet" else arrow.ipc.new_file
    with form(target, schema) as writer:
        for block in row_blocks(table.rows):
            try:
                columns = [
                    arrow.array(cells, type=field.type)
                    for cells, field in zip(zip(*block, strict=True), schema, strict=True)
                ]
            except (UnicodeEncodeError, arrow.ArrowInvalid):
                raise InputError(
                    "an id is not valid UTF-8, so this format cannot store it. Save the file as .json instead"
                ) from None
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
    yield target.getvalue()


def _pyarrow() -> Any:
    import_optional("pyarrow.ipc")
    return import_optional("pyarrow")
