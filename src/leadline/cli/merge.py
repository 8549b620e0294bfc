"""`leadline merge`: results of parts of a run, put together."""

from __future__ import annotations

import click

from leadline.cli._help import Command, option
from leadline.cli._options import OUTPUT, formats_option, per_query_option, write_output
from leadline.cli._results import result_text

SECTION = "Evaluation"


@click.command(
    cls=Command, epilog="Example: leadline merge part-1.parquet part-2.parquet --name bm25 -o all.parquet"
)
@click.argument("files", nargs=-1, required=True)
@option(
    "Queries",
    "--queries",
    type=click.Choice(["all", "both"]),
    help="Queries averaged: all judged ones, or those in the merged run. [default: as in FILES]",
)
@option(
    "Selection",
    "--name",
    metavar="NAME",
    help="Name of the merged run, if each of FILES holds one run, named after its part.",
)
@per_query_option()
@formats_option()
@option(
    "Output",
    "-o",
    "--output",
    type=OUTPUT,
    metavar="FILE.parquet",
    help="Save the merged values, as `evaluate --save` does; the means are printed in any case.",
)
def command(
    *,
    files: tuple[str, ...],
    queries: str | None,
    name: str | None,
    per_query: bool,
    form: str,
    output: str | None,
) -> None:
    """Merge the saved results of parts of a run.

    FILES are written by `leadline evaluate QRELS PART --save FILE.parquet`. Values and means equal those of
    the evaluation of the whole run. Queries that are in no part are missing. A query in two files, and other
    judgments, measures or options, are refused.
    """
    from leadline.scale.saved_files import merge_files

    results = merge_files(files, queries=queries, name=name)
    if output is not None:
        from leadline.reporting.restore import save

        save(results, output, command="evaluate")
    text = result_text(
        "merge",
        results,
        form,
        inputs=lambda: results.inputs,
        data=lambda: results.to_dict(per_query=per_query),
        per_query=per_query,
    )
    write_output(text, None)
