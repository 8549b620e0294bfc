"""Figures with one line per run or method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.charts import COLUMN, FAINT, LINE_STYLES, canvas, enlarged, paper, scaled, shortened, style
from leadline.charts.text_layout import legend_below
from leadline.data.arrays import Floats
from leadline.data.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


MARKERS = 25  # maximum number of markers per line
BEST = 5  # how many runs are named when there are more than colors


def recall_precision(
    names: Sequence[str], levels: Sequence[float], precision: ArrayLike, *, width: float = COLUMN
) -> Figure:
    """Draw recall-precision curves, one line per run; of many, only the best have colors and labels."""
    table = np.asarray(precision, dtype=np.float64)
    order = np.argsort(-table.mean(axis=1), kind="stable").tolist()
    with style():
        width = enlarged(width)
        figure, axes = canvas(width, 1)
        every = -(-len(levels) // MARKERS)
        drawn = lines_of_runs(
            axes, [names[run] for run in order], levels, table[order], 0.45, markevery=every
        )
        figure.set_figheight(width * 0.72)
        legend_below(figure, *drawn, width)
        axes.set_xlabel("recall")
        axes.set_ylabel("precision (mean, interpolated)")
        axes.set_xlim(-0.02, 1.02)
        highest = float(table.max(initial=0.0))
        axes.set_ylim(0, min(1.02, max(0.1, np.ceil(highest * 10 + 0.2) / 10)))
        axes.set_xticks([level for index, level in enumerate(levels) if index % 2 == 0])
        axes.grid(visible=True)
    return figure


def lines_of_runs(
    axes: Any, names: Sequence[str], across: Any, table: Floats, faint: float, **look: Any
) -> tuple[list[Any], list[str]]:
    """Draw a line per run, in gray those after the first if there are more than colors; return the legend."""
    number = len(names) if len(names) <= len(LINE_STYLES) else BEST
    lines: list[Any] = []
    for row in table[number:]:
        grey = axes.plot(across, row, color=FAINT, linewidth=scaled(0.5), alpha=faint, zorder=1)
        lines = grey[:1]
    for row, line_style in reversed(list(zip(table[:number], LINE_STYLES, strict=False))):
        lines += axes.plot(across, row, **{"marker": line_style.marker, **line_style.line, **look})
    others = [f"{len(names) - number} other runs"] if len(names) > number else []
    return lines[::-1], shortened(list(names[:number]), 44) + others


TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def covered_by_rank(
    names: Sequence[str], ranks: Sequence[int], share: ArrayLike, *, width: float = COLUMN
) -> Figure:
    """Draw subtopic recall by rank, one line per run; `share` is runs x ranks."""
    figure = recall_precision(names, ranks, share, width=width)
    axes = figure.axes[0]
    axes.set_xlabel("rank")
    axes.set_ylabel("subtopics covered (mean share)")
    axes.set_xlim(0.5, ranks[-1] + 0.5)
    ticks: list[int] = []
    for rank in reversed([rank for rank in TICKS if rank <= ranks[-1]]):
        if not ticks or ticks[-1] - rank >= len(str(ticks[-1])) * ranks[-1] / 40:  # the labels fit
            ticks.append(rank)
    axes.set_xticks(ticks[::-1])
    return figure


def cumulative(
    values: Mapping[str, Sequence[float]],
    *,
    marks: Mapping[str, float] | None = None,
    label: str = "Information Difference (bits)",
    width: float = COLUMN,
) -> Figure:
    """Draw cumulative distributions of values, one line per group; `marks` are labeled single values."""
    with style():
        width = enlarged(width)
        figure, axes = canvas(width, width * 0.7)
        lines = []
        largest = max((max(group) for group in values.values() if len(group)), default=1.0)
        for (_, group), line_style in zip(values.items(), LINE_STYLES, strict=False):
            ordered = np.sort(np.asarray(group, dtype=np.float64))
            share = np.arange(1, len(ordered) + 1) / max(len(ordered), 1)
            lines += axes.step([0, *ordered, 1.03 * largest], [0, *share, 1], where="post", **line_style.line)
        # labels alternate between three heights, so that those of close marks do not overlap
        for index, (name, value) in enumerate(sorted((marks or {}).items(), key=lambda mark: mark[1])):
            axes.axvline(value, color=FAINT, linewidth=scaled(0.8), linestyle=(0, (2, 2)))
            axes.annotate(
                name,
                (value, 0.02 + 0.32 * (index % 3)),
                xytext=(2, 0),
                textcoords="offset points",
                rotation=90,
                fontsize=scaled(5.5),
                va="bottom",
                bbox={"facecolor": paper(), "edgecolor": "none", "pad": 0.3, "alpha": 0.8},
            )
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.01)
        axes.set_xlabel(label)
        axes.set_ylabel("share of pairs (cumulative)")
        axes.grid(visible=True)
        labels = [f"{name} ({counted(len(group), 'pair')})" for name, group in values.items()][: len(lines)]
        legend_below(figure, lines, labels, width)
    return figure


def by_parameter(
    families: Mapping[str, Sequence[tuple[float, float]]], *, label: str = "RIC (bits)", width: float = COLUMN
) -> Figure:
    """Draw performance over parameters, scaled to [0, 1], for each family; the best is marked by a ring."""
    with style():
        width = enlarged(width)
        figure, axes = canvas(width, width * 0.7)
        lines = []
        for points, line_style in zip(families.values(), LINE_STYLES, strict=False):
            table = np.asarray(sorted(points), dtype=np.float64)
            low, high = table[0, 0], table[-1, 0]
            along = (table[:, 0] - low) / (high - low) if high > low else np.zeros(len(table))
            lines += axes.plot(along, table[:, 1], marker=line_style.marker, **line_style.line)
            best = int(np.argmax(table[:, 1]))
            axes.plot(
                along[best],
                table[best, 1],
                marker="o",
                markersize=scaled(8),
                markerfacecolor="none",
                markeredgecolor=line_style.color,
                markeredgewidth=0.8,
            )
        axes.set_xlim(-0.05, 1.05)
        axes.set_xlabel("parameter, from its smallest value (0) to its largest (1)")
        axes.set_ylabel(label)
        axes.grid(visible=True)
        labels = [f"{name} ({min(points)[0]:g} to {max(points)[0]:g})" for name, points in families.items()]
        legend_below(figure, lines, labels[: len(lines)], width)
    return figure
