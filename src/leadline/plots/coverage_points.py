"""Coverage of intervals beside what they promise: one point an interval, in groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from leadline.plots import COLUMN, FAINT, INK, LOOKS, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE = 9.0  # points: the height of a row
AROUND = 30  # points above and below the axes


def coverage_points(
    groups: Mapping[str, Mapping[str, tuple[float, float]]],
    *,
    promised: float = 0.95,
    near: float = 0.02,
    width: float = 2 * COLUMN,
) -> Figure:
    """Draw the coverage of each interval with two standard errors to both sides.

    Parameters
    ----------
    groups : mapping
        By group and name of the interval its coverage and Monte Carlo standard error.
    promised : float
        Confidence level, drawn as a line.
    near : float
        Coverages that far from it lie in the band.
    width : float
        Width in inches.

    Examples
    --------
    >>> drawn = coverage_points({"kappa": {"two judges": (0.9, 0.02)}, "R": {"pool": (0.95, 0.01)}})
    >>> [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    ['kappa: two judges', 'R: pool']

    """
    rows = [
        (place, group, name, *known)
        for place, (group, names) in enumerate(groups.items())
        for name, known in names.items()
    ]
    height = (len(rows) * LINE + AROUND) / 72
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        axes.axvspan(
            promised - near, min(1.0, promised + near), color=FAINT, alpha=0.35, linewidth=0
        )
        axes.axvline(promised, color=INK, linewidth=0.7)
        for line, (place, _, _, coverage, error) in enumerate(rows):
            look = LOOKS[place % len(LOOKS)]
            axes.hlines(
                line, max(0.0, coverage - 2 * error), min(1.0, coverage + 2 * error),
                color=look.color, linewidth=0.8,
            )  # fmt: skip
            axes.plot([coverage], [line], color=look.color, marker=look.marker, markersize=3.5)
        axes.set_yticks(
            range(len(rows)), [f"{group}: {name}" for _, group, name, _, _ in rows], fontsize=6
        )
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=True, axis="x")
        axes.set_xlabel("coverage")
    return figure
