"""`leadline evaluate`: measures of runs, per query and on average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._help import Command, option
from leadline.cli._options import (
    evaluation_options,
    formats_option,
    interval_options,
    measure_option,
    output_option,
    per_query_option,
    progress,
    refuse_overwrite,
    write_output,
)
from leadline.cli._results import print_warnings, results_text, table_text
from leadline.cli._slices import slice_option
from leadline.cli._trec import evaluate_as_trec, queries_of, trec_options
from leadline.data.results import Results
from leadline.errors import UsageError
from leadline.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from leadline.io.read import read_qrels
from leadline.reporting.tables.evaluation_tables import results_table

if TYPE_CHECKING:
    from leadline.comparison.gate import Condition, Gate
    from leadline.comparison.query_slices import Slices


SECTION = "Evaluation"


@click.command(
    cls=Command,
    epilog="Example: leadline evaluate qrels.txt bm25.run dense.run.gz -m AP -m nDCG@10 --per-query",
)
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@measure_option(
    "Measure, as in AP (its mean is MAP), RR (MRR) or nDCG@10 (repeatable), or a group of trec_eval: "
    "official, set, all_trec. `leadline measures` lists them. "
    "[default: AP, nDCG@10, RR, P@10, R@100, Judged@10]"
)
@per_query_option("Add the values of single queries; in CSV the row of a mean has no query.")
@option(
    "Measures",
    "--bounds",
    is_flag=True,
    help="Add bounds to every value: over the orders of tied documents (lowest, highest, expected), "
    "and over the grades of unjudged documents.",
)
@option(
    "Statistics", "--intervals", is_flag=True, help="Add a confidence interval to every mean (over queries)."
)
@click.option(
    "--fail-below",
    multiple=True,
    metavar="MEASURE=VALUE",
    help="Exit with status 1 if the mean of a run is below VALUE (above, for measures where less is "
    "better) or undefined (repeatable). A run without any judged document is an error.",
)
@option(
    "Measures",
    "--pool",
    metavar="POOL",
    help="Inclusion probabilities of the judged documents, for estimated R and recall.",
)
@option(
    "Reading",
    "--machine",
    is_flag=True,
    help="QRELS are labels of a machine; warn of it, as where a column `judge` names one.",
)
@slice_option
@interval_options
@trec_options
@evaluation_options
@formats_option("trec")
@output_option
@click.pass_context
def command(  # click documents the options
    context: click.Context,
    /,
    *,
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    level: float | None,
    per_query: bool,
    complete: bool,
    no_means: bool,
    fail_below: tuple[str, ...],
    query_slice: tuple[str, ...],
    form: str,
    output: str | None,
    kind: str | None,
    **options: Any,
) -> None:
    """Evaluate runs against judgments: MAP, MRR, nDCG and more.

    All judged queries (TREC topics) are averaged; a query that a run lacks has the value 0. Missing queries,
    ties and unjudged documents are counted below the table. `-f trec` prints what trec_eval prints, by
    default its official measures, and writes the counts to standard error.
    """
    refuse_overwrite(output, qrels, *runs)
    options["queries"] = queries_of(options["queries"], complete=complete)
    means = not no_means
    additions = [name for name in ("bounds", "intervals") if options[name]]
    additions += ["query-slice"] * bool(query_slice)
    if form != "trec" and no_means and (not per_query or additions):
        raise UsageError("-n omits all that would be shown; expected -q too, and no --bounds or --intervals")
    if form == "trec" and additions:
        raise UsageError(
            f"-f trec cannot show {additions[0]}; expected another format, or no --{additions[0]}"
        )
    interval = options.pop("interval")
    levels = {name: options[name] for name in ("confidence", "seed")}
    if not options["intervals"] and not query_slice:
        _refuse_without_intervals(context, pool=options["pool"] is not None)
    options["intervals"] = interval if options["intervals"] else False
    thresholds = _thresholds(fail_below)
    if thresholds:  # measures of conditions are evaluated too
        measures = (
            *(measures or DEFAULT_MEASURES if form != "trec" else measures),
            *(condition.measure for condition in thresholds if condition.measure not in measures),
        )
    table = read_qrels(qrels, subtopics=options["subtopics"], kind=kind, integer_ids=options["integer_ids"])
    with progress("runs") as on_run:
        if form == "trec":
            results, write = evaluate_as_trec(table, runs, measures, rel=level, on_run=on_run, **options)
            outcomes = _check_conditions(results, thresholds, rel=level)
            print_warnings(results.warnings)
            write_output(write(per_query=per_query, means=means), output)
            _exit(context, outcomes)
            return
        results = evaluate(table, runs, measures or None, rel=level, on_run=on_run, **options)
    results.options |= {
        "kind": kind,
        "per_query": per_query,
        "no_means": no_means,
        "fail_below": list(fail_below),
        "query_slice": list(query_slice),
    }
    outcomes = _check_conditions(results, thresholds, rel=level)
    slices = _slices(results, query_slice, interval=interval, **levels) if query_slice else None
    text = results_text(
        "evaluate",
        results,
        lambda: (
            _data(results, outcomes, per_query=per_query, means=means)
            | (slices.to_dict() if slices is not None else {})
        ),
        lambda: (
            slices.table(rows=True)
            if slices is not None and form == "csv"
            else results_table(results, per_query=per_query, means=means, conditions=outcomes)
        ),
        form=form,
        qrels=qrels,
        judgments=len(table.grades),
        to_file=output is not None,
        records="runs" if slices is None else "slices",
    )
    if slices is not None and form not in ("csv", "json", "jsonl"):
        text += "\n" + table_text(slices.table(), form, to_file=output is not None)
    write_output(text, output)
    _exit(context, outcomes)


def _slices(results: Results, sources: Sequence[str], **options: Any) -> Slices:
    """Return the means by slice."""
    from leadline.comparison.query_slices import slices_of

    return slices_of(results, sources, **options)


def _thresholds(texts: Sequence[str]) -> list[Condition]:
    """Read the conditions."""
    if not texts:
        return []
    from leadline.comparison.gate import BELOW, condition_of

    return [condition_of(text, BELOW) for text in texts]


def _check_conditions(results: Results, conditions: Sequence[Condition], *, rel: float | None) -> list[Gate]:
    """Check the conditions on every run."""
    if not conditions:
        return []
    from leadline.comparison.gate import resolve_conditions, thresholds

    return thresholds(results, resolve_conditions(results, conditions, rel=rel))


def _exit(context: click.Context, outcomes: Sequence[Gate]) -> None:
    """Exit with status 1 if a condition failed, and print the failed ones to standard error."""
    failed = [gate for gate in outcomes if gate.failed]
    for gate in failed:
        click.echo(f"leadline: {gate}", err=True)
    if failed:
        context.exit(1)


def _refuse_without_intervals(context: click.Context, *, pool: bool) -> None:
    """Raise UsageError for options of intervals without --intervals; estimates always have intervals."""
    for name in ("interval", "seed") if pool else ("confidence", "interval", "seed"):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise UsageError(f"--{name} without --intervals has no effect; expected both")


def _data(results: Results, outcomes: Sequence[Gate], *, per_query: bool, means: bool) -> dict[str, Any]:
    data = results.to_dict(per_query=per_query)
    if outcomes:
        data["conditions"] = [gate.to_dict() for gate in outcomes]
    for run in data["runs"] if not means else ():
        del run["mean"]
    return data
