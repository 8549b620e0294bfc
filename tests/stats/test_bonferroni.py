"""Bonferroni's correction."""

from __future__ import annotations

import pytest
from families import FAMILIES, same_as_statsmodels

from leadline.stats.simultaneous import Bonferroni


@pytest.mark.parametrize("family", FAMILIES)
def test_it_equals_statsmodels(family: str) -> None:
    same_as_statsmodels(Bonferroni(), "bonferroni", family)


def test_by_hand() -> None:
    found = Bonferroni().corrected([0.02, 0.01, 0.9, 0.025])
    assert found.tolist() == pytest.approx([0.08, 0.04, 1.0, 0.1])
