"""The picture of every query in every run."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.charts import picture
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.query_figures import per_query
from leadline.evaluation.results import Results

JUDGMENTS = {query: {"a": 1.0, "b": 1.0} for query in ("q1", "q2", "q3")} | {"q4": {"a": 0.0}}


def results(runs: int = 2, measures: tuple[str, ...] = ("P@2", "RankOf(n=1)")) -> Results:
    """Evaluate a good run and worse ones: q3 is hard for all, q4 has nothing relevant."""
    good = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}, "q3": {"x": 2.0, "a": 1.0}}
    bad = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 2.0, "y": 1.0}, "q3": {"x": 2.0, "y": 1.0}}
    names = ["good", *(f"bad{place}" for place in range(1, runs))]
    return evaluate(JUDGMENTS, {name: good if name == "good" else bad for name in names}, measures)


def cells(found: Results, measure: object | None = None) -> list[list[float]]:
    """Return the cells as they are drawn, from the top left."""
    array = per_query(found, measure).axes[0].images[0].get_array()
    assert array is not None
    rows: list[list[float]] = np.ma.filled(array, np.nan).tolist()
    return rows


def test_rows_are_runs_the_best_first_and_columns_queries_the_hardest_first() -> None:
    rows = cells(results())
    assert rows[0] == [0.0, 0.5, 1.0, 1.0]
    assert rows[1] == [0.0, 0.0, 0.0, 0.5]
    labels = [text.get_text() for text in per_query(results()).axes[0].get_yticklabels()]
    assert labels == ["good", "bad1"]
    assert picture(per_query(results()), "svg") == picture(per_query(results()), "svg")


def test_an_undefined_value_is_left_empty() -> None:
    rows = cells(evaluate({"1": {"a": 1}, "2": {"a": 0}}, {"1": {"a": 1.0}}, ["AP"]))
    assert rows[0][0] == 1.0
    assert np.isnan(rows[0][1])


def test_of_a_measure_without_an_upper_end_the_highest_value_is_the_brightest() -> None:
    image = per_query(results(measures=("DCG@2",)), "DCG@2").axes[0].images[0]
    assert image.norm.vmax == pytest.approx(1.63, abs=0.01)


def test_a_measure_is_taken_by_name_and_an_unknown_one_refused() -> None:
    assert per_query(results(), "RankOf").axes[1].get_xlabel().startswith("RankOf per query")
    with pytest.raises(ValueError, match="these results have no measure 'AP'"):
        per_query(results(), "AP")


def test_many_runs_are_named_all() -> None:
    figure = per_query(results(143))
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert len(set(labels)) == 143


def test_lines_of_undefined_values_say_so() -> None:
    qrels = {"q1": {"a": 0}, "q2": {"a": 0}}
    found = evaluate(qrels, {"run": {"q1": {"a": 1.0}, "q2": {"a": 1.0}}}, ["RankOf(n=1)"])
    assert [text.get_text() for text in found.plot(figure="line").axes[0].texts] == ["undefined"]
