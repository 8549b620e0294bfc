"""Compare the processor time of `leadline evaluate --pool` with that without on the same files.

    python benchmarks/estimate.py FOLDER [ROUNDS]

FOLDER holds set C of benchmarks/generate.py: 100 runs of 50 queries and 1,000 documents. The judgments are
those of a pool of 20 documents per query, with drawn grades; three measures are computed. The commands run in
turn; the ratio is the median over rounds.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from leadline.io.pool_files import read_drawn_pool

MEASURES = ("P@10", "RBP@10", "nDCG@10")


def seconds(words: list[str]) -> float:
    """Run leadline and return its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "leadline", *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(folder: str, rounds: int) -> None:
    """Print the times and ratios."""
    runs = sorted(map(str, Path(folder).glob("*.run")))
    measures = [word for measure in MEASURES for word in ("-m", measure)]
    with tempfile.TemporaryDirectory() as place:
        pool, judged = f"{place}/pool.tsv", f"{place}/judged.qrels"
        wanted = [word for measure in MEASURES for word in ("--for", measure)]
        print(f"pool: {seconds(['pool', *runs, *wanted, '--budget', '20', '-o', pool]):.2f} s")
        drawn = read_drawn_pool(pool)
        rng = np.random.default_rng(0)
        lines = [
            f"{query} 0 {document} {int(rng.random() < 0.3)}\n"
            for query, document, yes in zip(drawn.queries, drawn.documents, drawn.drawn.tolist(), strict=True)
            if yes
        ]
        Path(judged).write_text("".join(lines))
        print(f"{len(runs)} runs, {len(lines):,} judgments, {len(drawn.queries):,} documents in the frame")
        times = [
            (
                seconds(["evaluate", judged, *runs, "--pool", pool, *measures]),
                seconds(["evaluate", judged, *runs, *measures]),
            )
            for _ in range(rounds)
        ]
    ratios = [one / other for one, other in times]
    for name, column in zip(("estimate", "evaluate"), zip(*times, strict=True), strict=True):
        print(f"{name}: {statistics.median(column):.2f} s ({min(column):.2f} to {max(column):.2f})")
    print(f"ratio: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
