"""`leadline predict` and `unjudged`: queries and systems without judgments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from leadline.cli._help import typed
from leadline.cli._outputs import Outputs, describe_input, progress, read_of
from leadline.errors import InputError, UsageError, both
from leadline.estimation.predict import correlation_table, over_queries, predict
from leadline.estimation.unjudged import unjudged as ranked
from leadline.estimation.unjudged_methods import METHODS
from leadline.io.small_tables import split_place
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
    NQC and WIG values of different models are not comparable. The table has the predictions for each query
    and their mean per run or, with --truth, the correlations of each run's predictions with a measure.
    `leadline correlate` reads the means from the JSON output. The formulas are in docs/unjudged.md.

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
        FILE.json`, or a table with the columns run, query and MEASURE. The default MEASURE is the first in
        the file.
    use confidence, seed, repairs, texts
    -C test.draws, read.name_by
    -o | figures heat-map/scatter | kinds Kind of figure to save with -o: heat-map or, with --truth,
        scatter (of the first run). [default: heat-map; with --truth, scatter]
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
    if truth is not None and truth_values is not None:
        rows = over_queries(predictions, truth_values, **rules)
        named = truth if split_place(truth)[1] else f"{truth}:{truth_measure}"
        table = correlation_table(predictions, rows, named)
        view.tables, view.lines = {"": table, "csv": table, "tsv": table}, "correlations"
        view.extra = {"correlations": rows}
    outputs.write("predict", view, lambda: [describe_input(*one) for one in read_of(predictions.runs)])


def _truth(path: str) -> tuple[Mapping[str, Mapping[str, float]], str]:
    """Return the per-query values, and the name of the measure."""
    from leadline.io.result_files import NONE_PER_RUN, read_column
    from leadline.io.score_cells import WITHOUT_SAMPLE

    column = None
    try:
        column = read_column(path)
        estimated = column.estimated
    except InputError as error:
        if error.found not in (WITHOUT_SAMPLE, NONE_PER_RUN):
            raise
        estimated = error.found == WITHOUT_SAMPLE
    if estimated:
        raise UsageError(
            f"{path} has estimates from a sample of judgments. Their sampling errors would make the "
            "correlations too low. Use values from complete judgments."
        )
    if column is None or not column.queries:
        raise UsageError(
            f"{path} has no per-query values. Save them with `leadline evaluate QRELS RUN... -o FILE.json`."
        )
    return column.queries, column.measure


def unjudged(
    context: click.Context,
    /,
    *,
    runs: tuple[str, ...],
    method: str,
    share_from: str | None,
    per_query: bool,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Rank systems without relevance judgments.

    Systems are scored by their agreement with other systems, or by the topics of the retrieved documents. The
    scores order systems (higher is better) but do not estimate any measure. They are better at spotting bad
    systems than at finding the best one. docs/unjudged.md says when to use which method.

    Example: leadline unjudged runs/*.run --method nruns --one-vote-per runs.tsv:team

    Options
    -------
    runs...
    --method NAME | ESTIMATOR | = "nruns"
        Method: aslam-savell, deshato, nruns, reference-count, soboroff or spoerri. All methods use the
        agreement between systems, except deshato, which uses topics. Parameters go in parentheses, as in
        nruns(pseudo=10).
    --depth K | Reading | int 1..
        Number of documents used per ranked list. [default: 30 for nruns and deshato, 100 for soboroff and
        reference-count, 50 for spoerri, all for aslam-savell]
    --one-vote-per FILE:COLUMN
        Table column with the team of each run. Runs of the same team share one vote.
    --topics VECTORS as vectors
        Document topic vectors for deshato, as written by `leadline topics infer`.
    --docs DOCS as documents
        Document texts for deshato, instead of --topics. leadline fits LDA to the retrieved documents.
    -T T as topics | int 1..10000 | = 50
        Number of LDA topics (used with --docs).
    --share-from QRELS
        Judgments from which --method soboroff takes the share of relevant documents (mean and standard
        deviation over queries). [default: 5 % and 3 %]
    use seed, per-query-json, repairs
    -C read.encoding, text.id_column, topics.sweeps, topics.fits, read.name_by
    -o | figure
    """
    of_docs = ("topics", "fits", "sweeps", "id_column", "encoding")
    both(typed(context, *of_docs), {"--docs": options["documents"]})
    outputs.needs_json(per_query)
    estimator = METHODS.parse(method)
    if share_from is not None:
        estimator = _with_shares(estimator, share_from)
    with progress("runs") as on_run, progress("queries") as on_query, progress("fits") as on_fit:
        result = ranked(runs, method=estimator, on_run=on_run, on_query=on_query, on_fit=on_fit, **options)
    result.options |= {"share_from": share_from} | outputs.options()
    view = View(result, json={"per_query": per_query}, lines="")
    outputs.write("unjudged", view, lambda: [describe_input(*one) for one in read_of(result.runs)])


def _with_shares(method: Any, path: str) -> Any:
    from leadline.estimation.unjudged_methods import Soboroff, relevant_shares
    from leadline.io.objects import read_qrels

    if not isinstance(method, Soboroff):
        raise UsageError(f"--share-from does not apply to --method {method.called}. Use --method soboroff.")
    mean, deviation = relevant_shares(read_qrels(path))
    return method.replace(share_mean=mean, share_sd=deviation)
