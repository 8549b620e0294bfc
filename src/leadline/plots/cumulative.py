"""How many pairs are nearer than a value: cumulative histograms, one line a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.plots import COLUMN, FAINT, LOOKS, scaled, style
from leadline.plots.legends import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def cumulative(
    values: Mapping[str, Sequence[float]],
    *,
    marks: Mapping[str, float] | None = None,
    label: str = "Information Difference (bits)",
    width: float = COLUMN,
) -> Figure:
    """Draw the share of pairs up to every value, one line a group; `marks` are single values beside them."""
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, width * 0.7), layout="constrained")
        axes = figure.add_subplot()
        lines = []
        largest = max((max(found) for found in values.values() if len(found)), default=1.0)
        for (_, found), look in zip(values.items(), LOOKS, strict=False):
            ordered = np.sort(np.asarray(found, dtype=np.float64))
            share = np.arange(1, len(ordered) + 1) / max(len(ordered), 1)
            lines += axes.step(
                [0, *ordered, 1.03 * largest], [0, *share, 1], where="post", color=look.color,
                linestyle=look.dashes,
            )  # fmt: skip
        # names stand at three heights, so that marks near each other do not cover each other's
        for place, (name, value) in enumerate(
            sorted((marks or {}).items(), key=lambda mark: mark[1])
        ):
            axes.axvline(value, color=FAINT, linewidth=scaled(0.8), linestyle=(0, (2, 2)))
            axes.annotate(
                name, (value, 0.02 + 0.32 * (place % 3)), xytext=(2, 0), textcoords="offset points",
                rotation=90, fontsize=scaled(5.5), va="bottom",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.3, "alpha": 0.8},
            )  # fmt: skip
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.01)
        axes.set_xlabel(label)
        axes.set_ylabel("share of pairs (cumulative)")
        axes.grid(visible=True)
        labels = [f"{name} ({len(found)} pairs)" for name, found in values.items()][: len(lines)]
        legend_below(figure, lines, labels, width)
    return figure
