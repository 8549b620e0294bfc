"""Figures of reproductions and replications: differences by query, effect ratio by delta RI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.comparison.replication_result import RUNS, Replication
from leadline.data.wording import counted, percent
from leadline.reporting.plots import COLUMN, FAINT, INK, LINE_STYLES, drawable, scaled, style
from leadline.reporting.plots.text_layout import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


def by_query(baseline: ArrayLike, advanced: ArrayLike, *, measure: str, width: float = COLUMN) -> Figure:
    """Draw reproduced minus original values by query, of each run in descending order.

    Examples
    --------
    >>> drawn = by_query([0.1, 0.0, -0.1], [0.2, 0.1, 0.0], measure="AP")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['baseline, RMSE 0.082', 'advanced, RMSE 0.129']
    """
    runs = [np.asarray(values, dtype=np.float64) for values in (baseline, advanced)]
    with style():
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator

        figure = Figure(figsize=(width, 0.6 * width), layout="constrained")
        axes = figure.add_subplot()
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
        axes.set_xlabel(
            f"{counted(len(runs[0]), 'query', 'queries')} of each run, the largest difference first"
        )
        legend_below(figure, lines, labels, width)
    return figure


def effects(result: Replication, *, width: float = COLUMN) -> Figure:
    """Draw effect ratio by delta RI, a point for each measure, with both intervals."""
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 0.8 * width), layout="constrained")
        axes = figure.add_subplot()
        axes.axvline(1, color=INK, linewidth=scaled(0.6), zorder=1)
        axes.axhline(0, color=INK, linewidth=scaled(0.6), zorder=1)
        keys, labels = [], []
        for index, measure in enumerate(result.measures):
            ratio, change = (result.value(name, measure=measure) for name in ("effect_ratio", "delta_ri"))
            look = LINE_STYLES[index % len(LINE_STYLES)]
            keys.append(_point(axes, (ratio.value, ratio.low, ratio.high), change, look))
            undefined = not np.isfinite([ratio.value, change.value]).all()
            reason = ": undefined" if undefined else ", no interval of the ratio" if ratio.withheld else ""
            labels.append(f"{drawable(measure)}{reason}")
        level = percent(result.options["confidence"])
        axes.set_xlabel(f"effect ratio, {level} interval; 1: the effect is the same")
        axes.set_ylabel(f"delta RI, {level} interval")
        axes.grid(visible=True)
        for margins in (axes.set_xmargin, axes.set_ymargin):
            margins(0.12)
        legend_below(figure, keys, labels, width)
    return figure


def _point(axes: Any, ratio: tuple[float, float, float], change: Any, look: Any) -> Any:
    """Draw one measure with its intervals; return its key."""
    x, low, high = ratio
    thin = {"color": look.color, "linewidth": scaled(0.9), "zorder": 2}
    if np.isfinite([low, high]).all():
        axes.plot([low, high], [change.value, change.value], **thin)
    if np.isfinite([x, change.low, change.high]).all():
        axes.plot([x, x], [change.low, change.high], **thin)
    (point,) = axes.plot(
        [x],
        [change.value],
        linestyle="none",
        marker=look.marker,
        color=look.color,
        markersize=scaled(4.5),
        markeredgecolor=FAINT,
        zorder=3,
    )
    return point
