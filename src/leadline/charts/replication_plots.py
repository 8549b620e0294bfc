"""Figures of reproductions and replications: differences by query, effect ratio by delta RI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.charts import COLUMN, FAINT, INK, LINE_STYLES, canvas, dots, drawable, scaled, style
from leadline.charts.text_layout import legend_below
from leadline.data.wording import counted, percent

RUNS = ("baseline", "advanced")

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


def by_query(baseline: ArrayLike, advanced: ArrayLike, *, measure: str, width: float = COLUMN) -> Figure:
    """Draw reproduced minus original per-query values, of each run in descending order.

    >>> drawn = by_query([0.1, 0.0, -0.1], [0.2, 0.1, 0.0], measure="AP")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['baseline, RMSE 0.082', 'advanced, RMSE 0.129']
    """
    runs = [np.asarray(values, dtype=np.float64) for values in (baseline, advanced)]
    with style():
        from matplotlib.ticker import MaxNLocator

        figure, axes = canvas(width, 0.6 * width)
        axes.axhline(0, color=INK, linewidth=scaled(0.6), zorder=1)
        lines, labels = [], []
        for name, values, look in zip(RUNS, runs, LINE_STYLES, strict=False):
            few = len(values) <= 60
            (line,) = axes.plot(
                np.arange(1, len(values) + 1),
                -np.sort(-values),
                color=look.color,
                linestyle=look.dashes,
                marker=look.marker if few else None,
                markersize=scaled(2.4),
            )
            lines.append(line)
            labels.append(f"{name}, RMSE {np.sqrt((values**2).mean()):.3f}")
        axes.grid(visible=True, axis="y")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.set_ylabel(f"{drawable(measure)}, reproduced \N{MINUS SIGN} original")
        axes.set_xlabel(f"{counted(len(runs[0]), 'query', 'queries')} of each run, largest difference first")
        legend_below(figure, lines, labels, width)
    return figure


def effects(
    names: Sequence[str], ratios: ArrayLike, changes: ArrayLike, *, confidence: float, width: float = COLUMN
) -> Figure:
    """Draw effect ratio by delta RI, a point for each measure, with both intervals.

    `ratios` and `changes` have three columns: value, lower and upper limit; NaN is undefined.
    """
    with style():
        figure, axes = canvas(width, 0.8 * width)
        axes.axvline(1, color=INK, linewidth=scaled(0.6), zorder=1)
        axes.axhline(0, color=INK, linewidth=scaled(0.6), zorder=1)
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
