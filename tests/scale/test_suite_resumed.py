"""Suites are resumed: what is done is not done again, and the table is that of an undisturbed evaluation."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Leadline
from leadline.errors import UsageError
from leadline.scale import suite
from leadline.scale import suite_evaluation as evaluation

MEASURES = ["AP", "nDCG@10", "RR"]
COMMAND = "import sys; from leadline.cli import main; main(sys.argv[1:])"


def write_suite(folder: Path, *, collections: int = 2, runs: int = 3, queries: int = 5) -> Path:
    """Write collections of random judgments and runs."""
    rng = random.Random(7)
    for number in range(collections):
        inner = folder / f"c{number}"
        (inner / "runs").mkdir(parents=True)
        judged = [
            f"q{query} 0 d{document} {rng.randrange(3)}" for query in range(queries) for document in range(20)
        ]
        (inner / "qrels.txt").write_text("\n".join(judged) + "\n")
        for run in range(runs):
            lines = [
                f"q{query} Q0 d{document} 1 {rng.random():.4f} r{run}"
                for query in range(1, queries + 2)  # one judged query is missing, one has no judgments
                for document in rng.sample(range(60), 30)
            ]
            (inner / "runs" / f"r{run}.run").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a small suite."""
    return write_suite(tmp_path / "suite")


def content(result: Any) -> str:
    """Return all of a suite as text, options and warnings too."""
    return json.dumps([result.to_dict(), result.options, result.inputs, list(map(str, result.warnings))])


def test_values_from_the_cache_equal_those_that_are_computed(folder: Path, tmp_path: Path) -> None:
    plain = suite(folder, measures=MEASURES)
    first = suite(folder, measures=MEASURES, cache=tmp_path / "cache")
    second = suite(folder, measures=MEASURES, cache=tmp_path / "cache")
    assert [(each.computed, each.cached) for each in (plain, first, second)] == [(6, 0), (6, 0), (0, 6)]
    assert content(plain) == content(first) == content(second)
    for name, results in plain.results.items():
        np.testing.assert_array_equal(results.values, second.results[name].values)
        np.testing.assert_array_equal(results.present, second.results[name].present)


def test_only_what_has_changed_is_computed_again(folder: Path, tmp_path: Path) -> None:
    def computed(**options: Any) -> int:
        return int(suite(folder, **({"measures": MEASURES} | options), cache=tmp_path / "cache").computed)

    assert computed() == 6
    assert computed(test="Randomisation", partial=True) == 0
    assert computed(engine="local", seed=3, confidence=0.9) == 0
    assert computed(depth=10) == 6
    assert computed(measures=["AP"]) == 6
    run = folder / "c0" / "runs" / "r1.run"
    run.write_text(run.read_text() + "q1 Q0 new 1 9 r1\n")
    assert computed() == 1
    qrels = folder / "c1" / "qrels.txt"
    qrels.write_text(qrels.read_text() + "q1 0 new 1\n")
    assert computed() == 3
    (folder / "c0" / "runs" / "r9.run").write_bytes(run.read_bytes())
    assert computed() == 0  # the same run by another name
    assert computed() == 0


def test_a_damaged_file_of_the_cache_is_computed_again(folder: Path, tmp_path: Path) -> None:
    whole = suite(folder, measures=MEASURES, cache=tmp_path / "cache")
    first, second, third, *_ = sorted((tmp_path / "cache").iterdir())
    first.write_bytes(first.read_bytes()[:100])
    second.write_bytes(b"")
    third.write_bytes(sorted((tmp_path / "cache").iterdir())[3].read_bytes())  # that of another key
    again = suite(folder, measures=MEASURES, cache=tmp_path / "cache")
    assert (again.computed, again.cached) == (3, 3)
    assert content(again) == content(whole)


