"""Values of systems under several judges: one line a judge, the systems in the order of the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from leadline.errors import UsageError
from leadline.plots import COLUMN, FAINT, INK, LOOKS, shortened, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def by_judge(
    judges: Sequence[str], values: ArrayLike, *, label: str, width: float = COLUMN
) -> Figure:
    """Draw judges x systems, the systems from the best to the worst by the first judge.

    A line that falls as the first one does ranks as it does; a line above or below it says that the numbers
    themselves are others. More judges than there are looks are grey.

    >>> drawn = by_judge(["ann", "ben"], [[0.2, 0.4], [0.1, 0.3]], label="AP")
    >>> drawn.axes[0].lines[0].get_ydata().tolist()
    [0.4, 0.2]
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(judges) or not table.size:
        raise UsageError(f"values of shape {table.shape}; expected {len(judges)} judges x systems")
    table = table[:, np.argsort(-table[0], kind="stable")]
    places = np.arange(1, table.shape[1] + 1)
    names = shortened(judges, 16)
    told = len(judges) - 1 <= len(LOOKS)
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, width * 0.8), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(places, table[0], color=INK, linewidth=1.8, zorder=3, label=names[0])
        for place, row in enumerate(table[1:]):
            look = LOOKS[place % len(LOOKS)]
            axes.plot(
                places, row, color=look.color if told else FAINT, linewidth=0.9 if told else 0.5,
                linestyle=look.dashes if told else "solid", marker=look.marker if told else None,
                markersize=2.2, markevery=max(1, len(places) // 8),
                label=names[place + 1] if told else "_" if place else f"{len(table) - 1} other judges",
            )  # fmt: skip
        axes.set_xlabel(f"{table.shape[1]} systems, the best by {names[0]} first")
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.grid(visible=True, axis="y")
        figure.legend(loc="outside upper left", ncols=3 if max(map(len, names)) <= 9 else 2)
    return figure
