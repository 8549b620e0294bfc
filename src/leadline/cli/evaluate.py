"""`leadline evaluate`: measures of runs, per query and on average; its options for users of trec_eval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from leadline.cli._help import typed
from leadline.cli._inputs import judgments_and_draw, plan_of, values_of
from leadline.cli._outputs import Outputs, describe_input, inputs_of, progress
from leadline.data.registry import split_names
from leadline.errors import LeadlineError, UsageError, both, one_of, sentences
from leadline.estimation.measured import WITHOUT_POOL, default_measures, same_labels
from leadline.evaluation.evaluate import DEFAULT_MEASURES, evaluate
from leadline.evaluation.profiles import (
    BY_LEVEL,
    BY_RANK,
    NAMES,
    ONLY_MEAN,
    Profile,
    Request,
    name_of,
    profile_of,
)
from leadline.evaluation.results import Results
from leadline.io.objects import Qrels
from leadline.io.opening import digest_of
from leadline.measures import Measure
from leadline.render import View

if TYPE_CHECKING:
    from leadline.comparison.gate import Condition


def _requests(
    measures: Sequence[str], profile: Profile, *, rel: float | None, documents: int | None
) -> list[Request]:
    """Return the measures that trec_eval prints; its defaults are those of `official`."""
    texts = [text.strip() for given in measures or ["official"] for text in split_names(given)]
    # As in trec_eval, parameters of a measure replace its defaults, also those in a group.
    replaced = {name for name, dot, _ in (text.partition(".") for text in texts) if dot} & {*NAMES}
    texts = [text for text in texts if text not in replaced]
    asked = profile.requests(texts, rel=rel, documents=documents)
    return [one for one in asked if one.given or one.family not in replaced]


class Line(NamedTuple):
    """One line of trec_eval's output: sort key, name and family, and the column of its values."""

    order: tuple[int, float]
    name: str
    family: str
    column: int | None
    whole: bool


def trec_text(
    results: Results,
    requests: Sequence[Request],
    *,
    rel: float,
    per_query: bool,
    means: bool,
    prints_missing: bool,
) -> str:
    """Return results in trec_eval's format, one run after the other; undefined values are 0.0000."""
    lines = lines_of(results, requests, rel=rel)
    of_queries = [line for line in lines if line.family not in {*ONLY_MEAN, "runid"}]
    of_all = [line for line in lines if line.family != "relstring"]
    written: list[str] = []
    for run, info in enumerate(results.runs):
        if per_query:
            queries = results.present[run]
            if prints_missing and not results.without_mean[run]:
                queries = queries | results.averaged[run].all(axis=1)
            codes = np.flatnonzero(queries).tolist()
            strings = results.relevance_strings[run] if results.relevance_strings else [""] * len(queries)
            rows = np.nan_to_num(results.values[run])[codes].tolist()
            names, texts = [results.queries[code] for code in codes], [strings[code] for code in codes]
            written += _blocks(of_queries, names, rows, texts)
        if means and not results.without_mean[run] and results.averaged[run].any():
            rows = np.nan_to_num(results.means[run : run + 1]).tolist()
            written += _blocks(of_all, ["all"], rows, [info.tag or info.name])
    return "".join(written)


def lines_of(results: Results, requests: Sequence[Request], *, rel: float) -> list[Line]:
    """Return the lines of a block in trec_eval's order; measures unknown to trec_eval come last."""
    replaced = {request.family for request in requests if request.given}
    columns = {measure: index for index, measure in enumerate(results.measures)}
    by_name: dict[str, Line] = {}
    for index, request in enumerate(requests):
        if request.family in replaced and not request.given:
            continue  # explicit parameters replace those of a group
        name, family = request.name, request.family
        if request.measure is not None and not family:
            name, family = name_of(request.measure, rel=rel) or (str(request.measure), "")
        column = None if request.measure is None else columns[request.measure]
        whole = request.measure is not None and request.measure.average == "sum"
        order = (len(NAMES), float(index))
        if family:
            order = (NAMES.index(family), _within(family, request.measure))
        by_name.setdefault(name, Line(order, name, family, column, whole))
    return sorted(by_name.values(), key=lambda line: line.order)


def _within(family: str, measure: Measure | None) -> float:
    """Return the cutoff or level by which the lines of a family are sorted."""
    if measure is None or family not in BY_RANK | BY_LEVEL:
        return 0.0
    return float(getattr(measure, measure.cutoff_name() or ""))


def _form(line: Line) -> str:
    if line.column is None:
        return "'%s'" if line.family == "relstring" else "%s"
    return "%.10g" if line.whole else "%6.4f"  # means over several judges are fractions


