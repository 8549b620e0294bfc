"""Engines: threads, worker processes and Dask give the same results; what happens to workers that die."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from killed_workers import opened
from leadline.errors import InputError, UsageError
from leadline.evaluation.results import Results
from leadline.scale import PartsFailedError, RunParts, evaluate_parts, evaluate_runs
from leadline.scale.engines import Engine, engine_of
from whole_runs import Split, assert_same, split_run

MEASURES = ["AP", "nDCG@5", "RR"]


@pytest.fixture
def split(tmp_path: Path) -> Split:
    """Write a run in six parts."""
    return split_run(tmp_path / "split", 11, parts=6)


def evaluated(split: Split, engine: str, *more: str, **options: Any) -> ll.Results:
    """Evaluate the parts by an engine."""
    parts = RunParts([*split.parts, *more], name="bm25")
    return evaluate_parts(split.qrels, parts, MEASURES, engine=engine, **options)


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("local", Engine("local")),
        ("processes", Engine("processes")),
        ("processes:2", Engine("processes", 2)),
        ("dask:3", Engine("dask", 3)),
        ("dask:tcp://10.0.0.1:8786", Engine("dask", address="tcp://10.0.0.1:8786")),
    ],
)
def test_engines_are_named(text: str, engine: Engine) -> None:
    assert engine_of(text) == engine
    assert str(engine) == text


@pytest.mark.parametrize(
    "text", ["", "ray", "local:2", "processes:", "processes:0", "dask:host", "dask:-1", 2]
)
def test_other_names_are_refused(text: Any) -> None:
    with pytest.raises(UsageError, match="local, processes"):
        engine_of(text)


def test_processes_give_the_results_of_the_whole(split: Split) -> None:
    whole = ll.evaluate(split.qrels, split.run, MEASURES)
    calls: list[tuple[int, int]] = []
    results = evaluated(split, "processes:2", on_part=lambda *done: calls.append(done))
    assert_same(results, whole)
    assert calls == [(number, 6) for number in range(1, 7)]
    runs = {"one": split.run, "two": split.parts[0], "three": {"q1": {"d1": 1.0}}}
    many = evaluate_runs(split.qrels, runs, MEASURES, engine="processes:2")
    assert_same(many, ll.evaluate(split.qrels, runs, MEASURES))


def test_an_error_of_the_input_is_that_of_one_process(split: Split, tmp_path: Path) -> None:
    broken = tmp_path / "broken.run"
    broken.write_text("q1 Q0 d1 1 high bm25\n")
    with pytest.raises(InputError) as local:
        evaluated(split, "local", str(broken))
    with pytest.raises(InputError) as remote:
        evaluated(split, "processes:2", str(broken))
    assert str(remote.value) == str(local.value)
    with pytest.raises(UsageError, match="files"):
        evaluated(split, "processes:2", "-")


def kill(process: str) -> None:
    """End a process as the kernel does when memory runs out."""
    os.kill(int(process), signal.SIGKILL)


class Once:
    """A part that ends the worker which opens it, as often as files are there to count."""

    def __init__(self, folder: Path, path: str, times: int) -> None:
        self.folder = str(folder)
        self.path = path
        self.times = times

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return opened, (os.getpid(), self.folder, self.times, self.path)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
@pytest.mark.parametrize("times", [1, 2])
def test_a_worker_that_is_killed_costs_its_part_only(times: int, split: Split, tmp_path: Path) -> None:
    folder = tmp_path / "tried"
    folder.mkdir()
    parts = [*split.parts[1:], Once(folder, split.parts[0], times)]
    results = evaluate_parts(split.qrels, RunParts(parts, name="bm25"), MEASURES, engine="processes:2")
    whole = ll.evaluate(split.qrels, split.run, MEASURES)
    assert results.values.tobytes() == whole.values.tobytes()
    assert len(os.listdir(folder)) == times


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX signals")
def test_a_part_that_fails_three_times_is_named_and_the_rest_kept(split: Split, tmp_path: Path) -> None:
    folder = tmp_path / "tried"
    folder.mkdir()
    parts = RunParts([*split.parts[1:], Once(folder, split.parts[0], 9)], name="bm25")
    with pytest.raises(PartsFailedError) as failed:
        evaluate_parts(split.qrels, parts, MEASURES, engine="processes:2", on_fault="continue")
    assert failed.value.faults == {"part 6": "failed 3 times (the worker process was killed by signal 9)"}
    assert len(os.listdir(folder)) == 3
    rest = failed.value.results
    assert rest is not None
    whole = evaluate_parts(split.qrels, RunParts(split.parts[1:], name="bm25"), MEASURES)
    assert rest.values.tobytes() == whole.values.tobytes()
    assert rest.options["failed_parts"] == ["part 6"]


def test_a_run_that_fails_is_said_to_be_left_out(split: Split, tmp_path: Path) -> None:
    broken = tmp_path / "broken.run"
    broken.write_text("q1 Q0 d1 1 high bm25\n")
    with pytest.raises(PartsFailedError) as failed:
        evaluate_runs(split.qrels, [split.run, str(broken)], "AP", on_fault="continue")
    rest = failed.value.results
    assert rest is not None
    assert len(rest.runs) == 1
    for results in (rest, Results.merge(rest)):
        assert ("failed_runs", 1) in [(one.code, one.count) for one in results.warnings]
        assert "failed_parts" not in results.options


INTERRUPTED = """
import sys
from leadline.scale import RunParts, evaluate_parts
if __name__ == "__main__":
    print("begins", flush=True)
    evaluate_parts(sys.argv[1], RunParts(sys.argv[3:] * 1, name="a"), "AP", engine=sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX pipes")
def test_an_interrupt_ends_the_workers(split: Split, tmp_path: Path) -> None:
    pipes = [str(tmp_path / f"{number}.run") for number in range(2)]
    for pipe in pipes:
        os.mkfifo(pipe)  # a worker that opens it waits
    program = tmp_path / "program.py"
    program.write_text(INTERRUPTED)
    command = [sys.executable, str(program), split.qrels, "processes:2", *pipes]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        deadline = time.monotonic() + 60
        while len(workers := children(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
    assert process.returncode != 0
    assert len(workers) >= 2
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and any(Path(f"/proc/{worker}").exists() for worker in workers):
        time.sleep(0.1)  # the tracker of Python's own resources ends after its parent
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]


def children(process: int) -> list[int]:
    """Return the processes that a process has started."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        pytest.skip("no list of child processes here")
    return list(map(int, text.split()))


@pytest.mark.slow
def test_a_cluster_gives_the_results_of_the_whole(split: Split, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="dask is not installed")
    whole = ll.evaluate(split.qrels, split.run, MEASURES)
    assert_same(evaluated(split, "dask:2"), whole)
    broken = tmp_path / "broken.run"
    broken.write_text("q1 Q0 d1 1 high bm25\n")
    with pytest.raises(InputError, match=r"broken\.run:1: score 'high'"):
        evaluated(split, "dask:1", str(broken))


@pytest.mark.slow
def test_a_killed_worker_of_a_running_cluster_is_replaced(split: Split) -> None:
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    whole = ll.evaluate(split.qrels, split.run, MEASURES)
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=":0",
        memory_limit=0,
        silence_logs=logging.CRITICAL,
    ) as cluster:
        first = next(iter(cluster.workers.values()))
        killed: list[int] = []

        def end_one(finished: int, total: int) -> None:
            del total
            if finished == 1:
                kill(str(first.pid))
                killed.append(first.pid)

        results = evaluated(split, f"dask:{cluster.scheduler_address}", on_part=end_one)
    assert killed
    assert_same(results, whole)


def test_a_scheduler_that_does_not_answer_is_named(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    client = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: client(address, timeout=timeout / 30))
    with pytest.raises(UsageError, match=r"tcp://127\.0\.0\.1:9"):
        evaluated(split, "dask:tcp://127.0.0.1:9")


def test_a_missing_dask_is_named(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'pip install "leadline\[dask\]"'):
        evaluated(split, "dask")
