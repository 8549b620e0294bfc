"""Figure of a suite: a heat map of means by run and collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.comparison.suite_result import Suite
from leadline.data.arrays import Flags, Floats
from leadline.reporting.plots import COLUMN, FAINT, INK, RULE, scaled, shortened, style
from leadline.reporting.plots.text_layout import NAMED, colour_bar, height_of, ink_on, name_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CELL = 0.42  # inches: width of a column with values written in its cells
MARGIN = 1.3  # inches: names of the runs
WRITTEN = 30  # maximum number of rows, and of columns, with values in the cells
MACRO = "macro mean"


def heat_map(suite: Suite, place: int = 0, *, width: float | None = None) -> Figure:
    """Draw runs (best macro mean first) by collections, with the macro mean as the last column.

    Values are written in the cells; the colour is the difference from the best run of the collection, since
    collections differ more than runs. Cells without a run are hatched.
    """
    order = suite.order(place)
    table = np.column_stack([suite.means[order, :, place], suite.macro[order, place]])
    names = [*suite.collections, MACRO]
    rising = suite.columns[place].rising
    with np.errstate(invalid="ignore"):
        sign = 1.0 if rising else -1.0
        best = np.max(np.where(np.isnan(table), -np.inf, sign * table), axis=0)
        behind = np.where(np.isnan(table), np.nan, best - sign * table)
    missing = np.column_stack([~suite.present[order], np.isnan(table[:, -1])])
    written = len(order) <= WRITTEN and len(names) <= WRITTEN
    with style():
        from matplotlib.figure import Figure

        wide = max(COLUMN, MARGIN + CELL * len(names)) if written else 2 * COLUMN
        inches = width or wide
        figure = Figure(figsize=(inches, 0.75 + height_of(len(order), least=0.6)), layout="constrained")
        axes = figure.add_subplot()
        drawn = axes.imshow(
            behind, aspect="auto", interpolation="none", cmap="Blues_r", vmin=0, vmax=_reach(behind)
        )
        axes.axvline(len(suite.collections) - 0.5, color="white", linewidth=scaled(2.5))
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, colors=INK)
        name_rows(axes, [suite.names[run] for run in order])
        name_columns(axes, names, f"{len(suite.collections)} collections, and their mean")
        hatch_missing(axes, missing, size=5.0 if written else 0.0)
        if written:
            write_values(axes, table, bold=behind == 0, shades=drawn.to_rgba(behind))
        label = f"{suite.measures[place]}: difference from the best run of the collection"
        colour_bar(figure, axes, drawn, label)
    return figure


def _reach(behind: Floats) -> float:
    finite = behind[np.isfinite(behind)]
    return float(finite.max(initial=0.0)) or 1.0


def name_columns(axes: Any, names: Sequence[str], many: str) -> None:
    """Name the columns above them; very many have only a text below."""
    if len(names) > NAMED // 4:
        axes.set_xticks([])
        axes.set_xlabel(many)
        return
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(names)), shortened(names, 18), rotation=45, ha="left", rotation_mode="anchor")
    axes.tick_params(axis="x", length=0)


def hatch_missing(axes: Any, missing: Flags, *, size: float) -> None:
    """Mark cells without a value, which are no part of any mean."""
    from matplotlib.patches import Rectangle

    for row, column in np.argwhere(missing).tolist():
        axes.add_patch(
            Rectangle(
                (column - 0.5, row - 0.5), 1, 1, facecolor="white", edgecolor=RULE, hatch="////", linewidth=0
            )
        )
        if size:
            axes.text(column, row, "none", ha="center", va="center", fontsize=scaled(size), color=FAINT)


def write_values(axes: Any, table: Floats, *, bold: Flags, shades: Any, digits: int = 3) -> None:
    """Write the values in the cells, some bold; `shades` are the colours (RGBA) of the cells."""
    for (row, column), value in np.ndenumerate(table):
        if np.isnan(value):
            continue
        axes.text(
            column,
            row,
            f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}"),
            ha="center",
            va="center",
            fontsize=scaled(5.5),
            fontweight="bold" if bold[row, column] else "normal",
            color=ink_on(shades[row, column]),
        )
