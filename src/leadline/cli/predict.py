"""`leadline predict`: query performance prediction without judgments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from leadline.cli._help import PREDICTOR, Command, option
from leadline.cli._options import confidence_option, progress, repair_options, seed_option
from leadline.cli._outputs import Outputs, output_options
from leadline.cli._results import describe_input
from leadline.cli._settings import setting, settings
from leadline.cli._texts import text_options
from leadline.errors import UsageError
from leadline.estimation.predict import correlation_table, over_queries, predict
from leadline.estimation.predictors import PREDICTORS
from leadline.io.texts import read_queries
from leadline.render.view import View

SECTION = "Estimation"
FIGURES = ("heat-map", "scatter", "correlations")

NAMES = ", ".join(str(kind()) for kind in PREDICTORS.classes.values())


@click.command(cls=Command, epilog="Example: leadline predict bm25.run dense.run -m NQC")
@click.argument("runs", nargs=-1, required=True)
@option(
    "Measures",
    "-m",
    "--predictor",
    "predictors",
    multiple=True,
    metavar="NAME",
    help=f"Predictor (repeatable): {NAMES}. [default: all that the inputs allow]",
    type=PREDICTOR,
)
@click.option("--index", metavar="INDEX", help="Index of the documents, for WIG(length=root).")
@click.option("--queries", metavar="QUERIES", help="Query (topic) texts, used with --index.")
@click.option(
    "--topics",
    "vectors",
    metavar="VECTORS",
    help="Document topic vectors for DeShaTo, as written by `leadline topics infer`.",
)
@click.option(
    "--truth",
    metavar="RESULT[:MEASURE]",
    help=(
        "Measure to correlate the predictions with: a result of `leadline evaluate --per-query`, or a "
        "table with the columns run and query."
    ),
)
@setting("test.draws")
@confidence_option
@seed_option
@settings("read.name_by")
@text_options
@repair_options
@output_options(figures=FIGURES)
def command(
    *,
    runs: tuple[str, ...],
    predictors: tuple[str, ...],
    index: str | None,
    queries: str | None,
    fields: tuple[str, ...],
    id_column: str | None,
    encoding: str,
    truth: str | None,
    draws: int,
    confidence: float,
    seed: int,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Predict query performance (QPP) without relevance judgments.

    leadline predicts the performance of each list on its own. Higher values predict better performance. They
    have no unit. JSON output has the predictions for each query, and `leadline correlate` reads their means.
    The formulas are in docs/unjudged.md.
    """
    if truth is None and outputs.figure not in (None, "heat-map"):
        raise UsageError(f"--figure {outputs.figure} needs a measure. Add --truth RESULT[:MEASURE].")
    texts = (
        queries
        if queries is None
        else read_queries(queries, fields=fields, id_column=id_column, encoding=encoding)
    )
    truth_values, truth_measure = (None, "measure") if truth is None else _truth(truth)
    with progress("runs") as on_run:
        predictions = predict(runs, predictors or None, index=index, queries=texts, on_run=on_run, **options)
    predictions.options |= {
        "queries": queries,
        "truth": truth,
        "draws": draws,
        "confidence": confidence,
        "seed": seed,
    } | outputs.options()
    rows = (
        None
        if truth_values is None
        else over_queries(predictions, truth_values, draws=draws, confidence=confidence, seed=seed)
    )
    rules = {"draws": draws, "confidence": confidence, "seed": seed}
    view = View(predictions, figure={"truth": truth_values, "truth_measure": truth_measure, **rules})
    if rows is not None:
        table = correlation_table(predictions, rows)
        view.tables, view.lines = {"": table, "csv": table, "tsv": table}, "correlations"
        view.extra = {"correlations": rows}
    outputs.write(
        "predict",
        view,
        lambda: [describe_input(run.path, run.counts["documents_read"]) for run in predictions.runs],
    )


def _truth(path: str) -> tuple[Mapping[str, Mapping[str, float]], str]:
    """Return the per-query values, and the name of the measure."""
    from leadline.io.result_files import read_column

    column = read_column(path)
    if not column.queries:
        raise UsageError(f"{path} has no per-query values. Create it with `leadline evaluate -q`.")
    return column.queries, column.measure
