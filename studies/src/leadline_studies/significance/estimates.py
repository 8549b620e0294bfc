"""Coverage of intervals and power of tests where runs differ by a known amount."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leadline.data.arrays import Flags, Floats, Integers
from leadline.stats.intervals import BCa
from leadline_studies.common.coverage import missed
from leadline_studies.significance.decisions import (
    LEVEL,
    Extent,
    Row,
    classes,
    intervals,
    limits,
    p_values,
    paired_tests,
    rate,
    share,
)
from leadline_studies.significance.populations import draw, margin, normal_correlations, real_pairs
from leadline_studies.significance.rejections import skewed_right

EFFECTS = (0.0, 0.2, 0.5, 0.8)  # where classes of the true standardised difference begin


class Simulated(NamedTuple):
    """Scores of two runs, sets x queries x 2, true means, measure and pair of each set; the real pairs."""

    scores: Floats
    means: Floats
    measures: NDArray[np.str_]
    pairs: Integers
    real: list[Floats]

    @property
    def differences(self) -> Floats:
        """Return the differences, queries x sets."""
        return np.asarray((self.scores[:, :, 0] - self.scores[:, :, 1]).T)

    @property
    def effects(self) -> Floats:
        """Return the absolute true difference of each pair divided by the deviation over all of its sets."""
        spread = [self.differences[:, self.pairs == pair].var() for pair in range(len(self.real))]
        return np.abs(self.means[:, 0] - self.means[:, 1]) / np.sqrt(spread)[self.pairs]

    def groups(self) -> Iterator[tuple[str, Flags]]:
        """Return the sets of each group: all, and each measure."""
        yield "all", np.ones(len(self.pairs), dtype=np.bool_)
        for name in np.unique(self.measures):
            yield str(name), self.measures == name


def simulate(matrices: Mapping[str, Floats], queries: int, extent: Extent) -> Simulated:
    """Draw scores from the populations that are fitted to pairs of real runs."""
    rng, sets = np.random.default_rng([extent.seed, queries, 1]), extent.sets
    scores, means, measures, real = [], [], [], []
    for measure, values in real_pairs(matrices, extent.pairs, rng):
        margins = [margin(values[:, 0]), margin(values[:, 1])]
        scores.append(draw(margins, normal_correlations(values), queries=queries, sets=sets, rng=rng))
        real.append(values)
        means.append([of_run.mean for of_run in margins])
        measures.append(measure)
    found = (np.repeat(np.array(part), sets, axis=0) for part in (means, measures, range(len(real))))
    of_means, of_measures, of_pairs = found
    return Simulated(np.concatenate(scores), of_means, of_measures, of_pairs, real)


def coverage(matrices: Mapping[str, Floats], queries: int, extent: Extent) -> list[Row]:
    """Return the coverage of 95 % intervals of mean, difference and ratio of means, one row each."""
    simulated, sets = simulate(matrices, queries, extent), extent.sets
    rng = np.random.default_rng([extent.seed, queries, 4])
    real = [skewed_right(pair[:, 0] - pair[:, 1])["shifted"] for pair in simulated.real]
    redrawn = np.concatenate([atoms.draw(queries, sets, rng) for atoms in real], axis=1)
    first, second = simulated.means.T
    quantities = {
        "mean": (simulated.scores[:, :, 0].T, first),
        "difference": (simulated.differences, first - second),
        "redrawn": (redrawn, np.zeros(len(first))),
    }
    rows: list[Row] = []
    for quantity, (values, truth) in quantities.items():
        found = {name: limits(kind, values) for name, kind in intervals(extent.draws).items()}
        unit = found["Student"][1] - found["Student"][0]
        for name, ends in found.items():
            facts: Row = {"of": quantity, "interval": name, "queries": queries}
            rows += _rows(simulated, facts, ends, truth, unit=unit)
    chosen = np.tile(np.arange(sets), len(real)) < extent.ratio_sets
    ends = _ratios(simulated, chosen, extent.draws)
    facts = {"of": "ratio", "interval": "BCa", "queries": queries}
    return rows + _rows(simulated, facts, ends, first / second, unit=np.ones(len(first)), among=chosen)


def _ratios(simulated: Simulated, chosen: Flags, draws: int) -> tuple[Floats, Floats]:
    ends = np.full((2, len(chosen)), np.nan)
    for index in np.flatnonzero(chosen).tolist():
        ends[:, index] = BCa(draws=draws).ratio(*simulated.scores[index].T, seed=index)
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
    below, above = missed(low, high, truth)
    rows: list[Row] = []
    for measure, group in simulated.groups():
        members = group if among is None else group & among
        selected = members & ~np.isnan(low)
        rows.append(
            facts
            | {"measure": measure, "sets": int(selected.sum())}
            | rate(~(below | above)[selected], simulated.pairs[selected], "coverage")
            | {
                "below": float(below[selected].mean()),
                "above": float(above[selected].mean()),
                "width": float((high - low)[selected].mean() / unit[selected].mean()),
                "undefined": float(np.isnan(low)[members].mean()),
            }
        )
    return rows


def power(matrices: Mapping[str, Floats], queries: int, extent: Extent) -> list[Row]:
    """Return the power of each test by standardised true difference."""
    simulated = simulate(matrices, queries, extent)
    differences, effects = simulated.differences, simulated.effects
    truth = np.sign(simulated.means[:, 0] - simulated.means[:, 1])
    correct = np.sign(differences.mean(axis=0)) == truth
    rows: list[Row] = []
    for name, test in paired_tests(extent.draws).items():
        significant = p_values(test, differences) <= LEVEL
        for label, low, high in classes(EFFECTS):
            chosen = (effects >= low) & (effects < high) & (truth != 0)
            facts: dict[str, Any] = {"queries": queries, "test": name, "effect": label}
            facts["sets"] = int(chosen.sum())
            found = rate((significant & correct)[chosen], simulated.pairs[chosen], "found")
            wrong, _ = share((significant & ~correct)[chosen], simulated.pairs[chosen])
            rows.append(facts | found | {"wrong": wrong})
    return rows
