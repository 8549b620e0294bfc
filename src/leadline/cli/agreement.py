"""`leadline agreement`: how far judges agree on the same pairs of query and document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leadline.cli._options import (
    MOST_DRAWS,
    OUTPUT,
    confidence_option,
    output_options,
    progress,
    refuse_overwrite,
    refuse_same_output,
    seed_option,
    whole,
    write_output,
)
from leadline.cli._plots import check_plot, plot_options, write_plot
from leadline.cli._results import describe_input, envelope, escaped, json_text, say, table_text
from leadline.errors import UsageError
from leadline.judging.agreement import agreement
from leadline.judging.agreement_result import Agreement
from leadline.reporting.tables.agreement_table import agreement_rows, flat_rows, sheets_of

if TYPE_CHECKING:
    pass


SECTION = "Judge documents"


class TakesRuns(click.Command):
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
    cls=TakesRuns,
    epilog="Example: leadline agreement ann.qrels ben.qrels; leadline agreement --table 300,20,10,70",
)
@click.argument("judges", nargs=-1, metavar="QRELS QRELS...")
@click.option(
    "--table",
    metavar="N,N,N,N",
    help="Counts of two judges instead of files: yes-yes, yes-no, "
    "no-yes, no-no; or 9, 16, ... numbers row by row.",
)
@click.option(
    "--reference",
    is_flag=True,
    help="The first judge is the reference, which every other one is compared with.",
)
@click.option(
    "--weights",
    type=click.Choice(["none", "linear", "quadratic"]),
    default="none",
    show_default=True,
    help="How far apart two grades are for Cohen's kappa.",
)
@click.option(
    "--level",
    type=click.Choice(["nominal", "ordinal", "interval"]),
    default="nominal",
    show_default=True,
    help="What grades are for Krippendorff's alpha.",
)
@click.option("--rel", type=float, metavar="GRADE", help="Make grades two: below GRADE, and GRADE or more.")
@click.option(
    "--over",
    type=click.Choice(["all", "two"]),
    default="all",
    show_default=True,
    help="The pairs compared: those all judges judged, or what each two judged.",
)
@click.option(
    "--resample",
    type=click.Choice(["auto", "queries", "pairs"]),
    default="auto",
    show_default=True,
    help="What is drawn again for intervals; auto: queries if there are ten or more.",
)
@click.option(
    "--draws",
    type=whole(0, MOST_DRAWS),
    default=1000,
    show_default=True,
    metavar="N",
    help="Resamples for the intervals; 0: none.",
)
@confidence_option
@seed_option
@click.option(
    "--runs",
    multiple=True,
    metavar="RUN...",
    help="Runs to evaluate with every judge: what a change of judge does to systems.",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    default=["AP", "nDCG"],
    show_default=True,
    metavar="MEASURE",
    help="A measure for --runs (again for more).",
)
@click.option("-q", "--per-query", is_flag=True, help="Show every query too.")
@click.option(
    "--plot",
    type=OUTPUT,
    metavar="FILE",
    help="Draw Cohen's kappa of all judges into FILE.svg, FILE.pdf or FILE.png.",
)
@plot_options
@output_options
def command(
    *,
    judges: tuple[str, ...],
    table: str | None,
    runs: tuple[str, ...],
    per_query: bool,
    plot: str | None,
    form: str,
    output: str | None,
    **options: Any,
) -> None:
    """Measure how far judges agree on the pairs of query and document that all of them judged.

    QRELS is a file of one judge; or a table with a column `judge`; or one with a column a judge, of which
    FILE:COLUMN names one. Chance gives 0, full agreement 1. Scott's pi is the kappa of the lecture, which
    calls values in [2/3, 1] acceptable.

    Confidence intervals are percentiles of resamples and approximate: in simulations with 25 queries, 95 %
    intervals contained the true coefficient in 92 to 96 % of the samples (docs/studies/significance.md).
    """
    appearance = check_plot(plot)
    refuse_overwrite(output, *judges, *runs)
    refuse_overwrite(plot, *judges, *runs)
    refuse_same_output(output, plot)
    with progress("judges") as on_run:
        found = agreement(
            list(judges) or None, table=_counts(table), runs=list(runs) or None, on_run=on_run, **options
        )
    found.options |= {"plot": plot} | appearance
    text = _text(found, form, per_query=per_query, to_file=output is not None)
    if plot is not None:
        from leadline.reporting.plots.result_plots import figure_of_result

        write_plot(plot, figure_of_result(found))
    write_output(text, output)


def _counts(table: str | None) -> list[float]:
    if table is None:
        return []
    try:
        return [float(cell) for cell in table.replace(";", ",").split(",")]
    except ValueError:
        raise UsageError(f"--table {table}; expected counts, as in 300,20,10,70") from None


def _text(found: Agreement, form: str, *, per_query: bool, to_file: bool) -> str:
    if form == "json":
        inputs = [describe_input(path, rows) for path, rows in found.judgments.paths if path]
        runs = found.ranking.runs if found.ranking else []
        inputs += [describe_input(run.path, run.counts["documents_read"]) for run in runs]
        data = envelope("agreement", inputs, found.options, found.warnings)
        return json_text(data | found.to_dict())
    if form in ("csv", "jsonl"):
        say(found.warnings)
        if form == "csv":
            return table_text(agreement_rows(found, per_query=per_query), "csv")
        import json

        rows = flat_rows(found, per_query=per_query)
        return "".join(escaped(json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)
    sheets = sheets_of(found, per_query=per_query)
    return "\n".join(table_text(sheet, form, to_file=to_file) for sheet in sheets)
