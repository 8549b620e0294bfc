"""The study of models: tables and verdict on two families whose ends differ and whose best are alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import InputError, UsageError
from leadline.io.objects import read_qrels
from leadline_studies import study
from leadline_studies.difference_models.study import grid_in_names, pooled_judgments

MODELS = study("difference-models")
QRELS = {"q": {"a": 1, "b": 1, "c": 1, "l": 0, "m": 0, "n": 0}}
GOOD = ["a", "b", "c", "n"]
# The best of both families are the same list; in between and at the ends they are far from it.
RUNS = {
    "x-1": ["n", "m", "a"],
    "x-2": GOOD,
    "x-3": ["l", "c"],
    "y-1": ["m", "b", "l", "c"],
    "y-2": GOOD,
    "y-3": ["n", "l", "a"],
}


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
    assert found.lines[0].endswith("each family: reproduced")
    assert set(found.figures) == {"parameter", "cumulative"}
    assert [len(sheet.rows) for sheet in found.tables.values()] == [2, 1]


def test_parameters_in_the_names_of_runs_are_those_of_a_table(table: str) -> None:
    runs = {name: {"q": found} for name, found in RUNS.items()}
    given = MODELS.run(QRELS, runs, family=f"{table}:family", parameter=f"{table}:parameter").data
    found = MODELS.run(QRELS, runs).data
    assert list(found["families"]) == ["x-*", "y-*"]
    assert list(found["families"].values()) == list(given["families"].values())
    with pytest.raises(UsageError, match="--family needs --parameter"):
        MODELS.run(QRELS, runs, family=f"{table}:family")


def test_names_that_differ_in_two_numbers_say_no_parameter() -> None:
    names = ["k1_0.9-b_0.4", "k1_1.2-b_0.75"]
    assert grid_in_names(names) == ({}, {})
    assert grid_in_names([*names, "lm-100", "lm-200"])[1] == {"lm-100": "100", "lm-200": "200"}


def test_best_runs_apart_is_not_reproduced(table: str) -> None:
    runs = {name: {"q": found} for name, found in RUNS.items()}
    runs |= {"y-1": {"q": ["a"]}, "y-2": {"q": ["a", "l"]}, "y-3": {"q": ["a", "m"]}}
    found = MODELS.run(QRELS, runs, family=f"{table}:family", parameter=f"{table}:parameter")
    assert found.lines[0].endswith("not reproduced for y")


def test_one_family_or_a_family_of_one_is_refused(table: str) -> None:
    grid = {"family": f"{table}:family", "parameter": f"{table}:parameter"}
    with pytest.raises(UsageError, match="need at least two families of two runs, but there is one family"):
        MODELS.run(QRELS, {name: {"q": RUNS[name]} for name in ("x-1", "x-2")}, **grid)
    with pytest.raises(UsageError, match="family 'y' has one run"):
        MODELS.run(QRELS, {name: {"q": RUNS[name]} for name in ("x-1", "x-2", "y-1")}, **grid)
    with pytest.raises(UsageError, match="run 'z' has no family"):
        MODELS.run(QRELS, {"z": {"q": ["a"]}, "x-1": {"q": ["a"]}}, **grid)


def test_a_parameter_that_is_no_number_is_refused(table: str) -> None:
    runs = {name: {"q": found} for name, found in RUNS.items()}
    with pytest.raises(UsageError, match="the parameter of run 'x-1' must be a number, not 'x'"):
        MODELS.run(QRELS, runs, family=f"{table}:family", parameter=f"{table}:family")


def test_a_pool_judges_only_the_first_documents_of_the_runs(table: str) -> None:
    runs = {name: {"q": found} for name, found in RUNS.items()}
    grid = {"family": f"{table}:family", "parameter": f"{table}:parameter"}
    only_relevant = {"q": {"a": 1, "b": 1, "c": 1}}
    # first documents: n, a, l of both families and m; first two: b and c too
    first = {"q": {"a": 1, "l": 0, "m": 0, "n": 0}}
    shallow = MODELS.run(only_relevant, runs, pool=1, **grid)
    assert shallow.data == MODELS.run(first, runs, **grid).data
    assert shallow.options is not None
    assert shallow.options["pool"] == 1
    deep = MODELS.run(only_relevant, runs, pool=2, **grid)
    assert deep.data == MODELS.run(QRELS, runs, **grid).data
    assert deep.data["families"] != shallow.data["families"]


def test_a_pool_can_be_made_of_runs_that_are_read_once(table: str) -> None:
    grid = {"family": f"{table}:family", "parameter": f"{table}:parameter", "pool": 1}
    lists = {name: [("q", one, 9.0 - rank) for rank, one in enumerate(found)] for name, found in RUNS.items()}
    once = {name: iter(rows) for name, rows in lists.items()}
    runs = {name: {"q": found} for name, found in RUNS.items()}
    assert MODELS.run(QRELS, once, **grid).data == MODELS.run(QRELS, runs, **grid).data


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 2), max_size=4),
    st.lists(st.permutations("abcdef").map(lambda one: one[:4]), min_size=1, max_size=4),
    st.integers(1, 5),
)
def test_a_pool_is_the_union_of_the_first_documents(
    grades: dict[str, int], lists: list[list[str]], depth: int
) -> None:
    truth = read_qrels({"q": {"z": 1} | grades, "not run": {"a": 1}})
    runs = {f"run{place}": {"q": found, "not judged": found} for place, found in enumerate(lists)}
    union = {name for found in lists for name in found[:depth]}
    wanted = {"q": {name: grades.get(name, 0) for name in union}}
    assert pooled_judgments(truth, runs, depth).to_dict() == wanted


def test_a_pool_that_makes_no_sense_is_refused(table: str, tmp_path: Path) -> None:
    runs = {name: {"q": found} for name, found in RUNS.items()}
    grid = {"family": f"{table}:family", "parameter": f"{table}:parameter"}
    (tmp_path / "docs.txt").write_text("a\nb\n")
    with pytest.raises(UsageError, match="use only one of --pool and --complete"):
        MODELS.run(QRELS, runs, pool=1, complete=str(tmp_path / "docs.txt"), **grid)
    with pytest.raises(UsageError, match="pool must be"):
        MODELS.run(QRELS, runs, pool=0, **grid)
    with pytest.raises(InputError, match="no query of the runs is judged"):
        MODELS.run({"other": {"a": 1}}, runs, pool=1, **grid)
