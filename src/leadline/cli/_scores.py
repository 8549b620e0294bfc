"""Options of commands that read tables of scores in place of runs and judgments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from leadline.cli._arguments import are_values
from leadline.cli._help import typed
from leadline.data.registry import split_names
from leadline.errors import UsageError
from leadline.io.run_names import named_files

if TYPE_CHECKING:
    from leadline.evaluation.results import Results
    from leadline.measures import Measure


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


def refuse_no_runs(runs: Sequence[str], usual: str = "QRELS RUN RUN...") -> None:
    """Raise UsageError where judgments are given, but neither runs nor values."""
    if not runs:
        raise UsageError(f"no runs were given. Pass {usual}, or per-query values.")


def files_among(baselines: Sequence[str], runs: Sequence[str]) -> list[str]:
    """Return the baselines that are files and not among the runs."""
    among = {os.path.realpath(file) for run in runs for _, file in named_files(run)}
    return [one for one in baselines if os.path.isfile(one) and os.path.realpath(one) not in among]


def refuse_with_scores(context: click.Context, names: Iterable[str]) -> None:
    """Raise UsageError for options of evaluation where values are given."""
    for option in typed(context, *names):
        raise UsageError(f"{option} cannot change values that are already computed. Leave out {option}.")


def given_scores(
    context: click.Context, options: Iterable[str], paths: Sequence[str], measures: Iterable[str | Measure]
) -> tuple[Results, list[tuple[str, int]]]:
    """Read the per-query values, and say what was read."""
    from leadline.evaluation.score_results import read_scores

    refuse_with_scores(context, options)
    names = [name for one in measures for name in (split_names(one) if isinstance(one, str) else [one])]
    results = read_scores(list(paths), measures=names or None, **context.meta.get("leadline.scores", {}))
    shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
    click.echo(f"leadline: reading per-query values from {shown}", err=True)
    return results, [(info["path"], info["rows"]) for info in results.inputs]
