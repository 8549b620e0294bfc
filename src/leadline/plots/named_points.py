"""Two numbers of some systems, each point named at the side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.arrays import Floats
from leadline.plots import COLUMN, FAINT, LOOKS, style
from leadline.plots._text import narrowed, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

NAMED = 40  # with more systems the points stand alone
LINE = 8.5  # points: the height of a name with the space above it
LEADER = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
AROUND = 38  # points above and below the axes


def named_points(
    x: ArrayLike, y: ArrayLike, names: Sequence[str], *, across: str, up: str, width: float = COLUMN
) -> Figure:
    """Draw one point a system; its name stands on the right at the end of a thin line.

    `across` and `up` label the axes. A system with an undefined number has no point. More than 40 systems
    are not named.

    >>> drawn = named_points([0.1, 0.3], [4.0, 2.0], ["bm25", "dense"], across="MAP", up="HSA")
    >>> [text.get_text() for text in drawn.axes[0].texts if text.get_text()]
    ['dense', 'bm25']
    """
    table = np.array([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)])
    shown = np.flatnonzero(np.isfinite(table).all(axis=0))
    few = len(shown) <= NAMED
    height = max(0.75 * width, (few * len(shown) * LINE + AROUND) / 72)
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(
            table[0, shown], table[1, shown], linestyle="none", marker="o", markersize=3.5,
            color=LOOKS[0].color, alpha=None if few else 0.6,
        )  # fmt: skip
        short = narrowed(names, 0.35 * width * 72, size=6, most=22)
        order = shown[np.argsort(table[1, shown], kind="stable")].tolist() if few else []
        low, high = axes.get_ylim()
        places = _spread((table[1, order] - low) / (high - low), LINE / (height * 72 - AROUND))
        for place, at in zip(order, places.tolist(), strict=True):
            axes.text(1.07, at, short[place], size=6, va="center", transform=axes.transAxes)
            axes.annotate(
                "", (table[0, place], table[1, place]), xytext=(1.06, at), textcoords="axes fraction",
                annotation_clip=False, arrowprops=LEADER,
            )  # fmt: skip
        axes.set_xlabel(wrapped(across, 0.6 * width * 72))
        axes.set_ylabel(wrapped(up, 0.6 * height * 72))
        axes.grid(visible=True)
    return figure


def _spread(heights: Floats, gap: float) -> Floats:
    """Move rising heights as little as may be until neighbours are a gap apart, within 0 to 1 if they fit.

    >>> _spread(np.array([0.5, 0.5, 0.9]), 0.1).round(2).tolist()
    [0.45, 0.55, 0.9]
    """
    groups: list[tuple[float, int]] = []  # middle and size of each stack
    for height in heights.tolist():
        middle, size = height, 1
        while groups and groups[-1][0] + gap * (groups[-1][1] + size) / 2 > middle:
            other, others = groups.pop()
            middle = (middle * size + other * others) / (size + others)
            size += others
            room = gap * (size - 1) / 2
            middle = min(max(middle, room), max(1 - room, room))
        groups.append((middle, size))
    found = [
        middle + gap * (place - (size - 1) / 2) for middle, size in groups for place in range(size)
    ]
    return np.array(found)
