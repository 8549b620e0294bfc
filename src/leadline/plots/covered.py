"""How fast several runs cover the subtopics of queries, in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leadline.plots import COLUMN
from leadline.plots.recall_precision import recall_precision

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def covered_by_rank(
    names: Sequence[str], ranks: Sequence[int], share: ArrayLike, *, width: float = COLUMN
) -> Figure:
    """Draw one line a run: `share[r, k]` is the mean share of subtopics that run r covers to `ranks[k]`."""
    figure = recall_precision(names, ranks, share, width=width)
    axes = figure.axes[0]
    axes.set_xlabel("rank")
    axes.set_ylabel("subtopics covered (mean share)")
    axes.set_xlim(0.5, ranks[-1] + 0.5)
    axes.set_xticks([rank for rank in TICKS if rank <= ranks[-1]])
    return figure
