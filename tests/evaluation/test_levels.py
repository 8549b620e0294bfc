"""The level of relevance is a grade, and no level of significance."""

from __future__ import annotations

from pathlib import Path

import pytest

import leadline as ll
from conftest import REPOSITORY, Leadline

EXAMPLES = REPOSITORY / "docs" / "examples"
WHOLE, RUN = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 0.5}}


def test_a_level_between_0_and_1_is_refused_with_whole_grades() -> None:
    for level in (0.01, 0.05, 0.5, 0.99):
        with pytest.raises(ll.UsageError, match="grade"):
            ll.evaluate(WHOLE, RUN, "AP", rel=level)
        with pytest.raises(ll.UsageError, match="grade"):
            ll.compare(WHOLE, {"a": RUN, "b": RUN}, measures="AP", rel=level)
    with pytest.raises(ll.UsageError, match=r"\(in Python, `compare` with `confidence=0\.95`\)"):
        ll.evaluate(WHOLE, RUN, "AP", rel=0.05)
    for level in (0, 1, 2, 1.5):
        assert ll.evaluate(WHOLE, RUN, "AP", rel=level).measures
    assert ll.evaluate({"q": {"a": 0.5, "b": 0.0}}, RUN, "AP", rel=0.5).mean("run", "AP") == 1.0


@pytest.mark.parametrize(
    ("grades", "told"), [((1, 1), "grade 1 "), ((1.5, 1.5), "grade 1.5"), ((1, 1.5), "1 to 1.5")]
)
def test_grades_below_2_that_count_as_relevant_are_named(grades: tuple[float, float], told: str) -> None:
    qrels = {"q": dict(zip("abc", (*grades, 2), strict=True))}
    found = ll.evaluate(qrels, RUN, "AP").warnings
    assert [told in str(one) for one in found if one.code == "grade_one_relevant"] == [True]


def test_a_measure_with_a_level_of_its_own_is_not_said_to_count_grade_1() -> None:
    qrels = {"q": {"a": 1, "b": 2}}
    found = ll.evaluate(qrels, RUN, ["AP", "P(rel=2)@5", "RR"]).warnings
    (said,) = (str(one) for one in found if one.code == "grade_one_relevant")
    assert "relevant for AP and RR (" in said


@pytest.mark.parametrize("command", ["evaluate", "compare", "rank", "report", "curve", "difference"])
def test_what_was_meant_as_significance_is_answered_with_its_option(
    command: str, tmp_path: Path, leadline: Leadline
) -> None:
    page = ["-o", tmp_path / "page.html"] if command == "report" else []
    files = [EXAMPLES / name for name in ("qrels.txt", "bm25.run", "dense.run")]
    assert "--confidence 0.99" in leadline(command, *files, "-l", "0.01", *page).refusal
