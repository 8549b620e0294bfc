"""Means with their intervals, one row a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.charts import INK, LINE_STYLES
from leadline.charts.interval_plots import forest, nested_intervals, ranks
from leadline.charts.text_layout import FEW
from leadline.errors import UsageError
from whole_pictures import whole

NAN = float("nan")
LABEL = "AP, mean and 95 % interval over 50 queries"


def drawn(runs: int, **options: Any) -> Any:
    """Draw runs that get worse one by one."""
    means = np.linspace(0.9, 0.1, runs)
    names = [f"run{place}" for place in range(runs)]
    return forest(names, means, means - 0.05, means + 0.05, label=LABEL, **options)


def labels(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].get_yticklabels()]


def points(figure: Any) -> list[tuple[float, float]]:
    return [
        (round(x, 6), y)
        for line in figure.axes[0].lines
        if line.get_linestyle() == "None"
        for x, y in line.get_xydata().tolist()
    ]


def intervals(figure: Any) -> list[list[list[float]]]:
    return [segment.tolist() for drawn in figure.axes[0].collections for segment in drawn.get_segments()]


def test_the_first_run_given_stands_at_the_top() -> None:
    figure = forest(["a", "b"], [0.2, 0.4], [0.1, 0.3], [0.3, 0.5], label=LABEL)
    assert labels(figure) == ["a", "b"]
    assert points(figure) == [(0.2, 0.0), (0.4, 1.0)]
    bottom, top = figure.axes[0].get_ylim()
    assert bottom > top


def test_a_line_goes_from_the_low_to_the_high_end_of_the_interval() -> None:
    figure = forest(["a"], [0.2], [0.1], [0.4], label=LABEL)
    assert intervals(figure) == [[[0.1, 0.0], [0.4, 0.0]]]


def test_a_row_without_a_mean_stays_and_says_so() -> None:
    figure = forest(["a", "b", "c"], [0.5, NAN, 0.2], [0.4, NAN, NAN], [0.6, NAN, 0.3], label=LABEL)
    assert labels(figure) == ["a", "b", "c"]
    assert points(figure) == [(0.5, 0.0), (0.2, 2.0)]
    assert len(intervals(figure)) == 1
    assert [text.get_text() for text in figure.axes[0].texts] == ["undefined"]


def test_an_interval_without_an_end_is_not_drawn() -> None:
    assert intervals(forest(["a"], [0.5], [-np.inf], [np.inf], label=LABEL)) == []


def test_the_baseline_has_its_own_look_and_a_line_at_its_mean() -> None:
    axes = drawn(3, reference=1).axes[0]
    first, baseline, line = axes.lines
    assert (first.get_marker(), first.get_color()) == (LINE_STYLES[0].marker, LINE_STYLES[0].color)
    assert (baseline.get_marker(), baseline.get_color()) == (LINE_STYLES[1].marker, INK)
    assert baseline.get_xydata().tolist() == [[0.5, 1.0]]
    assert list(line.get_xdata()) == [0.5, 0.5]
    assert [text.get_text() for text in axes.texts] == ["baseline: run1"]


def test_a_baseline_without_a_mean_has_no_line() -> None:
    figure = forest(["a", "b"], [0.5, NAN], [0.4, NAN], [0.6, NAN], label=LABEL, reference=1)
    assert [text.get_text() for text in figure.axes[0].texts] == ["undefined"]


@pytest.mark.parametrize(
    ("runs", "reference", "width"),
    [(1, None, 3.4), (1, 0, 3.4), (3, 2, 7.0), (FEW, 0, 3.4), (FEW + 1, FEW, 3.4), (1000, 0, 3.4)],
)
def test_few_and_many_runs_are_drawn_whole(runs: int, reference: int | None, width: float) -> None:
    whole(drawn(runs, reference=reference, width=width))


def test_many_runs_are_named_all() -> None:
    figure = drawn(143, reference=30)
    assert len(set(labels(figure))) == 143
    assert (len(points(figure)), len(intervals(figure))) == (143, 143)


def test_more_runs_than_fit_on_paper_are_numbered() -> None:
    figure = drawn(1000, reference=30)
    assert labels(figure)[:3] == ["1", "50", "100"]
    assert figure.axes[0].get_ylabel() == "1,000 runs"


def test_the_label_is_shown_with_every_word() -> None:
    for runs in (3, 143):
        assert drawn(runs).axes[0].get_xlabel().split() == LABEL.split()


def test_odd_names_are_drawn_as_they_are() -> None:
    names = ["_hidden", "$x_1$", "50%", "a<b&c", "", "W" * 90, "x" * 90]
    means = np.linspace(0.5, 0.2, len(names))
    figure = forest(names, means, means, means, label=LABEL, reference=1)
    assert labels(figure)[:5] == names[:5]
    assert figure.axes[0].texts[0].get_text() == "baseline: $x_1$"
    whole(figure)


def test_all_undefined_have_a_picture_too() -> None:
    whole(forest(["a", "b"], [NAN] * 2, [NAN] * 2, [NAN] * 2, label=LABEL, reference=0))


@pytest.mark.parametrize("runs", [1, 20])
def test_two_intervals_of_every_run_are_drawn_and_new_runs_have_open_markers(runs: int) -> None:
    rng = np.random.default_rng(runs)
    middle = np.sort(rng.random(runs))[::-1]
    inner = np.stack([middle - 0.05, middle + 0.05], axis=1)
    outer = np.stack([middle - 0.2, middle + 0.2], axis=1)
    inner[0] = np.nan
    new = [place % 3 == 2 for place in range(runs)]
    words = ["estimate", "interval", "bounds", "new run", "uncorrected"]
    figure = nested_intervals(
        [f"team-{run}-of-many-words" for run in range(runs)],
        middle,
        inner,
        outer,
        label="P@10",
        words=words,
        new=new,
        others=middle + 0.1,
    )
    whole(figure)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert set(labels) == set(words if runs > 2 else ["estimate", "bounds", "uncorrected"])
    assert len(figure.axes[0].get_yticklabels()) == runs
    rings: list[Any] = [line for line in figure.axes[0].get_lines() if line.get_markerfacecolor() == "white"]
    assert sum(len(line.get_ydata()) for line in rings) == new.count(True)


def test_sampled_estimates_are_drawn_with_their_limits() -> None:
    judgments = {f"q{query}": {"d1": 1, "d2": 1} for query in range(12)}
    rng = np.random.default_rng(2)
    names = ["d1", "d2", *(f"x{place}" for place in range(30))]
    runs = {
        name: {
            query: {each: float(rng.random() + lift * (each < "x")) for each in names} for query in judgments
        }
        for name, lift in (("low", 0.0), ("high", 0.5))
    }
    result = ll.sampled(judgments, runs, ["AP", "RR"], population=500)
    figure = result.plot(measure="RR")
    whole(figure)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["high", "low"]
    drawn = [line.get_xdata() for line in figure.axes[0].get_lines()]
    assert any(np.allclose(np.sort(line), np.sort(result.means[:, 1])) for line in drawn)
    assert any(np.allclose(np.sort(line), np.sort(result.uncorrected[:, 1])) for line in drawn)
    with pytest.raises(UsageError, match="no measure"):
        result.plot(measure="P@10")


def test_ticks_of_ranks_are_whole_numbers_from_1() -> None:
    limits, group = [(1, 3)] * 3, [1] * 3
    axes = ranks(["a", "b", "c"], [1, 2, 3], limits, limits, group, measure="AP").axes[0]
    assert axes.get_xticks().tolist() == [1, 2, 3]
