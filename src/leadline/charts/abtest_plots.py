"""Figure of an A/B test: clickthrough of both arms, and their difference over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from leadline.charts import COLUMN, INK, LINE_STYLES, scaled, shortened, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


POINTS = 600  # maximum number of points of a line
Path = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]


def two_arms(
    names: Sequence[str],
    rates: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    *,
    path: Path | None = None,
    unit: str = "user",
    confidence: float = 0.95,
    width: float = COLUMN,
) -> Figure:
    """Draw the clickthrough rates of A and B with intervals, in percent, and their difference over time.

    >>> drawn = two_arms(["old", "new"], [0.05, 0.06], [0.04, 0.05], [0.06, 0.07])
    >>> [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    ['A: old', 'B: new']
    """
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 1.15 if path is None else 3.1), layout="constrained")
        if path is None:
            axes, below = figure.add_subplot(), None
        else:
            axes, below = figure.subplots(2, 1, height_ratios=[1, 2.4])
        labels = [
            name if name == letter else f"{letter}: {name}"
            for letter, name in zip("AB", shortened(names, 24), strict=True)
        ]
        for row, (name, rate, low, high) in enumerate(zip(labels, rates, lows, highs, strict=True)):
            look = LINE_STYLES[row]
            axes.hlines([row], [100 * low], [100 * high], colors=look.color, linewidth=scaled(1.4))
            axes.plot(100 * rate, row, look.marker, ls="-", ms=scaled(5), color=look.color, label=name)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
        axes.set_xlim(left=0)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x")
        axes.set_xlabel(f"clickthrough (%), {100 * confidence:g} % interval")
        if below is not None and path is not None:
            _difference(below, path, unit, confidence)
    return figure


def _difference(axes: Any, path: Path, unit: str, confidence: float) -> None:
    """Draw the difference over users with its anytime-valid confidence sequence."""
    from matplotlib.ticker import MaxNLocator

    users, middle, low, high = (np.asarray(column, dtype=np.float64) for column in path)
    bounded = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    axes.axhline(0, color=INK, linewidth=scaled(0.6))
    if len(bounded):
        drawn = bounded[np.unique(np.linspace(0, len(bounded) - 1, POINTS).astype(int))]
        axes.fill_between(
            users[drawn],
            100 * low[drawn],
            100 * high[drawn],
            color=LINE_STYLES[0].color,
            alpha=0.22,
            linewidth=scaled(0),
        )
        axes.plot(users[drawn], 100 * middle[drawn], color=LINE_STYLES[0].color)
        axes.plot(
            [users[drawn][-1]],
            [100 * middle[drawn][-1]],
            marker=LINE_STYLES[0].marker,
            color=LINE_STYLES[0].color,
        )
        # the first intervals are so wide that the others would be invisible on their scale
        last, reach = 100 * middle[drawn][-1], 300 * float(np.median((high - low)[bounded]))
        least, most = max(100 * low[drawn].min(), last - reach), min(100 * high[drawn].max(), last + reach)
        axes.set_ylim(min(least, 0.0) - 0.04 * reach, max(most, 0.0) + 0.04 * reach)
    else:
        axes.text(0.5, 0.6, "too few clicks for a first look", ha="center", transform=axes.transAxes)
        axes.set_yticks([])
    axes.grid(visible=True, axis="y")
    axes.set_xlim(0, users[-1] if len(users) else 1)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    band = f"band: {100 * confidence:g} % interval, valid at every look"
    axes.set_xlabel(f"{unit}s so far\n{band}", loc="right")
    axes.set_ylabel("B \N{MINUS SIGN} A (percentage points)")
