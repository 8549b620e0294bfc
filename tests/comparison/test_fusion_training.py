"""Trained weights of a fusion: the grid, the cross-validated value and the run without its own queries."""

from __future__ import annotations

import numpy as np
import pytest

import leadline as ll
from leadline.comparison.fusion_training import grid, train_fusion
from leadline.errors import UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.retrieval.fusion import fuse

Lists = dict[str, dict[str, float]]


def collection(seed: int, queries: int = 12) -> tuple[dict[str, dict[str, int]], dict[str, Lists]]:
    """Make judgments and three runs whose scores hold the grades and noise of different size."""
    generator = np.random.default_rng(seed)
    qrels = {
        f"q{q}": {f"d{d}": int(generator.integers(0, 3) == 2) for d in range(15)} for q in range(queries)
    }
    runs = {
        name: {
            query: {one: grade + float(generator.normal(0, noise)) for one, grade in grades.items()}
            for query, grades in qrels.items()
        }
        for name, noise in (("a", 0.6), ("b", 1.0), ("c", 2.0))
    }
    return qrels, runs


def test_the_chosen_weights_are_the_best_of_all_on_the_grid() -> None:
    qrels, runs = collection(1)
    found = train_fusion(runs, qrels, "AP", steps=4)
    means = {}
    for weights in grid(3, 4).tolist():
        means[tuple(weights)] = evaluate(qrels, fuse(runs, "CombSUM", weights=weights), "AP").means[0, 0]
    assert found.training == pytest.approx(max(means.values()), abs=1e-12)
    assert means[tuple(found.weights.values())] == pytest.approx(found.training, abs=1e-12)
    alone = evaluate(qrels, runs, "AP")
    assert found.alone == pytest.approx({name: alone.mean(name, "AP") for name in runs})


@pytest.mark.parametrize("method", ["CombSUM", "RRF", "Borda"])
def test_the_cross_validated_value_is_that_of_the_run_without_its_own_queries(method: str) -> None:
    qrels, runs = collection(2)
    found = train_fusion(runs, qrels, "AP", method=method, steps=3, folds=3, seed=7)
    assert evaluate(qrels, found.held_out, "AP").means[0, 0] == pytest.approx(
        found.cross_validated, abs=1e-12
    )
    assert evaluate(qrels, found.run, "AP").means[0, 0] == pytest.approx(found.training, abs=1e-12)
    assert found.optimism == pytest.approx(found.training - found.cross_validated)
    for fold in found.folds:  # weights of a fold are those that all other queries choose
        others = {query: grades for query, grades in qrels.items() if query not in fold["queries"]}
        best = train_fusion(runs, others, "AP", method=method, steps=3)
        assert list(best.weights.values()) == fold["weights"]
    assert sorted(query for fold in found.folds for query in fold["queries"]) == sorted(qrels)


def test_optimism_is_positive_on_average() -> None:
    optimism = []
    for seed in range(3, 11):
        qrels, runs = collection(seed)
        optimism.append(train_fusion(runs, qrels, "AP", steps=4).optimism)
    assert np.mean(optimism) > 0


def test_queries_without_judgments_have_the_weights_of_all_queries() -> None:
    qrels, runs = collection(4, 6)
    known = {query: qrels[query] for query in sorted(qrels)[:5]}
    found = train_fusion(runs, known, "AP", steps=2, folds=2)
    assert found.held_out["q5"] == found.run["q5"]
    assert [one.code for one in found.run.warnings] == ["learned"]
    assert found.held_out.warnings == []


def test_equal_means_choose_the_weights_nearest_to_equal_ones() -> None:
    run = {"q1": ["a", "b"], "q2": ["b", "a"]}
    found = ll.train_fusion({"x": run, "y": run}, {"q1": {"a": 1}, "q2": {"a": 1}}, "RR", method="RRF")
    assert found.weights == {"x": 0.5, "y": 0.5}
    assert found.optimism == 0


def test_too_many_weights_and_measures_without_a_mean_are_refused() -> None:
    qrels, runs = collection(5, 3)
    with pytest.raises(
        UsageError, match="5,151 weights of 3 runs in 100 steps; expected at most 5,000, as with 98"
    ):
        train_fusion(runs, qrels, "AP", steps=100)
    with pytest.raises(UsageError, match="'GMAP' is no mean of one value a query"):
        train_fusion(runs, qrels, "GMAP", steps=2)
    with pytest.raises(UsageError, match="which takes none"):
        train_fusion(runs, qrels, "AP", method="CombMAX")
