"""`leadline report`: an evaluation report of runs as one HTML page."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any

import click

from leadline.cli._help import Command, option
from leadline.cli._options import (
    OUTPUT,
    confidence_options,
    evaluation_options,
    formats_option,
    measure_option,
    progress,
    sample_options,
    write_output,
)
from leadline.cli._reading_options import judgments_and_draw, labels_of, read_with
from leadline.cli._results import inputs_of, print_line, result_text
from leadline.cli._scores import given_scores, refuse_without_scores, scores_options
from leadline.cli._settings import settings
from leadline.comparison.compare import compare_results
from leadline.comparison.rules import Rules
from leadline.data.optional import require
from leadline.errors import UsageError
from leadline.estimation.measured import estimates_of
from leadline.reporting.pages.report import compared, only_one, page_of
from leadline.reporting.tables.significance_table import significance_table

SECTION = "Evaluation"


@click.command(cls=Command, epilog="Example: leadline report qrels.txt bm25.run dense.run -o report.html")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@scores_options
@measure_option("Measure, as in AP (its mean is MAP) or nDCG@10 (repeatable); the first orders the runs.")
@confidence_options
@sample_options
@evaluation_options
@settings("output.top", "output.digits")
@formats_option()
@option(
    "Output",
    "-o",
    "--output",
    type=OUTPUT,
    metavar="FILE",
    default="leadline-report.html",
    show_default=True,
    help="Output file of the page.",
)
@click.pass_context
def command(
    context: click.Context,
    /,
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
    scores: bool,
    **options: Any,
) -> None:
    """Write an evaluation report of runs as one HTML page.

    The page has measures with confidence intervals, significance tests, figures, and all options needed to
    reproduce it; it is one file and works offline. The table of means is also written to the screen; `-f
    latex` formats it for a paper, with letters for significant differences, or with daggers if there is one
    --baseline. `-o -` writes the page to standard output.
    """
    require("HTML pages")
    suffix = os.path.splitext(output)[1]
    if suffix.lower() not in ("", ".html", ".htm"):
        written = f"leadline report ... -f {form if form != 'table' else 'latex'} > {output}"
        raise UsageError(
            f"-o {output}: report writes its page, which is HTML; expected a name that ends in .html. The "
            f"table goes to the screen: {written}"
        )
    if output == "-" and form != "table":
        raise UsageError(f"-o - and -f {form} both write to standard output; expected -o FILE")
    baseline = options.pop("baseline")
    rules = Rules.take(options)
    if scores:
        asked = [*options, "level", "kind"]
        restored, ((qrels, judged), *others) = given_scores(context, asked, (qrels, *runs), measures)
        comparison, curves = compare_results(restored, rules, baseline=baseline), None
    else:
        refuse_without_scores(context)
        if not runs:
            raise UsageError("no run; expected QRELS RUN RUN..., or --scores FILE...")
        table, draw = judgments_and_draw(qrels, options, kind, measures)
        pool, judged = options["pool"], len(table.grades)
        if draw is not None:
            options |= {"pool": draw, "machine": labels_of(pool, options["machine"])}
        with progress("runs") as on_run:
            comparison, curves = compared(
                table, runs, measures or None, rules, baseline, rel=level, on_run=on_run, **options
            )
        estimated = estimates_of(comparison.results)
        others = [] if estimated is None else read_with(estimated, pool, options["machine"])
        comparison.options |= {"pool": pool} if pool is not None else {}
    results = comparison.results
    results.intervals = comparison.intervals
    comparison.options |= {"kind": kind, "intervals": results.intervals.by}
    results.options = comparison.options | {"output": output, "top": top, "digits": digits}
    base = only_one(baseline)
    inputs = inputs_of(results, qrels, judged, others)
    content = page_of(
        comparison,
        curves,
        judgments=None if scores else judged,
        inputs=inputs,
        again=_again(),
        baseline=base,
        top=top,
        digits=digits,
    )
    write_output(content, output)
    if output == "-":
        return
    text = result_text(
        "report",
        results,
        form,
        inputs=lambda: inputs_of(results, qrels, judged, others),
        data=lambda: results.to_dict() | comparison.to_dict(),
        table=lambda: (
            significance_table(comparison, baseline=base, top=top, digits=digits)
            if form in ("latex", "markdown")
            else results.table()
        ),
    )
    write_output(text, None)
    if form == "table":
        from leadline.reporting.pages.report_page import story

        print_line("\n" + "\n".join(story(comparison)))
        print_line(f"page written: {output} (open it in a browser)")


def _again() -> str:
    """Return the command as it was typed."""
    return shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
