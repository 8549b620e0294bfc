"""Pictures of cumulated topic distributions."""

from __future__ import annotations

import numpy as np
import pytest

from leadline_studies.common.figures import cumulated, predominance
from leadline_studies.shape_discrimination.example_lists import ExampleList
from whole_pictures import whole


@pytest.mark.parametrize("topics", [3, 250])
def test_three_panels_show_every_list(topics: int) -> None:
    rng = np.random.default_rng(topics)
    lists = [
        ExampleList(
            kind, "q", "a-system-of-a-team", 7, 30, 100.0, {}, list(rng.dirichlet(np.full(topics, 0.1), 3))
        )
        for kind in ("good", "bad")
    ]
    figure = predominance(lists)
    whole(figure)
    assert len(figure.axes) == 3
    for axes in figure.axes:
        assert [len(line.get_xydata()) for line in axes.get_lines()] == [topics, topics]  # type: ignore[arg-type]


def test_shares_rise_to_1_and_nothing_stays_at_0() -> None:
    shares = cumulated([1e-30, 3e-30, 4e-30])
    assert shares.tolist() == pytest.approx([0.5, 0.875, 1])
    assert cumulated([0.0, 0.0]).tolist() == [0, 0]
    whole(predominance([ExampleList("bad", "q", "empty", 0, 30, 0.0, {}, [np.zeros(4)] * 3)]))
