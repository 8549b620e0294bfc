"""The loops behind two tables of the study of estimates, in their smallest form, on real runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline_studies.estimate import doubts


@pytest.mark.slow
def test_labels_that_are_the_judgments_are_found_and_others_are_not(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doubts, "LABEL_DRAWS", 1)
    monkeypatch.setattr(doubts, "SHARES", (0.0, 1.0))
    rows = doubts.found_labels(shared_data)
    assert {(row["runs"], row["budget"], row["files"]) for row in rows} == {
        (runs, budget, 6) for runs in (6, 37) for budget in (8, 12, 20)
    }
    assert {row["either"] for row in rows if row["share"] == 1.0} == {1.0}
    assert np.mean([row["either"] for row in rows if row["share"] == 0.0]) < 0.1


@pytest.mark.slow
def test_intervals_of_new_runs_widen_with_the_weight_outside(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "trec-robust-2003"
    chosen: list[Any]
    *chosen, _, seed = next(row for row in doubts._collections(shared_data) if row[0] == name)
    monkeypatch.setattr(doubts, "_collections", lambda _: [(*chosen, 2, seed)])
    monkeypatch.setattr(doubts, "MEASURES", ("P@10",))
    rows = [row for row in doubts.by_weight(doubts._estimates(shared_data)) if row["proxy"] == "centred"]
    assert {(row["set"], row["measure"]) for row in rows} == {(name, "P")}
    assert sum(row["estimates"] for row in rows) == 2 * 2 * len(chosen[2])  # draws, budgets, new runs
    ordered = sorted(rows, key=lambda row: float(row["most"]))
    assert [row["half_width"] for row in ordered] == sorted(row["half_width"] for row in ordered)
    assert np.average([row["coverage"] for row in rows], weights=[row["estimates"] for row in rows]) > 0.9
