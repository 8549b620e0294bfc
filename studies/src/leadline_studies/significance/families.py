"""Family-wise error rate and power of corrections for all pairs of many runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.stats import CORRECTIONS
from leadline.stats.intervals import Student
from leadline.stats.paired_tests import Randomisation, T
from leadline.stats.simultaneous import max_t, tukey
from leadline_studies.common.coverage import covers
from leadline_studies.significance.decisions import LEVEL, Extent, Row, rate
from leadline_studies.significance.populations import best_runs, draw, margin, normal_correlations

WORLDS = {
    "all equal": "every run has the same margin",
    "equal means": "runs have their own margins, each scaled so that all means are equal",
    "equal in twos": "runs have their own margins, but two each have the same",
    "all different": "every run has its own margin",
}
DOUBTFUL = 0.1  # p of t above which no correction of many pairs can matter


Limits = tuple[Floats, Floats]


def procedures(values: Floats, *, draws: int, seed: int) -> tuple[dict[str, Floats], dict[str, Limits]]:
    """Return adjusted p of all pairs of runs, and simultaneous intervals, by procedure."""
    first, second = np.triu_indices(values.shape[1], k=1)
    differences = values[:, first] - values[:, second]
    means = differences.mean(axis=0)
    plain = np.nan_to_num(T().p_values(differences), nan=1.0)
    exchanged = plain.copy()
    few = plain < DOUBTFUL
    if few.any():
        patterns = round(2 * len(plain) / LEVEL)
        exchanged[few] = Randomisation(draws=max(draws, patterns) - 1).p_values(
            differences[:, few], seed=seed
        )
    ranges = tukey(values, draws=draws, seed=seed)
    largest = max_t(differences, draws=draws, seed=seed)
    reach = ranges.half_width(1 - LEVEL)
    p_values = {"Tukey": ranges.p_values(means), "MaxT": largest.p}
    for name, kind in CORRECTIONS.classes.items():
        p_values[f"{name}(T)"] = kind().corrected(plain)
    p_values["Holm(Randomisation)"] = CORRECTIONS.classes["Holm"]().corrected(exchanged)
    intervals = {
        "Tukey": (means - reach, means + reach),
        "MaxT": largest.limits(1 - LEVEL),
        "Bonferroni(T)": Student().limits(differences, level=1 - LEVEL / len(means)),
    }
    return p_values, intervals


def families(matrices: Mapping[str, Floats], runs: int, queries: int, extent: Extent) -> list[Row]:
    """Simulate sets of each matrix and scenario, each of other runs; one row per procedure."""
    rows: list[Row] = []
    for index, world in enumerate(WORLDS):
        rng = np.random.default_rng([extent.seed, runs, queries, index])
        outcomes: dict[str, list[tuple[float, ...]]] = {}
        drawn = 0
        for matrix in matrices.values():
            for _ in range(extent.sets if best_runs(matrix).shape[1] >= runs else 0):
                values, means = _scores(world, matrix, runs, queries, rng)
                p_values, intervals = procedures(values, draws=extent.draws, seed=drawn)
                held = _held(intervals, means)
                for name, p in p_values.items():
                    outcomes.setdefault(name, []).append(
                        (*_outcome(p, values, means), *held.get(name, (np.nan, np.nan)))
                    )
                drawn += 1
        rows += [_row(world, runs, queries, name, np.array(found)) for name, found in outcomes.items()]
    return rows


def _scores(
    world: str, matrix: Floats, runs: int, queries: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    best = best_runs(matrix)
    chosen = best[:, rng.permutation(best.shape[1])[:runs]]
    step = {"all equal": runs, "equal in twos": 2}.get(world, 1)
    margins = [margin(chosen[:, column - column % step]) for column in range(runs)]
    if world == "equal means":
        level = float(np.mean([of_run.mean for of_run in margins]))
        margins = [of_run._replace(quantiles=of_run.quantiles * (level / of_run.mean)) for of_run in margins]
    scores = draw(margins, normal_correlations(chosen), queries=queries, sets=1, rng=rng)
    means = np.array([of_run.mean for of_run in margins])
    return scores[0], np.round(means, 12)  # means made equal are equal but for rounding


def _outcome(p: Floats, values: Floats, means: Floats) -> tuple[float, float, float]:
    first, second = np.triu_indices(len(means), k=1)
    truth: Floats = np.sign(means[first] - means[second])
    seen: Floats = np.sign((values[:, first] - values[:, second]).mean(axis=0))
    significant: Flags = p <= LEVEL
    wrong = significant & (seen != truth)
    right = significant & (seen == truth)
    differing = np.count_nonzero(truth)
    power = right.sum() / differing if differing else float("nan")
    return float(wrong.any()), float(power), float(wrong.sum() / max(1, significant.sum()))


def _held(intervals: Mapping[str, Limits], means: Floats) -> dict[str, tuple[float, float]]:
    """Return whether the intervals of all pairs cover the truth, and their mean width."""
    first, second = np.triu_indices(len(means), k=1)
    truth = means[first] - means[second]
    low, high = intervals["Bonferroni(T)"]
    unit = float((high - low).mean())
    return {
        name: (float(covers(low, high, truth).all()), float((high - low).mean()) / unit)
        for name, (low, high) in intervals.items()
    }


def _row(world: str, runs: int, queries: int, name: str, outcomes: Floats) -> Row:
    places = np.arange(len(outcomes))
    family, found, false, held, width = outcomes.T
    return (
        {"world": world, "runs": runs, "queries": queries, "procedure": name, "sets": len(outcomes)}
        | rate(family, places, "family", "family_se")
        | rate(found, places, "found", "found_se")
        | {"false": float(false.mean())}
        | rate(held, places, "held", "held_se")
        | {"width": float(width.mean())}
    )
