"""Panels along one parameter: whole, on one axis below, gaps where nothing is defined."""

from __future__ import annotations

import math
from itertools import pairwise

from leadline_studies.common.figures import panels
from whole_pictures import whole


def test_every_column_has_a_panel_and_undefined_values_are_gaps() -> None:
    along = [50, 100, 200, 500, 1000, 2000, 5000]
    columns = {
        "MAP": [0.1, 0.2, 0.3, 0.3, 0.2, 0.2, 0.1],
        "HSA": [math.nan, 4.0, 5, 6, 5, 5, 4],
        "perplexity": [1500.0, 1200, 1100, 1000, 1000, 1010, 1020],
    }
    figure = panels(columns, along, label="topics")
    whole(figure)
    assert [axes.get_ylabel() for axes in figure.axes] == list(columns)
    assert figure.axes[-1].get_xlabel() == "topics"
    assert [text.get_text() for text in figure.axes[-1].get_xticklabels()][-1] == "5,000"


def test_labels_of_many_values_do_not_overlap() -> None:
    along = [round(10 * 1.115**place) for place in range(37)]
    figure = panels({"MAP": [0.1] * 37, "HSA": [2.0] * 37}, along, label="topics")
    whole(figure)
    axes = figure.axes[-1]
    labels = axes.get_xticklabels()
    assert (labels[0].get_text(), labels[-1].get_text()) == ("10", str(along[-1]))
    boxes = [text.get_window_extent() for text in labels]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
