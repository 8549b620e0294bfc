"""How fast the statistics are, beside SciPy and beside reading.

    python benchmarks/significance.py QRELS RUN...

Prints ratios; seconds hold for this machine at this moment. Without runs only the tests are measured.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import permutation_test

from leadline.evaluation.evaluate import evaluate
from leadline.stats.paired_tests import Randomisation
from leadline.stats.simultaneous import tukey

QUERIES, SYSTEMS, MEASURES, FLIPS = 50, 10, 3, 100_000
REPEATS = 3


def seconds(do: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median time of doing something."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        do()
        found.append(time.perf_counter() - start)
    return float(np.median(found))


def sign_flips() -> None:
    """Flip signs for all pairs of ten systems by three measures, as SciPy does pair by pair."""
    generator = np.random.default_rng(1)
    values = generator.random((QUERIES, SYSTEMS, MEASURES))
    first, second = np.triu_indices(SYSTEMS, k=1)
    differences = (values[:, first] - values[:, second]).reshape(QUERIES, -1)
    ours = seconds(lambda: Randomisation(draws=FLIPS).p_values(differences))

    def theirs() -> None:
        for column in differences.T:
            permutation_test(
                (column,), np.mean, permutation_type="samples", n_resamples=FLIPS, vectorized=True, rng=1
            )

    scipys = seconds(theirs, repeats=1)
    print(
        f"{FLIPS:,} sign flips, {QUERIES} queries, {differences.shape[1]} columns ({SYSTEMS} systems, "
        f"{MEASURES} measures): {ours:.3f} s; scipy.stats.permutation_test {scipys:.1f} s; "
        f"ratio {scipys / ours:.0f}"
    )


def all_pairs(qrels: str, runs: Sequence[str]) -> None:
    """Shuffle all runs at once, beside reading and evaluating them."""
    start = time.perf_counter()
    results = evaluate(qrels, list(runs), ["AP"])
    reading = time.perf_counter() - start
    values = results.averaged_values(0).T
    shuffling = seconds(lambda: tukey(values))
    print(
        f"Tukey, 20,000 shuffles of {len(runs)} runs x {len(values)} queries: {shuffling:.2f} s; reading the "
        f"runs {reading:.2f} s; ratio {shuffling / reading:.2f}"
    )


if __name__ == "__main__":
    sign_flips()
    if len(sys.argv) > 2:
        all_pairs(sys.argv[1], sys.argv[2:])
