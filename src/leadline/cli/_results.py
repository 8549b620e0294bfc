"""How every command writes what it found: as JSON with its envelope, as lines, or as a table."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import click

from leadline.cli._options import displays
from leadline.data.results import ResultWarning, RunInfo
from leadline.data.wording import UNSAFE, folded, visible
from leadline.io.opening import digest_of
from leadline.reporting.render import Table, render
from leadline.version import VERSION


class CommandResult(Protocol):
    """What a command found about runs."""

    @property
    def runs(self) -> Sequence[RunInfo]:
        """Return the runs."""

    @property
    def options(self) -> dict[str, Any]:
        """Return the options, defaults included."""

    @property
    def warnings(self) -> Sequence[ResultWarning]:
        """Return what the user should know."""


def results_text(
    command: str,
    found: CommandResult,
    data: Callable[[], dict[str, Any]],
    sheet: Callable[[], Table],
    *,
    form: str,
    qrels: str,
    judgments: int,
    to_file: bool,
    records: str = "runs",
    others: Sequence[tuple[str, int]] = (),
) -> str:
    """Write what was found about runs: `data` gives the command's own JSON keys, `sheet` its table.

    `records` is the key whose entries are the lines of JSONL; `others` are paths and rows of further inputs.
    """
    if form == "json":
        inputs = inputs_of(found, qrels, judgments, others)
        return json_text(envelope(command, inputs, found.options, found.warnings) | data())
    if form in ("csv", "jsonl"):  # they have no place for what the reader should know
        say(found.warnings)
    if form == "jsonl":
        import json

        return "".join(escaped(json.dumps(run, ensure_ascii=False)) + "\n" for run in data()[records])
    return table_text(sheet(), form, to_file=to_file)


def inputs_of(
    found: CommandResult, qrels: str, judgments: int, others: Sequence[tuple[str, int]] = ()
) -> list[dict[str, Any]]:
    """Describe judgments, runs and further inputs; runs that were restored have no file."""
    inputs = [describe_input(qrels, judgments)]
    inputs += [describe_input(run.path, run.counts["documents_read"]) for run in found.runs if run.path]
    return inputs + [describe_input(path, rows) for path, rows in others]


def table_text(sheet: Table, form: str, *, to_file: bool = False) -> str:
    """Write a table in a format, as `--quiet` and `--raw-csv` ask."""
    if displays("quiet"):
        sheet = replace(sheet, notes=[])
    return render(sheet, form, to_file=to_file, raw_csv=displays("raw_csv"))


def for_screen(text: str, *, to_file: bool = False) -> str:
    """Return text with control characters escaped and, on a terminal, lines folded at its width."""
    text = visible(text, lines=True)
    if to_file or not sys.stdout.isatty():
        return text
    width = shutil.get_terminal_size((100, 24)).columns
    return "\n".join(part for line in text.split("\n") for part in folded(line, width))


def tell(text: str) -> None:
    """Write a line about the result to standard output."""
    click.echo(for_screen(text))


def say(warnings: Sequence[object]) -> None:
    """Write notices to standard error, where programs that read the result do not look."""
    for notice in () if displays("quiet") else warnings:
        click.echo(f"leadline: {visible(str(notice))}", err=True)


def envelope(
    command: str, inputs: Sequence[dict[str, Any]], options: dict[str, Any], warnings: Sequence[ResultWarning]
) -> dict[str, Any]:
    """Return the keys that every JSON result begins with."""
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
    """Describe an input: path, digest, rows. Only files have a digest, not pipes or names of collections."""
    return {"path": path, "sha256": digest_of(path), "rows": rows}


def json_text(data: Any) -> str:
    """Write JSON that people can read too."""
    import json

    return escaped(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def escaped(text: str) -> str:
    """Write what JSON may hold but no terminal should get as escapes: control and direction characters.

    So is a byte of an id that is not UTF-8, which keeps JSON valid UTF-8. Programs read the same text.
    """
    return re.sub(f"{UNSAFE.pattern}|[\ud800-\udfff]", _json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] == "\n":  # between values; inside of a text JSON has escaped it
        return found[0]
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"
