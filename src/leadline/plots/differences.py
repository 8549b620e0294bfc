"""The differences of two runs, query by query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.plots import COLUMN, INK, LOOKS, drawable, scaled, style
from leadline.plots._pairs import ABOVE, BELOW, Sides, for_run, left_out, sides_of, winners
from leadline.plots._text import narrowed, width_of
from leadline.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

APART = 100  # up to so many bars have gaps between them
LEAST = 8  # a bar is never wider than one of so many
FARTHEST = 3  # so many queries are named at each end, where they fit
KEY = 36  # points: the key before the words and the margins
ROUNDING = 1e-12  # differences that cancel leave so little
LINE = 0.15  # inches: a line of the words above the bars


def differences(
    values: ArrayLike,
    *,
    first: str,
    second: str,
    measure: object,
    low: float | None = None,
    high: float | None = None,
    interval: str = "interval",
    queries: Sequence[str] | None = None,
    width: float = COLUMN,
) -> Figure:
    """Draw one bar a query, the value of `first` minus that of `second`, the largest at the left.

    A dashed line stands at the mean difference and a band over its interval from `low` to `high`, where these
    are finite; `interval` says which interval it is.
    Words above say how many queries each run wins; with `queries`, the ids of `values`, also which
    ones it wins by most, where they fit. Of a measure with `rising` false the lower value wins. NaN
    is left out and counted.

    >>> drawn = differences([0.2, -0.1, 0.0], first="bm25", second="dense", measure="AP")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['1 query for bm25', '1 query equal', '1 query for dense', 'mean +0.033']
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 1 or (queries is not None and len(queries) != len(table)):
        named = "" if queries is None else f" with {len(queries)} query ids"
        raise UsageError(f"differences of shape {table.shape}{named}; expected one for each query")
    sides = sides_of(table)
    order = np.argsort(-table, kind="stable")[: len(table) - sides.undefined]
    ids = [] if queries is None else [drawable(queries[place]) for place in order.tolist()]
    bounds = (low, high) if low is not None and high is not None else None
    if bounds is not None and not np.isfinite(bounds).all():
        bounds = None
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 1), layout="constrained")
        axes = figure.add_subplot()
        keys = _bars(axes, table[order])
        words = _words(
            sides,
            narrowed(winners(first, second, measure), 0.5 * width * 72, size=7, most=40),
            ids,
            width,
        )
        if len(order):
            keys.append(_mean(axes, float(table[order].mean()), bounds))
            words.append(_mean_in_words(float(table[order].mean()), bounds, interval, width))
        if sides.undefined:
            keys.append(axes.plot([], [], linestyle="none", color=INK)[0])
            words.append(left_out(sides.undefined))
        figure.set_figheight(
            0.55 * width + scaled(LINE) * sum(text.count("\n") + 1 for text in words)
        )
        figure.legend(
            keys, words, loc="outside upper left", borderpad=0, labelspacing=0.35, borderaxespad=0.3
        )
        axes.set_ylabel(_label(f"{measure}", [first, second], width))
        axes.set_xlabel(
            f"{counted(len(order), 'query', 'queries')}, the largest difference at the left"
        )
    return figure


def _bars(axes: Any, falling: Floats) -> list[Any]:
    """Draw the bars of each side as one outline; give the keys of above, zero and below."""
    from matplotlib.patches import Patch

    count = len(falling)
    for look, chosen in ((LOOKS[ABOVE], falling > 0), (LOOKS[BELOW], falling < 0)):
        _side(axes, np.flatnonzero(chosen), falling[chosen], look.color, gaps=count <= APART)
    zero = axes.axhline(0, color=INK, linewidth=scaled(0.6))
    middle, reach = (count - 1) / 2, 0.51 * max(count, LEAST)
    axes.set_xlim(middle - reach, middle + reach)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.grid(visible=True, axis="y")
    lowest, highest = float(falling.min(initial=0.0)), float(falling.max(initial=0.0))
    margin = 0.05 * (highest - lowest) or 0.1
    axes.set_ylim(lowest - margin, highest + margin)
    return [Patch(color=LOOKS[ABOVE].color), zero, Patch(color=LOOKS[BELOW].color)]


def _side(axes: Any, places: Any, heights: Floats, color: str, *, gaps: bool) -> None:
    """Draw bars side by side as one outline, which goes back to zero in the gaps between them."""
    if not len(heights):
        return
    edges = np.append(places - 0.5, places[-1] + 0.5)
    if gaps:
        edges = np.stack([places - 0.4, places + 0.4], axis=1).ravel()
        heights = np.stack([heights, np.zeros(len(heights))], axis=1).ravel()[:-1]
    axes.stairs(heights, edges, fill=True, color=color, linewidth=scaled(0))


def _mean(axes: Any, mean: float, bounds: tuple[float, float] | None) -> Any:
    """Draw the mean over its interval; give both as one key."""
    line = axes.axhline(mean, color=INK, linewidth=scaled(0.8), linestyle=(0, (4, 2)))
    if bounds is None:
        return line
    return (axes.axhspan(*bounds, color=INK, alpha=0.2, linewidth=scaled(0)), line)


def _mean_in_words(
    mean: float, bounds: tuple[float, float] | None, interval: str, width: float
) -> str:
    """Write the mean and its interval, on two lines where one is longer than the figure."""
    text = f"mean {_signed(mean)}"
    if bounds is None:
        return text
    limits = f"{interval} {_signed(bounds[0])} to {_signed(bounds[1])}"
    fits = width_of(f"{text}, {limits}", 7) < width * 72 - KEY
    return f"{text}, {limits}" if fits else f"{text},\n{limits}"


def _signed(value: float) -> str:
    """Give a difference with its sign, and the digits that its size calls for."""
    if abs(value) < ROUNDING:
        return "0"
    text = f"{value:+.3f}" if 0.01 <= abs(value) < 100 else f"{value:+.3g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _label(measure: str, names: list[str], width: float) -> str:
    """Say what was subtracted, on two lines where one is longer than the axis."""
    room = 0.48 * width * 72
    one, other = narrowed(names, (room - width_of(" minus ", 7.5)) / 2, size=7.5, most=40)
    text = f"{measure}, {one} minus {other}"
    return text if width_of(text, 7.5) < room else f"{measure},\n{one} minus {other}"


def _words(sides: Sides, names: list[str], ids: list[str], width: float) -> list[str]:
    """Say how many queries are on each side of zero, and which are the farthest from it."""
    most = ids[: sides.above][:FARTHEST]
    least = ids[len(ids) - sides.below :][::-1][:FARTHEST]
    return [
        _with_ids(for_run(sides.above, names[0]), most, width),
        f"{counted(sides.equal, 'query', 'queries')} equal",
        _with_ids(for_run(sides.below, names[1]), least, width),
    ]


def _with_ids(text: str, ids: list[str], width: float) -> str:
    """Add as many ids as the line has room for."""
    for count in range(len(ids), 0, -1):
        longer = f"{text}; farthest: {', '.join(ids[:count])}"
        if width_of(longer, 7) < width * 72 - KEY:
            return longer
    return text
