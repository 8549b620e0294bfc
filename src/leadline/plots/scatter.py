"""The values of one run against those of another, query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.plots import COLUMN, FAINT, LOOKS, scaled, style
from leadline.plots._pairs import Sides, for_run, left_out, sides_of, winners
from leadline.plots._text import narrowed, wrapped
from leadline.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

LINE = 0.15  # inches: a line of the words above the points


def scatter(
    x: ArrayLike, y: ArrayLike, *, first: str, second: str, measure: object, width: float = COLUMN
) -> Figure:
    """Draw one point a query: its value in `second` (`x`) and in `first` (`y`), equal axes.

    Points above the diagonal are queries for `first` (for `second`, where the measure's `rising` is
    false and the lower value wins); words above the figure count both sides. A
    query whose value is NaN in one of the two is left out and counted.

    >>> drawn = scatter([0.1, 0.5], [0.3, 0.5], first="bm25", second="dense", measure="AP")
    >>> drawn.axes[0].get_ylabel(), drawn.get_suptitle().splitlines()[0]
    ('AP of bm25', 'above the diagonal: 1 query for bm25')
    """
    points = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if points[0].ndim != 1 or points[0].shape != points[1].shape:
        shapes = " and ".join(str(values.shape) for values in points)
        raise UsageError(f"values of shapes {shapes}; expected one for each query in both")
    table = np.stack(points)
    shown = table[:, ~np.isnan(table).any(axis=0)]
    with style():
        names = narrowed([first, second], 0.4 * width * 72, size=7.5, most=40)
        words = _words(sides_of(table[1] - table[0]), winners(names[0], names[1], measure))
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, width + scaled(LINE) * len(words)), layout="constrained")
        axes = figure.add_subplot()
        _square(axes, shown)
        axes.axline((0, 0), slope=1, color=FAINT, linewidth=scaled(0.8), zorder=1)
        axes.plot(
            shown[0], shown[1], linestyle="none", marker="o", markersize=scaled(4),
            color=LOOKS[0].color, alpha=_alpha(shown.shape[1]), clip_on=False,
        )  # fmt: skip
        figure.suptitle("\n".join(words), x=0.015, ha="left", fontsize=scaled(7))
        axes.set_xlabel(wrapped(f"{measure} of {names[1]}", 0.8 * width * 72))
        axes.set_ylabel(wrapped(f"{measure} of {names[0]}", 0.8 * width * 72))
    return figure


def _words(sides: Sides, names: list[str]) -> list[str]:
    """Say how many queries are on each side of the diagonal."""
    words = [
        f"above the diagonal: {for_run(sides.above, names[0])}",
        f"on it: {counted(sides.equal, 'query', 'queries')}",
        f"below: {for_run(sides.below, names[1])}",
    ]
    return words + ([left_out(sides.undefined)] if sides.undefined else [])


def _alpha(points: int) -> float:
    """Make points the fainter the more they are."""
    return float(np.clip(8 / max(points, 1) ** 0.5, 0.15, 0.6))


def _square(axes: Any, shown: Floats) -> None:
    """Give both axes the same range, ticks and length."""
    from matplotlib.ticker import MaxNLocator

    low, high = (float(shown.min()), float(shown.max())) if shown.size else (0.0, 1.0)
    margin = 0.03 * (high - low) or max(0.1, 0.1 * abs(high))
    axes.set_aspect("equal")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(low - margin, high + margin)
    axes.grid(visible=True)
