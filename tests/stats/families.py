"""Families of p values, and what statsmodels makes of them."""

from __future__ import annotations

import numpy as np

from leadline.data.arrays import Floats
from leadline.stats import Correction

DRAWING = np.random.default_rng(11)
FAMILIES: dict[str, Floats] = {
    "one": np.array([0.03]),
    "two": np.array([0.04, 0.03]),
    "even": DRAWING.uniform(0, 1, 40),
    "small": DRAWING.uniform(0, 1, 40) ** 5,
    "tied": np.round(DRAWING.uniform(0, 0.2, 60), 2),
    "rising": np.arange(1, 21) / 400,
    "extreme": np.array([0.0, 1.0, 1e-300, 0.5, 1.0, 0.0]),
    "all pairs of 143 runs": DRAWING.uniform(0, 1, 143 * 71) ** 3,
}


def same_as_statsmodels(correction: Correction, method: str, family: str) -> None:
    """Compare the corrected p values of one family."""
    from statsmodels.stats.multitest import multipletests

    given = FAMILIES[family]
    before = given.copy()
    expected = multipletests(given, method=method)[1]
    np.testing.assert_allclose(correction.corrected(given), expected, rtol=1e-13)
    np.testing.assert_array_equal(given, before)
