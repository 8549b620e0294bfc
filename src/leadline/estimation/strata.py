"""Strata of sampled evaluation (documents of positive grade, a sample of the others), and its estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Hashes, Integers, counts_above, freeze, smallest_keys
from leadline.data.ids import Vocabulary
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import QrelsColumns
from leadline.data.run import TieGroups
from leadline.data.table import Column, RunInfo, plain
from leadline.data.validation import check_whole
from leadline.data.wording import counted, percent
from leadline.errors import InputError, UsageError, either
from leadline.estimation.score_sets import POSITIVE, Certain, Rows, drawn_size, row_keys, rows_of
from leadline.evaluation.lookups import place_of
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.results import in_range
from leadline.measures import Measure
from leadline.result import Make, Result

Population = int | Mapping[str, int] | None


class Strata(NamedTuple):
    """The scored documents of a run: those of positive grade, and the numbers of others by query."""

    # documents of positive grade that have a score, grouped by query, in descending order of score
    query: Integers
    row: Codes  # row in the qrels
    start: Floats  # rank if no sampled document were above
    above: Floats  # number of sampled documents above; ties count a half
    # by query, without scores or without a document of positive grade 0
    listed: Flags  # whether the query has both
    sampled: Integers  # number n of sampled documents that have a score
    size: Integers  # number N of documents from which the sample was drawn
    fixed: Integers  # number of documents included with certainty
    unscored: Integers  # how many of these have no score
    constant: Flags  # whether all scores are equal, and some document is sampled
    sample: Hashes  # identifier of the set of scored documents; 0 if not requested

    @property
    def open(self) -> Flags:
        """Queries whose ranks are not exact, because some documents have no score."""
        return np.asarray(self.sampled != self.size)

    @property
    def weight(self) -> Floats:
        """Weight N/n of a sampled document by query; 0 without any."""
        weights: Floats = np.zeros(len(self.size))
        return np.divide(self.size, self.sampled, out=weights, where=self.sampled > 0)


def strata(
    judged: JudgedRun,
    population: Population,
    sample: int | None,
    seed: int,
    certain: Certain | None = None,
    *,
    identify: bool = False,
) -> Strata:
    """Return the strata of a run."""
    rows = rows_of(judged, POSITIVE)
    assert judged.lists is not None
    score = judged.lists.scores[rows.position]
    fixed = _fixed(judged, rows, certain)
    drawn = ~rows.relevant & ~fixed
    number = drawn_size(certain, sample)
    size = len(judged.present)

    def by_query(flags: Flags) -> Integers:
        """Return the number of flagged rows of each query."""
        return np.bincount(rows.query[flags], minlength=size).astype(np.int64)

    scored = by_query(drawn)
    if number is not None:
        others = np.flatnonzero(drawn)
        kept = smallest_keys(row_keys(judged, rows, drawn, seed), rows.query[others], number)
        drawn[others[~kept]] = False
    listed = by_query(np.ones(len(score), dtype=np.bool_)) > 0
    counts = np.zeros(size, dtype=np.int64)
    if certain is not None:
        counts[:] = [len(names) for names in certain.documents]
    sizes = np.where(listed, population_sizes(judged.qrels, population, scored, counts), 0)
    counts = np.where(listed, counts, 0)
    sampled = by_query(drawn)
    for code in np.flatnonzero(sampled > sizes)[:1].tolist():
        more = f" (not counting {counted(int(counts[code]), 'certain document')})" if counts[code] else ""
        found = counted(int(scored[code]), "scored non-relevant document")
        raise InputError(
            f"query '{judged.qrels.queries[code]}' has {found}, more than the {sizes[code]:,} in its "
            f"population{more}",
            hint="Pass a larger --population.",
        )
    order = np.flatnonzero(rows.relevant)
    order = order[np.argsort(rows.query[order], kind="stable")]
    query = rows.query[order].astype(np.int64)
    above, below_certain = (counts_above(rows.query, score, flags)[order] for flags in (drawn, fixed))
    lowest, highest = np.full(size, np.inf), np.full(size, -np.inf)
    used = rows.relevant | drawn
    np.minimum.at(lowest, rows.query[used], score[used])
    np.maximum.at(highest, rows.query[used], score[used])
    return Strata(
        query,
        judged.lists.rows[rows.position[order]],
        np.arange(len(query)) - np.searchsorted(query, query) + 1.0 + below_certain,
        above,
        listed,
        sampled,
        sizes,
        counts,
        counts - by_query(fixed),
        (by_query(rows.relevant) > 0) & (sampled > 0) & (lowest == highest),
        _identified(judged, rows, drawn | fixed) if identify else np.zeros(size, np.uint64),
    )


def _fixed(judged: JudgedRun, rows: Rows, certain: Certain | None) -> Flags:
    """Return flags of the rows that are included with certainty."""
    flags = np.zeros(len(rows.query), dtype=np.bool_)
    if certain is not None:
        assert judged.lists is not None
        assert judged.lists.ids is not None
        others = np.flatnonzero(~rows.relevant)
        names = judged.lists.ids.take(rows.position[others])
        pairs = zip(rows.query[others].tolist(), names, strict=True)
        flags[others] = [name in certain.documents[code] for code, name in pairs]
    return flags


def _identified(judged: JudgedRun, rows: Rows, chosen: Flags) -> Hashes:
    """Return an identifier, by query, of the set of chosen documents."""
    assert judged.lists is not None
    assert judged.lists.ids is not None
    chosen_rows = np.flatnonzero(chosen)
    names = judged.lists.ids.take(rows.position[chosen_rows])
    keys = np.array([hash(name) for name in names], dtype=np.int64).view(np.uint64)
    identifiers = np.zeros(len(judged.present), dtype=np.uint64)
    np.add.at(identifiers, rows.query[chosen_rows], keys | np.uint64(1))
    return identifiers


def check_population(population: Population, qrels: QrelsColumns) -> None:
    """Refuse a population that is not a whole number, or that lacks one for a query."""
    if not isinstance(population, Mapping):
        check_whole(0, population=population)
        return
    for query in qrels.queries:
        if query not in population:
            raise UsageError(f"query '{query}' has no population. Pass a population for every query.")
        check_whole(0, **{f"population[{query!r}]": population[query]})


def population_sizes(
    qrels: QrelsColumns, population: Population, scored: Integers, certain: Integers
) -> Integers:
    """Return the population size N of each query, documents included with certainty left out."""
    if population is None:
        return scored
    if isinstance(population, Mapping):
        sizes = np.array([population[query] for query in qrels.queries], dtype=np.int64)
    else:
        sizes = population - qrels.relevant(POSITIVE)
    sizes = sizes - certain
    if (sizes < 0).any():
        query = qrels.queries[int(np.argmin(sizes))]
        included = ["relevant documents"] * (not isinstance(population, Mapping))
        included += ["documents from `--certain`"] * bool(certain.any())
        raise UsageError(
            f"the population of query '{query}' is smaller than the number of its "
            f"{either(included, 'and')}. Pass a larger --population."
        )
    return sizes


def with_estimated_ranks(judged: JudgedRun, parts: Strata) -> JudgedRun:
    """Return the run with estimated ranks, which need not be integers, for the computation of measures."""
    sizes = np.bincount(parts.query, minlength=len(judged.present))
    length: Any = (sizes + parts.fixed + parts.size).astype(np.float64)  # not integers, as ranks
    rank: Any = parts.start + parts.weight[parts.query] * parts.above
    none = np.empty(0, dtype=np.int32)
    return JudgedRun(
        judged.qrels,
        present=judged.present,
        length=length,
        offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        rank=rank,
        row=parts.row,
        unjudged_ties=TieGroups(none, none, none),
    )


# Lowest and highest coverage of 95 % sampling intervals in the simulation, where intervals are given.
COVERAGE, COVERAGE_BESIDE_CERTAIN = (0.87, 1.0), (0.85, 1.0)
LIMITS = ("low", "high", "sampling_low", "sampling_high", "bias")


@dataclass(repr=False, eq=False)
class Estimates(Result):
    """Measures estimated from samples of scores.

    Attributes
    ----------
    values : ndarray of float64, shape (n_runs, n_queries, n_measures)
        Estimates by query.
    counted : ndarray of bool, shape (n_runs, n_queries)
        Queries in the means; undefined values count 0.
    means : ndarray of float64, shape (n_runs, n_measures)
        Estimated means.
    limits : ndarray of float64, shape (n_runs, n_measures, 5)
        Values of low, high, sampling_low, sampling_high and bias; NaN if the interval is withheld. The bias
        is the remaining one as estimated by `leadline.estimation.rank_corrections`.
    uncorrected : ndarray of float64, shape (n_runs, n_measures)
        Means from ranks that count each sampled document N/n times.
    withheld : list of list of str
        Reason for withholding an interval, runs x measures; empty if it is given.
    """

    runs: list[RunInfo]
    queries: Vocabulary
    measures: list[Measure]
    values: Floats
    counted: Flags
    limits: Floats
    uncorrected: Floats
    withheld: list[list[str]]

    def __post_init__(self) -> None:
        total = np.where(self.counted[:, :, None], np.nan_to_num(self.values), 0.0).sum(axis=1)
        size = self.counted.sum(axis=1)[:, None]
        self.means: Floats = np.divide(total, size, out=np.full_like(total, np.nan), where=size > 0)
        freeze(self.values, self.counted, self.limits, self.means, self.uncorrected)

    @property
    def names(self) -> list[str]:
        """Names of the runs."""
        return [run.name for run in self.runs]

    def measure_index(self, measure: Any) -> int:
        """Return the index of a measure, given as an object or by any name that `evaluate` accepts."""
        texts = list(map(str, self.measures))
        name = str(profile_of("leadline").measures([measure])[0])
        if str(measure) not in texts and name not in texts:
            raise UsageError(f"these results have no measure '{measure}'. Use {either(texts)}.")
        return texts.index(str(measure) if str(measure) in texts else name)

    def mean(self, run: str, measure: str | Measure) -> float:
        """Return the estimated mean of a measure for a run."""
        return float(self.means[place_of(self.names, run), self.measure_index(measure)])

    def _columns(self) -> list[Column]:
        pairs = [
            (run, place)
            for place in range(len(self.measures))
            for run in sorted(range(len(self.runs)), key=lambda row: -self.means[row, place])
        ]
        run, place = map(list, zip(*pairs, strict=True))
        low, high = (np.array([getattr(self.measures[one], end) for one in place]) for end in ("low", "high"))

        def clipped(values: Floats) -> Floats:
            """Return values of runs and measures, clipped to the range of the measure."""
            limited: Floats = np.clip(values[run, place], low, high)
            return limited

        return [
            Column("run", [self.names[one] for one in run]),
            Column("measure", [str(self.measures[one]) for one in place]),
            Column("estimate", clipped(self.means)),
            *(
                Column(name.replace("_", " "), column, hidden=bool(np.isnan(column).all()))
                for name, column in zip(
                    LIMITS[:4], map(clipped, np.moveaxis(self.limits, 2, 0)), strict=False
                )
            ),
            Column("uncorrected", clipped(self.uncorrected)),
        ]

    def _notes(self) -> list[str]:
        low, high = COVERAGE_BESIDE_CERTAIN if self.options["certain"] else COVERAGE
        level = percent(self.options["confidence"])
        about = f"95 % intervals contained the true value in {100 * low:.0f} to {100 * high:.0f} %"
        runs = counted(len(self.runs), "run")
        scored = "relevant and other documents"
        if self.options.get("sample") is not None:
            scored = "relevant documents and of a sample of the other documents"
        approximate = [f"sampling intervals are approximate: {about} of simulated samples (docs/unjudged.md)"]
        approximate *= bool((self.limits[..., 2] < self.limits[..., 3]).any())  # neither exact nor withheld
        limits = (
            f"low, high: {level} confidence interval over queries and samples (sampling: over samples only)"
        )
        return [
            f"{runs}, estimates from complete judgments and the scores of {scored}",
            *[limits] * (not np.isnan(self.limits[..., :4]).all()),
            *approximate,
            "uncorrected: each of the n documents sampled from N counts N/n times",
            *super()._notes(),
        ]

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return a dictionary with the keys measures and runs; None is undefined."""
        texts, runs = list(map(str, self.measures)), []
        for index, info in enumerate(self.runs):
            mean = {}
            for place, text in enumerate(texts):
                limits = map(plain, self.limits[index, place].tolist())
                mean[text] = {
                    "value": plain(float(self.means[index, place])),
                    **dict(zip(LIMITS, limits, strict=True)),
                    "uncorrected": plain(float(self.uncorrected[index, place])),
                    "withheld": self.withheld[index][place] or None,
                }
            run: dict[str, Any] = {"name": info.name, "mean": mean, "counts": info.counts}
            if per_query:
                run["queries"] = {
                    query: dict(zip(texts, map(plain, row), strict=True))
                    for query, row in zip(self.queries, self.values[index].tolist(), strict=True)
                }
            runs.append(run)
        return {"measures": texts, "runs": runs}

    def _figure(self, *, measure: object | None = None) -> Make:
        """Draw the estimates of a measure, by default the first, with both intervals."""
        from leadline.charts.interval_plots import nested_intervals

        place = 0 if measure is None else self.measure_index(measure)
        drawn, means = self.measures[place], self.means[:, place]
        order = np.argsort(np.nan_to_num(-means if drawn.rising else means, nan=np.inf), kind="stable")
        limits = self.limits[order, place]
        level = percent(float(self.options["confidence"]))
        spans = [f"{level} interval over samples{more}" for more in ("", " and queries")]
        more = "uncorrected (n documents sampled from N count N/n times)"
        uncorrected = None if self.options.get("correction") == "none" else self.uncorrected[order, place]
        label = f"{drawn}, estimated"
        withheld = sum(bool(reasons[place]) for reasons in self.withheld)
        if withheld:
            label += f", no interval for {withheld} of {counted(len(order), 'run')}"
        return lambda width: nested_intervals(
            [self.names[run] for run in order.tolist()],
            means[order],
            in_range(limits[:, 2:4].tolist(), drawn),
            in_range(limits[:, :2].tolist(), drawn),
            others=uncorrected,
            label=label,
            words=["estimate", *spans, "", more],
            width=width,
        )

    def __repr__(self) -> str:
        return f"Estimates({counted(len(self.runs), 'run')}, {', '.join(map(str, self.measures))})"
