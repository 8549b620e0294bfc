"""Information Difference by engines: equal to the bit to the arrays of all pairs and queries."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from conftest import Leadline
from killed_workers import opened
from leadline.comparison import difference as module
from leadline.comparison import joint_tables
from leadline.errors import InputError, UsageError
from leadline.scale.engines import Engine, Work

VALUES = ("ric", "concordance", "wrong_way", "counted")
MEANS = ("mean_ric", "mean_concordance", "mean_only", "mean_id")


def made(seed: int, systems: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Return judgments, of which those of one query are of one grade, and lists with ties and gaps."""
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(rng.choice([8, 90]))]
    queries = [f"q{number}" for number in range(7)]
    qrels = {query: {name: rng.choice([0, 0, 1, 2]) for name in documents[::2]} for query in queries}
    qrels["same"] = dict.fromkeys(documents, 0)
    runs = {}
    for number in range(systems):
        chosen = rng.sample(queries, rng.randint(1, 7))
        runs[f"s{number}"] = {
            query: {name: float(rng.randint(0, 9)) for name in rng.sample(documents, rng.randint(1, 8))}
            for query in chosen
        }
    return qrels, runs


def assert_equal(found: ll.Difference, expected: ll.Difference) -> None:
    """Compare all numbers to the bit."""
    for name in (*VALUES, *MEANS):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes(), name
    assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize("systems", [1, 5, 19])
@pytest.mark.parametrize("options", [{"cutoff": 4}, {"graded": False, "weighted": True, "truncate": False}])
def test_engines_give_the_bits_of_the_whole(systems: int, options: dict[str, Any], form: str) -> None:
    del form  # of the kernels
    for seed in range(3):
        qrels, runs = made(seed, systems)
        expected = ll.difference(qrels, runs, **options)
        assert_equal(ll.difference(qrels, runs, engine="local", **options), expected)


def test_pairs_are_in_memory_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = made(1, 9)
    expected = ll.difference(qrels, runs)
    monkeypatch.setattr(joint_tables, "PAIRS", 5)
    assert_equal(ll.difference(qrels, runs), expected)
    assert ll.difference(qrels, runs).only.tobytes() == expected.only.tobytes()


def test_where_values_would_not_fit_means_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = made(2, 6)
    expected = ll.difference(qrels, runs)
    monkeypatch.setattr(module, "LARGEST", 1000)
    found = ll.difference(qrels, runs)
    assert_equal(found, expected)
    with pytest.raises(UsageError, match="not kept"):
        found.to_dict(per_query=True)
    saved = found.to_json()
    assert ll.Difference.from_json(saved).to_json() == saved


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["processes:2", "dask:2"])
def test_workers_give_the_bits_of_the_whole(engine: str) -> None:
    if engine.startswith("dask"):
        pytest.importorskip("distributed", reason="dask is not installed")
    qrels, runs = made(3, 12)
    done: list[tuple[int, int]] = []
    found = ll.difference(
        qrels, runs, competitors=(), engine=engine, on_query=lambda *counts: done.append(counts)
    )
    assert_equal(found, ll.difference(qrels, runs, competitors=()))
    assert done == [(number, len(done)) for number in range(1, len(done) + 1)]
    assert found.options["engine"] == engine


class Fragile(list[Any]):
    """A list of rows that ends the worker which is given it, as often as files are there to count."""

    folder: str
    times: int

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return opened, (os.getpid(), self.folder, self.times, tuple(self))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
@pytest.mark.parametrize("times", [1, 9])
def test_a_worker_that_is_killed_costs_its_queries_only(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, runs = made(3, 12)
    expected = ll.difference(qrels, runs)
    mapped = Engine.map

    def fragile(self: Engine, work: Work, units: Any) -> Any:
        def changed() -> Any:
            for unit in units:
                if unit.part != 1:
                    yield unit
                    continue
                grades, rows = unit.source
                rows = Fragile(rows)
                rows.folder, rows.times = str(tmp_path), times
                yield unit._replace(source=(grades, rows))

        return mapped(self, work, changed())

    monkeypatch.setattr(Engine, "map", fragile)
    if times == 1:
        assert_equal(ll.difference(qrels, runs, engine="processes:2"), expected)
    else:
        with pytest.raises(InputError, match=r"^query q1: failed 3 times \(the worker"):
            ll.difference(qrels, runs, engine="processes:2")
    assert len(os.listdir(tmp_path)) == min(times, 3)


def test_the_command_has_the_numbers_of_python(leadline: Leadline, tmp_path: Path) -> None:
    qrels, runs = made(4, 4)
    (tmp_path / "qrels.json").write_text(json.dumps(qrels))
    for name, run in runs.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    paths = [tmp_path / "qrels.json", *(tmp_path / f"{name}.json" for name in runs)]
    found = leadline("difference", *paths, "--engine", "local", "-f", "json")
    assert found.status == 0
    assert found.data["id"] == ll.difference(qrels, runs).mean_id.tolist()
    assert leadline("difference", *paths, "--engine", "local", "-q").status == 2
    assert "local" in leadline("difference", *paths, "--engine", "ray").err


def test_no_query_with_pairs_is_said_by_engines_too() -> None:
    run = {"a": {"q1": {"d1": 1.0}}}
    with pytest.raises(InputError, match="a different grade"):
        ll.difference({"q1": {"d1": 1}}, run, engine="local")
    with pytest.raises(InputError, match="no document has grade 1 or higher, so none is relevant"):
        ll.difference({"q1": {"d1": 0}}, run, engine="local")
    one = ll.difference({"q": {"d": 1, "e": 0}}, {"a": {"q": {"d": 1.0}}}, engine="local")
    assert one.ric.tolist() == [[1.0]]
