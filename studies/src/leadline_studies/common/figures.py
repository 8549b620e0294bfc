"""Figures of studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from leadline.charts import COLUMN, FAINT, INK, LINE_STYLES, shortened, style
from leadline.charts.text_layout import legend_below, name_rows, narrowed, wrapped
from leadline.data.arrays import Floats
from leadline.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def by_judge(judges: Sequence[str], values: ArrayLike, *, label: str, width: float = COLUMN) -> Figure:
    """Plot judges x systems, the systems in the order of the first judge.

    >>> drawn = by_judge(["ann", "ben"], [[0.2, 0.4], [0.1, 0.3]], label="AP")
    >>> drawn.axes[0].lines[0].get_ydata().tolist()
    [0.4, 0.2]
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(judges) or not table.size:
        raise UsageError(f"values of shape {table.shape}; expected {len(judges)} judges x systems")
    table = table[:, np.argsort(-table[0], kind="stable")]
    ranks = np.arange(1, table.shape[1] + 1)
    names = shortened(judges, 16)
    separate = len(judges) - 1 <= len(LINE_STYLES)
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, width * 0.8), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(ranks, table[0], color=INK, linewidth=1.8, zorder=3, label=names[0])
        for index, row in enumerate(table[1:]):
            look = LINE_STYLES[index % len(LINE_STYLES)]
            axes.plot(
                ranks,
                row,
                color=look.color if separate else FAINT,
                linewidth=0.9 if separate else 0.5,
                linestyle=look.dashes if separate else "solid",
                marker=look.marker if separate else None,
                markersize=2.2,
                markevery=max(1, len(ranks) // 8),
                label=names[index + 1] if separate else "_" if index else f"{len(table) - 1} other judges",
            )
        axes.set_xlabel(f"{table.shape[1]} systems, the best by {names[0]} first")
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, axis="y")
        figure.legend(loc="outside upper left", ncols=3 if max(map(len, names)) <= 9 else 2)
    return figure


def by_sample(
    estimates: Mapping[str, Sequence[tuple[int, float]]],
    *,
    label: str,
    sample: str = "sampled non-relevant documents per query",
    width: float = COLUMN,
) -> Figure:
    """Plot (sample size, value) of every estimate, on a log axis; undefined values are gaps.

    >>> drawn = by_sample({"HSA": [(10, 0.6), (100, 0.7)]}, label="Pearson")
    >>> drawn.axes[0].get_ylabel()
    'Pearson'
    """
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, width * 0.7), layout="constrained")
        axes = figure.add_subplot()
        lines = []
        for points, look in zip(estimates.values(), LINE_STYLES, strict=False):
            table = np.asarray(sorted(points), dtype=np.float64)
            lines += axes.plot(
                table[:, 0], table[:, 1], color=look.color, linestyle=look.dashes, marker=look.marker
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


SIZE_SPACING = 0.03  # of their size stand neighboring bars apart


def by_size(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    *,
    label: str = "Kendall tau with MAP",
    sizes: str = "number of systems",
    spans: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    width: float = COLUMN,
) -> Figure:
    """Plot (size, value) of every method, on a log axis; `sizes` is its label.

    >>> drawn = by_size({"nruns": [(5, 0.4), (20, 0.6)]})
    >>> drawn.axes[0].get_xlabel()
    'number of systems'
    """
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, width * 0.7), layout="constrained")
        axes = figure.add_subplot()
        axes.axhline(0, color=FAINT, linewidth=0.6)
        artists = []
        for index, ((name, points), look) in enumerate(zip(lines.items(), LINE_STYLES, strict=False)):
            aside = 1.0 if spans is None else 1 + SIZE_SPACING * (index - (len(lines) - 1) / 2)
            order = np.argsort([size for size, _ in points])
            x, values = np.array(points, dtype=np.float64)[order].T
            artists += axes.plot(
                x * aside, values, color=look.color, linestyle=look.dashes, marker=look.marker
            )
            if spans is not None:
                low, high = np.array(spans[name], dtype=np.float64)[order].T
                axes.vlines(x * aside, low, high, color=look.color, linewidth=0.8)
        ticks = sorted({size for points in lines.values() for size, _ in points})
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel(sizes)
        axes.set_ylabel(label)
        axes.grid(visible=True)
        legend_below(figure, artists, list(lines)[: len(artists)], width)
    return figure


HEIGHT = 0.75  # inches of a panel
LABELS = 10  # that do not overlap in a column


