"""The differences of two runs, query by query."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leadline.charts import LINE_STYLES
from leadline.charts.pair_plots import ABOVE, APART, BELOW, differences
from whole_pictures import whole

NAN = float("nan")


def drawn(values: Any, **options: Any) -> Any:
    """Draw differences of two runs."""
    given = {"first": "bm25", "second": "dense", "measure": "AP"} | options
    return differences(values, **given)


def words(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def heights(shape: Any) -> list[float]:
    """Return the heights of an outline, the gaps too."""
    found: list[float] = shape.get_data().values.tolist()
    return found


def bars(figure: Any) -> dict[str, list[float]]:
    """Return the heights of the bars of each colour, from the left."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import StepPatch

    return {
        to_hex(shape.get_facecolor()): [height for height in heights(shape) if height]
        for shape in figure.axes[0].patches
        if isinstance(shape, StepPatch)
    }


def test_wins_come_first_and_losses_last_each_in_its_colour() -> None:
    assert bars(drawn([-0.1, 0.3, 0.0, 0.2, -0.4])) == {
        LINE_STYLES[ABOVE].color: [0.3, 0.2],
        LINE_STYLES[BELOW].color: [-0.1, -0.4],
    }


def test_a_bar_stands_at_the_place_of_its_query() -> None:
    upper, lower = drawn([-0.1, 0.3, 0.0, 0.2, -0.4]).axes[0].patches
    assert upper.get_data().edges == pytest.approx([-0.4, 0.4, 0.6, 1.4])
    assert lower.get_data().edges == pytest.approx([2.6, 3.4, 3.6, 4.4])


def test_values_that_only_round_apart_are_equal_in_words() -> None:
    assert words(drawn([0.2, 1e-17, -1e-17, -0.1]))[:3] == [
        "1 query won by bm25",
        "2 queries equal",
        "1 query won by dense",
    ]


@pytest.mark.parametrize("end", [NAN, float("inf")])
def test_an_interval_that_is_none_is_not_written(end: float) -> None:
    assert words(drawn([0.5], low=-end, high=end))[-1] == "mean +0.500"


def test_wins_ties_and_losses_are_counted_in_words() -> None:
    assert words(drawn([0.1] * 27 + [0.0] * 3 + [-0.1] * 13))[:3] == [
        "27 queries won by bm25",
        "3 queries equal",
        "13 queries won by dense",
    ]


def test_the_mean_is_written_and_drawn_over_its_interval() -> None:
    figure = drawn([0.3, -0.1], low=-0.3, high=0.5)
    assert words(figure)[3] == "mean +0.100, interval −0.300 to +0.500"  # noqa: RUF001
    lines = [line.get_ydata()[0] for line in figure.axes[0].lines]
    assert lines == pytest.approx([0.0, 0.1])
    band = figure.axes[0].patches[-1]
    assert band.get_extents().transformed(figure.axes[0].transData.inverted()).y0 == pytest.approx(-0.3)


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "0"), (1e-17, "0"), (0.00042, "+0.00042"), (250.0, "+250")]
)
def test_the_mean_has_the_digits_that_it_needs(value: float, said: str) -> None:
    assert words(drawn([value]))[3] == f"mean {said}"


def test_an_undefined_difference_is_left_out_and_counted() -> None:
    figure = drawn([NAN, 0.2, NAN], queries=["1", "2", "3"])
    assert words(figure) == [
        "1 query won by bm25; largest: 2",
        "0 queries equal",
        "0 queries won by dense",
        "mean +0.200",
        "left out 2 queries without a value in one or both runs",
    ]
    assert figure.axes[0].get_xlabel() == "1 query, sorted by difference"


def test_the_farthest_queries_of_each_side_are_named_where_they_fit() -> None:
    values = [0.1, 0.4, -0.3, 0.2, 0.3, -0.1]
    said = words(drawn(values, queries=list("abcdef")))
    assert said[0] == "4 queries won by bm25; largest: b, e, d"
    assert said[2] == "2 queries won by dense; largest: c, f"
    said = words(drawn(values, queries=[letter * 40 for letter in "abcdef"]))
    assert said[0] == "4 queries won by bm25"


@pytest.mark.parametrize(
    ("count", "width"),
    [(1, 3.4), (3, 7.0), (30, 3.4), (APART, 7.0), (APART + 1, 3.4), (225, 3.4), (5000, 3.4)],
)
def test_few_and_many_queries_are_drawn_whole(count: int, width: float) -> None:
    values = np.round(np.random.default_rng(1).normal(0.02, 0.2, count), 3)
    ids = [str(1_000_000 + place) for place in range(count)]
    figure = drawn(values, low=-0.1, high=0.1, queries=ids, width=width)
    assert sum(map(len, bars(figure).values())) == (values != 0).sum()
    whole(figure)


@pytest.mark.parametrize("values", [[], [NAN], [0.0, 0.0]])
def test_nothing_to_draw_has_a_picture_too(values: list[float]) -> None:
    figure = drawn(values)
    assert bars(figure) == {}
    whole(figure)


@pytest.mark.parametrize("name", ["_hidden", "$x_1$", "50%", "a<b&c", "", "W" * 90, "x" * 90])
def test_odd_names_are_drawn_as_they_are(name: str) -> None:
    figure = drawn([0.2, -0.1, NAN], first=name, second=name + "2", measure="nDCG(gains=exp)@10")
    if len(name) < 90:
        assert words(figure)[0] == f"1 query won by {name}"
        assert f"{name} minus {name}2" in figure.axes[0].get_ylabel()
    whole(figure)


class LowIsGood:
    """A measure whose low values are good."""

    rising = False


def test_of_a_measure_where_low_is_good_the_lower_value_wins() -> None:
    said = words(drawn([3.0, 5.0, -1.0], measure=LowIsGood(), queries=list("abc")))
    assert said[0] == "2 queries won by dense; largest: b, a"
    assert said[2] == "1 query won by bm25; largest: c"


def test_long_words_on_the_interval_are_not_cut_off() -> None:
    interval = "95 % interval with a controlled false coverage rate"
    whole(drawn([0.2, -0.1, 0.1], low=-0.0312, high=0.1512, interval=interval))
