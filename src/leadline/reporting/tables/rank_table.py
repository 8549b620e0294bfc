"""Table of ranks of runs, with simultaneous and bootstrap intervals."""

from __future__ import annotations

import math

from leadline.comparison.rank import RankedRun, Ranking
from leadline.data.results import plain
from leadline.data.table import Cell, Preformatted, Probability, Table
from leadline.data.wording import counted, percent

OPTIONAL = ("expected", "boot low", "boot high")


def rank_table(result: Ranking) -> Table:
    """Return the printed table: the runs by each measure, the best first."""
    several = len(result.ranked) > 1
    measures = [str(measure) for measure in result.results.measures]
    columns = [
        "run",
        *(["measure", "mean"] if several else [measures[0]]),
        *("rank", "low", "high"),
        *(("boot low", "boot high", "expected", "P(best)") if result.draws else ()),
        "group",
    ]
    records = result.records()
    rows = [_row(run, several=several, bootstrapped=result.draws > 0) for run in records]
    mean = columns.index("mean" if several else measures[0])
    top = [index * len(result.names) for index in range(len(measures))]  # rows of the best runs
    best = {
        (row, mean)
        for row, run in enumerate(records)
        if run.rank == records[top[row // len(result.names)]].rank and len(result.names) > 1
    }
    return Table(columns, rows, best=best, notes=_notes(result), optional=OPTIONAL)


def _row(run: RankedRun, *, several: bool, bootstrapped: bool) -> list[Cell]:
    return [
        run.name,
        *([run.measure] if several else []),
        plain(run.mean),
        Preformatted(f"{run.rank:g}"),
        run.rank_low,
        run.rank_high,
        *(
            (
                _limit(run.bootstrap_low),
                _limit(run.bootstrap_high),
                Preformatted("-" if math.isnan(run.expected) else f"{run.expected:.1f}"),
                None if math.isnan(run.best) else Probability(run.best),
            )
            if bootstrapped
            else ()
        ),
        run.group,
    ]


def _limit(value: float) -> Preformatted:
    return Preformatted("-" if math.isnan(value) else f"{value:g}")


def _notes(result: Ranking) -> list[str]:
    rules, level = result.rules, percent(result.rules.confidence)
    over = f"{counted(result.pairs, 'pair')}" + (
        " of each measure" if rules.family == "measure" else " and all measures"
    )
    falling = [str(measure) for measure in result.results.measures if not measure.rising]
    notes = [
        (
            f"low, high: simultaneous {level} intervals of the ranks of all runs, by {rules.test} tests "
            f"corrected by {rules.correction} over {over}"
        ),
        (
            "group: 1 is the best run and those that are not significantly different from it; 2 the same "
            "for the rest, and so on"
        ),
    ]
    if result.draws:
        notes.insert(
            1,
            f"boot low, boot high: {level} percentile interval of the rank of that run alone; expected, "
            f"P(best): mean rank and, of means shrunk by their error, share of {result.draws:,} resamples of "
            f"the queries in which it is the best; seed {rules.seed}",
        )
    if falling:
        notes.append(f"less is better: {', '.join(falling)}")
    return [*notes, *map(str, result.warnings)]


def rank_rows(result: Ranking) -> Table:
    """Return the table for CSV and data frames, with the keys of the JSON as columns."""
    rows: list[list[Cell]] = [
        [plain(value) if isinstance(value, float) else value for value in run] for run in result.records()
    ]
    return Table(list(RankedRun._fields), rows)
