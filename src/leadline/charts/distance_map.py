"""Heat map and dendrogram of the Information Difference of all pairs of systems."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from leadline.charts import COLUMN, FAINT, LINE_STYLES, canvas, ink, label_of, scaled, shortened, style
from leadline.charts.text_layout import (
    colour_bar,
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

ROW = 0.115  # inches: height of a labeled row
SIZE = 6.5  # points: font size of labels, up to `FEW` systems
SMALL = 5.5  # points: font size of labels of more systems
FEW = 45
NAMED = 400  # maximum number of systems with labels
LONGEST = 30  # maximum number of letters of a label
NO_METRIC = "Average linkage. Information Difference is not a metric, so this tree is only a rough guide."


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
        tall = scaled(0.7 + ROW * size) if size <= NAMED else 0.0
        inches = max(COLUMN, tall) if width is None else width
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

        width_inches = width or (COLUMN if size <= FEW else 1.5 * COLUMN)
        notes = [
            *wrapped_to(label, width_inches * 72 - 8, 7.5),
            *wrapped_to(NO_METRIC, width_inches * 72 - 8, 7.5),
        ]
        row = (ROW + 0.02 if size <= FEW else ROW) if size <= NAMED else 0.055
        inches = scaled(0.4 + 0.13 * len(notes)) + max(0.9, size * scaled(row))
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
    if len(names) > NAMED:
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
    capacity = 110 * width / COLUMN  # lines of the smallest text that fit into the height
    if len(names) <= NAMED:
        size = SIZE if len(names) <= FEW else SMALL
        labels = narrowed(names, 0.4 * width * 72, size=size, most=LONGEST)
        axes.set_yticks(range(len(names)), labels, fontsize=scaled(size))
        return
    if not groups:
        axes.set_ylabel(f"{len(names)} systems, with similar ones side by side")
        return
    least = max(2, round(len(names) / capacity * 3))
    named = [stretch for stretch in stretches(groups) if stretch[0] and stretch[2] - stretch[1] + 1 >= least]
    axes.set_yticks(
        [(low + high) / 2 for _, low, high in named], shortened([name for name, _, _ in named], 18)
    )
    for text in axes.get_yticklabels():
        text.set_fontsize(scaled(5))
