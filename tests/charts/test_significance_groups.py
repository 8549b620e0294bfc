"""Critical-difference diagrams: the groups, and how they are drawn."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.charts import LINE_STYLES
from leadline.charts.significance_groups import critical_difference, groups, significance_groups
from whole_pictures import whole

NAN = float("nan")
LABEL = "AP, mean over 50 queries"


def near(runs: int, reach: int) -> Any:
    """Tell two runs apart when more than some places are between them."""
    return np.abs(np.subtract.outer(range(runs), range(runs))) > reach


def drawn(runs: int, *, reach: int = 2, **options: Any) -> Any:
    """Draw runs that get worse one by one."""
    means = np.linspace(0.9, 0.1, runs) ** 2
    names = [f"run{place}" for place in range(runs)]
    return significance_groups(names, means, near(runs, reach), label=LABEL, **options)


def texts_of(figure: Any) -> list[Any]:
    return list(figure.axes[0].texts)


def names_of(figure: Any) -> set[str]:
    return {text.get_text() for text in texts_of(figure)}


def sides_of(figure: Any) -> dict[str, str]:
    """Return which end of each name its line comes to."""
    return {text.get_text(): text.get_ha() for text in texts_of(figure)}


def bars(figure: Any) -> list[list[float]]:
    """Return the ends and the depth of every bar."""
    return [
        [*line.get_xdata(), line.get_ydata()[0]]
        for line in figure.axes[0].lines
        if line.get_color() == LINE_STYLES[0].color
    ]


def slow_groups(apart: Any) -> list[tuple[int, int]]:
    """Try every run of neighbours, and keep those that are part of no other."""
    alike = [
        (first, last)
        for first, last in combinations(range(len(apart)), 2)
        if not any(apart[i][j] for i, j in combinations(range(first, last + 1), 2))
    ]
    return [
        one
        for one in alike
        if not any(one != other and other[0] <= one[0] and one[1] <= other[1] for other in alike)
    ]


@given(st.integers(0, 9), st.floats(0, 1), st.integers(0, 10**6))
def test_groups_are_those_found_by_trying_all(runs: int, share: float, seed: int) -> None:
    upper = np.triu(np.random.default_rng(seed).random((runs, runs)) < share, 1)
    assert groups(upper | upper.T) == slow_groups(upper)


def test_groups_worked_by_hand() -> None:
    assert groups(near(5, 2)) == [(0, 2), (1, 3), (2, 4)]
    assert groups(near(5, 0)) == []
    assert groups(near(5, 9)) == [(0, 4)]
    ends_only = np.zeros((4, 4), dtype=bool)
    ends_only[1, 2] = ends_only[2, 1] = True
    assert groups(ends_only) == [(0, 1), (2, 3)]


def test_a_run_is_not_told_apart_from_itself_whatever_is_given() -> None:
    assert groups(np.eye(3)) == [(0, 2)]


def test_a_line_goes_from_the_mean_of_each_run_to_its_name() -> None:
    figure = significance_groups(["a", "b", "c"], [0.5, 0.4, 0.1], near(3, 0), label=LABEL)
    lines: list[Any] = list(figure.axes[0].lines)
    assert [line.get_xdata()[0] for line in lines] == [0.1, 0.5, 0.4]
    depths = [line.get_ydata()[-1] for line in lines]
    assert [text.xy[1] for text in texts_of(figure)] == depths
    assert depths[1] < depths[2]
    assert sides_of(figure) == {"a": "left", "b": "left", "c": "right"}


def test_a_bar_joins_the_means_of_a_group() -> None:
    apart = [[False, False, True], [False, False, True], [True, True, False]]
    figure = significance_groups(["a", "b", "c"], [0.5, 0.4, 0.1], apart, label=LABEL)
    ((start, end, _),) = bars(figure)
    assert (start, end) == pytest.approx((0.4, 0.5), abs=0.005)


def test_bars_do_not_touch_each_other() -> None:
    for (low, high, depth), (other_low, other_high, other_depth) in combinations(bars(drawn(20, reach=4)), 2):
        assert depth != other_depth or high < other_low or other_high < low


def test_a_group_of_equal_means_is_seen() -> None:
    ((start, end, _),) = bars(significance_groups(["a", "b"], [0.5, 0.5], near(2, 5), label=LABEL))
    assert start < 0.5 < end


@pytest.mark.parametrize(
    ("runs", "width"), [(1, 3.4), (2, 3.4), (3, 7.0), (12, 3.4), (24, 3.4), (79, 5.8), (143, 7.0)]
)
def test_few_and_many_runs_are_drawn_whole(runs: int, width: float) -> None:
    figure = drawn(runs, reach=5, width=width)
    assert len(names_of(figure)) == runs
    whole(figure)


def test_a_run_without_a_mean_is_left_out_and_counted() -> None:
    figure = significance_groups(["a", "b", "c"], [0.5, NAN, 0.1], near(3, 1), label=LABEL)
    assert names_of(figure) == {"a", "c"}
    assert bars(figure) == []
    assert figure.texts[1].get_text() == "left out 1 run without a mean"
    whole(figure)
    whole(significance_groups(["a", "b"], [NAN, NAN], near(2, 1), label=LABEL))


def test_of_a_measure_where_low_is_good_the_best_run_is_at_the_left() -> None:
    figure = significance_groups(["a", "b"], [1.0, 7.0], near(2, 1), label=LABEL)
    assert sides_of(figure) == {"a": "right", "b": "left"}


@pytest.mark.parametrize("means", [[0.3] * 30, [0.5 - place * 1e-7 for place in range(30)]])
def test_equal_and_nearly_equal_means_are_drawn_whole(means: list[float]) -> None:
    names = [f"team-of-many-words-run-{place}" for place in range(30)]
    figure = significance_groups(names, means, near(30, 3), label=LABEL)
    assert len(names_of(figure)) == len(names)
    whole(figure)


def test_odd_names_are_drawn_as_they_are() -> None:
    odd = ["_hidden", "$x_1$", "50%", "a<b&c", ""]
    long = ["W" * 40 + middle + "W" * 40 for middle in "abc"]
    figure = significance_groups(odd + long, np.arange(8)[::-1], near(8, 1), label=LABEL)
    assert set(odd) < names_of(figure)
    assert len(names_of(figure)) == 8
    whole(figure)


RANKS = [1.2, 1.9, 2.9, 4.0]


def test_a_critical_difference_diagram_joins_ranks_that_are_near() -> None:
    figure = critical_difference(["a", "b", "c", "d"], RANKS, difference=1.05, label="mean rank")
    joined = [(round(-low, 1), round(-high, 1)) for low, high, _ in bars(figure)]
    assert joined == [(2.9, 1.9), (1.9, 1.2)]
    assert {name: side for name, side in sides_of(figure).items() if name in "ad"} == {
        "a": "left",
        "d": "right",
    }
    whole(figure)


def test_the_bar_above_the_scale_has_the_length_of_the_critical_difference() -> None:
    figure = critical_difference(["a", "b", "c", "d"], RANKS, difference=1.05, label="mean rank")
    lines: list[Any] = list(figure.axes[0].lines)
    above = [line for line in lines if max(line.get_ydata()) < 0]
    lengths = {round(float(abs(line.get_xdata()[1] - line.get_xdata()[0])), 6) for line in above}
    assert lengths == {1.05, 0.0}  # the bar and its two ends


def test_a_critical_difference_longer_than_the_scale_is_said() -> None:
    figure = critical_difference(["a", "b"], [1.4, 1.6], difference=9.0, label="mean rank")
    assert "9.00" in "".join(text.get_text() for text in figure.axes[0].texts)
    lines: list[Any] = list(figure.axes[0].lines)
    assert [line for line in lines if max(line.get_ydata()) < 0] == []
    whole(figure)


@pytest.mark.parametrize("runs", [3, 20, 79])
def test_a_critical_difference_diagram_names_every_run(runs: int) -> None:
    names = [f"run-{place}" for place in range(runs)]
    ranks = np.linspace(1.5, runs - 0.5, runs)
    figure = critical_difference(names, ranks, difference=runs / 4, label="rank", note="a note " * 12)
    assert set(names) <= names_of(figure)
    whole(figure)
