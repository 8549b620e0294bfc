"""The study of the run that a machine judge favours, and of the coverage of audits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline.errors import UsageError
from leadline_studies.circular.coverage import audits, kappas
from leadline_studies.circular.study import run

QUERIES = [f"q{number:02}" for number in range(12)]
DOCUMENTS = [f"d{number:02}" for number in range(40)]


def tables(seed: int = 4) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Make judgments, labels that are too kind, and runs of different quality."""
    rng = np.random.default_rng(seed)
    truth = rng.random((12, 40)) < 0.25
    labels = truth | (rng.random(truth.shape) < 0.3)
    scores = {f"r{number}": number * 0.7 * truth + rng.normal(size=truth.shape) for number in range(4)}

    def nested(table: Any) -> dict[str, dict[str, float]]:
        return {
            query: {name: float(table[row, column]) for column, name in enumerate(DOCUMENTS)}
            for row, query in enumerate(QUERIES)
        }

    return nested(truth), nested(labels), {name: nested(table) for name, table in scores.items()}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Write labels and runs."""
    truth, labels, runs = tables()
    for name, qrels in (("truth", truth), ("labels", labels)):
        lines = [f"{q} 0 {d} {int(grade)}" for q, row in qrels.items() for d, grade in row.items()]
        (tmp_path / f"{name}.qrels").write_text("\n".join(lines) + "\n")
    for name, lists in runs.items():
        lines = [f"{q} Q0 {d} 0 {score} t" for q, row in lists.items() for d, score in row.items()]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    return {path.stem: str(path) for path in tmp_path.iterdir()}


def test_the_machine_favours_the_circular_run_and_few_judgments_do_not(files: dict[str, str]) -> None:
    runs = [files[f"r{number}"] for number in range(3)]
    found = run(
        files["truth"], runs, new=[files["r3"]], machine=files["labels"], measure="P@5", budget=8, draws=25
    ).data
    by_run = {row["name"]: row for row in found["runs"]}
    assert set(by_run) == {"r0", "r1", "r2", "r3", "circular"}
    one = by_run["circular"]
    assert one["machine"] == 1.0
    assert one["machine_place"] == 1
    assert one["truth"] < 0.9
    assert abs(one["estimate"] - one["truth"]) < 0.06
    assert {name for name, row in by_run.items() if not row["pooled"]} == {"r3"}
    assert [row["truth"] for row in found["runs"]] == sorted(
        (row["truth"] for row in found["runs"]), reverse=True
    )


def test_what_cannot_be_studied_is_refused(files: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        run(files["truth"], [files["r0"]], machine=files["labels"], draws=1)


def test_samples_without_an_estimate_of_a_run_are_left_out_and_counted(files: dict[str, str]) -> None:
    runs = [files[f"r{number}"] for number in range(3)]
    found = run(files["truth"], runs, machine=files["labels"], measure="RR", budget=2, draws=12)
    left = 12 - found.data["draws"]
    assert [(one.code, one.count) for one in found.warnings] == [("no_estimate", left)]
    assert 0 < left < 12
    assert not any(np.isnan(row["estimate"]) for row in found.data["runs"])
    with pytest.raises(UsageError, match="--budget"):
        run(files["truth"], runs, machine=files["labels"], measure="RR", budget=1, draws=2)


@pytest.mark.parametrize("measure", ["map,P@5", "official"])
def test_only_one_measure_is_taken(measure: str, files: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="stands for"):
        run(files["truth"], [files["r0"]], machine=files["labels"], measure=measure)


def test_coverage_counts_intervals_that_contain_the_value_of_the_population() -> None:
    rng = np.random.default_rng(0)
    reference = rng.random((20, 5))
    same = audits(reference, reference, queries=12, sets=3)
    assert (same["bias"], same["gains"], same["wrongly_favored"], same["kendall_all"]) == (1, 1, 0, 1)
    shifted = audits(reference, reference + rng.normal(0.2, 0.1, reference.shape), queries=12, sets=40)
    assert 0.85 <= shifted["bias"] <= 1
    assert shifted["bias_worst_run"] <= shifted["bias"]


def test_intervals_of_kappa_hold_the_value_of_the_population() -> None:
    rng = np.random.default_rng(1)
    found = kappas(rng.poisson(3.0, (40, 2, 2)).astype(float) + 2 * np.eye(2), queries=40, sets=300)
    assert 0.88 <= found["coverage"] <= 0.99
