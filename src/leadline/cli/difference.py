"""`leadline difference`: how systems differ in what they say of the judgments."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._options import (
    OUTPUT,
    output_options,
    progress,
    reading_options,
    refuse_overwrite,
    whole,
    write_output,
)
from leadline.cli._plots import check_plot, plot_options, write_plot
from leadline.cli._results import results_text
from leadline.comparison.information_difference.difference import difference
from leadline.comparison.information_difference.joint_tables import complete
from leadline.errors import UsageError
from leadline.io.read import read_qrels
from leadline.reporting.tables.difference_table import difference_sheet, lines_of, pairs_sheet

SECTION = "Measure runs against judgments"

FIGURES = ("map", "tree", "cumulative", "parameter")


@click.command(epilog="Example: leadline difference qrels.txt bm25.run dense.run -k 20 --plot map.svg")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-k",
    "--cutoff",
    type=whole(),
    metavar="K",
    help="RIC@k and id@k: lists are cut at rank K, pairs weigh by ideal ranks, values are divided by the "
    "ideal list's.",
)
@click.option(
    "-l",
    "--level",
    type=float,
    default=1.0,
    metavar="GRADE",
    help="The least relevant grade (default 1): a list ends after its last such document.",
)
@click.option("--binary", is_flag=True, help="Relevant against not, whatever the grades.")
@click.option("--truncate/--no-truncate", default=True, help="End lists after their last relevant document.")
@click.option("--condense", is_flag=True, help="Drop unjudged documents before the cut.")
@click.option(
    "--normalise/--no-normalise",
    default=None,
    help="Divide by the value of the ideal list (default: with -k).",
)
@click.option(
    "--weighted/--no-weighted", default=None, help="Weigh documents by their ideal ranks (default: with -k)."
)
@click.option("--printed6", is_flag=True, help="The weights as equation 6 is printed.")
@click.option("--signed", is_flag=True, help="Wrong-way lists have a negative RIC.")
@click.option(
    "--complete",
    "documents",
    metavar="DOCS",
    help="Every document of DOCS without a judgment is not relevant (exhaustive judgments only).",
)
@click.option(
    "--competitor",
    "competitors",
    multiple=True,
    metavar="NAME",
    help="What else says how alike lists are, as in RBO(p=0.9), Jaccard@20, Overlap@10, Kendall (again for "
    "more; these are the default).",
)
@click.option("--no-competitors", is_flag=True, help="Only RIC and id: reads every run once.")
@click.option("--group", metavar="FILE:COLUMN", help="The team or family of every run.")
@click.option("--parameter", metavar="FILE:COLUMN", help="A parameter of every run.")
@click.option("-q", "--per-query", is_flag=True, help="Show every query too (JSON).")
@click.option("--plot", type=OUTPUT, metavar="FILE", help="Draw into FILE.svg, FILE.pdf or FILE.png.")
@click.option(
    "--figure",
    type=click.Choice(FIGURES),
    default="map",
    show_default=True,
    help="What --plot draws: a map or a tree of all pairs, a cumulative histogram of id, RIC by parameter.",
)
@plot_options
@reading_options
@output_options
def command(
    *,
    qrels: str,
    runs: tuple[str, ...],
    level: float,
    binary: bool,
    documents: str | None,
    competitors: tuple[str, ...],
    no_competitors: bool,
    group: str | None,
    parameter: str | None,
    per_query: bool,
    plot: str | None,
    figure: str,
    form: str,
    output: str | None,
    kind: str | None,
    **options: Any,
) -> None:
    """Show what systems say of the judgments QRELS, and how far RUNS differ in that.

    RIC (Relevance Information Correlation) is what the order of a list says, in bits, of which of two judged
    documents is better; id (Information Difference) is what one list says and another does not, both ways.
    Beside them: the concordance (RIC with a direction), lists that go the wrong way, likenesses of the lists.
    """
    appearance = check_plot(plot)
    if figure == "parameter" and plot and (group is None or parameter is None):
        raise UsageError("--figure parameter needs --group FILE:COLUMN and --parameter FILE:COLUMN")
    refuse_overwrite(output, qrels, *runs)
    refuse_overwrite(plot, qrels, *runs)
    labels = {"group": _labels(group), "parameter": _labels(parameter)}
    table = read_qrels(qrels, kind=kind)
    judgments = len(table)
    if documents is not None:
        from leadline.io.id_lists import read_document_ids

        table = complete(table, read_document_ids(documents))
    with progress("runs") as on_run, progress("queries") as on_query:
        found = difference(
            table,
            runs,
            rel=level,
            graded=not binary,
            competitors=() if no_competitors else competitors or None,
            on_run=on_run,
            on_query=on_query,
            **options,
        )
    found.options |= {
        "kind": kind,
        "complete": documents,
        "group": group,
        "parameter": parameter,
        "plot": plot,
        "figure": figure,
    } | appearance
    text = results_text(
        "difference",
        found,
        (lambda: {"runs": lines_of(found)})
        if form == "jsonl"
        else (lambda: found.to_dict(per_query=per_query)),
        lambda: pairs_sheet(found) if form == "csv" else difference_sheet(found),
        form=form,
        qrels=qrels,
        judgments=judgments,
        to_file=output is not None,
    )
    if plot is not None:
        from leadline.reporting.plots.result_plots import figure_of_result

        write_plot(
            plot,
            figure_of_result(found, figure=figure, groups=labels["group"], parameters=labels["parameter"]),
        )
    write_output(text, output)


def _labels(place: str | None) -> dict[str, str]:
    if place is None:
        return {}
    from leadline.io.id_lists import read_labels

    return read_labels(place)
