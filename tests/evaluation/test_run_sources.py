"""What stands for one run and what for several."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # its stubs are another package
import polars as pl
import pytest

import leadline as ll
from leadline.errors import UsageError

QRELS = {"q1": {"d1": 1, "d2": 0}}
A, B = {"q1": {"d1": 2.0, "d2": 1.0}}, {"q1": {"d1": 1.0, "d2": 2.0}}
ROWS = [("q1", "d2", 2.0), ("q1", "d1", 1.0)]


def paths(folder: Path) -> list[Path]:
    for name, run in (("a", A), ("b", B)):
        ll.write_run(run, folder / f"{name}.run")
    return [folder / "a.run", folder / "b.run"]


@pytest.mark.parametrize(
    "several",
    [
        iter,
        deque,
        lambda found: (path for path in found),
        lambda found: map(str, found),
        lambda found: dict.fromkeys(found).keys(),
        lambda found: pd.Series(list(map(str, found))),
        lambda found: (ll.Run(path) for path in found),
        lambda found: found[0].parent.glob("*.run"),
    ],
    ids=["iterator", "deque", "generator", "map", "keys", "series", "runs", "glob"],
)
def test_any_iterable_of_paths_is_a_list_of_runs(several: Callable[[Any], Any], tmp_path: Path) -> None:
    found = paths(tmp_path)
    results = ll.evaluate(QRELS, several(found), "RR")
    assert {name: results.mean(name, "RR") for name in results.names} == {"a": 1.0, "b": 0.5}
    assert sorted(ll.compare(QRELS, several(found), "RR").results.names) == ["a", "b"]


def test_dictionaries_and_frames_of_a_generator_are_runs() -> None:
    frame = pl.DataFrame(ROWS, schema=["query_id", "doc_id", "score"], orient="row")
    for one in (B, frame, ROWS, ll.Run(B, name="run")):
        assert ll.evaluate(QRELS, (run for run in [one]), "RR").means.tolist() == [[0.5]]


@pytest.mark.parametrize("row", [tuple, lambda row: dict(zip(("qid", "docno", "score"), row, strict=True))])
def test_an_iterator_of_rows_is_one_run(row: Callable[[Any], Any]) -> None:
    assert ll.evaluate(QRELS, map(row, ROWS), "RR").means.tolist() == [[0.5]]
    unjudged = ll.evaluate({"q1": {"d9": 1}}, map(row, ROWS), "RR")
    assert unjudged.means.tolist() == [[0.0]]


@pytest.mark.parametrize("runs", [[A, B], (A, B), iter([A, B])], ids=["list", "tuple", "iterator"])
def test_runs_without_names_are_numbered(runs: Any) -> None:
    results = ll.evaluate(QRELS, runs, "RR")
    assert {name: results.mean(name, "RR") for name in results.names} == {"run 1": 1.0, "run 2": 0.5}


def test_runs_stand_before_the_first_measure(tmp_path: Path) -> None:
    new, _ = paths(tmp_path)
    wanted: list[str | ll.Measure] = ["P@1", ll.MEASURES.parse("AP")]
    results = ll.evaluate(QRELS, {"old": B}, new, A, "RR", wanted)
    assert results.names == ["old", "a", "run 3"]
    assert list(map(str, results.measures)) == ["RR", "P@1", "AP"]
    assert ll.compare(QRELS, A, B, "RR").names == ["run 1", "run 2"]
    assert ll.evaluate(QRELS, runs=A, measures="RR").names == ["run"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["nDGC@10"], "'nDGC@10' is neither a file nor a measure. Did you mean nDCG@10"),
        (["RR", A], "a run follows measure 'RR'"),
        ([["RR", "runs/a.run"]], "one list contains both runs and measures (runs/a.run is a run)"),
        ([A, ["RR", "nothing at all"]], "'nothing' is neither a file nor a measure. 'at' is"),
        (["RR"], "evaluate(qrels, runs)"),
        ([A, [5]], "5 is not a measure"),
        ([A, 0.5], "0.5 is not a measure"),
        ([A, ["P", np.int64(5)]], "is not a measure"),
        ([A, []], "no measures were given. Pass at least one measure"),
        ([A, "rbo"], "measure 'rbo' is not computed here. Use `difference(qrels, runs)`"),
    ],
)
def test_what_is_neither_run_nor_measure_is_refused(given: list[Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        ll.evaluate(QRELS, *given)


def test_runs_given_twice_are_refused() -> None:
    with pytest.raises(UsageError, match="only once"):
        ll.evaluate(QRELS, A, runs=B)
    with pytest.raises(UsageError, match="measures"):
        ll.compare(QRELS, A, B, "RR", measures="AP")


def test_runs_of_one_name_are_refused_with_the_dictionary_that_names_them() -> None:
    with pytest.raises(UsageError, match=r"two runs are both named 'x'\. Give them different names, as in"):
        ll.compare(QRELS, [ll.Run(A, name="x"), ll.Run(B, name="x")], "RR")
    assert ll.evaluate(QRELS, {"A": A, "B": B}, "RR").names == ["A", "B"]
