"""Figures of studies, and of judges: whole with few and many names, gaps where nothing is defined."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from leadline.charts.association_plots import WRITTEN, against_reference, between_judges
from leadline_studies.common.figures import Limits, by_judge, by_size, grouped_intervals, named_points, panels
from whole_pictures import whole


@pytest.mark.parametrize("systems", [1, 3, 143])
def test_systems_are_named_and_undefined_ones_are_left_out(systems: int) -> None:
    rng = np.random.default_rng(systems)
    truth = rng.random(systems) * 0.4
    estimate = [math.nan, *(truth[1:] + rng.normal(size=systems - 1) * 0.05)]
    names = [f"team{place}-run-of-many-words" for place in range(systems)]
    figure = named_points(truth, estimate, names, across="MAP", up="nruns")
    whole(figure)
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("MAP", "nruns")
    assert sum(len(np.atleast_1d(line.get_xdata())) for line in axes.get_lines()) == systems - 1
    assert "team0-run-of-many-words" not in [text.get_text() for text in axes.texts]


def test_every_method_has_a_line() -> None:
    lines = {
        name: [(size, 0.1 * place + 0.02 * turn) for turn, size in enumerate((5, 10, 20, 50, 100, 143))]
        for place, name in enumerate(("aslam-savell", "nruns", "reference-count", "soboroff", "spoerri"))
    }
    lines["nruns"][2] = (20, math.nan)  # a gap
    figure = by_size(lines, label="tau", sizes="systems")
    whole(figure)
    assert [line.get_label() for line in figure.axes[0].get_lines()]
    assert figure.axes[0].get_xscale() == "log"


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


@pytest.mark.parametrize("rows", [2, 12])
def test_every_row_is_named_and_every_group_has_its_look(rows: int) -> None:
    names = [f"WIG(tail,k={row})" for row in range(rows)]
    groups: dict[str, list[Limits]] = {
        name: [(0.1 * row + shift, 0.1 * row + shift - 0.2, 0.1 * row + shift + 0.2) for row in range(rows)]
        for shift, name in ((0.0, "QLDirichlet"), (0.05, "RM3"), (0.1, "BM25"))
    }
    figure = grouped_intervals(names, groups, label="Kendall's tau with AP over queries (95 %)")
    whole(figure)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == names
    assert len({line.get_marker() for line in axes.get_lines()[1:]}) == 3


def test_what_is_undefined_is_not_drawn_and_keeps_its_row() -> None:
    nothing = (math.nan,) * 3
    figure = grouped_intervals(
        ["a", "b"], {"one": [nothing, (0.2, math.nan, math.nan)]}, label="tau", mark=None
    )
    whole(figure)
    axes = figure.axes[0]
    assert [list(np.asarray(line.get_xdata())) for line in axes.get_lines()] == [[0.2]]
    assert list(axes.get_yticks()) == [0, 1]


def kappas(judges: int) -> Any:
    rng = np.random.default_rng(judges)
    table = rng.uniform(0, 1, (judges, judges))
    return (table + table.T) / 2


@pytest.mark.parametrize("judges", [2, WRITTEN, WRITTEN + 1])  # more: tests/charts/test_every_size.py
def test_the_map_is_whole_with_few_and_many(judges: int) -> None:
    names = [f"team-{place % 7}-judge-number-{place}" for place in range(judges)]
    figure = between_judges(names, kappas(judges))
    whole(figure)
    written = [text.get_text() for text in figure.axes[0].texts]
    assert len(written) == (judges * (judges - 1) if judges <= WRITTEN else 0)


def test_the_judge_who_agrees_most_comes_first_and_nobody_is_compared_with_himself() -> None:
    table = [[1, 0.1, 0.2], [0.1, 1, 0.9], [0.2, 0.9, 1]]
    figure = between_judges(["a", "b", "c"], table)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["c", "b", "a"]
    drawn: Any = figure.axes[0].images[0].get_array()
    assert np.isnan(drawn.filled(np.nan).diagonal()).all()


@pytest.mark.parametrize("judges", [2, 13])
def test_judges_against_a_reference_are_whole(judges: int) -> None:
    values = np.linspace(0.9, -0.1, judges)
    values[-1] = np.nan
    figure = against_reference(
        [f"team-{place % 7}-judge-number-{place}" for place in range(judges)],
        values,
        values - 0.1,
        values + 0.1,
        label="Cohen's kappa with people",
    )
    whole(figure)


@pytest.mark.parametrize(("judges", "systems"), [(2, 3), (9, 37), (34, 143)])
def test_systems_under_judges_are_whole(judges: int, systems: int) -> None:
    values = np.random.default_rng(1).uniform(0.1, 0.5, (judges, systems))
    figure = by_judge([f"judge-number-{place}" for place in range(judges)], values, label="mean AP")
    whole(figure)
    assert (np.diff(figure.axes[0].lines[0].get_ydata()) <= 0).all()


@pytest.mark.parametrize("judges", [20, 150])
def test_every_judge_is_named_unless_the_figure_is_too_small(judges: int) -> None:
    names = [f"judge{place}" for place in range(judges)]
    named = between_judges(names, kappas(judges)).axes[0].get_yticklabels()
    assert {text.get_text().split()[0] for text in named} == set(names)
    small = between_judges(names, kappas(judges), width=1.2).axes[0]
    assert not small.get_yticklabels()
    assert f"{judges} judges" in small.get_ylabel()
