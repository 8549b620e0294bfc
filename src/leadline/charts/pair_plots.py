"""Figures of two runs by query: bars of differences, and scatter plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from leadline.charts import COLUMN, FAINT, LINE_STYLES, canvas, dots, drawable, enlarged, ink, scaled, style
from leadline.charts.text_layout import fit_ticks, narrowed, width_of, wrapped, wrapped_to
from leadline.data.arrays import Floats
from leadline.data.wording import counted
from leadline.stats.power import outcomes

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


ABOVE, BELOW = 0, 4  # indices in LINE_STYLES: dark and light, so that they differ in gray


class Sides(NamedTuple):
    """Numbers of positive, zero, negative and undefined differences."""

    above: int
    equal: int
    below: int
    undefined: int


def sides_of(differences: Floats) -> Sides:
    """Return the number of positive, zero, negative and undefined (NaN) differences.

    >>> sides_of(np.array([0.1, 0.0, -0.2, 0.3, np.nan]))
    Sides(above=2, equal=1, below=1, undefined=1)
    """
    wins, ties, losses = outcomes(differences[:, None])
    return Sides(int(wins[0]), int(ties[0]), int(losses[0]), int(np.isnan(differences).sum()))


def winners(first: str, second: str, measure: object) -> list[str]:
    """Return the run that wins if the first has the higher value, and the run that wins otherwise.

    For measures with `rising` False, lower values win.

    >>> winners("bm25", "dense", "AP")
    ['bm25', 'dense']
    """
    return [first, second] if getattr(measure, "rising", True) else [second, first]


def for_run(count: int, name: str) -> str:
    """Return a number of queries won by a run, as text.

    >>> for_run(27, "bm25")
    '27 queries won by bm25'
    """
    return f"{counted(count, 'query', 'queries')} won by {name}"


def left_out(count: int) -> str:
    """Return the number of excluded queries, as text.

    >>> left_out(1)
    'left out 1 query without a value in one or both runs'
    """
    return f"left out {counted(count, 'query', 'queries')} without a value in one or both runs"


APART = 100  # maximum number of bars with gaps between them
LEAST = 8  # minimum number of bars for which the width is divided
FARTHEST = 3  # maximum number of queries named at each end
KEY = 36  # points: width of the legend key and the margins, before scaling
ROUNDING = 1e-12  # magnitude of rounding errors of differences that cancel
TEXT_LINE = 0.15  # inches: line height of the text above a figure


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
    """Draw one bar per query: the value of `first` minus that of `second`, in descending order.

    A dashed line marks the mean difference, a band its interval. The legend has the number of queries that
    each run wins.

    >>> drawn = differences([0.2, -0.1, 0.0], first="bm25", second="dense", measure="AP")
    >>> [text.get_text() for text in drawn.legends[0].get_texts()]
    ['1 query won by bm25', '1 query equal', '1 query won by dense', 'mean +0.033']
    """
    table = np.asarray(values, dtype=np.float64)
    sides = sides_of(table)
    order = np.argsort(-table, kind="stable")[: len(table) - sides.undefined]
    ids = [] if queries is None else [drawable(queries[index]) for index in order.tolist()]
    bounds = (low, high) if low is not None and high is not None else None
    if bounds is not None and not np.isfinite(bounds).all():
        bounds = None
    with style():
        width = enlarged(width)
        figure, axes = canvas(width, 1)
        keys = _bars(axes, table[order])
        room = width * 72 - scaled(KEY) - max(width_of(for_run(count, ""), 7) for count in sides)
        names = narrowed(winners(first, second, measure), min(room, 0.5 * width * 72), size=7, most=40)
        labels = _words(sides, names, ids, width)
        if len(order):
            keys.append(_mean(axes, float(table[order].mean()), bounds))
            labels.append(_mean_in_words(float(table[order].mean()), bounds, interval, width))
        if sides.undefined:
            keys.append(axes.plot([], [], linestyle="none", color=ink())[0])
            labels.append(left_out(sides.undefined))
        words = wrapped(f"{counted(len(order), 'query', 'queries')}, sorted by difference", 0.8 * width * 72)
        lines = "\n".join([*labels, *words.split("\n")[1:]]).count("\n") + 1
        figure.set_figheight(0.55 * width + scaled(TEXT_LINE) * lines)
        figure.legend(
            keys, labels, loc="outside upper left", borderpad=0, labelspacing=0.35, borderaxespad=0.3
        )
        axes.set_ylabel(_label(f"{measure}", [first, second], width))
        axes.set_xlabel(words)
    return figure


def _bars(axes: Any, falling: Floats) -> list[Any]:
    """Draw the bars of each side as one outline; return the legend keys of above, zero and below."""
    from matplotlib.patches import Patch

    count = len(falling)
    for line_style, flags in ((LINE_STYLES[ABOVE], falling > 0), (LINE_STYLES[BELOW], falling < 0)):
        _side(axes, np.flatnonzero(flags), falling[flags], line_style.color, gaps=count <= APART)
    zero = axes.axhline(0, color=ink(), linewidth=scaled(0.6))
    middle, reach = (count - 1) / 2, 0.51 * max(count, LEAST)
    axes.set_xlim(middle - reach, middle + reach)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.grid(visible=True, axis="y")
    lowest, highest = float(falling.min(initial=0.0)), float(falling.max(initial=0.0))
    margin = 0.05 * (highest - lowest) or 0.1
    axes.set_ylim(lowest - margin, highest + margin)
    return [Patch(color=LINE_STYLES[ABOVE].color), zero, Patch(color=LINE_STYLES[BELOW].color)]


def _side(axes: Any, positions: Any, heights: Floats, color: str, *, gaps: bool) -> None:
    """Draw bars side by side as one outline, which is at zero in the gaps between them."""
    if not len(heights):
        return
    edges = np.append(positions - 0.5, positions[-1] + 0.5)
    if gaps:
        edges = np.stack([positions - 0.4, positions + 0.4], axis=1).ravel()
        heights = np.stack([heights, np.zeros(len(heights))], axis=1).ravel()[:-1]
    axes.stairs(heights, edges, fill=True, color=color, linewidth=scaled(0))


def _mean(axes: Any, mean: float, bounds: tuple[float, float] | None) -> Any:
    """Draw the mean and its interval; return both as one legend entry."""
    line = axes.axhline(mean, color=ink(), linewidth=scaled(0.8), linestyle=(0, (4, 2)))
    if bounds is None:
        return line
    return (axes.axhspan(*bounds, color=ink(), alpha=0.2, linewidth=scaled(0)), line)


def _mean_in_words(mean: float, bounds: tuple[float, float] | None, interval: str, width: float) -> str:
    """Return the mean and its interval as text, on several lines if one is too long."""
    text = f"mean {_signed(mean)}"
    if bounds is None:
        return text
    limits = f"{interval} {_signed(bounds[0])} to {_signed(bounds[1])}"
    room = width * 72 - scaled(KEY)
    if width_of(f"{text}, {limits}", 7) < room:
        return f"{text}, {limits}"
    return "\n".join([f"{text},", *wrapped_to(limits, room, 7)])


def _signed(value: float) -> str:
    """Return a difference with its sign and suitable precision, as text."""
    if abs(value) < ROUNDING:
        return "0"
    text = f"{value:+.3f}" if 0.01 <= abs(value) < 100 else f"{value:+.3g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _label(measure: str, names: list[str], width: float) -> str:
    """Return the axis label of differences, on two lines if one is too long."""
    available = 0.48 * width * 72
    first, second = narrowed(names, (available - width_of(" minus ", 7.5)) / 2, size=7.5, most=40)
    text = f"{measure}, {first} minus {second}"
    return text if width_of(text, 7.5) < available else f"{measure},\n{first} minus {second}"


def _words(sides: Sides, names: list[str], ids: list[str], width: float) -> list[str]:
    """Return the number of queries on each side of zero, with those of largest difference, as text."""
    most = ids[: sides.above][:FARTHEST]
    least = ids[len(ids) - sides.below :][::-1][:FARTHEST]
    return [
        _with_ids(for_run(sides.above, names[0]), most, width),
        f"{counted(sides.equal, 'query', 'queries')} equal",
        _with_ids(for_run(sides.below, names[1]), least, width),
    ]


def _with_ids(text: str, ids: list[str], width: float) -> str:
    """Add as many ids as fit on the line."""
    for count in range(len(ids), 0, -1):
        longer = f"{text}; largest: {', '.join(ids[:count])}"
        if width_of(longer, 7) < width * 72 - scaled(KEY):
            return longer
    return text


def scatter(
    x: ArrayLike, y: ArrayLike, *, first: str, second: str, measure: object, width: float = COLUMN
) -> Figure:
    """Draw a scatter plot of queries: values of `second` (`x`) and `first` (`y`), with equal axes.

    Points above the diagonal are queries that `first` wins (`second` if `rising` of the measure is False).
    Both sides are counted above the figure. Queries with NaN in either run are excluded and counted.

    >>> drawn = scatter([0.1, 0.5], [0.3, 0.5], first="bm25", second="dense", measure="AP")
    >>> drawn.axes[0].get_ylabel(), drawn.get_suptitle().splitlines()[0]
    ('AP of bm25', 'above the diagonal: 1 query won by bm25')
    """
    table = np.stack([np.asarray(side, dtype=np.float64) for side in (x, y)])
    defined = table[:, ~np.isnan(table).any(axis=0)]
    with style():
        width = enlarged(width)
        names = narrowed([first, second], 0.4 * width * 72, size=7.5, most=40)
        told = _counts_in_words(sides_of(table[1] - table[0]), winners(names[0], names[1], measure))
        lines = [line for each in told for line in wrapped_to(each, width * 72 - scaled(10), 7)]
        figure, axes = canvas(width, width + scaled(TEXT_LINE) * len(lines))
        _square(axes, defined)
        axes.axline((0, 0), slope=1, color=FAINT, linewidth=scaled(0.8), zorder=1)
        alpha = float(np.clip(8 / max(defined.shape[1], 1) ** 0.5, 0.15, 0.6))  # less where there are more
        dots(axes, defined[0], defined[1], "o", 4, LINE_STYLES[0].color, alpha=alpha, clip_on=False)
        figure.suptitle("\n".join(lines), x=0.015, ha="left", fontsize=scaled(7))
        axes.set_xlabel(wrapped(f"{measure} of {names[1]}", 0.8 * width * 72))
        axes.set_ylabel(wrapped(f"{measure} of {names[0]}", 0.8 * width * 72))
    return figure


def _counts_in_words(sides: Sides, names: list[str]) -> list[str]:
    """Add the number of queries on each side of the diagonal."""
    lines = [
        f"above the diagonal: {for_run(sides.above, names[0])}",
        f"on it: {counted(sides.equal, 'query', 'queries')}",
        f"below: {for_run(sides.below, names[1])}",
    ]
    return lines + ([left_out(sides.undefined)] if sides.undefined else [])


def _square(axes: Any, points: Floats) -> None:
    """Set equal ranges, ticks and lengths of both axes."""
    low, high = (float(points.min()), float(points.max())) if points.size else (0.0, 1.0)
    margin = 0.03 * (high - low) or max(0.1, 0.1 * abs(high))
    axes.set_aspect("equal")
    fit_ticks(axes.yaxis, axes.xaxis)
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(low - margin, high + margin)
    axes.grid(visible=True)
