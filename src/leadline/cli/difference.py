"""`leadline difference`: how systems differ in what they say of the judgments."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import SIMILARITY, Command, option
from leadline.cli._options import (
    engine_option,
    level_option,
    per_query_option,
    progress,
    reading_options,
    whole,
)
from leadline.cli._outputs import Outputs, output_options
from leadline.cli._reading_options import read_judgments
from leadline.cli._results import inputs_of
from leadline.cli._settings import settings
from leadline.comparison.information_difference.difference import difference
from leadline.comparison.information_difference.joint_tables import complete
from leadline.errors import UsageError
from leadline.render.view import View

SECTION = "Evaluation"

FIGURES = ("map", "tree", "cumulative", "parameter")


@click.command(
    cls=Command, epilog="Example: leadline difference qrels.txt bm25.run dense.run -k 20 -o map.svg"
)
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@option(
    "Measures",
    "-k",
    "--cutoff",
    type=whole(),
    metavar="K",
    help="Compute RIC@k and id@k: cut lists at rank K, weight pairs by ideal ranks, and divide by the "
    "values of the ideal list.",
)
@level_option(
    "Lowest relevant grade. A list ends after its last relevant document. [default: 1]", default=1.0
)
@option("Measures", "--binary", is_flag=True, help="Use binary relevance instead of the grades.")
@option(
    "Reading",
    "--exhaustive",
    "documents",
    metavar="DOCS",
    help="Count every unjudged document in DOCS as not relevant.",
)
@option(
    "Measures",
    "--competitor",
    "competitors",
    multiple=True,
    metavar="NAME",
    help=(
        "Rank similarity to compare with, such as RBO(p=0.9) or Jaccard@20 (repeatable). [default: "
        "Jaccard and Overlap, and for up to 20 runs RBO and Kendall]"
    ),
    type=SIMILARITY,
)
@option("Measures", "--no-competitors", is_flag=True, help="Compute only RIC and Information Difference.")
@option("Output", "--group", metavar="FILE:COLUMN", help="Team or family of every run.")
@option("Output", "--parameter", metavar="FILE:COLUMN", help="Parameter value of every run.")
@per_query_option("Add per-query values to the JSON.")
@engine_option("Compare blocks of systems with this engine, and keep only the mean of each pair", None)
@settings(
    *(
        f"difference.{name}"
        for name in ("truncate", "condense", "normalise", "weighted", "printed6", "signed")
    )
)
@reading_options
@output_options(figures=FIGURES)
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
    engine: str | None,
    outputs: Outputs,
    kind: str | None,
    **options: Any,
) -> None:
    """Compute Information Difference and RIC of runs.

    RIC (Relevance Information Correlation) measures how much information, in bits, a ranking gives about
    which of two judged documents is more relevant. Information Difference (id) is the information in one list
    that the other list lacks, summed over both directions. The table also shows the concordance (RIC with a
    sign), the number of reversed lists, and rank similarities of the lists.
    """
    if outputs.figure == "parameter" and (group is None or parameter is None):
        raise UsageError("--figure parameter needs --group FILE:COLUMN and --parameter FILE:COLUMN")
    if per_query and engine is not None:
        raise UsageError("--engine does not keep per-query values. Leave out --per-query or --engine.")
    labels = {"group": _labels(group), "parameter": _labels(parameter)}
    table = read_judgments(qrels, options, kind)
    judgments = len(table.grades)
    if documents is not None:
        from leadline.io.id_lists import read_document_ids

        table = complete(table, read_document_ids(documents))
    with progress("runs") as on_run, progress("queries" if engine is None else "blocks") as on_query:
        result = difference(
            table,
            runs,
            rel=level,
            graded=not binary,
            competitors=() if no_competitors else competitors or None,
            engine=engine,
            on_run=on_run,
            on_query=on_query,
            **options,
        )
    result.options |= {
        "kind": kind,
        "complete": documents,
        "group": group,
        "parameter": parameter,
    } | outputs.options()
    view = View(
        result,
        json={"per_query": per_query},
        figure={"groups": labels["group"], "parameters": labels["parameter"]},
    )
    outputs.write("difference", view, lambda: inputs_of(result, qrels, judgments))


def _labels(path: str | None) -> dict[str, str]:
    if path is None:
        return {}
    from leadline.io.id_lists import read_labels

    return read_labels(path)
