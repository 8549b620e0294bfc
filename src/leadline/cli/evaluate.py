"""`leadline evaluate`: measure runs against judgments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._options import (
    evaluation_options,
    formats_option,
    interval_options,
    output_option,
    progress,
    refuse_overwrite,
    write_output,
)
from leadline.cli._results import results_text, say
from leadline.cli._trec import evaluate_as_trec, queries_of, trec_options
from leadline.data.results import Results, plain
from leadline.data.wording import counted, queries
from leadline.errors import UsageError
from leadline.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from leadline.io.read import read_qrels
from leadline.reporting.render import Cell, RowLabel, Table
from leadline.reporting.tables.interval_table import estimate_cells, estimate_columns, estimate_notes

if TYPE_CHECKING:
    from leadline.comparison.gate import Condition, Gate


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
    "-q", "--per-query", is_flag=True, help="Show every query too; in csv the row of a mean has no query."
)
@click.option(
    "--bounds",
    is_flag=True,
    help="Beside every value its bounds: over the orders of tied documents (lowest, highest, "
    "expected), and over the grades of unjudged ones.",
)
@click.option("--intervals", is_flag=True, help="Add a confidence interval to every mean (over queries).")
@click.option(
    "--fail-below",
    multiple=True,
    metavar="MEASURE=VALUE",
    help="Exit with status 1 if the mean of a run is below VALUE (above it where less is better), or if it "
    "has none. A run of which no document is judged is refused.",
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
    form: str,
    output: str | None,
    kind: str | None,
    **options: Any,
) -> None:
    """Measure RUNS against the judgments QRELS: per-query values and means in one pass.

    Every judged query counts; a query that a run lacks counts 0, and what was missing, tied or unjudged is
    counted under the table. `-f trec` prints what trec_eval prints, by default its official measures, and
    says what was counted on standard error.
    """
    refuse_overwrite(output, qrels, *runs)
    options["queries"] = queries_of(options["queries"], complete=complete)
    means = not no_means
    around = [name for name in ("bounds", "intervals") if options[name]]
    if form != "trec" and no_means and (not per_query or around):
        raise UsageError("-n leaves nothing to show; expected -q beside it, and no --bounds or --intervals")
    if form == "trec" and around:
        raise UsageError(
            f"-f trec has no place for {around[0]}; expected another format, or no --{around[0]}"
        )
    interval = options.pop("interval")
    if not options["intervals"]:
        _refuse_without_intervals(context, pool=options["pool"] is not None)
    options["intervals"] = interval if options["intervals"] else False
    floors = _floors(fail_below)
    if floors:  # what is asked for by a condition is evaluated too
        measures = (
            *(measures or DEFAULT_MEASURES if form != "trec" else measures),
            *(one.measure for one in floors if one.measure not in measures),
        )
    table = read_qrels(qrels, subtopics=options["subtopics"], kind=kind)
    with progress("runs") as on_run:
        if form == "trec":
            results, write = evaluate_as_trec(table, runs, measures, rel=level, on_run=on_run, **options)
            tried = _tried(results, floors, rel=level)
            say(results.warnings)
            write_output(write(per_query=per_query, means=means), output)
            _exit(context, tried)
            return
        results = evaluate(table, runs, measures or None, rel=level, on_run=on_run, **options)
    results.options |= {
        "kind": kind,
        "per_query": per_query,
        "no_means": no_means,
        "fail_below": list(fail_below),
    }
    tried = _tried(results, floors, rel=level)
    text = results_text(
        "evaluate",
        results,
        lambda: _data(results, tried, per_query=per_query, means=means),
        lambda: _sheet(results, tried, per_query=per_query, means=means),
        form=form,
        qrels=qrels,
        judgments=len(table),
        to_file=output is not None,
    )
    write_output(text, output)
    _exit(context, tried)


def _floors(texts: Sequence[str]) -> list[Condition]:
    """Read the conditions."""
    if not texts:
        return []
    from leadline.comparison.gate import BELOW, condition_of

    return [condition_of(text, BELOW) for text in texts]


def _tried(results: Results, wanted: Sequence[Condition], *, rel: float | None) -> list[Gate]:
    """Check the conditions on every run."""
    if not wanted:
        return []
    from leadline.comparison.gate import floors, resolve_conditions

    return floors(results, resolve_conditions(results, wanted, rel=rel))


def _exit(context: click.Context, tried: Sequence[Gate]) -> None:
    """End with status 1 where a condition failed, and say which on standard error."""
    failed = [gate for gate in tried if gate.failed]
    for gate in failed:
        click.echo(f"leadline: {gate}", err=True)
    if failed:
        context.exit(1)


def _refuse_without_intervals(context: click.Context, *, pool: bool) -> None:
    """Refuse what says how intervals are made where none are asked for; estimates have some."""
    for name in ("interval", "seed") if pool else ("confidence", "interval", "seed"):
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT:
            raise UsageError(f"--{name} without --intervals has no effect; expected both")


def _data(results: Results, tried: Sequence[Gate], *, per_query: bool, means: bool) -> dict[str, Any]:
    data = results.to_dict(per_query=per_query)
    if tried:
        data["conditions"] = [gate.to_dict() for gate in tried]
    for run in data["runs"] if not means else ():
        del run["mean"]
    return data


def _sheet(results: Results, tried: Sequence[Gate], *, per_query: bool, means: bool) -> Table:
    if results.bounds is None and results.intervals is None:
        sheet = sheet_of(results, per_query=per_query, means=means)
    else:
        from leadline.reporting.tables.interval_table import around_sheet

        sheet = around_sheet(results, per_query=per_query)
    sheet.notes[:0] = map(str, tried)
    return sheet


def sheet_of(results: Results, *, per_query: bool = False, means: bool = True) -> Table:
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
                for query, values in zip(results.queries, results.shown[place].tolist(), strict=True)
            ]
        if not means:
            continue
        first: list[Cell] = [results.runs[place].name, *([RowLabel("mean")] if per_query else [])]
        rows.append([*first, *map(plain, results.means[place].tolist()), *estimate_cells(results, place)])
        best |= {
            (len(rows) - 1, column + 1 + per_query)
            for column, winners in enumerate(results.best())
            if place in winners
        }
    averaged = queries(len(results.averaged_queries()))
    said = f"{counted(len(results.runs), 'run')}, mean over {averaged}"
    notes = [said, *estimate_notes(results), *map(str, results.warnings)]
    return Table(
        columns=["run", *(["query"] if per_query else []), *texts, *estimates],
        rows=rows,
        best=best,
        notes=notes,
    )
