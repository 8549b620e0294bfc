"""`leadline report`: an evaluation report of runs as one HTML page."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any

import click

from leadline.cli._help import typed
from leadline.cli._inputs import (
    files_among,
    given_scores,
    judgments_and_draw,
    read_with,
    refuse_no_runs,
    values_given,
)
from leadline.cli._outputs import Outputs, inputs_of, progress
from leadline.comparison.compare import compare_results
from leadline.comparison.pairing import Rules
from leadline.data.optional import require
from leadline.errors import UsageError
from leadline.estimation.measured import estimates_of, labels_of
from leadline.io.saved_results import is_saved_file
from leadline.pages.report import compared, only_one, page, significance_table, story
from leadline.render import View
from leadline.render.text_formats import write_latex

SECTION = "Evaluation"


def command(
    context: click.Context,
    /,
    *,
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    level: float | None,
    top: int | None,
    outputs: Outputs,
    kind: str | None,
    **options: Any,
) -> None:
    """Write a report on two or more runs as one HTML page.

    The page has measures with confidence intervals, significance tests, figures, and all options needed to
    reproduce it. It is a single file that works offline. The table of means is also printed. `-f latex`
    formats this table for a paper, with superscripts for significant differences (daggers if there is exactly
    one --baseline). `-f html -o -` prints the page instead of saving it. You can pass files of per-query
    values, such as results of `leadline evaluate`, instead of QRELS and RUNS.

    Example: leadline report qrels.txt bm25.run dense.run -o report.html

    Options
    -------
    qrels
    [runs]...
    -m, --measure MEASURE as measures | Measures | MEASURE | many
        Measure, such as AP (its mean is MAP) or nDCG@10 (repeatable). The page sorts runs by the first
        measure. [default: AP, nDCG@10, RR, P@10, R@100, Judged@10; with a pool or per-query values, all of
        their measures]
    use tests, sample, evaluation, scores
    -C output.top
    -o | default leadline-report.html | digits
    """
    wanted = "html" in outputs.forms
    if wanted:
        require("HTML pages")
    digits = outputs.digits or 4
    baseline = options.pop("baseline")
    rules = Rules.take(options)
    if scores := values_given(context, (qrels, *runs), kind):
        asked = [*options, "level"]
        restored, ((qrels, judged), *others) = given_scores(context, asked, (qrels, *runs), measures)
        comparison, curves = compare_results(restored, rules, baseline=baseline), None
    else:
        refuse_no_runs(runs)
        files = files_among(baseline, runs)
        if saved := next(filter(is_saved_file, files), None):
            raise UsageError(
                f"--baseline {saved} is a saved result, but a report needs the run itself. Pass the run, "
                "or use `leadline compare`."
            )
        runs = (*files, *runs)
        table, draw = judgments_and_draw(qrels, options, kind, measures)
        pool, judged = options["pool"], len(table.grades)
        if draw is not None:
            for option in typed(context, "smallest"):
                raise UsageError(
                    f"{option} does not apply to a report on a sampled pool. Use this setting with `leadline "
                    "compare` instead."
                )
            options["pool"] = draw
        with progress("runs") as on_run:
            comparison, curves = compared(
                table, runs, measures or None, rules, baseline, rel=level, on_run=on_run, **options
            )
        estimated = estimates_of(comparison.results)
        others = []
        if estimated is not None and draw is not None:
            others = read_with(estimated, pool, labels_of(draw, options["machine"]))
        comparison.options |= {"pool": pool} if pool is not None else {}
    results = comparison.results
    results.intervals = comparison.intervals
    comparison.options |= {"kind": kind, "intervals": results.intervals.by}
    results.options = comparison.options | {
        "output": next(iter(outputs.files), None),
        "top": top,
        "digits": digits,
    }
    base = only_one(comparison.baselines)
    inputs = inputs_of(results, qrels, judged, others)
    paper = significance_table(comparison, baseline=base, top=top, digits=digits)
    means = results.table()
    means.notes += ["", *story(comparison)]
    view = View(results, extra=comparison.to_dict())
    view.tables = {"table": means, "latex": paper, "markdown": paper}
    if wanted:
        view.texts["html"] = page(
            comparison,
            curves,
            judgments=None if scores else judged,
            inputs=inputs,
            again=_again(),
            latex=write_latex(paper),
            baseline=base,
        )
    outputs.write("report", view, lambda: inputs)


def _again() -> str:
    """Return the command as it was typed."""
    return shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
