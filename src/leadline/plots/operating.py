"""ROC curves of several predictors, and of several samples of the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from leadline.plots import COLUMN, FAINT, LOOKS, style
from leadline.plots.legends import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.arrays import Floats


def operating_curves(
    curves: Mapping[str, tuple[Floats, Floats]], *, width: float = COLUMN
) -> Figure:
    """Draw false positive rate against true positive rate, one line a predictor."""
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 0.93 * width), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.6)
        lines = []
        for (false, true), look in zip(curves.values(), LOOKS, strict=False):
            lines += axes.plot(false, true, color=look.color, linestyle=look.dashes)
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_aspect("equal")
        axes.set_xlabel("share of pairs of different teams taken for the same")
        axes.set_ylabel("share of pairs of one team found")
        axes.grid(visible=True)
        legend_below(figure, lines, list(curves)[: len(lines)], width)
    return figure
