"""Time leadline and its peers side by side: wall time, processor time and peak memory of whole processes.

    python benchmarks/generate.py S M L C -o SETS
    python benchmarks/compare.py SETS --trec-eval PATH --write

Every program computes the same five measures from the same files; imports and printing are in. The programs
take turns (A B C A B C ...), so that a busy moment of the machine meets all of them; the first round warms
caches and is not counted. A ratio is the median over rounds of theirs / ours: above 1 leadline is faster.
Peers that are not installed are left out. Inputs: S, M, L and C (100 runs) as text, M shuffled and tied; M as
CSV, JSON Lines, Parquet and as a polars frame, against the peers on the text; dictionaries in one process;
and with `--parts FOLDER` a run in 100 parts (10^8 rows need 9.4 GB there). `wc -l` counts the lines of the
same files. `--write` puts the tables into docs/performance.md, and the figure of M into the README.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
PAGE, README = HERE.parent / "docs" / "performance.md", HERE.parent / "README.md"
BLOCK = re.compile(
    r"(<!-- Measured by benchmarks/compare.py -->\n).*(\n<!-- End of what it measured -->)", re.DOTALL
)
SENTENCE = re.compile(r"[^:;.*]+\[[^\]]*\]\(docs/performance\.md\)(?:[^;.]|\.\d)*")
MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@1000")
OURS = [sys.executable, "-m", "leadline", "evaluate", *(word for name in MEASURES for word in ("-m", name))]
THEIRS = [
    word for name in ("map", "ndcg_cut.10", "recip_rank", "P.10", "recall.1000") for word in ("-m", name)
]
EACH_RUN = 'qrels=$1; shift; for run; do "$0" {} "$qrels" "$run"; done'  # trec_eval takes one run
FRAME = """
import sys, polars, leadline
result = leadline.evaluate(sys.argv[1], polars.read_parquet(sys.argv[2]), sys.argv[3:])
print(result)
"""
PEERS = {"pytrec_eval": "pytrec-eval-terrier", "ir_measures": "ir-measures", "ranx": "ranx"}
INPUTS = ("S", "M", "L", "C", "M-shuffled", "M-tied", "M, CSV", "M, JSON Lines", "M, Parquet", "M, polars")
FILES = {
    "M, CSV": "run.csv",
    "M, JSON Lines": "run.jsonl",
    "M, Parquet": "run.parquet",
    "M, polars": "run.parquet",
}


class Spent(NamedTuple):
    """What a process took."""

    wall: float
    processor: float
    peak: float


def run_once(command: list[str], environment: dict[str, str]) -> Spent:
    """Run a whole process, and those that it waits for."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"failed: {' '.join(command)[:300]}")
    return Spent(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def programs_for(name: str, sets: Path, peers: list[str], trec_eval: str) -> dict[str, list[str]]:
    """Return the command of each program for an input, ours first."""
    folder = sets / name.partition(",")[0]
    qrels, runs = str(folder / "qrels.txt"), sorted(map(str, folder.glob("*.run")))
    given = runs
    if name in FILES:
        if not (
            folder / "tables" / FILES[name]
        ).exists():  # a process of its own, whose memory is not counted
            code = "import sys, pathlib, frames; frames.write_files(*map(pathlib.Path, sys.argv[1:]))"
            call = [sys.executable, "-c", code, runs[0], str(folder / "tables")]
            subprocess.run(call, check=True, cwd=HERE)
        given = [str(folder / "tables" / FILES[name])]
    found = {"leadline": [*OURS, qrels, *given]}
    if name == "M, polars":
        found["leadline"] = [sys.executable, "-c", FRAME, qrels, *given, *MEASURES]
    if "uncompiled" in peers:
        found["leadline, uncompiled"] = ["env", "LEADLINE_PURE=1", *found["leadline"]]
    if trec_eval:
        found["trec_eval"] = ["sh", "-c", EACH_RUN.format(" ".join(THEIRS)), trec_eval, qrels, *runs]
    for peer in peers:
        if peer in PEERS and importlib.util.find_spec(peer):
            found[peer] = [sys.executable, str(HERE / "peers" / f"{peer}_means.py"), qrels, *runs]
    return found | {"wc -l": ["wc", "-l", *given]}


def measure(programs: dict[str, list[str]], rounds: int) -> dict[str, dict[str, float]]:
    """Time programs in turn; ratios are to the first."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    spent: dict[str, list[Spent]] = {name: [] for name in programs}
    for turn in range(rounds + 1):
        for name, command in programs.items():
            one = run_once(command, environment)
            if turn:
                spent[name].append(one)
    ours = next(iter(spent.values()))

    def ratio(theirs: list[Spent], of: Callable[[Spent], float]) -> float:
        return statistics.median(of(their) / of(our) for their, our in zip(theirs, ours, strict=True))

    return {
        name: {
            "wall": statistics.median(one.wall for one in every),
            "least": min(one.wall for one in every),
            "most": max(one.wall for one in every),
            "processor": statistics.median(one.processor for one in every),
            "peak_mib": statistics.median(one.peak for one in every),
            "wall_ratio": ratio(every, lambda one: one.wall),
            "processor_ratio": ratio(every, lambda one: max(one.processor, 0.001)),
        }
        for name, every in spent.items()
    }


def machine() -> str:
    """Name the machine: processor, cores, Python."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def rows_of(figures: dict[str, dict[str, dict[str, float]]]) -> list[str]:
    """Return the table of whole processes in Markdown."""
    lines = [
        (
            "| input | program | wall seconds (least to most) | processor seconds | peak MiB "
            "| ratio, wall | ratio, processor |"
        ),
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, programs in figures.items():
        for place, (program, found) in enumerate(programs.items()):
            ratios = f"{found['wall_ratio']:.2f} | {found['processor_ratio']:.2f}" if place else " | "
            lines.append(
                f"| {'' if place else name} | {program} | {found['wall']:.3f} ({found['least']:.3f} to "
                f"{found['most']:.3f}) | {found['processor']:.3f} | {found['peak_mib']:.0f} | {ratios} |"
            )
    return lines


def dictionary_rows(sets: Path, names: list[str], rounds: int) -> list[str]:
    """Return the table of dictionaries in Markdown."""
    from dictionaries import measure as measure_dictionaries

    lines = [
        "| dictionaries | judgments and run | leadline | pytrec_eval | ours / theirs |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for name in names:
        for kind, found in measure_dictionaries(sets / name, rounds).items():
            lines.append(
                f"| {name} | {kind} | {found['leadline']} | {found['pytrec_eval']} | {found['ratio']} |"
            )
    return lines


def part_rows(folder: Path, rows: int) -> list[str]:
    """Return the table of a run in parts in Markdown."""
    command = [sys.executable, str(HERE / "parts.py"), str(folder), "--rows", str(rows), "--parts", "100"]
    done = subprocess.run(
        [*command, "--only", "one file", "local"], capture_output=True, text=True, check=True
    )
    table = [line for line in done.stdout.splitlines() if line.startswith("|")]
    return [f"{rows:,} rows in 100 parts, one round:", "", *table]


def write(lines: list[str], figures: dict[str, dict[str, dict[str, float]]]) -> None:
    """Put the tables into the page, and the figure of M into the README."""
    page = PAGE.read_text(encoding="utf-8")
    if not BLOCK.search(page):
        raise SystemExit(f"{PAGE}: no place for the tables")
    PAGE.write_text(BLOCK.sub(lambda found: found[1] + "\n".join(lines) + found[2], page), encoding="utf-8")
    if "trec_eval" not in figures.get("M", {}):
        return
    ours, theirs = figures["M"]["leadline"], figures["M"]["trec_eval"]
    here = machine().split(", Linux")[0].replace(", ", " with ")
    sentence = (
        f" leadline\n  evaluates a million rows in [{ours['wall']:.2f} seconds](docs/performance.md) "
        f"(trec_eval takes {theirs['wall']:.2f} seconds) on an {here}"
    )
    readme = README.read_text(encoding="utf-8")
    README.write_text(SENTENCE.sub(lambda _: sentence, readme, count=1), encoding="utf-8")


def main() -> None:
    """Read the command line, print the tables, and write them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sets", type=lambda text: Path(text).absolute(), help="the folder that generate.py wrote"
    )
    parser.add_argument("--only", nargs="*", default=list(INPUTS), choices=INPUTS, metavar="INPUT")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=[*PEERS, "uncompiled"])
    parser.add_argument("--trec-eval", default=shutil.which("trec_eval") or "", metavar="PATH")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", type=Path, metavar="FOLDER", help="of benchmarks/parts.py")
    parser.add_argument("--part-rows", type=int, default=10**8)
    parser.add_argument("--write", action="store_true", help="write docs/performance.md and README.md")
    parser.add_argument("-o", "--output", type=Path, help="the figures as JSON")
    options = parser.parse_args()
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for name in options.only:
        if (options.sets / name.partition(",")[0] / "qrels.txt").exists():
            programs = programs_for(name, options.sets, options.peers, options.trec_eval)
            figures[name] = measure(programs, options.rounds)
            print("\n".join(rows_of({name: figures[name]})), flush=True)
    used = {program for programs in figures.values() for program in programs}
    versions = ", ".join(f"{peer} {version(PEERS[peer])}" for peer in PEERS if peer in used)
    lines = [
        (
            f"Measured on {datetime.now(UTC):%Y-%m-%d}: {machine()}, {options.rounds} rounds, "
            f"{versions or 'no peers'}."
        ),
        "",
        *rows_of(figures),
        "",
    ]
    if "pytrec_eval" in used:
        lines += [
            *dictionary_rows(options.sets, [name for name in ("S", "M") if name in figures], options.rounds),
            "",
        ]
    if options.parts:
        lines += [*part_rows(options.parts, options.part_rows), ""]
    print("\n".join(lines))
    if options.write:
        write(lines[:-1], figures)
    if options.output:
        made: dict[str, Any] = {"machine": machine(), "figures": figures}
        options.output.write_text(json.dumps(made, indent=2) + "\n")


if __name__ == "__main__":
    main()
