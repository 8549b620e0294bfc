"""Tables of scores, one value for each run, query and measure, and how they are told from runs."""

from __future__ import annotations

import glob
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, BinaryIO

from leadline.data.optional import import_optional
from leadline.data.wording import counted, first_few, in_columns, type_of
from leadline.errors import InputError, RecordNumber, either, refuse_repeated
from leadline.io import row_columns
from leadline.io.opening import ARROW, BINARY_TABLES, PARQUET, first_bytes, read_whole, text_of
from leadline.io.python_inputs import names_of, open_frame, rows_of_columns
from leadline.io.run_names import STANDARD_INPUT, run_name
from leadline.io.saved_results import (
    MANIFEST,
    Saved,
    check_format,
    check_json,
    is_saved,
    read_parquet,
    read_saved,
    restored,
    restoring,
)
from leadline.io.score_cells import (
    ACCEPTED,
    RUN_LINE,
    SUMMARY,
    Choices,
    OpenedScores,
    ScoreColumns,
    id_of,
    json_of,
    json_or_none,
    number_in,
    open_mapping,
    refuse_estimates,
    refuse_steps,
    run_lines,
    value_of,
)
from leadline.io.small_tables import csv_table, unguarded

# Hint on a file with the columns of qrels or of a run.
LISTS = (
    "This looks like {}, but per-query values are needed here. `leadline evaluate QRELS RUN... -o FILE.json` "
    "saves them. `leadline explain QRELS RUN -m MEASURE --query-id ID --long` shows the documents of a run"
)
# Names of columns, in the order in which they are searched.
PER_QUERY = "Use per-query values, such as the output of `trec_eval -q`"
QUERY = (
    *row_columns.QUERY,
    *("task_name", "task", "dataset", "collection", "question_id", "sample_id", "question", "user_input"),
)
RUN = ("run", *("run_id", "runid", "run_name", "system", "model", "model_name", "pipeline", "name", "tag"))
MEASURE = ("measure", "metric", "measure_name", "metric_name")
VALUE = ("value", "score", "measure_value", "metric_value")
# Columns of text beside the values, as in the tables of Ragas and Haystack.
TEXTS = frozenset(
    {
        *("query", "question", "answer", "contexts", "ground_truth", "user_input", "response", "reference"),
        *("text", "retrieved_contexts", "reference_contexts", "rubrics", "language", "languages"),
        *("questions", "answers", "documents", "ground_truth_documents", "retrieved_documents"),
        *("ground_truth_answers", "predicted_answers", "ground_truth_answer", "predicted_answer"),
    }
)
INDEX = ("", "Unnamed: 0")  # of a data frame
TEXT_MEASURES = frozenset({"runid", "relstring"})  # of trec_eval
# Names of trec_eval 8: P10, recall10, ircl_prn.0.10, R-prec
OLD_NAMES = (
    (re.compile(r"(P|recall)(\d+)"), r"\1_\2"),
    (re.compile(r"ircl_prn\.(.*)"), r"iprec_at_recall_\1"),
)


Row = tuple[int, Sequence[Any]]


