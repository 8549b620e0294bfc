"""Coverage of intervals and power of tests where runs differ by a known amount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.stats.intervals import BCa
from leadline_studies.significance.decisions import Row, intervals, limits, p_values, paired_tests, share
from leadline_studies.significance.populations import (
    best_runs,
    draw,
    margin,
    measure_of,
    normal_correlations,
    random_pairs,
)
from leadline_studies.significance.rejections import populations

EFFECTS = (0.0, 0.2, 0.5, 0.8)  # where classes of the true standardised difference begin


class Simulated:
    """Simulated scores of two runs, queries x sets each, and the true values of each set."""

    def __init__(
        self, matrices: Mapping[str, Floats], *, queries: int, pairs: int, sets: int, seed: int
    ) -> None:
        rng = np.random.default_rng([seed, queries, 1])
        scores, means, measures, real = [], [], [], []
        for name, matrix in matrices.items():
            for values in random_pairs(best_runs(matrix), pairs, rng):
                margins = [margin(values[:, 0]), margin(values[:, 1])]
                scores.append(draw(margins, normal_correlations(values), queries=queries, sets=sets, rng=rng))
                real.append(values)
                means.append([of_run.mean for of_run in margins])
                measures.append(measure_of(name))
        self.real = real
        self.scores: Floats = np.concatenate(scores)
        self.means: Floats = np.repeat(np.array(means), sets, axis=0)
        self.measures = np.repeat(np.array(measures), sets)
        self.pairs: Integers = np.repeat(np.arange(len(means)), sets)
        self.set: Integers = np.tile(np.arange(sets), len(means))

    @property
    def differences(self) -> Floats:
        """Return the differences, queries x sets."""
        return np.asarray((self.scores[:, :, 0] - self.scores[:, :, 1]).T)

    @property
    def effects(self) -> Floats:
        """Return the absolute true difference of each pair divided by the deviation over all of its sets."""
        differences = self.scores[:, :, 0] - self.scores[:, :, 1]
        n_pairs = self.pairs.max() + 1
        spread = np.sqrt([differences[self.pairs == pair].var() for pair in range(n_pairs)])
        return np.abs(self.means[:, 0] - self.means[:, 1]) / spread[self.pairs]

    def groups(self) -> Iterator[tuple[str, Flags]]:
        """Return the sets of each group: all, and each measure."""
        yield "all", np.ones(len(self.pairs), dtype=np.bool_)
        for name in np.unique(self.measures):
            yield str(name), self.measures == name


def coverage(
    matrices: Mapping[str, Floats],
    *,
    queries: int,
    pairs: int = 40,
    sets: int = 50,
    ratio_sets: int = 15,
    draws: int = 1_999,
    seed: int = 0,
) -> list[Row]:
    """Return the coverage of 95 % intervals of mean, difference and ratio of means, one row each."""
    simulated = Simulated(matrices, queries=queries, pairs=pairs, sets=sets, seed=seed)
    quantities = {
        "mean": (simulated.scores[:, :, 0].T, simulated.means[:, 0]),
        "difference": (simulated.differences, simulated.means[:, 0] - simulated.means[:, 1]),
    }
    rows: list[Row] = []
    for quantity, (values, truth) in quantities.items():
        interval_limits = {name: limits(kind, values) for name, kind in intervals(draws).items()}
        low, high = interval_limits["Student"]
        for name, ends in interval_limits.items():
            facts: Row = {"of": quantity, "interval": name, "queries": queries}
            rows += _rows(simulated, facts, ends, truth, unit=high - low)
    rows += _redrawn(simulated, draws, seed)
    chosen = simulated.set < ratio_sets
    ends = _ratios(simulated, chosen, draws)
    facts = {"of": "ratio", "interval": "BCa", "queries": queries}
    truth = simulated.means[:, 0] / simulated.means[:, 1]
    return rows + _rows(simulated, facts, ends, truth, unit=np.ones(len(truth)), among=chosen)


def _redrawn(simulated: Simulated, draws: int, seed: int) -> list[Row]:
    queries = simulated.scores.shape[1]
    rng = np.random.default_rng([seed, queries, 4])
    sets = int(simulated.set.max()) + 1
    real = [populations(pair[:, 0] - pair[:, 1])["shifted"] for pair in simulated.real]
    values = np.concatenate([atoms.draw(queries, sets, rng) for atoms in real], axis=1)
    interval_limits = {name: limits(kind, values) for name, kind in intervals(draws).items()}
    unit = interval_limits["Student"][1] - interval_limits["Student"][0]
    rows: list[Row] = []
    for name, ends in interval_limits.items():
        facts: Row = {"of": "redrawn", "interval": name, "queries": queries}
        rows += _rows(simulated, facts, ends, np.zeros(len(unit)), unit=unit)
    return rows


def _ratios(simulated: Simulated, chosen: Flags, draws: int) -> tuple[Floats, Floats]:
    ends = np.full((2, len(chosen)), np.nan)
    interval = BCa(draws=draws)
    for index in np.flatnonzero(chosen).tolist():
        first, second = simulated.scores[index].T
        ends[:, index] = interval.ratio(first, second, seed=index)
    return ends[0], ends[1]


def _rows(
    simulated: Simulated,
    facts: Row,
    ends: tuple[Floats, Floats],
    truth: Floats,
    *,
    unit: Floats,
    among: Flags | None = None,
) -> list[Row]:
    low, high = ends
    defined = ~np.isnan(low)
    slack = 1e-12 * np.maximum(1.0, np.abs(truth))  # a mean of equal scores is that score
    below, above = high < truth - slack, low > truth + slack
    rows: list[Row] = []
    for measure, group in simulated.groups():
        members = group if among is None else group & among
        selected = members & defined
        rate, error = share(~(below | above)[selected], simulated.pairs[selected])
        rows.append(
            facts
            | {
                "measure": measure,
                "sets": int(selected.sum()),
                "coverage": rate,
                "se": error,
                "below": float(below[selected].mean()),
                "above": float(above[selected].mean()),
                "width": float((high - low)[selected].mean() / unit[selected].mean()),
                "undefined": float(1 - defined[members].mean()),
            }
        )
    return rows


def power(
    matrices: Mapping[str, Floats],
    *,
    queries: int,
    pairs: int = 40,
    sets: int = 50,
    draws: int = 1_999,
    level: float = 0.05,
    seed: int = 0,
) -> list[Row]:
    """Return the power of each test by standardised true difference."""
    simulated = Simulated(matrices, queries=queries, pairs=pairs, sets=sets, seed=seed)
    differences, effects = simulated.differences, simulated.effects
    truth = np.sign(simulated.means[:, 0] - simulated.means[:, 1])
    correct = np.sign(differences.mean(axis=0)) == truth
    rows: list[Row] = []
    for name, test in paired_tests(draws).items():
        significant = p_values(test, differences) <= level
        for low, high in zip(EFFECTS, [*EFFECTS[1:], np.inf], strict=True):
            selected = (effects >= low) & (effects < high) & (truth != 0)
            rate, error = share((significant & correct)[selected], simulated.pairs[selected])
            wrong, _ = share((significant & ~correct)[selected], simulated.pairs[selected])
            label = f"{low:g} to {high:g}" if high < np.inf else f"{low:g} or more"
            rows.append(
                {
                    "queries": queries,
                    "test": name,
                    "effect": label,
                    "sets": int(selected.sum()),
                    "found": rate,
                    "se": error,
                    "wrong": wrong,
                }
            )
    return rows
