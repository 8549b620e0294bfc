"""The heat map of a suite: nothing is cut off at its edges."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.comparison.suite_evaluation import suite

pytest.importorskip("matplotlib")


@pytest.mark.parametrize(("runs", "collections"), [(3, 1), (3, 8), (40, 8)])
def test_every_text_is_inside_the_figure(runs: int, collections: int) -> None:
    names = [f"run-of-a-long-name-{number}" for number in range(runs)]
    one: dict[str, Any] = {
        "qrels": {f"q{number}": {"d1": 1, "d2": 2} for number in range(3)},
        "runs": {
            name: {f"q{number}": {"d1": float(place % 3), "d2": 1.0} for number in range(3)}
            for place, name in enumerate(names)
        },
    }
    found = suite(
        {"collections": {f"c{number}": one for number in range(collections)}, "measures": ["nDCG@10"]}
    )
    figure = found.plot()
    figure.draw_without_rendering()
    edges = figure.bbox
    for axes in figure.axes:
        box = axes.get_tightbbox()
        assert box is not None
        assert box.x0 >= edges.x0 - 1
        assert box.x1 <= edges.x1 + 1
