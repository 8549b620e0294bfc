"""One bit of a saved file is flipped: it is refused in one line, or gives what was saved."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leadline import evaluate
from leadline.comparison.baselines import read_baseline, write_baseline
from leadline.errors import LeadlineError
from leadline.estimation.pool_designs import pool_for
from leadline.evaluation.score_results import read_scores
from leadline.io.opening import LONGEST_LINE
from leadline.io.pool_files import read_drawn_pool, write_drawn_pool
from leadline.io.result_files import read_column
from leadline.io.saved_results import decoded, encoded
from leadline.scale.saved_files import saved_results

QRELS = {f"q{query}": {f"d{n}": (n * query) % 3 for n in range(6)} for query in range(1, 8)}
RUNS = {
    name: {query: {f"d{(n * k) % 11}": 1.0 / (n + 1) for n in range(8)} for query in QRELS}
    for name, k in (("bm25", 3), ("dense", 7))
}


def _baseline(path: str) -> object:
    baseline = read_baseline(path)
    return baseline.results.to_dict(per_query=True), baseline.results.options


def _pool(path: str) -> object:
    pool = read_drawn_pool(path)
    numbers = (pool.probability.tolist(), pool.order.tolist(), pool.drawn.tolist())
    pairs = sorted(zip(pool.queries, pool.documents, map(str, pool.contributors), *numbers, strict=True))
    keys = ("format", "measures", "rel", "depth", "seed", "scale", "runs", "machine")
    return pairs, {key: pool.design.get(key) for key in keys}


def _scores(path: str) -> object:
    return read_scores([path]).to_dict(per_query=True)


def _saved(path: str) -> object:
    results = saved_results(path)
    return results.to_dict(per_query=True), results.options, read_column(path)


def _read(read: Callable[[str], object], path: Path) -> str | None:
    """Return what is read; None if it is refused in one line."""
    try:
        return repr(read(str(path)))
    except LeadlineError as error:
        return None if "\n" not in str(error) else str(error)


def test_no_string_of_a_saved_array_is_longer_than_readers_of_json_accept() -> None:
    array = np.random.default_rng(1).random(LONGEST_LINE // 6)
    text = json.dumps(encoded(array))
    assert len(text) > LONGEST_LINE > max(map(len, text.split('"')))
    assert np.array_equal(decoded(json.loads(text)), array)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("saved.parquet", _saved),
        ("saved.parquet", _scores),
        ("saved.parquet", _baseline),
        ("baseline.parquet", _baseline),
        ("baseline.json", _baseline),
        ("pool.tsv", _pool),
    ],
)
def test_a_flipped_bit_is_refused_or_changes_nothing(
    tmp_path: Path, name: str, read: Callable[[str], object]
) -> None:
    results = evaluate(QRELS, RUNS, measures=["AP", "P@3"])
    path = tmp_path / name
    if name.startswith("saved"):
        results.write(path)
    elif name.startswith("baseline"):
        write_baseline(results, path)
    else:
        write_drawn_pool(pool_for(RUNS, "P@3", budget=3, seed=2).pool, path, ["a note"])
    content = path.read_bytes()
    whole = repr(read(str(path)))
    rng = np.random.default_rng(11)
    size = 8 * len(content)
    refused = 0
    for bit in rng.choice(size, size=min(size, 300), replace=False).tolist():
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        found = _read(read, path)
        refused += found is None
        assert found in (None, whole), bit
    assert refused > 200


def test_json_without_its_checksum_is_refused(tmp_path: Path) -> None:
    write_baseline(evaluate(QRELS, RUNS, measures=["AP"]), tmp_path / "baseline.json")
    data = json.loads((tmp_path / "baseline.json").read_text())
    del data["checksum"]
    (tmp_path / "baseline.json").write_text(json.dumps(data))
    with pytest.raises(LeadlineError, match="damaged"):
        read_baseline(str(tmp_path / "baseline.json"))


THREADS = """
import os, sys
import pyarrow.parquet
from leadline.io.saved_results import read_parquet
from leadline.io.small_tables import parquet

before = len(os.listdir("/proc/self/task"))
assert read_parquet(sys.argv[1]).num_rows and list(parquet(sys.argv[1]))
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_reading_parquet_starts_no_thread_that_would_abort_the_program_at_exit(tmp_path: Path) -> None:
    path = tmp_path / "saved.parquet"
    evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP").write(path)
    done = subprocess.run(
        [sys.executable, "-c", THREADS, str(path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("0\n", "")
