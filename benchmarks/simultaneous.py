"""Measure how often the simultaneous intervals of `leadline compare` hold the true differences together.

    python benchmarks/simultaneous.py [FAMILIES]

Normal and independent differences with known means, 50 queries: the case in which Holm's correction costs its
intervals most. Prints the table of docs/comparing.md.
"""

from __future__ import annotations

import sys

import numpy as np

from leadline.comparison.families import corrected
from leadline.comparison.rules import rules_of
from leadline.stats.paired_tests import T

WORLDS = {
    "3 pairs, two far from 0": np.array([0.0, 2.0, 2.0]),
    "10 pairs, five far from 0": np.repeat([0.0, 2.0], 5),
    "10 pairs, all 0": np.zeros(10),
    "10 pairs, all half a deviation": np.full(10, 0.5),
}
PROCEDURES = ("Bonferroni", "Holm", "BH")


def coverage(truth: np.ndarray, name: str, families: int) -> tuple[float, float]:
    """Return how often all intervals hold, and the mean share of significant pairs whose interval misses."""
    rules = rules_of(
        test="T",
        correction=name,
        interval=None,
        family="measure",
        confidence=0.95,
        margin=None,
        power=0.8,
        smallest=None,
        query_group=None,
        seed=0,
        tests=len(truth),
    )
    rng = np.random.default_rng(1)
    together, missed = [], []
    for _ in range(families):
        differences = truth + rng.normal(size=(50, len(truth)))
        found = corrected([differences], T().p_values(differences)[None], rules, None)
        assert found.limits is not None
        low, high = found.limits[0].T
        held = (low <= truth) & (truth <= high)
        chosen = found.p_corrected[0] < rules.alpha
        together.append(held.all())
        missed.append((~held[chosen]).mean() if chosen.any() else 0.0)
    return float(np.mean(together)), float(np.mean(missed))


def main() -> None:
    """Print the table."""
    families = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print("| true differences | Bonferroni: together | Holm: together | BH: significant ones that miss |")
    print("| --- | ---: | ---: | ---: |")
    for world, truth in WORLDS.items():
        found = {name: coverage(truth, name, families) for name in PROCEDURES}
        cells = [found["Bonferroni"][0], found["Holm"][0], found["BH"][1]]
        print(f"| {world} | " + " | ".join(f"{100 * cell:.1f} %" for cell in cells) + " |")


if __name__ == "__main__":
    main()
