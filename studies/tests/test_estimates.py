"""Pictures of estimates: against the truth, and by the number of systems."""

from __future__ import annotations

import numpy as np
import pytest

from leadline_studies.common.figures import against_truth, by_size
from whole_pictures import whole


@pytest.mark.parametrize("systems", [3, 143])
def test_the_best_by_either_order_are_named(systems: int) -> None:
    rng = np.random.default_rng(systems)
    truth = rng.random(systems) * 0.4
    estimate = truth + rng.normal(size=systems) * 0.05
    names = [f"team{place}-run-of-many-words" for place in range(systems)]
    figure = against_truth(estimate, truth, names, label="nruns")
    whole(figure)
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("MAP", "nruns")
    assert 3 <= len(axes.texts) <= 6


def test_systems_of_one_estimate_are_drawn_too() -> None:
    figure = against_truth([1.0, 1.0, 1.0], [0.1, 0.2, 0.3], ["a", "b", "c"], label="spoerri")
    whole(figure)


def test_every_method_has_a_line() -> None:
    lines = {
        name: [(size, 0.1 * place + 0.02 * turn) for turn, size in enumerate((5, 10, 20, 50, 100, 143))]
        for place, name in enumerate(("aslam-savell", "nruns", "reference-count", "soboroff", "spoerri"))
    }
    figure = by_size(lines)
    whole(figure)
    assert [line.get_label() for line in figure.axes[0].get_lines()]
    assert figure.axes[0].get_xscale() == "log"
