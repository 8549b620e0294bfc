"""Areas under curves, and thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline_studies.difference_similarity.roc import area_under_curve, decide, roc_curve

SCORED = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(0, 3)), min_size=1)


@given(rows=SCORED)
def test_the_area_is_the_share_of_pairs_in_order(rows: list[tuple[int, bool, int]]) -> None:
    score, positive, times = (np.array(column) for column in zip(*rows, strict=True))
    up = np.repeat(score[positive], times[positive])
    down = np.repeat(score[~positive], times[~positive])
    found = area_under_curve(score.astype(float), positive, times.astype(float))
    if not len(up) or not len(down):
        assert np.isnan(found)
        return
    wins = (up[:, None] > down).mean() + (up[:, None] == down).mean() / 2
    assert found == pytest.approx(wins, abs=1e-12)


@given(rows=SCORED)
def test_the_curve_holds_the_area(rows: list[tuple[int, bool, int]]) -> None:
    score, positive, _ = (np.array(column) for column in zip(*rows, strict=True))
    if positive.all() or not positive.any():
        return
    false, true = roc_curve(score.astype(float), positive)
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)
    area = np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2)
    assert area == pytest.approx(area_under_curve(score.astype(float), positive), abs=1e-12)


def test_a_decision_says_what_the_larger_kind_alone_would_have() -> None:
    found = decide(np.array([0.9, 0.8, 0.1, 0.0]), np.array([True, False, False, False]), 0.8)
    assert found == {"accuracy": 0.75, "precision": 0.5, "recall": 1.0, "larger": 0.75}
    none = decide(np.array([0.1]), np.array([True]), 1.0)
    assert np.isnan(none["precision"])
    assert none["recall"] == 0.0
