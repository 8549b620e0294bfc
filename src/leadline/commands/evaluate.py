"""`leadline evaluate`: measure runs against judgments."""

from __future__ import annotations

from typing import Any

import click

from leadline.commands._estimates import estimate_cells, estimate_columns, estimate_notes
from leadline.commands._options import (
    deliver,
    evaluation_options,
    formats_option,
    interval_options,
    keep_inputs,
    output_option,
    progress,
)
from leadline.commands._results import results_text, say
from leadline.commands._trec import evaluate_as_trec, queries_of, trec_options
from leadline.errors import UsageError
from leadline.evaluation import evaluate
from leadline.formats import read_qrels
from leadline.render import Cell, Label, Sheet
from leadline.results import Results, plain
from leadline.wording import counted, queries

SECTION = "Measure runs against judgments"


@click.command(
    epilog="Example: leadline evaluate qrels.txt bm25.run dense.run.gz -m AP -m nDCG@10 --per-query"
)
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="A measure, as in nDCG@10 (again for more; default: AP nDCG@10 RR P@10 R@100 "
    "Judged@10), or a group of trec_eval: official, set, all_trec. `leadline measures` lists them.",
)
@click.option(
    "-q",
    "--per-query",
    is_flag=True,
    help="Show every query too; in csv the row of a mean has no query.",
)
@click.option(
    "--bounds",
    is_flag=True,
    help="Beside every value its bounds: over the orders of tied documents (lowest, highest, "
    "expected), and over the grades of unjudged ones.",
)
@click.option(
    "--intervals",
    is_flag=True,
    help="Beside every mean an interval: how far it would move with other queries of the kind.",
)
@click.option(
    "--pool",
    metavar="POOL",
    help="Inclusion probabilities of the judged documents, for estimated R and recall.",
)
@interval_options
@trec_options
@evaluation_options
@formats_option("trec")
@output_option
@click.pass_context
def command(  # click documents the options
    context: click.Context, /, *, qrels: str, runs: tuple[str, ...], measures: tuple[str, ...],
    level: float | None, per_query: bool, complete: bool, no_means: bool, form: str,
    output: str | None, kind: str | None, **options: Any,
) -> None:  # fmt: skip
    """Measure RUNS against the judgments QRELS: per-query values and means in one pass.

    Every judged query counts; a query that a run lacks counts 0, and what was missing, tied or unjudged is
    counted under the table. `-f trec` prints what trec_eval prints, by default its official measures, and
    says what was counted on standard error.
    """
    keep_inputs(output, qrels, *runs)
    options["queries"] = queries_of(options["queries"], complete=complete)
    means = not no_means
    around = [name for name in ("bounds", "intervals") if options[name]]
    if form != "trec" and no_means and (not per_query or around):
        raise UsageError(
            "-n leaves nothing to show; expected -q beside it, and no --bounds or --intervals"
        )
    if form == "trec" and around:
        raise UsageError(
            f"-f trec has no place for {around[0]}; expected another format, or no --{around[0]}"
        )
    interval = options.pop("interval")
    if not options["intervals"]:
        _refuse_without_intervals(context, pool=options["pool"] is not None)
    options["intervals"] = interval if options["intervals"] else False
    table = read_qrels(qrels, subtopics=options["subtopics"], kind=kind)
    with progress("runs") as on_run:
        if form == "trec":
            results, write = evaluate_as_trec(
                table, runs, measures, rel=level, on_run=on_run, **options
            )
            say(results.notices)
            deliver(write(per_query=per_query, means=means), output)
            return
        results = evaluate(table, runs, measures or None, rel=level, on_run=on_run, **options)
    results.options |= {"kind": kind, "per_query": per_query, "no_means": no_means}
    text = results_text(
        "evaluate", results,
        lambda: _data(results, per_query=per_query, means=means),
        lambda: _sheet(results, per_query=per_query, means=means),
        form=form, qrels=qrels, judgments=len(table), to_file=output is not None,
    )  # fmt: skip
    deliver(text, output)


def _refuse_without_intervals(context: click.Context, *, pool: bool) -> None:
    """Refuse what says how intervals are made where none are asked for; estimates have some."""
    for name in ("interval", "seed") if pool else ("confidence", "interval", "seed"):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise UsageError(f"--{name} without --intervals has no effect; expected both")


def _data(results: Results, *, per_query: bool, means: bool) -> dict[str, Any]:
    data = results.to_dict(per_query=per_query)
    for run in data["runs"] if not means else ():
        del run["mean"]
    return data


def _sheet(results: Results, *, per_query: bool, means: bool) -> Sheet:
    if results.bounds is None and results.intervals is None:
        return sheet_of(results, per_query=per_query, means=means)
    from leadline.commands._around import around_sheet

    return around_sheet(results, per_query=per_query)


def sheet_of(results: Results, *, per_query: bool = False, means: bool = True) -> Sheet:
    """Lay results out: runs down (the best first), measures across."""
    texts = [str(measure) for measure in results.measures]
    estimates = estimate_columns(results)
    order = results.order()
    rows: list[list[Cell]] = []
    best: set[tuple[int, int]] = set()
    for place in order:
        if per_query:
            rows += [
                [results.runs[place].name, query, *map(plain, values), *([None] * len(estimates))]
                for query, values in zip(
                    results.queries, results.shown[place].tolist(), strict=True
                )
            ]
        if not means:
            continue
        first: list[Cell] = [results.runs[place].name, *([Label("mean")] if per_query else [])]
        rows.append(
            [*first, *map(plain, results.means[place].tolist()), *estimate_cells(results, place)]
        )
        best |= {
            (len(rows) - 1, column + 1 + per_query)
            for column, winners in enumerate(results.best())
            if place in winners
        }
    averaged = queries(len(results.averaged_queries()))
    said = f"{counted(len(results.runs), 'run')}, mean over {averaged}"
    notes = [said, *estimate_notes(results), *map(str, results.notices)]
    return Sheet(
        columns=["run", *(["query"] if per_query else []), *texts, *estimates],
        rows=rows,
        best=best,
        notes=notes,
    )
