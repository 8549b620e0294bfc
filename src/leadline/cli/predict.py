"""`leadline predict`: how well each query was answered, without judgments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from leadline.cli._options import (
    MOST_DRAWS,
    confidence_option,
    output_options,
    progress,
    refuse_overwrite,
    repair_options,
    seed_option,
    whole,
    write_output,
)
from leadline.cli._results import describe_input, envelope, escaped, json_text, say, table_text
from leadline.cli._texts import text_options
from leadline.errors import UsageError
from leadline.estimation.predict import Predictions, over_queries, predict
from leadline.estimation.predictors import PREDICTORS
from leadline.io.texts import read_queries
from leadline.reporting.tables.prediction_table import prediction_correlation_table, prediction_table

SECTION = "Estimate from a sample, or without judgments"

NAMES = ", ".join(str(kind()) for kind in PREDICTORS.classes.values())


@click.command(
    epilog="Example: leadline predict bm25.run rm3.run --index docs.index --queries queries.jsonl -m Clarity"
)
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-m",
    "--predictor",
    "predictors",
    multiple=True,
    metavar="NAME",
    help=f"A predictor (again for more; default: all that what is given suffices for): {NAMES}.",
)
@click.option("--index", metavar="INDEX", help="The index of the documents, for Clarity.")
@click.option("--queries", metavar="QUERIES", help="The texts of the queries, beside --index.")
@click.option(
    "--topics",
    "vectors",
    metavar="VECTORS",
    help="Topic vectors of documents, for DeShaTo, as `leadline topics infer` writes.",
)
@click.option(
    "--truth",
    metavar="RESULT[:MEASURE]",
    help="Correlate the predictions with a measure over queries: a result of `leadline evaluate "
    "--per-query`, or a table with columns run and query.",
)
@click.option(
    "--draws",
    type=whole(0, MOST_DRAWS),
    default=1000,
    show_default=True,
    metavar="N",
    help="Resamples of the queries for the intervals of correlations.",
)
@confidence_option
@seed_option
@click.option("--name-by", type=click.Choice(["file", "tag"]), default="file", help="What names a run.")
@text_options
@repair_options
@output_options
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
    form: str,
    output: str | None,
    **options: Any,
) -> None:
    """Predict how well the systems of RUNS answered each query: larger is better, without a unit.

    Nothing is judged and every list is looked at alone. See docs/predicting.md for the formulas; the JSON
    result holds every query, and `leadline correlate` reads its means.
    """
    refuse_overwrite(output, *runs)
    asked = (
        queries
        if queries is None
        else read_queries(queries, fields=fields, id_column=id_column, encoding=encoding)
    )
    right = None if truth is None else _truth(truth)
    with progress("runs") as on_run:
        found = predict(runs, predictors or None, index=index, queries=asked, on_run=on_run, **options)
    found.options |= {
        "queries": queries,
        "truth": truth,
        "draws": draws,
        "confidence": confidence,
        "seed": seed,
    }
    rows = (
        None if right is None else over_queries(found, right, draws=draws, confidence=confidence, seed=seed)
    )
    write_output(_text(found, rows, form, to_file=output is not None), output)


def _truth(place: str) -> Mapping[str, Mapping[str, float]]:
    from leadline.io.result_files import read_column

    column = read_column(place)
    if not column.queries:
        raise UsageError(f"{place} has no values of queries; expected `leadline evaluate -q`")
    return column.queries


def _text(found: Predictions, rows: list[dict[str, Any]] | None, form: str, *, to_file: bool) -> str:
    data = found.to_dict()
    if form == "json":
        inputs = [describe_input(run.path, run.counts["documents_read"]) for run in found.runs]
        own = data if rows is None else data | {"correlations": rows}
        return json_text(envelope("predict", inputs, found.options, found.warnings) | own)
    if form in ("csv", "jsonl"):
        say(found.warnings)
    if form == "jsonl":
        import json

        lines = data["runs"] if rows is None else rows
        return "".join(escaped(json.dumps(line, ensure_ascii=False)) + "\n" for line in lines)
    sheet = prediction_table(found) if rows is None else prediction_correlation_table(found, rows)
    return table_text(sheet, form, to_file=to_file)
