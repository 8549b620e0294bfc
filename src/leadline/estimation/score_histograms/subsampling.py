"""One sample of documents for all runs, the estimates of `sampled`, and HSA of histograms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.data.arrays import Flags, Floats, freeze
from leadline.data.ids import Vocabulary
from leadline.data.reading import Reading
from leadline.data.table import Column, RunInfo, plain
from leadline.data.wording import counted, percent
from leadline.errors import UsageError, either
from leadline.estimation.score_histograms.histogram_options import HistogramOptions, slope
from leadline.estimation.score_histograms.score_sets import candidates, row_keys, rows_of
from leadline.evaluation.join import judge, named_sources, readable_twice
from leadline.evaluation.lookups import place_of
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.results import in_range
from leadline.io.objects import Qrels
from leadline.measures import Measure
from leadline.result import Make, Result

# Lowest and highest coverage of 95 % sampling intervals in the simulation, where intervals are given.
COVERAGE, COVERAGE_BESIDE_CERTAIN = (0.87, 1.0), (0.85, 1.0)


def shared_sample(
    runs: Any, qrels: Qrels, recipe: HistogramOptions, reading: Reading
) -> tuple[Any, list[set[int]]]:
    """Return re-readable runs, and the keys of the documents sampled from their union, by query.

    The smallest keys of the union are among the smallest keys of the runs, so runs are read one by one.
    """
    assert recipe.sample is not None
    drawn: list[set[int]] = [set() for _ in qrels.queries]
    runs = readable_twice(runs, reading)
    for name, source in named_sources(runs):
        _, judged, _ = judge(source, qrels, name=name, reading=reading, keep=True)
        rows = rows_of(judged, recipe.rel, recipe.depth)
        eligible = candidates(rows, recipe)
        keys, query = row_keys(judged, rows, eligible, recipe.seed), rows.query[eligible]
        for code in np.unique(query).tolist():
            keys_seen = drawn[code].union(keys[query == code].tolist())
            drawn[code] = set(sorted(keys_seen)[: recipe.sample])
    return runs, drawn


LIMITS = ("low", "high", "sampling_low", "sampling_high", "bias")
SHOWN_LIMITS = list(enumerate(LIMITS[:4]))


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
            raise UsageError(f"these results have no measure '{measure}'. Use {either(texts)}")
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
            *(Column(name.replace("_", " "), clipped(self.limits[..., end])) for end, name in SHOWN_LIMITS),
            Column("uncorrected", clipped(self.uncorrected)),
        ]

    def _notes(self) -> list[str]:
        low, high = COVERAGE_BESIDE_CERTAIN if self.options["certain"] else COVERAGE
        level = percent(self.options["confidence"])
        about = f"95 % intervals contained the true value in {100 * low:.0f} to {100 * high:.0f} %"
        return [
            f"{counted(len(self.runs), 'run')}, estimates from the relevant documents and a sample of others",
            f"low, high: {level} confidence interval over queries and samples (sampling: over samples only)",
            f"sampling intervals are approximate: {about} of simulated samples (docs/unjudged.md)",
            "uncorrected: each sampled document counts N/n times",
            *super()._notes(),
        ]

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return a dictionary with the keys measures and runs; None is undefined."""
        texts = list(map(str, self.measures))
        runs: list[dict[str, Any]] = [
            {
                "name": info.name,
                "mean": {
                    text: {
                        "value": plain(value),
                        **dict(zip(LIMITS, map(plain, row), strict=True)),
                        "uncorrected": plain(uncorrected),
                        "withheld": reason or None,
                    }
                    for text, value, row, uncorrected, reason in zip(
                        texts,
                        self.means[index].tolist(),
                        self.limits[index].tolist(),
                        self.uncorrected[index].tolist(),
                        self.withheld[index],
                        strict=True,
                    )
                },
                "counts": info.counts,
            }
            for index, info in enumerate(self.runs)
        ]
        for index, run in enumerate(runs if per_query else ()):
            run["queries"] = {
                query: dict(zip(texts, map(plain, row), strict=True))
                for query, row in zip(self.queries, self.values[index].tolist(), strict=True)
            }
        return {"measures": texts, "runs": runs}

    def _figure(self, *, measure: object | None = None) -> Make:
        """Draw the estimates of a measure, by default the first, with both intervals."""
        from leadline.charts.interval_plots import nested_intervals

        place = 0 if measure is None else self.measure_index(measure)
        drawn = self.measures[place]
        means = self.means[:, place]
        order = np.argsort(
            np.where(np.isnan(means), np.inf, -means if drawn.rising else means), kind="stable"
        )
        limits = self.limits[order, place]
        level = percent(float(self.options["confidence"]))
        words = [
            "estimate",
            f"{level} interval over samples",
            f"{level} interval over samples and queries",
            "",
        ]
        words.append("without correction (each sampled document N/n times)")
        uncorrected = None if self.options.get("correction") == "none" else self.uncorrected[order, place]
        label = f"{drawn}, estimated"
        withheld = sum(bool(self.withheld[run][place]) for run in order.tolist())
        if withheld:
            label += f", no interval for {withheld} of {counted(len(order), 'run')}"
        return lambda width: nested_intervals(
            [self.names[run] for run in order.tolist()],
            means[order],
            in_range(limits[:, 2:4].tolist(), drawn),
            in_range(limits[:, :2].tolist(), drawn),
            others=uncorrected,
            label=label,
            words=words,
            width=width,
        )

    def __repr__(self) -> str:
        return f"Estimates({len(self.runs)} runs, {', '.join(map(str, self.measures))})"


def slopes(counts: Floats, recipe: HistogramOptions) -> Floats:
    """Return the slope of each pair of histograms (... x 2 x bins)."""
    return slope(
        counts[..., 0, :], counts[..., 1, :], half_counts=recipe.half_counts, weighted=recipe.weighted
    )


def compute_hsa(counts: Floats, recipe: HistogramOptions) -> float:
    """Return HSA of histograms (queries x 2 x bins), pooled or as the mean over queries."""
    if recipe.aggregate == "pooled":
        return float(slopes(counts.sum(axis=0), recipe))
    values = slopes(counts, recipe)
    return float(np.mean(values[~np.isnan(values)])) if (~np.isnan(values)).any() else float("nan")
