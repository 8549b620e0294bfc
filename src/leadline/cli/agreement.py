"""`leadline agreement`: inter-assessor agreement on the same pairs of query and document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from leadline.cli._help import Command, is_given, option
from leadline.cli._options import (
    confidence_option,
    measure_option,
    output_options,
    per_query_option,
    progress,
    seed_option,
    whole,
    write_output,
)
from leadline.cli._plots import check_plots, plot_option, plot_options, write_plots
from leadline.cli._results import describe_input, result_text
from leadline.cli._scores import given_scores, refuse_without_scores, scores_options
from leadline.cli._settings import setting
from leadline.data.results import Results
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.io.opening import run_name
from leadline.io.tables import split_place
from leadline.judging.agreement import agreement
from leadline.judging.agreement_audit import TOP, WITHIN
from leadline.judging.agreement_result import Agreement
from leadline.judging.score_audit import ScoreAudit, audit_scores

SECTION = "Judging"
OF_LABELS = ("table", "weights", "level", "rel", "over", "resample", "runs", "within", "per_query")


class TakesRuns(Command):
    """A command whose `--runs` takes all names up to the next option, as a shell's `*` gives them."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Write `--runs` before each of its values."""
        spread: list[str] = []
        waiting = taking = False
        for each in args:
            if each == "--runs":
                waiting = taking = True
                continue
            if each.startswith("-") and each != "-":
                spread += ["--runs"] if waiting else []
                waiting = taking = False
            spread += ["--runs", each] if taking else [each]
            waiting = False
        return super().parse_args(context, [*spread, *(["--runs"] if waiting else [])])


@click.command(
    cls=TakesRuns, epilog="Example: leadline agreement judges.csv; leadline agreement --table 300,20,10,70"
)
@click.argument("judges", nargs=-1, metavar="QRELS QRELS...")
@scores_options
@click.option(
    "--table",
    metavar="N,N,N,N",
    help="Contingency table of two assessors instead of files: yes-yes, yes-no, no-yes, no-no; or 9, "
    "16, ... counts row by row.",
)
@click.option("--reference", is_flag=True, help="Compare every other assessor with the first, the reference.")
@click.option(
    "--weights",
    type=click.Choice(["none", "linear", "quadratic"]),
    default="none",
    show_default=True,
    help="Weights of disagreement between grades for Cohen's kappa.",
)
@click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval"]),
    default="nominal",
    show_default=True,
    help="Level of measurement of the grades for Krippendorff's alpha.",
)
@click.option("--rel", type=float, metavar="GRADE", help="Minimum relevant grade; makes the grades binary.")
@click.option(
    "--over",
    type=click.Choice(["all", "two"]),
    default="all",
    show_default=True,
    help="Pairs to compare: those that all assessors judged, or those that both of any two judged.",
)
@option(
    "Statistics",
    "--resample",
    type=click.Choice(["auto", "queries", "pairs"]),
    default="auto",
    show_default=True,
    help="Unit of the intervals: queries (ten or more), or pairs, which applies to these queries only; "
    "auto: queries, of --table pairs.",
)
@setting("test.draws")
@confidence_option
@seed_option
@click.option(
    "--runs",
    multiple=True,
    metavar="RUN...",
    help="Runs to evaluate with each assessor's judgments, to show how scores and rankings change.",
)
@click.option(
    "--top",
    type=whole(2),
    default=TOP,
    show_default=True,
    metavar="K",
    help="With --runs, also compare the order of the K best runs by the reference.",
)
@option(
    "Statistics",
    "--within",
    type=float,
    metavar="WIDTH",
    help=f"Say how many judgments give Cohen's kappa this half-width. [with --runs: {WITHIN}]",
)
@measure_option("Measure for --runs (repeatable).", default=["AP", "nDCG"], show_default=True)
@per_query_option()
@plot_option("Figure of Cohen's kappa of all assessors")
@plot_options
@output_options
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    judges: tuple[str, ...],
    scores: bool,
    table: str | None,
    runs: tuple[str, ...],
    per_query: bool,
    plots: tuple[str, ...],
    form: str,
    output: str | None,
    **options: Any,
) -> None:
    """Measure inter-assessor agreement: kappa, Krippendorff's alpha.

    QRELS is the file of one assessor, a table with a column `judge`, or FILE:COLUMN of a table with one
    column per assessor. leadline compares the query-document pairs that all assessors judged. A coefficient
    of 0 is agreement by chance, 1 is perfect agreement. Values of Scott's pi from 2/3 to 1 are often called
    acceptable; with fewer than 50 pairs there is no such verdict. Intervals are over
    bootstrap resamples of pairs (`-C draws=N`).

    --runs shows how the choice of the assessor changes scores and system rankings. With two assessors, or
    with --reference, leadline takes the first as the truth and audits every other one, such as an LLM: the
    bias of every run, the runs that the labels favour, and the rank correlation of all runs and of the best.

    With --scores, the arguments are tables of per-query scores by the labels of each judge, the reference
    first: a file, a folder or FILE:MEASURE. You get the audit of --runs, but no kappa: that needs the labels.

    Confidence intervals are over queries, by Student's t on the coefficients without each query in turn: in
    simulations with 10 to 40 queries, 95 % intervals contained kappa in 91 to 96 % of the samples
    (docs/agreement.md). With fewer than ten queries there are none.
    """
    appearance = check_plots(plots, output=output)
    if scores:
        audited, inputs = _audited(context, judges, options)
        audited.options |= appearance
        text = result_text(
            "agreement",
            audited,
            form,
            inputs=lambda: [describe_input(path, rows) for path, rows in inputs],
            to_file=output is not None,
            lines=lambda _: audited.to_rows(),
        )
        write_plots(plots, audited)
        write_output(text, output)
        return
    refuse_without_scores(context)
    with progress("judges") as on_run:
        result = agreement(
            list(judges) or None, table=_counts(table), runs=list(runs) or None, on_run=on_run, **options
        )
    result.options |= appearance
    text = result_text(
        "agreement",
        result,
        form,
        inputs=lambda: _inputs(result),
        to_file=output is not None,
        lines=lambda _: result.to_rows(per_query=per_query),
        per_query=per_query,
    )
    write_plots(plots, result)
    write_output(text, output)


