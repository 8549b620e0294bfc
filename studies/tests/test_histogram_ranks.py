"""The study of ranks: runs from good to bad, which every recipe from ranks puts in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Leadline
from leadline.errors import InputError, UsageError
from leadline_studies import study

RANKS = study("histogram-ranks")


def made(systems: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Make runs whose relevant documents score the higher the larger their number."""
    rng = np.random.default_rng(7)
    qrels = {f"q{q}": {f"d{place:03}": int(place < 12) for place in range(120)} for q in range(8)}
    runs = {
        f"r{system:02}": {
            query: {name: float(rng.normal(grade * system / 6)) for name, grade in one.items()}
            for query, one in qrels.items()
        }
        for system in range(systems)
    }
    return qrels, runs


def test_runs_in_order_are_found_in_order_and_the_control_stands_beside_them() -> None:
    qrels, runs = made(16)
    found = RANKS.run(qrels, runs, depth=60, draws=30)
    data = found.data["recipes"]
    assert data["HSA, robust"]["AP"]["pearson"]["value"] > 0.9
    assert data["HSA, ranks"]["sevens_pearson"]["median"] > 0.5
    assert {"recall (control)", "DO, ranks", "HSA, scores, as printed"} <= set(data)
    assert [len(sheet.rows) for sheet in found.tables.values()] == [9, 9]
    assert ["as in the paper" in line for line in found.lines[:2]] == [True, False]
    assert "The relation holds here: no verdict" in found.lines[1]
    assert set(found.figures) == {"sevens", "all"}
    again = RANKS.run(qrels, runs, depth=60, draws=30)
    assert again.data == found.data


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(UsageError, match="need at least 15 runs for random sevens, not 14"):
        RANKS.run(*made(14), draws=1)


def test_judgments_without_relevant_documents_are_refused() -> None:
    qrels, runs = made(16)
    with pytest.raises(InputError, match="no query has a relevant document"):
        RANKS.run({query: {"d": 0} for query in qrels}, runs)


def test_one_set_alone_never_reproduces_the_claim_but_may_refute_it() -> None:
    found = RANKS.run(*made(16), depth=60, draws=5)
    data, gain = found.data["recipes"], found.data["robust_over_recall"]
    assert found.data["queries"] == 8
    assert RANKS.summary_lines(data, gain, 50, 200)[1].endswith("at depths 1000 and 100")
    assert "with 50 queries (49 here)" in RANKS.summary_lines(data, gain, 49, 200)[0]
    data["HSA, ranks, found only"]["sevens_pearson"] = {"median": 0.6, "low": -0.1, "high": 1.0}
    literal, ours = RANKS.summary_lines(data, gain, 50, 200)[:2]
    assert literal.endswith("does not hold here: not reproduced")
    assert "The relation holds here" in ours


def test_the_help_of_histogram_gives_the_figures_of_the_study(leadline: Leadline) -> None:
    place = Path(__file__).resolve().parents[2] / "docs" / "studies" / "histograms.json"
    kept = json.loads(place.read_text(encoding="utf-8"))
    others = list(kept["others"].values())
    every = [*kept["ranks"].values(), *others]

    def medians(found: list[dict[str, Any]], recipe: str) -> list[float]:
        return [one["recipes"][recipe]["sevens_pearson"]["median"] for one in found]

    def above(found: list[dict[str, Any]], first: str, second: str) -> int:
        pairs = zip(medians(found, first), medians(found, second), strict=True)
        return sum(one > other for one, other in pairs)

    shallow = [one for one in every if one["depth"] == 100]
    recall = medians(shallow, "recall (control)")
    robust, ranks = (medians(others, f"HSA, {name}") for name in ("robust", "ranks"))
    said = " ".join(leadline("histogram", "--help").out.split())
    for some in (recall, robust, ranks):
        assert f"{min(some):.2f} to {max(some):.2f}" in said
    assert f"{above(every, 'HSA, ranks', 'HSA, scores')} of {len(every)} settings" in said
    assert f"{above(others, 'HSA, robust', 'HSA, ranks')} of {len(others)}" in said
