"""`leadline predict`: query performance prediction without judgments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from leadline.cli._help import typed
from leadline.cli._outputs import Outputs, describe_input, progress, read_of
from leadline.errors import UsageError, both
from leadline.estimation.predict import correlation_table, over_queries, predict
from leadline.io.texts import read_queries
from leadline.render import View

SECTION = "Estimation"


def command(
    context: click.Context,
    /,
    *,
    runs: tuple[str, ...],
    predictors: tuple[str, ...],
    index: str | None,
    queries: str | None,
    fields: tuple[str, ...],
    id_column: str | None,
    encoding: str,
    truth: str | None,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Predict query performance (QPP) without relevance judgments.

    leadline makes a separate prediction for each ranked list. Higher values predict better performance, but
    NQC and WIG values of different models are not comparable. The output has the predictions for each query
    and their mean per run. `leadline correlate` reads the means from the JSON output. The formulas are in
    docs/unjudged.md.

    Example: leadline predict bm25.run dense.run -m NQC

    Options
    -------
    runs...
    -m, --predictor NAME as predictors | Measures | PREDICTOR | many
        Predictor (repeatable): DeShaTo(total), NQC(tail) or WIG(tail). DeShaTo needs --topics. [default: all
        that the inputs allow]
    --index INDEX
        Index of the documents, for WIG(length=root). Needs --queries.
    --queries QUERIES
        Query (topic) file, for WIG(length=root). Needs --index.
    --topics VECTORS as vectors
        Document topic vectors for DeShaTo, as written by `leadline topics infer`.
    --truth RESULT[:MEASURE]
        Per-query values to correlate the predictions with: a result of `leadline evaluate -o
        FILE.json`, or a table with the columns run, query and MEASURE.
    use confidence, seed, repairs, texts
    -C test.draws, read.name_by
    -o | figures heat-map/scatter/correlations | kinds Kind of figure to save with -o: heat-map or, with
        --truth, scatter (of the first run) or correlations (of all runs). [default: heat-map;
        with --truth, scatter for one run, otherwise correlations]
    """
    if truth is None and outputs.figure not in (None, "heat-map"):
        raise UsageError(
            f"--figure {outputs.figure} needs the values of a measure. Add --truth RESULT[:MEASURE]."
        )
    both(typed(context, "confidence", "draws"), {"--truth": truth})
    both(typed(context, "fields", "id_column", "encoding"), {"--queries": queries})
    texts = None
    if queries is not None:
        texts = read_queries(queries, fields=fields, id_column=id_column, encoding=encoding)
    rules = {name: options.pop(name) for name in ("draws", "confidence", "seed")}
    truth_values, truth_measure = (None, "measure") if truth is None else _truth(truth)
    with progress("runs") as on_run:
        predictions = predict(runs, predictors or None, index=index, queries=texts, on_run=on_run, **options)
    predictions.options |= {"queries": queries, "truth": truth} | rules | outputs.options()
    view = View(predictions, figure={"truth": truth_values, "truth_measure": truth_measure, **rules})
    if truth_values is not None:
        rows = over_queries(predictions, truth_values, **rules)
        table = correlation_table(predictions, rows)
        view.tables, view.lines = {"": table, "csv": table, "tsv": table}, "correlations"
        view.extra = {"correlations": rows}
    outputs.write("predict", view, lambda: [describe_input(*one) for one in read_of(predictions.runs)])


def _truth(path: str) -> tuple[Mapping[str, Mapping[str, float]], str]:
    """Return the per-query values, and the name of the measure."""
    from leadline.io.result_files import read_column

    column = read_column(path)
    if not column.queries:
        raise UsageError(
            f"{path} has no per-query values. Save them with `leadline evaluate QRELS RUN... -o FILE.json`."
        )
    if column.estimated:
        raise UsageError(
            f"{path} has estimates from a sample of judgments. Their sampling errors would make the "
            "correlations too low. Use values from complete judgments."
        )
    return column.queries, column.measure
