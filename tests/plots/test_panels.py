"""Panels along one parameter: whole, on one axis below, gaps where nothing is defined."""

from __future__ import annotations

import math

from whole_pictures import whole

from leadline.plots.panels import panels


def test_every_column_has_a_panel_and_undefined_values_are_gaps() -> None:
    along = [50, 100, 200, 500, 1000, 2000, 5000]
    columns = {
        "MAP": [0.1, 0.2, 0.3, 0.3, 0.2, 0.2, 0.1], "HSA": [math.nan, 4.0, 5, 6, 5, 5, 4],
        "perplexity": [1500.0, 1200, 1100, 1000, 1000, 1010, 1020],
    }  # fmt: skip
    figure = panels(columns, along, label="topics")
    whole(figure)
    assert [axes.get_ylabel() for axes in figure.axes] == list(columns)
    assert figure.axes[-1].get_xlabel() == "topics"
    assert [text.get_text() for text in figure.axes[-1].get_xticklabels()][-1] == "5,000"
