"""Several columns along one parameter, each on a scale of its own: one panel under the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.plots import COLUMN, LOOKS, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT = 0.75  # inches of a panel
LABELS = 10  # that do not overlap in a column


def panels(
    columns: Mapping[str, Sequence[float]], along: Sequence[int], *, label: str, width: float = COLUMN
) -> Figure:  # fmt: skip
    """Draw each column against `along`, which stands on a logarithmic axis; undefined values are gaps.

    At most ten values of `along` are written below the axis, the first and the last among them.

    >>> drawn = panels({"MAP": [0.2, 0.3], "HSA": [4.0, 5.0]}, [50, 100], label="topics")
    >>> [axes.get_ylabel() for axes in drawn.axes]
    ['MAP', 'HSA']
    """
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 0.4 + HEIGHT * len(columns)), layout="constrained")
        grid = figure.subplots(len(columns), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (name, values), look in zip(grid, columns.items(), LOOKS, strict=False):
            axes.plot(
                along, np.asarray(values, dtype=np.float64), color=look.color, linestyle=look.dashes,
                marker=look.marker,
            )  # fmt: skip
            axes.set_ylabel(name)
            axes.margins(y=0.15)
            axes.grid(visible=True)
        grid[-1].set_xscale("log")
        grid[-1].minorticks_off()
        places = (
            np.linspace(0, len(along) - 1, min(len(along), LABELS)).round().astype(int).tolist()
        )
        shown = [along[place] for place in places]
        grid[-1].set_xticks(shown, [f"{one:,}" for one in shown])
        grid[-1].set_xlabel(label)
        figure.align_ylabels(list(grid))
    return figure
