"""How far judges agree: every two as a map, or each with a reference as a row with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from leadline.errors import UsageError
from leadline.plots import COLUMN, FAINT, INK, LOOKS, style
from leadline.plots._text import fitting
from leadline.plots.forest import forest
from leadline.statistics.agreement import ACCEPTABLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WRITTEN = 12  # judges whose values fit into the cells
NAMED = 45  # more judges than that are not named one by one


def between_judges(
    names: Sequence[str], values: ArrayLike, *, label: str = "Cohen's kappa", width: float = COLUMN
) -> Figure:
    """Draw judges by judges, those who agree most with the others first; dark is full agreement.

    `values` is judges x judges, NaN where there is none. Few judges have their values in the cells.

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
    known = (~np.isnan(table)).sum(axis=1)
    order = np.argsort(-np.nansum(table, axis=1) / np.maximum(known, 1), kind="stable").tolist()
    table = table[np.ix_(order, order)]
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, width * 1.08), layout="constrained")
        axes = figure.add_subplot()
        drawn = axes.imshow(
            table, cmap="cividis_r", vmin=min(0.0, np.nanmin(table, initial=0.0)), vmax=1
        )
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        shown = fitting([names[place] for place in order], 22)
        if len(names) <= NAMED:
            size = min(7.0, 7.0 * 26 / len(names))
            axes.set_yticks(range(len(names)), shown, fontsize=size)
            axes.set_xticks(range(len(names)), shown, fontsize=size, rotation=90)
        else:
            axes.set_xticks([])
            axes.set_yticks([])
            axes.set_ylabel(f"{len(names)} judges, the most agreeing first")
        _write_cells(axes, table)
        bar = figure.colorbar(drawn, ax=axes, location="bottom", aspect=40, fraction=0.05, pad=0.02)
        bar.set_label(f"{label}; the line: 2/3, above it acceptable")
        bar.ax.axvline(ACCEPTABLE, color=LOOKS[1].color, linewidth=1.4)
        bar.outline.set_visible(False)
    return figure


def _write_cells(axes: object, table: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    if len(table) > WRITTEN:
        return
    for (row, column), value in np.ndenumerate(table):
        if not np.isnan(value):
            axes.text(  # type: ignore[attr-defined]  # matplotlib has no types
                column, row, f"{value:.2f}", ha="center", va="center", fontsize=6,
                color="white" if value > 0.5 else INK,
            )  # fmt: skip


def against_reference(
    names: Sequence[str],
    values: ArrayLike,
    lows: ArrayLike,
    highs: ArrayLike,
    *,
    label: str,
    width: float = COLUMN,
) -> Figure:
    """Draw each judge's agreement with the reference with its interval, the highest first.

    The faint line stands at 2/3, from which on the lecture calls agreement acceptable.

    >>> drawn = against_reference(["ann", "ben"], [0.3, 0.7], [0.2, 0.6], [0.4, 0.8], label="kappa")
    >>> [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    ['ben', 'ann']
    """
    table = [np.asarray(column, dtype=np.float64) for column in (values, lows, highs)]
    order = np.argsort(np.where(np.isnan(table[0]), np.inf, -table[0]), kind="stable").tolist()
    figure = forest(
        [names[place] for place in order], *(column[order] for column in table), label=label, width=width
    )  # fmt: skip
    axes = figure.axes[0]
    axes.axvline(ACCEPTABLE, color=FAINT, linewidth=0.8, linestyle=LOOKS[1].dashes)
    with style():
        axes.annotate("2/3", (ACCEPTABLE, 1), xycoords=("data", "axes fraction"), xytext=(0, 1.5),
                      textcoords="offset points", ha="center", size=7, annotation_clip=False)  # fmt: skip
    return figure
