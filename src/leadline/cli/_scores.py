"""Options of commands that read tables of scores in place of runs and judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from leadline.cli._help import is_given
from leadline.cli._settings import setting, spelled
from leadline.data.registry import split_names
from leadline.errors import UsageError, both

F = TypeVar("F", bound=Callable[..., Any])

if TYPE_CHECKING:
    from leadline.data.results import Results
    from leadline.measures import Measure


def scores_options(function: F) -> F:
    """Add `--scores` and the settings of reading tables of scores, which `given_scores` reads."""
    for key in ("lower_is_better", "higher_is_better", "missing", "wide"):
        function = setting(f"scores.{key}", expose_value=False, callback=_remember)(function)
    return click.option(
        "--scores",
        is_flag=True,
        help="All arguments are tables of values of queries: columns of query, run, measure and value; runs "
        "or measures as columns; output of `trec_eval -q` or `ir_measures -q`; JSON of MTEB or ranx; saved "
        "results (docs/formats.md).",
    )(function)


def _remember(context: click.Context, parameter: click.Parameter, value: object) -> None:
    context.meta.setdefault("leadline.scores", {})[parameter.name] = value


def refuse_without_scores(context: click.Context) -> None:
    """Raise UsageError for options of tables of scores where runs are read."""
    for name in context.meta.get("leadline.scores", {}):
        if is_given(context, name):
            both({spelled(context.command, name): True}, {"--scores": None})


def refuse_with_scores(context: click.Context, names: Iterable[str]) -> None:
    """Raise UsageError for evaluation options together with --scores."""
    for name in names:
        if is_given(context, name):
            raise UsageError(
                f"{spelled(context.command, name)} with --scores, which are computed already; expected none"
            )


def given_scores(
    context: click.Context, options: Iterable[str], paths: Sequence[str], measures: Iterable[str | Measure]
) -> tuple[Results, list[tuple[str, int]]]:
    """Read the tables of --scores."""
    from leadline.reporting.score_results import read_scores

    refuse_with_scores(context, options)
    names = [name for one in measures for name in (split_names(one) if isinstance(one, str) else [one])]
    results = read_scores(list(paths), measures=names or None, **context.meta.get("leadline.scores", {}))
    return results, [(info["path"], info["rows"]) for info in results.inputs]
