"""Which runs cannot be told apart: a critical-difference diagram."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from leadline.arrays import Flags, Floats
from leadline.errors import UsageError
from leadline.plots import COLUMN, INK, LOOKS, style
from leadline.plots._text import narrowed, width_of
from leadline.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

MOST = 24  # so many runs are shown, the best
SIZE = 7  # points: letters of the names
# Points: the label over the scale and the scale itself, a level of bars, a level of names, space.
HEAD, BAR, NAME, GAP = 28.0, 5.0, 9.5, 3.0
OVER, SHORT = 0.7, 3.0  # points that a bar reaches over the runs that it joins; the shortest bar


class Frame(NamedTuple):
    """Where the scale stands, in points from the left, and the values at its ends."""

    left: float
    right: float
    low: float
    high: float

    def place(self, value: float) -> float:
        """Give the place of a value in points."""
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)


def groups(told_apart: ArrayLike) -> list[tuple[int, int]]:
    """Find the groups of neighbours no two of which are told apart, the maximal ones.

    `told_apart[i, j]` says whether the runs at places i and j (in order of mean) are told apart; it
    is symmetric. A group is (first place, last place), both in it, of two runs or more, and part of
    no other group. Groups come in order; they may overlap.

    Source: Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7 (2006),
    pages 1-30, whose critical-difference diagrams join runs that a test does not tell apart.

    >>> groups([[False, False, True], [False, False, False], [True, False, False]])
    [(0, 1), (1, 2)]
    """
    apart = _square(told_apart)
    # The first run that is told apart from one at or after this place ends every group from here.
    bad = np.pad(np.triu(apart, 1), ((0, 0), (0, 1)), constant_values=True).argmax(axis=1)
    last = np.minimum.accumulate(bad[::-1])[::-1] - 1
    return [
        (first, end)
        for first, end in enumerate(last.tolist())
        if end > first and (first == 0 or end > last[first - 1])
    ]


def critical_difference(
    names: Sequence[str],
    means: ArrayLike,
    told_apart: ArrayLike,
    *,
    label: str,
    width: float = COLUMN,
) -> Figure:
    """Draw runs at their means on one scale; bars join runs no two of which are told apart.

    Runs come in order, the best mean first; `told_apart[i, j]` says whether two of them are told
    apart (see `groups`). `label` says what the means are, with the unit. Of more than 24 runs the best
    are shown and joined; the others, and runs whose mean is NaN, are counted below.

    >>> told_apart = [[False, False, True], [False, False, True], [True, True, False]]
    >>> drawn = critical_difference(["a", "b", "c"], [0.5, 0.4, 0.1], told_apart, label="AP, mean")
    >>> [text.get_text() for text in drawn.axes[0].texts]
    ['c', 'a', 'b']
    """
    values, apart = np.asarray(means, dtype=np.float64), _square(told_apart)
    if values.shape != (len(names),) or len(apart) != len(names):
        raise UsageError(
            f"means of shape {values.shape} and {len(apart)} runs told apart; expected {len(names)} names"
        )
    defined = np.flatnonzero(np.isfinite(values))
    steps = np.diff(values[defined])
    if (steps > 0).any() and (steps < 0).any():
        raise UsageError("means are not in order; expected the best first")
    shown = defined[:MOST]
    note = _note(len(shown), len(defined), len(names))
    with style():
        return _figure(
            narrowed([names[place] for place in shown.tolist()], 22 * width, size=SIZE, most=36),
            values[shown], groups(apart[np.ix_(shown, shown)]), label, note, width,
        )  # fmt: skip


def _square(told_apart: ArrayLike) -> Flags:
    apart = np.asarray(told_apart, dtype=np.bool_)
    if apart.ndim != 2 or apart.shape[0] != apart.shape[1] or (apart != apart.T).any():
        raise UsageError(f"told apart: shape {apart.shape}; expected a symmetric square")
    return apart


def _note(shown: int, defined: int, runs: int) -> str:
    """Say what is not shown."""
    parts = [f"the best {shown} of {defined} runs"] if shown < defined else []
    if defined < runs:
        parts.append(f"{counted(runs - defined, 'run', 'runs')} without a mean left out")
    return "; ".join(parts)


def _figure(
    names: list[str],
    values: Floats,
    joined: list[tuple[int, int]],
    label: str,
    note: str,
    width: float,
) -> Figure:
    from matplotlib.figure import Figure

    order = list(range(len(names)))
    if order and values[0] >= values[-1]:
        order.reverse()
    sides = order[: len(order) // 2], order[len(order) // 2 :][::-1]
    frame = _frame(values, [[names[place] for place in side] for side in sides], width * 72)
    bars = _levels([sorted((frame.place(values[i]), frame.place(values[j]))) for i, j in joined])
    top = GAP + BAR * (1 + max((level for *_, level in bars), default=-1)) + NAME / 2 + GAP
    deep = top + NAME * max(len(sides[1]) - 0.5, 0.5) + GAP
    height = HEAD + deep + (NAME if note else 0)
    figure = Figure(figsize=(width, height / 72))
    axes = figure.add_axes((
        frame.left / (width * 72), 1 - (HEAD + deep) / height,
        (frame.right - frame.left) / (width * 72), deep / height,
    ))  # fmt: skip
    _scale(axes, frame, deep)
    _label(figure, label, (frame.left + frame.right) / 2, 1 - 2 / height)
    for side, sign in zip(sides, (-1, 1), strict=True):
        for level, place in enumerate(side):
            _run(axes, frame, names[place], values[place], top + NAME * level, sign)
    unit = (frame.high - frame.low) / (frame.right - frame.left)
    for start, end, level in bars:
        ends = [frame.low + (point - frame.left) * unit for point in (start, end)]
        depth = GAP + BAR * (level + 0.5)
        axes.plot(ends, [depth, depth], color=LOOKS[0].color, linewidth=2.4, solid_capstyle="butt")
    if note:
        figure.text(0.5, 2 / height, note, size=SIZE, ha="center", va="bottom")
    return figure


def _frame(values: Floats, sides: list[list[str]], points: float) -> Frame:
    """Leave to the names on both sides what they need, and to the scale the rest."""
    needs = [max((width_of(name, SIZE) for name in side), default=0.0) + 3 + GAP for side in sides]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    margin = 0.04 * (high - low) or max(0.05, 0.05 * abs(high))
    left, right = max(needs[0], 12.0), points - max(needs[1], 12.0)
    return Frame(left, right, low - margin, high + margin)


def _levels(spans: list[list[float]]) -> list[tuple[float, float, int]]:
    """Put each bar on the first level where it touches no other."""
    ends: list[float] = []
    found = []
    for low, high in sorted(spans):
        over = max(OVER, (SHORT - (high - low)) / 2)
        start, end = low - over, high + over
        level = next((place for place, last in enumerate(ends) if last + 4 < start), len(ends))
        ends[level : level + 1] = [end]
        found.append((start, end, level))
    return found


def _scale(axes: Any, frame: Frame, deep: float) -> None:
    """Draw the scale at the top; downwards the unit is the point."""
    axes.set_xlim(frame.low, frame.high)
    axes.set_ylim(deep, 0)
    axes.xaxis.tick_top()
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.set_xticks(_ticks(axes, frame))
    axes.spines[["left", "bottom", "right"]].set_visible(False)
    axes.spines["top"].set_visible(True)
    axes.set_yticks([])


def _ticks(axes: Any, frame: Frame) -> list[float]:
    """Give as many ticks as have room for their labels."""
    from matplotlib.ticker import MaxNLocator

    ticks: list[float] = []
    for bins in range(8, 0, -1):
        locator = MaxNLocator(bins, steps=[1, 2, 5, 10])
        every = map(float, locator.tick_values(frame.low, frame.high))
        ticks = [tick for tick in every if frame.low <= tick <= frame.high]
        widest = max(
            map(partial(width_of, size=SIZE), axes.xaxis.get_major_formatter().format_ticks(ticks))
        )
        if len(ticks) < 2 or frame.place(ticks[1]) - frame.place(ticks[0]) > widest + 8:
            return ticks
    return ticks[:1]


def _label(figure: Figure, label: str, middle: float, height: float) -> None:
    """Put the label over the middle of the scale, as far as the figure's edges allow."""
    points = figure.get_figwidth() * 72
    half = min(width_of(label, 7.5) / 2 + 2, points / 2)
    middle = min(max(middle, half), points - half)
    figure.text(middle / points, height, label, size=7.5, ha="center", va="top")


def _run(axes: Any, frame: Frame, name: str, value: float, depth: float, sign: int) -> None:
    """Draw a line from the scale down and out to the name."""
    edge = frame.low if sign < 0 else frame.high
    axes.plot([value, value, edge], [0, depth, depth], color=INK, linewidth=0.6, clip_on=False)
    axes.annotate(
        name, (edge, depth), xytext=(3 * sign, 0), textcoords="offset points",
        ha="right" if sign < 0 else "left", va="center_baseline", size=SIZE, annotation_clip=False,
    )  # fmt: skip
