"""The same run in files of several formats and in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leadline as ll

Run = dict[str, dict[str, float]]


def as_trec(run: Run) -> str:
    return "".join(f"{q} Q0 {d} 0 {s!r} t\n" for q, found in run.items() for d, s in found.items())


def by_document(run: Run) -> str:
    lines = as_trec(run).splitlines(keepends=True)
    return "".join(sorted(lines, key=lambda line: line.split()[2]))


def as_csv(run: Run) -> str:
    rows = "".join(f"{q},{d},{s!r}\n" for q, found in run.items() for d, s in found.items())
    return "query_id,doc_id,score\n" + rows


def _frame(run: Run, _path: Path) -> Any:
    arrow = pytest.importorskip("pyarrow")
    rows = [(q, d, s) for q, found in run.items() for d, s in found.items()]
    return arrow.table(
        {
            name: list(column)
            for name, column in zip(("qid", "docno", "score"), zip(*rows, strict=True), strict=True)
        }
    )


def _file(name: str, text: Callable[[Run], str]) -> Callable[[Run, Path], Any]:
    def write(run: Run, folder: Path) -> Path:
        path = folder / name
        path.write_text(text(run))
        return path

    return write


SOURCES: dict[str, Callable[[Run, Path], Any]] = {
    "trec": _file("a.run", as_trec),
    "csv": _file("a.csv", as_csv),
    "json": _file("a.json", json.dumps),
    "dictionary": lambda run, _: run,
    "frame": _frame,
    "run": lambda run, _: ll.read_run(run),
    "rows": lambda run, _: [(q, d, s) for q, found in run.items() for d, s in found.items()],
    "mixed lines": _file("b.run", by_document),
}
