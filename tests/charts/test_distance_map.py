"""Maps and trees of differences: order, names, groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from leadline.charts import FAINT
from leadline.charts.grid import distance_map, distance_tree
from leadline.charts.line_plots import by_parameter, cumulative
from leadline.charts.text_layout import group_colours, stretches
from leadline.errors import UsageError
from whole_pictures import whole


def table(size: int) -> np.ndarray:
    """Return distances of systems in two camps, mixed."""
    camp = np.arange(size) % 2
    near = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / (10 * size)
    found: np.ndarray = near + (camp[:, None] != camp)
    return found


def test_alike_systems_stand_side_by_side() -> None:
    figure = distance_map([f"s{place}" for place in range(6)], table(6))
    shown = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert {name[1:] for name in shown[:3]} in ({"0", "2", "4"}, {"1", "3", "5"})


@pytest.mark.parametrize("draw", [distance_map, distance_tree])
@pytest.mark.parametrize(("size", "width"), [(2, 3.4), (79, None), (79, 3.4)])
def test_every_system_is_named_and_nothing_is_cut(
    size: int, draw: Callable[..., Any], width: float | None
) -> None:
    names = [f"a-rather-long-name-of-a-run-{place}" for place in range(size)]
    label = "Information Difference@20 (share of the ideal)"
    groups = [f"team{place // 3}" for place in range(size)]
    figure = draw(names, table(size), groups=groups, label=label, width=width)
    shown = {text.get_text() for text in figure.axes[0].get_yticklabels()}
    assert len(shown - {""}) == size
    whole(figure)


def test_the_tree_says_that_id_is_no_metric() -> None:
    said = distance_tree(["a", "b"], table(2)).get_supxlabel()
    assert "is not a distance metric" in " ".join(said.split())


def test_equal_systems_have_distances_of_zero_on_a_bar_from_zero() -> None:
    equal = np.zeros((3, 3))
    assert distance_map(list("abc"), equal).axes[0].images[0].get_clim() == (0, 1)
    assert distance_tree(list("abc"), equal).axes[0].get_xlim() == (1, 0)


def test_one_system_is_refused() -> None:
    with pytest.raises(UsageError, match="at least two"):
        distance_map(["a"], [[0.0]])


def test_groups_of_one_and_systems_without_a_group_are_grey() -> None:
    colours = group_colours(["a", "a", "b", "", ""])
    assert colours["b"] == colours[""] == FAINT
    assert colours["a"] != FAINT
    assert stretches(["a", "b", "b", "a"]) == [("a", 0, 0), ("b", 1, 2), ("a", 3, 3)]


def test_shares_of_pairs_rise_to_one() -> None:
    figure = cumulative({"one": [0.1, 0.3], "two": [0.2]}, marks={"best": 0.15})
    for line in figure.axes[0].lines[:2]:
        assert np.asarray(line.get_ydata())[-1] == 1.0
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one (2 pairs)", "two (1 pair)"]


def test_parameters_of_a_family_are_scaled_and_the_best_is_ringed() -> None:
    figure = by_parameter({"BM25": [(0.0, 0.1), (0.5, 0.3), (1.0, 0.2)], "flat": [(7.0, 0.2)]})
    line, ring = figure.axes[0].lines[:2]
    assert np.asarray(line.get_xdata()).tolist() == [0.0, 0.5, 1.0]
    assert (ring.get_xdata(), ring.get_ydata()) == ([0.5], [0.3])
