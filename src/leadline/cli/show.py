"""`leadline show`, `merge` and `verify`: saved results, shown again, merged, compared with their inputs."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from typing import Any

import click

from leadline.cli._outputs import Outputs, describe_input
from leadline.errors import UsageError
from leadline.io.saved_results import is_saved_file, read_saved
from leadline.render import View

SECTION = "Evaluation"
# What notes on the values of tables advise, for which `show` has no options.
ADVICE = re.compile(r" \(if not, use --config [^)]*\)| unless requested")


def command(*, result: str, per_query: bool, outputs: Outputs) -> None:
    """Show a saved result again: print, export or plot it.

    RESULT is a file that a command saved with -o FILE.json or -o FILE.parquet, or a table of per-query
    values, such as the output of `trec_eval -q`. Nothing is recomputed.

    Example: leadline show saved.json -o means.tex -o values.svg

    Options
    -------
    result : RESULT
    use per-query
    -o | figures KIND | kinds Kind of figure to save with -o: any kind that the original command (for a
       table, `evaluate`) plots. | digits
    """
    if is_saved_file(result):
        saved = read_saved(result)
        command_name, kind, inputs, view = saved.command, saved.kind, saved.inputs, saved.view
        options: dict[str, Any] | None = saved.options
    else:
        from leadline.evaluation.score_results import read_scores

        values = read_scores([result])
        values.warnings = [replace(one, message=ADVICE.sub("", one.message)) for one in values.warnings]
        command_name, kind, inputs, view, options = "show", "table", list(values.inputs), View(values), None
    if per_query:
        made = view.result
        in_json, in_tables = (
            "per_query" in inspect.signature(each).parameters
            for each in (made.to_dict, made._columns)  # noqa: SLF001
        )
        if not (in_json or in_tables):
            raise UsageError(f"--per-query does not apply to a {kind}. Leave out --per-query.")
        view.json |= {"per_query": True} if in_json else {}
        if in_tables and (view.shown or command_name in ("", "show")):
            view.shown |= {"per_query": True}
        else:
            outputs.needs_json(per_query)
    outputs.write(command_name, view, lambda: inputs, options)


def merge(
    *, files: tuple[str, ...], queries: str | None, name: str | None, per_query: bool, outputs: Outputs
) -> None:
    """Merge results saved for parts of a run.

    Create FILES with `leadline evaluate QRELS PART -o FILE.parquet`. Values and means are the same as if you
    had evaluated the whole run. Queries that are in no part count as missing. leadline rejects FILES if two
    of them contain the same query of the same run, or if they differ in their runs, judgments, measures or
    options.

    Example: leadline merge part-1.parquet part-2.parquet --name bm25 -o all.parquet

    Options
    -------
    files...
    --name NAME | Selection
        Name of the merged run, needed if its parts have different names. With --name, each file must
        contain only one run.
    use per-query
    -C scores.queries all/both
    -o | figures evaluation.query_figures.KINDS
    """
    from leadline.scale.saved_files import merge_files

    results = merge_files(files, queries=queries, name=name)
    options = {"per_query": per_query}
    outputs.write("merge", View(results, shown=options, json=options), lambda: results.inputs)


def verify(context: click.Context, /, *, saved: str, sample: int, seed: int, outputs: Outputs) -> None:
    """Verify saved results: hashes of the inputs and a sample of values.

    FILE is a result that a command saved with -o FILE.json or -o FILE.parquet. leadline recomputes the
    SHA-256 of every input and, for `evaluate` and `merge`, the values of a sample of queries. The exit status
    is 1 if anything differs. Whatever cannot be checked, such as a missing input or an estimate, is listed
    but does not change the exit status.

    Example: leadline verify saved.parquet --sample 20

    Options
    -------
    saved : FILE
    --sample N | Sampling | int 0.. | = 100
        Number of queries per run to recompute, or 0 for none.
    use seed
    -o
    """
    from leadline.scale.saved_files import verify

    result = verify(saved, sample=sample, seed=seed)
    outputs.write("verify", View(result, lines="checks"), lambda: [describe_input(saved, result.rows)])
    if not result.verified:
        context.exit(1)
