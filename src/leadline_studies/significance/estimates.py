"""Coverage of intervals and power of tests where runs differ by a known amount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.stats.intervals import BCa
from leadline_studies.significance.decisions import Row, intervals, limits, p_values, paired_tests, share
from leadline_studies.significance.matrices import measure_of
from leadline_studies.significance.populations import (
    best_runs,
    draw,
    margin,
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
        generator = np.random.default_rng([seed, queries, 1])
        scores, means, measures, real = [], [], [], []
        for name, matrix in matrices.items():
            for values in random_pairs(best_runs(matrix), pairs, generator):
                both = [margin(values[:, 0]), margin(values[:, 1])]
                scores.append(
                    draw(both, normal_correlations(values), queries=queries, sets=sets, generator=generator)
                )
                real.append(values)
                means.append([one.mean for one in both])
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
        apart = self.scores[:, :, 0] - self.scores[:, :, 1]
        number = self.pairs.max() + 1
        spread = np.sqrt([apart[self.pairs == pair].var() for pair in range(number)])
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
    found: list[Row] = []
    for quantity, (values, truth) in quantities.items():
        known = {name: limits(kind, values) for name, kind in intervals(draws).items()}
        low, high = known["Student"]
        for name, both in known.items():
            facts: Row = {"of": quantity, "interval": name, "queries": queries}
            found += _rows(simulated, facts, both, truth, unit=high - low)
    found += _redrawn(simulated, draws, seed)
    chosen = simulated.set < ratio_sets
    both = _ratios(simulated, chosen, draws)
    facts = {"of": "ratio", "interval": "BCa", "queries": queries}
    truth = simulated.means[:, 0] / simulated.means[:, 1]
    return found + _rows(simulated, facts, both, truth, unit=np.ones(len(truth)), among=chosen)


def _redrawn(simulated: Simulated, draws: int, seed: int) -> list[Row]:
    queries = simulated.scores.shape[1]
    generator = np.random.default_rng([seed, queries, 4])
    sets = int(simulated.set.max()) + 1
    real = [populations(pair[:, 0] - pair[:, 1])["shifted"] for pair in simulated.real]
    values = np.concatenate([atoms.draw(queries, sets, generator) for atoms in real], axis=1)
    known = {name: limits(kind, values) for name, kind in intervals(draws).items()}
    unit = known["Student"][1] - known["Student"][0]
    found: list[Row] = []
    for name, both in known.items():
        facts: Row = {"of": "redrawn", "interval": name, "queries": queries}
        found += _rows(simulated, facts, both, np.zeros(len(unit)), unit=unit)
    return found


def _ratios(simulated: Simulated, chosen: Flags, draws: int) -> tuple[Floats, Floats]:
    both = np.full((2, len(chosen)), np.nan)
    interval = BCa(draws=draws)
    for place in np.flatnonzero(chosen).tolist():
        first, second = simulated.scores[place].T
        both[:, place] = interval.ratio(first, second, seed=place)
    return both[0], both[1]


def _rows(
    simulated: Simulated,
    facts: Row,
    both: tuple[Floats, Floats],
    truth: Floats,
    *,
    unit: Floats,
    among: Flags | None = None,
) -> list[Row]:
    low, high = both
    known = ~np.isnan(low)
    slack = 1e-12 * np.maximum(1.0, np.abs(truth))  # a mean of equal scores is that score
    below, above = high < truth - slack, low > truth + slack
    found: list[Row] = []
    for measure, group in simulated.groups():
        asked = group if among is None else group & among
        here = asked & known
        held, error = share(~(below | above)[here], simulated.pairs[here])
        found.append(
            facts
            | {
                "measure": measure,
                "sets": int(here.sum()),
                "coverage": held,
                "se": error,
                "below": float(below[here].mean()),
                "above": float(above[here].mean()),
                "width": float((high - low)[here].mean() / unit[here].mean()),
                "undefined": float(1 - known[asked].mean()),
            }
        )
    return found


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
    right = np.sign(differences.mean(axis=0)) == truth
    found: list[Row] = []
    for name, test in paired_tests(draws).items():
        significant = p_values(test, differences) <= level
        for low, high in zip(EFFECTS, [*EFFECTS[1:], np.inf], strict=True):
            here = (effects >= low) & (effects < high) & (truth != 0)
            rate, error = share((significant & right)[here], simulated.pairs[here])
            wrong, _ = share((significant & ~right)[here], simulated.pairs[here])
            label = f"{low:g} to {high:g}" if high < np.inf else f"{low:g} or more"
            found.append(
                {
                    "queries": queries,
                    "test": name,
                    "effect": label,
                    "sets": int(here.sum()),
                    "found": rate,
                    "se": error,
                    "wrong": wrong,
                }
            )
    return found
