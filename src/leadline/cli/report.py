"""`leadline report`: everything about several runs as one page."""

from __future__ import annotations

import os
import shlex
import sys
from string import ascii_lowercase
from typing import Any

import click

from leadline.cli._options import (
    CONFIDENCE,
    OUTPUT,
    confidence_options,
    evaluation_options,
    formats_option,
    progress,
    refuse_overwrite,
    write_output,
)
from leadline.cli._results import describe_input, results_text, tell
from leadline.comparison.compare import compare_results
from leadline.comparison.comparison_result import Comparison
from leadline.comparison.significance_letters import MOST_LETTERS
from leadline.data.results import plain
from leadline.data.wording import counted, queries
from leadline.errors import UsageError
from leadline.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from leadline.evaluation.profiles import profile_of
from leadline.io.read import read_qrels
from leadline.measures.average_precision import ELEVEN_LEVELS, IPrec
from leadline.reporting.render import Cell, Table
from leadline.reporting.render.latex import write as latex_of
from leadline.reporting.tables.interval_table import around_sheet

SECTION = "Measure runs against judgments"


@click.command(epilog="Example: leadline report qrels.txt bm25.run dense.run.gz -o report.html")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="A measure, as in nDCG@10 (again for more; the first orders the runs).",
)
@confidence_options
@evaluation_options
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="N",
    help="LaTeX and Markdown: the N best runs by the first measure (and the baseline).",
)
@click.option(
    "--digits",
    type=click.IntRange(1, 10),
    default=4,
    show_default=True,
    metavar="N",
    help="LaTeX and Markdown: digits after the point.",
)
@formats_option()
@click.option(
    "-o",
    "--output",
    type=OUTPUT,
    metavar="FILE",
    default="leadline-report.html",
    show_default=True,
    help="Write the page to FILE.",
)
def command(
    *,
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    level: float | None,
    top: int | None,
    digits: int,
    form: str,
    output: str,
    kind: str | None,
    **options: Any,
) -> None:
    """Write a page about RUNS judged by QRELS: measures with intervals, tests, figures, how it was made.

    The page is one file, works offline, and holds what is needed to make it again. The table of means is
    written to the screen too; `-f latex` writes it for a paper, with letters for significant differences, or
    with daggers where there is one --baseline. `-o -` writes the page there.
    """
    refuse_overwrite(output, qrels, *runs)
    if output == "-" and form != "table":
        raise UsageError(f"-o - and -f {form} both go to standard output; expected -o FILE")
    table = read_qrels(qrels, subtopics=options["subtopics"], kind=kind)
    rules = {name: options.pop(name) for name in CONFIDENCE}
    profile, size = profile_of(options["profile"]), options["documents"]
    wanted = profile.measures(measures or DEFAULT_MEASURES, rel=level, documents=size)
    points = profile.measures(POINTS, rel=level, documents=size)
    with progress("runs") as on_run:  # the curve comes with the measures: runs are read once
        found = evaluate(table, runs, [*wanted, *points], rel=level, on_run=on_run, **options)
    results = found.part(range(len(wanted)))
    curves = found.means[:, [found.place(point) for point in points]]
    comparison = compare_results(results, **rules)
    results.intervals = comparison.intervals
    comparison.options |= {"kind": kind, "intervals": results.intervals.by}
    results.options = comparison.options | {"output": output, "top": top, "digits": digits}
    from leadline.reporting.pages.report_page import page, story

    baseline = rules["baseline"][0] if len(rules["baseline"]) == 1 else None
    for_paper = significance_sheet(comparison, baseline=baseline, top=top, digits=digits)
    inputs = [describe_input(qrels, len(table))]
    inputs += [describe_input(run.path, run.counts["documents_read"]) for run in results.runs]
    content = page(
        comparison,
        curves,
        judgments=len(table),
        inputs=inputs,
        again=_again(),
        latex=latex_of(for_paper),
        baseline=baseline,
    )
    write_output(content, output)
    if output == "-":
        return
    text = results_text(
        "report",
        results,
        lambda: results.to_dict() | comparison.to_dict(),
        lambda: for_paper if form in ("latex", "markdown") else around_sheet(results),
        form=form,
        qrels=qrels,
        judgments=len(table),
        to_file=False,
    )
    write_output(text, None)
    if form == "table":
        tell("\n" + "\n".join(story(comparison)))
        tell(f"page written: {output} (open it in a browser)")


POINTS = [str(IPrec(recall=level, rule="standard")) for level in ELEVEN_LEVELS]


def _again() -> str:
    """Give the command as it was typed."""
    return shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])


def significance_sheet(
    comparison: Comparison, *, baseline: str | None = None, top: int | None = None, digits: int = 4
) -> Table:
    """Return the table of means with what differs significantly behind each value.

    With one `baseline` these are daggers; else the letters of the runs that a value is significantly better
    than, or with more runs than letters their number. `top` keeps the best runs and the baseline.
    """
    from leadline.reporting.pages.report_page import BETTER, WORSE, marks

    results, rules = comparison.results, comparison.rules
    runs = len(results.runs)
    base = None if baseline is None else results.names.index(baseline)
    order = results.order()
    if top is not None:
        order = [run for row, run in enumerate(order) if row < top or run == base]
    raised = [marks(comparison, place, order, baseline) for place in range(len(results.measures))]
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
        (order.index(run), place + before)
        for place, winners in enumerate(results.best())
        for run in winners
        if run in order
    }
    made = f"({rules.test}, {rules.corrected_by}, level {1 - rules.confidence:.3g})"
    if base is not None:
        name = results.names[base]
        says = f"{BETTER} significantly better than {name}, {WORSE} significantly worse {made}"
    elif named:
        says = f"letters: runs that a value is significantly better than {made}"
    else:
        says = f"raised: the number of runs that a value is significantly better than {made}"
    size = counted(len(order), "run") + (f" of {runs}" if len(order) < runs else "")
    return Table(
        columns=[*([""] if named else []), "run", *map(str, results.measures)],
        rows=rows,
        best=best,
        digits=digits,
        letters={
            (row, place + before): text
            for place, texts in enumerate(raised)
            for row, text in enumerate(texts)
            if text
        },
        notes=[f"{size}, {queries(len(results.averaged_queries()))}", says, *map(str, comparison.warnings)],
    )
