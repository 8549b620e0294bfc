"""Tables of estimates from samples of judgments or without judgments, and of pools."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.data.results import plain
from leadline.data.table import Cell, Table
from leadline.data.wording import counted, percent
from leadline.reporting.tables.evaluation_tables import means_table

if TYPE_CHECKING:  # each table is for one command, which has imported what it shows
    from leadline.estimation.estimate import EstimatedResults
    from leadline.estimation.pool_designs import MeasuredPool
    from leadline.estimation.predict import Predictions
    from leadline.estimation.score_histograms.histogram_result import Histograms
    from leadline.estimation.score_histograms.subsampling import Estimates
    from leadline.judging.pool import Pool

INTERVAL = "low, high: {} confidence interval over samples of documents, for these queries"

POOLED = "pooled: relative to the relevant documents of the pool, not of the whole collection"

WORDS = {
    "machine": "predicted from calibrated machine labels",
    "votes": "predicted from the votes of the pooled runs",
    "centred": "predicted as the mean of the judged pairs",
    "none": "counted as 0 (Horvitz-Thompson estimator)",
}


def _predicted(proxy: str, *, drawn: bool) -> str:
    if proxy == "none" and not drawn:
        return "counted as non-relevant"
    return WORDS.get(proxy, f"predicted from quantiles of {proxy}")


def _named(measure: object, target: str) -> str:
    """Return the name of a measure with its target, as in "nDCG@10, pooled"."""
    return f"{measure}, pooled" if target == "pooled" else str(measure)


def _clipped(value: float, measure: Any) -> Cell:
    """Return a value clipped to the range of the measure; None for NaN."""
    return None if math.isnan(value) else plain(min(max(value, measure.low), measure.high))


def estimate_table(results: EstimatedResults, *, pairs: bool = False) -> Table:
    """Return the table of estimates, one run per row; with `pairs`, of the differences of all pairs."""
    if pairs:
        return estimate_pairs_table(results)
    every = [
        (measure, run, results.estimate(results.names[run], measure, over_queries=False))
        for index, measure in enumerate(results.measures)
        for run in results.order(index)
    ]
    widened = any(results.new[run] and estimate.widened > 0 for _, run, estimate in every)
    bounded = any(
        estimate.guessed + estimate.unknown > 0 and not math.isnan(estimate.lowest) for *_, estimate in every
    )
    rows: list[list[Cell]] = []
    for measure, run, estimate in every:
        limits = (
            estimate.value,
            estimate.low,
            estimate.high,
            *((estimate.lowest, estimate.highest) if bounded else ()),
        )
        rows.append(
            [
                results.names[run],
                "new" if results.new[run] else "",
                _named(measure, estimate.target),
                *(_clipped(limit, measure) for limit in limits),
                None if estimate.rank is None else str(estimate.rank),
                *((plain(estimate.widened), _count(estimate.to_halve)) if widened else ()),
                estimate.judged,
                estimate.drawn,
                estimate.guessed,
                estimate.unknown,
            ]
        )
    pooled = any(estimate.target == "pooled" for *_, estimate in every)
    prediction = _predicted(results.proxy, drawn=any(estimate.drawn > 0 for *_, estimate in every))
    notes = [
        INTERVAL.format(percent(results.confidence)) + f"; unjudged pairs: {prediction}",
        *map(str, results.warnings),
    ]
    if pooled:
        notes.insert(1, POOLED)
    if bounded:
        words = "lowest, highest: range over all grades of the guessed and unknown pairs"
        ratios = any(math.isnan(estimate.lowest) for *_, estimate in every)
        notes.insert(1, words + ("; none of measures with a divisor (nDCG, R, F, AP)" if ratios else ""))
    if widened:
        words = (
            "widened: share of the width due to documents outside the frame; to halve: how many of them to "
            "judge for half of it (draw them with `leadline pool --from`, the earlier runs and this one)"
        )
        notes.insert(1, words)
    columns = [
        "run",
        "",
        "measure",
        "estimate",
        "low",
        "high",
        *(("lowest", "highest") if bounded else ()),
        "rank",
        *(("widened", "to halve") if widened else ()),
        "judged",
        "drawn",
        "guessed",
        "unknown",
    ]
    return Table(columns, rows, notes=notes)


def _count(number: int | None) -> str | None:
    """Return a whole number as a cell."""
    return None if number is None else f"{number:,}"


def estimate_pairs_table(results: EstimatedResults) -> Table:
    """Return the table of differences of all pairs."""
    found = results.differences()
    targets = {str(measure): results.target(place) for place, measure in enumerate(results.measures)}
    rows: list[list[Cell]] = [
        [
            pair.a,
            pair.b,
            _named(pair.measure, targets[pair.measure]),
            pair.difference,
            plain(pair.low),
            plain(pair.high),
        ]
        for pair in found
    ]
    notes = [INTERVAL.format(percent(results.confidence)) + ", each pair alone"]
    notes += [POOLED] if "pooled" in targets.values() else []
    notes += [str(notice) for notice in results.warnings if notice.code != "no_interval"]  # of single runs
    for measure in map(str, results.measures):
        of_measure = [pair for pair in found if pair.measure == measure]
        reasons = [pair.reason for pair in of_measure if pair.reason]
        if reasons:
            more = "; ..." if len(set(reasons)) > 1 else ""
            count = f"{len(reasons):,} of {counted(len(of_measure), 'pair')}"
            notes.append(f"no interval for {count} by {measure}: {reasons[0]}{more}")
    return Table(["a", "b", "measure", "a - b", "low", "high"], rows, notes=notes)


def sampled_table(estimates: Estimates) -> Table:
    """Return the table of estimates by measure, runs in descending order, clipped to the measure's range."""
    rows: list[list[Cell]] = []
    for column, measure in enumerate(estimates.measures):
        values = estimates.means[:, column]
        for run in sorted(range(len(values)), key=lambda row: -values[row]):
            *limits, _ = estimates.limits[run, column].tolist()
            cells = [
                _clipped(value, measure)
                for value in (float(values[run]), *limits, float(estimates.uncorrected[run, column]))
            ]
            rows.append([estimates.names[run], str(measure), *cells])
    level = f"{100 * estimates.options['confidence']:g} %"
    certain = estimates.options["certain"]
    from leadline.estimation.sampled import COVERAGE, COVERAGE_BESIDE_CERTAIN

    low, high = COVERAGE_BESIDE_CERTAIN if certain else COVERAGE
    size = counted(len(estimates.runs), "run")
    about = f"approximate: 95 % intervals contained the true value in {100 * low:.0f} to {100 * high:.0f} %"
    notes = [
        f"{size}, estimates from the relevant documents and a sample of others",
        f"low, high: {level} confidence interval over queries and samples; sampling: over samples only",
        f"sampling intervals are {about} of simulated samples (docs/sampled.md)",
        "uncorrected: each sampled document counts N/n times",
        *map(str, estimates.warnings),
    ]
    heads = ["run", "measure", "estimate", "low", "high", "sampling low", "sampling high", "uncorrected"]
    return Table(heads, rows, notes=notes)


