"""Time `evaluate` on one run as text, as a frame in memory, and as a file of every format of tables.

The qrels are read before. Seconds are those of the processor in this process, reading included; sources take
turns, and a ratio is the median over rounds of a source's time divided by that of the text. Peak memory is
what the call adds to a new process that holds the source and has imported all libraries.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
from pyarrow import parquet  # noqa: F401  # the same

import leadline as ll
from leadline.io import columns

MEASURES = ["AP", "nDCG@10", "RR", "P@10", "R@1000"]
FRAMES = ("Arrow", "polars", "pandas", "pandas, objects")
FILES = {
    "Arrow file": "run.arrow",
    "Parquet": "run.parquet",
    "CSV": "run.csv",
    "JSON Lines": "run.jsonl",
    "JSON": "run.json",
}
TREC = ("query_id", "q0", "doc_id", "rank", "score", "tag")


def frame_of(run: Path) -> pl.DataFrame:
    """Read a run with polars."""
    texts = dict.fromkeys(("query_id", "doc_id", "tag"), pl.String)
    found = pl.read_csv(run, separator=" ", has_header=False, new_columns=list(TREC), schema_overrides=texts)
    return found.select("query_id", "doc_id", "rank", "score", "tag")


def write_files(run: Path, folder: Path) -> None:
    """Write the run in every format."""
    folder.mkdir(exist_ok=True)
    frame = frame_of(run)
    frame.write_ipc(folder / FILES["Arrow file"], compat_level=pl.CompatLevel.oldest())
    frame.write_parquet(folder / FILES["Parquet"])
    frame.write_csv(folder / FILES["CSV"])
    frame.write_ndjson(folder / FILES["JSON Lines"])
    (folder / FILES["JSON"]).write_text(json.dumps(ll.read_run(run).to_dict()))


def source_of(name: str, run: Path, folder: Path) -> Any:
    """Return what is evaluated."""
    if name == "text":
        return run
    if name in FILES:
        return folder / FILES[name]
    table = pa.Table.from_batches(frame_of(run).to_arrow().to_batches())
    if name == "Arrow":
        return table
    if name == "polars":
        return pl.from_arrow(table)
    frame = table.to_pandas()
    texts = ["query_id", "doc_id", "tag"]
    return frame.astype(dict.fromkeys(texts, object)) if name == "pandas, objects" else frame


def peak() -> int:
    """Return the largest memory of this process since it was last asked, in bytes (Linux)."""
    status = Path("/proc/self/status").read_text()
    Path("/proc/self/clear_refs").write_text("5")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


def resident() -> int:
    """Return the memory of this process, in bytes (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def seconds(qrels: ll.Qrels, source: Any) -> tuple[float, list[float]]:
    """Evaluate; return processor seconds and the means."""
    begun = time.process_time()
    result = ll.evaluate(qrels, source, MEASURES)
    spent = time.process_time() - begun
    return spent, [result.mean(result.names[0], measure) for measure in MEASURES]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a set of benchmarks/generate.py, as SETS/M")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", metavar="SOURCE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    run = next(options.folder.glob("*.run"))
    folder = options.folder / "tables"
    qrels = ll.Qrels(options.folder / "qrels.txt")
    small = {query: dict(list(qrels[query].items())[:1]) for query in list(qrels)[:1]}
    seconds(qrels, small)  # fills what the qrels keep
    if options.memory:
        source = source_of(options.memory, run, folder)
        before, _ = resident(), peak()
        seconds(qrels, source)
        print(peak() - before)
        return
    write_files(run, folder)
    names = ["text", *FRAMES, *FILES]
    sources = {name: source_of(name, run, folder) for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    expected = seconds(qrels, run)[1]
    for _round in range(options.rounds):
        for name in names:
            spent, means = seconds(qrels, sources[name])
            times[name].append(spent)
            if means != expected:
                raise SystemExit(f"{name}: other values than the text: {means}, {expected}")
    readable = columns._readable  # noqa: SLF001  # the other way of reading is timed too
    columns._readable = lambda *_: False  # noqa: SLF001
    by_rows = {name: seconds(qrels, sources[name])[0] for name in names}
    columns._readable = readable  # noqa: SLF001
    print("| source | seconds | ratio to text | row by row | peak MiB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in names:
        ratios = [own / text for own, text in zip(times[name], times["text"], strict=True)]
        call = [sys.executable, __file__, str(options.folder), "--memory", name]
        added = int(subprocess.run(call, capture_output=True, text=True, check=True).stdout) >> 20
        rows = f"{by_rows[name] / statistics.median(times['text']):.1f}" if name != "text" else ""
        print(f"| {name} | {min(times[name]):.3f} | {statistics.median(ratios):.2f} | {rows} | {added} |")


if __name__ == "__main__":
    main()
