"""`leadline evaluate`: measures of runs, per query and on average."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._help import Command, is_given, option
from leadline.cli._options import (
    OUTPUT,
    engine_option,
    evaluation_options,
    formats_option,
    interval_options,
    measure_option,
    output_option,
    per_query_option,
    progress,
    refuse_same_output,
    sample_options,
    write_output,
)
from leadline.cli._plots import check_plots, figure_option, plot_option, plot_options, write_plots
from leadline.cli._reading_options import judgments_and_draw, values_of
from leadline.cli._results import (
    describe_input,
    inputs_of,
    print_warnings,
    result_text,
    table_text,
    with_notes,
)
from leadline.cli._settings import spelled
from leadline.cli._slices import slice_option
from leadline.cli._trec import evaluate_as_trec, queries_of, trec_options
from leadline.data.qrels import Qrels
from leadline.data.results import Results
from leadline.errors import LeadlineError, UsageError, both
from leadline.estimation.measured import WITHOUT_POOL, same_labels
from leadline.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from leadline.io.opening import digest_of

if TYPE_CHECKING:
    from leadline.comparison.gate import Condition, Gate
    from leadline.comparison.query_slices import Slices


SECTION = "Evaluation"
FIGURES = ("heat-map", "box", "violin", "line", "means", "slices")


@click.command(
    cls=Command, epilog="Example: leadline evaluate qrels.txt bm25.run dense.run -m AP -m nDCG@10 --per-query"
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
@sample_options
@slice_option
@plot_option("Figure of the first measure")
@figure_option(
    FIGURES,
    "Kind of figure: heat-map (runs by queries); box, violin (distributions over queries) or line (over the "
    "queries) of each run; means (with intervals, if --intervals is given); slices (means by slice). "
    "[default: heat-map]",
)
@plot_options
@option(
    "Parts",
    "--parts",
    is_flag=True,
    help="All files given, those of folders, patterns and URLs (s3:// gs:// https://) included, are "
    "parts of one run, named as the first argument; every query is in one part.",
)
@option(
    "Parts",
    "--group-parts",
    is_flag=True,
    help="Copy the lines of all parts (TREC text) to temporary files by query first, so that the lines of a "
    "query may be in several parts.",
)
@engine_option("Engine that evaluates parts or runs")
@option(
    "Output",
    "--save",
    type=OUTPUT,
    metavar="FILE.parquet",
    help="Save the values of queries, for `merge`, `verify` and `compare --scores`; if parts fail, those of "
    "the others.",
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
    query_slice: tuple[str, ...],
    form: str,
    output: str | None,
    kind: str | None,
    parts: bool,
    group_parts: bool,
    engine: str,
    save: str | None,
    plots: tuple[str, ...],
    figure: str | None,
    **options: Any,
) -> None:
    """Evaluate runs against judgments: MAP, MRR, nDCG and more.

    All judged queries (TREC topics) are averaged; a query that a run lacks has the value 0. Missing queries,
    ties and unjudged documents are counted below the table. `-f trec` prints what trec_eval prints, by
    default its official measures, and writes the counts to standard error.
    """
    refuse_same_output(output or "-", save, *plots)
    appearance = check_plots(plots, figure=figure)
    if figure == "slices" and not query_slice:
        raise UsageError("--figure slices without slices; expected --query-slice FILE:COLUMN too")
    both({"--group-parts": group_parts}, {"--parts": parts})
    given = judgments_and_draw(qrels, options, kind, measures or None)
    table, drawn = given[0], given[1] is not None
    if drawn:
        _refuse_with_estimates(
            {
                "-f trec": form == "trec",
                "--parts": parts,
                f"--engine {engine}": engine != "local",
                "-n": no_means,
                f"--figure {figure}": figure not in (None, "slices"),
                "-q without -f json": per_query and form not in ("json", "jsonl"),
            }
        )
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
        _refuse_without_intervals(context, pool=options["pool"] is not None, drawn=drawn)
    options["intervals"] = interval if options["intervals"] else False
    thresholds = _thresholds(fail_below)
    if thresholds:  # measures of conditions are evaluated too
        measures = (
            *(measures or (_estimated() if drawn else DEFAULT_MEASURES) if form != "trec" else measures),
            *(condition.measure for condition in thresholds if condition.measure not in measures),
        )
    if not drawn:
        labels = options["machine"]
        if labels is not None and not same_labels(qrels, labels):
            raise UsageError(WITHOUT_POOL)
        options["machine"] = labels is not None
    rows, others = len(table.grades), list[tuple[str, int]]()
    of_work: dict[str, Any] = {
        "kind": kind,
        "per_query": per_query,
        "no_means": no_means,
        "fail_below": list(fail_below),
    }
    of_work["query_slice"] = list(query_slice)
    function: Callable[..., Results] = evaluate
    if parts or engine != "local":
        of_work |= {"parts": parts, "group_parts": group_parts, "engine": engine}
        function = _by_engine(engine, parts=parts, group_parts=group_parts, complete=save is not None)
    write = None
    with progress("parts" if parts else "runs") as on_run, _saving_rest(save, qrels, rows, of_work):
        if drawn:
            results, _, rows, others = values_of(
                given, runs, measures or _estimated(), options, rel=level, on_run=on_run
            )
        elif form == "trec":
            results, write = evaluate_as_trec(
                table, runs, measures, rel=level, on_run=on_run, by=function, **options
            )
        else:
            results = function(table, runs, measures or None, rel=level, on_run=on_run, **options)
    results.options |= of_work | (appearance | {"figure": figure} if plots else {})
    outcomes = _check_conditions(results, thresholds, rel=level)
    if save is not None:
        _save(results, save, qrels, rows, others)
    slices = _slices(results, query_slice, interval=interval, **levels) if query_slice else None
    if slices is not None and figure == "slices":
        write_plots(plots, slices)
    elif drawn:
        write_plots(plots, results)
    else:
        write_plots(plots, results, figure=figure or FIGURES[0])
    if write is not None:
        print_warnings(results.warnings)
        write_output(write(per_query=per_query, means=means), output)
        _exit(context, outcomes, shown=False)
        return
    text = result_text(
        "evaluate",
        results,
        form,
        inputs=lambda: (
            _inputs(results, qrels, rows) if results.inputs else inputs_of(results, qrels, rows, others)
        ),
        to_file=output is not None,
        data=lambda: (
            _data(results, outcomes, per_query=per_query, means=means)
            | (slices.to_dict() if slices is not None else {})
        ),
        table=lambda: (
            slices.table(whole=True)
            if slices is not None and form == "csv"
            else with_notes(
                results.table() if drawn else results.table(per_query=per_query, means=means), outcomes
            )
        ),
        lines="runs" if slices is None else "slices",
    )
    if slices is not None and form not in ("csv", "json", "jsonl"):
        text += "\n" + table_text(slices.table(), form, to_file=output is not None)
    write_output(text, output)
    _exit(context, outcomes, shown=output is None and form not in ("csv", "json", "jsonl"))


def _slices(results: Results, sources: Sequence[str], **options: Any) -> Slices:
    """Return the means by slice."""
    from leadline.comparison.query_slices import slices_of

    return slices_of(results, sources, **options)


def _by_engine(engine: str, *, parts: bool, group_parts: bool, complete: bool) -> Callable[..., Results]:
    """Return a function with the parameters of `evaluate` that works in parts, or by an engine."""
    from leadline.scale import RunParts, evaluate_parts, evaluate_runs

    faults = "continue" if complete else "stop"  # where the rest is saved, the other parts go on

    def function(
        qrels: Qrels,
        runs: Sequence[str],
        measures: Any,
        *,
        on_run: Callable[[int, int], None],
        **options: Any,
    ) -> Results:
        if not parts:
            return evaluate_runs(
                qrels, list(runs), measures, engine=engine, on_fault=faults, on_run=on_run, **options
            )
        return evaluate_parts(
            qrels,
            RunParts(list(runs)),
            measures,
            engine=engine,
            group_parts=group_parts,
            on_fault=faults,
            on_part=on_run,
            **options,
        )

    return function


@contextmanager
def _saving_rest(save: str | None, path: str, rows: int, options: dict[str, Any]) -> Iterator[None]:
    """Save the values of the other parts if parts fail."""
    try:
        yield
    except LeadlineError as error:
        results = getattr(error, "results", None)
        if save is None or results is None:
            raise
        results.options |= options
        _save(results, save, path, rows)
        raise UsageError(f"{error} ({save} has the values of the other parts)") from None


def _save(results: Results, save: str, path: str, rows: int, others: Sequence[tuple[str, int]] = ()) -> None:
    from leadline.reporting.restore import save as save_results

    save_results(results, save, command="evaluate", inputs=_inputs(results, path, rows, others))


def _inputs(
    results: Results, path: str, rows: int, others: Sequence[tuple[str, int]] = ()
) -> list[dict[str, Any]]:
    """Describe the judgments, and the files of the runs or of their parts."""
    if others:
        return inputs_of(results, path, rows, others)
    if not results.inputs:
        judgments, *runs = inputs_of(results, path, rows)
        names = [run.name for run in results.runs if run.path]
        return [judgments, *({**info, "run": name} for info, name in zip(runs, names, strict=True))]
    described = [describe_input(path, rows)]
    described += [
        info if info["sha256"] else info | {"sha256": digest_of(info["path"])} for info in results.inputs
    ]
    return described


def _estimated() -> tuple[str, ...]:
    """Return the measures that are estimated by default."""
    from leadline.estimation.estimate import DEFAULT_MEASURES as ESTIMATED  # slow to import

    return ESTIMATED


def _refuse_with_estimates(given: dict[str, bool]) -> None:
    """Raise UsageError for options that have no meaning where values are estimates."""
    for name, is_set in given.items():
        if is_set:
            raise UsageError(f"{name} with a drawn pool; expected the command without it")


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


def _exit(context: click.Context, outcomes: Sequence[Gate], *, shown: bool) -> None:
    """Exit with status 1 if a condition failed; print those that failed, unless the table showed them."""
    failed = [gate for gate in outcomes if gate.failed]
    for gate in failed if not shown else ():
        click.echo(f"leadline: {gate}", err=True)
    if failed:
        context.exit(1)


def _refuse_without_intervals(context: click.Context, *, pool: bool, drawn: bool) -> None:
    """Raise UsageError for options of intervals without --intervals; estimates always have intervals."""
    for name in (
        ("interval",) if drawn else ("interval", "seed") if pool else ("confidence", "interval", "seed")
    ):
        if is_given(context, name):
            both({spelled(context.command, name): True}, {"--intervals": None})


def _data(results: Results, outcomes: Sequence[Gate], *, per_query: bool, means: bool) -> dict[str, Any]:
    data = results.to_dict(per_query=per_query)
    if outcomes:
        data["conditions"] = [gate.to_dict() for gate in outcomes]
    for run in data["runs"] if not means else ():
        del run["mean"]
    return data
