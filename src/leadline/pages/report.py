"""Report on several runs as an HTML page: measures, significance tests, figures and provenance."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from inspect import signature
from string import ascii_lowercase
from typing import Any, TypeAlias

import numpy as np

from leadline.charts.line_plots import recall_precision
from leadline.charts.significance_groups import FEW
from leadline.comparison.compare import compare, compare_results
from leadline.comparison.compared_pair import ComparedPair
from leadline.comparison.comparison_figures import drawn_comparison
from leadline.comparison.comparison_result import MOST_LETTERS, Comparison, outperformed_runs
from leadline.comparison.pair_texts import counts_of, method, method_notes, sentence, shown_limits
from leadline.comparison.pairing import Rules
from leadline.data.arrays import Floats
from leadline.data.optional import require
from leadline.data.reading import refuse_unknown
from leadline.data.table import Cell, Table, interval_texts, plain
from leadline.data.wording import counted, percent, visible
from leadline.errors import UsageError, either
from leadline.estimation.estimated_columns import basis_of
from leadline.estimation.measured import drawn_from, estimates_of, measured
from leadline.evaluation.evaluate import DEFAULT_MEASURES, TestedOptions
from leadline.evaluation.lookups import averaged_over
from leadline.evaluation.profiles import RunsLike, profile_of
from leadline.evaluation.query_figures import per_query
from leadline.evaluation.results import Results, in_range
from leadline.io.objects import Qrels, read_qrels
from leadline.io.opening import digest_of
from leadline.io.read import QrelsLike
from leadline.io.read_paths import public, warn_in_python, with_words_of
from leadline.io.write import write_whole
from leadline.measures import Measure
from leadline.measures.average_precision import ELEVEN_LEVELS, IPrec
from leadline.pages import colors_of_page, fill, inline
from leadline.render import BY_SUFFIX, suffix_of
from leadline.render.text_formats import write_latex
from leadline.version import VERSION

POINTS = [str(IPrec(recall=level, rule="standard")) for level in ELEVEN_LEVELS]
CALL = (
    'Call `report(qrels, runs, "page.html")` or `report(results, "page.html")`. To read saved results, use '
    "`read_scores(path)`."
)
Path: TypeAlias = "str | os.PathLike[str]"
Measures: TypeAlias = "Iterable[str | Measure] | str | Measure | None"
WIDTH = 3.8  # inches: figures are legible on a phone and not too large on a wide screen
SENTENCES = 8  # maximum number of pairs described in sentences
LISTED = 500  # maximum number of pairs in the table
SEPARATING = 12  # maximum number of queries in the table of separating queries
BETTER, WORSE = "†", "‡"
LONG = 40  # rows above which a table scrolls in a box of its own
OVERLAP = (
    "Overlapping intervals do not rule out a significant difference, because the runs are compared on the "
    "same queries."
)


@public
@with_words_of(compare)
def report(
    qrels: QrelsLike | Results | Comparison,
    runs: RunsLike | None = None,
    path: Path | None = None,
    *,
    measures: Measures = None,
    **options: Any,
) -> Comparison:
    """Write an HTML page on runs: measures with intervals, significance tests, figures, provenance.

    Call it as `report(qrels, runs, "page.html")`, or as `report(results, "page.html")` with the result of
    `evaluate` or `compare`. The page is a single file without external links.

    Parameters
    ----------
    qrels, runs
        As in `evaluate`; or `Results` or a `Comparison` alone. With judgments of a sample the values are
        estimates.
    path : path
        HTML file to write.
    measures : measure or iterable of measures, optional
        Measures, the first of which orders the runs; by default those of `evaluate`, or of the results.
    **options
        Those of `compare`, and with qrels and runs also those of `evaluate`.

    Returns
    -------
    Comparison
        Comparison shown on the page.

    Raises
    ------
    UsageError
        If there is no path, or options are given with a comparison.

    Notes
    -----
    The page has recall-precision curves for qrels and runs, and for results with the eleven measures
    IPrec@0.0 to IPrec@1.0.

    Examples
    --------
    >>> import leadline as ll, os, tempfile
    >>> qrels = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
    >>> a, b = {q: {"d": 1.0} for q in qrels}, {q: {"x": 2.0, "d": 1.0} for q in qrels}
    >>> results = ll.evaluate(qrels, {"a": a, "b": b}, "RR")
    >>> report(results, os.path.join(tempfile.mkdtemp(), "page.html"))
    Comparison(b - a, RR -0.5000, p = 0.25)

    """
    require("HTML pages")
    known = [one.name for one in signature(compare).parameters.values() if one.kind is one.KEYWORD_ONLY]
    refuse_unknown(report, options, [*known, *TestedOptions.__annotations__])
    curves: Floats | None
    if isinstance(qrels, (Results, Comparison)):
        target = _path(path, None) if runs is None else _path(runs, path)
        baseline = options.get("baseline")
        comparison = _compared(qrels, measures, options)
        results = comparison.results if isinstance(qrels, Comparison) else qrels
        names, curves = list(map(str, results.measures)), None
        if {*POINTS} <= {*names}:  # precision at eleven levels of recall, runs x levels
            curves = results.means[:, [names.index(point) for point in POINTS]]
        judgments, inputs = None, []
    else:
        if runs is None:
            raise UsageError(f"there are judgments but no runs. {CALL}")
        target = _path(path, None)
        reading = {name: options[name] for name in ("subtopics", "qrels_columns") if name in options}
        table = read_qrels(qrels, **reading)
        baseline = options.pop("baseline", None)
        comparison, curves = compared(table, runs, measures, Rules.take(options), baseline, **options)
        judgments = len(table.grades)
        inputs = [described(os.fspath(qrels), judgments)] if isinstance(qrels, (str, os.PathLike)) else []
    inputs += [
        described(run.path, run.counts.get("documents_read", 0)) for run in comparison.runs if run.path
    ]
    base = only_one(comparison.baselines)
    warn_in_python(comparison, compare)
    content = page(
        comparison,
        curves,
        judgments=judgments,
        inputs=inputs,
        latex=write_latex(significance_table(comparison, baseline=base)),
        baseline=base,
    )
    write_whole(target, content.encode("utf-8", "surrogateescape"))
    return comparison


def _path(path: object, more: object) -> str:
    if more is not None or not isinstance(path, (str, os.PathLike)):
        found = "no path was given" if more is None else "both results and runs were given"
        raise UsageError(f"{found}. {CALL}")
    name = os.fspath(path)
    if BY_SUFFIX.get(suffix_of(name), "html") != "html":
        raise UsageError(f"{name}: the page is HTML, so the name of its file must end in .html")
    return name


def _compared(results: Results | Comparison, measures: Measures, options: dict[str, Any]) -> Comparison:
    if isinstance(results, Results):
        return compare(results, measures=measures, **options)
    if measures is not None or options:
        name = next(iter(options), "measures")
        raise UsageError(
            f"`{name}` cannot change a finished comparison. Pass the results of `evaluate` instead, or leave "
            f"out `{name}`."
        )
    return results


def only_one(baselines: Sequence[str]) -> str | None:
    """Return the baseline if there is exactly one, else None."""
    return baselines[0] if len(baselines) == 1 else None


def compared(
    qrels: QrelsLike,
    runs: Any,
    measures: Measures,
    rules: Rules,
    baseline: str | Sequence[str] | None,
    **options: Any,
) -> tuple[Comparison, Floats | None]:
    """Evaluate and compare runs, with their curves in the same pass; estimates have no curves."""
    options |= {"confidence": rules.confidence, "seed": rules.seed}
    if isinstance(qrels, Qrels) and drawn_from(qrels, options.get("pool"), measures) is not None:
        results = measured(qrels, runs, measures or None, verdict=True, **options)
        return compare_results(results, rules, baseline=baseline), None
    profile, size = profile_of(options.get("profile", "leadline")), options.get("documents")
    rel = options.get("rel")
    requested = profile.measures(measures or DEFAULT_MEASURES, rel=rel, documents=size)
    points = profile.measures(POINTS, rel=rel, documents=size)
    results = measured(qrels, runs, [*requested, *points], **options)
    chosen = results.select_measures(range(len(requested)))
    comparison = compare_results(chosen, rules, baseline=baseline)
    return comparison, results.means[:, [results.measure_index(point) for point in points]]


def described(path: str, rows: int) -> dict[str, Any]:
    """Return path, digest and number of rows of an input file."""
    return {"path": path, "sha256": digest_of(path), "rows": rows}


@colors_of_page()
def page(
    comparison: Comparison,
    precision: Floats | None,
    *,
    judgments: int | None,
    inputs: Sequence[dict[str, Any]],
    latex: str,
    again: str | None = None,
    baseline: str | None = None,
) -> str:
    """Return the HTML page of a comparison, with a table of it in LaTeX."""
    from markupsafe import escape

    results, rules = comparison.results, comparison.rules
    pairs = shown_pairs(comparison)
    return fill(
        "report.html",
        version=VERSION,
        runs=len(results.runs),
        queries=len(results.averaged_queries()),
        judgments=judgments,
        first=str(results.measures[0]),
        story=story(comparison),
        table=_table(comparison, baseline),
        basis=_basis(results),
        marked=_legend(len(results.runs), baseline),
        confidence=percent(rules.confidence),
        methods="; ".join(method_notes(comparison)),
        correction=rules.correction,
        said=_said(_of_the_best(comparison)[1:], comparison),
        pairs=[_row(pair, comparison.reach(pair.measure)) for pair in pairs[:LISTED]],
        tally=tally(comparison),
        left_out=max(len(pairs) - LISTED, 0),
        every=len(pairs) == comparison.p_corrected.size,
        long=LONG,
        figures=_figures(comparison, precision),
        separating=[] if results.withheld is not None else separating(results)[:SEPARATING],
        warnings=[str(notice) for notice in comparison.warnings],
        inputs=inputs,
        options={key: value for key, value in comparison.options.items() if value is not None},
        software=_software(),
        again=again and escape(visible(again)),
        latex=escape(latex),
    )


def story(comparison: Comparison) -> list[str]:
    """Return sentences on the best run by the first measure and the significance of its lead."""
    results, rules = comparison.results, comparison.rules
    order = results.order()
    best, measure = order[0], str(results.measures[0])
    if np.isnan(results.means[best, 0]):
        return [f"{measure} has no mean for any run."]
    if not getattr(results.measures[0], "quality", True):
        return [f"{measure} describes the judgments, so it does not show which run is best."]
    low, high = in_range(comparison.intervals.limits[best, 0], results.measures[0])[0].tolist()
    first_sentence = f"The best run by {measure} is {results.names[best]} with {results.means[best, 0]:.4f}"
    if not np.isnan(low):
        first_sentence += f" ({percent(rules.confidence)} interval {low:.4f} to {high:.4f})"
    tied = [results.names[run] for run in order[1:] if run in results.best()[0]]
    first_sentence += f", tied with {either(tied, 'and')}" if tied else ""
    first, second = comparison.pairing
    verdicts = {
        int(first[index] + second[index]) - best: comparison.verdicts[0][index]
        for index in comparison.pairs_with(best)
    }
    better = len(outperformed_runs(comparison, 0)[best])  # a run may be worse over the shared queries
    number = len(verdicts)
    if number == 0:
        return [f"{first_sentence}."]
    pair = _of_the_best(comparison)[0]
    told = [f"{first_sentence}.", sentence(pair, rules, comparison.reach(pair.measure))]
    if number == 1:
        return told
    if better == number:
        every = "both runs" if number == 2 else f"all {number} runs"
        lead = f"{results.names[best]} is significantly better on {measure} than {every} compared with it"
        return [*told, f"{lead}."]
    told_apart = ("better", "worse", "undecided")  # the last are not tested
    alike = [results.names[run] for run in order if verdicts.get(run, "better") not in told_apart]
    listed = either(alike) if 0 < len(alike) <= 6 else f"{', '.join(alike[:6])} and {len(alike) - 6} more"
    some = better or ("either" if number == 2 else "any")
    of = f"on {measure} than {some} of the {number} runs compared with it"
    of = f"{'' if better else 'not '}significantly better {of}"
    rest = f" It does not differ significantly from {listed}." if alike else ""
    return [*told, f"{results.names[best]} is {of}.{rest}"]


def _said(pairs: Sequence[ComparedPair], comparison: Comparison) -> list[str]:
    """Return a sentence on each pair; many are counted."""
    told = [sentence(pair, comparison.rules, comparison.reach(pair.measure)) for pair in pairs[:SENTENCES]]
    more = len(pairs) - SENTENCES
    return told + [f"{counted(more, 'more run is', 'more runs are')} not described here."] * (more > 0)


def shown_pairs(comparison: Comparison) -> list[ComparedPair]:
    """Return the pairs of the table by measure and p: all if there is a baseline or few, else significant."""
    place = {str(measure): place for place, measure in enumerate(comparison.results.measures)}
    chosen = comparison.printed_pairs("all" if comparison.baselines else None)
    return sorted(
        comparison.records(changed=0, chosen=chosen),
        key=lambda pair: (place[pair.measure], pair.p_corrected, pair.p, -abs(pair.difference)),
    )


def tally(comparison: Comparison) -> str:
    """Return a sentence with the numbers of significant pairs by measure, and of the other comparisons."""
    significant = comparison.rejected
    parts = [
        f"{measure} {int(significant[index].sum()):,}"
        for index, measure in enumerate(comparison.results.measures)
    ]
    pairs = counted(significant.shape[1], "pair")
    told = f"Significant differences by measure ({pairs} of runs): {', '.join(parts)}."
    others = [verdict for row in comparison.verdicts for verdict in row if verdict not in ("better", "worse")]
    return f"{told} Other comparisons: {counts_of(others)}." if others else told


def _basis(results: Results) -> str:
    """Return what estimates are made from, after a comma; empty if the values are no estimates."""
    if results.withheld is None:
        return ""
    known = estimates_of(results)
    return f", {'estimated from a sample of judgments' if known is None else basis_of(known)}"


def _of_the_best(comparison: Comparison) -> list[ComparedPair]:
    """Return the pairs of the best run by the first measure, in order of the other run."""
    results = comparison.results
    rank = {results.names[run]: position for position, run in enumerate(results.order())}
    others: list[list[int]] = [[]] * (len(results.measures) - 1)
    records = comparison.records(changed=0, chosen=[comparison.pairs_with(results.order()[0]), *others])
    return sorted(records, key=lambda pair: max(rank[pair.a], rank[pair.b]))


def _row(pair: ComparedPair, reach: float) -> dict[str, Any]:
    """Return the fields of a pair with the limits that the table shows."""
    low, high = shown_limits(pair, reach)
    these = np.array([[pair.these_low], [pair.these_high]], dtype=np.float64)
    fields = pair._asdict() | {"low": low, "high": high}
    fields["these"] = interval_texts(*np.clip(these, -reach, reach))[0]
    return {key: plain(value) if isinstance(value, float) else value for key, value in fields.items()}


def marks(comparison: Comparison, index: int, order: list[int], baseline: str | None) -> list[str]:
    """Return the superscript of the mean of every run in order.

    With a baseline, daggers mark runs that are significantly better or worse. Otherwise letters name the runs
    that a run significantly outperforms; with more than 26 runs they are counted.
    """
    outperformed = outperformed_runs(comparison, index)
    if baseline is not None:
        base = comparison.names.index(baseline)
        return [
            BETTER if base in outperformed[run] else WORSE if run in outperformed[base] else ""
            for run in order
        ]
    if len(order) > MOST_LETTERS:
        return [str(len(outperformed[run])) for run in order]
    letters = {run: ascii_lowercase[row] for row, run in enumerate(order)}
    return [
        "".join(sorted(letters[other] for other in outperformed[run] if other in letters)) for run in order
    ]


def _legend(runs: int, baseline: str | None) -> str:
    """Return the legend of the superscripts of so many runs."""
    if baseline is not None:
        return f"{BETTER} significantly better than {baseline}, {WORSE} significantly worse"
    if runs > MOST_LETTERS:
        return "Number after a value: significantly better than this many runs"
    return "Letters after a value name the runs that are significantly worse"


def significance_table(
    comparison: Comparison, *, baseline: str | None = None, top: int | None = None, digits: int = 4
) -> Table:
    """Return the table of means with `marks`; `top` is the number of runs to show besides the baseline."""
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
    legend = f"{_legend(len(order), baseline)} ({method(comparison)})"
    size = counted(len(order), "run") + (f" of {runs}" if len(order) < runs else "")
    number = averaged_over(results)
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
        caption=f"Means over {number}{_basis(results)}. {legend}.",
        notes=[f"{size}, {number}", legend[0].lower() + legend[1:], *map(str, comparison.warnings)],
    )


def _table(comparison: Comparison, baseline: str | None) -> dict[str, Any]:
    """Return the table of means with intervals and superscripts, runs in descending order."""
    results = comparison.results
    limits = [
        in_range(comparison.intervals.limits[:, index], measure).tolist()
        for index, measure in enumerate(results.measures)
    ]
    sampling = results.sampling or [{"new": False, "estimate": {}}] * len(results.runs)
    these = []
    for measure in results.measures:
        found = [run["estimate"].get(str(measure), {}) for run in sampling]
        ends = [[one.get("these_low"), one.get("these_high")] for one in found]
        these.append(interval_texts(*in_range(ends, measure).T))
    order, best = results.order(), results.best()
    letters = [marks(comparison, index, order, baseline) for index in range(len(results.measures))]
    named = baseline is None and len(order) <= MOST_LETTERS
    rows = []
    for row, run in enumerate(order):
        cells = [
            {
                "value": float(results.means[run, index]),
                "best": run in best[index],
                "low": plain(limits[index][run][0]),
                "high": plain(limits[index][run][1]),
                "these": these[index][run],
                "letters": letters[index][row],
            }
            for index in range(len(results.measures))
        ]
        name = results.names[run]
        shown = f"{name} (new)" if sampling[run]["new"] else name
        label = f"{ascii_lowercase[row]}  {shown}" if named else shown
        rows.append({"name": name, "label": label, "cells": cells})
    return {"columns": [str(measure) for measure in results.measures], "rows": rows}


def _figures(comparison: Comparison, precision: Floats | None) -> list[dict[str, Any]]:
    """Return the sections of figures with captions: the curves, then those of every measure."""
    results = comparison.results
    runs = len(results.runs)
    sections: list[dict[str, Any]] = []
    if precision is not None:
        curves = recall_precision(results.names, ELEVEN_LEVELS, precision, width=WIDTH)
        caption = "Mean interpolated precision at eleven recall levels."
        pictures = [{"svg": inline(curves, "curves", f"curves of {runs} runs"), "words": caption}]
        sections.append({"title": "Recall and precision", "pictures": pictures})
    for index, measure in enumerate(results.measures):
        pictures = [
            {"svg": inline(figure, f"{key}-{index}", f"{key} of {measure}, {runs} runs"), "words": text}
            for key, figure, text in _of_measure(comparison, index)
        ]
        sections.append({"title": str(measure), "pictures": pictures})
    return sections


def _of_measure(comparison: Comparison, index: int) -> list[tuple[str, Any, str]]:
    """Return key, figure and caption of each figure of a measure."""
    results = comparison.results
    measure = results.measures[index]
    better = "" if measure.rising else " Lower is better."
    runs = len(results.runs)
    forest = drawn_comparison(comparison, "forest", index, width=WIDTH)
    known = np.isfinite(comparison.intervals.limits[:, index]).any()  # not for one query
    own = f" with its own interval. {OVERLAP}" if known else "."
    text = f"{measure}: the mean of each run{own}"
    drawn: list[tuple[str, Any, str]] = [("forest", forest, text)]
    if results.withheld is None:  # single queries are not drawn for estimates
        by_query = per_query(results, measure, width=WIDTH)
        drawn.append(("map", by_query, f"{measure} per query (column) and run (row)."))
    if runs > 2 and len(comparison.pairing) == runs * (runs - 1) // 2:
        groups = drawn_comparison(comparison, "groups", index, width=WIDTH if runs <= FEW else 1.5 * WIDTH)
        text = f"{measure}: runs in order of their mean. A bar joins runs that do not differ significantly."
        drawn.append(("groups", groups, text))
    if results.withheld is not None:
        return drawn
    # The pair to draw has the best run, and the best one that is compared with it.
    rank = {run: row for row, run in enumerate(results.order(index))}
    pairs = list(zip(*(side.tolist() for side in comparison.pairing), strict=True))
    pair = min(range(len(pairs)), key=lambda number: sorted(rank[run] for run in pairs[number]))
    names = [comparison.names[run] for run in pairs[pair]]
    order = "the highest difference on the left, the lowest on the right"
    return [
        *drawn,
        (
            "differences",
            drawn_comparison(comparison, "differences", index, pair, width=WIDTH),
            f"{measure} per query, {' minus '.join(names)}: {order}.{better}",
        ),
        (
            "scatter",
            drawn_comparison(comparison, "scatter", index, pair, width=WIDTH),
            f"{measure} per query in {' and '.join(names)}. Queries on the line have the same value in both.",
        ),
    ]


def separating(results: Results) -> list[dict[str, Any]]:
    """Return the queries in descending order of the deviation of the first measure over the runs."""
    values = results.averaged_values(0)
    complete = ~np.isnan(values).any(axis=0)
    sign = 1.0 if results.measures[0].rising else -1.0
    rows = []
    for code in np.flatnonzero(complete).tolist():
        column = values[:, code]
        best, worst = int(np.argmax(sign * column)), int(np.argmin(sign * column))
        rows.append(
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
    return sorted(rows, key=lambda row: (-row["deviation"], row["query"]))


def _software() -> str:
    import scipy

    from leadline import kernels

    form = "compiled" if kernels.compiled is not None else "uncompiled"
    return (
        f"leadline {VERSION} (kernels {form}), Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}"
    )
