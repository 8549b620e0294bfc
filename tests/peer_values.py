"""Values of other programs on random judgments and runs, by measure and query."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from leadline.evaluation.evaluate import evaluate

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def random_graded(seed: int, largest: int, *, lowest: int = -2) -> tuple[Qrels, Run]:
    """Return judgments and a run without ties; query ids are numbers, each has something relevant."""
    random = np.random.default_rng(seed)
    names = [f"d{number}" for number in range(60)]
    qrels: Qrels = {}
    run: Run = {}
    for query in map(str, range(1, 9)):
        judged = random.choice(names, size=random.integers(1, 40), replace=False).tolist()
        grades = random.integers(lowest, largest + 1, size=len(judged)).tolist()
        grades[0] = largest
        found = random.choice(names, size=random.integers(1, 60), replace=False).tolist()
        qrels[query] = dict(zip(judged, grades, strict=True))
        run[query] = {name: float(-place) for place, name in enumerate(found)}
    return qrels, run


def by_ir_measures(text: str, qrels: Any, run: Run) -> dict[str, float]:
    """Return the values of ir_measures by query."""
    package: Any = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    measure = package.parse_measure(text)
    return {found.query_id: found.value for found in package.iter_calc([measure], qrels, run)}


def same_as_ir_measures(ours: str, theirs: str, qrels: Qrels, run: Run, *, to: float = 0.0) -> None:
    """Assert that every value of ir_measures is ours; `to` is half the last digit that it prints."""
    found = evaluate(qrels, run, ours)
    wanted = by_ir_measures(theirs, qrels, run)
    assert wanted
    for query, value in wanted.items():
        mine = found.value("run", query, found.measures[0])
        close = pytest.approx(value, rel=0.0 if to else 1e-12, abs=to or 1e-12)
        assert not math.isnan(mine)
        assert mine == close, (ours, query)
