"""Holm's correction."""

from __future__ import annotations

import pytest
from families import FAMILIES, same_as_statsmodels

from leadline.stats.simultaneous import Holm


@pytest.mark.parametrize("family", FAMILIES)
def test_it_equals_statsmodels(family: str) -> None:
    same_as_statsmodels(Holm(), "holm", family)


def test_by_hand() -> None:
    found = Holm().corrected([0.02, 0.01, 0.9, 0.025])
    assert found.tolist() == pytest.approx([0.06, 0.04, 0.9, 0.06])
