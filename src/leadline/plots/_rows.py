"""Rows of a figure that are runs: every one named, in smaller letters where they are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.plots import scaled
from leadline.plots._text import narrowed

FEW = 30  # rows in letters of the usual size
NAMED = (
    400  # more rows than that are numbered: a sheet of paper would have to be longer than a metre
)
TALL, LOW = 0.15, 0.1  # inches of one of few rows, and of one of many
SIZE, SMALL = 7.0, 5.5  # points: letters of the names
STEPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def height_of(rows: int, *, least: float = 0.0) -> float:
    """Give each run a line of text; in inches.

    >>> height_of(10), round(height_of(143), 2)
    (2.4, 15.2)
    """
    each = TALL if rows <= FEW else LOW if rows <= NAMED else 0.02
    return float(scaled(0.9 + max(each * rows, least)))


def size_of(rows: int) -> float:
    """Return the size of the letters of so many names, before they are scaled."""
    return SIZE if rows <= FEW else SMALL


def name_rows(axes: Any, names: Sequence[str], *, what: str = "runs") -> None:
    """Name the rows, the first at place 0; where there are too many, count them; call it in the style."""
    if len(names) <= NAMED:
        room, size = 0.45 * axes.figure.get_figwidth() * 72, size_of(len(names))
        most = 24 if len(names) <= FEW else 30
        axes.set_yticks(
            range(len(names)), narrowed(names, room, size=size, most=most), fontsize=scaled(size)
        )
        return
    step = next((step for step in STEPS if len(names) <= 30 * step), len(names))
    axes.set_yticks([0, *range(step - 1, len(names), step)])
    axes.set_yticklabels([str(row + 1) for row in axes.get_yticks()])
    axes.set_ylabel(
        f"{len(names)} {what}, the best mean at the top"
        if what == "runs"
        else f"{len(names):,} {what}"
    )
