"""Time whatever reads a run or judgments whole or past, beside `evaluate` of the same files.

Every job is a process of its own. Seconds are those of the processor: in a command all of the process, in a
call the call alone, after the imports. Jobs take turns, and so do the versions that are compared
(`--version NAME=FOLDER`, a folder that holds the package leadline). Memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

MEASURES = ["AP", "nDCG@10", "RR", "P@10", "R@1000"]
CALL = """
import sys, time
import numpy
import leadline as ll
from leadline.io import read, trec_qrels, trec_runs
paths = sys.argv[1:]
kept = ll.read_qrels(paths[0]) if {kept} else None
begun = time.process_time()
{call}
print(time.process_time() - begun)
"""


def call(text: str, *paths: Path, kept: bool = False) -> list[str]:
    """Return the process of one call, which prints its seconds."""
    return ["-c", CALL.format(call=text, kept=kept), *map(str, paths)]


def command(*words: str | Path) -> list[str]:
    """Return the process of one command."""
    return ["-m", "leadline", *map(str, words)]


def jobs_of(folder: Path, runs: int, scratch: Path) -> dict[str, list[str]]:
    """Return the arguments of Python for each job, by name; those of absent sets are left out."""
    found: dict[str, list[str]] = {}
    if (folder / "M").is_dir():
        qrels, run = folder / "M" / "qrels.txt", folder / "M" / "M000.run"
        measure = [word for name in MEASURES for word in ("-m", name)]
        found |= {
            "M: evaluate, judgments kept": call(
                f"ll.evaluate(kept, paths[1], {MEASURES}).values", qrels, run, kept=True
            ),
            "M: read_run": call("ll.read_run(paths[0])", run),
            "M: read_run, to_dict": call("ll.read_run(paths[0]).to_dict()", run),
            "M: read_run, codes": call("ll.read_run(paths[0]).document", run),
            "M: evaluate (command)": command("evaluate", qrels, run, *measure),
            "M: explain (command)": command("explain", qrels, run, "-m", "AP", "--query-id", "500"),
            "M: convert to .jsonl (command)": command(
                "convert", run, scratch / "converted.jsonl", "--overwrite", "--config", "read.kind=run"
            ),
            "M: check (command)": command("check", run),
        }
    if (folder / "C").is_dir():
        qrels, many = folder / "C" / "qrels.txt", sorted((folder / "C").glob("*.run"))[:runs]
        found |= {
            f"{runs} runs: evaluate (command)": command("evaluate", qrels, *many),
            f"{runs} runs: check (command)": command("check", *many),
            "8 runs: check (command)": command("check", *many[:8]),
        }
    if (folder / "L" / "qrels.txt").is_file():
        qrels = folder / "L" / "qrels.txt"
        found["L: read_qrels"] = call("kept = ll.read_qrels(paths[0])", qrels)
    return found


def spent(arguments: list[str], source: str) -> tuple[float, float]:
    """Run a job; return the seconds of the processor and the peak memory in MiB."""
    environment = os.environ | ({"PYTHONPATH": source} if source else {})
    with subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in {0, 1}:
            assert process.stderr is not None
            raise SystemExit(process.stderr.read().decode())
    seconds = float(output) if arguments[0] == "-c" else used.ru_utime + used.ru_stime
    return seconds, used.ru_maxrss / 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="sets of benchmarks/generate.py: M, C, L, or some of them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=80, help="of set C")
    parser.add_argument("--only", default="", help="jobs whose name has this in it")
    parser.add_argument("--version", action="append", default=[], metavar="NAME=FOLDER")
    options = parser.parse_args()
    versions = dict(text.split("=", 1) for text in options.version) or {"now": ""}
    jobs = jobs_of(options.folder, options.runs, options.folder)
    jobs = {name: job for name, job in jobs.items() if options.only in name}
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _round in range(options.rounds):
        for job, arguments in jobs.items():
            for version, source in versions.items():
                found.setdefault((job, version), []).append(spent(arguments, source))
    print("| job | version | seconds, least | median | peak MiB |")
    print("| --- | --- | ---: | ---: | ---: |")
    for (job, version), values in found.items():
        seconds = [value for value, _ in values]
        peak = max(value for _, value in values)
        print(f"| {job} | {version} | {min(seconds):.3f} | {median(seconds):.3f} | {peak:.0f} |")


if __name__ == "__main__":
    main()
