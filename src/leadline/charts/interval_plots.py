"""Figures of values with intervals, one row per run, reproduction or arm of an A/B test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from leadline.charts import (
    COLUMN,
    FAINT,
    FONT,
    LINE_STYLES,
    RULE,
    canvas,
    dots,
    drawable,
    enlarged,
    ink,
    paper,
    scaled,
    shortened,
    style,
)
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
    wrapped_to,
)
from leadline.data.arrays import Floats
from leadline.data.wording import counted, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

POINTS = 600  # maximum number of points of a line
Path = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]


def two_arms(
    names: Sequence[str],
    rates: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    *,
    path: Path | None = None,
    unit: str = "user",
    confidence: float = 0.95,
    width: float = COLUMN,
) -> Figure:
    """Draw the clickthrough rates of A and B with intervals, in percent, and their difference over time.

    >>> drawn = two_arms(["old", "new"], [0.05, 0.06], [0.04, 0.05], [0.06, 0.07])
    >>> [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    ['A: old', 'B: new']
    """
    with style():
        from matplotlib.figure import Figure

        size = enlarged(width), enlarged(1.15 if path is None else 3.1)
        figure = Figure(figsize=size, layout="constrained")
        if path is None:
            axes, below = figure.add_subplot(), None
        else:
            axes, below = figure.subplots(2, 1, height_ratios=[1, 2.4])
        labels = [
            name if name == letter else f"{letter}: {name}"
            for letter, name in zip("AB", shortened(names, 24), strict=True)
        ]
        for row, (name, rate, low, high) in enumerate(zip(labels, rates, lows, highs, strict=True)):
            look = LINE_STYLES[row]
            axes.hlines([row], [100 * low], [100 * high], colors=look.color, linewidth=scaled(1.4))
            axes.plot(100 * rate, row, look.marker, ls="-", ms=scaled(5), color=look.color, label=name)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x")
        axes.set_xlabel(f"clickthrough (%), {100 * confidence:g} % interval")
        if below is not None and path is not None:
            _difference(below, path, unit, confidence)
    return figure


def _difference(axes: Any, path: Path, unit: str, confidence: float) -> None:
    """Draw the difference over users with its anytime-valid confidence sequence."""
    from matplotlib.ticker import MaxNLocator

    users, middle, low, high = (np.asarray(column, dtype=np.float64) for column in path)
    bounded = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    axes.axhline(0, color=ink(), linewidth=scaled(0.6))
    if len(bounded):
        drawn = bounded[np.unique(np.linspace(0, len(bounded) - 1, POINTS).astype(int))]
        axes.fill_between(
            users[drawn],
            100 * low[drawn],
            100 * high[drawn],
            color=LINE_STYLES[0].color,
            alpha=0.22,
            linewidth=scaled(0),
        )
        axes.plot(users[drawn], 100 * middle[drawn], color=LINE_STYLES[0].color)
        look = LINE_STYLES[0]
        axes.plot([users[drawn][-1]], [100 * middle[drawn][-1]], marker=look.marker, color=look.color)
        # the first intervals are so wide that the others would be invisible on their scale
        last, reach = 100 * middle[drawn][-1], 300 * float(np.median((high - low)[bounded]))
        least, most = max(100 * low[drawn].min(), last - reach), min(100 * high[drawn].max(), last + reach)
        axes.set_ylim(min(least, 0.0) - 0.04 * reach, max(most, 0.0) + 0.04 * reach)
    else:
        few = f"no interval yet: too few {unit}s\nwith a click, or too few without"
        axes.text(0.5, 0.5, few, ha="center", transform=axes.transAxes)
        axes.set_yticks([])
    axes.grid(visible=True, axis="y")
    axes.set_xlim(0, users[-1] if len(users) else 1)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    band = f"\nband: {100 * confidence:g} % interval, valid at every look" if len(bounded) else ""
    axes.set_xlabel(f"{unit}s so far{band}", loc="right")
    axes.set_ylabel("B \N{MINUS SIGN} A (percentage points)")


RUNS = ("baseline", "advanced")


def by_query(baseline: ArrayLike, advanced: ArrayLike, *, measure: str, width: float = COLUMN) -> Figure:
    """Draw reproduced minus original per-query values, of each run in descending order.

    >>> drawn = by_query([0.1, 0.0, -0.1], [0.2, 0.1, 0.0], measure="AP")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['baseline, RMSE 0.082', 'advanced, RMSE 0.129']
    """
    runs = [np.asarray(values, dtype=np.float64) for values in (baseline, advanced)]
    with style():
        from matplotlib.ticker import MaxNLocator

        width = enlarged(width)
        figure, axes = canvas(width, 0.6 * width)
        axes.axhline(0, color=ink(), linewidth=scaled(0.6), zorder=1)
        lines, labels = [], []
        for name, values, look in zip(RUNS, runs, LINE_STYLES, strict=False):
            few = len(values) <= 60
            (line,) = axes.plot(
                np.arange(1, len(values) + 1),
                -np.sort(-values),
                marker=look.marker if few else None,
                markersize=scaled(2.4),
                **look.line,
            )
            lines.append(line)
            labels.append(f"{name}, RMSE {np.sqrt((values**2).mean()):.3f}")
        axes.grid(visible=True, axis="y")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.set_ylabel(f"{drawable(measure)}, reproduced \N{MINUS SIGN} original")
        words = f"{counted(len(runs[0]), 'query', 'queries')}, sorted by difference, separately for each run"
        axes.set_xlabel("\n".join(wrapped_to(words, width * 72 - scaled(40), FONT)))
        legend_below(figure, lines, labels, width)
    return figure


def effects(
    names: Sequence[str], ratios: ArrayLike, changes: ArrayLike, *, confidence: float, width: float = COLUMN
) -> Figure:
    """Draw effect ratio by delta RI, a point a measure; both have the columns value, lower, upper limit."""
    with style():
        width = enlarged(width)
        figure, axes = canvas(width, 0.8 * width)
        axes.axvline(1, color=ink(), linewidth=scaled(0.6), zorder=1)
        axes.axhline(0, color=ink(), linewidth=scaled(0.6), zorder=1)
        looks = [LINE_STYLES[index % len(LINE_STYLES)] for index in range(len(names))]
        across, up = (np.asarray(side, dtype=np.float64).tolist() for side in (ratios, changes))
        keys = [_point(axes, *point) for point in zip(across, up, looks, strict=True)]
        level = percent(confidence)
        axes.set_xlabel(f"effect ratio, {level} interval (1: same effect)")
        axes.set_ylabel(f"delta RI, {level} interval")
        axes.grid(visible=True)
        for margins in (axes.set_xmargin, axes.set_ymargin):
            margins(0.12)
        legend_below(figure, keys, list(map(drawable, names)), width)
    return figure


def _point(axes: Any, ratio: Sequence[float], change: Sequence[float], look: Any) -> Any:
    """Draw one measure with its intervals; return its key."""
    (x, low, high), (y, below, above) = ratio, change
    thin = {"color": look.color, "linewidth": scaled(0.9), "zorder": 2}
    if np.isfinite([low, high]).all():
        axes.plot([low, high], [y, y], **thin)
    if np.isfinite([x, below, above]).all():
        axes.plot([x, x], [below, above], **thin)
    return dots(axes, [x], [y], look.marker, 4.5, look.color, markeredgecolor=FAINT, zorder=3)


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
        figure, axes = canvas(enlarged(width), height_of(len(names)))
        others = np.arange(len(names)) != reference
        _draw(axes, table, others, LINE_STYLES[0].marker, LINE_STYLES[0].color)
        if reference is not None:
            _draw(axes, table, ~others, LINE_STYLES[1].marker, ink())
        if zero:
            axes.axvline(0, color=ink(), linewidth=scaled(0.6), zorder=0)
        finish_rows(axes, names, table[0], label, what=rows, both_ends=reference is None, headings=titles)
        if reference is not None:
            _baseline(axes, names, table[0], reference)
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
    rows, few = np.arange(size), size <= FEW
    fresh = np.array(list(new) or [False] * size, dtype=np.bool_)
    with style():
        from matplotlib.lines import Line2D

        width = enlarged(width or COLUMN)
        figure, axes = canvas(width, height_of(size))
        look = LINE_STYLES[0]
        dot = look.point
        ring = dot | {"markerfacecolor": paper(), "markeredgewidth": scaled(0.9)}
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
        finish_rows(axes, names, middle, label)
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

        width = enlarged(width)
        figure, axes = canvas(width, height_of(len(names)) + scaled(0.3))
        look, size = LINE_STYLES[0], scaled(4)
        _draw(axes, table, np.ones(len(names), dtype=np.bool_), look.marker, look.color)
        alone = LINE_STYLES[1].point | {"markersize": size}
        true: dict[str, Any] = {"linestyle": "none", "marker": "|", "markersize": 2 * size, "color": ink()}
        true["markeredgewidth"] = 1.2
        axes.plot(others[0], rows, **alone)
        axes.plot(others[1], rows, **true)
        finish_rows(axes, names, table[0], label)
        for name, text in zip(names, axes.get_yticklabels(), strict=False):
            if name == marked:
                text.set_fontweight("bold")
        estimates = Line2D([], [], marker=look.marker, markersize=size, color=look.color)
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
    axes.axvline(means[reference], color=ink(), linewidth=scaled(0.6), linestyle=LINE_STYLES[2].dashes)
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
    adjusted: str = "all runs at once",
    confidence: float = 0.95,
    width: float = COLUMN,
) -> Figure:
    """Draw the rank of every run with its `adjusted` and its bootstrap interval, one row per run.

    >>> drawn = ranks(["a", "b"], [1, 2], [(1, 2), (1, 2)], [(1, 1), (2, 2)], [1, 1], measure="AP")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()[:3]]
    ['rank by mean AP', '95 % interval, all runs at once', '95 % interval, each run (bootstrap)']
    """
    middle, outer, inner = (np.asarray(part, dtype=np.float64) for part in (rank, limits, bootstrap))
    size = len(names)
    rows, few = np.arange(size), size <= FEW
    with style():
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch
        from matplotlib.ticker import MaxNLocator

        width = enlarged(width)
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
        dots(axes, middle, rows, "o", 3.6 if few else 2, ink(), zorder=4)
        finish_rows(axes, names, middle)
        axes.set_xlim(1 - 0.02 * size - 0.2, size + 0.02 * size + 0.2)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.set_xticks(
            [1, *(tick for tick in axes.get_xticks() if 1 < tick <= size and tick - 1 >= size / 12)]
        )
        axes.set_xlabel(f"rank by {measure} (1 is best)")
        level = percent(confidence)
        line: dict[str, Any] = {"linewidth": scaled(0.9), "markeredgewidth": scaled(0.9), "color": FAINT}
        key: list[Line2D | Patch] = [
            Line2D([], [], linestyle="none", marker="o", markersize=scaled(3.6), color=ink()),
            Line2D([], [], marker="|", markersize=scaled(4), **line),
            Patch(facecolor=RULE, alpha=SHADE, linewidth=0),
        ]
        labels = [f"rank by mean {measure}", f"{level} interval, {adjusted}", "best group"]
        if drawn.any():
            key.insert(2, Line2D([], [], linewidth=scaled(3.4), color=color, alpha=0.55))
            labels.insert(2, f"{level} interval, each run (bootstrap)")
        legend_below(figure, key, labels, width)
    return figure
