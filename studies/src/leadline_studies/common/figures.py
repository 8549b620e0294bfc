"""Figures of studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from leadline.charts import COLUMN, FAINT, INK, LINE_STYLES, canvas, shortened, style
from leadline.charts.association_plots import association
from leadline.charts.text_layout import legend_below, name_rows, wrapped
from leadline.data.arrays import Floats
from leadline.data.table import plain
from leadline.data.wording import rounded
from leadline.stats.correlation import kendall, pearson

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@contextmanager
def blank(width: float, height: float, grid: str = "both") -> Iterator[tuple[Figure, Any]]:
    """Make a figure with one pair of axes, and their grid at the end."""
    with style():
        figure, axes = canvas(width, height)
        yield figure, axes
        axes.grid(visible=True, axis=grid)


def _line(axes: Any, x: Any, values: Any, place: int, **how: Any) -> Any:
    """Draw a line in the look of its place."""
    look = LINE_STYLES[place]
    how = {"linestyle": look.dashes, "marker": look.marker} | how
    return axes.plot(x, values, color=look.color, **how)[0]


def by_judge(judges: Sequence[str], values: ArrayLike, *, label: str) -> Figure:
    """Plot judges x systems, the systems in the order of the first judge.

    >>> drawn = by_judge(["ann", "ben"], [[0.2, 0.4], [0.1, 0.3]], label="AP")
    >>> drawn.axes[0].lines[0].get_ydata().tolist()
    [0.4, 0.2]
    """
    table = np.asarray(values, dtype=np.float64)
    table = table[:, np.argsort(-table[0], kind="stable")]
    ranks = np.arange(1, table.shape[1] + 1)
    names = shortened(judges, 16)
    separate = len(judges) - 1 <= len(LINE_STYLES)
    faint = {"color": FAINT, "linewidth": 0.5}
    others = {"markersize": 2.2, "markevery": max(1, len(ranks) // 8), "linewidth": 0.9}
    with blank(COLUMN, COLUMN * 0.8, "y") as (figure, axes):
        axes.plot(ranks, table[0], color=INK, linewidth=1.8, zorder=3, label=names[0])
        for index, row in enumerate(table[1:]):
            if separate:
                _line(axes, ranks, row, index, label=names[index + 1], **others)
            else:
                axes.plot(ranks, row, label="_" if index else f"{len(table) - 1} other judges", **faint)
        axes.set_xlabel(f"{table.shape[1]} systems, the best by {names[0]} first")
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside upper left", ncols=3 if max(map(len, names)) <= 9 else 2)
    return figure


SAMPLED = "sampled non-relevant documents per query"
SIZE_SPACING = 0.03  # of their size stand neighboring bars apart


def by_size(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    *,
    label: str,
    sizes: str,
    spans: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    width: float = COLUMN,
    zero: bool = True,
) -> Figure:
    """Plot (size, value) of every method, on a log axis; undefined values are gaps.

    >>> drawn = by_size({"nruns": [(5, 0.4), (20, 0.6)]}, label="tau", sizes="systems")
    >>> drawn.axes[0].get_xlabel()
    'systems'
    """
    with blank(width, width * 0.7) as (figure, axes):
        if zero:
            axes.axhline(0, color=FAINT, linewidth=0.6)
        artists = []
        for index, (name, points) in enumerate(list(lines.items())[: len(LINE_STYLES)]):
            aside = 1.0 if spans is None else 1 + SIZE_SPACING * (index - (len(lines) - 1) / 2)
            order = np.argsort([size for size, _ in points], kind="stable")
            x, values = np.array(points, dtype=np.float64)[order].T
            artists.append(_line(axes, x * aside, values, index))
            if spans is not None:
                low, high = np.array(spans[name], dtype=np.float64)[order].T
                axes.vlines(x * aside, low, high, color=LINE_STYLES[index].color, linewidth=0.8)
        ticks = sorted({size for points in lines.values() for size, _ in points})
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel(sizes)
        axes.set_ylabel(label)
        legend_below(figure, artists, list(lines)[: len(artists)], width)
    return figure


HEIGHT = 0.75  # inches of a panel
LABELS = 10  # that do not overlap in a column


def panels(columns: Mapping[str, Sequence[float]], along: Sequence[int], *, label: str) -> Figure:
    """Plot each column against `along`, on a log axis; undefined values are gaps.

    >>> drawn = panels({"MAP": [0.2, 0.3], "HSA": [4.0, 5.0]}, [50, 100], label="topics")
    >>> [axes.get_ylabel() for axes in drawn.axes]
    ['MAP', 'HSA']
    """
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(COLUMN, 0.4 + HEIGHT * len(columns)), layout="constrained")
        grid = figure.subplots(len(columns), 1, sharex=True, squeeze=False)[:, 0]
        for place, (axes, (name, values)) in enumerate(zip(grid, columns.items(), strict=True)):
            _line(axes, along, np.asarray(values, dtype=np.float64), place)
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


def operating_curves(curves: Mapping[str, tuple[Floats, Floats]]) -> Figure:
    """Plot ROC curves, one per predictor."""
    with blank(COLUMN, 0.93 * COLUMN) as (figure, axes):
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.6)
        shown = list(curves.items())[: len(LINE_STYLES)]
        lines = [_line(axes, *curve, place, marker=None) for place, (_, curve) in enumerate(shown)]
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        axes.set_aspect("equal")
        axes.set_xlabel("share of pairs of different teams taken for the same")
        axes.set_ylabel("share of pairs of one team found")
        legend_below(figure, lines, [name for name, _ in shown], COLUMN)
    return figure


def named_points(x: ArrayLike, y: ArrayLike, names: Sequence[str], *, across: str, up: str) -> Figure:
    """Plot one point per system, and name those that the two scores order differently.

    >>> drawn = named_points([0.1, 0.3, 0.4], [4.0, 2.0, None], ["bm25", "ql", "rm3"], across="MAP", up="HSA")
    >>> [text.get_text() for text in drawn.axes[0].texts]
    ['bm25', 'ql']
    """
    table = np.array([x, y], dtype=np.float64)
    defined = np.flatnonzero(np.isfinite(table).all(axis=0)).tolist()
    points, shown = table[:, defined], [names[index] for index in defined]
    coefficients = {"Pearson's r": pearson, "Kendall's tau-b": kendall}
    found = {name: rounded(plain(coefficient(*points))) for name, coefficient in coefficients.items()}
    return association(points[0], points[1], shown, across=across, up=up, coefficients=found, marked=False)


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
    with blank(width, 0.6 + len(names) * (len(groups) * STEP + 0.06), "x") as (figure, axes):
        if mark is not None:
            axes.axvline(mark, color=FAINT, linewidth=0.8)
        artists = []
        reach = 0.8 / max(len(groups), 1)
        for index, limits in enumerate(list(groups.values())[: len(LINE_STYLES)]):
            value, low, high = np.array(limits, dtype=np.float64).reshape(-1, 3).T
            rows = np.arange(len(names)) + (index - (len(groups) - 1) / 2) * reach
            defined = np.isfinite(value)
            bounded = defined & np.isfinite(low) & np.isfinite(high)
            color = LINE_STYLES[index].color
            axes.hlines(rows[bounded], low[bounded], high[bounded], colors=color, linewidth=1.0)
            artists.append(
                _line(axes, value[defined], rows[defined], index, linestyle="none", markersize=3.4)
            )
        axes.set_ylim(len(names) - 0.45, -0.55)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
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
) -> Figure:
    """Plot one panel per situation and one line per method, with bars of two standard errors."""
    methods = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(2 * COLUMN, 2.35), layout="constrained")
        artists: dict[str, Any] = {}
        for axes, (situation, lines) in zip(
            np.atleast_1d(figure.subplots(1, len(panels), sharey=True)), panels.items(), strict=True
        ):
            axes.axhline(promised, color=INK, linewidth=0.7)
            for name, rates in lines.items():
                index = methods.index(name)
                positions = np.arange(len(sizes)) + (index - (len(methods) - 1) / 2) * APART
                values, errors = np.array(rates, dtype=np.float64).T
                artists[name] = _line(axes, positions, values, index, linewidth=0.8)
                low, high = np.clip([values - 2 * errors, values + 2 * errors], 0.0, 1.0)
                axes.vlines(positions, low, high, color=LINE_STYLES[index].color, linewidth=0.8)
            axes.set_title(situation, fontsize=7.5, color=INK)
            axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
            axes.set_xlim(-0.5, len(sizes) - 0.5)
            axes.tick_params(axis="x", length=0)
            axes.grid(visible=True, axis="y")
        figure.axes[0].set_ylabel(label)
        figure.supxlabel(across, fontsize=7.5, color=INK)
        drawn = [artists[name] for name in methods]
        figure.legend(drawn, methods, loc="outside upper center", ncols=len(methods), borderpad=0)
    return figure
