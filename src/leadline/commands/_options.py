"""What the commands share: options, progress, and writing files."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from leadline.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("table", "csv", "json", "jsonl", "markdown", "latex")


def output_options(function: F) -> F:
    """Add `-f/--format` and `-o/--output`."""
    function = click.option(
        "-o", "--output", metavar="FILE", help="Write the result to FILE instead of the screen."
    )(function)
    return click.option(
        "-f", "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True,
        help="How the result is written.",
    )(function)  # fmt: skip


def reading_options(function: F) -> F:
    """Add what says how runs and qrels are read."""
    options = (
        click.option("--order", type=click.Choice(["score", "rank"]), default="score",
                     help="What orders a list: the score (default), or the rank column."),
        click.option("--on-duplicate", type=click.Choice(["refuse", "first", "last", "max", "hold"]),
                     default="refuse", help="A document twice in a list: refuse it (default), keep the "
                     "first, the last, the one of highest score, or hold its rank as non-relevant."),
        click.option("--on-nan", type=click.Choice(["refuse", "drop"]), default="refuse",
                     help="A score that is no number: refuse it (default) or drop the line."),
        click.option("--negative", type=click.Choice(["nonrelevant", "unjudged"]),
                     default="nonrelevant", help="What a negative grade means in rank measures."),
        click.option("--name-by", type=click.Choice(["file", "tag"]), default="file",
                     help="What names a run."),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def deliver(text: str, output: str | None) -> None:
    """Write text to a file, complete or not at all, or to standard output."""
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    write_whole(output, text.encode("utf-8", "surrogateescape"))


def write_whole(path: str, content: bytes) -> None:
    """Write a file so that it is complete or absent."""
    import tempfile

    folder = os.path.dirname(os.path.abspath(path))
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".leadline-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def progress(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error when that is a terminal and the work takes over a second."""
    started = time.monotonic()
    bar: Any = None
    task: Any = None

    def advance(done: int, total: int) -> None:
        nonlocal bar, task
        if bar is None and time.monotonic() - started > 1 and done < total and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            bar = Progress(console=Console(stderr=True), transient=True)
            bar.start()
            task = bar.add_task(noun, total=total)
        if bar is not None:
            bar.update(task, completed=done)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.stop()
