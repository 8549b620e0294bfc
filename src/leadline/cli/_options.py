"""Progress bars of the commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any

import click


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
