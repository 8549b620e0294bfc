"""Pictures of named points: names apart from each other, one line to each point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leadline_studies.common.figures import POINT_LINE, named_points
from whole_pictures import whole


def named(figure: Any) -> list[Any]:
    """Give the names that are drawn."""
    return [text for text in figure.axes[0].texts if text.get_text()]


@pytest.mark.parametrize("systems", [1, 3, 15, 143])
def test_every_system_is_named_while_they_are_few(systems: int) -> None:
    rng = np.random.default_rng(systems)
    names = [f"model{place}(parameter={place})" for place in range(systems)]
    figure = named_points(rng.random(systems), rng.random(systems) ** 4, names, across="MAP", up="HSA")
    whole(figure)
    assert len(named(figure)) == (systems if systems <= 40 else 0)


def test_names_of_equal_points_stand_apart_and_undefined_ones_are_left_out() -> None:
    figure = named_points([0.1] * 6, [2.0] * 5 + [np.nan], list("abcdef"), across="MAP", up="HSA")
    whole(figure)
    heights = sorted(text.get_position()[1] for text in named(figure))
    assert len(heights) == 5
    assert np.diff(heights).min() >= 0.99 * POINT_LINE / (figure.get_figheight() * 72)
