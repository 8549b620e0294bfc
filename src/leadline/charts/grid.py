"""Grids of values: runs by collections or queries, pairs by slices, pairs of systems; and their tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.charts import COLUMN, FAINT, RULE, canvas, enlarged, ink, scaled, shortened, style
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

import warnings
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from leadline.charts import LINE_STYLES, label_of
from leadline.charts.text_layout import (
    group_colours,
    large_groups,
    mark_groups,
    narrowed,
    stretches,
    wrapped_to,
)
from leadline.errors import UsageError

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
    with style():
        inches = enlarged(width or (max(COLUMN, MARGIN + CELL * len(columns)) if written else sparse))
        figure, axes = canvas(inches, enlarged(0.75) + height_of(len(names), least=0.6))
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
        figure, axes = canvas(enlarged(width), height_of(len(names), least=1.5))
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


ROW = 0.115  # inches: height of a labeled row
SIZE = 6.5  # points: font size of labels, up to `FEW` systems
SMALL = 5.5  # points: font size of labels of more systems
FEW = 45
LABELED = 400  # maximum number of systems with labels
LONGEST = 30  # maximum number of letters of a label
NO_METRIC = (
    "Average linkage. Information Difference is not a distance metric, so this tree is only a rough guide."
)


def linkage_of(distance: ArrayLike) -> Any:
    """Return the average-linkage clustering of a distance matrix, which needs no metric (this is none)."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    table = np.asarray(distance, dtype=np.float64)
    if len(table) < 2:
        raise UsageError(f"a map or tree needs at least two systems, not {len(table)}")
    return linkage(squareform(table, checks=False), method="average", optimal_ordering=True)


def distance_map(
    names: Sequence[str],
    distance: ArrayLike,
    *,
    groups: Sequence[str] = (),
    label: str = "Information Difference (bits)",
    width: float | None = None,
) -> Figure:
    """Draw the distance matrix of systems, ordered by clustering; small distances are dark."""
    from scipy.cluster.hierarchy import leaves_list

    table = np.asarray(distance, dtype=np.float64)
    order = leaves_list(linkage_of(table)).tolist()
    with style():
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        close = ConstrainedLayoutEngine(wspace=0.01, w_pad=0.01)
        size = len(order)
        tall = scaled(0.7 + ROW * size) if size <= LABELED else 0.0
        inches = max(enlarged(COLUMN), tall) if width is None else enlarged(width)
        figure = Figure(figsize=(inches, max(inches, tall)), layout=close)
        grouped = [groups[index] for index in order] if groups else []
        strip = None
        if grouped:
            cells = figure.add_gridspec(1, 2, width_ratios=[1, 30], wspace=0.01)
            strip, axes = figure.add_subplot(cells[0]), figure.add_subplot(cells[1])
        else:
            axes = figure.add_subplot()
        drawn = axes.imshow(
            table[np.ix_(order, order)],
            aspect="auto",
            interpolation="none",
            cmap="cividis",
            vmin=0,
            vmax=float(table.max()) or 1.0,
        )
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xticks([])
        axes.set_yticks([])
        if strip is not None:
            mark_groups(strip, grouped)
            strip.set_ylim(len(order) - 0.5, -0.5)
        _name(strip or axes, [names[index] for index in order], grouped, inches)
        colour_bar(figure, axes, drawn, label)
    return figure


def distance_tree(
    names: Sequence[str],
    distance: ArrayLike,
    *,
    groups: Sequence[str] = (),
    label: str = "Information Difference (bits)",
    width: float | None = None,
) -> Figure:
    """Draw the average-linkage dendrogram of the systems; `groups` are marked by color."""
    from scipy.cluster.hierarchy import dendrogram

    tree = linkage_of(distance)
    size = len(names)
    with style():
        from matplotlib.ticker import MaxNLocator

        width_inches = enlarged(width or (COLUMN if size <= FEW else 1.5 * COLUMN))
        notes = [
            *wrapped_to(label, width_inches * 72 - 8, 7.5),
            *wrapped_to(NO_METRIC, width_inches * 72 - 8, 7.5),
        ]
        row = (ROW + 0.02 if size <= FEW else ROW) if size <= LABELED else 0.055
        inches = scaled(0.4 + 0.13 * len(notes)) + max(enlarged(0.9), size * scaled(row))
        figure, axes = canvas(width_inches, inches)
        with warnings.catch_warnings():  # SciPy ends the axis at the largest distance, even if that is 0
            warnings.filterwarnings("ignore", message="Attempting to set identical")
            drawn = dendrogram(
                tree,
                orientation="left",
                ax=axes,
                no_labels=True,
                color_threshold=0,
                above_threshold_color=ink(),
                distance_sort="descending",
            )
        if not tree[:, 2].any():
            axes.set_xlim(1, 0)
        for lines in axes.collections:
            lines.set_linewidth(scaled(0.7 if size <= FEW else 0.5))
        order = drawn["leaves"]
        _leaves(
            axes,
            [names[index] for index in order],
            [groups[index] for index in order] if groups else [],
            0.55 * width_inches * 72,
        )
        axes.spines["left"].set_visible(False)
        # a label at the very end of the axis would extend beyond the figure
        end = max(axes.get_xlim())
        axes.set_xticks([tick for tick in MaxNLocator(4).tick_values(0, end) if 0 <= tick <= 0.93 * end])
        # centered on the figure, since the axes may be too narrow for the text
        figure.supxlabel("\n".join(notes), fontsize=scaled(7.5), color=ink())
    return figure


def _leaves(axes: Any, names: Sequence[str], groups: Sequence[str], points: float) -> None:
    """Label the leaves, in the colors of their groups."""
    colours = group_colours(groups)
    if len(large_groups(groups)) > len(LINE_STYLES):  # colors are repeated
        names = [
            f"{label_of(name)} ({group})" if group else name
            for name, group in zip(names, groups, strict=True)
        ]
    axes.yaxis.tick_right()
    axes.tick_params(axis="y", length=0)
    if len(names) > LABELED:
        axes.set_yticks([])
        axes.set_ylabel(f"{len(names)} systems")
        return
    size = SIZE if len(names) <= FEW else SMALL
    labels = narrowed(names, points, size=size, most=LONGEST)
    axes.set_yticks([10 * index + 5 for index in range(len(names))], labels)
    for index, text in enumerate(axes.get_yticklabels()):
        text.set_fontsize(scaled(size))
        if groups and colours[groups[index]] != FAINT:
            text.set_color(colours[groups[index]])
            text.set_fontweight("bold")


def _name(axes: Any, names: Sequence[str], groups: Sequence[str], width: float) -> None:
    """Label the rows, or groups of adjacent rows if there are many."""
    axes.tick_params(axis="y", length=0)
    capacity = 110 * width / enlarged(COLUMN)  # lines of the smallest text that fit into the height
    if len(names) <= LABELED:
        size = SIZE if len(names) <= FEW else SMALL
        labels = narrowed(names, 0.4 * width * 72, size=size, most=LONGEST)
        axes.set_yticks(range(len(names)), labels, fontsize=scaled(size))
        return
    if not groups:
        axes.set_ylabel(f"{len(names)} systems, with similar ones next to each other")
        return
    least = max(2, round(len(names) / capacity * 3))
    named = [stretch for stretch in stretches(groups) if stretch[0] and stretch[2] - stretch[1] + 1 >= least]
    axes.set_yticks(
        [(low + high) / 2 for _, low, high in named], shortened([name for name, _, _ in named], 18)
    )
    for text in axes.get_yticklabels():
        text.set_fontsize(scaled(5))
