"""What an estimate is worth by the size of the sample it was made from, one line an estimate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.plots import COLUMN, LOOKS, style
from leadline.plots.legends import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def by_sample(
    estimates: Mapping[str, Sequence[tuple[int, float]]],
    *,
    label: str,
    sample: str = "sampled non-relevant documents a query",
    width: float = COLUMN,
) -> Figure:
    """Draw (sample size, value) of every estimate, sizes on a log axis; undefined values are gaps.

    >>> drawn = by_sample({"HSA": [(10, 0.6), (100, 0.7)]}, label="Pearson")
    >>> drawn.axes[0].get_ylabel()
    'Pearson'
    """
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, width * 0.7), layout="constrained")
        axes = figure.add_subplot()
        lines = []
        for points, look in zip(estimates.values(), LOOKS, strict=False):
            table = np.asarray(sorted(points), dtype=np.float64)
            lines += axes.plot(
                table[:, 0],
                table[:, 1],
                color=look.color,
                linestyle=look.dashes,
                marker=look.marker,
            )
        sizes = sorted({int(size) for points in estimates.values() for size, _ in points})
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.set_xlabel(sample)
        axes.set_ylabel(label)
        axes.grid(visible=True)
        legend_below(figure, lines, list(estimates)[: len(lines)], width)
    return figure
