"""The page of `leadline report`: measures, tests and figures of several runs, and how it was made."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import numpy as np
from markupsafe import escape

from leadline.comparison.compared_pair import ComparedPair
from leadline.comparison.comparison_result import MOST_LETTERS, Comparison, outperformed_runs
from leadline.comparison.sentences import clipped, sentence, shown_limits
from leadline.data.arrays import Floats
from leadline.data.results import Results, plain
from leadline.data.wording import counted, percent
from leadline.measures.average_precision import ELEVEN_LEVELS
from leadline.reporting.pages import fill, inline
from leadline.reporting.plots.comparison_plots import figure_of
from leadline.reporting.plots.line_plots import recall_precision
from leadline.reporting.plots.query_plots import per_query
from leadline.reporting.plots.significance_groups import FEW
from leadline.version import VERSION

WIDTH = 3.8  # inches: text of a picture is readable on a phone and not too large on a wide screen
SAID = 8  # pairs said in full sentences; the table holds more
LISTED = 500  # pairs in the table of the page
SEPARATING = 12  # queries
BETTER, WORSE = "†", "‡"
LONG = 40  # rows of a table that scrolls in a box of its own
OVERLAP = "Intervals may overlap although the runs differ significantly, as the queries are the same."


def page(
    comparison: Comparison,
    precision: Floats | None,
    *,
    judgments: int | None,
    inputs: Sequence[dict[str, Any]],
    again: str,
    latex: str,
    baseline: str | None = None,
) -> str:
    """Make the page of a comparison and the recall-precision curves of the same runs: runs x eleven levels.

    Without `precision` there are no curves. `judgments` is their number, None where it is not known.
    `inputs` are the files with digest and rows, `again` the command that makes the page, `latex` the table.
    With one `baseline`, daggers say which means differ significantly from its own, else letters do.
    """
    results, rules = comparison.results, comparison.rules
    significant = significant_pairs(comparison)
    return fill(
        "report.html",
        version=VERSION,
        runs=len(results.runs),
        queries=len(results.averaged_queries()),
        judgments=judgments,
        first=str(results.measures[0]),
        story=story(comparison),
        table=_table(comparison, baseline),
        marked=_marked(comparison, baseline),
        confidence=percent(rules.confidence),
        rules=rules,
        said=[
            sentence(pair, rules, comparison.reach(pair.measure)) for pair in _of_the_best(comparison)[:SAID]
        ],
        pairs=[_row(pair, comparison.reach(pair.measure)) for pair in significant[:LISTED]],
        simultaneous=comparison.simultaneous is not None,
        tally=tally(comparison),
        left_out=max(len(significant) - LISTED, 0),
        long=LONG,
        figures=_figures(comparison, precision),
        separating=separating(results)[:SEPARATING],
        warnings=[str(notice) for notice in comparison.warnings],
        inputs=inputs,
        options={key: value for key, value in comparison.options.items() if value is not None},
        software=_software(),
        again=again,
        latex=escape(latex),
    )


def story(comparison: Comparison) -> list[str]:
    """Describe which run is best by the first measure, and how sure that is."""
    results, rules = comparison.results, comparison.rules
    order = results.order()
    best, measure = order[0], str(results.measures[0])
    if np.isnan(results.means[best, 0]):
        return [f"No run has a mean of {measure}."]
    low, high = (_within(results, 0, one) for one in comparison.intervals.limits[best, 0].tolist())
    told = f"The best run by {measure} is {results.names[best]} with {results.means[best, 0]:.4f}"
    if not np.isnan(low):
        told += f" ({percent(rules.confidence)} interval {low:.4f} to {high:.4f})"
    compared, apart = _against(comparison, best)
    alike = [results.names[run] for run in order if compared[run] and not apart[run]]
    number = int(compared.sum())
    if number == 0:
        return [f"{told}."]
    if not alike:
        others = (
            results.names[int(np.flatnonzero(compared)[0])]
            if number == 1
            else f"all {number} others compared with it"
        )
        return [f"{told}.", f"It is significantly better than {others}."]
    shown = ", ".join(alike[:6]) + (f" and {len(alike) - 6} more" if len(alike) > 6 else "")
    if number == 1:
        return [f"{told}.", f"It does not differ significantly from {shown}."]
    of = f"{int(apart.sum())} of the {number} runs compared with it"
    return [f"{told}.", f"It is significantly better than {of}; no significant difference from {shown}."]


def _against(comparison: Comparison, run: int) -> tuple[Any, Any]:
    """Return which runs were compared with a run by the first measure, and which differ significantly."""
    compared = np.zeros(len(comparison.names), dtype=np.bool_)
    first, second = comparison.pairing
    compared[first[second == run]] = True
    compared[second[first == run]] = True
    return compared, comparison.matrix(0)[run]


def significant_pairs(comparison: Comparison) -> list[ComparedPair]:
    """Return the pairs that differ significantly, measure by measure, the smallest p first."""
    found: list[ComparedPair] = []
    for place in range(len(comparison.results.measures)):
        pairs = comparison.of_pairs(place, np.flatnonzero(comparison.significant[place]).tolist())
        found += sorted(pairs, key=lambda pair: (pair.p_corrected, pair.p, -abs(pair.difference)))
    return found


def tally(comparison: Comparison) -> str:
    """Count, in one line, the significant pairs by every measure and the rest."""
    apart = comparison.significant
    parts = [
        f"{measure} {int(apart[place].sum()):,}" for place, measure in enumerate(comparison.results.measures)
    ]
    pairs = counted(apart.shape[1], "pair")
    rest = int(apart.size - apart.sum())
    return (
        f"Significant differences, of {pairs} by each measure: {', '.join(parts)}. The other "
        f"{counted(rest, 'comparison')} gave no significant difference."
    )


def _of_the_best(comparison: Comparison) -> list[ComparedPair]:
    """Return the pairs of the best run by the first measure, the best of the others first."""
    results = comparison.results
    rank = {results.names[run]: place for place, run in enumerate(results.order())}
    found = comparison.of_pairs(0, comparison.pairs_with(results.order()[0]))
    return sorted(found, key=lambda pair: max(rank[pair.a], rank[pair.b]))


def _row(pair: ComparedPair, reach: float) -> dict[str, Any]:
    """Return a pair with the limits to show."""
    low, high = shown_limits(pair, reach)
    shown = pair._replace(low=low, high=high)
    return {
        key: plain(value) if isinstance(value, float) else value for key, value in shown._asdict().items()
    }


def marks(comparison: Comparison, place: int, order: list[int], baseline: str | None) -> list[str]:
    """Return what stands raised behind the mean of every run in order.

    With a baseline a dagger, or a double dagger where the run is significantly worse; else the letters of
    the runs in order that it is significantly better than, or their number where they are too many.
    """
    lost = outperformed_runs(comparison, place)
    if baseline is not None:
        base = comparison.names.index(baseline)
        return [BETTER if base in lost[run] else WORSE if run in lost[base] else "" for run in order]
    if len(order) > MOST_LETTERS:
        return [str(len(lost[run])) for run in order]
    letters = {run: ascii_lowercase[row] for row, run in enumerate(order)}
    return ["".join(sorted(letters[one] for one in lost[run] if one in letters)) for run in order]


def _marked(comparison: Comparison, baseline: str | None) -> str:
    """Describe what stands raised behind the means."""
    if baseline is not None:
        return f"{BETTER} significantly better than {baseline}, {WORSE} significantly worse"
    if len(comparison.names) > MOST_LETTERS:
        return "A small number is how many runs a value is significantly better than"
    return "Letters name the runs that a value is significantly better than"


def _table(comparison: Comparison, baseline: str | None) -> dict[str, Any]:
    """Lay means out with intervals and marks: the best run first, best values marked."""
    results, limits = comparison.results, comparison.intervals.limits
    order, best = results.order(), results.best()
    letters = [marks(comparison, place, order, baseline) for place in range(len(results.measures))]
    named = baseline is None and len(order) <= MOST_LETTERS
    rows = []
    for row, run in enumerate(order):
        cells = [
            {
                "value": float(results.means[run, place]),
                "best": run in best[place],
                "low": plain(_within(results, place, float(limits[run, place, 0]))),
                "high": plain(_within(results, place, float(limits[run, place, 1]))),
                "letters": letters[place][row],
            }
            for place in range(len(results.measures))
        ]
        name = results.names[run]
        label = f"{ascii_lowercase[row]}  {name}" if named else name
        rows.append({"name": name, "label": label, "cells": cells})
    return {"columns": [str(measure) for measure in results.measures], "rows": rows}


def _within(results: Results, place: int, value: float) -> float:
    """Clip the limit of a mean to the range of the measure."""
    measure = results.measures[place]
    return clipped(value, getattr(measure, "low", -np.inf), getattr(measure, "high", np.inf))


def _figures(comparison: Comparison, precision: Floats | None) -> list[dict[str, Any]]:
    """Draw the figures: the curves, then those of every measure, each with what it shows."""
    results = comparison.results
    runs = len(results.runs)
    sections: list[dict[str, Any]] = []
    if precision is not None:
        curves = recall_precision(results.names, ELEVEN_LEVELS, precision, width=WIDTH)
        words = "Precision by recall: mean interpolated precision at eleven levels of recall."
        pictures = [{"svg": inline(curves, "curves", f"curves of {runs} runs"), "words": words}]
        sections.append({"title": "Recall and precision", "pictures": pictures})
    for place, measure in enumerate(results.measures):
        pictures = [
            {"svg": inline(figure, f"{key}-{place}", f"{key} of {measure}, {runs} runs"), "words": text}
            for key, figure, text in _of_measure(comparison, place)
        ]
        sections.append({"title": str(measure), "pictures": pictures})
    return sections


def _of_measure(comparison: Comparison, place: int) -> list[tuple[str, Any, str]]:
    """Draw the figures of a measure, each with a key and what it shows."""
    results = comparison.results
    measure = results.measures[place]
    better = "" if measure.rising else " Less is better."
    runs = len(results.runs)
    drawn: list[tuple[str, Any, str]] = [
        (
            "forest",
            figure_of(comparison, "forest", place, width=WIDTH),
            f"{measure}: the mean of every run with the interval of that mean alone. {OVERLAP}",
        )
    ]
    if runs > 2 and len(comparison.pairing) == runs * (runs - 1) // 2:
        drawn.append(
            (
                "groups",
                figure_of(comparison, "groups", place, width=WIDTH if runs <= FEW else 1.5 * WIDTH),
                f"{measure}: the runs at their means; a bar joins runs without a significant difference.",
            )
        )
    drawn.insert(
        1,
        (
            "map",
            per_query(results, measure, width=WIDTH),
            f"{measure} of each query (a column) in each run (a row).",
        ),
    )
    pair, words = _closest(comparison, place)
    order = "the highest difference at the left, the lowest at the right"
    return [
        *drawn,
        (
            "differences",
            figure_of(comparison, "differences", place, pair, width=WIDTH),
            f"{measure} of every query, {words}: {order}.{better}",
        ),
        (
            "scatter",
            figure_of(comparison, "scatter", place, pair, width=WIDTH),
            f"{measure} of every query in both runs; on the line a query has the same value in both.",
        ),
    ]


def _closest(comparison: Comparison, place: int) -> tuple[int, str]:
    """Choose the pair to draw: the best run and the best of those compared with it."""
    rank = {run: row for row, run in enumerate(comparison.results.order(place))}
    pairs = list(zip(*(side.tolist() for side in comparison.pairing), strict=True))
    pair = min(range(len(pairs)), key=lambda number: sorted(rank[run] for run in pairs[number]))
    first, second = (comparison.names[run] for run in pairs[pair])
    return pair, f"{first} minus {second}"


def separating(results: Results) -> list[dict[str, Any]]:
    """Return the queries by how far they set the runs apart: the standard deviation over runs.

    Each with mean, deviation, and the best and the worst run by the first measure.
    """
    values = results.averaged_values(0)
    known = ~np.isnan(values).any(axis=0)
    sign = 1.0 if results.measures[0].rising else -1.0
    found = []
    for code in np.flatnonzero(known).tolist():
        column = values[:, code]
        best, worst = int(np.argmax(sign * column)), int(np.argmin(sign * column))
        found.append(
            {
                "query": results.queries[code],
                "mean": float(column.mean()),
                "deviation": float(column.std()),
                "best": results.names[best],
                "best_value": float(column[best]),
                "worst": results.names[worst],
                "worst_value": float(column[worst]),
            }
        )
    return sorted(found, key=lambda row: (-row["deviation"], row["query"]))


def _software() -> str:
    import scipy

    from leadline import kernels

    form = "compiled" if kernels.compiled is not None else "uncompiled"
    return (
        f"leadline {VERSION} (kernels {form}), Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}"
    )
