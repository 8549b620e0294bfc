"""Associations: scatter plots of two scores, agreement of judges as a matrix or as intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leadline.charts import COLUMN, LINE_STYLES, canvas, enlarged, ink, scaled, shortened, style
from leadline.charts.grid import MISSING, write_values
from leadline.charts.interval_plots import forest
from leadline.charts.text_layout import (
    LOW,
    NAMED,
    SIZE,
    SMALL,
    colour_bar,
    legend_below,
    narrowed,
    width_of,
    wrapped,
    wrapped_to,
)
from leadline.data.arrays import Floats, Integers
from leadline.data.wording import counted
from leadline.stats.agreement_coefficients import ACCEPTABLE
from leadline.stats.correlation import levels

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

WRITTEN = 10  # maximum number of judges with values in the cells and names below
LONGEST = 26  # maximum number of letters of a label
SMALLEST = 5.0  # points: font size below which there are no labels


def between_judges(
    names: Sequence[str], values: ArrayLike, *, label: str = "Cohen's kappa", width: float | None = None
) -> Figure:
    """Draw the agreement matrix of judges, sorted by mean agreement; dark cells are high agreement.

    `values` is judges x judges, NaN if undefined; such cells and the diagonal are hatched. With few judges,
    values are written in the cells; with many, columns have numbers in place of names. The default `width`
    grows with the number of judges.

    >>> drawn = between_judges(["ann", "ben"], [[1.0, 0.5], [0.5, 1.0]])
    >>> [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    ['ann', 'ben']
    """
    table = np.asarray(values, dtype=np.float64).copy()
    np.fill_diagonal(table, np.nan)
    defined = np.maximum((~np.isnan(table)).sum(axis=1), 1)
    order = np.argsort(-np.nansum(table, axis=1) / defined, kind="stable").tolist()
    table = table[np.ix_(order, order)]
    with style():
        inches = enlarged(width) if width else _width(names)
        few = len(names) <= WRITTEN
        figure, axes = canvas(inches, inches * (1.08 if few else 0.84))
        least = min(0.0, float(np.nanmin(table, initial=0.0)))
        drawn = axes.imshow(table, cmap="Blues", vmin=least, vmax=1, interpolation="none", aspect="auto")
        axes.patch.set(**MISSING)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        _name(axes, [names[index] for index in order])
        if few:
            write_values(axes, table, bold=np.zeros(table.shape, bool), shades=drawn.to_rgba(table), digits=2)
        bar = colour_bar(figure, axes, drawn, f"{label} (line: 2/3)")
        bar.ax.axvline(ACCEPTABLE, color=LINE_STYLES[1].color, linewidth=scaled(1.6))
    return figure


def _width(names: Sequence[str]) -> float:
    """Return the width with which each judge has a legible row, but at least that of a column."""
    beside = max(width_of(name, SMALL) for name in shortened(names, LONGEST)) / 72 + scaled(0.3)
    rows = len(names) * scaled(LOW)
    return max(enlarged(COLUMN), beside + rows) if len(names) <= NAMED else enlarged(2 * COLUMN)


def _name(axes: Any, names: Sequence[str]) -> None:
    """Label rows and columns; many judges are numbered, with the numbers after the names of the rows."""
    positions, few = range(len(names)), len(names) <= WRITTEN
    height = (float(axes.figure.get_figheight()) - scaled(0.6)) * 72 / len(names)
    size = min(SIZE, 0.9 * height / scaled(1.0))
    if size < SMALLEST:
        axes.set_yticks([])
        axes.set_xticks([])
        axes.set_ylabel(f"{len(names)} judges, highest mean agreement first")
        return
    room = (0.34 if few else 0.45) * float(axes.figure.get_figwidth()) * 72
    labels = narrowed(names, room, size=size, most=LONGEST)
    if few:
        axes.set_yticks(positions, labels)
        axes.set_xticks(positions, labels, rotation=90)
        return
    rows = [f"{name}  {index + 1}" for index, name in enumerate(labels)]
    axes.set_yticks(positions, rows, fontsize=scaled(size))
    step = 5 if len(names) <= 60 else 10
    steps = [index for index in positions if index % step == step - 1 or not index]
    axes.set_xticks(steps, [index + 1 for index in steps])


def against_reference(
    names: Sequence[str],
    values: ArrayLike,
    lows: ArrayLike,
    highs: ArrayLike,
    *,
    label: str,
    width: float = COLUMN,
) -> Figure:
    """Draw the agreement of each judge with the reference, with intervals, in descending order.

    A dashed line marks 2/3, the lower limit of acceptable agreement (Krippendorff 2004).

    >>> drawn = against_reference(["ann", "ben"], [0.3, 0.7], [0.2, 0.6], [0.4, 0.8], label="kappa")
    >>> [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    ['ben', 'ann']
    """
    table = np.stack([np.asarray(column, dtype=np.float64) for column in (values, lows, highs)])
    order = np.argsort(np.where(np.isnan(table[0]), np.inf, -table[0]), kind="stable").tolist()
    figure = forest(
        [names[index] for index in order], *table[:, order], label=label, rows="judges", width=width
    )
    with style():
        (axes,) = figure.axes
        axes.axvline(
            ACCEPTABLE, color=ink(), linewidth=scaled(0.8), linestyle=LINE_STYLES[1].dashes, zorder=0
        )
        # below the ticks of a tall figure
        axes.annotate(
            "2/3",
            (ACCEPTABLE, 1),
            xycoords=("data", "axes fraction"),
            xytext=(2, -2),
            textcoords="offset points",
            va="top",
            size=scaled(SIZE),
        )
        axes.set_xlim(min(0.0, float(np.nanmin(table[:2], initial=0.0))) - 0.02, 1)
    return figure


MOST_NAMES = 20  # names that are tried; those that do not fit are left out
NAME = 5.5  # points: font size of names
LINE = 0.15  # inches: height of a line of the text above the points
SHARE = 0.1  # of the others: points that swap with more are marked


class Swaps(NamedTuple):
    """Pairs that two scores order differently: of each point, of all, and all that neither score ties."""

    by_point: Integers
    pairs: int
    total: int


def swaps_of(x: ArrayLike, y: ArrayLike) -> Swaps:
    """Count the pairs that two scores order differently; pairs tied by either are excluded.

    >>> swaps_of([1, 2, 3], [1, 3, 2]).by_point.tolist(), swaps_of([1, 2, 3], [1, 3, 2]).pairs
    ([0, 1, 1], 1)
    """
    across, up = (np.asarray(levels(np.asarray(side, dtype=np.float64))) for side in (x, y))
    agreement = np.sign(across[:, None] - across[None, :]) * np.sign(up[:, None] - up[None, :])
    opposite = agreement < 0
    return Swaps(opposite.sum(axis=1), int(opposite.sum()) // 2, int((agreement != 0).sum()) // 2)


def association(
    x: ArrayLike,
    y: ArrayLike,
    names: Sequence[str],
    *,
    across: str,
    up: str,
    coefficients: Mapping[str, str],
    marked: bool = True,
    width: float = COLUMN,
) -> Figure:
    """Draw a scatter plot of two scores with their correlation, and mark the points that swap.

    Points that change places with more than a tenth of the others have another color and marker. Names are
    those of the points with the most swaps, at most 20, as far as they fit without overlap.

    >>> drawn = association([1, 2, 3], [1, 3, 2], "abc", across="AP", up="P", coefficients={"tau": "0.33"})
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['swapped with at most 10 % of the others (1 run)', 'swapped with more than 10 % of the others (2 runs)']
    """
    points = np.stack([np.asarray(side, dtype=np.float64) for side in (x, y)])
    swaps = swaps_of(*points)
    many = swaps.by_point > SHARE * max(len(names) - 1, 1)
    words = [f"{name} {value}" for name, value in coefficients.items()]
    untied = "untied " * (swaps.total < len(names) * (len(names) - 1) // 2)
    words.append(f"{swaps.pairs:,} of {counted(swaps.total, untied + 'pair')} in opposite order")
    with style():
        from matplotlib.lines import Line2D

        width = enlarged(width)
        lines = [line for each in words for line in wrapped_to(each, width * 72 - scaled(10), 7)]
        figure, axes = canvas(width, 0.8 * width + scaled(LINE) * len(lines))
        key, labels = [], []
        for look, flags, text in (
            (LINE_STYLES[0], ~many | (not marked), "swapped with at most 10 % of the others"),
            (LINE_STYLES[1], many & marked, "swapped with more than 10 % of the others"),
        ):
            size = scaled(3.6 if len(names) <= 60 else 2.6)
            if flags.any():
                axes.plot(*points[:, flags], markersize=size, alpha=0.75, zorder=3, **look.point)
                key.append(Line2D([], [], markersize=scaled(3.6), **look.point))
                labels.append(f"{text} ({counted(int(flags.sum()), 'run')})")
        figure.suptitle("\n".join(lines), x=0.015, ha="left", fontsize=scaled(7))
        axes.set_xlabel(wrapped(across, 0.8 * width * 72))
        axes.set_ylabel(wrapped(up, 0.62 * width * 72))
        axes.margins(0.06)
        axes.grid(visible=True)
        if marked:
            legend_below(figure, key, labels, width)
        order = np.lexsort((-points[1], -swaps.by_point))[:MOST_NAMES]
        short = narrowed(names, 0.3 * width * 72, size=NAME, most=18)
        _name_points(axes, points, short, order.tolist())
    return figure


def _name_points(axes: Any, points: Floats, names: Sequence[str], order: Sequence[int]) -> None:
    """Name points in the given order, each at the first free place beside its point, if there is one."""
    figure = axes.figure
    figure.draw_without_rendering()
    unit = figure.dpi / 72
    spots = axes.transData.transform(points.T) / unit
    frame = axes.get_window_extent()
    left, bottom, right, top = (side / unit for side in frame.extents)
    gap, height = scaled(3.2), scaled(NAME * 1.15)
    taken: list[tuple[float, float, float, float]] = []
    for place in order:
        wide = width_of(names[place], NAME) + 1
        across, up = spots[place].tolist()
        for side, level in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            low_x = across + (gap if side > 0 else -gap - wide if side < 0 else -wide / 2)
            low_y = up - height / 2 + level * (gap + height / 2)
            box = (low_x, low_y, low_x + wide, low_y + height)
            inside = box[0] >= left and box[2] <= right and box[1] >= bottom and box[3] <= top
            free = inside and not any(_overlap(box, other) for other in taken)
            if free and not _covers(box, spots, place):
                taken.append(box)
                axes.annotate(
                    names[place],
                    points[:, place].tolist(),
                    xytext=(low_x - across, low_y - up + 0.2 * height),
                    textcoords="offset points",
                    fontsize=scaled(NAME),
                    color=ink(),
                    zorder=4,
                ).set_in_layout(False)
                break


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _covers(box: tuple[float, ...], spots: Floats, place: int) -> bool:
    """Return whether a box covers any point other than its own."""
    near = scaled(1.5)
    across = (spots[:, 0] > box[0] - near) & (spots[:, 0] < box[2] + near)
    up = (spots[:, 1] > box[1] - near) & (spots[:, 1] < box[3] + near)
    covered = across & up
    covered[place] = False
    return bool(covered.any())


def with_limits(value: float, limits: Sequence[tuple[str, float, float]], level: str) -> str:
    """Return a coefficient with its confidence intervals as text.

    >>> with_limits(0.5, [("runs", 0.25, 0.75), ("queries", math.nan, math.nan)], "95 %")
    '0.50 (95 %: runs 0.25 to 0.75)'
    """
    shown = [
        f"{what} {_two_decimals(low)} to {_two_decimals(high)}"
        for what, low, high in limits
        if not math.isnan(low)
    ]
    return _two_decimals(value) + (f" ({level}: {', '.join(shown)})" if shown else "")


def _two_decimals(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
