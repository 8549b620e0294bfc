"""The study of components: effects against a slow twin, and what a small collection shows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.errors import UsageError
from leadline.text.words import Words
from leadline_studies import study
from leadline_studies.components.study import (
    Grid,
    best_of,
    component_contrasts,
    component_effects,
    effects_by_weighting,
)

COMPONENTS = study("components")
DOCS = {
    "d1": "the wings of a bird",
    "d2": "a wing and the flow",
    "d3": "the flow of the heat of the day",
    "d4": "birds fly",
    "d5": "heat and heating of plates",
    "d6": "the the the and and of",
}
QUERIES = {"q1": "the wing of birds", "q2": "heated plate", "q3": "flows of heat"}
QRELS = {"q1": {"d1": 1, "d4": 1}, "q2": {"d5": 1}, "q3": {"d3": 1, "d2": 1}}
MODELS = ("TF(dot)", "BM25")


def tried(**options: Any) -> Any:
    return COMPONENTS.run(DOCS, QUERIES, QRELS, model=MODELS, **options)


def test_every_cell_is_what_search_and_evaluate_give() -> None:
    cells = tried().data["cells"]
    assert len(cells) == 8
    for cell in cells:
        index = ll.build_index(DOCS, analysis=Words(stem=cell["stem"], stop=cell["stop"]))
        found = ll.search(index, QUERIES, cell["model"])
        assert ll.evaluate(QRELS, found, ["AP"]).mean(cell["model"], "AP") == cell["mean"]


def test_an_effect_is_the_mean_difference_of_cells_that_differ_in_nothing_else() -> None:
    data = tried().data
    means = {(cell["stem"], cell["stop"], cell["model"]): cell["mean"] for cell in data["cells"]}
    stems, stops, weighting = data["effects"]
    pairs = [(stop, model) for stop in ("none", "basic") for model in MODELS]
    slow = sum(means["english", *pair] - means["none", *pair] for pair in pairs) / 4
    assert stems["difference"] == pytest.approx(slow)
    pairs = [(stem, model) for stem in ("none", "english") for model in MODELS]
    slow = sum(means[stem, "basic", model] - means[stem, "none", model] for stem, model in pairs) / 4
    assert stops["difference"] == pytest.approx(slow)
    pairs = [(stem, stop) for stem in ("none", "english") for stop in ("none", "basic")]
    slow = sum(means[*pair, "BM25"] - means[*pair, "TF(dot)"] for pair in pairs) / 4
    assert weighting["difference"] == pytest.approx(slow)


def test_intervals_are_students_of_queries() -> None:
    from scipy import stats

    rng = np.random.default_rng(0)
    grid = Grid("english", "basic", ["a", "b", "c"], rng.random((2, 2, 3, 12)))
    found = component_effects(grid)
    rows = COMPONENTS._test_effects(found)
    for row, column in zip(rows, found.differences.T, strict=True):
        test = stats.ttest_1samp(column, 0)
        low, high = test.confidence_interval(0.95)
        assert (row["low"], row["high"]) == pytest.approx((low, high))
        assert row["p"] == pytest.approx(test.pvalue)
        assert row["wins"] + row["ties"] + row["losses"] == 12


def test_effects_under_each_weighting_average_to_the_effect() -> None:
    rng = np.random.default_rng(1)
    grid = Grid("english", "basic", ["a", "b", "c"], rng.random((2, 2, 3, 5)))
    alone = effects_by_weighting(grid).differences
    whole = component_effects(grid).differences
    assert alone[:, :3].mean(axis=1) == pytest.approx(whole[:, 0])
    assert alone[:, 3:].mean(axis=1) == pytest.approx(whole[:, 1])


def test_the_contest_takes_the_weighting_that_adds_most() -> None:
    values = np.zeros((2, 2, 3, 4))
    values[:, :, 1], values[:, :, 2] = 0.1, 0.3
    values[1] += 0.2
    first, second, third = component_contrasts(Grid("s", "t", ["a", "b", "c"], values)).differences.mean(
        axis=0
    )
    assert (first, second, third) == pytest.approx((0.1, 0.3, 0.2))


def test_stop_words_that_drown_the_rest_are_seen_to_be_worth_removing() -> None:
    data = tried().data
    assert data["effects"][1]["difference"] > 0
    assert data["queries"] == 3
    assert best_of(data)[0] in ("stemming", "stop words", "weighting")


def test_what_no_query_feels_has_no_p_and_is_not_told_apart() -> None:
    found = COMPONENTS.run(
        {"d1": "x", "d2": "y"}, {"q1": "x", "q2": "y"}, {"q1": {"d1": 1}, "q2": {"d2": 1}}, model=MODELS
    )
    for row in found.data["effects"]:
        assert (row["difference"], row["told_apart"]) == (0.0, False)
        assert row["p"] is None or not math.isnan(row["p"])


def test_lines_tables_and_figures_say_the_same_components() -> None:
    found = tried()
    assert found.lines[0].startswith("stemming (none to english) changes AP by ")
    assert found.lines[-1].startswith("The best component is ")
    assert list(found.tables) == ["cells", "effects", "by_weighting", "contests"]
    assert [len(sheet.rows) for sheet in found.tables.values()] == [4, 3, 4, 3]
    assert list(found.figures) == ["effects"]
    assert any("that no document contains" in str(notice) for notice in found.warnings)


def test_one_weighting_and_nothing_against_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match=r"need at least 2 weightings \(--model\), not 1"):
        COMPONENTS.run(DOCS, QUERIES, QRELS, model=["BM25"])
    with pytest.raises(UsageError, match="cannot be none"):
        tried(stem="none")
    with pytest.raises(UsageError, match="stands for 2 measures"):
        tried(measure="P@5,10")
