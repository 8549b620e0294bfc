"""Grids of values: of runs by collections or queries, of runs or pairs by slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.charts import COLUMN, FAINT, RULE, canvas, ink, scaled, shortened, style
from leadline.charts.text_layout import (
    NAMED,
    colour_bar,
    height_of,
    ink_on,
    name_rows,
    room_beside_names,
    wrapped,
)
from leadline.data.arrays import Flags, Floats
from leadline.data.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CELL = 0.42  # inches: width of a column with values written in its cells
MARGIN = 1.3  # inches: names of the runs
WRITTEN = 30  # maximum number of rows, and of columns, with values in the cells
MISSING: dict[str, Any] = {
    "facecolor": "white",
    "edgecolor": RULE,
    "hatch": "////",
    "linewidth": 0,
}  # no value


def is_written(rows: int, columns: int) -> bool:
    """Return whether a grid of this size has the values in its cells."""
    return rows <= WRITTEN and columns <= WRITTEN


def grid(
    names: Sequence[str],
    columns: Sequence[str],
    table: Floats,
    shades: Floats,
    *,
    label: str,
    many: str,
    cmap: str,
    limits: tuple[float, float],
    bold: Flags,
    dots: bool = True,
    what: str = "runs",
    width: float | None = None,
    sparse: float = COLUMN,
) -> tuple[Figure, Any]:
    """Draw values as a grid of cells, with a color bar; return the figure and its axes.

    The color of a cell is that of its number in `shades`. Values are written in the cells of a small grid,
    those of `bold` cells in bold; in a larger one these cells have dots. `sparse` is the default width in
    inches without values, `many` the text below columns that are too many for names.

    >>> shown = np.array([[0.5, 0.25]])
    >>> options = {"label": "AP", "many": "2 slices", "cmap": "Blues", "limits": (0, 1), "bold": shown > 0.3}
    >>> figure, axes = grid(["bm25"], ["short", "long"], shown, shown, **options)
    >>> [text.get_text() for text in axes.texts]
    ['0.500', '0.250']
    """
    written = is_written(*table.shape)
    inches = width or (max(COLUMN, MARGIN + CELL * len(columns)) if written else sparse)
    with style():
        figure, axes = canvas(inches, 0.75 + height_of(len(names), least=0.6))
        drawn = axes.imshow(
            shades, aspect="auto", interpolation="none", cmap=cmap, vmin=limits[0], vmax=limits[1]
        )
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, colors=ink())
        name_rows(axes, names, what=what)
        name_columns(axes, columns, many)
        if written:
            write_values(axes, table, bold=bold, shades=drawn.to_rgba(shades))
        elif dots:
            row, column = np.nonzero(bold)
            colours = [ink_on(shade) for shade in drawn.to_rgba(shades)[bold]]
            axes.scatter(column, row, s=scaled(1.6) ** 2, c=colours, linewidths=0)
        colour_bar(figure, axes, drawn, label)
    return figure, axes


def heat_map(
    names: Sequence[str],
    columns: Sequence[str],
    table: Floats,
    missing: Flags,
    *,
    rising: bool,
    measure: str,
    width: float | None = None,
) -> Figure:
    """Draw runs by collections and their mean, colored by the difference from the collection's best run."""
    with np.errstate(invalid="ignore"):
        sign = 1.0 if rising else -1.0
        best = np.max(np.where(np.isnan(table), -np.inf, sign * table), axis=0)
        behind = np.where(np.isnan(table), np.nan, best - sign * table)
    figure, axes = grid(
        names,
        columns,
        table,
        behind,
        label=f"{measure}: difference from the best run in the column",
        many=f"{len(columns) - 1} collections and their mean",
        cmap="Blues_r",
        limits=(0.0, float(behind[np.isfinite(behind)].max(initial=0.0)) or 1.0),
        bold=behind == 0,
        dots=False,
        width=width,
        sparse=2 * COLUMN,
    )
    with style():
        axes.axvline(len(columns) - 1.5, color="white", linewidth=scaled(2.5))
        from matplotlib.patches import Rectangle

        for row, column in np.argwhere(missing).tolist():  # these cells are no part of any mean
            axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **MISSING))
            if is_written(*table.shape):
                axes.text(column, row, "none", ha="center", va="center", fontsize=scaled(5.0), color=FAINT)
    return figure


def name_columns(axes: Any, names: Sequence[str], many: str) -> None:
    """Name the columns above them; very many have only a text below."""
    if len(names) > NAMED // 4:
        axes.set_xticks([])
        axes.set_xlabel(many)
        return
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(names)), shortened(names, 18), rotation=45, ha="left", rotation_mode="anchor")
    axes.tick_params(axis="x", length=0)


def write_values(axes: Any, table: Floats, *, bold: Flags, shades: Any, digits: int = 3) -> None:
    """Write the values in the cells, some bold; `shades` are the colors (RGBA) of the cells."""
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


def query_map(
    names: Sequence[str],
    cells: Floats,
    *,
    limits: tuple[float, float],
    order: str,
    label: str,
    width: float = COLUMN,
) -> Figure:
    """Draw a heat map of runs by queries, with a color bar."""
    finite = cells[np.isfinite(cells)]
    ends = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    low, high = (limit if math.isfinite(limit) else end for limit, end in zip(limits, ends, strict=True))
    with style():
        figure, axes = canvas(width, height_of(len(names), least=1.5))
        drawn = axes.imshow(cells, aspect="auto", interpolation="none", cmap="cividis", vmin=low, vmax=high)
        axes.patch.set(**MISSING)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, colors=ink())
        axes.set_xticks([])
        name_rows(axes, names)
        words = f"{counted(cells.shape[1], 'query', 'queries')}, {order}"
        axes.set_xlabel(wrapped(words, room_beside_names(axes, named=len(names) <= NAMED)))
        colour_bar(figure, axes, drawn, label)
    return figure
