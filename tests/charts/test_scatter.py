"""The values of one run against those of another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leadline.charts.pair_plots import scatter
from whole_pictures import whole

NAN = float("nan")


def drawn(x: Any, y: Any, **options: Any) -> Any:
    """Draw the values of two runs."""
    return scatter(x, y, **({"first": "bm25", "second": "dense", "measure": "AP"} | options))


def points(figure: Any) -> list[list[float]]:
    found: list[list[float]] = figure.axes[0].lines[-1].get_xydata().tolist()
    return found


def test_the_first_run_is_upwards_and_the_second_to_the_right() -> None:
    figure = drawn([0.1, 0.5], [0.3, 0.4])
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("AP of dense", "AP of bm25")
    assert points(figure) == [[0.1, 0.3], [0.5, 0.4]]


def test_both_sides_of_the_diagonal_are_counted() -> None:
    figure = drawn([0.1, 0.2, 0.5, 0.5], [0.3, 0.4, 0.5, 0.4])
    assert figure.get_suptitle().splitlines() == [
        "above the diagonal: 2 queries won by bm25",
        "on it: 1 query",
        "below: 1 query won by dense",
    ]


def test_an_undefined_value_is_left_out_and_counted() -> None:
    figure = drawn([NAN, 0.2, 0.3, NAN], [0.1, NAN, 0.4, NAN])
    assert points(figure) == [[0.3, 0.4]]
    assert figure.get_suptitle().splitlines()[3] == "left out 3 queries without a value in one or both runs"


def test_both_axes_have_the_same_range_ticks_and_length() -> None:
    figure = drawn([0.0, 0.2], [0.1, 0.7])
    axes = figure.axes[0]
    assert axes.get_xlim() == axes.get_ylim()
    whole(figure)
    assert axes.get_xticks().tolist() == axes.get_yticks().tolist()
    box = axes.get_window_extent()
    assert box.width == pytest.approx(box.height)


def test_points_are_fainter_the_more_they_are() -> None:
    alphas = [drawn([0.5] * n, [0.5] * n).axes[0].lines[-1].get_alpha() for n in (30, 500, 5000)]
    assert alphas == sorted(alphas, reverse=True)
    assert 0 < alphas[-1] < alphas[0] < 1


@pytest.mark.parametrize(
    ("count", "width"), [(0, 3.4), (1, 3.4), (3, 7.0), (225, 3.4), (5000, 3.4), (5000, 7.0)]
)
def test_few_and_many_queries_are_drawn_whole(count: int, width: float) -> None:
    x, y = np.random.default_rng(1).random((2, count))
    figure = drawn(x, y, width=width)
    assert len(points(figure)) == count
    whole(figure)


@pytest.mark.parametrize("name", ["_hidden", "$x_1$", "50%", "a<b&c", "", "W" * 90, "x" * 90])
def test_odd_names_are_drawn_as_they_are(name: str) -> None:
    figure = drawn([0.2, NAN], [0.1, NAN], first=name, second=name + "2", measure="nDCG(gains=exp)@10")
    if len(name) < 90:
        assert f"nDCG(gains=exp)@10 of {name}".strip() in figure.axes[0].get_ylabel()
    whole(figure)


class LowIsGood:
    """A measure whose low values are good."""

    rising = False


def test_of_a_measure_where_low_is_good_the_lower_value_wins() -> None:
    figure = drawn([1.0, 2.0], [3.0, 4.0], measure=LowIsGood())
    assert figure.get_suptitle().startswith("above the diagonal: 2 queries won by dense")
