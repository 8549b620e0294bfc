"""A legend under the picture, in as many columns as its longest name allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leadline.plots import INK, scaled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def legend_below(figure: Figure, lines: Sequence[Any], labels: Sequence[str], width: float) -> None:
    """Name the lines below the picture and make room for the names."""
    longest = max(map(len, labels), default=1)
    columns = max(1, min(3, int(width * 72 / (scaled(longest * 4.4 + 32))), len(labels)))
    rows = -(-len(labels) // columns)
    figure.set_figheight(figure.get_figheight() + scaled(0.15 + rows * 0.155))
    legend = figure.legend(
        lines, [str(place) for place in range(len(labels))], loc="outside lower center",
        ncols=columns, borderpad=0, labelspacing=0.35, borderaxespad=0.3,
    )  # fmt: skip
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)  # set late: a name that begins with `_` would be left out
        text.set_color(INK)
