"""Rows of a figure that are runs: named while they are few, numbered when they are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.plots._text import narrowed

NAMED = 30  # more rows than that are numbered, not named
STEPS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def height_of(rows: int, width: float, *, least: float = 0.0) -> float:
    """Give each named run a line of text, and many runs the shape of a page; in inches.

    >>> height_of(10, 3.4), height_of(143, 3.4)
    (2.4, 5.1)
    """
    if rows <= NAMED:
        return 0.9 + max(0.15 * rows, least)
    return round(min(1.5 * width, 0.9 + 0.035 * rows), 3)


def name_rows(axes: Any, names: Sequence[str]) -> None:
    """Name the runs, the first at place 0; where there are too many, count them; call it in the style."""
    if len(names) <= NAMED:
        room = 0.45 * axes.figure.get_figwidth() * 72
        axes.set_yticks(range(len(names)), narrowed(names, room, size=7, most=24))
        return
    step = next((step for step in STEPS if len(names) <= 30 * step), len(names))
    axes.set_yticks([0, *range(step - 1, len(names), step)])
    axes.set_yticklabels([str(row + 1) for row in axes.get_yticks()])
    axes.set_ylabel(f"{len(names)} runs, the best mean at the top")
