"""Figures of values or ranks with intervals, one row per run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from leadline.charts import COLUMN, FAINT, INK, LINE_STYLES, RULE, canvas, dots, scaled, style
from leadline.charts.text_layout import (
    FEW,
    NAMED,
    SIZE,
    finish_rows,
    height_of,
    legend_below,
    narrowed,
    room_beside_names,
    stretches,
    width_of,
    wrapped,
)
from leadline.data.arrays import Floats
from leadline.data.wording import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


def forest(
    names: Sequence[str],
    means: ArrayLike,
    lows: ArrayLike,
    highs: ArrayLike,
    *,
    label: str,
    reference: int | None = None,
    zero: bool = False,
    rows: str = "runs",
    headings: Mapping[int, str] | None = None,
    width: float = COLUMN,
) -> Figure:
    """Draw a forest plot, the mean and interval of each run in one row.

    >>> drawn = forest(["bm25", "dense"], [0.31, 0.24], [0.28, 0.2], [0.34, 0.28], label="AP")
    >>> [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    ['bm25', 'dense']
    """
    table = _table(means, lows, highs)
    titles = _with_headings(headings or {})
    if titles:
        names = _insert(names, headings or {}, "")
        table = np.array([_insert(column, headings or {}, np.nan) for column in table.tolist()])
    with style():
        figure, axes = canvas(width, height_of(len(names)))
        others = np.arange(len(names)) != reference
        _draw(axes, table, others, LINE_STYLES[0].marker, LINE_STYLES[0].color)
        if reference is not None:
            _draw(axes, table, ~others, LINE_STYLES[1].marker, INK)
        if zero:
            axes.axvline(0, color=INK, linewidth=scaled(0.6), zorder=0)
        finish_rows(axes, names, table[0], what=rows, both_ends=reference is None, headings=titles)
        if reference is not None:
            _baseline(axes, names, table[0], reference)
        axes.set_xlabel(wrapped(label, room_beside_names(axes, named=len(names) <= NAMED)))
    return figure


Cell = TypeVar("Cell")


def _insert(column: Sequence[Cell], headings: Mapping[int, str], cell: Cell) -> list[Cell]:
    """Return a column with a cell more for every heading."""
    return [each for row, value in enumerate(column) for each in ([cell] * (row in headings) + [value])]


def _with_headings(headings: Mapping[int, str]) -> dict[int, str]:
    """Return the headings by their own rows, of which each moves the later ones down.

    >>> _with_headings({0: "first", 2: "second"})
    {0: 'first', 3: 'second'}
    """
    return {row + before: headings[row] for before, row in enumerate(sorted(headings))}


def nested_intervals(
    names: Sequence[str],
    values: ArrayLike,
    inner: ArrayLike,
    outer: ArrayLike,
    *,
    label: str,
    words: Sequence[str],
    new: Sequence[bool] = (),
    others: ArrayLike | None = None,
    width: float | None = None,
) -> Figure:
    """Draw estimates with an interval and a wider one behind it, one row per run.

    >>> words = ["estimate", "interval", "bounds", "new run", "other"]
    >>> inner, outer = [(0.2, 0.4), (0.1, 0.3)], [(0.1, 0.5), (0.0, 0.4)]
    >>> drawn = nested_intervals(["a", "b"], [0.3, 0.2], inner, outer, label="P", words=words)
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['estimate', 'interval', 'bounds']
    """
    middle, line, band = (np.asarray(part, dtype=np.float64) for part in (values, inner, outer))
    size = len(names)
    rows, few, width = np.arange(size), size <= FEW, width or COLUMN
    fresh = np.array(list(new) or [False] * size, dtype=np.bool_)
    with style():
        from matplotlib.lines import Line2D

        figure, axes = canvas(width, height_of(size))
        look = LINE_STYLES[0]
        dot: dict[str, Any] = {"linestyle": "none", "marker": look.marker, "color": look.color}
        ring = dot | {"markerfacecolor": "white", "markeredgewidth": scaled(0.9)}
        tick: dict[str, Any] = {"linestyle": "none", "marker": "|", "color": LINE_STYLES[1].color}
        tick |= {"markersize": scaled(6 if few else 4), "markeredgewidth": scaled(1.2 if few else 0.8)}
        size_of_dot = {"markersize": scaled(4 if few else 2)}
        key: list[Line2D] = []
        labels: list[str] = []
        points = [(fresh, words[3], ring | size_of_dot), (~fresh, words[0], dot | size_of_dot)]
        if others is not None:
            ticks = np.asarray(others, dtype=np.float64)
            axes.plot(ticks, rows, zorder=3, **tick)
            key.append(Line2D([], [], **tick))
            labels.append(words[4])
        spans = [
            (band, words[2], RULE, 5.0 if few else 3.0),
            (line, words[1], look.color, 1.3 if few else 0.7),
        ]
        for limits, word, color, thickness in spans:
            shown = np.isfinite(limits).all(axis=1)
            if shown.any():
                low, high = limits[shown].T
                axes.hlines(rows[shown], low, high, colors=color, linewidth=scaled(thickness), zorder=2)
                key.insert(0, Line2D([], [], color=color, linewidth=scaled(thickness)))
                labels.insert(0, word)
        for flags, word, point in points:
            if flags.any():
                axes.plot(middle[flags], rows[flags], zorder=4, **point)
                key.insert(0, Line2D([], [], **point | {"markersize": scaled(4)}))
                labels.insert(0, word)
        finish_rows(axes, names, middle)
        axes.set_xlabel(wrapped(label, room_beside_names(axes, named=size <= NAMED)))
        legend_below(figure, key, labels, width)
    return figure


def against_truth(
    names: Sequence[str],
    machine: ArrayLike,
    means: ArrayLike,
    lows: ArrayLike,
    highs: ArrayLike,
    truth: ArrayLike,
    *,
    label: str,
    estimated: str,
    marked: str = "",
    width: float = COLUMN,
) -> Figure:
    """Draw values by machine labels alone, estimates with intervals, and true values, one row per run.

    >>> values = ([0.9, 0.8], [0.5, 0.4], [0.45, 0.35], [0.55, 0.45], [0.5, 0.42])
    >>> drawn = against_truth(["a", "b"], *values, label="P", estimated="5")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['labels alone', '5, 95 % interval', 'truth']
    """
    table = _table(means, lows, highs)
    others = [np.asarray(column, dtype=np.float64) for column in (machine, truth)]
    rows = np.arange(len(names))
    with style():
        from matplotlib.lines import Line2D

        figure, axes = canvas(width, height_of(len(names)) + scaled(0.3))
        machine_style, estimate_style = LINE_STYLES[1], LINE_STYLES[0]
        _draw(axes, table, np.ones(len(names), dtype=np.bool_), estimate_style.marker, estimate_style.color)
        size = scaled(4)
        alone: dict[str, Any] = {"linestyle": "none", "marker": machine_style.marker, "markersize": size}
        alone["color"] = machine_style.color
        true: dict[str, Any] = {"linestyle": "none", "marker": "|", "markersize": 2 * size, "color": INK}
        true["markeredgewidth"] = 1.2
        axes.plot(others[0], rows, **alone)
        axes.plot(others[1], rows, **true)
        finish_rows(axes, names, table[0])
        for name, text in zip(names, axes.get_yticklabels(), strict=False):
            if name == marked:
                text.set_fontweight("bold")
        axes.set_xlabel(label)
        estimates = Line2D([], [], marker=estimate_style.marker, markersize=size, color=estimate_style.color)
        key = [Line2D([], [], **alone), estimates, Line2D([], [], **true)]
        labels = ["labels alone", f"{estimated}, 95 % interval", "truth"]
        legend_below(figure, key, labels, width)
    return figure


def _table(means: ArrayLike, lows: ArrayLike, highs: ArrayLike) -> Floats:
    """Return means, lower and upper limits as three rows."""
    return np.stack([np.asarray(column, dtype=np.float64) for column in (means, lows, highs)])


def _draw(axes: Any, table: Floats, selected: Any, marker: str, color: str) -> None:
    """Draw rows, with finer marks if there are many."""
    rows = np.arange(table.shape[1])
    few = len(rows) <= FEW
    bounded = selected & np.isfinite(table[1:]).all(axis=0)
    axes.hlines(
        rows[bounded],
        table[1, bounded],
        table[2, bounded],
        colors=color,
        linewidth=scaled(1.3 if few else 0.7),
        alpha=None if few else 0.7,
    )
    pointed = selected & np.isfinite(table[0])
    dots(axes, table[0, pointed], rows[pointed], marker, 4 if few else 1.8, color)


def _baseline(axes: Any, names: Sequence[str], means: Floats, reference: int) -> None:
    if not np.isfinite(means[reference]):
        return
    axes.axvline(means[reference], color=INK, linewidth=scaled(0.6), linestyle=LINE_STYLES[2].dashes)
    low, high = axes.get_xlim()
    share = (means[reference] - low) / (high - low)
    side = "left" if share < 1 / 3 else "right" if share > 2 / 3 else "center"
    room = room_beside_names(axes, named=len(names) <= NAMED) - 8
    room *= {"left": 1 - share, "right": 1.0, "center": 2 * (1 - share)}[side]
    (name,) = narrowed([names[reference]], room - width_of("baseline: ", SIZE), size=SIZE, most=24)
    axes.annotate(
        f"baseline: {name}",
        (means[reference], 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 1.5),
        textcoords="offset points",
        ha=side,
        size=scaled(7),
        annotation_clip=False,
    )


SHADE = 0.4  # opacity of the background of a group


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

    >>> drawn = ranks(["a", "b"], [1, 2], [(1, 2), (1, 2)], [(1, 1), (2, 2)], [1, 1], measure="AP")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['rank by mean AP', '95 %, all runs at once', '95 %, each run (bootstrap)', 'group of the best']
    """
    middle, outer, inner = (np.asarray(part, dtype=np.float64) for part in (rank, limits, bootstrap))
    size = len(names)
    rows, few = np.arange(size), size <= FEW
    with style():
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch
        from matplotlib.ticker import MaxNLocator

        figure, axes = canvas(width, height_of(size))
        for name, first, last in stretches([str(one) for one in group]):
            if name == "1":
                axes.axhspan(first - 0.5, last + 0.5, facecolor=RULE, alpha=SHADE, linewidth=0, zorder=0)
        thin, thick = scaled(0.9 if few else 0.6), scaled(3.4 if few else 2.2)
        drawn = np.isfinite(inner).all(axis=1)
        color = LINE_STYLES[0].color
        axes.hlines(rows, outer[:, 0], outer[:, 1], colors=FAINT, linewidth=thin, zorder=2)
        ends = np.concatenate([outer[:, 0], outer[:, 1]])
        dots(axes, ends, np.tile(rows, 2), "|", 4 if few else 2.5, FAINT, markeredgewidth=thin, zorder=2)
        axes.hlines(
            rows[drawn], inner[drawn, 0], inner[drawn, 1], colors=color, linewidth=thick, alpha=0.55, zorder=3
        )
        dots(axes, middle, rows, "o", 3.6 if few else 2, INK, zorder=4)
        axes.set_xlim(1 - 0.02 * size - 0.2, size + 0.02 * size + 0.2)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.set_xticks(
            [1, *(tick for tick in axes.get_xticks() if 1 < tick <= size and tick - 1 >= size / 12)]
        )
        finish_rows(axes, names, middle)
        axes.set_xlabel(f"rank by {measure} (1 is best)")
        level = percent(confidence)
        line: dict[str, Any] = {"linewidth": scaled(0.9), "markeredgewidth": scaled(0.9), "color": FAINT}
        key: list[Line2D | Patch] = [
            Line2D([], [], linestyle="none", marker="o", markersize=scaled(3.6), color=INK),
            Line2D([], [], marker="|", markersize=scaled(4), **line),
            Patch(facecolor=RULE, alpha=SHADE, linewidth=0),
        ]
        labels = [f"rank by mean {measure}", f"{level}, all runs at once", "group of the best"]
        if drawn.any():
            key.insert(2, Line2D([], [], linewidth=scaled(3.4), color=color, alpha=0.55))
            labels.insert(2, f"{level}, each run (bootstrap)")
        legend_below(figure, key, labels, width)
    return figure
