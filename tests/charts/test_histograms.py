"""Pictures of histograms: sides, lines, words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from leadline.charts import picture
from leadline.charts.distribution_plots import histograms
from leadline.errors import UsageError

COUNTS = [[[1, 3, 4, 0], [4, 3, 1, 2]], [[4, 3, 1, 0], [1, 3, 4, 2]]]


def test_the_line_has_the_slope_hsa_and_goes_through_the_middle() -> None:
    hsa = 4 * math.log(4)
    figure = histograms(["a", "b"], COUNTS, hsa=[hsa, -hsa], do=[1.1, 1.1])
    for axes, slope in zip(figure.axes[2:], (hsa, -hsa), strict=True):
        points, line = axes.lines[:2]
        (x0, x1), (y0, y1) = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert (y1 - y0) / (x1 - x0) == pytest.approx(slope)
        assert np.asarray(points.get_xdata()).tolist() == [0.125, 0.375, 0.625]
        middle = np.mean(np.asarray(points.get_ydata()))
        assert y0 + slope * (0.375 - x0) == pytest.approx(middle)
    assert figure.axes[0].get_yscale() == "log"
    assert [axes.get_title() for axes in figure.axes] == ["a\nDO 1.10", "b\nDO 1.10", "HSA 5.55", "HSA -5.55"]


def test_an_undefined_hsa_has_no_line() -> None:
    figure = histograms(["a"], [[[0, 5], [9, 0]]], hsa=[math.nan], do=[0.0])
    assert figure.axes[1].get_title() == "HSA undefined"
    assert len(figure.axes[1].lines) == 2  # no points in the first, the axis
    assert picture(figure, "svg").startswith(b"<?xml")


def test_too_many_models_are_refused() -> None:
    with pytest.raises(UsageError, match="side by side"):
        histograms(list("abcde"), [COUNTS[0]] * 5, hsa=[0.0] * 5, do=[0.0] * 5)