def _blocks(
    lines: Sequence[Line], queries: Sequence[str], rows: Sequence[Sequence[float]], texts: Sequence[str]
) -> Iterator[str]:
    """Yield the lines of each query, with its text where a line has no column of values."""
    block = "".join(f"{line.name:<22}\t\0\t{_form(line)}\n" for line in lines)
    for query, row, text in zip(queries, rows, texts, strict=True):
        cells = (text if line.column is None else row[line.column] for line in lines)
        yield block.replace("\0", query.replace("%", "%%")) % tuple(cells)


SECTION = "Evaluation"


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
    outputs: Outputs,
    kind: str | None,
    parts: bool,
    group_parts: bool,
    engine: str,
    **options: Any,
) -> None:
    """Evaluate runs against judgments: MAP, MRR, nDCG and more.

    By default, means are over all judged queries, and a query missing from a run counts as 0 for most
    measures. Notes below the table say what could shift the means, such as ties. `-f trec` prints in the
    format of trec_eval, by default its official measures; --profile trec9 or trec10 gives its values.

    Example: leadline evaluate qrels.txt bm25.run dense.run -m AP -m nDCG@10 -q

    Options
    -------
    qrels
    runs...
    -m, --measure MEASURE as measures | Measures | MEASURE | many
        Measure, such as map or nDCG@10 (repeatable). `leadline measures` lists all. [default: AP, nDCG@10,
        RR, P@10, R@100, Judged@10; with a pool, its measures]
    use per-query
    --bounds | Measures | flag
        Also show bounds: how far tied and unjudged documents could change each value.
    --intervals | Statistics | flag
        Also show a confidence interval for each mean.
    --fail-below M=VALUE | many
        Exit with status 1 if any run's mean of measure M is, or may be, below VALUE, or above VALUE if lower
        is better (repeatable).
    use sample, query-slice, query-weights
    --parts | Parts | flag
        Read all files (or folders, patterns, URLs) as parts of one run. Without --group-parts, no query may
        be in two parts.
    --group-parts | Parts | flag
        With --parts, sort TREC lines by query first, so that a query may be in several parts.
    --engine ENGINE | Parts | = "local"
        Evaluate runs or parts in parallel, with threads (local), N processes (processes[:N]), N Dask workers
        (dask[:N]) or a Dask cluster (dask:tcp://HOST:PORT).
    use confidence, seed
    -c, --complete | Queries | flag
        With --profile trec9 or trec10, average over all judged queries, as trec_eval -c does.
    -n, --no-means | Output | flag
        With -q, omit the means.
    use evaluation
    -C test.half_width, test.interval = "Student"
    -o | figures evaluation.query_figures.KINDS/slices | kinds Figure to save with -o: {kinds} (with
       --query-slice). [default: heat-map; with a pool, the estimates] | more trec | digits
    """
    form, figure = outputs.form, outputs.figure
    both({"--figure slices": figure == "slices"}, {"--query-slice FILE:COLUMN": query_slice})
    both({"--group-parts": group_parts}, {"--parts": parts})
    given = judgments_and_draw(qrels, options, kind, measures or None)
    table, drawn, half_width = given[0], given[1] is not None, options.pop("half_width")
    if drawn:
        without_meaning = {
            "-f trec": form == "trec",
            "--parts": parts,
            f"--engine {engine}": engine != "local",
            "-n": no_means,
            "-c": complete,
            f"--figure {figure}": figure not in (None, "slices"),
        }
        for name in filter(without_meaning.get, without_meaning):
            raise UsageError(f"{name} cannot be combined with a sampled pool. Leave out {name}.")
        if per_query and outputs.forms.isdisjoint({"json", "jsonl", "parquet"}):
            raise UsageError(
                "-q with a sampled pool needs JSON, JSON Lines or Parquet, such as -f json or -o FILE.json"
            )
    if per_query and query_slice and (flat := outputs.forms & {"csv", "tsv", "jsonl"}):
        name = min(flat).upper().replace("JSONL", "JSON Lines")
        raise UsageError(
            f"with --query-slice, the {name} rows are slices and have no per-query values. Leave out "
            "-q or --query-slice, or use JSON or Parquet, such as -o FILE.json."
        )
    queries = options["queries"]
    one_of({"-c": complete, f"--config scores.queries={queries}": queries not in (None, "all")})
    options["queries"] = "all" if complete else queries
    means = not no_means
    additions = [name for name in ("bounds", "intervals") if options[name]]
    additions += ["query-slice"] * bool(query_slice)
    additions += ["query-weights"] * (options["query_weights"] is not None)
    if form != "trec":
        both({"-n": no_means}, {"-q": per_query})
        if no_means and additions:
            raise UsageError(f"-n cannot be combined with --{additions[0]}. Leave out one of them.")
    if form == "trec" and additions:
        name = f"--{additions[0]}"
        raise UsageError(f"-f trec cannot be combined with {name}. Use another format, or leave out {name}.")
    interval = options.pop("interval")
    levels = {name: options[name] for name in ("confidence", "seed")}
    if not options["intervals"] and not query_slice:  # estimates always have intervals
        own = ("interval",) if drawn else ("confidence", "interval", "seed")
        both(typed(context, *own), {"--intervals": None})
    options["intervals"] = interval if options["intervals"] else False
    conditions: list[Condition] = []
    if fail_below:  # measures of conditions are evaluated too
        from leadline.comparison.gate import BELOW, condition_of, resolve_conditions, thresholds

        conditions = [condition_of(text, BELOW) for text in fail_below]
        measures = (
            *(measures or default_measures(given[1], DEFAULT_MEASURES) or () if form != "trec" else measures),
            *(condition.measure for condition in conditions if condition.measure not in measures),
        )
    if not drawn:
        labels = options["machine"]
        if labels is not None and not same_labels(qrels, labels):
            raise UsageError(WITHOUT_POOL.format("LLM labels apply"))
        options["machine"] = labels is not None
        if options.pop("second_judge") is not None or options.pop("second_pool") is not None:
            raise UsageError(WITHOUT_POOL.format("a second judge applies"))
    rows, others = len(table.documents), list[tuple[str, int]]()
    of_work: dict[str, Any] = {
        "kind": kind,
        "per_query": per_query,
        "no_means": no_means,
        "fail_below": list(fail_below),
        "query_slice": list(query_slice),
        "half_width": half_width,
    }
    function: Callable[..., Results] = evaluate
    if parts or engine != "local":
        of_work |= {"parts": parts, "group_parts": group_parts, "engine": engine}
        function = _by_engine(engine, parts=parts, group_parts=group_parts, complete=bool(outputs.saves))
    profile = profile_of(options["profile"])
    requests: list[Request] = []
    with progress("parts" if parts else "runs") as on_run, _saving_rest(outputs, qrels, rows, of_work):
        if drawn:
            results, rows, others = values_of(
                given, runs, measures or None, options, rel=level, on_run=on_run
            )
        elif form == "trec":
            requests = _requests(measures, profile, rel=level, documents=options["documents"])
            lengths = [one.length for one in requests if one.family == "relstring"]
            options["relevance_strings"] = lengths[-1] if lengths else None
            wanted = dict.fromkeys(one.measure for one in requests if one.measure is not None)
            results = function(table, runs, list(wanted) or "NumQ", rel=level, on_run=on_run, **options)
        else:
            results = function(table, runs, measures or None, rel=level, on_run=on_run, **options)
    results.options |= of_work | outputs.options()
    outcomes = thresholds(results, resolve_conditions(results, conditions, rel=level)) if fail_below else []
    shown = {"per_query": per_query, "means": means}
    view = View(results, shown={} if drawn else shown, json=shown, notes=list(map(str, outcomes)))
    view.extra = {"conditions": [gate.to_dict() for gate in outcomes]} if outcomes else {}
    if query_slice:
        from leadline.comparison.query_slices import slices_of

        view.more, view.lines = slices_of(results, query_slice, interval=interval, **levels), "slices"
    if half_width is not None:
        view.more = plan_of(results, given[1], half_width=half_width)
    if form == "trec":
        rel, missing = 1.0 if level is None else level, profile.prints_missing
        view.texts["trec"] = trec_text(results, requests, rel=rel, **shown, prints_missing=missing)
    outputs.write("evaluate", view, lambda: _inputs(results, qrels, rows, others))
    failed = [gate for gate in outcomes if gate.failed]
    for gate in failed if form in ("json", "trec", "none") else ():
        click.echo(f"leadline: {gate}", err=True)
    if failed:
        context.exit(1)


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
def _saving_rest(outputs: Outputs, path: str, rows: int, options: dict[str, Any]) -> Iterator[None]:
    """Save the values of the rest if parts or runs fail."""
    try:
        yield
    except LeadlineError as error:
        results = getattr(error, "results", None)
        if not outputs.saves or results is None:
            raise
        results.options |= options
        outputs.form, outputs.files = "none", outputs.saves
        outputs.write("evaluate", View(results), lambda: _inputs(results, path, rows))
        kept = f"The values that could be computed are in {outputs.files[0]}."
        raise UsageError(sentences(str(error), kept)) from None


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
