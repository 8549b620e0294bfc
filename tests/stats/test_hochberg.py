"""Hochberg's correction."""

from __future__ import annotations

import pytest
from families import FAMILIES, same_as_statsmodels

from leadline.stats.simultaneous import Hochberg


@pytest.mark.parametrize("family", FAMILIES)
def test_it_equals_statsmodels(family: str) -> None:
    same_as_statsmodels(Hochberg(), "simes-hochberg", family)


def test_by_hand() -> None:
    found = Hochberg().corrected([0.02, 0.01, 0.9, 0.025])
    assert found.tolist() == pytest.approx([0.05, 0.04, 0.9, 0.05])
