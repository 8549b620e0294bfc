"""Time whole processes side by side, ours and the peers', in turn: medians, ratios, peak memory.

    python benchmarks/generate.py S M L C -o SETS
    python benchmarks/compare.py SETS -o docs/performance-figures.json

Every program gets the same five measures from the same files; imports and printing are in. The programs take
turns (A B C A B C ...), so that a busy moment of the machine meets all of them. A ratio is the median over
rounds of theirs / ours: above 1 we are faster. `--form` also runs ours with the uncompiled kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
OURS = [
    sys.executable,
    "-m",
    "leadline",
    "evaluate",
    *(["-m", "AP", "-m", "nDCG@10", "-m", "RR", "-m", "P@10", "-m", "R@1000"]),
]
PEERS = {
    "pytrec_eval": [sys.executable, str(HERE / "peers" / "pytrec_eval_means.py")],
    "ir_measures": [sys.executable, str(HERE / "peers" / "ir_measures_means.py")],
    "ranx": [sys.executable, str(HERE / "peers" / "ranx_means.py")],
}


def run_once(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Run a whole process; give its wall seconds and its peak memory in MiB."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def measure(folder: Path, names: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """Time our program and the named peers on one set, in turn."""
    files = [str(folder / "qrels.txt"), *map(str, sorted(folder.glob("*.run")))]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    programs = {"leadline": (OURS, environment)}
    if "uncompiled" in names:
        programs["uncompiled"] = (OURS, environment | {"LEADLINE_PURE": "1"})
    programs |= {name: (PEERS[name], environment) for name in names if name in PEERS}
    walls: dict[str, list[float]] = {name: [] for name in programs}
    peaks: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(rounds + 1):
        for name, (command, surroundings) in programs.items():
            wall, peak = run_once(command + files, surroundings)
            if turn:  # the first round warms caches
                walls[name].append(wall)
                peaks[name].append(peak)
    return {
        name: {
            "seconds": round(statistics.median(walls[name]), 3),
            "least": round(min(walls[name]), 3),
            "most": round(max(walls[name]), 3),
            "peak_mib": round(statistics.median(peaks[name])),
            "ratio": round(
                statistics.median(
                    theirs / ours for theirs, ours in zip(walls[name], walls["leadline"], strict=True)
                ),
                2,
            ),
        }
        for name in programs
    }


def machine() -> str:
    """Name the machine: processor, cores, Python."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def main() -> None:
    """Read the command line and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sets", type=Path, help="the folder that generate.py wrote")
    parser.add_argument("--only", nargs="*", default=["S", "M", "L", "C"])
    parser.add_argument("--peers", nargs="*", default=["pytrec_eval", "uncompiled"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    figures = {}
    print(machine())
    print("| set | program | seconds (least to most) | peak MiB | ratio to ours |")
    print("| --- | --- | ---: | ---: | ---: |")
    for name in arguments.only:
        figures[name] = measure(arguments.sets / name, arguments.peers, arguments.rounds)
        for program, found in figures[name].items():
            print(
                f"| {name} | {program} | {found['seconds']} ({found['least']} to {found['most']}) "
                f"| {found['peak_mib']:.0f} | {found['ratio']} |",
                flush=True,
            )
    if arguments.output:
        text = json.dumps({"machine": machine(), "figures": figures}, indent=2)
        arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
