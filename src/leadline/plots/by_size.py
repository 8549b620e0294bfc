"""How well several methods do as there are more systems: one line a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from leadline.plots import COLUMN, FAINT, LOOKS, style
from leadline.plots.legends import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def by_size(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    *,
    label: str = "Kendall tau with MAP",
    width: float = COLUMN,
) -> Figure:
    """Draw (number of systems, value) of every method; numbers of systems stand on a logarithmic axis.

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
        for points, look in zip(lines.values(), LOOKS, strict=False):
            sizes, values = zip(*sorted(points), strict=True)
            drawn += axes.plot(
                sizes, values, color=look.color, linestyle=look.dashes, marker=look.marker
            )
        ticks = sorted({size for points in lines.values() for size, _ in points})
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("number of systems")
        axes.set_ylabel(label)
        axes.grid(visible=True)
        legend_below(figure, drawn, list(lines)[: len(drawn)], width)
    return figure