def test_another_version_does_not_use_the_cache(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite(folder, cache=tmp_path / "cache")
    monkeypatch.setattr(evaluation, "VERSION", "0.0.0.other")
    assert suite(folder, cache=tmp_path / "cache").computed == 6


def test_processes_fill_the_same_cache(folder: Path, tmp_path: Path) -> None:
    plain = suite(folder, measures=MEASURES)
    by_processes = suite(folder, measures=MEASURES, cache=tmp_path / "cache", engine="processes:2")
    cached = suite(folder, measures=MEASURES, cache=tmp_path / "cache")
    assert (by_processes.computed, cached.cached) == (6, 6)
    assert content(plain) == content(cached)
    assert plain.to_dict() == by_processes.to_dict()


def test_runs_finished_before_an_error_are_not_computed_again(folder: Path, tmp_path: Path) -> None:
    bad = folder / "c1" / "runs" / "r2.run"
    good = bad.read_text()
    bad.write_text(good + "q1 Q0 d1 1 none r2\n")
    with pytest.raises(ValueError, match=r"r2\.run"):
        suite(folder, measures=MEASURES, cache=tmp_path / "cache")
    bad.write_text(good)
    assert suite(folder, measures=MEASURES, cache=tmp_path / "cache").cached >= 3


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGKILL], ids=lambda each: each.name)
def test_after_an_interruption_in_the_middle_the_table_is_the_same(
    ended_by: signal.Signals, tmp_path: Path
) -> None:
    folder = write_suite(tmp_path / "suite", collections=3, runs=30, queries=60)
    arguments = [sys.executable, "-c", COMMAND, "suite", str(folder), "-f", "json"]
    for measure in MEASURES:
        arguments += ["-m", measure]
    cache = folder / ".leadline-suite"
    started = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    limit = time.monotonic() + 120
    while len(list(cache.glob("*.parquet"))) < 10:
        assert started.poll() is None, started.communicate()
        assert time.monotonic() < limit
        time.sleep(0.002)
    started.send_signal(ended_by)
    out, _ = started.communicate()
    assert out == b""
    assert started.returncode == (130 if ended_by == signal.SIGINT else -ended_by)
    kept = {path: os.stat(path).st_mtime_ns for path in cache.glob("*.parquet")}
    assert 10 <= len(kept) < 90
    resumed = subprocess.run(arguments, capture_output=True, check=True, text=True)
    assert f"{90 - len(kept)} computed, {len(kept)} from" in resumed.stderr
    assert {path: os.stat(path).st_mtime_ns for path in kept} == kept
    undisturbed = subprocess.run([*arguments, "--no-cache"], capture_output=True, check=True, text=True)
    assert resumed.stdout == undisturbed.stdout
    assert "Traceback" not in resumed.stderr


def test_the_command_has_the_values_of_python(
    folder: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    found = leadline("suite", "suite", "-m", "AP", "-f", "json")
    assert found.status == 0
    expected = suite("suite", measures="AP").to_dict()
    assert {key: found.data[key] for key in expected} == json.loads(json.dumps(expected))
    assert len(found.data["inputs"]) == 8
    assert (folder / ".leadline-suite").is_dir()
    rows = leadline("suite", "suite", "-m", "AP", "-f", "csv").out.splitlines()
    assert rows[0] == "measure,run,c0,c1,macro,win_rate,comparisons,collections"
    assert len(leadline("suite", "suite", "-f", "jsonl").out.splitlines()) == 3
    assert leadline("suite", "suite", "--figure", "heat-map").status == 2
    assert leadline("suite", "suite", "--no-cache", "--cache", "x").status == 2
    assert leadline("suite", "suite", "-o", "suite/c0/qrels.txt").status == 2
    assert leadline("suite", "none.toml").status == 2


def test_what_is_not_used_any_more_is_removed_on_request(
    folder: Path, leadline: Leadline, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    suite(folder, measures="AP", cache=cache)
    first = {path.name for path in cache.iterdir()}
    (cache / "notes.txt").write_text("mine")
    (cache / "values.parquet").write_text("mine")
    assert suite(folder, measures=["AP", "RR"], cache=cache).removed == 0
    both = {path.name for path in cache.iterdir()} - {"notes.txt", "values.parquet"}
    assert first < both
    found = leadline("suite", folder, "-m", "AP", "--cache", cache, "--clean-cache")
    assert found.status == 0
    assert f"0 computed, {len(first)} from {cache}; {len(both - first)} others removed" in found.err
    assert {path.name for path in cache.iterdir()} == first | {"notes.txt", "values.parquet"}
    assert leadline("suite", folder, "--no-cache", "--clean-cache").status == 2
    with pytest.raises(UsageError, match="cache"):
        suite(folder, clean_cache=True)
