"""Diagrams of runs on a scale with bars that join runs without a significant difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from leadline.charts import COLUMN, FONT, LINE_STYLES, enlarged, ink, scaled, style, write_numbers
from leadline.charts.text_layout import fit_ticks, narrowed, width_of, wrapped, wrapped_to
from leadline.data.arrays import Floats
from leadline.data.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


FEW = 24  # maximum number of runs that fit into one column of a page
SIZE = 7  # points: font size of the names
LINE = 9.5  # points: line height of label and note
# Points: height of the scale with its numbers, of a level of bars, of a level of names, and of gaps.
HEAD, BAR, NAME, GAP = 18.0, 5.0, 9.5, 3.0
LEAST = 60.0  # points: minimum width of the scale and its margins; a narrower figure is made wider
LOW_BAR = 3.5  # points: height of a level of bars with many runs
OVER, SHORT = 0.7, 3.0  # points: extension of bars beyond the runs that they join; minimum length of a bar


class Frame(NamedTuple):
    """Position of the scale, in points from the left, and the values at its ends."""

    left: float
    right: float
    low: float
    high: float

    def place(self, value: float) -> float:
        """Return the position of a value in points."""
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)


def groups(significant: ArrayLike) -> list[tuple[int, int]]:
    """Return the maximal groups of adjacent runs without a significant difference between any two.

    Source: Demšar (2006), "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 1-30.

    >>> groups([[False, False, True], [False, False, False], [True, False, False]])
    [(0, 1), (1, 2)]
    """
    differs = np.asarray(significant, dtype=np.bool_)
    # A group that starts at a run ends before the first run that differs from any run of the group.
    first_different = np.pad(np.triu(differs, 1), ((0, 0), (0, 1)), constant_values=True).argmax(axis=1)
    last = np.minimum.accumulate(first_different[::-1])[::-1] - 1
    return [
        (first, end)
        for first, end in enumerate(last.tolist())
        if end > first and (first == 0 or end > last[first - 1])
    ]


def significance_groups(
    names: Sequence[str], means: ArrayLike, significant: ArrayLike, *, label: str, width: float | None = None
) -> Figure:
    """Draw runs at their means on a scale; bars join runs without a significant difference.

    >>> significant = [[False, False, True], [False, False, True], [True, True, False]]
    >>> drawn = significance_groups(["a", "b", "c"], [0.5, 0.4, 0.1], significant, label="AP, mean")
    >>> [text.get_text() for text in drawn.axes[0].texts]
    ['c', 'a', 'b']
    """
    values, differs = np.asarray(means, dtype=np.float64), np.asarray(significant, dtype=np.bool_)
    defined = np.flatnonzero(np.isfinite(values))
    excluded = len(names) - len(defined)
    note = f"left out {counted(excluded, 'run')} without a mean" if excluded else ""
    with style():
        return _figure(
            [names[index] for index in defined.tolist()],
            values[defined],
            groups(differs[np.ix_(defined, defined)]),
            label,
            note,
            width,
        )


def critical_difference(
    names: Sequence[str],
    ranks: ArrayLike,
    *,
    difference: float,
    label: str,
    note: str = "",
    width: float | None = None,
) -> Figure:
    """Draw a critical-difference diagram of mean ranks, the best (1) at the right.

    The bar above the scale has the length of the critical difference; bars below it join runs whose mean
    ranks differ by less. Source: Demšar (2006), JMLR 7, section 3.2.2.

    >>> drawn = critical_difference(["a", "b", "c"], [1.2, 1.9, 2.9], difference=0.9, label="mean rank")
    >>> [text.get_text() for text in drawn.axes[0].texts]
    ['CD = 0.90', 'c', 'a', 'b']
    """
    values = np.asarray(ranks, dtype=np.float64)
    differs = np.abs(values[:, None] - values[None, :]) >= difference
    with style():
        return _figure(list(names), -values, groups(differs), label, note, width, bar=difference)


def _figure(
    names: Sequence[str],
    values: Floats,
    joined: list[tuple[int, int]],
    label: str,
    note: str,
    width: float | None,
    *,
    bar: float | None = None,
) -> Figure:
    """Draw the diagram; with `bar`, values are negative ranks and a bar of that length is drawn above."""
    from matplotlib.figure import Figure

    many = len(names) > FEW
    inches = enlarged(width or (1.7 * COLUMN if many else COLUMN))
    # The lengths below are in points before scaling.
    points = inches * 72 / scaled(1.0)
    shown = narrowed(names, scaled(0.31 * points), size=SIZE, most=36)
    order = list(range(len(shown)))
    shortest = 2 * max((width_of(name, SIZE) / scaled(1.0) for name in shown), default=0.0) + LEAST
    points, inches = max(points, shortest), max(inches, scaled(shortest) / 72)
    if order and values[0] >= values[-1]:
        order.reverse()
    sides = order[: len(order) // 2], order[len(order) // 2 :][::-1]
    frame = _frame(
        values, [[shown[index] for index in side] for side in sides], points, ranks=bar is not None
    )
    bars = _levels([sorted((frame.place(values[i]), frame.place(values[j]))) for i, j in joined])
    step = LOW_BAR if many else BAR
    top = GAP + step * (1 + max((level for *_, level in bars), default=-1)) + NAME / 2 + GAP
    deep = top + NAME * max(len(sides[1]) - 0.5, 0.5) + GAP
    labels = wrapped_to(label, inches * 72 - 4, FONT)
    notes = wrapped(note, inches * 72 - 4).split("\n") if note else []
    head = HEAD + LINE * len(labels) + (LINE + GAP if bar is not None else 0)
    height = head + deep + LINE * len(notes)
    figure = Figure(figsize=(inches, scaled(height) / 72))
    axes = figure.add_axes(
        (frame.left / points, 1 - (head + deep) / height, (frame.right - frame.left) / points, deep / height)
    )
    _scale(axes, frame, deep, ranks=bar is not None)
    figure.text(
        0.5, 1 - 2 / height, "\n".join(labels), size=scaled(FONT), ha="center", va="top", linespacing=1.15
    )
    if bar is not None:
        _bar(axes, frame, bar)
    for side, sign in zip(sides, (-1, 1), strict=True):
        for level, index in enumerate(side):
            _run(axes, frame, shown[index], values[index], top + NAME * level, sign)
    unit = (frame.high - frame.low) / (frame.right - frame.left)
    for start, end, level in bars:
        ends = [frame.low + (point - frame.left) * unit for point in (start, end)]
        depth = GAP + step * (level + 0.5)
        axes.plot(
            ends,
            [depth, depth],
            color=LINE_STYLES[0].color,
            linewidth=scaled(1.6 if many else 2.4),
            solid_capstyle="butt",
        )
    if notes:
        figure.text(
            0.5, 2 / height, "\n".join(notes), size=scaled(SIZE), ha="center", va="bottom", linespacing=1.15
        )
    return figure


def _bar(axes: Any, frame: Frame, length: float) -> None:
    """Draw the critical difference above the scale, from its best end, or its value if it is longer."""
    height = -HEAD + GAP / 2
    if length > frame.high - frame.low:
        text = f"CD = {length:.2f}, longer than the scale"
        axes.text((frame.low + frame.high) / 2, height - 2, text, size=scaled(SIZE), ha="center", va="bottom")
        return
    limits = [frame.high - length, frame.high]
    axes.plot(limits, [height, height], color=ink(), linewidth=scaled(1.0), clip_on=False)
    for limit in limits:
        axes.plot([limit, limit], [height - 2, height + 2], color=ink(), linewidth=scaled(0.8), clip_on=False)
    axes.text(sum(limits) / 2, height - 2, f"CD = {length:.2f}", size=scaled(SIZE), ha="center", va="bottom")


def _frame(values: Floats, sides: list[list[str]], points: float, *, ranks: bool = False) -> Frame:
    """Return the frame of the scale, as wide as the names on both sides permit."""
    needs = [
        max((width_of(name, SIZE) / scaled(1.0) for name in side), default=0.0) + 3 + GAP for side in sides
    ]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if ranks:  # from the worst possible to the best
        low, high = -float(max(len(values), 2)), -1.0
    margin = 0.04 * (high - low) or max(0.05, 0.05 * abs(high))
    left, right = max(needs[0], 12.0), points - max(needs[1], 12.0)
    return Frame(left, right, low - margin, high + margin)


def _levels(spans: list[list[float]]) -> list[tuple[float, float, int]]:
    """Assign each bar to the first level on which it overlaps no other."""
    last_ends: list[float] = []
    bars = []
    for low, high in sorted(spans):
        over = max(OVER, (SHORT - (high - low)) / 2)
        start, end = low - over, high + over
        level = next((index for index, last in enumerate(last_ends) if last + 4 < start), len(last_ends))
        last_ends[level : level + 1] = [end]
        bars.append((start, end, level))
    return bars


def _scale(axes: Any, frame: Frame, deep: float, *, ranks: bool) -> None:
    """Draw the scale at the top; downwards the unit is the point."""
    axes.set_xlim(frame.low, frame.high)
    axes.set_ylim(deep, 0)
    axes.xaxis.tick_top()
    write_numbers(axes)
    if ranks:
        axes.xaxis.set_major_formatter(lambda value, _place: f"{-value:g}")
    locator = fit_ticks(axes.xaxis)
    if ranks:  # there is no rank 0
        ticks = locator.tick_values(frame.low, frame.high).tolist()
        axes.set_xticks(sorted({min(tick, -1.0) for tick in ticks if tick >= frame.low}))
    axes.spines[["left", "bottom", "right"]].set_visible(False)
    axes.spines["top"].set_visible(True)
    axes.set_yticks([])


def _run(axes: Any, frame: Frame, name: str, value: float, depth: float, sign: int) -> None:
    """Draw a line from the scale down and out to the name."""
    edge = frame.low if sign < 0 else frame.high
    axes.plot([value, value, edge], [0, depth, depth], color=ink(), linewidth=scaled(0.6), clip_on=False)
    axes.annotate(
        name,
        (edge, depth),
        xytext=(3 * sign, 0),
        textcoords="offset points",
        ha="right" if sign < 0 else "left",
        va="center_baseline",
        size=scaled(SIZE),
        annotation_clip=False,
    )
