"""Estimates of systems against what they truly are, the best ones named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.plots import COLUMN, LOOKS, style
from leadline.plots._text import narrowed

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


def against_truth(
    estimate: ArrayLike,
    truth: ArrayLike,
    names: Sequence[str],
    *,
    label: str,
    measure: str = "MAP",
    named: int = 3,
    width: float = COLUMN,
) -> Figure:
    """Draw one point a system; the `named` best in truth and the best by the estimate carry their names.

    >>> drawn = against_truth([0.1, 0.3], [0.2, 0.4], ["bm25", "dense"], label="nruns")
    >>> [text.get_text() for text in drawn.axes[0].texts]
    ['bm25', 'dense']
    """
    x, y = np.asarray(truth, dtype=np.float64), np.asarray(estimate, dtype=np.float64)
    with style():
        from matplotlib.figure import Figure
        from matplotlib.patheffects import withStroke

        figure = Figure(figsize=(width, 0.85 * width), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(
            x, y, linestyle="none", marker="o", markersize=3.5, color=LOOKS[0].color, alpha=0.6,
        )  # fmt: skip
        shown = narrowed(names, 0.35 * width * 72, size=6, most=20)
        chosen = {*np.argsort(-x)[:named].tolist(), *np.argsort(-y)[:named].tolist()}
        axes.plot(
            x[list(chosen)], y[list(chosen)], linestyle="none", marker="o", markersize=4.5,
            markerfacecolor="none", markeredgecolor=LOOKS[1].color, markeredgewidth=0.8,
        )  # fmt: skip
        edge = withStroke(linewidth=2, foreground="#ffffff")  # keeps names readable over points
        middle = (x.min() + x.max()) / 2
        places = _apart([(float(y[place]), place) for place in chosen], 0.045 * (np.ptp(y) or 1.0))
        for height, place in places:
            left = x[place] < middle
            axes.text(
                x[place] + (0.015 if left else -0.015) * (np.ptp(x) or 1.0), height, shown[place],
                fontsize=6, va="center", ha="left" if left else "right", path_effects=[edge],
                zorder=1.5,  # over the grid, under the points
            )  # fmt: skip
        axes.set_xlabel(measure)
        axes.set_ylabel(label)
        axes.grid(visible=True)
    return figure


def _apart(heights: list[tuple[float, int]], gap: float) -> list[tuple[float, int]]:
    """Move labels up until each is a line above the one below."""
    found: list[tuple[float, int]] = []
    for height, place in sorted(heights):
        lowest = found[-1][0] + gap if found else height
        found.append((max(height, lowest), place))
    return sorted(found, key=lambda item: item[1])
