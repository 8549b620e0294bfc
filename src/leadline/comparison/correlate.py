"""How well one number a run tracks another: Pearson, Spearman, Kendall's tau-b and tau-AP with intervals."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.result import Result
from leadline.data.results import ResultWarning, plain
from leadline.data.validation import check_numbers, check_whole
from leadline.data.wording import counted
from leadline.errors import InputError, UsageError
from leadline.io.result_files import Column, read_column
from leadline.stats import checked_level, checked_seed
from leadline.stats.correlation import kendall, levels, pearson, permutation_p, spearman, tau_ap
from leadline.stats.resampling import draws_of_teams, interval, resampled_pairs

Coefficient = Callable[[Floats, Floats, "Integers | None"], float]


def _tau_ap(truth: Floats, estimate: Floats, times: Integers | None = None) -> float:
    return tau_ap(estimate, truth, times)


COEFFICIENTS: dict[str, Coefficient] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "tau_ap": _tau_ap,
}
FEW = 10  # runs, below which one swap moves every coefficient a lot
LEAST = 5  # runs, below which there is no interval
EXACT = 9  # runs up to which all orders are gone through for Spearman's p


class Coefficients(NamedTuple):
    """A coefficient, its interval over runs, its p, its interval over queries; NaN where there is none."""

    value: float
    low: float
    high: float
    p: float
    queries_low: float = float("nan")
    queries_high: float = float("nan")


class Correlation(Result):
    """Coefficients by name over the runs that both sides have; `truth` and `estimate` are their values."""

    def __init__(
        self,
        names: Sequence[str],
        sides: tuple[Column, Column],
        values: tuple[Floats, Floats],
        found: Mapping[str, Coefficients],
        *,
        warnings: Sequence[ResultWarning] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.names = list(names)
        self.sides = sides
        self.truth, self.estimate = values
        self.found = dict(found)
        self.warnings = list(warnings)
        self.options = dict(options or {})

    def __getitem__(self, name: str) -> Coefficients:
        if name not in self.found:
            raise UsageError(f"no coefficient '{name}'; there are: " + ", ".join(self.found))
        return self.found[name]

    def to_dict(self) -> dict[str, Any]:
        """Give the coefficients as plain data; None is undefined."""
        truth, estimate = self.sides
        return {
            "truth": truth.measure,
            "estimate": estimate.measure,
            "n": len(self.names),
            "runs": self.names,
            **{
                name: {key: plain(value) for key, value in one._asdict().items()}
                for name, one in self.found.items()
            },
        }

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {one.value:.3f}" for name, one in self.found.items())
        return f"Correlation({len(self.names)} runs, {shown})"


def correlate(
    truth: str | os.PathLike[str] | Mapping[str, Any],
    estimate: str | os.PathLike[str] | Mapping[str, Any],
    *,
    teams: Mapping[str, str] | None = None,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Correlation:
    """Correlate two numbers of the same runs: of result files (FILE or FILE:MEASURE) or dictionaries.

    A dictionary is `{run: value}` or `{run: {query: value}}`. Pearson's r is of the values, Spearman's rho
    of average ranks, Kendall's tau is tau-b, tau-AP minds errors among the best by the estimate most.
    Two approximate intervals, from five runs on: over runs, percentiles of `draws` resamples of the runs,
    whole `teams` at a time where they are given; and over queries, for these runs and a larger population of
    queries, where a side has values of queries (`over_queries`). p is two-sided: by t (Pearson; Spearman from
    ten runs on), by all permutations (Spearman up to nine runs), by SciPy's test of tau-b; tau-AP has none.
    Runs that only one side has or that are undefined on one are left out and counted.

    >>> found = correlate({"a": 0.1, "b": 0.2, "c": 0.4}, {"a": 1.0, "b": 3.0, "c": 2.0, "d": 9.0}, draws=0)
    >>> found["kendall"].value.__round__(4), found["tau_ap"].value, len(found.names)
    (0.3333, 0.0, 3)
    """
    check_whole(0, draws=draws)
    check_numbers(confidence=confidence)
    checked_level(confidence)
    checked_seed(seed)
    sides = _column(truth, "truth"), _column(estimate, "estimate")
    both = sorted(sides[0].values.keys() & sides[1].values.keys())
    x, y = (np.array([side.values[name] for name in both], dtype=np.float64) for side in sides)
    known = np.isfinite(x) & np.isfinite(y)
    names = [name for name, fine in zip(both, known.tolist(), strict=True) if fine]
    if len(names) < 2:
        raise InputError(
            f"{counted(len(both), 'run')} in both {sides[0].path} and {sides[1].path}, {len(names)} with a "
            f"number ({sides[0].measure}, {sides[1].measure}) in each",
            expected="two or more" + ("" if len(both) > 1 else "; do the names match?"),
        )
    x, y = x[known], y[known]
    draws_used = draws if len(names) >= LEAST else 0
    runs = _over_runs(x, y, [teams.get(name, name) for name in names] if teams else names, draws_used, seed)
    tables, unused = _tables(sides, names, (x, y))
    limits = np.full((len(COEFFICIENTS), 2), np.nan)
    if tables is not None and draws_used:
        limits = over_queries(*tables, draws=draws_used, confidence=confidence, seed=seed)
    found = {
        name: Coefficients(
            one(x, y, None), *interval(runs[:, place], confidence), _p(name, x, y), *limits[place].tolist()
        )
        for place, (name, one) in enumerate(COEFFICIENTS.items())
    }
    return Correlation(
        names,
        sides,
        (x, y),
        found,
        warnings=_notices(sides, both, names, (x, y), unused),
        options={
            "truth": sides[0].path,
            "truth_measure": sides[0].measure,
            "estimate": sides[1].path,
            "estimate_measure": sides[1].measure,
            "draws": draws,
            "confidence": confidence,
            "seed": seed,
        },
    )


def _column(given: Any, name: str) -> Column:
    if isinstance(given, Mapping):
        nested = {run: value for run, value in given.items() if isinstance(value, Mapping)}
        flat = {run: float(value) for run, value in given.items() if run not in nested}
        means = {run: float(np.mean(np.nan_to_num(list(row.values())))) for run, row in nested.items()}
        return Column(name, name, flat | means, {run: dict(row) for run, row in nested.items()})
    return read_column(os.fspath(given))


def _over_runs(x: Floats, y: Floats, teams: Sequence[str], draws: int, seed: int) -> Floats:
    """Give draws x coefficients with runs drawn again."""
    rows = [
        [one(x, y, times) for one in COEFFICIENTS.values()]
        for times in draws_of_teams(teams, samples=draws, seed=seed)
    ]
    return np.array(rows).reshape(draws, len(COEFFICIENTS))


def over_queries(
    x: Floats, y: Floats, *, draws: int = 1000, confidence: float = 0.95, seed: int = 0
) -> Floats:
    """Return approximate limits of the coefficients over the population that the queries are a sample of.

    A limit is the further of two: the percentile of the coefficients of resampled means, which are too low
    on average, and that of simulated means of the population, which tend to be too high
    (`leadline.stats.resampling.population_means`). Neither interval alone keeps its level; the measured
    coverage of both together is in docs/studies/significance.md.

    Parameters
    ----------
    x, y : ndarray, shape (queries, runs)
        Values of the same queries and runs by each measure; means in every row where there are no others.
    draws : int
        Number of draws of each kind.
    confidence : float
        Confidence level.
    seed : int
        Seed of the draws.

    Returns
    -------
    ndarray, shape (coefficients, 2)
        Lower and upper limit, in the order of `COEFFICIENTS`.

    """
    generator = np.random.default_rng([seed, 3])
    drawn = resampled_pairs(x, y, draws, generator)
    kinds = [
        np.array([[one(a, b, None) for one in COEFFICIENTS.values()] for a, b in zip(*pair, strict=True)])
        for pair in (drawn[:2], drawn[2:])
    ]
    limits = [[interval(kind[:, place], confidence) for place in range(len(COEFFICIENTS))] for kind in kinds]
    low, high = np.array(limits).transpose(2, 0, 1)
    return np.stack([low.min(axis=0), high.max(axis=0)], axis=1)


def _tables(
    sides: tuple[Column, Column], names: Sequence[str], values: tuple[Floats, Floats]
) -> tuple[tuple[Floats, Floats] | None, bool]:
    """Return queries x runs of both sides if one has them; whether values of queries could not be used."""
    known = [side for side in sides if all(side.queries.get(name) for name in names)]
    if not known:
        return None, False
    queries = sorted(set.intersection(*(set(side.queries[name]) for side in known for name in names)))
    tables: list[Floats] = []
    for side, means in zip(sides, values, strict=True):
        if not any(side is one for one in known):
            tables.append(np.broadcast_to(means, (len(queries), len(names))))
            continue
        table = np.nan_to_num([[side.queries[name][query] for query in queries] for name in names])
        if len(queries) < 2 or not np.allclose(table.mean(axis=1), means, rtol=1e-6, atol=1e-9):
            return None, True
        tables.append(table.T)
    return (tables[0], tables[1]), False


def _p(name: str, x: Floats, y: Floats) -> float:
    """Give the two-sided p of a coefficient against none at all."""
    if name == "tau_ap" or len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    from scipy import stats

    if name == "kendall":  # of the levels, so that p knows the ties that tau-b does
        return float(stats.kendalltau(levels(x), levels(y)).pvalue)
    if name == "spearman" and len(x) <= EXACT:
        return permutation_p(x, y)
    r, free = COEFFICIENTS[name](x, y, None), len(x) - 2
    if abs(r) >= 1:
        return 0.0
    return float(2 * stats.t.sf(abs(r) * np.sqrt(free / (1 - r * r)), free))


def _notices(
    sides: tuple[Column, Column],
    both: Sequence[str],
    names: Sequence[str],
    values: tuple[Floats, Floats],
    unused: bool,
) -> list[ResultWarning]:
    found = [
        ResultWarning(
            "constant", f"{side.measure} ({side.path}) is the same for all runs; no coefficient is defined", 1
        )
        for side, one in zip(sides, values, strict=True)
        if np.ptp(one) == 0
    ]
    for side in sides:
        alone = sorted(set(side.values) - set(both))
        shown = ", ".join(alone[:3]) + (", ..." if len(alone) > 3 else "")
        found.append(
            ResultWarning(
                "only_one_side", f"runs in {side.path} only: {len(alone)} ({shown}); left out", len(alone)
            )
        )
    lost = len(both) - len(names)
    found += [
        ResultWarning("undefined", f"runs without a number on one side: {lost}; left out", lost),
        ResultWarning(
            "few_runs",
            f"only {len(names)} runs; one swap moves every coefficient a lot",
            int(len(names) < FEW),
        ),
        ResultWarning(
            "too_few_runs", f"{len(names)} runs; no interval below {LEAST}", int(len(names) < LEAST)
        ),
        ResultWarning(
            "queries_unused",
            "values of queries do not make the means of their file; no interval over queries",
            int(unused),
        ),
    ]
    return [notice for notice in found if notice.count]
