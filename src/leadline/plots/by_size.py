"""How well several methods do as there are more systems, or topics: one line a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.plots import COLUMN, FAINT, LOOKS, style
from leadline.plots.legends import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure

APART = 0.03  # of their size stand neighbouring bars apart


def by_size(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    *,
    label: str = "Kendall tau with MAP",
    sizes: str = "number of systems",
    spans: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    width: float = COLUMN,
) -> Figure:
    """Draw (size, value) of every method; `sizes` say what is counted, on a logarithmic axis.

    `spans` are the lowest and highest values behind each point, drawn as bars, a little apart.

    >>> drawn = by_size({"nruns": [(5, 0.4), (20, 0.6)]})
    >>> drawn.axes[0].get_xlabel()
    'number of systems'
    """
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, width * 0.7), layout="constrained")
        axes = figure.add_subplot()
        axes.axhline(0, color=FAINT, linewidth=0.6)
        drawn = []
        for place, ((name, points), look) in enumerate(zip(lines.items(), LOOKS, strict=False)):
            aside = 1.0 if spans is None else 1 + APART * (place - (len(lines) - 1) / 2)
            order = np.argsort([size for size, _ in points])
            at, values = np.array(points, dtype=np.float64)[order].T
            drawn += axes.plot(
                at * aside, values, color=look.color, linestyle=look.dashes, marker=look.marker
            )
            if spans is not None:
                low, high = np.array(spans[name], dtype=np.float64)[order].T
                axes.vlines(at * aside, low, high, color=look.color, linewidth=0.8)
        ticks = sorted({size for points in lines.values() for size, _ in points})
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel(sizes)
        axes.set_ylabel(label)
        axes.grid(visible=True)
        legend_below(figure, drawn, list(lines)[: len(drawn)], width)
    return figure
