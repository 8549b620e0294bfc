"""The formats of runs and judgments: how each is recognized, read and written; `FORMATS` lists them all."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from numbers import Integral
from os.path import splitext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from leadline.data.reading import DEFAULT_READING, Reading
from leadline.data.wording import counted, queries
from leadline.errors import InputError, either
from leadline.io import row_checks, row_columns, selection, swapped_arguments
from leadline.io.archives import COMPRESSIONS
from leadline.io.opening import (
    BINARY_TABLES,
    BOM,
    SQLITE,
    Buffers,
    Chunk,
    first_bytes,
    is_compressed,
    read_whole,
)
from leadline.io.row_columns import Records, Table
from leadline.io.run_names import IR_DATASETS, no_part, split_part
from leadline.io.score_cells import json_or_none
from leadline.io.trec_lists import first_line, is_number, looks_trec
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.data.qrels import QrelsColumns
    from leadline.io.tables import OutputTable

COPY = "Copy the complete folder, or save the dataset again with `save_to_disk`"
BEIR_SPLIT = "test"
# With which runs and judgments in JSON begin, and no line of TREC text.
NAMED_MEMBER = rb'\s*\[?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:'


class Format(NamedTuple):
    """A format of runs, of judgments, or of both."""

    name: str  # name used in options and messages
    # Test of the first bytes of a file, given also the name of the format of its suffix.
    recognized: Callable[[bytes, str], bool] | None
    # Reader of an opened file, given what its numbers are ("score" or "grade") and whether there are
    # subtopics. It returns a `Table`, or `Records` without a header. TREC text has separate readers.
    rows: Callable[[Opened, str, bool], Table | Records] | None
    write: Callable[[OutputTable], Iterator[bytes]] | None = None  # writer: returns the bytes of a table
    # Suffixes of files in this format; `leadline convert --to` accepts them without the dot.
    suffixes: tuple[str, ...] = ()
    other_suffixes: tuple[str, ...] = ()  # further suffixes of files in this format
    judgments: str = ""  # description, for formats that hold only judgments; else empty
    # Reader of judgments, if rows do not carry all information.
    qrels: Callable[[Opened, bool], QrelsColumns] | None = None


class Opened(NamedTuple):
    """A file, its format, its text if it has been read to recognize the format, and the selected part.

    `columns` is the number of columns in the first line of a TREC file. A file whose text is read piece by
    piece has its first lines as `head`. `queries` are the selected queries in their order.
    """

    path: str
    format: Format
    whole: Chunk | None
    part: str = ""
    columns: int = 0
    head: Chunk | None = None
    queries: Sequence[str] = ()

    @property
    def text(self) -> Chunk:
        """Return the text of the file, and read it if necessary."""
        return read_whole(self.path) if self.whole is None else self.whole


def opened(path: str, *, read: bool = False) -> Opened:
    """Return the format of a file; `read` always reads its text."""
    if path.startswith(IR_DATASETS):
        return Opened(path, COLLECTION, None)
    path = _file_in(path)
    file, part = split_part(path)
    head = first_bytes(file)
    if head is not None and head.startswith(SQLITE):
        if is_compressed(file):
            raise InputError("is a compressed database", path=file, hint="Decompress the file")
        return Opened(path, SQLITE_STORE, None)
    if head is not None and not read and not part:
        binary = head.startswith(BINARY_TABLES) and not is_compressed(file)
        if binary or _is_trec(head.removeprefix(BOM), _named(path)):
            columns = len(_first_fields(head))
            return Opened(path, PARQUET if binary else TREC, None, columns=columns)
        lines = _first_lines(file, head)
        if lines is not None and format_of(lines).name in {"jsonl", "csv"}:
            return Opened(path, format_of(lines), None, head=lines)
    whole = read_whole(file, enough=None if read or part else is_refused)
    head, form = whole.text[: min(whole.filled, 1 << 16)].tobytes(), format_of(whole)
    if part and form is not JSON:
        raise no_part(file, part)
    return Opened(path, form, whole, part, len(_first_fields(head)))


def _first_lines(path: str, head: bytes) -> Chunk | None:
    """Return the whole lines in the first bytes of a file that need not be read whole to know its format."""
    text = head.removeprefix(BOM)
    end = text.rfind(b"\n") + 1
    if not end or b"\0" in text:
        return None
    workspace = Buffers(end)
    workspace.text[:] = np.frombuffer(text[:end], dtype=np.uint8)
    return Chunk.of_text(path, workspace, end)


def _file_in(path: str) -> str:
    """Return the judgments in a folder of BEIR or of `save_to_disk`: its split `test`, or its only split."""
    if os.path.isfile(os.path.join(path, "dataset_dict.json")):
        path = _of_split(path, sorted(name.name for name in os.scandir(path) if name.is_dir()), "")
    if os.path.isfile(os.path.join(path, "state.json")):
        parts = sorted(name for name in os.listdir(path) if name.endswith(".arrow"))
        if len(parts) != 1:
            raise InputError(
                f"is a dataset with {len(parts)} Arrow files",
                path=path,
                hint="Save the dataset as a single file with `to_parquet`" if parts else COPY,
            )
        return os.path.join(path, parts[0])
    folder = os.path.join(path, "qrels")
    if not os.path.isdir(folder):
        return path
    splits = sorted(name for name in os.listdir(folder) if name.endswith(".tsv"))
    return _of_split(folder, splits, ".tsv") if splits else path


def _of_split(folder: str, splits: list[str], suffix: str) -> str:
    path = os.path.dirname(folder) if suffix else folder
    if f"{BEIR_SPLIT}{suffix}" in splits:
        return os.path.join(folder, f"{BEIR_SPLIT}{suffix}")
    if len(splits) == 1:
        return os.path.join(folder, splits[0])
    if not splits:
        raise InputError("is a dataset whose split folders are missing", path=path, hint=COPY)
    raise InputError(
        f"is a folder with {len(splits)} splits",
        path=path,
        hint="Use " + either(os.path.join(folder, name) for name in splits),
    )


def _fields(text: bytes) -> Iterator[list[bytes]]:
    """Yield the fields of all lines but remarks and empty ones."""
    return (plain.fields_of(line) for _, line in plain.data_lines(text))


def _first_fields(head: bytes) -> list[bytes]:
    return next(_fields(head), [])


def format_of(window: Chunk) -> Format:
    """Return the format of a text."""
    head = window.text[: min(window.filled, 1 << 20)].tobytes()
    named = _named(window.path)
    found = (each for each in FORMATS if each.recognized and each.recognized(head, named))
    return next(found, BY_SUFFIX.get(suffix_of(window.path), TREC))


def _named(path: str) -> str:
    """Return the name of the format of the suffix of a file."""
    return BY_SUFFIX.get(suffix_of(path), TREC).name


def suffix_of(path: str) -> str:
    """Return the suffix, without one of compression.

    >>> suffix_of("bm25.json.gz"), suffix_of("bm25.run")
    ('.json', '.run')
    """
    name, suffix = splitext(path.rstrip("/"))
    if suffix in COMPRESSIONS.values():
        suffix = splitext(name)[1]
    return suffix.lower()


def records_of(
    source: Opened, what: str, reading: Reading = DEFAULT_READING, *, subtopics: bool = False
) -> Records:
    """Return the rows of a file in any format but TREC."""
    if what == "score" and source.format.judgments:
        hint = plain.RUN_COLUMNS if source.format.name == "sampled" else ""
        raise InputError(f"{source.format.judgments}, not a run", path=source.path, hint=hint)
    found: Table | Records
    names = reading.columns if what == "score" else reading.qrels_columns
    if names is not None:
        found = _named_rows(source, names, what)
    else:
        assert source.format.rows is not None
        ordered = source.format.name in {"json", "jsonl"}
        selected = (selection.queries_in_order(reading) or source.queries) if ordered else ()
        found = source.format.rows(source._replace(queries=selected), what, subtopics)
        if isinstance(found, Table) and source.format is PARQUET:
            found = _lists_in(found, what)
    if isinstance(found, Table):
        found = row_checks.table_records(found, what, by_rank=reading.by_rank)
    return found


def left_out(
    source: Opened, what: str, reading: Reading = DEFAULT_READING, *, subtopics: bool = False
) -> list[str]:
    """Return what a copy leaves out: non-empty columns, and queries of qrels without judgments."""
    if source.whole is None:  # the name of a collection
        return []
    named = reading.columns if what == "score" else reading.qrels_columns
    names: Sequence[str] = () if named is None else named.split(",")
    if not names and source.format is TREC:
        if what == "score" or subtopics:
            return []
        count = sum(len(part) > 1 and part[1] != b"0" for part in _fields(source.whole.content()))
        return [f"column 2 (not 0 in {counted(count, 'line')})"] if count else []
    if not names:
        records = records_of(source, what, reading, subtopics=subtopics)
        names = records.names
        if not names and what == "grade":
            deque(records.rows, maxlen=0)  # after which `empty` is known
            if records.empty:
                return [f"{queries(len(records.empty))} without judgments"]
    if not names:
        return []
    *kept, more = row_checks.choose(names, what, by_rank=reading.by_rank)
    kept += [more] if what == "score" or subtopics else []
    tag = row_columns.find(names, row_columns.TAG) if what == "score" else None
    return [f"column {name}" for name in names if name not in {*kept, tag}]


def _lists_in(table: Table, what: str) -> Table | Records:
    """Return a table with a column of lists, as Ragas has, as rows; others as they are."""
    from leadline.io import json_files

    if not json_files.begins_list({name: [] for name in table.names}, named=False):
        return table
    rows = (dict(zip(table.names, cells, strict=True)) for _, cells in table.cells(table.names))
    return json_files.rows_in_memory(rows, what, path=table.path)


def _named_rows(source: Opened, columns: str, what: str) -> Records:
    """Return the rows of a text without a header, whose columns are named by the caller."""
    from leadline.io import tables

    if source.format.name not in HEADERLESS_FORMATS:
        raise headed(what, source.path, "Leave it out")
    return tables.named_rows(source, columns.split(","), what)


def headed(what: str, path: str, hint: str) -> InputError:
    """Return the refusal of names for the columns of a table that has a header."""
    key = "columns" if what == "score" else "qrels_columns"
    found = f"`--config read.{key}` applies only to text tables without a header"
    return InputError(found, path=path, hint=hint)


def is_refused(window: Chunk) -> bool:
    """Return whether no reader accepts a text that begins with these lines.

    A run or qrels in TREC format has at least four columns and no NUL byte.
    """
    if format_of(window) is not TREC:
        return False
    head = window.text[: min(window.end, 1 << 16)].tobytes()
    lines = [line for _, line in plain.data_lines(head[: head.rfind(b"\n") + 1])]
    return any(b"\0" in line for line in lines) or (bool(lines) and len(plain.fields_of(lines[0])) < 4)


def content_of(source: Opened, reading: Reading = DEFAULT_READING) -> tuple[str, bool]:
    """Return `run` or `qrels`, and whether only the numbers tell it: those of qrels are whole.

    Names of columns tell the kind of a text that has as many columns.
    """
    if source.format.judgments:
        return "qrels", False
    width = _width(source) if reading.columns or reading.qrels_columns else 0
    for kind, names in (("run", reading.columns), ("qrels", reading.qrels_columns)):
        if width and names is not None and len(names.split(",")) == width:
            return kind, False
    if source.format is TREC:
        return kind_of_trec(source.text.content()), False
    return _content_of_rows(source)


def kind_of_trec(text: bytes) -> str:
    r"""Return whether a text in TREC format is a run or judgments.

    >>> kind_of_trec(b"# made by hand\nq1 0 d1 1\n"), kind_of_trec(b"q1 d8 1 2.5\nq1 d3 2 1.5\n")
    ('qrels', 'run')
    """
    is_run = len(_first_fields(text)) != 4 or swapped_arguments.begins_ranking(text)
    return "run" if is_run else "qrels"


def _content_of_rows(source: Opened) -> tuple[str, bool]:
    try:
        found = records_of(source, "" if source.format is HEADERLESS else "grade")
    except InputError as error:
        if source.format is HEADERLESS:
            raise
        try:
            table = None if source.format.rows is None else source.format.rows(source, "score", False)
        except InputError as of_run:  # its hint may name a setting of runs
            raise (of_run if of_run.found == error.found else error) from None
        if not isinstance(table, Table) or not row_columns.find(table.names, row_columns.QUERY):
            raise
        if not row_columns.run_column(table.names, row_columns.RANK):
            raise
        return "run", False
    # Lists of ids are rankings unless they are named as relevant.
    if found.listed or row_columns.run_column(found.names, row_columns.RANK):
        return "run", False
    if row_columns.find(found.names, row_columns.GRADE):
        return "qrels", False
    try:
        return "qrels" if all(_is_whole(row[3]) for row in found.rows) else "run", not found.names
    except InputError:
        return "run", False


def _width(source: Opened) -> int:
    """Return the number of columns in the first line of a text without a header; 0 for anything else."""
    if source.format.name not in HEADERLESS_FORMATS:
        return 0
    from leadline.io.tables import headerless_cells

    first = first_line(source.text.content())
    return len(headerless_cells(first.decode("utf-8", "surrogateescape")))


def _is_whole(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().removeprefix("-").isdecimal()
    return isinstance(value, Integral)


def _lazy(module: str, function: str) -> Callable[..., Any]:
    """Return a function of a module that is imported at the first call, so that commands start quickly."""

    def call(*given: Any) -> Any:
        return getattr(import_module(f"leadline.io.{module}"), function)(*given)

    return call


def _is_trec(head: bytes, named: str) -> bool:
    """Return whether the first line is one of a TREC file, and not of cells or JSON with blanks in an id."""
    line = first_line(head).strip(b"\r")
    if not looks_trec(head) or _is_smart(head, named):
        return False
    if re.match(NAMED_MEMBER, line):
        return False
    return not (named == "csv" and b"\t" in line and line.split(b"\t") != plain.fields_of(line))


def _is_smart(head: bytes, _named: str) -> bool:
    """Return whether a text is the relevance file of a SMART collection, all in numbers."""
    if first_line(head).strip(b"0123456789.- \t\r"):
        return False
    from leadline.io import other_qrels

    return other_qrels.layout_of(head) is not None


def _is_sample(head: bytes, named: str) -> bool:
    from leadline.io import other_qrels

    return named == TREC.name and other_qrels.is_sample(head)


def _is_json(head: bytes, named: str) -> bool:
    start = b"".join(head[:64].split())[:2]
    sure = start[1:] in {b'"', b"{", b"[", b"}", b"]"}
    return start[:1] in {b"{", b"["} and (sure or named != TREC.name)


def _is_json_lines(head: bytes, named: str) -> bool:
    """Return whether a text is JSON Lines: by its suffix, or because its first line is a whole record."""
    if not _is_json(head, named):
        return False
    return named == "jsonl" or _is_record(head.lstrip().partition(b"\n")[0])


def _is_record(line: bytes) -> bool:
    found = json_or_none(line)
    if not isinstance(found, dict):
        return False
    if row_columns.find(found, row_columns.DOCUMENT) is None:
        from leadline.io import json_files

        return json_files.begins_list(found)
    name = row_columns.find(found, row_columns.QUERY)
    return name is not None and not isinstance(found[name], (dict, list))


def _is_csv(head: bytes, _named: str) -> bool:
    """Return whether the first line has names of columns; before it lines that begin with `#` are remarks."""
    from leadline.io.small_tables import delimiter_of

    lines = (line for line in head.split(b"\n") if line.strip() and not line.startswith(b"#"))
    line = next(lines, b"").decode("utf-8", "surrogateescape").strip("\r\n")
    return row_columns.is_header(line.split(delimiter_of(line)))


def _is_headerless(head: bytes, _named: str) -> bool:
    """Return whether a text is a table whose first line has three or more cells, one of them a number."""
    from leadline.io.tables import headerless_cells, is_level

    line = first_line(head).decode("utf-8", "surrogateescape")
    cells = headerless_cells(line)
    if len(cells) < 3:
        return False
    split = "\t" in line or "," in line
    numbers = (is_number(cell.encode("utf-8", "surrogateescape")) for cell in cells)
    return (split and any(numbers)) or (len(cells) <= 4 and is_level(cells[-1]))


def _write_trec(table: OutputTable) -> Iterator[bytes]:
    from leadline.io import tables, trec_qrels, trec_runs

    write = trec_runs.write if table.columns == tables.RUN_COLUMNS else trec_qrels.write
    yield table.header
    yield from write(table)


TREC = Format("trec", _is_trec, None, _write_trec)
SQLITE_STORE = Format("sqlite", None, _lazy("judgment_store", "records"), judgments="is an SQLite database")
COLLECTION = Format("ir_datasets", None, _lazy("texts", "collection_table"), judgments="contains judgments")
PARQUET = Format(
    "parquet",
    lambda head, _named: head.startswith(BINARY_TABLES),
    _lazy("tables", "parquet_table"),
    _lazy("tables", "write_parquet"),
    (".parquet", ".arrow"),
    (".feather",),
)
JSON = Format("json", _is_json, _lazy("json_files", "json_rows"), _lazy("tables", "write_json"), (".json",))
HEADERLESS = Format("headerless", _is_headerless, _lazy("tables", "refuse_headerless"))
SMART = Format(
    "smart",
    _is_smart,
    _lazy("other_qrels", "smart_records"),
    judgments="contains lists of relevant documents",
)
# Texts whose columns may be named.
HEADERLESS_FORMATS = {TREC.name, HEADERLESS.name, SMART.name, "csv", "sampled"}
# In the order in which they are looked for in the content of a file; other files are told by their suffix.
FORMATS = (
    SQLITE_STORE,  # recognized before a text is read
    COLLECTION,  # recognized by its name
    SMART,
    TREC,
    PARQUET,
    Format(
        "jsonl",
        _is_json_lines,
        _lazy("json_files", "json_lines_table"),
        _lazy("tables", "write_json_lines"),
        (".jsonl",),
        (".ndjson",),
    ),
    JSON,
    Format("csv", _is_csv, _lazy("tables", "table_of_csv"), _lazy("tables", "write_csv"), (".csv", ".tsv")),
    Format("quepid", None, _lazy("tables", "table_of_csv"), _lazy("tables", "write_quepid"), (".quepid",)),
    HEADERLESS,
    Format(
        "sampled",
        _is_sample,
        _lazy("other_qrels", "sample_records"),
        judgments="looks like sampled judgments (5 columns)",
        qrels=_lazy("other_qrels", "read_sample"),
    ),
)
BY_SUFFIX = {suffix: each for each in FORMATS for suffix in (*each.suffixes, *each.other_suffixes)}
