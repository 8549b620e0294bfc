"""Measures estimated from a sample of judgments (estimate) or of scored documents (sampled)."""

from __future__ import annotations

from leadline.data.results import plain
from leadline.data.wording import counted
from leadline.estimation.estimate import EstimatedResults
from leadline.estimation.sampled import COVERAGE, COVERAGE_BESIDE_CERTAIN
from leadline.estimation.score_histograms.subsampling import Estimates
from leadline.reporting.render import Cell, Table

INTERVAL = "low, high: {:.0%} confidence interval over draws, for these queries"

WORDS = {
    "machine": "guessed from calibrated machine labels",
    "votes": "guessed from the votes of the pooled runs",
    "centred": "guessed as the mean of the judged pairs",
    "none": "counted as 0 (drawn ones by Horvitz and Thompson)",
}


def estimate_table(found: EstimatedResults, *, pairs: bool = False) -> Table:
    """Return the table of estimates: a run a row, measure by measure; or the differences of all `pairs`."""
    if pairs:
        return estimate_pairs_table(found)
    rows: list[list[Cell]] = []
    for place, measure in enumerate(found.measures):
        for rank, run in enumerate(found.order(place), start=1):
            name = found.names[run]
            one = found.estimate(name, measure)
            rows.append(
                [
                    name,
                    "new" if found.new[run] else "",
                    str(measure),
                    plain(one.value),
                    plain(one.low),
                    plain(one.high),
                    str(rank),
                    one.judged,
                    one.drawn,
                    one.guessed,
                    one.unknown,
                ]
            )
    notes = [
        INTERVAL.format(found.confidence) + f"; unjudged pairs: {WORDS[found.proxy]}",
        *map(str, found.warnings),
    ]
    columns = [
        "run",
        "",
        "measure",
        "estimate",
        "low",
        "high",
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
    notes = [INTERVAL.format(found.confidence) + ", each pair alone", *map(str, found.warnings)]
    return Table(["a", "b", "measure", "a - b", "low", "high"], rows, notes=notes)


def sampled_table(found: Estimates) -> Table:
    """Lay estimates out measure by measure, the best run first; values are clipped to the measure's range."""
    rows: list[list[Cell]] = []
    for column, measure in enumerate(found.measures):
        values = found.means[:, column]
        for place in sorted(range(len(values)), key=lambda row: -values[row]):
            *limits, _ = found.limits[place, column].tolist()
            shown = [
                plain(min(max(value, measure.low), measure.high)) if value == value else None  # noqa: PLR0124  # NaN
                for value in (float(values[place]), *limits, float(found.uncorrected[place, column]))
            ]
            rows.append([found.names[place], str(measure), *shown])
    level = f"{100 * found.options['confidence']:g} %"
    certain = found.options["certain"]
    low, high = COVERAGE_BESIDE_CERTAIN if certain else COVERAGE
    about = f"approximate: at 95 % they held in {100 * low:.0f} to {100 * high:.0f} % of simulated samples"
    notes = [
        f"{counted(len(found.runs), 'run')}, estimates from the relevant documents and a sample of others",
        f"low, high: {level} interval for other queries and samples; sampling: for other samples alone",
        f"sampling intervals are {about} (docs/sampled.md)",
        "uncorrected: each drawn document counts N/n times",
        *map(str, found.warnings),
    ]
    heads = ["run", "measure", "estimate", "low", "high", "sampling low", "sampling high", "uncorrected"]
    return Table(heads, rows, notes=notes)
