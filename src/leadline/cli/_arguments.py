"""Arguments after the judgments: runs and measures, in any order."""

from __future__ import annotations

import os

import click

from leadline.errors import UnknownNameError, UsageError
from leadline.io.opening import IR_DATASETS, RUN_SUFFIXES, STANDARD_INPUT, files_of, run_name, split_part
from leadline.io.run_names import split_name

LIKENESS = 0.75  # from which a name is near an argument that may as well be a file


def move_measures(context: click.Context, argument: click.Parameter) -> None:
    """Move the measures among the values of an argument to the option -m."""
    name = argument.name
    given: tuple[str, ...] = context.params[name]
    moved = [text for text in given if not is_input(text)]
    if not moved:
        return
    if not context.params.get("scores"):  # whose measures may have any name
        check_measures(moved, context.params.get("profile") or "leadline")
    context.params[name] = tuple(text for text in given if text not in moved)
    if argument.required and not context.params[name]:
        raise click.MissingParameter(ctx=context, param=argument)
    context.params["measures"] += tuple(moved)
    context.set_parameter_source("measures", click.core.ParameterSource.COMMANDLINE)


def is_input(text: str) -> bool:
    """Return whether an argument is a file, or looks like one; what is there comes before any meaning.

    >>> [is_input(text) for text in ("-", "new=bm25.run", "runs/*.run", "nDCG(gain=exp)@10", "AP")]
    [True, True, True, False, False]
    """
    path = split_name(text)[1]
    if path == STANDARD_INPUT or os.path.lexists(path) or split_part(path)[1]:
        return True
    if "/" in path or os.sep in path or path.startswith(IR_DATASETS):
        return True
    return run_name(path) != path or path.endswith(RUN_SUFFIXES) or files_of(path) != [path]


def check_measures(texts: list[str], profile: str) -> None:
    """Raise UsageError for arguments that are no measures, nor files that exist."""
    from leadline.data.registry import split_names
    from leadline.evaluation.profiles import profile_of
    from leadline.measures import MEASURES

    wrong = []
    for text in (name for each in texts for name in split_names(each)):
        try:
            profile_of(profile).requests([text])
        except UnknownNameError:
            nearest = MEASURES.nearest(text, likeness=LIKENESS)
            wrong.append(f"{text}; {nearest}" if "nearest: " in nearest else text)
        except UsageError as error:
            wrong.append(str(error))
    if wrong:
        raise UsageError("no such file, and no measure: " + "; ".join(wrong))
