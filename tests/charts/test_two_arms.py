"""Two arms of an A/B test, with and without the users as they came."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.charts.interval_plots import two_arms
from leadline.online.proportions import sequential_test
from whole_pictures import whole

ARMS = (["system-old", "system-new-with-a-very-long-name"], [0.05, 0.06], [0.04, 0.05], [0.06, 0.075])


@pytest.mark.parametrize("users", [30, 3000])
def test_the_picture_is_whole_with_a_log_of_any_length(users: int) -> None:
    rng = np.random.default_rng(1)
    arm = rng.integers(0, 2, users)
    found = sequential_test(arm, (rng.random(users) < 0.2 + 0.05 * arm).astype(float))
    figure = two_arms(*ARMS, path=(found.users, found.difference, found.low, found.high))
    whole(figure)
    texts = [text.get_text() for text in figure.axes[1].texts]
    assert (users == 30) == any("no interval yet: too few users" in text for text in texts)
    assert ("band" in figure.axes[1].get_xlabel()) == (users != 30)  # none is drawn


def test_counts_alone_have_one_panel() -> None:
    figure = two_arms(*ARMS, width=6.9)
    whole(figure)
    assert len(figure.axes) == 1
    assert figure.axes[0].get_xlabel() == "clickthrough (%), 95 % interval"


def test_wide_first_intervals_are_beyond_the_axis_and_not_cut_to_another_value() -> None:
    users = np.arange(1, 401)
    low, high = 0.4 - 40 / users, 0.4 + 40 / users
    axes = two_arms(*ARMS, path=(users, np.full(400, 0.4), low, high)).axes[1]
    band = np.asarray(axes.collections[0].get_paths()[0].vertices)[:, 1]
    assert (band.min(), band.max()) == pytest.approx((100 * low.min(), 100 * high.max()))
    least, most = axes.get_ylim()
    assert least < 40 < most < band.max()
