"""Time evaluation of dictionaries against pytrec_eval, side by side in one process.

    python benchmarks/generate.py S M -o SETS
    python benchmarks/dictionaries.py SETS

Both programs get the same {query: {document: grade}} and {query: {document: score}} and compute five
measures; with "kept" the judgments are a `Qrels` and a `RelevanceEvaluator` made before. They take turns; the
figures are processor seconds, so that other work on the machine counts less: the least of all rounds and the
median of the ratios (ours to pytrec_eval's). Values must be those of the files, to the last bit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytrec_eval

import leadline as ll
from compare import machine

OURS = ["AP", "nDCG@10", "RR", "P@10", "R@1000"]
THEIRS = {"map", "ndcg_cut_10", "recip_rank", "P_10", "recall_1000"}


def seconds(do: Callable[[], Any]) -> float:
    """Return the processor seconds of a call."""
    started = time.process_time()
    do()
    return time.process_time() - started


def measure(folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Time both programs on one set, in turn."""
    files = [folder / "qrels.txt", next(folder.glob("*.run"))]
    with files[0].open() as qrels_file, files[1].open() as run_file:
        qrels, run = pytrec_eval.parse_qrel(qrels_file), pytrec_eval.parse_run(run_file)
    ours, theirs = ll.Qrels(qrels), pytrec_eval.RelevanceEvaluator(qrels, THEIRS)
    read, given = ll.evaluate(files[0], files[1], OURS), ll.evaluate(qrels, run, OURS)
    assert read.values.tobytes() == given.values.tobytes()
    calls: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "dictionaries": (
            lambda: ll.evaluate(qrels, run, OURS),
            lambda: pytrec_eval.RelevanceEvaluator(qrels, THEIRS).evaluate(run),
        ),
        "judgments kept": (lambda: ll.evaluate(ours, run, OURS), lambda: theirs.evaluate(run)),
    }
    figures = {}
    for name, (mine, other) in calls.items():
        mine()
        pairs = [(seconds(mine), seconds(other)) for _ in range(rounds)]
        figures[name] = {
            "leadline": round(min(pair[0] for pair in pairs), 4),
            "pytrec_eval": round(min(pair[1] for pair in pairs), 4),
            "ratio": round(statistics.median(a / b for a, b in pairs), 2),
        }
    return figures


def main() -> None:
    """Read the command line and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sets", type=Path, help="the folder that generate.py wrote")
    parser.add_argument("--only", nargs="*", default=["S", "M"])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    print(machine())
    print("| set | judgments and run | leadline | pytrec_eval | ratio |")
    print("| --- | --- | ---: | ---: | ---: |")
    figures = {}
    for name in arguments.only:
        figures[name] = measure(arguments.sets / name, arguments.rounds)
        for kind, found in figures[name].items():
            print(
                f"| {name} | {kind} | {found['leadline']} | {found['pytrec_eval']} | {found['ratio']} |",
                flush=True,
            )
    if arguments.output:
        text = json.dumps({"machine": machine(), "figures": figures}, indent=2)
        arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
