"""Arguments after the judgments: runs and measures, in any order."""

from __future__ import annotations

import click

from leadline.cli._scores import are_values
from leadline.errors import UsageError
from leadline.io.run_names import is_input


def move_measures(context: click.Context, argument: click.Parameter) -> None:
    """Move the measures among the values of an argument to the option -m."""
    name = argument.name
    given: tuple[str, ...] = context.params[name]
    moved = [text for text in given if not is_input(text)]
    if not moved:
        return
    context.params[name] = tuple(text for text in given if text not in moved)
    from leadline.evaluation.arguments import check_measures

    try:
        check_measures(moved, context.params.get("profile") or "leadline")
    except UsageError:
        inputs = [*filter(None, [context.params.get("qrels")]), *context.params[name]]
        if not are_values(inputs, context.params.get("kind")):  # whose measures may have any name
            raise
    if argument.required and not context.params[name]:
        raise click.MissingParameter(ctx=context, param=argument)
    context.params["measures"] += tuple(moved)
    context.set_parameter_source("measures", click.core.ParameterSource.COMMANDLINE)
