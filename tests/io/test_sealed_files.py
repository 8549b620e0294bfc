"""One bit of a saved file is flipped: it is refused in one line, or gives what was saved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from leadline import evaluate, read_qrels
from leadline.comparison.baselines import read_baseline
from leadline.errors import LeadlineError
from leadline.estimation.pool_designs import pool_for
from leadline.io.pool_files import read_drawn_pool, write_drawn_pool
from leadline.io.result_files import read_column, saved_data
from leadline.io.sealed_files import SEAL
from leadline.reporting.baseline_files import write_baseline
from leadline.reporting.restore import save
from leadline.reporting.score_results import read_scores
from leadline.scale.saved_files import saved_results

QRELS = {f"q{query}": {f"d{n}": (n * query) % 3 for n in range(6)} for query in range(1, 8)}
RUNS = {
    name: {query: {f"d{(n * k) % 11}": 1.0 / (n + 1) for n in range(8)} for query in QRELS}
    for name, k in (("bm25", 3), ("dense", 7))
}


def _baseline(path: str) -> object:
    baseline = read_baseline(path)
    # The checksum itself and the names of keys that nothing reads may be lost without harm.
    return {key: value for key, value in baseline.data.items() if key in ("runs", "measures", "options")}


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
    return results.to_dict(per_query=True), results.options, saved_data(path), read_column(path)


def _read(read: Callable[[str], object], path: Path) -> str | None:
    """Return what is read; None if it is refused in one line."""
    try:
        return repr(read(str(path)))
    except LeadlineError as error:
        return None if "\n" not in str(error) else str(error)


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
        save(results, path, command="evaluate")
    elif name.startswith("baseline"):
        write_baseline(results, path, read_qrels(QRELS))
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


def test_files_of_earlier_versions_have_no_checksum_and_are_read(tmp_path: Path) -> None:
    import pyarrow.parquet

    results = evaluate(QRELS, RUNS, measures=["AP"])
    save(results, tmp_path / "saved.parquet", command="evaluate")
    table = pyarrow.parquet.read_table(tmp_path / "saved.parquet")
    metadata = {key: value for key, value in table.schema.metadata.items() if key != SEAL}
    assert len(metadata) < len(table.schema.metadata)
    pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), tmp_path / "earlier.parquet")
    found = saved_results(str(tmp_path / "earlier.parquet"))
    assert found.to_dict(per_query=True) == results.to_dict(per_query=True)
    write_baseline(results, tmp_path / "baseline.json", read_qrels(QRELS))
    data = json.loads((tmp_path / "baseline.json").read_text())
    del data["checksum"]
    (tmp_path / "baseline.json").write_text(json.dumps(data))
    assert read_baseline(str(tmp_path / "baseline.json")).names == ["bm25", "dense"]
