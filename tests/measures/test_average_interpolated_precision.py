"""Interpolated precision averaged over recall levels."""

from __future__ import annotations

import pytest

from agreement import agree, undefined
from leadline.errors import UsageError
from leadline.measures import MEASURES
from leadline.measures.average_precision import AvgIPrec
from oracles import Case, interpolated_precision

of = MEASURES.parse


def oracle(case: Case, *, rule: str, levels: str, rel: float) -> float:
    """Take the mean of interpolated precision, level by level."""
    texts = [f"{tenth / 10}" for tenth in range(11)] if levels == "eleven" else levels.split("/")
    values = [
        interpolated_precision(case, rule=rule, rel=rel, recall=float(level)) for level in texts
    ]
    return sum(values) / len(values)


def test_it_agrees_with_its_slow_twin() -> None:
    agree(
        "AvgIPrec", "AvgIPrec(rel=2)", "AvgIPrec(rule=trec9)", "11pt_avg",
        "AvgIPrec(levels=0.25/0.5/0.75)", "AvgIPrec(rule=trec10,levels=0.2/0.5/0.8)",
    )  # fmt: skip


def test_a_perfect_list_has_1() -> None:
    assert of("AvgIPrec").of([1, 1, 0]) == 1


def test_it_is_undefined_where_nothing_is_relevant() -> None:
    assert undefined(of("AvgIPrec").of([0]))


def test_the_versions_of_trec_eval_ask_for_different_numbers_of_documents() -> None:
    """With 7 relevant, level 0.2 asks for 2 in version 9 (1.4 + 0.9) and for 1 (1.4) in version 10."""
    grades = [1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1]
    nine, ten = (
        of(f"AvgIPrec(rule={rule})").of(grades, [1] * 7 + [0] * 8) for rule in ("trec9", "trec10")
    )
    assert nine == pytest.approx(
        (1 + 1 + 2 / 3 + 4 / 7 + 4 / 7 + 4 / 7 + 5 / 10 + 5 / 10 + 6 / 14) / 11
    )
    assert ten == pytest.approx(
        (1 + 1 + 1 + 2 / 3 + 4 / 7 + 4 / 7 + 4 / 7 + 5 / 10 + 6 / 14 + 6 / 14) / 11
    )


def test_levels_are_written_in_one_way() -> None:
    assert str(of("AvgIPrec(levels=.25/.5)")) == "AvgIPrec(levels=0.25/0.5)"
    eleven = tuple(tenth / 10 for tenth in range(11))
    assert AvgIPrec(levels=eleven) == AvgIPrec()


@pytest.mark.parametrize("levels", ["1.5", "0.1/", "x", "eleven/0.1"])
def test_other_levels_are_refused(levels: str) -> None:
    with pytest.raises(UsageError, match="expected eleven, or levels from 0 to 1"):
        of(f"AvgIPrec(levels={levels})")
