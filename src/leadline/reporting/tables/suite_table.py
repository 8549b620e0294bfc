"""Tables of suites: means by collection, and pairs of runs over all collections."""

from __future__ import annotations

import math
from string import ascii_lowercase

import numpy as np

from leadline.comparison.comparison_result import outperformed_runs
from leadline.comparison.engine import FEWEST
from leadline.comparison.suite_records import Scope, SuitePair
from leadline.comparison.suite_result import CANNOT_TELL, INCOMPLETE, Suite
from leadline.data.results import plain
from leadline.data.table import Cell, Probability, Table
from leadline.data.wording import counted, percent

LETTERED = 6  # maximum number of runs with letters; with more, outperformed runs are counted


def suite_tables(suite: Suite) -> list[Table]:
    """Return a table of means for each measure, and one of the pairs."""
    tables = [_means(suite, place) for place in range(len(suite.measures))]
    tables[-1].notes += ["", *map(str, suite.warnings)] if suite.warnings else []
    return [*tables, pair_table(suite)] if suite.pairs else tables


def suite_rows(suite: Suite) -> Table:
    """Return the table for programs: a row for each measure and run."""
    rows: list[list[Cell]] = []
    named = [suite.average(group) for group in suite.groups]
    for place, measure in enumerate(suite.measures):
        for run in suite.order(place):
            rate = suite.win_rates[run][place]
            rows.append(
                [
                    measure,
                    suite.names[run],
                    *map(plain, suite.means[run, :, place].tolist()),
                    plain(float(suite.macro[run, place])),
                    *(plain(float(values[run, place])) for values in named),
                    plain(rate.rate),
                    rate.comparisons,
                    int(suite.present[run].sum()),
                ]
            )
    columns = ["measure", "run", *suite.collections, "macro", *suite.groups, "win_rate", "comparisons"]
    return Table(columns=[*columns, "collections"], rows=rows)


def _means(suite: Suite, place: int) -> Table:
    """Return the table of the means by one measure, the best macro mean first."""
    order = suite.order(place)
    measure = suite.columns[place]
    shown = [(group, suite.average(group)[:, place]) for group in suite.groups]
    values = np.column_stack(
        [suite.means[:, :, place], suite.macro[:, place], *(column for _, column in shown)]
    )
    rates = np.array([suite.win_rates[run][place].rate for run in range(len(suite.names))])
    values = np.column_stack([values, rates])[order]
    lacking = not suite.present.all()
    columns = ["run", *suite.collections, "macro", *(name for name, _ in shown), "win rate"]
    rows: list[list[Cell]] = [
        [suite.names[run], *map(plain, row)] for run, row in zip(order, values.tolist(), strict=True)
    ]
    if lacking:
        columns.append("collections")
        for row, run in zip(rows, order, strict=True):
            row.append(int(suite.present[run].sum()))
    return Table(
        columns=columns,
        rows=rows,
        best=_best(values, rising=measure.rising) if len(order) > 1 else set(),
        letters=_letters(suite, place, order),
        title=f"{measure}: mean by collection",
        notes=_notes(suite),
        optional=tuple(reversed(suite.collections)),
    )


def _best(values: np.ndarray[tuple[int, int], np.dtype[np.float64]], *, rising: bool) -> set[tuple[int, int]]:
    """Return the places of the best values; the last column, win rates, is always rising."""
    best = set()
    for column in range(values.shape[1]):
        sign = 1 if rising or column == values.shape[1] - 1 else -1
        signed = np.where(np.isnan(values[:, column]), -math.inf, sign * values[:, column])
        if np.isfinite(signed).sum() > 1:
            best |= {(row, column + 1) for row in np.flatnonzero(signed == signed.max()).tolist()}
    return best


def _letters(suite: Suite, place: int, order: list[int]) -> dict[tuple[int, int], str]:
    """Return the runs that each run significantly outperforms on a collection, or their number."""
    letters: dict[tuple[int, int], str] = {}
    row_of = {suite.names[run]: row for row, run in enumerate(order)}
    for column, name in enumerate(suite.collections, start=1):
        comparison = suite.comparisons.get(name)
        if comparison is None:
            continue
        for run, losers in enumerate(outperformed_runs(comparison, place)):
            if not losers:
                continue
            rows = sorted(row_of[comparison.names[loser]] for loser in losers)
            text = "".join(ascii_lowercase[row] for row in rows) if _is_lettered(suite) else str(len(rows))
            letters[row_of[comparison.names[run]], column] = text
    return letters


def _is_lettered(suite: Suite) -> bool:
    return len(suite.names) <= LETTERED


def _notes(suite: Suite) -> list[str]:
    rules = suite.rules
    how = f"({rules.test}, {rules.correction}, {1 - rules.confidence:.3g})"
    weights = f"macro: mean over {counted(len(suite.collections), 'collection')}, each of the same weight"
    wins = "win rate: share of the comparisons with other runs on a collection that are won (a tie is half)"
    notes = [f"{weights}; {wins}"]
    if suite.comparisons:
        marks = (
            "letters: runs (a is the first row) that a run"
            if _is_lettered(suite)
            else "second number: runs that a run"
        )
        marks += f" significantly outperforms on the collection {how}"
        notes.append(marks + ("; with baselines only" if rules.baselines else ""))
    return notes


def pair_table(suite: Suite) -> Table:
    """Return the table of the pairs over all collections."""
    several = len(suite.measures) > 1
    rows: list[list[Cell]] = [
        [
            pair.a,
            pair.b,
            *([pair.measure] * several),
            plain(pair.difference),
            *_scope(pair.within),
            f"{pair.wins}-{pair.ties}-{pair.losses}",
            *_scope(pair.over)[2:],
        ]
        for pair in suite.pairs
    ]
    columns = ["a", "b", *["measure"] * several, "a - b", "low", "high", "p", "a is"]
    return Table(
        columns=[*columns, "won-tied-lost", "p over", "over collections"],
        rows=rows,
        title="pairs of runs over all collections",
        notes=_pair_notes(suite),
        optional=("low", "high", "p over"),
    )


def _scope(scope: Scope) -> list[Cell]:
    p = plain(scope.p_corrected)
    return [plain(scope.low), plain(scope.high), None if p is None else Probability(p), scope.verdict]


def _pair_notes(suite: Suite) -> list[str]:
    rules, pairs = suite.rules, suite.pairs
    family = counted(len(pairs) // len(suite.measures), "pair")
    interval = f"{percent(rules.confidence)} interval of the pair alone"
    notes = [
        f"a - b: mean over collections; low, high: {interval}, over queries within these collections",
        f"p, a is: over queries within these collections ({rules.test}, {rules.correction} of {family})",
        "p over, over collections: the collections as a sample of collections",
    ]
    if any(pair.over.verdict == CANNOT_TELL for pair in pairs):
        notes.append(_cannot_tell(suite, pairs))
    if any(pair.within.verdict == INCOMPLETE for pair in pairs):
        notes.append(f"{INCOMPLETE}: a run lacks a collection; --partial tests the collections of both")
    return notes


def _cannot_tell(suite: Suite, pairs: list[SuitePair]) -> str:
    few = min(pair.collections for pair in pairs if pair.over.verdict == CANNOT_TELL)
    if few < FEWEST:
        return f"{CANNOT_TELL}: fewer than {FEWEST} collections say nothing about other collections"
    return (
        f"{CANNOT_TELL}: on {few} collections no data are significant by {suite.rules.test} with "
        f"{suite.rules.correction}"
    )
