"""Heat map of values by run and query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.charts import COLUMN, INK, RULE, style
from leadline.charts.text_layout import colour_bar, height_of, name_rows
from leadline.data.arrays import Floats
from leadline.data.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def query_map(
    names: Sequence[str],
    cells: Floats,
    *,
    limits: tuple[float, float],
    order: str,
    label: str,
    width: float = COLUMN,
) -> Figure:
    """Draw a heat map of runs by queries, with a color bar."""
    finite = cells[np.isfinite(cells)]
    ends = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    low, high = (limit if math.isfinite(limit) else end for limit, end in zip(limits, ends, strict=True))
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height_of(len(names), least=1.5)), layout="constrained")
        axes = figure.add_subplot()
        drawn = axes.imshow(cells, aspect="auto", interpolation="none", cmap="cividis", vmin=low, vmax=high)
        axes.patch.set(facecolor="white", edgecolor=RULE, hatch="////", linewidth=0)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, colors=INK)
        axes.set_xticks([])
        axes.set_xlabel(f"{counted(cells.shape[1], 'query', 'queries')}, {order}")
        name_rows(axes, names)
        colour_bar(figure, axes, drawn, label)
    return figure
