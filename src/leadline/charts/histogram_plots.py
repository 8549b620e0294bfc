"""Figure of HSA and DO: histograms of scores, and the regression line of their log ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.charts import COLUMN, INK, LINE_STYLES, dots, scaled, style
from leadline.charts.text_layout import legend_below, narrowed
from leadline.data.arrays import Floats
from leadline.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


MOST = 4  # maximum number of models side by side
RELEVANT, OTHER = 0, 1  # indices in LINE_STYLES


def histograms(
    names: Sequence[str],
    counts: ArrayLike,
    *,
    hsa: Sequence[float],
    do: Sequence[float],
    of: str = "scores",
    width: float | None = None,
) -> Figure:
    """Draw models side by side: both histograms on a logarithmic axis, and their log ratio below.

    The line in the lower panel has the slope HSA and passes through the centroid of the points.

    References
    ----------
    Krstovski, Smith and Kurtz (2015), figures 1 and 2.

    Examples
    --------
    >>> drawn = histograms(["bm25"], [[[1, 2, 4], [9, 4, 1]]], hsa=[5.4], do=[0.7])
    >>> [axes.get_ylabel() for axes in drawn.axes]
    ['documents', 'ln (relevant / non-relevant)']
    """
    table = np.asarray(counts, dtype=np.float64)
    if not 1 <= len(names) <= MOST:
        raise UsageError(f"a figure shows 1 to {MOST} runs side by side, not {len(names)}")
    inches = width or max(1.0, 0.65 * len(names)) * COLUMN
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(inches, 3.1), layout="constrained")
        grid = figure.subplots(2, len(names), sharex=True, sharey="row", squeeze=False)
        labels = narrowed(names, 0.8 * inches / len(names) * 72, size=7.5, most=40)
        patches: list[Any] = []
        top = max(12.0, 1.5 * table.max(initial=0.0))
        for index, (upper, lower) in enumerate(grid.T):
            patches = _both(upper, table[index], top)
            upper.set_title(f"{labels[index]}\nDO {_number(do[index])}", fontsize=scaled(7.5))
            _line(lower, table[index], hsa[index])
            lower.set_title(f"HSA {_number(hsa[index])}", fontsize=scaled(7.5))
            lower.set_xlabel(f"normalized {of}")
        grid[0, 0].set_ylabel("documents")
        grid[1, 0].set_ylabel("ln (relevant / non-relevant)")
        figure.align_ylabels(list(grid[:, 0]))
        legend_below(figure, patches, ["relevant", "non-relevant"], inches)
    return figure


def _number(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.2f}"


def _both(axes: Any, counts: Floats, top: float) -> list[Any]:
    """Draw both histograms as overlaid steps that differ in gray level."""
    edges = np.linspace(0, 1, counts.shape[1] + 1)
    nonrelevant = axes.stairs(
        counts[1],
        edges,
        baseline=0.5,
        fill=True,
        facecolor=LINE_STYLES[OTHER].color,
        alpha=0.3,
        edgecolor=LINE_STYLES[OTHER].color,
        linewidth=scaled(1),
    )
    axes.stairs(counts[1], edges, baseline=0.5, color=LINE_STYLES[OTHER].color, linestyle=(0, (5, 1.5)))
    relevant = axes.stairs(
        counts[0], edges, baseline=0.5, color=LINE_STYLES[RELEVANT].color, linewidth=scaled(1.5)
    )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _place: f"{value:,.0f}")
    axes.minorticks_off()
    axes.set_ylim(0.5, top)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", "0.5", "", "1"])
    axes.grid(visible=True, axis="y")
    return [relevant, nonrelevant]


def _line(axes: Any, counts: Floats, hsa: float) -> None:
    """Draw the log ratio of the used bins, with the regression line of slope HSA."""
    used = (counts > 0).all(axis=0)
    centre = ((np.arange(counts.shape[1]) + 0.5) / counts.shape[1])[used]
    ratio = np.log(counts[0][used] / counts[1][used])
    dots(axes, centre, ratio, "o", 3.6, LINE_STYLES[RELEVANT].color)
    if len(centre) and not math.isnan(hsa):
        span = np.array([0.0, 1.0])
        axes.plot(span, ratio.mean() + hsa * (span - centre.mean()), color=INK, linewidth=scaled(1))
    axes.axhline(0, color=INK, linewidth=scaled(0.5), linestyle=(0, (1, 2)))
    axes.grid(visible=True)
