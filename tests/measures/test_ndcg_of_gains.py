"""nDCG with gains of one's own."""

from __future__ import annotations

import math

import pytest

from agreement import agree
from leadline.errors import UsageError
from leadline.measures import MEASURES
from leadline.measures.cumulated_gain import GnDCG
from oracles import Case, cut, divide

of = MEASURES.parse


def gain_of(case: Case, document: str, gains: str) -> float:
    """Give the gain of a document."""
    grade = case.grades.get(document, 0)
    table = {} if gains == "grade" else dict(part.split(":") for part in gains.split("/"))
    found = {float(key): float(gain) for key, gain in table.items()}
    return found.get(grade, max(grade, 0.0)) if document in case.grades else 0.0


def oracle(case: Case, *, gains: str, cutoff: int | None) -> float:
    """Add up the discounted gains of the list and of the best list."""
    listed = [gain_of(case, document, gains) for document in cut(case, cutoff)]
    best = sorted((gain_of(case, document, gains) for document in case.grades), reverse=True)
    best = [gain for gain in best if gain > 0][:cutoff]
    value, ideal = (
        sum(gain / math.log2(rank + 1) for rank, gain in enumerate(some, start=1))
        for some in (listed, best)
    )
    return divide(value, ideal)


def test_it_agrees_with_its_slow_twin() -> None:
    agree(
        "GnDCG", "GnDCG@2", "GnDCG(gains=1:3/2:9)", "GnDCG(gains=0:1/1:-1/3:0.5)@3",
        "GnDCG(gains=1:0/2:0/3:0)",
    )  # fmt: skip


def test_without_gains_it_is_ndcg() -> None:
    assert of("GnDCG@2").of([0, 1, 2]) == of("nDCG@2").of([0, 1, 2])


def test_grades_that_are_not_named_keep_their_gain() -> None:
    value = (3 + 2 / math.log2(3)) / (3 + 2 / math.log2(3))
    assert of("GnDCG(gains=1:3)").of([1, 2]) == value


def test_a_document_without_a_judgment_has_no_gain_whatever_grade_0_has() -> None:
    assert of("GnDCG(gains=0:1)").of([None, 0]) == pytest.approx(1 / math.log2(3))


def test_gains_are_written_in_one_way() -> None:
    assert str(of("GnDCG(gains=2:9/1:3.0)")) == "GnDCG(gains=1:3/2:9)"
    assert GnDCG(gains={1: 3, 2.0: 9}) == of("GnDCG(gains=1:3/2:9)")


@pytest.mark.parametrize("gains", ["1", "1:x", "1:2/1:3", "-1:2", "1:nan", "1:1e99", ""])
def test_other_gains_are_refused(gains: str) -> None:
    with pytest.raises(UsageError, match="expected grade, or gains of grades as in 1:3/2:9"):
        of(f"GnDCG(gains={gains})")
