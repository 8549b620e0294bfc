"""Pictures of two scores: what swaps is marked, what is named does not overlap."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.charts import picture, style
from leadline.charts.association_plots import MOST_NAMES, against_reference, association, swaps_of
from leadline.errors import UsageError
from leadline.estimation.predict import rank_shares
from whole_pictures import whole


def drawn(points: int, spread: float = 0.1, **options: Any) -> Any:
    rng = np.random.default_rng(points)
    x = rng.random(points)
    names = [f"team{place}-run-of-many-words-{place}" for place in range(points)]
    given = {"across": "AP", "up": "nDCG@10", "coefficients": {"Kendall's tau-b": "0.71 (95 %: 0.6 to 0.8)"}}
    return association(x, x + rng.normal(0, spread, points), names, **given | options)


@pytest.mark.parametrize("points", [2, 20, 150])
def test_names_neither_overlap_nor_leave_the_axes(points: int) -> None:
    figure = drawn(points)
    whole(figure)
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert 1 <= len(shown) <= MOST_NAMES
    assert len(set(shown)) == len(shown)
    assert len(drawn(3).axes[0].texts) == 3


def test_names_are_beside_their_points_when_the_figure_is_written() -> None:
    figure = drawn(20)
    picture(figure, "png")
    with style():
        figure.draw_without_rendering()  # at the resolution of the figure
    frame = figure.axes[0].get_window_extent()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    for box in boxes:
        assert box.y0 > frame.y0 - 1
        assert box.y1 < frame.y1 + 1
    for one, other in combinations(boxes, 2):
        assert min(one.x1, other.x1) - max(one.x0, other.x0) < 1 or (
            min(one.y1, other.y1) - max(one.y0, other.y0) < 2
        )


def test_swaps_are_counted_as_by_a_loop_and_ties_are_none() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        x, y = rng.integers(0, 5, (2, 9)).tolist()
        pairs = [(i, j) for i in range(9) for j in range(9) if (x[i] - x[j]) * (y[i] - y[j]) < 0]
        untied = sum(x[i] != x[j] and y[i] != y[j] for i, j in combinations(range(9), 2))
        found = swaps_of(x, y)
        assert found.by_point.tolist() == [sum(i == place for i, _ in pairs) for place in range(9)]
        assert (found.pairs, found.total) == (len(pairs) // 2, untied)


def test_the_runs_that_swap_are_marked_and_counted() -> None:
    # a..j in the same order but for the first three, which are reversed: each of them swaps with two of nine
    y = [2, 1, 0, *range(3, 10)]
    figure = association(range(10), y, "abcdefghij", across="x", up="y", coefficients={"tau": "0.87"})
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [
        "swapped with at most 10 % of the others (7 runs)",
        "swapped with more than 10 % of the others (3 runs)",
    ]
    assert figure.get_suptitle() == "tau 0.87\n3 of 45 pairs in opposite order"
    assert len(drawn(20, spread=0).legends[0].get_texts()) == 1
    tied = association([1, 1, 2], [1, 2, 3], "abc", across="x", up="y", coefficients={})
    assert tied.get_suptitle() == "0 of 2 untied pairs in opposite order"


def test_a_correlation_shows_its_coefficients_and_both_measures() -> None:
    truth = {name: 0.1 * place for place, name in enumerate("abcdef")}
    result = ll.correlate(truth, {**truth, "a": 0.9}, draws=100)
    figure = result.plot()
    tau = result["kendall"]
    assert f"Kendall's tau-b {tau.value:.2f}" in figure.get_suptitle().replace("\n", " ")
    assert {text.get_text() for text in figure.axes[0].texts} == set("abcdef")
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("truth", "estimate")


def predictions() -> tuple[Any, dict[str, dict[str, float]]]:
    rng = np.random.default_rng(5)
    runs = {
        name: {
            f"q{query}": {f"d{rank}": float(score) for rank, score in enumerate(rng.random(20))}
            for query in range(12)
        }
        for name in ("one", "two", "three")
    }
    truth = {name: {f"q{query}": float(rng.random()) for query in range(12)} for name in ("one", "two")}
    return ll.predict(runs, ["NQC(tail)", "WIG(tail)"]), truth


def test_predictions_are_drawn_alone_or_against_a_measure() -> None:
    found, truth = predictions()
    alone = found.plot()
    whole(found.plot(truth=truth, run="two", draws=20))
    scatter = found.plot(truth=truth, run="two", draws=20).axes[0]
    assert len(scatter.get_lines()[0].get_xdata()) == 12
    assert "rank of the query within each run" in " ".join(alone.axes[1].get_xlabel().split())
    first = found.plot(truth={"two": truth["two"]}, truth_measure="AP", draws=20).axes[0]
    assert first.get_ylabel() == "AP, measured"
    assert "two" in first.get_xlabel()  # the first run with values
    with pytest.raises(UsageError, match="Pass truth="):
        found.plot(figure="scatter")
    with pytest.raises(UsageError, match="run 'three' lacks"):
        found.plot(truth=truth, run="three")


def test_scores_on_another_scale_do_not_change_the_map_of_predictions() -> None:
    values = np.array([[3.0, 1.0, np.nan, 2.0, 1.0], [5.0, 5.0, 5.0, 5.0, 5.0]])
    by_hand = [[1.0, 1 / 6, np.nan, 2 / 3, 1 / 6], [0.5] * 5]
    for scale in (1.0, 1e9):
        found = rank_shares(values * [[scale], [1.0]])
        np.testing.assert_allclose(found, by_hand)


def test_systems_without_judgments_are_drawn_in_their_order() -> None:
    rng = np.random.default_rng(20)
    lists = {
        f"system{place}": {
            f"q{query}": [f"d{name}" for name in rng.permutation(30)[:10]] for query in range(4)
        }
        for place in range(20)
    }
    result = ll.unjudged(lists, method="nruns")
    names = [text.get_text() for text in result.plot().axes[0].get_yticklabels()]
    assert names == [result.names[place] for place in result.order()]


def test_a_judge_without_an_interval_is_inside_the_axis() -> None:
    none = [float("nan")] * 2
    axes = against_reference(["good", "contrary"], [0.67, -0.858], none, none, label="kappa").axes[0]
    assert axes.get_xlim()[0] < -0.858
