"""The study of models: tables and verdict on two families whose ends differ and whose best are alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.errors import UsageError
from leadline.studies import study

MODELS = study("difference-models")
QRELS = {"q": {"a": 1, "b": 1, "c": 1, "l": 0, "m": 0, "n": 0}}
GOOD = ["a", "b", "c", "n"]
# The best of both families are the same list; in between and at the ends they are far from it.
RUNS = {
    "x-1": ["n", "m", "a"], "x-2": GOOD, "x-3": ["l", "c"],
    "y-1": ["m", "b", "l", "c"], "y-2": GOOD, "y-3": ["n", "l", "a"],
}  # fmt: skip


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "grid.tsv"
    lines = [f"{name}\t{name[0]}\t{name[2]}\n" for name in RUNS]
    path.write_text("run\tfamily\tparameter\n" + "".join(lines))
    return str(path)


def test_best_runs_alike_and_grids_wide_is_what_the_paper_saw(table: str) -> None:
    runs = {name: {"q": found} for name, found in RUNS.items()}
    found = MODELS.run(QRELS, runs, family=f"{table}:family", parameter=f"{table}:parameter")
    assert found.data["families"]["x"]["best"] == "x-2"
    assert found.data["families"]["y"]["parameter"] == 2.0
    assert found.data["across"]["x and y"]["id"] == 0.0
    assert found.data["across"]["x and y"]["share_of_pairs_above"] == {"x": 1.0, "y": 1.0}
    assert found.lines[0].endswith("inside each: reproduced")
    assert set(found.figures) == {"parameter", "cumulative"}
    assert [len(sheet.rows) for sheet in found.tables.values()] == [2, 1]


def test_best_runs_apart_is_not_reproduced(table: str) -> None:
    runs = {name: {"q": found} for name, found in RUNS.items()}
    runs |= {"y-1": {"q": ["a"]}, "y-2": {"q": ["a", "l"]}, "y-3": {"q": ["a", "m"]}}
    found = MODELS.run(QRELS, runs, family=f"{table}:family", parameter=f"{table}:parameter")
    assert found.lines[0].endswith("not reproduced for y")


def test_one_family_or_a_family_of_one_is_refused(table: str) -> None:
    given = {"family": f"{table}:family", "parameter": f"{table}:parameter"}
    with pytest.raises(UsageError, match="1 family; expected two or more families"):
        MODELS.run(QRELS, {name: {"q": RUNS[name]} for name in ("x-1", "x-2")}, **given)
    with pytest.raises(UsageError, match="family 'y' has one run"):
        MODELS.run(QRELS, {name: {"q": RUNS[name]} for name in ("x-1", "x-2", "y-1")}, **given)
    with pytest.raises(UsageError, match="run 'z' has no family"):
        MODELS.run(QRELS, {"z": {"q": ["a"]}, "x-1": {"q": ["a"]}}, **given)


def test_a_parameter_that_is_no_number_is_refused(table: str) -> None:
    runs = {name: {"q": found} for name, found in RUNS.items()}
    with pytest.raises(UsageError, match="parameter 'x' of run 'x-1'; expected a number"):
        MODELS.run(QRELS, runs, family=f"{table}:family", parameter=f"{table}:family")
