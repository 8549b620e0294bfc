"""Recall-precision curves of several runs in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.plots import COLUMN, FAINT, LOOKS, scaled, shortened, style
from leadline.plots.legends import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

BEST = 5  # how many runs are named when there are more than colours


def recall_precision(
    names: Sequence[str], levels: Sequence[float], precision: ArrayLike, *, width: float = COLUMN
) -> Figure:
    """Draw one line a run; with more runs than colours the best are named and the others are grey.

    `precision[r, l]` is the mean interpolated precision of run r at recall `levels[l]`; the best
    run is the one of highest mean over the levels.
    """
    table = np.asarray(precision, dtype=np.float64)
    order = np.argsort(-table.mean(axis=1), kind="stable").tolist()
    named = order if len(order) <= len(LOOKS) else order[:BEST]
    others = [place for place in order if place not in named]
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 1), layout="constrained")
        axes = figure.add_subplot()
        lines: list[Any] = []
        for place in others:
            grey = axes.plot(levels, table[place], color=FAINT, linewidth=scaled(0.5), alpha=0.45)
            lines = grey[:1]
        for place, look in reversed(list(zip(named, LOOKS, strict=False))):
            lines += axes.plot(
                levels, table[place],
                color=look.color, linestyle=look.dashes, marker=look.marker,
            )  # fmt: skip
        labels = shortened([names[place] for place in named], 44)
        rest = [f"{len(others)} other runs"] if others else []
        figure.set_figheight(width * 0.72)
        legend_below(figure, lines[::-1], labels + rest, width)
        _axes(axes, levels, float(table.max(initial=0.0)))
    return figure


def _axes(axes: Any, levels: Sequence[float], highest: float) -> None:
    """Give recall and precision the same unit, and precision no more room than it needs."""
    axes.set_xlabel("recall")
    axes.set_ylabel("precision (mean, interpolated)")
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(0, min(1.02, max(0.1, np.ceil(highest * 10 + 0.2) / 10)))
    axes.set_xticks([level for place, level in enumerate(levels) if place % 2 == 0])
    axes.grid(visible=True)