def panels(
    columns: Mapping[str, Sequence[float]], along: Sequence[int], *, label: str, width: float = COLUMN
) -> Figure:
    """Plot each column against `along`, on a log axis; undefined values are gaps.

    >>> drawn = panels({"MAP": [0.2, 0.3], "HSA": [4.0, 5.0]}, [50, 100], label="topics")
    >>> [axes.get_ylabel() for axes in drawn.axes]
    ['MAP', 'HSA']
    """
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 0.4 + HEIGHT * len(columns)), layout="constrained")
        grid = figure.subplots(len(columns), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (name, values), look in zip(grid, columns.items(), LINE_STYLES, strict=False):
            axes.plot(
                along,
                np.asarray(values, dtype=np.float64),
                color=look.color,
                linestyle=look.dashes,
                marker=look.marker,
            )
            axes.set_ylabel(name)
            axes.margins(y=0.15)
            axes.grid(visible=True)
        grid[-1].set_xscale("log")
        grid[-1].minorticks_off()
        positions = np.linspace(0, len(along) - 1, min(len(along), LABELS)).round().astype(int).tolist()
        ticks = [along[index] for index in positions]
        grid[-1].set_xticks(ticks, [f"{tick:,}" for tick in ticks])
        grid[-1].set_xlabel(label)
        figure.align_ylabels(list(grid))
    return figure


def operating_curves(curves: Mapping[str, tuple[Floats, Floats]], *, width: float = COLUMN) -> Figure:
    """Plot ROC curves, one per predictor."""
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 0.93 * width), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.6)
        lines = []
        for (false, true), look in zip(curves.values(), LINE_STYLES, strict=False):
            lines += axes.plot(false, true, color=look.color, linestyle=look.dashes)
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_aspect("equal")
        axes.set_xlabel("share of pairs of different teams taken for the same")
        axes.set_ylabel("share of pairs of one team found")
        axes.grid(visible=True)
        legend_below(figure, lines, list(curves)[: len(lines)], width)
    return figure


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
    """Plot one point per system, with labels for the `named` best by truth and the best by estimate.

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
        axes.plot(x, y, linestyle="none", marker="o", markersize=3.5, color=LINE_STYLES[0].color, alpha=0.6)
        labels = narrowed(names, 0.35 * width * 72, size=6, most=20)
        chosen = {*np.argsort(-x)[:named].tolist(), *np.argsort(-y)[:named].tolist()}
        axes.plot(
            x[list(chosen)],
            y[list(chosen)],
            linestyle="none",
            marker="o",
            markersize=4.5,
            markerfacecolor="none",
            markeredgecolor=LINE_STYLES[1].color,
            markeredgewidth=0.8,
        )
        edge = withStroke(linewidth=2, foreground="#ffffff")  # keeps names readable over points
        middle = (x.min() + x.max()) / 2
        heights = _separate([(float(y[index]), index) for index in chosen], 0.045 * (np.ptp(y) or 1.0))
        for label_height, index in heights:
            left = x[index] < middle
            axes.text(
                x[index] + (0.015 if left else -0.015) * (np.ptp(x) or 1.0),
                label_height,
                labels[index],
                fontsize=6,
                va="center",
                ha="left" if left else "right",
                path_effects=[edge],
                zorder=1.5,  # over the grid, under the points
            )
        axes.set_xlabel(measure)
        axes.set_ylabel(label)
        axes.grid(visible=True)
    return figure


def _separate(heights: list[tuple[float, int]], gap: float) -> list[tuple[float, int]]:
    """Move labels up until each is a line above the previous one."""
    moved: list[tuple[float, int]] = []
    for height, index in sorted(heights):
        lowest = moved[-1][0] + gap if moved else height
        moved.append((max(height, lowest), index))
    return sorted(moved, key=lambda item: item[1])


NAMED = 40  # with more systems the points stand alone
POINT_LINE = 8.5  # points: the height of a name with the space above it
LEADER = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 2}
POINT_MARGIN = 38  # points above and below the axes


def named_points(
    x: ArrayLike, y: ArrayLike, names: Sequence[str], *, across: str, up: str, width: float = COLUMN
) -> Figure:
    """Plot one point per system, labeled on the right with a leader line.

    >>> drawn = named_points([0.1, 0.3], [4.0, 2.0], ["bm25", "dense"], across="MAP", up="HSA")
    >>> [text.get_text() for text in drawn.axes[0].texts if text.get_text()]
    ['dense', 'bm25']
    """
    table = np.array([np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)])
    defined = np.flatnonzero(np.isfinite(table).all(axis=0))
    few = len(defined) <= NAMED
    height = max(0.75 * width, (few * len(defined) * POINT_LINE + POINT_MARGIN) / 72)
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(
            table[0, defined],
            table[1, defined],
            linestyle="none",
            marker="o",
            markersize=3.5,
            color=LINE_STYLES[0].color,
            alpha=None if few else 0.6,
        )
        short = narrowed(names, 0.35 * width * 72, size=6, most=22)
        order = defined[np.argsort(table[1, defined], kind="stable")].tolist() if few else []
        low, high = axes.get_ylim()
        label_heights = _spread_labels(
            (table[1, order] - low) / (high - low), POINT_LINE / (height * 72 - POINT_MARGIN)
        )
        for index, y_label in zip(order, label_heights.tolist(), strict=True):
            axes.text(1.07, y_label, short[index], size=6, va="center", transform=axes.transAxes)
            axes.annotate(
                "",
                (table[0, index], table[1, index]),
                xytext=(1.06, y_label),
                textcoords="axes fraction",
                annotation_clip=False,
                arrowprops=LEADER,
            )
        axes.set_xlabel(wrapped(across, 0.6 * width * 72))
        axes.set_ylabel(wrapped(up, 0.6 * height * 72))
        axes.grid(visible=True)
    return figure


def _spread_labels(heights: Floats, gap: float) -> Floats:
    """Move increasing heights as little as possible to a minimum gap, within 0 to 1 if they fit.

    >>> _spread_labels(np.array([0.5, 0.5, 0.9]), 0.1).round(2).tolist()
    [0.45, 0.55, 0.9]
    """
    groups: list[tuple[float, int]] = []  # middle and size of each stack
    for height in heights.tolist():
        middle, size = height, 1
        while groups and groups[-1][0] + gap * (groups[-1][1] + size) / 2 > middle:
            below, size_below = groups.pop()
            middle = (middle * size + below * size_below) / (size + size_below)
            size += size_below
            room = gap * (size - 1) / 2
            middle = min(max(middle, room), max(1 - room, room))
        groups.append((middle, size))
    positions = [middle + gap * (index - (size - 1) / 2) for middle, size in groups for index in range(size)]
    return np.array(positions)


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
    """Plot a point and interval for every row and group: (value, low, high), rows downwards.

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
        artists = []
        reach = 0.8 / max(len(groups), 1)
        for index, (limits, look) in enumerate(zip(groups.values(), LINE_STYLES, strict=False)):
            value, low, high = np.array(limits, dtype=np.float64).reshape(-1, 3).T
            rows = np.arange(len(names)) + (index - (len(groups) - 1) / 2) * reach
            defined = np.isfinite(value)
            bounded = defined & np.isfinite(low) & np.isfinite(high)
            axes.hlines(rows[bounded], low[bounded], high[bounded], colors=look.color, linewidth=1.0)
            artists += axes.plot(
                value[defined],
                rows[defined],
                linestyle="none",
                marker=look.marker,
                markersize=3.4,
                color=look.color,
            )
        axes.set_ylim(len(names) - 0.45, -0.55)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x")
        name_rows(axes, names)
        axes.set_xlabel(wrapped(label, 0.6 * width * 72))
        legend_below(figure, artists, list(groups)[: len(artists)], width)
    return figure


