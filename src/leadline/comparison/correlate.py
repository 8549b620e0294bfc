"""Correlation of two scores over runs: Pearson, Spearman, Kendall's tau-b, tau-AP, with intervals."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, SupportsFloat

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.table import PROBABILITY, ResultWarning, columns_of, keyed, raised
from leadline.data.table import Column as TableColumn
from leadline.data.validation import check_whole
from leadline.data.wording import counted, first_few, percent
from leadline.data.wording import queries as counted_queries
from leadline.errors import InputError, UsageError, either
from leadline.evaluation.results import Results
from leadline.io.read_paths import public
from leadline.io.result_files import Column, read_column
from leadline.result import Make, Result
from leadline.stats import checked_level, checked_seed
from leadline.stats.correlation import (
    BLOCK,
    ROWS,
    coefficient,
    levels,
    over_queries,
    permutation_p,
    reliability,
)
from leadline.stats.moments import ROUNDING, interval, resamples

FEW = 10  # warn of fewer runs; minimum number of runs, or of teams, for an interval over runs
LEAST = 5  # minimum number of runs for an interval over queries
TITLES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall tau-b",
    "tau_ap": "tau-AP",
    "tau_ap_b": "tau-AP,b",
}
RUNS_COVERED = (87, 100)  # per cent: as below, of 95 % intervals over runs, from 10 runs or teams on
QUERIES_COVERED = (84, 100)  # per cent: coverage of 95 % intervals over queries in simulations
RELIABLE = 0.8  # warn of means with a lower reliability where there are intervals over queries
EXACT = 9  # largest number of runs for which p of Spearman's rho is exact


class Coefficients(NamedTuple):
    """A coefficient with its confidence intervals over runs and over queries, and p; NaN where undefined."""

    value: float
    low: float
    high: float
    p: float
    queries_low: float = float("nan")
    queries_high: float = float("nan")


@dataclass(repr=False, eq=False)
class Correlation(Result):
    """Correlation coefficients of two scores over runs.

    Attributes
    ----------
    names : list of str
        Names of the runs with both scores.
    truth, estimate : ndarray of float64, shape (n_runs,)
        The scores.
    found : dict of str to Coefficients
        Coefficients by name: pearson, spearman, kendall, tau_ap, tau_ap_b.
    """

    names: list[str]
    sides: tuple[Column, Column]
    truth: Floats
    estimate: Floats
    found: dict[str, Coefficients]

    def __getitem__(self, name: str) -> Coefficients:
        if name not in self.found:
            raise UsageError(f"there is no coefficient '{name}'. Use one of {', '.join(self.found)}.")
        return self.found[name]

    def _columns(self) -> list[TableColumn]:
        names = ("coefficient", "value", "low", "high", "p", "queries low", "queries high")
        columns = columns_of(names, [(TITLES[name], *found) for name, found in self.found.items()])
        columns = [one._replace(hidden=all(cell is None for cell in one.cells())) for one in columns]
        return [one._replace(form=PROBABILITY) if one.name == "p" else one for one in columns]

    def _notes(self) -> list[str]:
        truth, estimate = self.sides
        level, draws = percent(self.options["confidence"]), self.options["draws"]
        unit = "teams" if self.options.get("team") else "runs"
        held = "95 % intervals contained the true value in {} to {} % of simulations"
        runs, queries = (held.format(*covered) for covered in (RUNS_COVERED, QUERIES_COVERED))
        legend = {
            "p": "p: two-sided; for Spearman, over all permutations of the runs" * (len(self.names) <= EXACT),
            "low": f"low, high: approximate {level} CI over {unit} ({draws:,} resamples; {runs})",
            "queries low": f"queries low, queries high: approximate {level} CI over queries ({queries})",
        }
        shown = [legend.get(one.name, "") for one in self._columns() if not one.hidden]
        notes = [f"{_label(estimate)} against {_label(truth)} over {len(self.names)} runs", *shown]
        notes.append("" if draws else "no intervals, because there are no draws (-C test.draws=0)")
        return [*filter(None, notes), *super()._notes()]

    def lines(self) -> list[dict[str, Any]]:
        """Return one record per coefficient."""
        data = self.to_dict()
        return [{"coefficient": name, **data[name]} for name in self.found]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of the coefficients; None is undefined."""
        truth, estimate = self.sides
        return {
            "truth": truth.measure,
            "estimate": estimate.measure,
            "n": len(self.names),
            "runs": self.names,
            **{name: keyed(found) for name, found in self.found.items()},
        }

    def _figure(self) -> Make:
        """Draw one score over the other, one point per run, with the coefficients and the runs that swap."""
        from leadline.charts import COLUMN
        from leadline.charts.association_plots import association, with_limits

        level = percent(float(self.options["confidence"]))

        def shown(found: Coefficients) -> str:
            limits = [("runs", found.low, found.high), ("queries", found.queries_low, found.queries_high)]
            return with_limits(found.value, limits, level)

        truth, estimate = self.sides
        paths = truth.measure == estimate.measure
        return lambda width: association(
            self.truth,
            self.estimate,
            self.names,
            across=f"{truth.measure} ({os.path.basename(truth.path)})" if paths else truth.measure,
            up=f"{estimate.measure} ({os.path.basename(estimate.path)})" if paths else estimate.measure,
            coefficients={
                words: shown(self[name])
                for name, words in (("kendall", "Kendall's tau-b"), ("tau_ap", "tau-AP"))
            },
            width=width or COLUMN,
        )

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {found.value:.3f}" for name, found in self.found.items())
        return f"Correlation({counted(len(self.names), 'run')}, {shown})"


