"""Figures of inter-assessor agreement: a matrix of all pairs, or intervals of each with a reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from leadline.data.arrays import Floats
from leadline.errors import UsageError
from leadline.reporting.plots import COLUMN, FAINT, INK, LINE_STYLES, scaled, shortened, style
from leadline.stats.agreement_coefficients import ACCEPTABLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WRITTEN = 10  # maximum number of judges with values in the cells and names below
NAMED = 60  # maximum number of judges with labels


def between_judges(
    names: Sequence[str], values: ArrayLike, *, label: str = "Cohen's kappa", width: float = COLUMN
) -> Figure:
    """Draw the agreement matrix of judges, sorted by mean agreement; dark cells are high agreement.

    `values` is judges x judges, NaN if undefined. With few judges, values are written in the cells; with
    many, columns have numbers in place of names.

    >>> drawn = between_judges(["ann", "ben"], [[1.0, 0.5], [0.5, 1.0]])
    >>> [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    ['ann', 'ben']
    """
    table = np.asarray(values, dtype=np.float64).copy()
    if len(names) < 2 or table.shape != (len(names), len(names)):
        raise UsageError(
            f"values of shape {table.shape} for {len(names)} judges; expected judges x judges, two or more"
        )
    np.fill_diagonal(table, np.nan)
    defined = np.maximum((~np.isnan(table)).sum(axis=1), 1)
    order = np.argsort(-np.nansum(table, axis=1) / defined, kind="stable").tolist()
    table = table[np.ix_(order, order)]
    with style():
        from matplotlib.figure import Figure

        tall = 1.08 if len(names) <= WRITTEN else 0.84
        figure = Figure(figsize=(width, width * tall), layout="constrained")
        axes = figure.add_subplot()
        least = min(0.0, float(np.nanmin(table, initial=0.0)))
        drawn = axes.imshow(table, cmap="Blues", vmin=least, vmax=1, interpolation="none")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        _name(axes, [names[index] for index in order])
        if len(names) <= WRITTEN:
            _write_cells(axes, table)
        bar = figure.colorbar(drawn, ax=axes, location="bottom", aspect=40, fraction=0.05, pad=0.02)
        bar.set_label(f"{label} (line: 2/3)")
        bar.ax.axvline(ACCEPTABLE, color=LINE_STYLES[1].color, linewidth=scaled(1.6))
        bar.outline.set_visible(False)
    return figure


def _name(axes: Any, names: Sequence[str]) -> None:
    """Label rows and columns; many judges are numbered, with the numbers after the names of the rows."""
    positions = range(len(names))
    labels = shortened(names, 18 if len(names) <= WRITTEN else 22)
    if len(names) <= WRITTEN:
        axes.set_yticks(positions, labels)
        axes.set_xticks(positions, labels, rotation=90)
        return
    if len(names) <= NAMED:
        size = min(7.0, 7.0 * 24 / len(names))
        rows = [f"{name}  {index + 1}" for index, name in enumerate(labels)]
        axes.set_yticks(positions, rows, fontsize=scaled(size))
    else:
        axes.set_yticks([])
        axes.set_ylabel(f"{len(names)} judges, the most agreeing first")
    steps = [index for index in positions if len(names) <= NAMED and (index % 5 == 4 or not index)]
    axes.set_xticks(steps, [index + 1 for index in steps])


def _write_cells(axes: Any, table: Floats) -> None:
    for (row, column), value in np.ndenumerate(table):
        if not np.isnan(value):
            axes.text(
                column,
                row,
                f"{value:.2f}",
                ha="center",
                va="center",
                fontsize=scaled(5.5),
                color="white" if value > 0.55 else INK,
            )


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
    mean, low, high = table[:, order]
    rows = np.arange(len(names))
    with style():
        from matplotlib.figure import Figure

        named = len(names) <= NAMED
        inches = 0.7 + len(names) * (0.13 if named else 0.05)
        figure = Figure(figsize=(width, max(1.4, inches)), layout="constrained")
        axes = figure.add_subplot()
        bounded = np.isfinite(low) & np.isfinite(high)
        axes.hlines(
            rows[bounded], low[bounded], high[bounded], colors=LINE_STYLES[0].color, linewidth=scaled(1.1)
        )
        axes.plot(
            mean,
            rows,
            linestyle="none",
            marker=LINE_STYLES[0].marker,
            color=LINE_STYLES[0].color,
            markersize=scaled(3 if named else 1.8),
        )
        axes.axvline(ACCEPTABLE, color=FAINT, linewidth=scaled(0.8), linestyle=LINE_STYLES[1].dashes)
        axes.annotate(
            "2/3",
            (ACCEPTABLE, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 1.5),
            textcoords="offset points",
            ha="center",
            size=scaled(7),
            annotation_clip=False,
        )
        axes.set_xlim(min(0.0, float(np.nanmin(low, initial=0.0))) - 0.02, 1)
        axes.set_ylim(len(names) - 0.4, -0.6)
        labels = shortened([names[index] for index in order], 26) if named else []
        axes.set_yticks(rows if named else [], labels)
        for text in axes.get_yticklabels():
            text.set_fontsize(scaled(6.5))
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x")
        axes.set_xlabel(label)
        if not named:
            axes.set_ylabel(f"{len(names)} judges, the highest first")
    return figure