def histogram_table(histograms: Histograms) -> Table:
    """Return the table of runs in descending order of HSA."""
    heads = [
        "run",
        "HSA",
        "low",
        "high",
        "robust",
        "DO",
        "recall",
        "relevant",
        "non-relevant",
        "bins",
        "steady",
    ]
    sampling = ["sampling low", "sampling high"] if histograms.recipe.sample else []
    heads[4:4] = sampling
    rows: list[list[Cell]] = []
    for run in histograms.order():
        measured = histograms.measured[run]
        relevant, nonrelevant = measured.counts.sum(axis=0)
        signs = np.sign(measured.by_bins[~np.isnan(measured.by_bins)])
        steady = "-" if not len(signs) else "yes" if signs.min() == signs.max() else "no"
        rows.append(
            [
                histograms.names[run],
                *map(plain, (measured.hsa, measured.low, measured.high)),
                *map(plain, (measured.sampling_low, measured.sampling_high) if sampling else ()),
                *map(plain, (measured.hsa_robust, measured.do, measured.recall)),
                int(relevant.sum()),
                int(nonrelevant.sum()),
                int(((relevant > 0) & (nonrelevant > 0)).sum()),
                steady,
            ]
        )
    from leadline.estimation.score_histograms.histogram_result import SENSITIVITY

    drawn = " and samples (sampling: over samples only)" if sampling else ""
    credit = "" if histograms.recipe.as_printed else " (deviates from the paper; --as-printed follows it)"
    notes = [
        f"HSA, DO: {histograms.recipe.words}{credit}",
        "robust: our own variant (ranks, half counts, mean of queries); on other runs no better than ranks",
        "recall: of the same lists, as a control; where it is as informative, the histograms add nothing",
        f"low, high: 95 % interval of HSA over queries{drawn}, {histograms.options['draws']} resamples",
        "bins: those that are not empty in either histogram",
        f"steady: HSA keeps its sign with {SENSITIVITY[0]} to {SENSITIVITY[-1]} bins (JSON has the values)",
        *map(str, histograms.warnings),
    ]
    return Table(heads, rows, notes=notes)


