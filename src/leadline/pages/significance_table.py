"""Table of means with marks of significant differences."""

from __future__ import annotations

from string import ascii_lowercase

from leadline.comparison.comparison_notes import method
from leadline.comparison.comparison_result import MOST_LETTERS, Comparison
from leadline.data.records import plain
from leadline.data.table import Cell, Table
from leadline.data.wording import counted, queries


def significance_table(
    comparison: Comparison, *, baseline: str | None = None, top: int | None = None, digits: int = 4
) -> Table:
    """Return the table of means with marks of significant differences.

    Parameters
    ----------
    comparison : Comparison
        Compared runs.
    baseline : str, optional
        Run from which significant differences are marked by daggers. Without one, letters name the runs that
        a value is significantly better than; with more than 26 runs they are counted.
    top : int, optional
        Number of best runs to show, besides the baseline.
    digits : int, default 4
        Digits after the decimal point.
    """
    from leadline.pages.report_page import BETTER, WORSE, marks

    results = comparison.results
    runs = len(results.runs)
    base = None if baseline is None else results.names.index(baseline)
    order = results.order()
    if top is not None:
        order = [run for row, run in enumerate(order) if row < top or run == base]
    raised = [marks(comparison, index, order, baseline) for index in range(len(results.measures))]
    named = base is None and len(order) <= MOST_LETTERS
    before = 1 + named
    rows: list[list[Cell]] = [
        [
            *([ascii_lowercase[row]] if named else []),
            results.names[run] + (" (baseline)" if run == base else ""),
            *map(plain, results.means[run].tolist()),
        ]
        for row, run in enumerate(order)
    ]
    best = {
        (order.index(run), index + before)
        for index, winners in enumerate(results.best())
        for run in winners
        if run in order
    }
    words = f"({method(comparison)})"
    if base is not None:
        name = results.names[base]
        legend = f"{BETTER} significantly better than {name}, {WORSE} significantly worse {words}"
    elif named:
        legend = f"letters: runs that a value is significantly better than {words}"
    else:
        legend = f"raised: the number of runs that a value is significantly better than {words}"
    size = counted(len(order), "run") + (f" of {runs}" if len(order) < runs else "")
    number = queries(len(results.averaged_queries()))
    return Table(
        columns=[*([""] if named else []), "run", *map(str, results.measures)],
        rows=rows,
        best=best,
        digits=digits,
        letters={
            (row, index + before): text
            for index, texts in enumerate(raised)
            for row, text in enumerate(texts)
            if text
        },
        caption=f"Means over {number}. {legend[0].upper()}{legend[1:]}.",
        notes=[f"{size}, {number}", legend, *map(str, comparison.warnings)],
    )
