"""Coverage of the simultaneous intervals that `compare` prints, which agree with its verdicts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leadline.arrays import Floats
from leadline.comparison.families import corrected
from leadline.comparison.rules import rules_of
from leadline.statistics.student_t import T
from leadline.studies.significance.decisions import Row, share
from leadline.studies.significance.families import SLACK, WORLDS, _scores
from leadline.studies.significance.populations import best_runs

PROCEDURES = ("Bonferroni", "Holm", "Hochberg", "MaxT", "BH")
FAR = {"one far": "all but the last run have the same margin, and the last run loses 0.3"}


def simultaneous(
    matrices: Mapping[str, Floats], *, runs: int, queries: int, sets: int = 20, seed: int = 0
) -> list[Row]:
    """Simulate families of all pairs of runs, and return the coverage of each correction's intervals.

    Returns
    -------
    list of Row
        `together` is the share of families in which all intervals hold their true difference; `each` the mean
        share of intervals that do; `selected` the mean share of intervals of significant pairs that miss (0
        where no pair is significant), which BH keeps at alpha.

    """
    first, second = np.triu_indices(runs, k=1)
    found: list[Row] = []
    for place, world in enumerate([*WORLDS, *FAR]):
        generator = np.random.default_rng([seed, runs, queries, place, 7])
        outcomes: dict[str, list[tuple[float, float, float]]] = {}
        for matrix in matrices.values():
            for drawn in range(sets if best_runs(matrix).shape[1] >= runs else 0):
                drawn_from = "all equal" if world in FAR else world
                values, means = _scores(drawn_from, matrix, runs, queries, generator)
                if world in FAR:
                    values[:, -1] -= 0.3
                    means[-1] -= 0.3
                truth = means[first] - means[second]
                differences = values[:, first] - values[:, second]
                p = T().p_values(differences)[None]
                for name in PROCEDURES:
                    rules = rules_of(
                        test="T", correction=name, interval=None, family="measure", confidence=0.95,
                        margin=None, power=0.8, smallest=None, query_group=None, seed=drawn,
                        tests=len(first),
                    )  # fmt: skip
                    family = corrected([differences], p, rules, None)
                    assert family.limits is not None
                    low, high = family.limits[0].T
                    held = (low <= truth + SLACK) & (truth - SLACK <= high)
                    chosen = family.p_corrected[0] < rules.alpha
                    missed = float((~held[chosen]).mean()) if chosen.any() else 0.0
                    outcomes.setdefault(name, []).append(
                        (float(held.all()), float(held.mean()), missed)
                    )
        for name, rows in outcomes.items():
            table = np.array(rows)
            together, error = share(table[:, 0], np.arange(len(table)))
            found.append({
                "world": world, "runs": runs, "queries": queries, "correction": name,
                "sets": len(table), "together": together, "se": error,
                "each": float(table[:, 1].mean()), "selected": float(table[:, 2].mean()),
            })  # fmt: skip
    return found
