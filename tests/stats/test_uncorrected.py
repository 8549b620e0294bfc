"""No correction."""

from __future__ import annotations

import numpy as np
from families import FAMILIES

from leadline.stats.simultaneous import Uncorrected


def test_everything_stays_as_it_is() -> None:
    for family in FAMILIES.values():
        assert Uncorrected().corrected(family).tolist() == family.tolist()


def test_the_given_values_are_not_changed() -> None:
    given = np.array([0.5, np.nan, 0.1])
    Uncorrected().corrected(given)[0] = 0.0
    np.testing.assert_array_equal(given, [0.5, np.nan, 0.1])