@public
def correlate(
    truth: str | os.PathLike[str] | Mapping[str, Any] | Results,
    estimate: str | os.PathLike[str] | Mapping[str, Any] | Results,
    *,
    teams: Mapping[str, str] | None = None,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Correlation:
    """Correlate two scores of the same runs.

    Coefficients are Pearson's r, Spearman's rho, Kendall's tau-b and tau-AP, which gives more weight to
    errors at the top of the estimated ranking, and its symmetric form with ties, tau-AP,b. Runs without both
    scores are excluded and counted.

    Parameters
    ----------
    truth, estimate : path, mapping or Results
        Result files (FILE or FILE:MEASURE), `{run: value}`, `{run: {query: value}}`, or the results of
        `evaluate`, whose first measure is taken.
    teams : mapping of str to str, optional
        Team of each run; runs of a team are resampled together, and a run without a team alone.
    draws : int, default 1000
        Number of bootstrap resamples; 0: no intervals.
    confidence : float, default 0.95
        Confidence level of the intervals.
    seed : int, default 0
        Seed of the random number generator.

    Returns
    -------
    Correlation

    Raises
    ------
    InputError
        If fewer than two runs have both scores, or a run has no value for a query that another one has.

    Notes
    -----
    Both intervals are approximate. Intervals over runs are percentiles of bootstrap resamples of the runs
    and need ten or more runs, or teams, and resamples that differ. In simulations with r from 0 to 0.98
    (normal and skewed values), 95 % intervals contained Pearson's r in 87 to 94 % of the samples and the
    other coefficients in 91 to 100 %, but with five runs in only 83 to 92 % and 63 to 97 %. Beyond r = 0.98,
    intervals of Spearman's rho contain it too rarely (in 73 % with r = 0.998). Intervals over queries are for
    these runs and a population of queries, need per-query values of five or more runs, and are corrected for
    bias (`leadline.stats.correlation.over_queries`).
    p-values are two-sided: by t (Pearson, and Spearman with ten or more runs), by all permutations (Spearman
    with up to nine runs), and by SciPy's test of tau-b; there is none for tau-AP and tau-AP,b.

    References
    ----------
    Yilmaz, Aslam and Robertson (2008), A new rank correlation coefficient for information retrieval, SIGIR.
    Urbano and Marrero (2017), The treatment of ties in AP correlation, ICTIR.

    Examples
    --------
    >>> result = correlate({"a": 0.1, "b": 0.2, "c": 0.4}, {"a": 1.0, "b": 3.0, "c": 2.0, "d": 9.0}, draws=0)
    >>> result["kendall"].value.__round__(4), result["tau_ap"].value, len(result.names)
    (0.3333, 0.0, 3)
    """
    check_whole(0, draws=draws)
    checked_level(confidence)
    checked_seed(seed)
    sides = _column(truth, "truth"), _column(estimate, "estimate")
    both = sorted(sides[0].values.keys() & sides[1].values.keys())
    x, y = (np.array([side.values[name] for name in both], dtype=np.float64) for side in sides)
    finite = np.isfinite(x) & np.isfinite(y)
    names = [name for name, fine in zip(both, finite.tolist(), strict=True) if fine]
    if len(names) < 2:
        paths, measures = (dict.fromkeys(each) for each in zip(*(side[:2] for side in sides), strict=True))
        unmatched = any(side.values.keys() - set(both) for side in sides)
        match = ". Check that the run names match" if len(both) < 2 and unmatched else ""
        raise InputError(
            f"too few runs: {len(both):,} in {'both ' * (len(paths) > 1)}{either(paths, 'and')}, "
            f"{len(names):,} with values of "
            f"{either(measures, 'and')}",
            hint=f"A correlation needs at least two runs{match}",
        )
    x, y = x[finite], y[finite]
    without = [] if teams is None else [name for name in names if not teams.get(name)]
    units = names
    if teams is not None:
        units = [f"run {name}" if name in without else f"team {teams[name]}" for name in names]
    unit, drawn = "runs" if teams is None else "teams", len(set(units))
    runs = _over_runs(x, y, units, draws if drawn >= FEW else 0, seed)
    tables, unusable = _tables(sides, names, (x, y))
    limits = np.full((len(TITLES), 2), np.nan)
    noisy: list[ResultWarning] = []
    if tables is not None and draws and len(names) >= LEAST:
        limits = over_queries(*tables, list(TITLES), draws=draws, confidence=confidence, seed=seed)
        for side, table in zip(sides, tables, strict=True):
            noisy += noisy_means([(_label(side), reliability(table))])
    coefficients = {
        name: Coefficients(
            coefficient(name, x, y),
            *_limits(runs[:, index], confidence),
            _p(name, x, y),
            *limits[index].tolist(),
        )
        for index, name in enumerate(TITLES)
    }
    equal = sum(math.isnan(found.low) and not math.isnan(found.value) for found in coefficients.values())
    alone = counted(
        len(without),
        "run without a team counts as its own team",
        "runs without a team each count as their own team",
    )
    same = (
        f"no interval over {unit} for {equal} of {len(limits)} coefficients, because all resamples give the "
        "same value"
    )
    teams_or_runs = f"{counted(drawn, unit[:-1])}, but at least {FEW} are needed"
    few = raised(
        ("without_team", f"{alone} ({first_few(without)})", len(without)),
        (
            "too_few_runs",
            f"coefficients are unreliable and have no intervals over {unit}: {teams_or_runs}",
            int(drawn < FEW),
        ),
        (
            "too_few_runs",
            f"no intervals over queries: {counted(len(names), 'run')}, but at least {LEAST} are needed",
            int(tables is not None and len(names) < LEAST),
        ),
        ("equal_resamples", same, equal if draws and drawn >= FEW else 0),
    )
    return Correlation(
        names,
        sides,
        x,
        y,
        coefficients,
        warnings=[*_warnings(sides, both, names, (x, y), unusable), *few, *noisy],
        options={
            "truth": sides[0].path,
            "truth_measure": sides[0].measure,
            "estimate": sides[1].path,
            "estimate_measure": sides[1].measure,
            "draws": draws,
            "confidence": confidence,
            "seed": seed,
            **({} if teams is None else {"team": "in memory"}),
        },
    )


def _label(side: Column) -> str:
    """Return the name of a score and of its file; of values in memory both are the argument."""
    return side.measure if side.measure == side.path else f"{side.measure} ({side.path})"


def _column(source: Any, name: str) -> Column:
    if isinstance(source, Column):  # of the command, which has read it
        return source
    if isinstance(source, Results):  # the first measure, as of a file
        return column_of(source, 0, str(source.measures[0]))
    if isinstance(source, Mapping):
        flat: dict[str, float] = {}
        nested: dict[str, dict[str, float]] = {}
        for run, value in source.items():
            if isinstance(value, Mapping):
                nested[run] = {query: _number(run, one) for query, one in value.items()}
            else:
                flat[run] = _number(run, value)
        return _with_means(Column(name, name, flat, nested))
    if not isinstance(source, (str, os.PathLike)):
        kind = type(source).__name__
        raise UsageError(
            f"{name} cannot be of type {kind}. Pass FILE, FILE:MEASURE, {{run: value}} or the result of "
            "`evaluate`."
        )
    return _with_means(read_column(os.fspath(source)))


def column_of(results: Results, index: int, path: str) -> Column:
    """Return the means and the averaged values of a measure."""
    results.refuse_weights("`leadline correlate`")
    measure, queries = str(results.measures[index]), list(results.queries)
    by_query = {
        name: {query: value for query, value in zip(queries, row, strict=True) if not math.isnan(value)}
        for name, row in zip(results.names, results.averaged_values(index).tolist(), strict=True)
    }
    means = dict(zip(results.names, results.means[:, index].tolist(), strict=True))
    reasons = (results.withheld or {}).get(measure, {})
    return Column(path, measure, means, by_query, tuple(reasons.items()))


def _with_means(column: Column) -> Column:
    """Return a column with means of the runs that have only values by query, the same queries."""
    alone = {run: row for run, row in column.queries.items() if run not in column.values}
    queries = sorted(set().union(*alone.values()))
    for run, row in alone.items():
        for query in queries:
            if math.isnan(row.get(query, math.nan)):
                raise InputError(
                    f"run '{run}' has no value for query '{query}'",
                    path=column.path,
                    hint="Add the value, or remove this query from all runs",
                )
    means = {run: sum(row.values()) / len(row) for run, row in alone.items() if row}
    return column._replace(values=column.values | means)


def _number(run: object, value: object) -> float:
    """Return a value of a run, or of one of its queries."""
    if not isinstance(value, SupportsFloat):
        raise UsageError(f"the value {' '.join(repr(value).split())[:60]} of run '{run}' is not a number")
    return float(value)


def _over_runs(x: Floats, y: Floats, teams: Sequence[str], draws: int, seed: int) -> Floats:
    """Return the coefficients of bootstrap resamples of the runs: draws x coefficients."""
    times = resamples(teams, draws=draws, seed=seed).astype(np.float64, order="C")
    blocks = [times[start : start + BLOCK] for start in range(0, max(draws, 1), BLOCK)]
    columns = [np.concatenate([ROWS[name](x[None], y[None], block) for block in blocks]) for name in TITLES]
    return np.stack(columns, axis=1)


def _limits(resampled: Floats, confidence: float) -> tuple[float, float]:
    """Return the percentile interval; NaN if all resamples have the same value."""
    low, high = interval(resampled, confidence)
    return (low, high) if high - low > ROUNDING else (math.nan, math.nan)


def _tables(
    sides: tuple[Column, Column], names: Sequence[str], values: tuple[Floats, Floats]
) -> tuple[tuple[Floats, Floats] | None, str]:
    """Return per-query values of both sides (or None), and why those that there are could not be used."""
    with_queries = [side for side in sides if all(side.queries.get(name) for name in names)]
    if not with_queries:
        return None, ""
    sets = [set(side.queries[name]) for side in with_queries for name in names]
    queries = sorted(set.intersection(*sets))
    if len(queries) < 2:
        return None, f"the runs have {counted_queries(len(queries))} in common, but at least 2 are needed"
    tables: list[Floats] = []
    for side, means in zip(sides, values, strict=True):
        if not any(side is other for other in with_queries):
            tables.append(np.broadcast_to(means, (len(queries), len(names))))
            continue
        table = np.nan_to_num([[side.queries[name][query] for query in queries] for name in names])
        if not np.allclose(table.mean(axis=1), means, rtol=1e-6, atol=1e-9):
            return None, "the values are not arithmetic means over the queries that all runs share"
        tables.append(table.T)
    return (tables[0], tables[1]), ""


def noisy_means(found: Sequence[tuple[str, float]]) -> list[ResultWarning]:
    """Return a warning about means of runs too noisy for intervals over queries of their correlations.

    >>> for notice in noisy_means([("AP", 0.7), ("P", 0.5), ("RR", 0.9)]):
    ...     print(notice.message.partition(", ")[2])
    because the means of P have a reliability of only 0.50 (the lowest of 2 below 0.8)
    >>> noisy_means([("AP", -32.9)])[0].message.rpartition("reliability of ")[2]
    '0 or less (below 0.8)'
    """
    noisy = sorted((value, what) for what, value in found if value < RELIABLE)
    if not noisy:
        return []
    value, what = noisy[0]
    several = f"the lowest of {len(noisy):,} " if len(noisy) > 1 else ""
    size = f"only {value:.2f}" if value > 0 else "0 or less"
    words = (
        f"intervals over queries may be too low, because the means of {what} have a reliability of {size} "
        f"({several}below {RELIABLE:g})"
    )
    return [ResultWarning("noisy_means", words, len(noisy))]


def _p(name: str, x: Floats, y: Floats) -> float:
    """Return the two-sided p-value of a coefficient."""
    r, free = coefficient(name, x, y), len(x) - 2
    if name in ("tau_ap", "tau_ap_b") or free < 1 or np.isnan(r):
        return float("nan")
    from scipy import stats

    if name == "kendall":  # of the levels, so that ties are those of tau-b
        return float(stats.kendalltau(levels(x), levels(y)).pvalue)
    if name == "spearman" and len(x) <= EXACT:
        return permutation_p(x, y)
    if abs(r) >= 1:
        return 0.0
    return float(2 * stats.t.sf(abs(r) * np.sqrt(free / (1 - r * r)), free))


def _warnings(
    sides: tuple[Column, Column],
    both: Sequence[str],
    names: Sequence[str],
    values: tuple[Floats, Floats],
    unusable: str,
) -> list[ResultWarning]:
    found = []
    for side, column in zip(sides, values, strict=True):
        words = f"{_label(side)} is the same for all runs, which leaves coefficients undefined"
        found.append(("constant", words, int(not levels(column).any())))
    for side, beside in (sides, sides[::-1]):
        alone = sorted(set(side.values) - set(both))
        words = f"left out {counted(len(alone), 'run')} with {_label(side)} but not {_label(beside)}"
        found.append(("only_one_side", f"{words}: {first_few(alone)}", len(alone)))
    for side in sides:
        reasons = [reason for name, reason in side.withheld if name in names]
        words = (
            f"{_label(side)} has no interval for {len(reasons)} of {counted(len(names), 'run')} "
            f"({first_few(list(dict.fromkeys(reasons)), 2)}), so the coefficients may be wrong"
        )
        found.append(("withheld_intervals", words, len(reasons)))
    lost = len(both) - len(names)
    other = f"no intervals over queries, because {unusable}"
    found += [
        ("undefined", f"left out {counted(lost, 'run')} with an undefined value", lost),
        ("queries_unused", other, int(bool(unusable))),
    ]
    return raised(*found)