Rates = Sequence[tuple[float, float]]  # a rate and its Monte Carlo standard error, per size
APART = 0.16  # of the way from one size to the next: so far the marks of two methods are apart


def significance_errors(
    panels: Mapping[str, Mapping[str, Rates]],
    sizes: Sequence[int],
    *,
    promised: float,
    label: str,
    across: str = "queries",
    width: float = 2 * COLUMN,
) -> Figure:
    """Plot one panel per situation and one line per method, with bars of two standard errors."""
    methods = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    if len(methods) > len(LINE_STYLES):
        raise UsageError(f"{len(methods)} methods; expected {len(LINE_STYLES)} or fewer")
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 2.35), layout="constrained")
        artists: dict[str, Any] = {}
        for axes, (situation, lines) in zip(
            np.atleast_1d(figure.subplots(1, len(panels), sharey=True)), panels.items(), strict=True
        ):
            axes.axhline(promised, color=INK, linewidth=0.7)
            for name, rates in lines.items():
                index = methods.index(name)
                shift = (index - (len(methods) - 1) / 2) * APART
                artists[name] = _line(axes, rates, np.arange(len(sizes)) + shift, index)
            axes.set_title(situation, fontsize=7.5, color=INK)
            axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
            axes.set_xlim(-0.5, len(sizes) - 0.5)
            axes.tick_params(axis="x", length=0)
            axes.grid(visible=True, axis="y")
        figure.axes[0].set_ylabel(label)
        figure.supxlabel(across, fontsize=7.5, color=INK)
        figure.legend(
            [artists[name] for name in methods],
            methods,
            loc="outside upper center",
            ncols=len(methods),
            borderpad=0,
        )
    return figure


def _line(axes: Any, rates: Rates, positions: Any, method: int) -> Any:
    look = LINE_STYLES[method]
    values, errors = np.array(rates, dtype=np.float64).T
    (line,) = axes.plot(
        positions, values, color=look.color, linestyle=look.dashes, marker=look.marker, linewidth=0.8
    )
    low, high = np.clip([values - 2 * errors, values + 2 * errors], 0.0, 1.0)
    axes.vlines(positions, low, high, color=look.color, linewidth=0.8)
    return line
