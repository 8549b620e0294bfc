"""Performance as a parameter changes: one line a family of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.plots import COLUMN, LOOKS, scaled, style
from leadline.plots.legends import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def by_parameter(
    families: Mapping[str, Sequence[tuple[float, float]]],
    *,
    label: str = "RIC (bits)",
    parameter: str = "parameter, from its smallest value (0) to its largest (1)",
    width: float = COLUMN,
) -> Figure:
    """Draw (parameter, performance) of every family; parameters are scaled to 0 to 1, the best is ringed."""
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, width * 0.7), layout="constrained")
        axes = figure.add_subplot()
        lines = []
        for points, look in zip(families.values(), LOOKS, strict=False):
            table = np.asarray(sorted(points), dtype=np.float64)
            low, high = table[0, 0], table[-1, 0]
            along = (table[:, 0] - low) / (high - low) if high > low else np.zeros(len(table))
            lines += axes.plot(
                along, table[:, 1], color=look.color, linestyle=look.dashes, marker=look.marker
            )
            best = int(np.argmax(table[:, 1]))
            axes.plot(
                along[best], table[best, 1], marker="o", markersize=scaled(8), markerfacecolor="none",
                markeredgecolor=look.color, markeredgewidth=0.8,
            )  # fmt: skip
        axes.set_xlabel(parameter)
        axes.set_ylabel(label)
        axes.grid(visible=True)
        labels = [
            f"{name} ({min(points)[0]:g} to {max(points)[0]:g})"
            for name, points in families.items()
        ]
        legend_below(figure, lines, labels[: len(lines)], width)
    return figure
