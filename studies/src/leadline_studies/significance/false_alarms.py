"""Error rates of the gates of `compare` under a known truth: false alarms and false passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from leadline.comparison.gate import NOT_WORSE, WORSE, Condition, decided_on
from leadline.comparison.pairing import Rules
from leadline.data.arrays import Flags, Floats
from leadline_studies.significance.decisions import Extent, Row, rate, share
from leadline_studies.significance.populations import best_runs, measure_of, populations, random_pairs

EXTENT = Extent(pairs=40, sets=100, sizes=(5, 10, 25, 50))
MARGIN = 0.02
SKEWED = 1.0  # skewness from which a population counts as skewed
GATES = (Condition("", 0.0, WORSE), Condition("", MARGIN, WORSE), Condition("", MARGIN, NOT_WORSE))
POPULATIONS = {
    "exchangeable": "every difference with either sign",
    "tilted": "the differences, reweighted",
    "shifted": "the differences, less a constant",
}
MOST = 3  # conditions at once
RULES = Rules().sized(1)


def single_gates(matrices: Mapping[str, Floats], extent: Extent) -> list[Row]:
    """Return the error rate of each gate, by population and number of queries."""
    rows: list[Row] = []
    chosen, sets = list(_chosen(matrices, extent)), extent.sets
    for condition in GATES:
        truth = -condition.margin
        fits = [populations(differences, truth) for differences in chosen]
        for name in POPULATIONS:
            available = [atoms[name] for atoms in fits if name in atoms]
            source = np.repeat(np.arange(len(available)), sets)
            skewness = np.array([atoms.skewness for atoms in available])[source]
            for number in extent.sizes:
                rng = np.random.default_rng([extent.seed, number, len(rows)])
                drawn = np.concatenate([atoms.draw(number, sets, rng) for atoms in available], axis=1)
                errors = _gate_errors(drawn, condition)
                row: Row = {"gate": condition.kind, "margin": condition.margin, "population": name}
                row |= {"queries": number, "sets": len(errors)} | rate(errors, source)
                for side, skewed in (("against", skewness <= -SKEWED), ("towards", skewness >= SKEWED)):
                    row[side] = share(errors[skewed], source[skewed])[0]
                rows.append(row)
    return rows


def several_conditions(matrices: Mapping[str, Floats], extent: Extent) -> list[Row]:
    """Return how often any of k "fail-if-worse" conditions fails where no measure differs."""
    condition, sets = GATES[0], extent.sets
    collections: dict[str, list[Floats]] = {}
    for name, matrix in matrices.items():
        collections.setdefault(name.removesuffix("_" + measure_of(name)), []).append(matrix)
    complete = [tables for tables in collections.values() if len(tables) >= MOST]
    results: list[Row] = []
    for population in ("exchangeable", "shifted"):
        for number in extent.sizes:
            rng = np.random.default_rng([extent.seed, number, population == "shifted", 1])
            errors: list[Flags] = []
            for tables in complete:
                for joint in _joint(tables[:MOST], extent.pairs, rng):
                    centred = joint - joint.mean(axis=0) if population == "shifted" else joint
                    rows = rng.integers(0, len(joint), (number, sets))
                    drawn = centred[rows]  # queries x sets x measures
                    if population == "exchangeable":
                        drawn = drawn * rng.choice([-1.0, 1.0], (number, sets, 1))
                    errors.append(
                        np.stack([_gate_errors(drawn[:, :, index], condition) for index in range(MOST)])
                    )
            if not errors:
                continue
            all_errors = np.concatenate(errors, axis=1)
            source = np.repeat(np.arange(len(errors)), sets)
            for k in range(1, MOST + 1):
                row: Row = {"conditions": k, "population": population, "queries": number}
                found = rate(np.asarray(all_errors[:k].any(axis=0)), source)
                results.append(row | {"sets": all_errors.shape[1]} | found | {"bound": k * RULES.alpha})
    return results


def _chosen(matrices: Mapping[str, Floats], extent: Extent) -> Iterator[Floats]:
    """Draw the differences of pairs of runs of every matrix."""
    for index, matrix in enumerate(matrices.values()):
        rng = np.random.default_rng([extent.seed, index])
        for pair in random_pairs(best_runs(matrix), extent.pairs, rng):
            yield pair[:, 0] - pair[:, 1]


def _joint(tables: list[Floats], pairs: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Draw the differences of pairs of runs, queries x measures."""
    best = np.argsort(-tables[0].mean(axis=0), kind="stable")[: round(0.75 * tables[0].shape[1])]
    for _ in range(pairs):
        first, second = rng.permutation(best)[:2].tolist()
        yield np.stack([table[:, first] - table[:, second] for table in tables], axis=1)


def _gate_errors(drawn: Floats, condition: Condition) -> Flags:
    """Return whether a gate decides wrongly on each column; an inconclusive result is no false alarm."""
    decision = decided_on(drawn, condition, RULES)
    if condition.kind == NOT_WORSE:
        return ~decision.failed
    conclusive = np.array([not reason for reason in decision.reasons], dtype=np.bool_)
    return decision.failed & conclusive
