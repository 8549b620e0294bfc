"""Figures of inter-assessor agreement: a matrix of all pairs, or intervals of each with a reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from leadline.charts import COLUMN, INK, LINE_STYLES, canvas, scaled, shortened, style
from leadline.charts.grid import MISSING, write_values
from leadline.charts.interval_plots import forest
from leadline.charts.text_layout import LOW, NAMED, SIZE, SMALL, colour_bar, narrowed, width_of
from leadline.stats.agreement_coefficients import ACCEPTABLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        inches = width or _width(names)
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
    return max(COLUMN, beside + rows) if len(names) <= NAMED else 2 * COLUMN


def _name(axes: Any, names: Sequence[str]) -> None:
    """Label rows and columns; many judges are numbered, with the numbers after the names of the rows."""
    positions, few = range(len(names)), len(names) <= WRITTEN
    height = (float(axes.figure.get_figheight()) - scaled(0.6)) * 72 / len(names)
    size = min(SIZE, 0.9 * height / scaled(1.0))
    if size < SMALLEST:
        axes.set_yticks([])
        axes.set_xticks([])
        axes.set_ylabel(f"{len(names)} judges, the most agreeing first")
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
        axes.axvline(ACCEPTABLE, color=INK, linewidth=scaled(0.8), linestyle=LINE_STYLES[1].dashes, zorder=0)
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
        axes.set_xlim(min(0.0, float(np.nanmin(table[1], initial=0.0))) - 0.02, 1)
    return figure
