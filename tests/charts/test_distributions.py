"""Pictures of the per-query values: box plots, violin plots and lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Rectangle

import leadline as ll
from leadline.charts.distribution_plots import IDS, by_query, distributions
from leadline.charts.line_plots import BEST
from whole_pictures import whole


@pytest.mark.parametrize("shape", ["box", "violin"])
@pytest.mark.parametrize("runs", [1, 20])
def test_every_run_has_its_name_its_quartiles_and_its_mean(runs: int, shape: str) -> None:
    rng = np.random.default_rng(runs)
    table = rng.beta(0.8, 2, (runs, 43))
    names = [f"team{run}-a-run-of-many-words-{run}" for run in range(runs)]
    figure = distributions(names, list(table), table.mean(axis=1), label="AP of single queries", shape=shape)
    whole(figure)
    axes: Any = figure.axes[0]
    assert len({text.get_text() for text in axes.get_yticklabels()}) == runs
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    ends = [(box.get_x(), box.get_x() + box.get_width()) for box in boxes]
    assert np.allclose(ends, np.quantile(table, [0.25, 0.75], axis=1).T)


def test_whiskers_and_outliers_are_those_of_tukey() -> None:
    # quartiles 2 and 4: whiskers within -1 and 7
    figure = distributions(["a"], [[1.0, 2.0, 3.0, 4.0, 9.0]], [3.8], label="x")
    axes: Any = figure.axes[0]
    segments = sorted(tuple(part[:, 0].tolist()) for part in axes.collections[0].get_segments())
    assert segments == [(1.0, 2.0), (4.0, 4.0)]
    assert np.array_equal(np.asarray(axes.get_lines()[0].get_xdata()), [9.0])


def test_a_run_without_values_is_said_and_densities_stay_within_the_range() -> None:
    figure = distributions(
        ["a", "b", "c"],
        [[0.0, 0.1, 0.9, 1.0], [float("nan")], [0.5, 0.5]],
        [0.5, float("nan"), 0.5],
        label="AP",
        shape="violin",
        limits=(0.0, 1.0),
    )
    whole(figure)
    axes: Any = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["undefined"]
    outlines = np.concatenate([path.vertices for part in axes.collections for path in part.get_paths()])
    assert outlines[:, 0].min() >= 0
    assert outlines[:, 0].max() <= 1


@pytest.mark.parametrize(("runs", "queries"), [(1, 1), (3, 43), (20, 50), (150, 200)])
def test_lines_name_the_best_runs_and_the_queries_while_they_are_few(runs: int, queries: int) -> None:
    table = np.random.default_rng(runs).random((runs, queries))
    figure = by_query(
        [f"run{run}" for run in range(runs)], table, [f"q{query}" for query in range(queries)], label="AP"
    )
    whole(figure)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == (
        [f"run{run}" for run in range(runs)]
        if runs <= 8
        else [*(f"run{run}" for run in range(BEST)), f"{runs - BEST} other runs"]
    )
    named = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert len(named) == (queries if queries <= IDS else 0)
    means = table.mean(axis=0)
    assert named == [f"q{query}" for query in np.argsort(means)][: len(named)]


def test_the_hardest_query_is_at_the_left_for_measures_where_less_is_better_too() -> None:
    values = [[3.0, 1.0, float("nan")], [5.0, 1.0, float("nan")]]
    figure = by_query(["a", "b"], values, ["slow", "fast", "none"], label="latency", rising=False)
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["slow", "fast"]


def test_ids_that_do_not_fit_are_thinned_and_this_is_said() -> None:
    figure = by_query(
        ["a"], np.random.default_rng(1).random((1, 60)), list(map(str, range(60))), label="AP", width=3.4
    )
    whole(figure)
    step = 60 / len(figure.axes[0].get_xticklabels())
    assert f"(1 in {step:.0f} is named)" in figure.axes[0].get_xlabel()


@pytest.mark.parametrize("shape", ["box", "violin"])
def test_the_marker_of_a_measure_that_is_added_up_is_the_mean_of_its_values(shape: str) -> None:
    results = ll.evaluate(
        {"a": {"d": 1}, "b": {"d": 1}}, {"r": {"a": {"d": 2, "e": 1}, "b": {"d": 1}}}, "NumRet"
    )
    axes: Any = results.plot(figure=shape).axes[0]
    assert results.means[0, 0] == 3
    assert 1.5 in [float(place) for line in axes.get_lines() for place in line.get_xdata()]
