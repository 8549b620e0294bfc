"""Which intervals contain the true value, and how often."""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.data.arrays import Flags, Floats

SLACK = 1e-12  # relative to the truth, at least absolute: a mean of equal scores is that score


def missed(low: Floats | float, high: Floats | float, truth: Floats | float) -> tuple[Flags, Flags]:
    """Return whether intervals are below and above the truth; those without limits are neither.

    >>> missed(np.array([0.1, 0.6]), np.array([0.2, 0.9]), 0.5)
    (array([ True, False]), array([False,  True]))
    """
    slack = SLACK * np.maximum(1.0, np.abs(truth))
    return np.asarray(high < truth - slack), np.asarray(low > truth + slack)


def covers(low: Floats | float, high: Floats | float, truth: Floats | float) -> Flags:
    """Return whether intervals contain the truth; those without limits do not.

    >>> covers(np.array([0.1, 0.6, np.nan]), np.array([0.5, 0.9, 1.0]), 0.5)
    array([ True, False, False])
    """
    below, above = missed(low, high, truth)
    return np.asarray(~below & ~above & ~np.isnan(low) & ~np.isnan(high))


def coverage(held: Flags) -> float | None:
    """Return the share of intervals that contain the truth; None without intervals."""
    return float(held.mean()) if held.size else None


def coverage_row(low: Floats, high: Floats, truth: Floats | float) -> dict[str, Any]:
    """Return how often independent intervals contain the truth, are below it and above it."""
    below, above = missed(low, high, truth)
    held = float((~below & ~above).mean())
    return {
        "coverage": held,
        "se": float(np.sqrt(held * (1 - held) / len(low))),
        "below": float(below.mean()),
        "above": float(above.mean()),
        "width": float((high - low).mean()),
    }
