"""Distributions: values of queries as boxes, violins or lines, and histograms of scores with their fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.charts import (
    COLUMN,
    FAINT,
    LINE_STYLES,
    canvas,
    dots,
    drawable,
    enlarged,
    ink,
    scaled,
    shortened,
    style,
)
from leadline.charts.line_plots import lines_of_runs
from leadline.charts.text_layout import (
    FEW,
    SMALL,
    finish_rows,
    height_of,
    legend_below,
    narrowed,
    width_of,
    wrapped,
)
from leadline.data.arrays import Floats
from leadline.data.wording import counted
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
    title: str = "",
    width: float | None = None,
) -> Figure:
    """Draw models side by side: both histograms on a logarithmic axis, and their log ratio below.

    The line in the lower panel has the slope HSA and passes through the centroid of the points.
    Source: Krstovski, Smith and Kurtz (2015), figures 1 and 2.

    >>> drawn = histograms(["bm25"], [[[1, 2, 4], [9, 4, 1]]], hsa=[5.4], do=[0.7])
    >>> [axes.get_ylabel() for axes in drawn.axes]
    ['documents', 'ln (relevant / non-relevant)']
    """
    table = np.asarray(counts, dtype=np.float64)
    if not 1 <= len(names) <= MOST:
        raise UsageError(f"this figure can show 1 to {MOST} runs side by side, not {len(names)}")
    with style():
        from matplotlib.figure import Figure

        inches = enlarged(width or max(1.0, 0.65 * len(names)) * COLUMN)
        figure = Figure(figsize=(inches, enlarged(3.1)), layout="constrained")
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
        if title:
            figure.suptitle(title, fontsize=scaled(7.5))
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
        axes.plot(span, ratio.mean() + hsa * (span - centre.mean()), color=ink(), linewidth=scaled(1))
    axes.axhline(0, color=ink(), linewidth=scaled(0.5), linestyle=(0, (1, 2)))
    axes.grid(visible=True)


SHAPES = ("box", "violin")
POINTS = 101  # of the outline of a violin
IDS = 60  # maximum number of queries whose ids are on the axis


def distributions(
    names: Sequence[str],
    values: Sequence[ArrayLike],
    means: ArrayLike,
    *,
    label: str,
    shape: str = "box",
    rows: str = "runs",
    limits: tuple[float, float] = (-np.inf, np.inf),
    width: float = COLUMN,
) -> Figure:
    """Draw the distribution of values over queries, one row per run.

    A box extends from the first to the third quartile, with a line at the median; its whiskers extend to the
    farthest values within 1.5 times the interquartile range, and points are values beyond (Tukey 1977). A
    violin is a Gaussian kernel density (Scott's rule) within the range of the values, of the same height in
    every row. Markers are means.

    >>> drawn = distributions(["bm25", "dense"], [[0.1, 0.5, 0.3], [0.2, 0.2]], [0.3, 0.2], label="AP")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['median and quartiles', 'mean']
    """
    tables = [np.asarray(row, dtype=np.float64) for row in values]
    tables = [row[np.isfinite(row)] for row in tables]
    middle = np.asarray(means, dtype=np.float64)
    few = len(names) <= FEW
    with style():
        from matplotlib.lines import Line2D

        width = enlarged(width)
        figure, axes = canvas(width, height_of(len(names)))
        spread = _boxes(axes, tables, few=few) if shape == "box" else _violins(axes, tables, limits, few=few)
        size = scaled(3 if few else 1.8)
        mean: dict[str, Any] = {"linestyle": "none", "marker": "D", "markersize": size, "color": ink()}
        axes.plot(middle, np.arange(len(names)), zorder=5, **mean)
        finish_rows(axes, names, [row.size or np.nan for row in tables], label, what=rows)
        key = [spread, Line2D([], [], **mean | {"markersize": scaled(3)})]
        words = "median and quartiles" if shape == "box" else "density, median and quartiles"
        legend_below(figure, key, [words, "mean"], width)
    return figure


def _boxes(axes: Any, tables: Sequence[Floats], *, few: bool) -> Any:
    """Draw boxes with whiskers and outliers; return the legend key."""
    from matplotlib.cbook import boxplot_stats

    color, thin = LINE_STYLES[0].color, scaled(0.8 if few else 0.5)
    for row, table in enumerate(tables):
        if not len(table):
            continue
        (found,) = boxplot_stats(table)
        axes.hlines(
            [row, row],
            [found["whislo"], found["q3"]],
            [found["q1"], found["whishi"]],
            colors=color,
            linewidth=thin,
        )
        _quartiles(axes, row, found["q1"], found["med"], found["q3"], height=0.62)
        beyond = found["fliers"]
        dots(axes, beyond, np.full(len(beyond), row), "o", 1.8 if few else 0.9, FAINT, zorder=1.5)
    return _key(color)


def _quartiles(axes: Any, row: int, low: float, median: float, high: float, *, height: float) -> None:
    from matplotlib.patches import Rectangle

    color = LINE_STYLES[0].color
    axes.add_patch(
        Rectangle(
            (low, row - height / 2),
            high - low,
            height,
            facecolor=color,
            alpha=0.35,
            edgecolor=color,
            linewidth=scaled(0.6),
            zorder=3,
        )
    )
    axes.vlines(median, row - height / 2, row + height / 2, colors=color, linewidth=scaled(1.4), zorder=4)


def _violins(axes: Any, tables: Sequence[Floats], limits: tuple[float, float], *, few: bool) -> Any:
    """Draw densities with quartiles; return the legend key."""
    from scipy.stats import gaussian_kde

    color = LINE_STYLES[0].color
    for row, table in enumerate(tables):
        if not len(table):
            continue
        low, median, high = np.quantile(table, [0.25, 0.5, 0.75]).tolist()
        if np.ptp(table) > 0:
            margin = 0.1 * np.ptp(table)
            ends = max(table.min() - margin, limits[0]), min(table.max() + margin, limits[1])
            along = np.linspace(*ends, POINTS)
            density = gaussian_kde(table)(along)
            half = 0.45 * density / density.max()
            axes.fill_between(
                along, row - half, row + half, facecolor=color, alpha=0.35, linewidth=0, zorder=2
            )
        _quartiles(axes, row, low, median, high, height=0.3 if few else 0.4)
    return _key(color)


def _key(color: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=color, alpha=0.5, edgecolor=color, linewidth=scaled(0.6))


def by_query(
    names: Sequence[str],
    values: ArrayLike,
    queries: Sequence[str],
    *,
    label: str,
    rising: bool = True,
    width: float | None = None,
) -> Figure:
    """Draw the per-query values, one line per run, from the hardest query by the mean of the runs.

    If there are more runs than line styles, only the best are colored and labeled.

    >>> drawn = by_query(["bm25", "dense"], [[0.5, 0.1], [0.4, 0.2]], ["q1", "q2"], label="AP")
    >>> [text.get_text() for text in drawn.axes[0].get_xticklabels()]
    ['q2', 'q1']
    """
    table = np.asarray(values, dtype=np.float64)
    defined = ~np.isnan(table)
    kept = np.flatnonzero(defined.any(axis=0))
    sums, number = np.where(defined, table, 0.0).sum(axis=0)[kept], defined.sum(axis=0)[kept]
    means = sums / number
    order = kept[np.argsort(means if rising else -means, kind="stable")]
    few = len(order) <= IDS
    with style():
        inches = enlarged(width or max(COLUMN, min(2 * COLUMN, 0.6 + 0.11 * len(order))))
        figure, axes = canvas(inches, enlarged(0.62 * COLUMN + (0.35 if few else 0.1)))
        look: dict[str, Any] = {"markersize": scaled(2.4), "linewidth": scaled(0.9), "alpha": 0.9}
        look |= {} if few else {"marker": ""}
        drawn = lines_of_runs(axes, names, np.arange(len(order)), table[:, order], 0.4, **look)
        axes.set_ylabel(wrapped(label, enlarged(0.8 * 0.62 * COLUMN * 72)))
        axes.grid(visible=True, axis="y")
        axes.set_xlim(-0.5, max(len(order), 1) - 0.5)
        if not len(order):
            axes.set_yticks([])
            axes.text(0.5, 0.5, "undefined", ha="center", transform=axes.transAxes)
        _name_queries(axes, [drawable(queries[place]) for place in order.tolist()], inches)
        legend_below(figure, *drawn, inches)
    return figure


def _name_queries(axes: Any, ids: list[str], inches: float) -> None:
    """Put the ids of the queries on the axis, every k-th if they are many, none if they are very many."""
    words = f"{counted(len(ids), 'query', 'queries')}, hardest on the left"
    if len(ids) > IDS:
        axes.set_xticks([])
        axes.set_xlabel(words)
        return
    space = 72 * (inches - enlarged(0.7)) / max(len(ids), 1)
    step = max(1, int(np.ceil(scaled(SMALL * 1.25) / space)))
    shown = shortened(ids, 12)[::step]
    level = step == 1 and max((width_of(name, SMALL) for name in shown), default=0.0) < 0.9 * space
    axes.set_xticks(range(0, len(ids), step), shown, rotation=0 if level else 90, fontsize=scaled(SMALL))
    axes.tick_params(axis="x", length=scaled(1.5))
    axes.set_xlabel(words if step == 1 else f"{words} (1 in {step} is named)")
