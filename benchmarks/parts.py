"""Evaluate a generated run in parts by every engine: processor time, memory, equal values, a killed worker.

    python benchmarks/parts.py FOLDER --rows 100000000 --parts 100 -o parts.json

Lists have 1,000 documents, a query 100 judgments, most of them of documents in its list. The files in
FOLDER (9.4 GB for 10^8 rows) may be deleted afterwards; those that are there are used again. Every job is a
process of its own. Seconds are those of the processor, of all processes that the job has started; `wall` is
the time that passed, which other programs change. Jobs named `killed` lose a worker after a quarter of the
parts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from compare import machine
from leadline.data.arrays import Integers
from leadline.scale import RunParts, evaluate_parts

DEPTH = 1_000
JUDGED = 100
TEMPLATE = b"q0000000 Q0 D00000000 0000 0000.000 generated\n"
QUERY, DOCUMENT, RANK, SCORE = 1, 13, 22, 27  # first digits
MEASURES = ["AP", "nDCG@10", "RR", "P@10", "R@1000"]
JOBS = ["one file", "local", "processes:2", "processes:2 killed", "dask:2", "dask:2 killed"]


def write_digits(text: Any, place: int, digits: int, number: Integers) -> None:
    """Write numbers into columns of rows of text."""
    for column in range(place + digits - 1, place - 1, -1):
        number, digit = np.divmod(number, 10)
        text[:, column] = digit + ord("0")


def generate(folder: Path, rows: int, parts: int) -> None:
    """Write judgments, the parts, and the whole run in one file."""
    rng = np.random.default_rng(1)
    queries = rows // DEPTH
    (folder / "parts").mkdir(parents=True, exist_ok=True)
    rank = np.arange(DEPTH)
    with (folder / "qrels.txt").open("wb") as qrels, (folder / "whole.run").open("wb") as whole:
        for part, numbers in enumerate(np.array_split(np.arange(queries), parts)):
            with (folder / "parts" / f"part-{part:04}.run").open("wb") as file:
                for some in np.array_split(numbers, max(1, len(numbers) // 100)):
                    begin = rng.integers(0, 10**8 - DEPTH - JUDGED, size=len(some))
                    text = np.tile(np.frombuffer(TEMPLATE, dtype=np.uint8), (len(some) * DEPTH, 1))
                    write_digits(text, QUERY, 7, np.repeat(some, DEPTH))
                    write_digits(text, DOCUMENT, 8, (begin[:, None] + rank).ravel())
                    write_digits(text, RANK, 4, np.tile(rank + 1, len(some)))
                    write_digits(text, SCORE, 4, np.tile(2000 - rank, len(some)))
                    file.write(text.tobytes())
                    whole.write(text.tobytes())
                    judged = np.argsort(rng.random((len(some), 120)), axis=1)[:, :JUDGED] * 9
                    line = np.tile(
                        np.frombuffer(b"q0000000 0 D00000000 0\n", dtype=np.uint8), (judged.size, 1)
                    )
                    write_digits(line, QUERY, 7, np.repeat(some, JUDGED))
                    write_digits(line, 12, 8, (begin[:, None] + judged).ravel())
                    write_digits(line, 21, 1, (rng.random(judged.size) < 0.2).astype(np.int64))
                    qrels.write(line.tobytes())
    (folder / "complete").write_text(f"{rows} {parts}")


class Counted:
    """A part that leaves a file in a folder whenever a worker takes it."""

    def __init__(self, folder: str, path: str) -> None:
        self.folder, self.path = folder, path

    def __reduce__(self) -> tuple[Callable[..., str], tuple[str, ...]]:
        return taken, (self.folder, self.path)


def taken(folder: str, path: str) -> str:
    """Count a part, and return its path."""
    Path(folder, f"{os.getpid()}-{time.monotonic_ns()}").touch()
    return path


def children(process: int) -> list[int]:
    """Return the processes that a process has started, and theirs."""
    found = []
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            direct = list(map(int, path.read_text().split()))
        except OSError:
            continue
        found += direct + [each for child in direct for each in children(child)]
    return found


def workers() -> list[int]:
    """Return the worker processes of this process, without the tracker of Python's own resources."""
    return [child for child in children(os.getpid()) if b"spawn_main" in _read(f"/proc/{child}/cmdline")]


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def job(name: str, folder: Path, counts: str) -> None:
    """Evaluate by one engine, and print the digest of the values and what happened."""
    engine, _, kill = name.partition(" ")
    paths = sorted(map(str, (folder / "parts").iterdir()))
    quarter, killed = len(paths) // 4, []

    def on_part(done: int, _: int) -> None:
        if kill == "killed" and done == quarter:
            killed.append(workers()[-1])
            os.kill(killed[0], signal.SIGKILL)

    parts: list[Any] = [Counted(counts, path) for path in paths]
    if engine in ("one", "local"):
        parts = [str(folder / "whole.run")] if engine == "one" else paths
    results = evaluate_parts(
        str(folder / "qrels.txt"),
        RunParts(parts, name="generated"),
        MEASURES,
        engine="local" if engine == "one" else engine,
        on_part=on_part,
    )
    digest = hashlib.sha256(results.values.tobytes() + results.present.tobytes()).hexdigest()
    print(json.dumps({"digest": digest, "killed": len(killed), "means": results.means[0].tolist()}))


