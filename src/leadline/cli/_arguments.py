"""Arguments after the judgments: runs and measures, in any order."""

from __future__ import annotations

import click

from leadline.io.run_names import is_input


def move_measures(context: click.Context, argument: click.Parameter) -> None:
    """Move the measures among the values of an argument to the option -m."""
    name = argument.name
    given: tuple[str, ...] = context.params[name]
    moved = [text for text in given if not is_input(text)]
    if not moved:
        return
    if not context.params.get("scores"):  # whose measures may have any name
        from leadline.evaluation.arguments import check_measures

        check_measures(moved, context.params.get("profile") or "leadline")
    context.params[name] = tuple(text for text in given if text not in moved)
    if argument.required and not context.params[name]:
        raise click.MissingParameter(ctx=context, param=argument)
    context.params["measures"] += tuple(moved)
    context.set_parameter_source("measures", click.core.ParameterSource.COMMANDLINE)
