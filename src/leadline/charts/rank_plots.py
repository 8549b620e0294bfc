"""Ranks of runs with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from leadline.charts import COLUMN, FAINT, INK, LINE_STYLES, RULE, scaled, style
from leadline.charts.text_layout import FEW, finish_rows, height_of, legend_below, stretches
from leadline.data.wording import percent
from leadline.errors import UsageError

SHADE = 0.4  # opacity of the background

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ranks(
    names: Sequence[str],
    rank: ArrayLike,
    limits: ArrayLike,
    bootstrap: ArrayLike,
    group: Sequence[int],
    *,
    measure: str,
    confidence: float = 0.95,
    width: float = COLUMN,
) -> Figure:
    """Draw the rank of every run with its simultaneous and its bootstrap interval, one row per run.

    Examples
    --------
    >>> drawn = ranks(["a", "b"], [1, 2], [(1, 2), (1, 2)], [(1, 1), (2, 2)], [1, 1], measure="AP")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['rank by mean AP', '95 %, all runs at once', '95 %, each run (bootstrap)', 'group of the best']
    """
    middle, outer, inner = (np.asarray(part, dtype=np.float64) for part in (rank, limits, bootstrap))
    size = len(names)
    if middle.shape != (size,) or outer.shape != (size, 2) or inner.shape != (size, 2) or len(group) != size:
        raise UsageError(
            f"ranks of shape {middle.shape}; expected one and two limits for each of {size} runs"
        )
    rows, few = np.arange(size), size <= FEW
    with style():
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch
        from matplotlib.ticker import MaxNLocator

        figure = Figure(figsize=(width, height_of(size)), layout="constrained")
        axes = figure.add_subplot()
        for name, first, last in stretches([str(one) for one in group]):
            if name == "1":
                axes.axhspan(first - 0.5, last + 0.5, facecolor=RULE, alpha=SHADE, linewidth=0, zorder=0)
        thin, thick = scaled(0.9 if few else 0.6), scaled(3.4 if few else 2.2)
        drawn = np.isfinite(inner).all(axis=1)
        color = LINE_STYLES[0].color
        axes.hlines(rows, outer[:, 0], outer[:, 1], colors=FAINT, linewidth=thin, zorder=2)
        ends = np.concatenate([outer[:, 0], outer[:, 1]])
        axes.plot(
            ends,
            np.tile(rows, 2),
            linestyle="none",
            marker="|",
            markersize=scaled(4 if few else 2.5),
            markeredgewidth=thin,
            color=FAINT,
            zorder=2,
        )
        axes.hlines(
            rows[drawn], inner[drawn, 0], inner[drawn, 1], colors=color, linewidth=thick, alpha=0.55, zorder=3
        )
        axes.plot(
            middle,
            rows,
            linestyle="none",
            marker="o",
            markersize=scaled(3.6 if few else 2),
            color=INK,
            zorder=4,
        )
        axes.set_xlim(1 - 0.02 * size - 0.2, size + 0.02 * size + 0.2)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.set_xticks(
            [1, *(tick for tick in axes.get_xticks() if 1 < tick <= size and tick - 1 >= size / 12)]
        )
        finish_rows(axes, names, middle)
        axes.set_xlabel(f"rank by {measure} (1 is best)")
        level = percent(confidence)
        key: list[Line2D | Patch] = [
            Line2D([], [], linestyle="none", marker="o", markersize=scaled(3.6), color=INK),
            Line2D(
                [],
                [],
                linewidth=scaled(0.9),
                marker="|",
                markersize=scaled(4),
                color=FAINT,
                markeredgewidth=scaled(0.9),
            ),
            Patch(facecolor=RULE, alpha=SHADE, linewidth=0),
        ]
        labels = [f"rank by mean {measure}", f"{level}, all runs at once", "group of the best"]
        if drawn.any():
            key.insert(2, Line2D([], [], linewidth=scaled(3.4), color=color, alpha=0.55))
            labels.insert(2, f"{level}, each run (bootstrap)")
        legend_below(figure, key, labels, width)
    return figure
