"""Output of results: JSON with its envelope, JSON Lines, or tables."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, Protocol

import click

from leadline.data.results import ResultWarning, RunInfo
from leadline.data.table import Table
from leadline.data.wording import UNSAFE, folded, visible
from leadline.io.ir_metadata import header_of
from leadline.io.opening import digest_of
from leadline.reporting.render import render
from leadline.version import VERSION


class CommandResult(Protocol):
    """Interface of the results of commands on runs."""

    @property
    def runs(self) -> Sequence[RunInfo]:
        """Return the runs."""

    @property
    def options(self) -> dict[str, Any]:
        """Return the options, defaults included."""

    @property
    def warnings(self) -> Sequence[ResultWarning]:
        """Return the warnings."""


def result_text(
    command: str,
    result: Any,
    form: str,
    *,
    inputs: Callable[[], list[dict[str, Any]]],
    options: dict[str, Any] | None = None,
    to_file: bool = False,
    data: Callable[[], dict[str, Any]] | None = None,
    table: Callable[[], Table] | None = None,
    lines: str | Callable[[dict[str, Any]], Sequence[Any]] = "runs",
    **shown: Any,
) -> str:
    """Return a result in a format.

    `data` gives the command's own JSON keys and `table` its table, by default those of the result. `lines` is
    the key whose entries are the lines of JSONL, or gives them. `shown` are options of the table.
    """
    fields = result.to_dict if data is None else data
    used = result.options if options is None else options
    select = itemgetter(lines) if isinstance(lines, str) else lines
    return text_in(
        form,
        result.warnings,
        lambda: envelope(command, inputs(), used, result.warnings) | fields(),
        lambda: select(fields()),
        lambda: (
            result.text(form, to_file=to_file, **shown)
            if table is None
            else table_text(table(), form, to_file=to_file)
        ),
    )


def summary_text(
    command: str,
    inputs: Sequence[dict[str, Any]],
    options: dict[str, Any],
    warnings: Sequence[ResultWarning],
    data: dict[str, Any],
    table: Table,
    form: str,
    *,
    to_file: bool = False,
) -> str:
    """Return what a command did as JSON, or as a table with the warnings below it."""
    if form not in ("json", "jsonl"):
        table.notes = list(dict.fromkeys([*table.notes, *map(str, warnings)]))  # it may have them already
    return text_in(
        form,
        warnings,
        lambda: envelope(command, inputs, options, warnings) | data,
        lambda: [data],
        lambda: table_text(table, form, to_file=to_file),
    )


def text_in(
    form: str,
    warnings: Sequence[ResultWarning],
    whole: Callable[[], dict[str, Any]],
    records: Callable[[], Iterable[Any]],
    shown: Callable[[], str],
) -> str:
    """Return a result in a format: the whole as JSON, records as JSON Lines, else what is shown."""
    if form == "json":
        return json_text(whole())
    if form in ("csv", "jsonl"):  # formats without a place for warnings
        print_warnings(warnings)
    return json_lines(records()) if form == "jsonl" else shown()


def json_lines(records: Iterable[Any]) -> str:
    """Return records as JSON, one per line."""
    import json

    return "".join(escaped(json.dumps(record, ensure_ascii=False)) + "\n" for record in records)


def inputs_of(
    result: CommandResult, qrels: str, judgments: int, others: Sequence[tuple[str, int]] = ()
) -> list[dict[str, Any]]:
    """Describe judgments, runs and further inputs; runs that were restored have no file."""
    inputs = [describe_input(qrels, judgments)]
    inputs += [describe_input(run.path, run.counts["documents_read"]) for run in result.runs if run.path]
    return inputs + [describe_input(path, rows) for path, rows in others]


def table_text(table: Table, form: str, *, to_file: bool = False) -> str:
    """Return a table in a format."""
    return render(table, form, to_file=to_file)


def with_notes(table: Table, notes: Sequence[object]) -> Table:
    """Put notes before those of a table."""
    table.notes[:0] = map(str, notes)
    return table


def for_screen(text: str, *, to_file: bool = False) -> str:
    """Return text with control characters escaped and, on a terminal, lines folded at its width."""
    text = visible(text, lines=True)
    if to_file or not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size((100, 24)).columns
    return "\n".join(part for line in text.split("\n") for part in folded(line, width))


def print_line(text: str) -> None:
    """Print a line about the result to standard output."""
    click.echo(for_screen(text))


def print_warnings(warnings: Sequence[object]) -> None:
    """Print warnings to standard error, apart from the result."""
    for notice in warnings:
        click.echo(f"leadline: {visible(str(notice))}", err=True)


def envelope(
    command: str, inputs: Sequence[dict[str, Any]], options: dict[str, Any], warnings: Sequence[ResultWarning]
) -> dict[str, Any]:
    """Return the keys common to all JSON results."""
    return {
        "leadline": VERSION,
        "command": command,
        "inputs": list(inputs),
        "options": options,
        "warnings": [
            {"code": notice.code, "message": notice.message, "count": notice.count} for notice in warnings
        ],
    }


def describe_input(path: str, rows: int) -> dict[str, Any]:
    """Return path, digest and number of rows of an input, and its ir_metadata header if there is one.

    The digest of pipes and collections is None.
    """
    described = {"path": path, "sha256": digest_of(path), "rows": rows}
    header = header_of(path)
    return described if header is None else described | {"ir_metadata": header}


def json_text(data: Any) -> str:
    """Return indented JSON."""
    import json

    return escaped(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def escaped(text: str) -> str:
    """Escape control and direction characters in JSON, which could change the state of a terminal.

    Surrogates, which represent bytes of ids that are not UTF-8, are escaped too, so that the output is valid
    UTF-8.
    """
    return re.sub(f"{UNSAFE.pattern}|[\ud800-\udfff]", _json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] == "\n":  # between values; within strings JSON has escaped it
        return match[0]
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
