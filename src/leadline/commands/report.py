"""`leadline report`: everything about several runs as one page."""

from __future__ import annotations

import os
import shlex
import sys
from string import ascii_lowercase
from typing import Any

import click

from leadline.commands._around import around_sheet
from leadline.commands._options import (
    CONFIDENCE,
    confidence_options,
    deliver,
    evaluation_options,
    formats_option,
    keep_inputs,
    progress,
)
from leadline.commands._results import describe_input, results_text
from leadline.comparison import compare_results
from leadline.comparison.letters import MOST, letters_of
from leadline.comparison.table import Comparison
from leadline.errors import UsageError
from leadline.evaluation import DEFAULT_MEASURES, evaluate
from leadline.formats import read_qrels
from leadline.measures.interpolated_precision import ELEVEN_LEVELS, IPrec
from leadline.profiles import profile_of
from leadline.render import Cell, Sheet
from leadline.render.latex import write as latex_of
from leadline.results import plain
from leadline.wording import counted, queries

SECTION = "Measure runs against judgments"


@click.command(epilog="Example: leadline report qrels.txt bm25.run dense.run.gz -o report.html")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE",
    help="A measure, as in nDCG@10 (again for more; the first orders the runs).",
)  # fmt: skip
@confidence_options
@evaluation_options
@formats_option()
@click.option(
    "-o", "--output", metavar="FILE", default="leadline-report.html", show_default=True,
    help="Write the page to FILE.",
)  # fmt: skip
def command(
    *, qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], level: float | None,
    form: str, output: str, kind: str | None, **options: Any,
) -> None:  # fmt: skip
    """Write a page about RUNS judged by QRELS: measures with intervals, tests, figures, how it was made.

    The page is one file, works offline, and holds what is needed to make it again. The table of means is
    written to the screen too; `-f latex` writes it with significance letters. `-o -` writes the page there.
    """
    keep_inputs(output, qrels, *runs)
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
    results.options = comparison.options | {"output": output}
    from leadline.pages.report import page, story

    inputs = [describe_input(qrels, len(table))]
    inputs += [describe_input(run.path, run.counts["documents_read"]) for run in results.runs]
    content = page(
        comparison, curves, judgments=len(table), inputs=inputs, again=_again(),
        latex=latex_of(lettered(comparison)),
    )  # fmt: skip
    deliver(content, output)
    if output == "-":
        return
    text = results_text(
        "report", results, lambda: results.to_dict() | comparison.to_dict(),
        lambda: lettered(comparison) if form in ("latex", "markdown") else around_sheet(results),
        form=form, qrels=qrels, judgments=len(table), to_file=False,
    )  # fmt: skip
    deliver(text, None)
    if form == "table":
        click.echo("\n" + "\n".join(story(comparison)))
        click.echo(f"page written: {output} (open it in a browser)")


POINTS = [str(IPrec(recall=level, rule="standard")) for level in ELEVEN_LEVELS]


def _again() -> str:
    """Give the command as it was typed."""
    return shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])


def lettered(comparison: Comparison) -> Sheet:
    """Lay means out with the letters of the runs that they are better than and told apart from."""
    results = comparison.results
    order = results.order()
    few = len(order) <= MOST
    rows: list[list[Cell]] = [
        [*([ascii_lowercase[row]] if few else []), results.names[run], *map(plain, means)]
        for row, (run, means) in enumerate(zip(order, results.means[order].tolist(), strict=True))
    ]
    before = 1 + few
    letters = {
        (row, place + before): text
        for place in range(len(results.measures))
        for row, text in enumerate(letters_of(comparison, place, order))
        if text
    }
    best = {
        (order.index(run), place + before)
        for place, winners in enumerate(results.best())
        for run in winners
    }
    rules = comparison.rules
    says = "letters: runs" if few else "raised: the number of runs"
    made = f"({rules.test}, {rules.corrected_by}, level {1 - rules.confidence:.3g})"
    return Sheet(
        columns=[*([""] if few else []), "run", *map(str, results.measures)],
        rows=rows, best=best, letters=letters,
        notes=[
            f"{counted(len(order), 'run')}, {queries(len(results.averaged_queries()))}",
            f"{says} that a value is better than and told apart from {made}",
            *map(str, comparison.notices),
        ],
    )  # fmt: skip
