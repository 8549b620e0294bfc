"""Tables of estimates from few judgments or none, and of pools."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.data.results import plain
from leadline.data.wording import counted, percent, queries
from leadline.reporting.render import Cell, Table
from leadline.reporting.tables.evaluation_tables import means_table

if TYPE_CHECKING:  # each table is for one command, which has imported what it shows
    from leadline.estimation.estimate import EstimatedResults
    from leadline.estimation.pool_designs import MeasuredPool
    from leadline.estimation.predict import Predictions
    from leadline.estimation.score_histograms.histogram_result import Histograms
    from leadline.estimation.score_histograms.subsampling import Estimates
    from leadline.estimation.unjudged_result import Unjudged
    from leadline.judging.pool import Pool

INTERVAL = "low, high: {} confidence interval over samples of documents, for these queries"

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


def _clipped(value: float, measure: Any) -> Cell:
    """Return a value clipped to the range of the measure; None for NaN."""
    return None if math.isnan(value) else plain(min(max(value, measure.low), measure.high))


def estimate_table(found: EstimatedResults, *, pairs: bool = False) -> Table:
    """Return the table of estimates: a run a row, measure by measure; or the differences of all `pairs`."""
    if pairs:
        return estimate_pairs_table(found)
    every = [
        (measure, rank, run, found.estimate(found.names[run], measure, over_queries=False))
        for place, measure in enumerate(found.measures)
        for rank, run in enumerate(found.order(place), start=1)
    ]
    bounded = any(one.guessed + one.unknown > 0 for *_, one in every)
    rows: list[list[Cell]] = []
    for measure, rank, run, one in every:
        limits = (one.value, one.low, one.high, *((one.lowest, one.highest) if bounded else ()))
        rows.append(
            [
                found.names[run],
                "new" if found.new[run] else "",
                str(measure),
                *(_clipped(limit, measure) for limit in limits),
                str(rank),
                one.judged,
                one.drawn,
                one.guessed,
                one.unknown,
            ]
        )
    words = _predicted(found.proxy, drawn=any(one.drawn > 0 for *_, one in every))
    notes = [
        INTERVAL.format(percent(found.confidence)) + f"; unjudged pairs: {words}",
        *map(str, found.warnings),
    ]
    if bounded:
        notes.insert(1, "lowest, highest: range over all grades of the guessed and unknown pairs")
    columns = [
        "run",
        "",
        "measure",
        "estimate",
        "low",
        "high",
        *(("lowest", "highest") if bounded else ()),
        "rank",
        "judged",
        "drawn",
        "guessed",
        "unknown",
    ]
    return Table(columns, rows, notes=notes)


def estimate_pairs_table(found: EstimatedResults) -> Table:
    """Return the table of differences of all pairs."""
    rows: list[list[Cell]] = [
        [one.a, one.b, one.measure, one.difference, plain(one.low), plain(one.high)]
        for one in found.differences()
    ]
    notes = [INTERVAL.format(percent(found.confidence)) + ", each pair alone", *map(str, found.warnings)]
    return Table(["a", "b", "measure", "a - b", "low", "high"], rows, notes=notes)


def sampled_table(found: Estimates) -> Table:
    """Lay estimates out measure by measure, the best run first; values are clipped to the measure's range."""
    rows: list[list[Cell]] = []
    for column, measure in enumerate(found.measures):
        values = found.means[:, column]
        for place in sorted(range(len(values)), key=lambda row: -values[row]):
            *limits, _ = found.limits[place, column].tolist()
            shown = [
                _clipped(value, measure)
                for value in (float(values[place]), *limits, float(found.uncorrected[place, column]))
            ]
            rows.append([found.names[place], str(measure), *shown])
    level = f"{100 * found.options['confidence']:g} %"
    certain = found.options["certain"]
    from leadline.estimation.sampled import COVERAGE, COVERAGE_BESIDE_CERTAIN

    low, high = COVERAGE_BESIDE_CERTAIN if certain else COVERAGE
    about = f"approximate: 95 % intervals contained the true value in {100 * low:.0f} to {100 * high:.0f} %"
    notes = [
        f"{counted(len(found.runs), 'run')}, estimates from the relevant documents and a sample of others",
        f"low, high: {level} confidence interval over queries and samples; sampling: over samples only",
        f"sampling intervals are {about} of simulated samples (docs/sampled.md)",
        "uncorrected: each sampled document counts N/n times",
        *map(str, found.warnings),
    ]
    heads = ["run", "measure", "estimate", "low", "high", "sampling low", "sampling high", "uncorrected"]
    return Table(heads, rows, notes=notes)