def open_scores(source: Any, *, name: str = "") -> OpenedScores | Saved | dict[str, Any]:
    """Open a table of scores."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return _open_file(path, name or run_name(path).removesuffix(".eval"))
    if isinstance(source, Mapping):
        return open_mapping(source, "", name)
    frame = open_frame(source)
    if frame is not None:
        header = list(frame.columns)
        return _of_table(header, _without_nan(_numbered(frame.iter_rows()), header), "", name)
    if isinstance(source, Iterable):
        return _of_records(_numbered(source), "", name)
    raise InputError(f"scores cannot be of type {type(source).__name__}", hint=ACCEPTED)


def _numbered(rows: Iterable[Any]) -> list[tuple[int, Any]]:
    """Return rows with their numbers, which are no lines."""
    return [(RecordNumber(number), row) for number, row in enumerate(rows, start=1)]


def _without_nan(rows: list[Row], header: Sequence[str]) -> list[Row]:
    """Return rows without a NaN among their queries, for which pandas turns whole numbers to floats."""
    place = find(header, QUERY)
    if place is None or "nan" not in {str(row[place]) for _, row in rows if isinstance(row[place], float)}:
        return rows

    def query(cell: Any) -> Any:
        if not isinstance(cell, float):
            return cell
        return None if math.isnan(cell) else int(cell) if cell.is_integer() else cell

    return [(at, [*row[:place], query(row[place]), *row[place + 1 :]]) for at, row in rows]


def _open_file(path: str, name: str) -> OpenedScores | Saved | dict[str, Any]:
    head = first_bytes(path) or b""
    if head.startswith(BINARY_TABLES):
        return _of_arrow(path, head, name)
    text = text_of(read_whole(path))
    start = text.lstrip()[:1]
    if start and start in "[{":
        return _of_json(text, path, name)
    lines = [
        (number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip() and line[0] != "#"
    ]
    if not lines:
        raise InputError("contains no scores", path=path, hint=ACCEPTED)
    cells = three(lines[0][1])
    if len(cells) == 3 and (cells[0] in TEXT_MEASURES or number_in(cells[2]) is not None):
        return OpenedScores((), lambda choices: _of_lines(lines, path, name, choices))
    if not any(sign in lines[0][1] for sign in ",\t;"):
        found = "the line is neither a header (CSV or TSV) nor a line of `trec_eval -q` output"
        columns = len(lines[0][1].split())
        hint = LISTS.format({4: "qrels", 6: "a run"}[columns]) if columns in (4, 6) else ACCEPTED
        raise InputError(found, path=path, line=lines[0][0], hint=hint)
    header, rows = csv_table(text, path)
    return _of_table(header, rows, path, name, first=lines[0][0], missing="leave the cell empty")


def three(line: str) -> list[str]:
    """Return the cells of a line of trec_eval or ir_measures: between tabs, or else between blanks."""
    cells = [cell.strip() for cell in line.strip("\r\n").split("\t")]
    return cells if len(cells) == 3 else line.split()


def _of_arrow(path: str, head: bytes, name: str) -> OpenedScores | Saved | dict[str, Any]:
    from leadline.io.tables import arrow_errors  # not needed for text

    if head.startswith(PARQUET):
        table = read_parquet(path)
    else:
        with arrow_errors(import_optional("pyarrow"), path), open(path, "rb") as file:
            table = _arrow_stream(file, head).read_all()
            table.validate(full=True)  # the offsets and the text of strings, which Arrow does not check
    if MANIFEST in (table.schema.metadata or {}):
        return _of_saved(read_saved(path))
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return _of_table(list(table.column_names), _numbered(rows), path, name)


def _arrow_stream(file: BinaryIO, head: bytes) -> Any:
    ipc = import_optional("pyarrow.ipc")
    return (ipc.open_file if head.startswith(ARROW) else ipc.open_stream)(file)


def _of_saved(saved: Saved) -> OpenedScores | Saved:
    """Return a saved result; the means of a suite are a table."""
    return _of_suite(saved.view.data(), saved.path) if saved.command == "suite" else saved


def _of_json(text: str, path: str, name: str) -> OpenedScores | Saved | dict[str, Any]:
    if runs := run_lines(text, path):
        return runs
    try:
        found = json_of(text, path, hint=ACCEPTED)
    except InputError:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or json_or_none(lines[0][1]) is None:
            raise
        return _of_records([(number, json_of(line, path, number)) for number, line in lines], path, name)
    if is_saved(found):
        return _of_saved(restored(found, path))
    check_json(found, path)
    if isinstance(found, dict):
        found = rows_of_columns(found, QUERY) or found
    if isinstance(found, list):
        return _of_records(_numbered(found), path, name)
    if isinstance(found, dict) and isinstance(found.get("runs"), list):
        return _of_suite(found, path) if found.get("command") == "suite" else found
    if isinstance(found, dict):
        if {"leadline", "command"} <= found.keys():
            check_format(found, path)  # refuses what -f json printed
        single = any(isinstance(value, str) for value in found.values()) and not any(
            isinstance(value, (dict, list)) for value in found.values()
        )
        return _of_records([(1, found)], path, name) if single else open_mapping(found, path, name)
    raise InputError(
        f"the JSON value is of type {type_of(found)}, not an object or a list", path=path, hint=ACCEPTED
    )


def _of_suite(found: Mapping[str, Any], path: str) -> OpenedScores:
    """Return the means of runs on the collections of a suite; collections stand in place of queries."""
    with restoring(path, "this suite result is incomplete", "Use the JSON output of `leadline suite`"):
        rows = [
            {"collection": collection, "run": run["name"], "measure": measure, "value": value}
            for run in found["runs"]
            for collection, means in run["means"].items()
            for measure, value in means.items()
        ]
    return _of_records(_numbered(rows), path, "")


def _of_records(rows: list[tuple[int, Any]], path: str, name: str) -> OpenedScores:
    """Return the table of dictionaries or named tuples, all with the names of the first."""
    if not rows:
        raise InputError("there are no scores", path=path, hint=ACCEPTED)
    header = names_of(rows[0][1]) or []
    table: list[Row] = []
    for place, row in rows:
        names = names_of(row)
        if not names:
            found = f"the entry is of type {type_of(row)} and has no named fields"
            raise InputError(found, path=path, line=place, hint=ACCEPTED)
        if set(names) != set(header):
            shown = ", ".join(map(str, names)), ", ".join(map(str, header))
            found = f"the fields ({shown[0]}) differ from those of the first entry ({shown[1]})"
            raise InputError(found, path=path, line=place, hint="Use the same fields in every entry")
        table.append((place, [row[key] if isinstance(row, Mapping) else getattr(row, key) for key in header]))
    return _of_table(list(map(str, header)), table, path, name)


def _spelling(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")


def find(header: Sequence[str], names: Sequence[str], taken: Collection[int] = ()) -> int | None:
    """Return the place of the first name that the header has."""
    present = [None if place in taken else _spelling(name) for place, name in enumerate(header)]
    return next((present.index(_spelling(name)) for name in names if _spelling(name) in present), None)


def _of_table(
    header: list[str],
    rows: Sequence[Row],
    path: str,
    name: str,
    *,
    first: int | None = None,
    missing: str = "use null (in Python, None)",
) -> OpenedScores:
    refuse_repeated("column", header, path=path)
    refuse_estimates(header, rows, path)
    return OpenedScores(header, lambda choices: _cells(header, rows, path, name, choices, first, missing))


def _cells(
    header: list[str],
    rows: Sequence[Row],
    path: str,
    name: str,
    choices: Choices,
    first_line: int | None,
    missing: str,
) -> ScoreColumns:
    """Return the cells of a table with a header."""
    measure = find(header, MEASURE)
    run = find(header, RUN)
    value = find(header, VALUE) if measure is not None else None
    if run is not None and measure is not None and value is None:
        present = f"{header[run]} and {header[measure]}"
        raise InputError(
            f"the table has the columns {present}, but no column called value or score",
            path=path,
            line=first_line,
            hint="Rename the column that contains the values to 'value'",
        )
    query = _query_column(header, rows, path, taken=[run, measure, value])
    columns = ScoreColumns(path)
    given = [place for place in (query, run, measure, value) if place is not None]
    rest = [place for place, column in enumerate(header) if place not in given and column not in INDEX]
    texts = [place for place in rest if _spelling(header[place]) in TEXTS and _is_text(rows, place)]
    rest = [place for place in rest if place not in texts]
    if value is not None:
        texts += rest  # columns beside those of a long table hold no values
        by_column: list[tuple[int, str | None, str | None]] = [(value, None, None)]
    elif not rest:
        raise InputError(
            f"no values were found {in_columns(header)}", path=path, line=first_line, hint=ACCEPTED
        )
    elif measure is not None or _are_runs([header[place] for place in rest], run, choices):
        if run is not None:
            raise InputError(
                f"column '{header[run]}' names runs, but --config scores.wide=runs reads column "
                f"'{header[rest[0]]}' as a run",
                path=path,
                line=first_line,
                hint="Leave out --config scores.wide=runs, or remove the column of run names",
            )
        asked = list(choices.asked)
        only = asked[0] if len(asked) == 1 else name or "value"
        by_column = [(place, header[place], only if measure is None else None) for place in rest]
        if measure is None and choices.wide is None:
            shown = first_few([header[place] for place in rest])
            words = (
                f"columns of {path or 'a table'} read as runs: {len(rest)} ({shown}), measure '{only}' (if "
                "they are measures, use --config scores.wide=measures)"
            )
            columns.remarks.append(("columns_are_runs", words, len(rest)))
    else:
        by_column = [(place, None, header[place]) for place in rest]
    if texts:
        listed = ", ".join(header[place] for place in texts)
        words = f"columns of {path or 'a table'} without measure values: {listed} (left out)"
        columns.remarks.append(("columns_left_out", words, len(texts)))
    means = 0
    for place, row in rows:
        try:
            query_id = id_of(row[query], "query", header[query])
            if query_id in ("", SUMMARY) and not choices.means:
                means += 1
                continue
            run_id = name if run is None else id_of(row[run], "run", header[run])
            named = None if measure is None else id_of(row[measure], "measure", header[measure])
            for column, run_column, measure_column in by_column:
                cell = value_of(row[column], header[column], undefined=choices.means, missing=missing)
                columns.add(
                    place,
                    run_id if run_column is None else run_column,
                    query_id,
                    measure_column or named or "",
                    cell,
                )
        except InputError as error:
            raise error.at(path, place) from None
    if means:
        words = f"rows of means (query 'all' or empty) in {path or 'a table'}: {means} (left out)"
        columns.remarks.append(("rows_of_means", words, means))
    if run is None and not name and any(one[1] is None for one in by_column):
        raise InputError(
            "the table does not name its runs", path=path, hint="Use {run: table}, or add a column 'run'"
        )
    return columns


def _query_column(header: list[str], rows: Sequence[Row], path: str, *, taken: Sequence[int | None]) -> int:
    """Return the place of the query: a column of such a name, or else the first one if it holds ids."""
    others = {place for place in taken if place is not None}
    query = find(header, QUERY, others)
    if query is not None:
        return query
    refuse_steps(header, path)
    numbers = sum(
        isinstance(row[0], float)
        or (isinstance(row[0], str) and "." in row[0] and number_in(row[0]) is not None)
        for _, row in rows
    )
    numbered = header[0] in INDEX and all(str(row[0]) == str(at) for at, (_, row) in enumerate(rows))
    if 0 in others or numbers or numbered:
        raise InputError(
            f"no query ids were found {in_columns(list(filter(None, header)))}",
            path=path,
            hint=f"Per-query values need query ids in a column with a name such as {either(QUERY[:3])}",
        )
    return 0


def _is_text(rows: Sequence[Row], place: int) -> bool:
    """Return whether some cell of a column is text that is no number."""
    cells = (row[place] for _, row in rows)
    return any(cell is not None and number_in(cell) is None for cell in cells)


def _are_runs(names: list[str], run: int | None, choices: Choices) -> bool:
    """Return whether columns of values are runs; else they are measures."""
    if choices.wide is not None:
        return choices.wide == "runs"
    return run is None and not choices.measures(names) and not set(names) & set(choices.repeated)


def _of_lines(lines: list[tuple[int, str]], path: str, name: str, choices: Choices) -> ScoreColumns:
    """Return the cells of the output of `trec_eval -q` (measure, query, value) or `ir_measures -q`."""
    rows = [(number, three(line)) for number, line in lines]
    for number, cells in rows:
        if len(cells) != 3:
            raise InputError(
                f"the line has {counted(len(cells), 'column')}",
                path=path,
                line=number,
                hint="Each line needs a measure, a query and a value, as printed by `trec_eval -q`",
            )
    rows = [(number, cells) for number, cells in rows if not TEXT_MEASURES & {*cells[:2]}]
    first, second = ({cells[place] for _, cells in rows} for place in (0, 1))
    signs = [SUMMARY in second, SUMMARY in first]
    if signs[0] == signs[1]:
        signs = [bool(choices.measures(map(modern, first))), bool(choices.measures(second))]
    if signs[0] == signs[1] and choices.means and len(first) != len(second):
        signs = [len(first) < len(second), len(first) > len(second)]  # measures are fewer than queries
    if signs[0] == signs[1]:
        raise InputError(
            "it is not clear whether column 1 or column 2 names the measures",
            path=path,
            line=lines[0][0],
            hint="Use CSV or TSV with the columns measure, query and value",
        )
    columns = ScoreColumns(path)
    for number, cells in rows:
        measure, query = (modern(cells[0]), cells[1]) if signs[0] else (cells[1], cells[0])
        if query == SUMMARY and not choices.means:
            continue
        try:
            value = value_of(
                cells[2], measure, undefined=choices.means, where="for measure", missing="leave out the line"
            )
        except InputError as error:
            raise error.at(path, number) from None
        columns.add(number, name, query, measure, value)
    if not columns.places:
        raise InputError("contains only means over all queries", path=path, hint=PER_QUERY)
    return columns


def modern(name: str) -> str:
    """Return the name in trec_eval 9 and 10 of a measure of trec_eval 8.

    >>> modern("P10"), modern("ircl_prn.0.10"), modern("map")
    ('P_10', 'iprec_at_recall_0.10', 'map')
    """
    for pattern, written in OLD_NAMES:
        match = pattern.fullmatch(name)
        if match:
            return match.expand(written)
    return name


Known = Callable[[str], bool]  # whether a name is that of a measure
HEAD = 1 << 16  # bytes that tell what a file holds
# Keys of our own JSON.
SAVED = ({"leadline", "command"}, {"command", "runs"}, {"measures", "queries"}, RUN_LINE)
DOCUMENTS = (*row_columns.LISTED, "doc_no", "document_id")


def is_values(path: str, known: Known, *, saved: bool = True) -> bool:
    """Return whether a file, or the first of a folder, begins like per-query values, or `saved` ones."""
    file = first_file(path)
    head = first_bytes(file, HEAD) if file else None
    if not head:
        return False
    if head.startswith(BINARY_TABLES):
        return _in_arrow(file, head, saved)
    text = head.decode("utf-8", "replace").lstrip("\ufeff")
    if text.lstrip()[:1] in ("{", "["):
        return _in_json(text.strip(), known, saved)
    lines = [line for line in text.split("\n") if line.strip() and line[0] != "#"]
    cells = three(lines[0]) if lines else []
    if len(cells) == 3 and not any(sign in lines[0] for sign in ",;"):
        names = {modern(cells[0]), cells[1]} - TEXT_MEASURES
        return len(names) < 2 or (any(map(known, names)) and find(cells, QUERY) is None)
    for sign in "\t,;":
        if lines and sign in lines[0]:
            header = [unguarded(cell.strip(' "\r')) for cell in lines[0].split(sign)]
            return _is_header(header, means=not saved)
    return False


def first_file(path: str) -> str:
    """Return the file of a path, or the first one of a folder or pattern; empty if there is none."""
    if path == STANDARD_INPUT:
        return path
    if os.path.isdir(path):
        inside = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in sorted(names))
        return next(inside, "")
    if os.path.lexists(path):
        return path
    return min(glob.glob(path), default="")


def _is_header(names: Iterable[str], *, means: bool = False) -> bool:
    """Return whether columns are of values: a measure and its value or run, or a query without a document.

    With `means`, those of a run without a query are means.
    """
    header = list(names)
    query = find(header, QUERY)
    if means and query is None and find(header, RUN) is not None:
        return False
    if find(header, MEASURE) is not None and find(header, (*VALUE, *QUERY, *RUN)) is not None:
        return True
    if query is None or find(header, DOCUMENTS) is not None:
        return False
    return any(name not in (*INDEX, header[query]) and name.lower() not in TEXTS for name in header)


def _in_arrow(path: str, head: bytes, saved: bool) -> bool:  # one caller
    lib = import_optional("pyarrow.lib")
    try:
        if head.startswith(PARQUET):
            schema = import_optional("pyarrow.parquet").read_schema(path)
        else:
            with open(path, "rb") as file:
                schema = _arrow_stream(file, head).schema
    except (lib.ArrowException, OSError):
        return False  # reading it reports the fault
    return saved if MANIFEST in (schema.metadata or {}) else _is_header(schema.names)


def _in_json(text: str, known: Known, saved: bool) -> bool:  # one caller
    """Return whether JSON is a saved result, records of values, or has measures as outer or inner keys."""
    found = _beginning(text)
    if isinstance(found, list):
        found = found[0] if found and isinstance(found[0], dict) else {}
    if any(names <= set(found) for names in SAVED):
        return saved
    if {"task_name", "scores"} <= set(found) or {"run_name", "inputs"} <= set(found):
        return True  # of MTEB or Haystack
    if rows := rows_of_columns(found, QUERY):
        return any(isinstance(cell, Real) for cell in rows[0].values()) and _is_header(rows[0])
    inner = [value for value in found.values() if isinstance(value, Mapping)]
    if any(isinstance(value.get("hits"), list) for value in inner):
        return False  # a response of Elasticsearch
    if not inner:
        lists = [value for value in found.values() if isinstance(value, list)]
        single = [name for name, value in found.items() if not isinstance(value, list)]
        return _is_header(single) and not any(isinstance(one, Mapping) for value in lists for one in value)
    deeper = [one for value in inner for one in value.values() if isinstance(one, Mapping)]
    keys = {key for value in deeper or inner for key in value}
    return all(map(known, found)) or (bool(keys) and all(map(known, keys)))


def _beginning(text: str) -> Any:
    """Return the JSON of a text, of its first line, or of as much of it as can be closed."""
    for part in (text, text.partition("\n")[0]):
        if (found := json_or_none(part)) is not None:
            return found
    cut = text[: text.rfind(",")]
    closing = ""
    for sign in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', cut):
        if sign in "{[":
            closing = "}]"["{[".index(sign)] + closing
        elif sign in "}]":
            closing = closing[1:]
    found = json_or_none(cut + closing)
    return {} if found is None else found
