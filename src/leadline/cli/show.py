"""`leadline show`: a saved result, printed, exported or drawn again."""

from __future__ import annotations

import inspect
from typing import Any

from leadline.cli._outputs import Outputs
from leadline.errors import UsageError
from leadline.io.saved_results import is_saved_file, read_saved
from leadline.render import View

SECTION = "Evaluation"


def command(*, result: str, per_query: bool, outputs: Outputs) -> None:
    """Show a saved result again: print, export or plot it.

    RESULT is a file that a command saved with -o FILE.json or -o FILE.parquet, or a table of per-query
    values, such as the output of `trec_eval -q`. Nothing is recomputed.

    Example: leadline show saved.json -o means.tex -o means.svg

    Options
    -------
    result : RESULT
    use per-query
    -o | figures KIND | kinds Kind of figure to save with -o: any kind that the original command plots.
       | digits
    """
    if is_saved_file(result):
        saved = read_saved(result)
        command_name, kind, inputs, view = saved.command, saved.kind, saved.inputs, saved.view
        options: dict[str, Any] | None = saved.options
    else:
        from leadline.evaluation.score_results import read_scores

        values = read_scores([result])
        command_name, kind, inputs, view, options = "show", "table", list(values.inputs), View(values), None
    if per_query:
        made = view.result
        in_json, in_tables = (
            "per_query" in inspect.signature(each).parameters
            for each in (made.to_dict, made._columns)  # noqa: SLF001
        )
        if not (in_json or in_tables):
            raise UsageError(f"--per-query does not apply, because a {kind} has no per-query values")
        view.json |= {"per_query": True} if in_json else {}
        if in_tables and (view.shown or command_name in ("", "show")):
            view.shown |= {"per_query": True}
        else:
            outputs.needs_json(per_query)
    outputs.write(command_name, view, lambda: inputs, options)
