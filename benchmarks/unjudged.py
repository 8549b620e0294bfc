"""Time estimators without judgments: votes on real runs against reading them, DeShaTo on drawn vectors.

    python benchmarks/unjudged.py [RUNS...]

Processor seconds of this process. DeShaTo: 100 systems, 250 queries, 30 documents a list, 250 topics, vectors
given. With RUNS, all estimators are timed on them (DeShaTo with drawn vectors of 250 topics), and so is
reading them; the last line sets their sum against it.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from leadline.data.reading import Reading
from leadline.estimation.system_lists import RankedPool, Topics, read_systems
from leadline.estimation.unjudged import estimate_systems
from leadline.estimation.unjudged_methods import METHODS, DeShaTo

SYSTEMS, QUERIES, DEPTH, TOPICS, DOCUMENTS, A_QUERY = 100, 250, 30, 250, 20_000, 200


def draw_pools() -> list[RankedPool]:
    """Draw lists of all systems from 200 documents a query, and topic vectors."""
    rng = np.random.default_rng(0)
    theta = rng.dirichlet(np.full(TOPICS, 0.2), DOCUMENTS)
    found = []
    for _ in range(QUERIES):
        some = rng.choice(DOCUMENTS, A_QUERY, replace=False)
        lists = np.concatenate([rng.permutation(some)[:DEPTH] for _ in range(SYSTEMS)])
        known, document = np.unique(lists, return_inverse=True)
        found.append(
            RankedPool(
                np.repeat(np.arange(SYSTEMS), DEPTH).astype(np.int32),
                np.tile(np.arange(1, DEPTH + 1), SYSTEMS).astype(np.int32),
                document.astype(np.int32),
                len(known),
                np.arange(SYSTEMS, dtype=np.int32),
                theta=theta,
                row=known.astype(np.int32),
            )
        )
    return found


def main(runs: list[str]) -> None:
    """Print what was timed."""
    pools = draw_pools()
    begun = time.process_time()
    for pool in pools:
        DeShaTo().estimate(pool)
    print(f"deshato, {SYSTEMS} systems, {QUERIES} queries: {time.process_time() - begun:.2f} s")
    if not runs:
        return
    begun = time.process_time()
    systems = read_systems(runs, Reading())
    reading = time.process_time() - begun
    print(f"reading {len(runs)} runs: {reading:.2f} s")
    size = len(systems.documents)
    theta = np.random.default_rng(0).dirichlet(np.full(TOPICS, 0.2), min(size, DOCUMENTS))
    drawn = Topics(theta, (np.arange(size) % len(theta)).astype(np.int32))
    whole = 0.0
    for kind in METHODS.classes.values():
        begun = time.process_time()
        estimate_systems(systems, kind(), topics=[None if kind.voting else drawn])
        spent = time.process_time() - begun
        whole += spent
        print(f"{kind.called}: {spent:.2f} s")
    print(f"all estimators: {whole:.2f} s, {whole / reading:.2f} times the reading")


if __name__ == "__main__":
    main(sys.argv[1:])
