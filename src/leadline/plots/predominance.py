"""How few topics hold how much of a list: the three cumulated distributions of DeShaTo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.arrays import Floats
from leadline.plots import COLUMN, LOOKS, style
from leadline.plots.legends import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from leadline.estimators.examples import Listed

PANELS = ("sum", "minimum", "product")
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def predominance(lists: Sequence[Listed], *, width: float = 2 * COLUMN) -> Figure:
    """Draw, for every list, how much of the mass of sum, minimum and product the largest topics hold.

    Topics stand on a logarithmic axis, the largest first; a vector without mass stays at 0.

    >>> from leadline.estimators.examples import Listed
    >>> vectors = [np.array([3, 1]), np.array([1, 0]), np.array([1, 0])]
    >>> drawn = predominance([Listed("good", "q", "bm25", 20, 30, 120.0, {}, vectors)])
    >>> drawn.axes[0].get_lines()[0].get_ydata().tolist()
    [0.75, 1.0]
    """
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 0.33 * width), layout="constrained")
        panels = figure.subplots(1, len(PANELS), sharey=True)
        drawn: list[Any] = []
        for panel, (axes, name) in enumerate(zip(panels, PANELS, strict=True)):
            for one, look in zip(lists, LOOKS, strict=False):
                shares = cumulated(one.vectors[panel])
                lines = axes.plot(
                    np.arange(1, len(shares) + 1), shares, color=look.color,
                    linestyle=look.dashes, marker=look.marker,
                    markevery=[tick - 1 for tick in TICKS if tick <= len(shares)],
                )  # fmt: skip
                drawn += lines if panel == 0 else []
            axes.set_xscale("log")
            ticks = [tick for tick in TICKS if tick <= len(shares)]
            axes.set_xticks(ticks, list(map(str, ticks)))
            axes.minorticks_off()
            axes.set_ylim(0, 1.03)
            axes.set_xlabel(f"topics of the {name}, largest first")
            axes.grid(visible=True)
        panels[0].set_ylabel("share of the mass, cumulative")
        legend_below(figure, drawn, list(map(str, lists))[: len(drawn)], width)
    return figure


def cumulated(vector: ArrayLike) -> Floats:
    """Give the share of the mass in the largest component, in the two largest, and so on.

    >>> cumulated([1, 6, 1]).tolist()
    [0.75, 0.875, 1.0]
    """
    ordered = np.sort(np.asarray(vector, dtype=np.float64))[::-1]
    mass = ordered.sum()
    shares: Floats = np.cumsum(ordered / mass) if mass > 0 else np.zeros(len(ordered))
    return shares
