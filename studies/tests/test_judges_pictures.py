"""Pictures of judges: every two as a map, each with a reference, systems under each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leadline.charts.agreement_plots import WRITTEN, against_reference, between_judges
from leadline.errors import UsageError
from leadline_studies.common.figures import by_judge
from whole_pictures import whole

NUMBERS = [2, 5, 12, 13, 34, 143]


def kappas(judges: int) -> Any:
    rng = np.random.default_rng(judges)
    table = rng.uniform(0, 1, (judges, judges))
    return (table + table.T) / 2


@pytest.mark.parametrize("judges", NUMBERS)
def test_the_map_is_whole_with_few_and_many(judges: int) -> None:
    names = [f"team-{place % 7}-judge-number-{place}" for place in range(judges)]
    figure = between_judges(names, kappas(judges))
    whole(figure)
    written = [text.get_text() for text in figure.axes[0].texts]
    assert len(written) == (judges * (judges - 1) if judges <= WRITTEN else 0)


def test_the_judge_who_agrees_most_comes_first_and_nobody_is_compared_with_himself() -> None:
    table = [[1, 0.1, 0.2], [0.1, 1, 0.9], [0.2, 0.9, 1]]
    figure = between_judges(["a", "b", "c"], table)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["c", "b", "a"]
    drawn: Any = figure.axes[0].images[0].get_array()
    assert np.isnan(drawn.filled(np.nan).diagonal()).all()


@pytest.mark.parametrize("judges", NUMBERS)
def test_judges_against_a_reference_are_whole(judges: int) -> None:
    values = np.linspace(0.9, -0.1, judges)
    values[-1] = np.nan
    figure = against_reference(
        [f"team-{place % 7}-judge-number-{place}" for place in range(judges)],
        values,
        values - 0.1,
        values + 0.1,
        label="Cohen's kappa with people",
    )
    whole(figure)


@pytest.mark.parametrize(("judges", "systems"), [(2, 3), (9, 37), (34, 143)])
def test_systems_under_judges_are_whole(judges: int, systems: int) -> None:
    values = np.random.default_rng(1).uniform(0.1, 0.5, (judges, systems))
    figure = by_judge([f"judge-number-{place}" for place in range(judges)], values, label="mean AP")
    whole(figure)
    assert (np.diff(figure.axes[0].lines[0].get_ydata()) <= 0).all()


def test_tables_of_another_shape_are_refused() -> None:
    with pytest.raises(UsageError, match="expected judges x judges"):
        between_judges(["a", "b"], [[1.0]])


@pytest.mark.parametrize("judges", [20, 150])
def test_every_judge_is_named_unless_the_figure_is_too_small(judges: int) -> None:
    names = [f"judge{place}" for place in range(judges)]
    named = between_judges(names, kappas(judges)).axes[0].get_yticklabels()
    assert {text.get_text().split()[0] for text in named} == set(names)
    small = between_judges(names, kappas(judges), width=1.2).axes[0]
    assert not small.get_yticklabels()
    assert f"{judges} judges" in small.get_ylabel()
