"""The study of samples: a full sample weighted is exact, and every estimate stands beside the others."""

from __future__ import annotations

import pytest
from test_histogram_ranks import made

from leadline.errors import UsageError
from leadline.plots import picture
from leadline.plots.by_sample import by_sample
from leadline.studies import study

SAMPLE = study("histogram-sample")


def test_the_weighted_measure_of_a_full_sample_is_exact_and_small_ones_are_beside_it() -> None:
    found = SAMPLE.run(*made(8), samples="5,108", draws=20)
    weighted = found.data["estimates"]["AP weighted"]
    assert weighted[1]["pearson"]["value"] == pytest.approx(1)
    assert weighted[1]["mean"] == pytest.approx(found.data["mean_exact"])
    as_is = found.data["estimates"]["AP as sampled"]
    assert as_is[1]["mean"] == pytest.approx(found.data["mean_exact"])
    assert as_is[0]["mean"] > weighted[0]["mean"] > found.data["mean_exact"]
    assert len(found.lines) == 2
    assert len(found.tables["tracking"].rows) == 10
    assert SAMPLE.run(*made(8), samples="5,108", draws=20).data == found.data


def test_samples_must_be_numbers() -> None:
    for samples in ("", "x", "10,0", "10;20"):
        with pytest.raises(UsageError, match="expected whole numbers with commas"):
            SAMPLE.run(*made(3), samples=samples)


def test_undefined_values_are_gaps() -> None:
    drawn = by_sample({"a": [(10, 0.5), (30, float("nan")), (100, 0.7)]}, label="R")
    assert picture(drawn, "svg").startswith(b"<?xml")