def _audited(
    context: click.Context, judges: Sequence[str], options: Mapping[str, Any]
) -> tuple[ScoreAudit, list[tuple[str, int]]]:
    """Return the audit of --scores, and path and number of rows of each file."""
    if len(judges) < 2:
        raise UsageError(
            f"--scores with {counted(len(judges), 'table')}; expected REFERENCE[:MEASURE] LABELS[:MEASURE]..."
        )
    asked = is_given(context, "measures")
    found: dict[str, Results] = {}
    inputs = []
    places = [split_place(judge) for judge in judges]
    once = len({path for path, _ in places}) == len(places)
    for path, measure in places:
        if measure and asked:
            raise UsageError(f"-m and {path}:{measure}; expected one of them")
        name = run_name(path) if once else measure or run_name(path)
        if name in found:
            raise UsageError(f"two judges are called '{name}'; expected a different name for each table")
        measures = [measure] if measure else options["measures"] if asked else ()
        found[name], files = given_scores(context, OF_LABELS, [path], measures)
        inputs += files
    rules = {name: options[name] for name in ("top", "draws", "confidence", "seed")}
    return audit_scores(found, **rules), inputs


def _inputs(result: Agreement) -> list[dict[str, Any]]:
    """Describe the judgments and the runs."""
    runs = result.ranking.runs if result.ranking else []
    inputs = [describe_input(path, rows) for path, rows in result.judgments.paths if path]
    return inputs + [describe_input(run.path, run.counts["documents_read"]) for run in runs]


def _counts(table: str | None) -> list[float]:
    if table is None:
        return []
    try:
        return [float(cell) for cell in table.replace(";", ",").split(",")]
    except ValueError:
        raise UsageError(f"--table {table}; expected counts, as in 300,20,10,70") from None
