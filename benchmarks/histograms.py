"""Time HSA and DO of many runs in one call against `evaluate` of the same files, side by side.

    python benchmarks/histograms.py QRELS RUNS...

Whole processes, one after the other, three rounds; processor seconds and seconds by the clock, the medians of
both, and the median over the rounds of the ratio of processor seconds.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time

ROUNDS = 3
CALLS = {
    "evaluate": ("evaluate",),
    "histogram": ("histogram",),
    "histogram, no intervals": ("histogram", "--config", "test.draws=0"),
    "histogram, ranks": ("histogram", "--from-ranks"),
    "histogram, 100 sampled": ("histogram", "--sample", "100"),
}


def timed(words: tuple[str, ...], files: list[str]) -> tuple[float, float]:
    """Call leadline and give its processor seconds and its seconds by the clock."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "leadline", *words, *files]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    clock, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock


def main(files: list[str]) -> None:
    """Print what was timed."""
    rounds = [{name: timed(words, files) for name, words in CALLS.items()} for _ in range(ROUNDS)]
    for name in CALLS:
        processor, clock = (statistics.median(one[name][part] for one in rounds) for part in (0, 1))
        ratio = statistics.median(one[name][0] / one["evaluate"][0] for one in rounds)
        print(f"{name}: {processor:.2f} s of processor, {clock:.2f} s, {ratio:.2f} times evaluate")


if __name__ == "__main__":
    main(sys.argv[1:])
