"""An argument of a wrong type ends every public function with one line that names it, or is taken."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leadline as ll

QRELS = {f"q{query}": {"d1": 1, "d2": 0, "d3": query % 2} for query in range(6)}
RUNS = {
    "a": {query: {"d1": 3.0, "d2": 2.0, "d3": 1.0} for query in QRELS},
    "b": {query: {"d2": 3.0, "d3": 2.0, "d1": 1.0} for query in QRELS},
}
DOCUMENTS = {"d1": "two wings", "d2": "heat of wings", "d3": "slow heat"}
QUERIES = {"q0": "wings", "q1": "heat"}
WRONG: dict[str, Any] = {
    "None": None,
    "5": 5,
    "x": "x",
    "bytes": b"x",
    "object": object(),
    "nan": math.nan,
    "[]": [],
    "{}": {},
    "[None]": [None],
    "{1: 2}": {1: 2},
}


def calls() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return every public function with arguments that it takes."""
    index = ll.build_index(DOCUMENTS)
    judged = {"qrels": QRELS, "runs": RUNS}
    return {
        "Qrels": (ll.Qrels, {"data": QRELS}),
        "Run": (ll.Run, {"data": RUNS["a"]}),
        "abtest": (ll.abtest, {"a": (30, 1000), "b": (50, 1000)}),
        "agreement": (ll.agreement, {"judges": {"x": QRELS, "y": QRELS}, "draws": 20}),
        "build_index": (ll.build_index, {"documents": DOCUMENTS}),
        "check": (ll.check, {"files": []}),
        "compare": (ll.compare, judged),
        "correlate": (
            ll.correlate,
            {"truth": {"a": 1, "b": 2, "c": 4}, "estimate": {"a": 1, "b": 3, "c": 2}, "draws": 20},
        ),
        "curve": (ll.curve, judged),
        "difference": (ll.difference, judged),
        "evaluate": (ll.evaluate, judged),
        "explain": (ll.explain, {"qrels": QRELS, "run": RUNS["a"], "measure": "AP", "query": "q1"}),
        "histogram": (ll.histogram, {**judged, "draws": 20}),
        "open_index": (ll.open_index, {"path": "none"}),
        "pool": (ll.pool, {"runs": RUNS}),
        "predict": (ll.predict, {"runs": RUNS}),
        "read_documents": (lambda **given: list(ll.read_documents(**given)), {"source": DOCUMENTS}),
        "read_qrels": (ll.read_qrels, {"source": QRELS}),
        "read_queries": (ll.read_queries, {"source": QUERIES}),
        "read_run": (ll.read_run, {"source": RUNS["a"]}),
        "sampled": (ll.sampled, {"qrels": QRELS, "scores": RUNS, "population": 100, "draws": 5}),
        "score": (ll.score, {"index": index, "queries": QUERIES, "pairs": [("q0", "d1")], "models": "BM25"}),
        "search": (ll.search, {"index": index, "queries": QUERIES, "models": "BM25"}),
        "unjudged": (ll.unjudged, {"runs": RUNS}),
        "write_qrels": (ll.write_qrels, {"qrels": QRELS, "path": "qrels.txt"}),
        "write_run": (ll.write_run, {"run": RUNS["a"], "path": "run.txt"}),
        "plot": (ll.evaluate(QRELS, RUNS).plot, {}),
        "plot of a comparison": (ll.compare(QRELS, RUNS).plot, {}),
    }


CALLS = calls()


def parameters(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters, those of `**options` too."""
    names = []
    for name, each in inspect.signature(function).parameters.items():
        kind = re.fullmatch(r"Unpack\[(\w+)\]", str(each.annotation))
        if kind:
            whole = inspect.unwrap(function)
            if isinstance(whole, type):
                whole = vars(whole)["__init__"]
            names += list(whole.__globals__[kind[1]].__annotations__)
        elif each.kind is not each.VAR_KEYWORD:
            names.append(name)
    return names


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_type_is_refused_by_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    function, given = CALLS[name]
    named = getattr(ll, name, function)
    bad = []
    for parameter in parameters(named):
        for label, value in WRONG.items():
            try:
                function(**(given | {parameter: value}))
            except (ll.LeadlineError, TypeError) as error:
                text = str(error)
                fine = isinstance(error, ll.LeadlineError) or parameter in text
                if not fine or "\n" in text:
                    bad.append(f"{parameter}={label}: {type(error).__name__}: {text}")
            except Exception as error:  # noqa: BLE001  # what must not be
                bad.append(f"{parameter}={label}: {type(error).__name__}: {error}")
    assert not bad, "\n".join(bad)


Call = tuple[str, dict[str, Any], str]
REFUSED: list[Call] = [
    ("plot", {"labels": 5}, "labels must be"),
    ("pool", {"method": 5}, "method must be text"),
    ("unjudged", {"method": 5}, "method must be text"),
    ("predict", {"index": 5, "queries": QUERIES}, "path must be text or a path"),
    ("difference", {"cutoff": math.nan}, "cutoff must be a whole number"),
    ("abtest", {"a": (math.nan, 4)}, r"a must be a tuple \(a whole number, a whole"),
    ("evaluate", {"on_run": 5}, "on_run must be a function"),
    ("evaluate", {"queries": ["q1"]}, "queries must be"),
]


@pytest.mark.parametrize(("name", "wrong", "says"), REFUSED)
def test_the_refusal_names_argument_value_and_expectation(
    name: str, wrong: dict[str, Any], says: str
) -> None:
    function, given = CALLS[name]
    with pytest.raises(ll.UsageError, match=f"^{says}"):
        function(**(given | wrong))
