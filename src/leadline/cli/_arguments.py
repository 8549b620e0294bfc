"""Arguments after the judgments: runs and measures, in any order."""

from __future__ import annotations

from collections.abc import Iterable

import click

from leadline.errors import UsageError, either
from leadline.io.run_names import is_input

VALUES = "values"  # kind of inputs


def are_values(paths: Iterable[str], kind: str | None = None, *, saved: bool = True) -> bool:
    """Return whether inputs are per-query values, or `saved` ones: all of them, or none."""
    from leadline.evaluation.score_results import is_known
    from leadline.io.run_names import split_name
    from leadline.io.score_tables import first_file, is_values

    if kind is not None:
        return kind == VALUES
    files = {path: split_name(path)[1] for path in paths}
    found = {path: is_values(file, is_known, saved=saved) for path, file in files.items() if first_file(file)}
    if any(found.values()) and not all(found.values()):
        values, other = (
            next(path for path, is_one in found.items() if is_one is kind) for kind in (True, False)
        )
        kinds = next(
            one.type.choices
            for one in click.get_current_context().command.params
            if one.name == "kind" and isinstance(one.type, click.Choice)
        )
        raise UsageError(
            f"{values} contains per-query values, but {other} does not. Pass only files with per-query "
            "values, or only files without them. If leadline misidentified a file, add "
            + either(f"--config read.kind={kind}" for kind in (VALUES, "qrels") if kind in kinds)
            + "."
        )
    return any(found.values())


def move_measures(context: click.Context, argument: click.Parameter) -> None:
    """Move the measures among the values of an argument to the option -m."""
    name = argument.name
    given: tuple[str, ...] = context.params[name]
    moved = [text for text in given if not is_input(text)]
    if not moved:
        return
    context.params[name] = tuple(text for text in given if text not in moved)
    from leadline.evaluation.profiles import check_measures

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
