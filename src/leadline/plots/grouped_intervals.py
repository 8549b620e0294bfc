"""Several values with intervals a row, one look a group: many methods on few systems, or by few rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.plots import COLUMN, FAINT, LOOKS, style
from leadline.plots._rows import name_rows
from leadline.plots._text import wrapped
from leadline.plots.legends import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 0.1  # inches between the values of a row
Limits = tuple[float, float, float]


def grouped_intervals(
    names: Sequence[str],
    groups: Mapping[str, Sequence[Limits]],
    *,
    label: str,
    mark: float | None = 0.0,
    width: float = COLUMN,
) -> Figure:
    """Draw a point and its interval for every row and group: (value, low, high), rows downwards.

    `mark` is where a thin line stands. What is not finite is not drawn; the row stays.

    >>> drawn = grouped_intervals(["NQC(tail)"], {"BM25": [(0.2, 0.1, 0.3)]}, label="tau")
    >>> [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    ['NQC(tail)']
    """
    with style():
        from matplotlib.figure import Figure

        height = 0.6 + len(names) * (len(groups) * STEP + 0.06)
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        if mark is not None:
            axes.axvline(mark, color=FAINT, linewidth=0.8)
        drawn = []
        reach = 0.8 / max(len(groups), 1)
        for place, (limits, look) in enumerate(zip(groups.values(), LOOKS, strict=False)):
            value, low, high = np.array(limits, dtype=np.float64).reshape(-1, 3).T
            rows = np.arange(len(names)) + (place - (len(groups) - 1) / 2) * reach
            known = np.isfinite(value)
            bounded = known & np.isfinite(low) & np.isfinite(high)
            axes.hlines(
                rows[bounded], low[bounded], high[bounded], colors=look.color, linewidth=1.0
            )
            drawn += axes.plot(
                value[known], rows[known], linestyle="none", marker=look.marker, markersize=3.4,
                color=look.color,
            )  # fmt: skip
        axes.set_ylim(len(names) - 0.45, -0.55)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x")
        name_rows(axes, names)
        axes.set_xlabel(wrapped(label, 0.6 * width * 72))
        legend_below(figure, drawn, list(groups)[: len(drawn)], width)
    return figure
