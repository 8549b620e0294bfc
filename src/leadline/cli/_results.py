"""What commands print beside their tables: lines, warnings, progress bars, and descriptions of inputs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any

import click

from leadline.data.wording import folded, terminal_columns, visible
from leadline.io.opening import digest_of


def inputs_of(
    result: Any, qrels: str, judgments: int, others: Sequence[tuple[str, int]] = ()
) -> list[dict[str, Any]]:
    """Describe judgments, runs and further inputs; runs that were restored have no file."""
    inputs = [describe_input(qrels, judgments)]
    inputs += [describe_input(run.path, run.counts["documents_read"]) for run in result.runs if run.path]
    return inputs + [describe_input(path, rows) for path, rows in others]


def for_screen(text: str, *, to_file: bool = False) -> str:
    """Return text with control characters escaped and, on a terminal, lines folded at its width."""
    text = visible(text, lines=True)
    if to_file or not sys.stdout.isatty():
        return text
    width = terminal_columns(100)
    return "\n".join(part for line in text.split("\n") for part in folded(line, width))


def print_line(text: str) -> None:
    """Print a line about the result to standard output."""
    click.echo(for_screen(text))


def print_warnings(warnings: Sequence[object]) -> None:
    """Print warnings to standard error, apart from the result."""
    for notice in filter(str, warnings):
        click.echo(f"leadline: {visible(str(notice))}", err=True)


def describe_input(path: str, rows: int) -> dict[str, Any]:
    """Return path, digest and number of rows of an input, and its ir_metadata header if there is one.

    The digest of pipes and collections is None.
    """
    described = {"path": path, "sha256": digest_of(path), "rows": rows}
    from leadline.io.write import header_of

    header = header_of(path)
    return described if header is None else described | {"ir_metadata": header}


def write_output(text: str) -> None:
    """Write text to standard output."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:  # an id that is not UTF-8: write its original bytes
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.flush()


@contextmanager
def progress(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error if it is a terminal and the work takes over a second."""
    started = time.monotonic()
    bar: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar
        begins = bar is None and time.monotonic() - started > 1
        if begins and (done < total or not total) and sys.stderr.isatty():
            steps = None if total else repeat(None)  # 0: the total is unknown
            bar = click.progressbar(
                steps, length=total or None, label=noun, file=sys.stderr, show_pos=True, update_min_steps=1
            )
            bar.render_progress()
        if bar is not None:
            bar.update(done - bar.pos)

    try:
        yield advance
    finally:
        if bar is not None:
            sys.stderr.write("\r\x1b[2K\x1b[?25h")  # clear the line, show the cursor
            sys.stderr.flush()
