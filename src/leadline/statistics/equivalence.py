"""Equivalence: two one-sided tests."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.statistics.moments import moments


def equivalence(differences: Floats, margin: float) -> Floats:
    """Give p of two one-sided t tests, per column: small when the mean lies between -margin and margin.

    p is the larger of the two: that the mean is above -margin, and that it is below margin. Undefined for
    fewer than two queries; where all differences are equal it is 0 inside the margin and 1 outside, for
    then nothing varies. (Schuirmann 1987; Lakens 2017.)

    >>> round(float(equivalence(np.array([[0.01], [-0.02], [0.00], [0.02]]), 0.05)[0]), 4)
    0.0057
    """
    from scipy.special import stdtr

    if not margin > 0:
        raise UsageError(f"margin {margin}; expected a number above 0, in units of the measure")
    count, mean, deviation = found = moments(differences)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = (np.abs(mean) - margin) / found.error  # the nearer limit decides
    p: Floats = stdtr(count - 1, away)
    return np.where(deviation == 0, np.where(np.abs(mean) < margin, 0.0, 1.0), p)
