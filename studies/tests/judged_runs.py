"""Runs of different quality in files, with complete judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

QUERIES = [f"q{number:02}" for number in range(30)]


def write_runs(folder: Path, skills: tuple[float, ...]) -> tuple[Any, np.random.Generator]:
    """Write a run per skill and the judgments of 60 documents per query; return the grades."""
    rng = np.random.default_rng(5)
    grades = rng.random((30, 60)) < 0.3
    for number, skill in enumerate(skills):
        scores = skill * grades + rng.normal(size=grades.shape)
        write_rows(folder / f"run{number}.run", "{query} Q0 d{one} 0 {value} r", scores)
    write_rows(folder / "truth.qrels", "{query} 0 d{one} {value:d}", grades)
    return grades, rng


def write_rows(path: Path, form: str, table: Any) -> None:
    """Write a line per query and document."""
    lines = [
        form.format(query=query, one=one, value=table[place, one])
        for place, query in enumerate(QUERIES)
        for one in range(60)
    ]
    path.write_text("\n".join(lines) + "\n")
