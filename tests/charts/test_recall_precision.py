"""The recall-precision picture with one run, some, and many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leadline.charts import FAINT, LINE_STYLES, picture
from leadline.charts.line_plots import BEST, recall_precision

LEVELS = [place / 10 for place in range(11)]


def drawn(runs: int, **options: Any) -> Any:
    """Draw runs that get worse one by one."""
    precision = np.linspace(0.9, 0.1, runs)[:, None] * np.linspace(1, 0, 11)
    return recall_precision([f"run{place}" for place in range(runs)], LEVELS, precision, **options)


@pytest.mark.parametrize("runs", [1, 3, 8])
def test_up_to_eight_runs_are_all_named(runs: int) -> None:
    figure = drawn(runs)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [f"run{place}" for place in range(runs)]
    lines = figure.axes[0].lines
    assert {line.get_color() for line in lines} == {look.color for look in list(LINE_STYLES)[:runs]}


@pytest.mark.parametrize("runs", [9, 143])
def test_of_more_runs_the_best_are_named_and_the_others_are_grey(runs: int) -> None:
    figure = drawn(runs)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == [*(f"run{place}" for place in range(BEST)), f"{runs - BEST} other runs"]
    lines = figure.axes[0].lines
    assert len(lines) == runs
    assert sum(line.get_color() == FAINT for line in lines) == runs - BEST


def test_axes_say_what_they_show() -> None:
    axes = drawn(3).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("recall", "precision (mean, interpolated)")


@pytest.mark.parametrize("runs", [1, 8, 143])
@pytest.mark.parametrize("width", [3.4, 7.0])
def test_nothing_is_drawn_outside_the_picture(runs: int, width: float) -> None:
    figure = drawn(runs, width=width)
    picture(figure, "png")
    box = figure.get_tightbbox()
    assert (box.x0 > -0.01, box.y0 > -0.01) == (True, True)
    assert (box.x1 < figure.get_figwidth() + 0.01, box.y1 < figure.get_figheight() + 0.01) == (True, True)


def test_all_zeros_have_a_picture_too() -> None:
    figure = recall_precision(["a"], LEVELS, np.zeros((1, 11)))
    assert figure.axes[0].get_ylim() == (0, 0.1)