def measured(name: str, folder: Path) -> dict[str, Any]:
    """Run a job; return its seconds, its memory and its values."""
    counts = folder / "taken"
    counts.mkdir(exist_ok=True)
    for path in counts.iterdir():
        path.unlink()
    command = [sys.executable, __file__, str(folder), "--job", name, "--counts", str(counts)]
    begun = time.monotonic()
    peaks: dict[int, int] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(0.1):
                for each in [process.pid, *children(process.pid)]:
                    lines = _read(f"/proc/{each}/status").decode().splitlines()
                    peak = next((line.split()[1] for line in lines if line.startswith("VmHWM")), "0")
                    peaks[each] = max(peaks.get(each, 0), int(peak) // 1024)

        watcher = threading.Thread(target=watch)
        watcher.start()
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watcher.join()
    if process.returncode:
        raise SystemExit(f"{name}: status {process.returncode}")
    own = peaks.pop(process.pid, 0)
    return {
        "wall": round(time.monotonic() - begun, 1),
        "seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "mib": own,
        "worker_mib": max(peaks.values(), default=0),
        "taken": len(list(counts.iterdir())),
        **json.loads(printed.splitlines()[-1]),
    }


def main() -> None:
    """Generate the run, and print a Markdown table of all jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--parts", type=int, default=20)
    parser.add_argument("--only", nargs="*", default=JOBS, metavar="JOB")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--counts", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job(options.job, options.folder, options.counts)
        return
    complete = options.folder / "complete"
    if not complete.exists() or complete.read_text() != f"{options.rows} {options.parts}":
        generate(options.folder, options.rows, options.parts)
    print(machine())
    print("| engine | processor seconds | wall | MiB | MiB of a worker | parts taken by workers | values |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in options.only}
    for _ in range(options.rounds):
        for name in options.only:
            one = measured(name, options.folder)
            found[name].append(one)
            same = one["digest"] == next(iter(found.values()))[0]["digest"]
            print(
                f"| {name} | {one['seconds']} | {one['wall']} | {one['mib']:,} | {one['worker_mib']:,} | "
                f"{one['taken']} | {'equal' if same else 'OTHER VALUES'} |",
                flush=True,
            )
    if options.output:
        figures = {"machine": machine(), "rows": options.rows, "parts": options.parts, "jobs": found}
        options.output.write_text(json.dumps(figures, indent=1) + "\n")
    if len({one["digest"] for every in found.values() for one in every}) > 1:
        raise SystemExit("values differ")


if __name__ == "__main__":
    main()
