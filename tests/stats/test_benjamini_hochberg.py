"""Benjamini and Hochberg's correction."""

from __future__ import annotations

import numpy as np
import pytest
from families import FAMILIES, same_as_statsmodels
from scipy import stats

from leadline.stats.simultaneous import BH


@pytest.mark.parametrize("family", FAMILIES)
def test_it_equals_statsmodels(family: str) -> None:
    same_as_statsmodels(BH(), "fdr_bh", family)


@pytest.mark.parametrize("family", FAMILIES)
def test_it_equals_scipy(family: str) -> None:
    expected = stats.false_discovery_control(FAMILIES[family], method="bh")
    np.testing.assert_allclose(BH().corrected(FAMILIES[family]), expected, rtol=1e-13)


def test_by_hand() -> None:
    found = BH().corrected([0.02, 0.01, 0.9, 0.025])
    assert found.tolist() == pytest.approx([0.1 / 3, 0.1 / 3, 0.9, 0.1 / 3])


def test_the_largest_p_stays_as_it_is() -> None:
    p = [0.02489616346022275, 0.05333826104568904, 0.37390096630005887]
    assert BH().corrected(p)[2] == p[2]
