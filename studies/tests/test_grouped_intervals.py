"""Pictures of several values with intervals a row."""

from __future__ import annotations

import math

import numpy as np
import pytest

from leadline_studies.common.figures import Limits, grouped_intervals
from whole_pictures import whole


@pytest.mark.parametrize("rows", [2, 12])
def test_every_row_is_named_and_every_group_has_its_look(rows: int) -> None:
    names = [f"WIG(tail,k={row})" for row in range(rows)]
    groups: dict[str, list[Limits]] = {
        name: [(0.1 * row + shift, 0.1 * row + shift - 0.2, 0.1 * row + shift + 0.2) for row in range(rows)]
        for shift, name in ((0.0, "QLDirichlet"), (0.05, "RM3"), (0.1, "BM25"))
    }
    figure = grouped_intervals(names, groups, label="Kendall's tau with AP over queries (95 %)")
    whole(figure)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == names
    assert len({line.get_marker() for line in axes.get_lines()[1:]}) == 3


def test_what_is_undefined_is_not_drawn_and_keeps_its_row() -> None:
    nothing = (math.nan,) * 3
    figure = grouped_intervals(
        ["a", "b"], {"one": [nothing, (0.2, math.nan, math.nan)]}, label="tau", mark=None
    )
    whole(figure)
    axes = figure.axes[0]
    assert [list(np.asarray(line.get_xdata())) for line in axes.get_lines()] == [[0.2]]
    assert list(axes.get_yticks()) == [0, 1]
