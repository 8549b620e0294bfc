"""`leadline merge`: results of parts of a run, put together."""

from __future__ import annotations

import click

from leadline.cli._help import Command, option
from leadline.cli._options import per_query_option
from leadline.cli._outputs import Outputs, output_options
from leadline.cli._settings import one_in, setting
from leadline.render.view import View

SECTION = "Evaluation"


@click.command(
    cls=Command, epilog="Example: leadline merge part-1.parquet part-2.parquet --name bm25 -o all.parquet"
)
@click.argument("files", nargs=-1, required=True)
@option(
    "Selection",
    "--name",
    metavar="NAME",
    help="Name of the merged run, if every file contains one run that is named after its part.",
)
@setting("scores.queries", type=one_in("all", "both"))
@per_query_option()
@output_options(figures=("heat-map", "box", "violin", "line", "means"))
def command(
    *, files: tuple[str, ...], queries: str | None, name: str | None, per_query: bool, outputs: Outputs
) -> None:
    """Merge the saved results of parts of a run.

    Create FILES with `leadline evaluate QRELS PART -o FILE.parquet`. Values and means are the same as when
    you evaluate the whole run. Queries that are in no part count as missing. leadline rejects queries that
    are in two files, and files with different judgments, measures or options.
    """
    from leadline.scale.saved_files import merge_files

    results = merge_files(files, queries=queries, name=name)
    options = {"per_query": per_query}
    outputs.write("merge", View(results, shown=options, json=options), lambda: results.inputs)
