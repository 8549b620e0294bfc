"""`leadline report`: everything about several runs as one page."""

from __future__ import annotations

import os
import shlex
import sys
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
from leadline.errors import UsageError
from leadline.io.read import read_qrels
from leadline.reporting.pages.report import compared, only_one, page_of
from leadline.reporting.tables.comparison_table import significance_table
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
    with progress("runs") as on_run:
        comparison, curves = compared(
            table, runs, measures or None, rules=rules, rel=level, on_run=on_run, **options
        )
    results = comparison.results
    results.intervals = comparison.intervals
    comparison.options |= {"kind": kind, "intervals": results.intervals.by}
    results.options = comparison.options | {"output": output, "top": top, "digits": digits}
    baseline = only_one(rules["baseline"])
    inputs = [describe_input(qrels, len(table))]
    inputs += [describe_input(run.path, run.counts["documents_read"]) for run in results.runs]
    content = page_of(
        comparison,
        curves,
        judgments=len(table),
        inputs=inputs,
        again=_again(),
        baseline=baseline,
        top=top,
        digits=digits,
    )
    write_output(content, output)
    if output == "-":
        return
    text = results_text(
        "report",
        results,
        lambda: results.to_dict() | comparison.to_dict(),
        lambda: (
            significance_table(comparison, baseline=baseline, top=top, digits=digits)
            if form in ("latex", "markdown")
            else around_sheet(results)
        ),
        form=form,
        qrels=qrels,
        judgments=len(table),
        to_file=False,
    )
    write_output(text, None)
    if form == "table":
        from leadline.reporting.pages.report_page import story

        tell("\n" + "\n".join(story(comparison)))
        tell(f"page written: {output} (open it in a browser)")


def _again() -> str:
    """Give the command as it was typed."""
    return shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
