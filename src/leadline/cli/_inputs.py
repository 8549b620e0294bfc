"""Inputs of the commands: judgments and their pools, per-query values in place of runs, text analyses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from leadline.cli._help import are_values, typed
from leadline.data.registry import split_names
from leadline.errors import UsageError, one_of
from leadline.io.run_names import named_files

if TYPE_CHECKING:
    from leadline.comparison.pairing import Rules
    from leadline.data.judgment_tables import DrawnPool
    from leadline.estimation.estimate import EstimatedResults
    from leadline.evaluation.results import Results
    from leadline.io.objects import Qrels
    from leadline.measures import Measure
    from leadline.result import Facts

WITHOUT_DRAW = (
    "--config test.half_width needs a pool from `leadline pool --for` and its judgments. Pass "
    "QRELS RUN... --pool POOL."
)
APPROXIMATE = (
    "approximate: forecasts from pilots of 15 to 30 queries were off by 6 to 27 % (1 SD, docs/estimate.md)"
)


def read_judgments(path: str, options: Mapping[str, Any], kind: str | None) -> Qrels:
    """Return the judgments of a command with the options of `reading_options`."""
    from leadline.io.objects import read_qrels

    return read_qrels(
        path, kind=kind, subtopics=options.get("subtopics", False), qrels_columns=options["qrels_columns"]
    )


def read_with(results: EstimatedResults, pool: str | None, labels: str | None) -> list[tuple[str, int]]:
    """Return pool and labels with the number of pairs that were read of each."""
    return [(path, results.read[kind]) for path, kind in ((pool, "pool"), (labels, "labels")) if path]


def judgments_and_draw(
    path: str, options: Mapping[str, Any], kind: str | None, measures: Sequence[Any] | None
) -> tuple[Qrels, DrawnPool | None]:
    """Return the judgments of a command, and the pool that they were drawn from."""
    from leadline.estimation.measured import drawn_from

    table = read_judgments(path, options, kind)
    return table, drawn_from(table, options["pool"], measures)


def values_of(
    given: tuple[Qrels, DrawnPool | None],
    runs: Sequence[str],
    measures: Sequence[Any] | None,
    options: Mapping[str, Any],
    rules: Rules | None = None,
    *,
    rel: float | None,
    on_run: Callable[[int, int], None] | None,
) -> tuple[Results, int, list[tuple[str, int]]]:
    """Return values of runs, the number of judgments, and further inputs."""
    from leadline.estimation.measured import estimates_of, labels_of, measured

    pool = options["pool"]
    table, draw = given
    levels = {} if rules is None else {"confidence": rules.confidence, "seed": rules.seed}
    results = measured(
        table,
        runs,
        measures,
        rel=rel,
        on_run=on_run,
        verdict=rules is not None,
        **{**options, **levels, "pool": pool if draw is None else draw},
    )
    if draw is None:
        return results, len(table.grades), []
    estimated = estimates_of(results)
    assert estimated is not None
    machine = labels_of(draw, options["machine"])
    results.options |= {"pool": pool, "machine": machine}
    return results, estimated.judgments, read_with(estimated, pool, machine)


def plan_of(
    results: Results, pool: DrawnPool | None, *, differences: bool = False, power: float = 0.8, **goal: float
) -> Facts:
    """Return queries and judgments per query that reach a half-width or detect a difference."""
    from leadline.data.table import Table
    from leadline.estimation.measured import estimates_of
    from leadline.judging.half_widths import plans
    from leadline.result import Facts

    estimated = estimates_of(results)
    if pool is None or estimated is None or not pool.design.get("measures"):
        raise UsageError(WITHOUT_DRAW)
    found = plans(estimated, pool, differences=differences, power=power, **goal)
    ((name, value),) = goal.items()
    what = (
        f"half-width of {value:g}" if name == "half_width" else f"difference of {value:g} (power {power:g})"
    )
    sizes = list(found[0].half_widths)
    heads = ["measure", "of", "per query", *(f"half-width, {size} queries" for size in sizes)]
    heads += ["queries needed", "judgments"]
    rows = [
        [one.measure, one.of, f"{one.per_query:.1f}", *one.half_widths.values(), one.queries, one.judgments]
        for one in found
    ]
    notes = []
    for measure in dict.fromkeys(one.measure for one in found):
        able = [one for one in found if one.measure == measure and one.judgments is not None]
        best = min(able, key=lambda one: (one.judgments, one.queries), default=None)
        if best is None:
            notes.append(f"a {what} in {measure} needs more than ten million queries")
            continue
        words = f"{best.queries:,} queries with {best.per_query:.1f} judgments each"
        words += f", {best.judgments:,} in all"
        notes.append(f"row with the fewest judgments for a {what} in {measure}: {words}")
    data = {"plan": [one._asdict() | {"judgments": one.judgments} for one in found]}
    return Facts(Table(heads, rows, notes=[*notes, APPROXIMATE]), data)


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> None:
    context.meta.setdefault("leadline.scores", {})[parameter.name] = value


def values_given(
    context: click.Context, paths: Sequence[str], kind: str | None = None, *, saved: bool = True
) -> bool:
    """Return whether inputs are per-query values; their settings need them."""
    if are_values(paths, kind, saved=saved):
        return True
    for option in typed(context, *context.meta.get("leadline.scores", {})):
        raise UsageError(f"{option} works only with per-query values. Leave out {option}.")
    return False


def refuse_no_runs(runs: Sequence[str]) -> None:
    """Raise UsageError where judgments are given, but neither runs nor values."""
    if not runs:
        raise UsageError("no runs were given. Pass QRELS RUN RUN..., or per-query values.")


def files_among(baselines: Sequence[str], runs: Sequence[str]) -> list[str]:
    """Return the baselines that are files and not among the runs."""
    among = {os.path.realpath(file) for run in runs for _, file in named_files(run)}
    return [one for one in baselines if os.path.isfile(one) and os.path.realpath(one) not in among]


def given_scores(
    context: click.Context, options: Iterable[str], paths: Sequence[str], measures: Iterable[str | Measure]
) -> tuple[Results, list[tuple[str, int]]]:
    """Read the per-query values, and say what was read."""
    from leadline.evaluation.score_results import read_scores

    for option in typed(context, *options):
        raise UsageError(f"{option} does not apply to values that are already computed. Leave out {option}.")
    names = [name for one in measures for name in (split_names(one) if isinstance(one, str) else [one])]
    results = read_scores(list(paths), measures=names or None, **context.meta.get("leadline.scores", {}))
    shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    click.echo(f"leadline: reading per-query values from {shown}", err=True)
    return results, [(info["path"], info["rows"]) for info in results.inputs]


def analysis_of(language: str | None, analysis: str | None) -> str:
    """Return the name of the text analysis that the options select."""
    from leadline.text import ANALYSES
    from leadline.text.words import for_language

    one_of({"--language": language, "--config text.analysis": analysis})
    return str(ANALYSES.parse(analysis or "Words") if language is None else for_language(language))
