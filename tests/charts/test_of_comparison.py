"""The figures of a comparison show the intervals of its table, and name them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.comparison.compare import compare
from leadline.comparison.comparison_figures import drawn_comparison, interval_name
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.query_slices import slices_of
from leadline.errors import UsageError
from whole_pictures import whole

QUERIES = 30


def compared(runs: int, **options: Any) -> Comparison:
    """Compare runs in which the relevant document has a random rank, the later run the worse."""
    rng = np.random.default_rng(0)
    qrels = {f"q{query}": {"d": 1} for query in range(QUERIES)}
    tables: dict[str, Any] = {f"r{place}": {} for place in range(runs)}
    for place in range(runs):
        for query in qrels:
            rank = int(rng.integers(1, 3 + 4 * (place // 2)))
            tables[f"r{place}"][query] = {"d" if at == rank else f"x{at}": float(-at) for at in range(1, 12)}
    return compare(qrels, tables, "RR", **options)


def band(figure: Any) -> list[float]:
    """Return the ends of the band over the interval of the mean."""
    from matplotlib.patches import Rectangle

    shape = next(one for one in figure.axes[0].patches if isinstance(one, Rectangle))
    return [shape.get_y(), shape.get_y() + shape.get_height()]


def lines(figure: Any) -> list[list[float]]:
    """Return the ends of the interval of every row."""
    return [
        [segment[0][0], segment[1][0]]
        for group in figure.axes[0].collections
        for segment in group.get_segments()
    ]


def words(figure: Any) -> str:
    legends = [text.get_text() for one in figure.legends for text in one.get_texts()]
    return " ".join([figure.axes[0].get_xlabel(), *legends]).replace("\n", " ")


def test_a_pair_of_a_family_is_drawn_with_its_simultaneous_interval() -> None:
    comparison = compared(3)
    assert comparison.simultaneous is not None
    for pair in range(3):
        figure = drawn_comparison(comparison, "differences", pair=pair)
        assert band(figure) == pytest.approx(comparison.simultaneous[0, pair].tolist())
        assert interval_name(comparison) in words(figure)
        alone = drawn_comparison(comparison, "differences", pair=pair, per_pair=True)
        assert band(alone) == pytest.approx(comparison.limits[0, pair].tolist())
        assert interval_name(comparison, per_pair=True) in words(alone)


def test_the_names_of_intervals_differ_where_the_intervals_do() -> None:
    names = {
        interval_name(compared(3)),
        interval_name(compared(3), per_pair=True),
        interval_name(compared(3, correction="BH")),
        interval_name(compared(2)),
        interval_name(compared(3, confidence=0.9)),
    }
    assert len(names) == 5
    assert "simultaneous" in interval_name(compared(3))
    assert "simultaneous" not in interval_name(compared(2))


def test_one_pair_has_one_interval() -> None:
    comparison = compared(2)
    assert comparison.simultaneous is None
    figure = drawn_comparison(comparison, "differences")
    assert band(figure) == pytest.approx(comparison.limits[0, 0].tolist())
    assert words(figure) == words(drawn_comparison(comparison, "differences", per_pair=True))


@pytest.mark.parametrize("per_pair", [False, True])
def test_pairs_have_a_row_each_with_the_interval_of_the_table(per_pair: bool) -> None:
    comparison = compared(4)
    figure = drawn_comparison(comparison, "pairs", per_pair=per_pair)
    limits = (comparison.limits if per_pair else comparison.shown_limits)[0]
    order = np.argsort(-comparison.means[0], kind="stable")
    assert lines(figure) == pytest.approx(limits[order])
    assert interval_name(comparison, per_pair=per_pair, which="each pair") in words(figure)
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert len(labels) == 6
    assert all("r0" in label for label in labels if label.startswith("r0"))
    assert len(set(labels)) == 6


def test_against_a_baseline_a_row_is_a_run() -> None:
    comparison = compared(4, baseline="r2")
    figure = drawn_comparison(comparison, "pairs")
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert sorted(labels) == ["r0", "r1", "r3"]
    assert "r2" in words(figure)


def test_only_the_pairs_asked_for_are_drawn_and_counted() -> None:
    comparison = compared(6)
    chosen = comparison.chosen("significant")[0]
    figure = drawn_comparison(comparison, "pairs", pairs=chosen)
    assert 0 < len(lines(figure)) == len(chosen) < 15
    assert all(not low <= 0 <= high for low, high in lines(figure))
    assert f"{len(chosen)} of 15 pairs" in words(figure)
    with pytest.raises(UsageError):
        drawn_comparison(comparison, "pairs", pairs=[])


def test_limits_end_at_the_range_of_the_measure() -> None:
    rows = [
        {"query": f"q{query}", "run": run, "measure": "AP", "value": value}
        for run, values in (("a", (1, 1, 1, 1, 0)), ("b", (0, 0, 0, 0, 1)))
        for query, value in enumerate(values)
    ]
    comparison = ll.compare(ll.read_scores(rows), confidence=0.99)
    comparison.results.intervals = comparison.intervals
    slices = {f"q{query}": "all" for query in range(5)}
    means = [
        comparison.plot(figure="forest"),
        comparison.results.plot(figure="means"),
        slices_of(comparison.results, slices, confidence=0.99).plot(),
    ]
    for figure in means:
        drawn = np.array(lines(figure))
        assert len(drawn) >= 2
        assert (drawn.min(), drawn.max()) == (0, 1)
    assert np.array(lines(slices_of(comparison, slices).plot())).tolist() == [[-1, 1]] * 2


def test_the_forest_says_that_its_intervals_are_of_means() -> None:
    comparison = compared(3)
    figure = drawn_comparison(comparison, "forest")
    order = comparison.results.order(0)
    assert lines(figure) == pytest.approx(comparison.intervals.limits[order, 0])
    assert "simultaneous" not in words(figure)
    assert "of each mean alone" in words(figure)


def test_labels_of_one_query_announce_no_interval() -> None:
    rows = [{"query": "q", "run": run, "measure": "AP", "value": 0.5} for run in "abc"]
    comparison = ll.compare(ll.read_scores(rows))
    assert words(comparison.plot(figure="forest")).startswith("AP, mean (1 query)")
    for figure in ("forest", "pairs"):
        assert "interval" not in words(comparison.plot(figure=figure))


def test_long_names_of_runs_stay_within_the_figures() -> None:
    names = [f"team-{place}-{'a-very-long-name-of-a-system-' * 3}k1-0.9" for place in range(3)]
    rows = [
        {"query": f"q{query}", "run": name, "measure": "AP", "value": (query * place) % 7 / 7}
        for place, name in enumerate(names)
        for query in range(1, 13)
    ]
    comparison = ll.compare(ll.read_scores(rows), baseline=names[0])
    slices = {f"q{query}": "long" if query % 2 else "short" for query in range(1, 13)}
    whole(comparison.plot(figure="pairs"))
    whole(slices_of(comparison, slices).plot(pair=(names[0], names[1])))