def prediction_table(predictions: Predictions, *, per_query: bool = True, means: bool = True) -> Table:
    """Return the table of predictions by query; best values are not marked: predictors do not rank runs."""
    table = means_table(predictions, per_query=per_query, means=means)
    table.best = set()
    return table


def prediction_correlation_table(predictions: Predictions, rows: list[dict[str, Any]]) -> Table:
    """Return the table of correlations over queries, one row per run and predictor."""
    parts = [(name, end) for name in ("pearson", "kendall") for end in ("value", "low", "high")]
    cells: list[list[Cell]] = [
        [row["run"], row["predictor"], row["queries"], *(row[name][end] for name, end in parts)]
        for row in rows
    ]
    heads = ["Pearson", "low", "high", "Kendall tau-b", "tau low", "tau high"]
    options = predictions.options
    note = (
        f"{counted(len(predictions.runs), 'run')}; correlation with {options['truth']} over queries; low, "
        f"high: {percent(options['confidence'])} interval, queries resampled ({options['draws']} resamples)"
    )
    return Table(
        ["run", "predictor", "queries", *heads], cells, notes=[note, *map(str, predictions.warnings)]
    )


FORECAST = ("half_width", "half_budget", "exact_budget")


def measured_pool_table(pool: MeasuredPool, *, output: str = "") -> Table:
    """Return the table of expected half-widths of a pool drawn for measures; `output` is its file."""
    rows: list[list[Cell]] = [
        [name, *(None if expected[key] is None else float(expected[key] or 0.0) for key in FORECAST)]
        for name, expected in pool.expected.items()
    ]
    heads = ["measure", "half-width", "per query for half", "per query for exact"]
    return Table(heads, rows, notes=[*forecast(pool, output), *map(str, pool.warnings)])


def pool_table(pool: Pool, *, output: str = "") -> Table:
    """Return the table of the contributions of runs to a pool; `output` is its file."""
    data = pool.to_dict()
    rows: list[list[Cell]] = [
        [run["name"], f"{run['brought']:,}", f"{run['alone']:,}"] for run in data["runs"]
    ]
    if data["drawn"]:
        rows.append(["random sample", f"{data['drawn']:,}", None])
    queries = max(data["queries"], 1)
    note = (
        f"{_file(output)}{data['pairs']:,} new pairs of {data['pooled']:,}, in {data['queries']:,} queries, "
        f"{data['pairs'] / queries:.1f} per query"
    )
    return Table(["run", "documents", "unique"], rows, notes=[note, *map(str, pool.warnings)])


def _file(output: str) -> str:
    return f"{output}: " if output else ""


def forecast(pool: MeasuredPool, output: str) -> list[str]:
    """Return notes on the size of a pool and the expected half-widths."""
    queries = max(pool.queries, 1)
    lines = [
        (
            f"{_file(output)}{pool.pairs:,} pairs of {pool.queries:,} queries, "
            f"{pool.pairs / queries:.1f} per query, sampled with known probabilities from "
            f"{pool.frame:,}"
        )
    ]
    if pool.added != pool.pairs:
        lines.append(f"new pairs: {pool.added:,}; the others are judged or were sampled before")
    of = "of the difference" if pool.options.get("for_pair") else "per run"
    for name, expected in pool.expected.items():
        half_width, half, exact = (expected[key] for key in FORECAST)
        parts = [
            f"{name}: no forecast of an interval"
            if half_width is None
            else f"expected half-width of {name}: {half_width:.3f} {of}"
        ]
        if half is not None:
            parts.append(f"half of it needs {half:.1f} judgments per query")
        if exact is not None:
            parts.append(f"exact for these runs with {exact:.1f} judgments per query")
        said = half_width is None and any(str(notice).startswith(f"{name}: ") for notice in pool.warnings)
        if len(parts) > 1 or not said:
            lines.append("; ".join(parts))
    return lines
