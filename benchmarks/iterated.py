"""Evaluate a run that exists only as an iterator of Arrow record batches, and record memory over time.

    python benchmarks/iterated.py --rows 1000000000 -o docs/studies/iterated

Every query has as many documents as `--depth` says (10,000 by default) and one judged document, whose rank is
known, so that the values of every query are known too: all values of AP, RR, nDCG@10, P@10 and R@1000 must be
equal to them, to the bit. The rows are generated once more without an evaluation, which gives the time of the
generator alone. `-o PREFIX` writes PREFIX.csv (a line each second), PREFIX.json and PREFIX.png.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from compare import machine
from leadline.data.arrays import Floats, Integers
from leadline.evaluation.results import Results
from leadline.scale import RunParts, evaluate_parts

BATCH = 1 << 15  # rows of a record batch, unless a list is longer
POOL = 1 << 20  # documents of the collection
MEASURES = ["AP", "RR", "nDCG@10", "P@10", "R@1000"]
MIB = 1 << 20


class Generator:
    """A run of some queries: the list of a query is a stretch of the collection, which begins anywhere.

    The judged document of a query is at a rank of its own, or, for one query of eight, in no list.
    """

    def __init__(self, queries: int, depth: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.queries = queries
        self.depth = depth
        self.together = max(1, BATCH // depth)  # queries of a batch
        self.begin = rng.integers(0, POOL - depth, size=queries, dtype=np.int32)
        self.rank = np.minimum(rng.geometric(0.01, size=queries), depth).astype(np.int32)  # of 1 to depth
        self.rank[rng.random(queries) < 1 / 8] = 0  # in no list
        self.documents = _fixed(b"D", np.arange(POOL), 10)
        self.scores = np.tile(np.linspace(30, 1, depth), self.together)
        self.places = np.tile(np.arange(depth, dtype=np.int32), self.together)

    def qrels(self) -> pa.Table:
        """Return the judgments: one relevant document for every query."""
        following = self.begin + self.depth  # the document after the list
        judged = np.where(self.rank > 0, self.begin + self.rank - 1, following)
        return pa.table(
            {
                "query_id": _strings(_fixed(b"q", np.arange(self.queries), 9)),
                "doc_id": _strings(self.documents[judged]),
                "relevance": pa.array(np.ones(self.queries, dtype=np.int8)),
            }
        )

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the run; some batches end within a list."""
        for start in range(0, self.queries, self.together):
            number = np.arange(start, min(start + self.together, self.queries))
            rows = len(number) * self.depth
            query = np.repeat(_fixed(b"q", number, 9), self.depth)
            place = np.repeat(self.begin[number], self.depth) + self.places[:rows]
            columns = [_strings(query), _strings(self.documents[place]), pa.array(self.scores[:rows])]
            batch = pa.record_batch(columns, names=["query_id", "doc_id", "score"])
            cut = rows // 3 + 1
            yield batch.slice(0, cut)
            yield batch.slice(cut)

    def expected(self) -> Floats:
        """Return the values of all queries, from the ranks."""
        found = self.rank > 0
        share = np.divide(1.0, self.rank, out=np.zeros(len(found)), where=found)
        gains = np.array([0.0, *(1 / math.log2(1 + place) for place in range(1, 11))])
        gain = gains[np.where(self.rank <= 10, self.rank, 0)]
        top = (found & (self.rank <= 10)) / 10
        recall = (found & (self.rank <= 1000)).astype(np.float64)
        return np.stack([share, share, gain, top, recall], axis=1)


def _fixed(letter: bytes, number: Integers, width: int) -> Any:
    """Return ids of one width: a letter and the digits of a number."""
    text = np.full((len(number), width), ord("0"), dtype=np.uint8)
    text[:, 0] = ord(letter)
    rest = np.asarray(number)
    for column in range(width - 1, 0, -1):
        rest, digit = np.divmod(rest, 10)
        text[:, column] += digit.astype(np.uint8)
    return text.reshape(-1).view(f"S{width}")


def _strings(text: Any) -> pa.Array:
    """Return an Arrow column of ids of one width, without a copy of their text."""
    width = text.dtype.itemsize
    offsets = np.arange(0, (len(text) + 1) * width, width, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(text), [None, pa.py_buffer(offsets), pa.py_buffer(text)])


def resident() -> float:
    """Return the memory of this process now, in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / MIB


def evaluated(generator: Generator, curve: list[tuple[float, int, float]]) -> Results:
    """Evaluate the run, and record time, rows and memory each second."""
    begun = time.monotonic()
    rows = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in generator.batches():
            rows += len(batch)
            yield batch

    def record(*_: int) -> None:
        now = time.monotonic() - begun
        if not curve or now - curve[-1][0] >= 1:
            curve.append((now, rows, resident()))

    curve.append((0.0, 0, resident()))
    results = evaluate_parts(
        generator.qrels(), RunParts(counted(), name="iterated"), MEASURES, on_part=record
    )
    curve.append((time.monotonic() - begun, rows, resident()))
    return results


def draw(curve: list[tuple[float, int, float]], path: str) -> None:
    """Draw memory over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes = figure.add_subplot()
    seconds, rows, memory = zip(*curve, strict=True)
    axes.plot(seconds, memory, color="black", linewidth=1)
    axes.set(xlabel="seconds", ylabel="memory of the process (MiB)", ylim=(0, max(300, *memory)))
    axes.set_title(f"One process, {rows[-1]:,} rows from an iterator", fontsize=10)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Evaluate, compare with the known values, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--depth", type=int, default=10_000, help="documents of a query")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", metavar="PREFIX")
    options = parser.parse_args()
    generator = Generator(options.rows // options.depth, options.depth, options.seed)
    curve: list[tuple[float, int, float]] = []
    begun, used = time.monotonic(), time.process_time()
    results = evaluated(generator, curve)
    wall, processor = time.monotonic() - begun, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    expected = generator.expected()
    different = int((results.values[0] != expected).any(axis=1).sum())
    used = time.process_time()
    rows = sum(map(len, generator.batches()))
    generation = time.process_time() - used
    figures = {
        "machine": machine(),
        "cores": os.cpu_count(),
        "rows": rows,
        "queries": generator.queries,
        "wall_seconds": round(wall, 1),
        "processor_seconds": round(processor, 1),
        "processor_seconds_of_the_generator": round(generation, 1),
        "rows_per_second": round(rows / wall),
        "peak_mib": round(peak, 1),
        "queries_with_other_values": different,
        "means": {
            str(measure): float(mean)
            for measure, mean in zip(results.measures, results.means[0], strict=True)
        },
    }
    print(json.dumps(figures, indent=1))
    if options.output:
        with open(f"{options.output}.csv", "w", newline="") as file:
            csv.writer(file).writerows(
                [
                    ("seconds", "rows", "mib"),
                    *((f"{at:.1f}", count, f"{size:.1f}") for at, count, size in curve),
                ]
            )
        Path(f"{options.output}.json").write_text(json.dumps(figures, indent=1) + "\n")
        draw(curve, f"{options.output}.png")
    if different:
        raise SystemExit(f"{different} queries have other values than expected")


if __name__ == "__main__":
    main()
