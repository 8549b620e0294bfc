"""The study of samples: a full sample weighted is exact, and every estimate stands beside the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leadline as ll
from leadline.errors import InputError, UsageError
from leadline.stats.correlation import pearson
from leadline_studies import study
from leadline_studies.histogram_sample.study import ESTIMATES, best_slope, correlation_with_ap
from tests.test_histogram_ranks import made

SAMPLE = study("histogram-sample")


def test_the_weighted_measure_of_a_full_sample_is_exact_and_small_ones_are_beside_it() -> None:
    found = SAMPLE.run(*made(8), samples="5,108", repeats=3, draws=20)
    cells = [(one["share"], one["sample"]) for one in found.data["estimates"]["AP weighted"]]
    assert cells == [(share, n) for share in (0.25, 0.5, 0.75, 1.0) for n in (5, 108)]
    whole = {name: each[-1] for name, each in found.data["estimates"].items()}
    assert whole["AP weighted"]["pearson"]["value"] == pytest.approx(1)
    assert whole["AP weighted"]["mean"] == pytest.approx(found.data["mean_exact"])
    assert whole["AP as sampled"]["mean"] == pytest.approx(found.data["mean_exact"])
    small = {name: each[-2] for name, each in found.data["estimates"].items()}
    assert small["AP as sampled"]["mean"] > small["AP weighted"]["mean"] > found.data["mean_exact"]
    assert len(found.lines) == 3
    assert len(found.tables["tracking"].rows) == 40
    assert set(found.figures) == {"tracking", "shares"}
    again = SAMPLE.run(*made(8), samples="5,108", repeats=3, draws=20)
    assert again.data == found.data


def test_with_all_relevant_documents_one_sample_gives_what_the_functions_give() -> None:
    qrels, runs = made(6)
    found = SAMPLE.run(qrels, runs, samples="9", shares="100", repeats=1, draws=0, seed=4)
    exact = ll.evaluate(qrels, runs, "AP").means[:, 0]
    options: dict[str, Any] = {"sample": 9, "seed": 4, "draws": 0}
    scores = ll.histogram(qrels, runs, **options)
    wanted = {
        "HSA, scores": scores.hsa,
        "HSA, robust": scores.hsa_robust,
        "HSA, ranks": ll.histogram(qrels, runs, from_ranks=True, **options).hsa,
        "AP weighted": ll.sampled(qrels, runs, "AP", correction="none", **options).means[:, 0],
    }
    for name, values in wanted.items():
        one = found.data["estimates"][name][0]
        assert one["pearson"]["value"] == pytest.approx(pearson(exact, values)), name
        assert one["pearson"]["low"] is None
        assert one["mean"] == pytest.approx(values.mean())


def test_fewer_relevant_documents_track_worse() -> None:
    found = SAMPLE.run(*made(12), samples="30", shares="10,100", repeats=4, draws=8)
    few, all_of_them = found.data["estimates"]["HSA, scores"]
    assert few["pearson"]["value"] < all_of_them["pearson"]["value"]


def test_samples_and_shares_must_be_numbers() -> None:
    for samples in ("", "x", "10,0", "10;20"):
        with pytest.raises(UsageError, match=r"samples .*Give positive integers"):
            SAMPLE.run(*made(3), samples=samples)
    with pytest.raises(UsageError, match="Give percentages from 1 to 100"):
        SAMPLE.run(*made(3), shares="50,101")
    with pytest.raises(UsageError, match="repeats must be"):
        SAMPLE.run(*made(3), repeats=0)
    with pytest.raises(UsageError, match="need at least 3 runs, not 2"):
        SAMPLE.run(*made(2), samples="5", repeats=1, draws=0)


def test_infinite_scores_are_refused() -> None:
    qrels, runs = made(3)
    runs["r00"]["q0"]["d000"] = float("inf")
    with pytest.raises(InputError, match="'q0' has a score of inf"):
        SAMPLE.run(qrels, runs, samples="5", repeats=1, draws=0)


def test_one_query_is_not_enough() -> None:
    qrels, runs = made(3)
    with pytest.raises(UsageError, match="need at least 2 queries with relevant documents, not 1"):
        SAMPLE.run({"q0": qrels["q0"]}, runs)


def test_systems_without_a_value_are_left_out_and_counted() -> None:
    rng = np.random.default_rng(0)
    exact = rng.random((6, 2, 3))
    values = exact * 2
    values[1] = np.nan
    found = correlation_with_ap(exact, values, np.zeros((2, 3)))
    assert found["undefined"] == 1
    assert found["pearson"]["value"] == found["over_ap"]["value"] == pytest.approx(1)
    assert found["mean"] == pytest.approx(np.median(np.nanmean(values[:, :, 0], axis=0)))
    nothing = correlation_with_ap(exact, np.full(exact.shape, np.nan), np.zeros((2, 3)))
    assert nothing["pearson"] == dict.fromkeys(nothing["pearson"])
    assert nothing["mean"] is None


def test_the_better_slope_is_set_against_ap_and_an_undefined_one_never_wins() -> None:
    def cell(value: float | None, over: float | None) -> dict[str, object]:
        return {
            "share": 1.0,
            "sample": 5,
            "pearson": {"value": value},
            "over_ap": {"value": over, "low": over, "high": over},
        }

    data = {name: [cell(0.5, 0.0)] for name in ESTIMATES}
    data |= {"HSA, scores": [cell(None, None)], "HSA, ranks": [cell(-0.2, -0.7)]}
    assert best_slope(data, 0)[0] == "HSA, ranks"
    data["HSA, scores"] = [cell(0.8, 0.3)]
    lines = SAMPLE.lines({"estimates": data, "shares": [1.0], "runs": 15})
    assert lines[0].endswith("the claim holds")
    assert (
        "no verdict, because at least 15 runs are needed"
        in SAMPLE.lines({"estimates": data, "shares": [1.0], "runs": 14})[0]
    )
    assert "in 1 of 1 cell, significantly" in lines[1]
    assert "in 1, and significantly worse in 0" in lines[1]
