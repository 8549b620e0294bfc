"""Table of the measures of a reproduction or replication."""

from __future__ import annotations

import math

from leadline.comparison.replication_result import COVERAGE, STATISTICS, Replication, ReplicationValue
from leadline.data.results import plain
from leadline.data.table import Cell, Probability, Table
from leadline.data.wording import percent, queries


def replication_table(result: Replication) -> Table:
    """Return the printed table: measures of document order, then those of each measure of effectiveness."""
    columns = ["measure", "statistic", "run", "value", "low", "high", "p", "queries"]
    rows = [_row(value, result.paired) for value in result.values]
    return Table(columns, rows, notes=_notes(result), optional=("queries",))


def _row(value: ReplicationValue, paired: bool) -> list[Cell]:
    name = STATISTICS[value.statistic]
    return [
        value.measure or "documents",
        name if paired else name.replace("reproduced", "replicated"),
        value.run or "both",
        plain(value.value),
        plain(value.low),
        plain(value.high),
        None if math.isnan(value.p) else Probability(value.p),
        value.queries,
    ]


def _notes(result: Replication) -> list[str]:
    level = percent(result.options["confidence"])
    original, reproduced = (
        queries(len(part.averaged_queries())) for part in (result.original, result.reproduced)
    )
    test = (
        "paired t tests" if result.paired else "Welch's t tests for single runs, paired t tests for effects"
    )
    notes = [
        (
            f"reproduction on {original}, the same for all runs"
            if result.paired
            else f"replication: {original} of the original, {reproduced} of the replication"
        ),
        f"low, high: {level} confidence intervals over queries; p: {test}",
        f"intervals are {_coverage(result)}",
        "effect: advanced - baseline; effect ratio and delta RI of an exact reproduction: 1 and 0",
    ]
    reasons: dict[str, list[str]] = {}
    for value in result.values:
        if value.withheld:
            words = " ".join(filter(None, (value.measure, STATISTICS[value.statistic], value.run)))
            reasons.setdefault(value.withheld, []).append(words)
    notes += [f"no interval of {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return [*notes, *map(str, result.warnings)]


def _coverage(result: Replication) -> str:
    """Return how often intervals held in simulations with at most as many queries."""
    fewest = min(len(part.averaged_queries()) for part in (result.original, result.reproduced))
    size = max((size for size in COVERAGE if size <= fewest), default=min(COVERAGE))
    low, high = COVERAGE[size]
    fewer = "" if fewest >= size else "; fewer were not simulated"
    return (
        f"approximate: with {size} queries 95 % intervals contained the true value in {100 * low:.0f} to "
        f"{100 * high:.0f} % of simulated samples (docs/replication.md){fewer}"
    )


def replication_rows(result: Replication) -> Table:
    """Return the table for CSV and data frames, with the keys of the JSON as columns."""
    rows: list[list[Cell]] = [
        [plain(cell) if isinstance(cell, float) else cell for cell in value] for value in result.values
    ]
    return Table(list(ReplicationValue._fields), rows)
