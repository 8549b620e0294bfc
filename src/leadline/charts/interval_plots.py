"""Figures of values with intervals, one row per run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from leadline.charts import COLUMN, INK, LINE_STYLES, RULE, scaled, style
from leadline.charts.text_layout import (
    FEW,
    NAMED,
    SIZE,
    finish_rows,
    height_of,
    legend_below,
    name_rows,
    narrowed,
    room_beside_names,
    width_of,
    wrapped,
)
from leadline.data.arrays import Floats
from leadline.errors import UsageError

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

    Examples
    --------
    >>> drawn = forest(["bm25", "dense"], [0.31, 0.24], [0.28, 0.2], [0.34, 0.28], label="AP")
    >>> [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    ['bm25', 'dense']
    """
    table = _table(names, means, lows, highs, reference)
    titles = _with_headings(headings or {})
    if titles:
        if reference is not None:
            raise UsageError("use only one of a reference and headings")
        names = _insert(names, headings or {}, "")
        table = np.array([_insert(column, headings or {}, np.nan) for column in table.tolist()])
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height_of(len(names))), layout="constrained")
        axes = figure.add_subplot()
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

    Examples
    --------
    >>> words = ["estimate", "interval", "bounds", "new run", "other"]
    >>> inner, outer = [(0.2, 0.4), (0.1, 0.3)], [(0.1, 0.5), (0.0, 0.4)]
    >>> drawn = nested_intervals(["a", "b"], [0.3, 0.2], inner, outer, label="P", words=words)
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['estimate', 'interval', 'bounds']
    """
    middle, line, band = (np.asarray(part, dtype=np.float64) for part in (values, inner, outer))
    size = len(names)
    if middle.shape != (size,) or line.shape != (size, 2) or band.shape != (size, 2):
        raise UsageError(
            f"values of shape {middle.shape}; expected one and two limits for each of {size} runs"
        )
    rows, few, width = np.arange(size), size <= FEW, width or COLUMN
    fresh = np.array(list(new) or [False] * size, dtype=np.bool_)
    ticks = None if others is None else np.asarray(others, dtype=np.float64)
    with style():
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D

        figure = Figure(figsize=(width, height_of(size)), layout="constrained")
        axes = figure.add_subplot()
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
        for flags, word, dots in points:
            if flags.any():
                axes.plot(middle[flags], rows[flags], zorder=4, **dots)
                key.insert(0, Line2D([], [], **dots | {"markersize": scaled(4)}))
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

    Examples
    --------
    >>> values = ([0.9, 0.8], [0.5, 0.4], [0.45, 0.35], [0.55, 0.45], [0.5, 0.42])
    >>> drawn = against_truth(["a", "b"], *values, label="P", estimated="5")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['labels alone', '5, 95 % interval', 'truth']
    """
    table = _table(names, means, lows, highs, None)
    others = [np.asarray(column, dtype=np.float64) for column in (machine, truth)]
    rows = np.arange(len(names))
    with style():
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D

        figure = Figure(figsize=(width, height_of(len(names)) + scaled(0.3)), layout="constrained")
        axes = figure.add_subplot()
        machine_style, estimate_style = LINE_STYLES[1], LINE_STYLES[0]
        _draw(axes, table, np.ones(len(names), dtype=np.bool_), estimate_style.marker, estimate_style.color)
        size = scaled(4)
        axes.plot(
            others[0],
            rows,
            linestyle="none",
            marker=machine_style.marker,
            markersize=size,
            color=machine_style.color,
        )
        axes.plot(
            others[1], rows, linestyle="none", marker="|", markersize=2 * size, markeredgewidth=1.2, color=INK
        )
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x")
        name_rows(axes, names, what="runs")
        for name, text in zip(names, axes.get_yticklabels(), strict=False):
            if name == marked:
                text.set_fontweight("bold")
        axes.set_xlabel(label)
        key = [
            Line2D(
                [],
                [],
                linestyle="none",
                marker=machine_style.marker,
                markersize=size,
                color=machine_style.color,
            ),
            Line2D([], [], marker=estimate_style.marker, markersize=size, color=estimate_style.color),
            Line2D([], [], linestyle="none", marker="|", markersize=2 * size, markeredgewidth=1.2, color=INK),
        ]
        labels = ["labels alone", f"{estimated}, 95 % interval", "truth"]
        legend_below(figure, key, labels, width)
    return figure


def _table(
    names: Sequence[str], means: ArrayLike, lows: ArrayLike, highs: ArrayLike, reference: int | None
) -> Floats:
    """Return means, lower and upper limits as three rows."""
    columns = [np.asarray(column, dtype=np.float64) for column in (means, lows, highs)]
    if any(column.shape != (len(names),) for column in columns):
        shapes = ", ".join(str(column.shape) for column in columns)
        raise UsageError(f"means, lows and highs of shapes {shapes}; expected ({len(names)},) each")
    if reference is not None and not 0 <= reference < len(names):
        raise UsageError(f"reference {reference}; expected a place from 0 to {len(names) - 1}")
    return np.stack(columns)


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
    axes.plot(
        table[0, pointed],
        rows[pointed],
        linestyle="none",
        marker=marker,
        markersize=scaled(4 if few else 1.8),
        color=color,
    )


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