def histogram_table(found: Histograms) -> Table:
    """Lay runs down, the largest HSA first."""
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
    sampling = ["sampling low", "sampling high"] if found.recipe.sample else []
    heads[4:4] = sampling
    rows: list[list[Cell]] = []
    for place in found.order():
        one = found.measured[place]
        relevant, other = one.counts.sum(axis=0)
        signs = np.sign(one.by_bins[~np.isnan(one.by_bins)])
        steady = "-" if not len(signs) else "yes" if signs.min() == signs.max() else "no"
        rows.append(
            [
                found.names[place],
                *map(plain, (one.hsa, one.low, one.high)),
                *map(plain, (one.sampling_low, one.sampling_high) if sampling else ()),
                *map(plain, (one.hsa_robust, one.do, one.recall)),
                int(relevant.sum()),
                int(other.sum()),
                int(((relevant > 0) & (other > 0)).sum()),
                steady,
            ]
        )
    from leadline.estimation.score_histograms.histogram_result import SENSITIVITY

    drawn = " and samples (sampling: over samples only)" if sampling else ""
    credit = "" if found.recipe.as_printed else " (deviates from the paper; --as-printed follows it)"
    notes = [
        f"HSA, DO: {found.recipe.words}{credit}",
        "robust: our own variant (ranks, half counts, mean of queries); on other runs no better than ranks",
        "recall: of the same lists, as a control; where it is as informative, the histograms add nothing",
        f"low, high: 95 % interval of HSA over queries{drawn}, {found.options['draws']} resamples",
        "bins: those that are not empty in either histogram",
        f"steady: HSA keeps its sign with {SENSITIVITY[0]} to {SENSITIVITY[-1]} bins (JSON has the values)",
        *map(str, found.warnings),
    ]
    return Table(heads, rows, notes=notes)


def prediction_table(found: Predictions, *, per_query: bool = True, means: bool = True) -> Table:
    """Lay every query down; no predictor says which run is best."""
    sheet = means_table(found, per_query=per_query, means=means)
    sheet.best = set()
    return sheet


def prediction_correlation_table(found: Predictions, rows: list[dict[str, Any]]) -> Table:
    """Lay the correlations over queries down, a row a run and predictor."""
    parts = [(name, end) for name in ("pearson", "kendall") for end in ("value", "low", "high")]
    cells: list[list[Cell]] = [
        [row["run"], row["predictor"], row["queries"], *(row[name][end] for name, end in parts)]
        for row in rows
    ]
    heads = ["Pearson", "low", "high", "Kendall tau-b", "tau low", "tau high"]
    options = found.options
    said = (
        f"{counted(len(found.runs), 'run')}; correlation with {options['truth']} over queries; low, high: "
        f"{percent(options['confidence'])} interval, queries resampled ({options['draws']} resamples)"
    )
    return Table(["run", "predictor", "queries", *heads], cells, notes=[said, *map(str, found.warnings)])


def unjudged_table(found: Unjudged) -> Table:
    """Lay systems down, the best first: score, mean number of documents, terms, spread over fits."""
    data = found.to_dict()
    heads = ["system", found.method.called, "documents", *found.terms]
    if found.spread is not None:
        heads.append("spread")
    rows: list[list[Cell]] = []
    for place in found.order():
        name = found.names[place]
        cells: list[Cell] = [name, data["scores"][name], float(found.used[place].mean())]
        cells += [data["terms"][term][name] for term in found.terms]
        if found.spread is not None:
            cells.append(data["spread"][name])
        rows.append(cells)
    size = f"{counted(len(rows), 'system')}, mean over {queries(len(found.queries))}"
    notes = [
        f"{found.method}: {size}; without judgments",
        "documents: mean number used per query; scores order systems and do not estimate any measure",
    ]
    if found.spread is not None:
        notes.append(f"spread: standard deviation of the score over {len(found.by_fit)} fits of the topics")
    return Table(heads, rows, notes=[*notes, *map(str, found.warnings)])


FORECAST = ("half_width", "half_budget", "exact_budget")


def measured_pool_table(found: MeasuredPool, *, output: str = "") -> Table:
    """Lay out what to expect of a pool that was drawn for measures; `output` is the file it is written to."""
    rows: list[list[Cell]] = [
        [name, *(None if one[key] is None else float(one[key] or 0.0) for key in FORECAST)]
        for name, one in found.expected.items()
    ]
    heads = ["measure", "half-width", "judgments for half", "for exact values"]
    return Table(heads, rows, notes=[*forecast(found, output), *map(str, found.warnings)])


def pool_table(found: Pool, *, output: str = "") -> Table:
    """Lay out what every run brought to a pool; `output` is the file that it is written to."""
    data = found.to_dict()
    rows: list[list[Cell]] = [
        [run["name"], f"{run['brought']:,}", f"{run['alone']:,}"] for run in data["runs"]
    ]
    if data["drawn"]:
        rows.append(["random sample", f"{data['drawn']:,}", None])
    queries = max(data["queries"], 1)
    said = (
        f"{_file(output)}{data['pairs']:,} new pairs of {data['pooled']:,}, in {data['queries']:,} queries, "
        f"{data['pairs'] / queries:.1f} per query"
    )
    return Table(["run", "documents", "unique"], rows, notes=[said, *map(str, found.warnings)])


def _file(output: str) -> str:
    return f"{output}: " if output else ""


def forecast(found: MeasuredPool, output: str) -> list[str]:
    """Return the lines that say what was drawn and what to expect of it."""
    queries = max(found.queries, 1)
    lines = [
        (
            f"{_file(output)}{found.pairs:,} pairs of {found.queries:,} queries, "
            f"{found.pairs / queries:.1f} per query, sampled with known probabilities from "
            f"{len(found.pool.queries):,}"
        )
    ]
    if found.added != found.pairs:
        lines.append(f"new pairs: {found.added:,}; the others are judged or were sampled before")
    for name, one in found.expected.items():
        exact = f"exact for these runs with {one['exact_budget']:.1f} judgments per query"
        if one["half_width"] is None:
            lines.append(f"{name}: no forecast of an interval; {exact}")
        else:
            lines.append(
                f"expected half-width of {name}: {one['half_width']:.3f} per run; half of it needs "
                f"{one['half_budget']:.1f} judgments per query; {exact}"
            )
    return lines
