"""How often tests are wrong, or intervals right, beside what they promise: by number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.errors import UsageError
from leadline.plots import COLUMN, INK, LOOKS, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Rates = Sequence[tuple[float, float]]  # a rate and its Monte Carlo standard error, per size
APART = 0.16  # of the way from one size to the next: so far the marks of two methods are apart


def significance_errors(
    panels: Mapping[str, Mapping[str, Rates]],
    sizes: Sequence[int],
    *,
    promised: float,
    label: str,
    width: float = 2 * COLUMN,
) -> Figure:
    """Draw one panel a situation and one line a method, with bars of two standard errors to both sides.

    `panels[situation][method]` holds a rate and its Monte Carlo standard error for each of `sizes`, the
    numbers of queries; `promised` is the rate that all should have, drawn as a line; at most eight methods.
    """
    methods = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    if len(methods) > len(LOOKS):
        raise UsageError(f"{len(methods)} methods; expected {len(LOOKS)} or fewer")
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, 2.35), layout="constrained")
        drawn: dict[str, Any] = {}
        for axes, (situation, lines) in zip(
            np.atleast_1d(figure.subplots(1, len(panels), sharey=True)), panels.items(), strict=True
        ):
            axes.axhline(promised, color=INK, linewidth=0.7)
            for name, rates in lines.items():
                place = methods.index(name)
                shift = (place - (len(methods) - 1) / 2) * APART
                drawn[name] = _line(axes, rates, np.arange(len(sizes)) + shift, place)
            axes.set_title(situation, fontsize=7.5, color=INK)
            axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
            axes.set_xlim(-0.5, len(sizes) - 0.5)
            axes.tick_params(axis="x", length=0)
            axes.grid(visible=True, axis="y")
        figure.axes[0].set_ylabel(label)
        figure.supxlabel("queries", fontsize=7.5, color=INK)
        figure.legend(
            [drawn[name] for name in methods], methods, loc="outside upper center",
            ncols=len(methods), borderpad=0,
        )  # fmt: skip
    return figure


def _line(axes: Any, rates: Rates, places: Any, method: int) -> Any:
    look = LOOKS[method]
    values, errors = np.array(rates, dtype=np.float64).T
    (line,) = axes.plot(
        places, values, color=look.color, linestyle=look.dashes, marker=look.marker, linewidth=0.8
    )
    low, high = np.clip([values - 2 * errors, values + 2 * errors], 0.0, 1.0)
    axes.vlines(places, low, high, color=look.color, linewidth=0.8)
    return line
