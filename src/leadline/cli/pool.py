"""`leadline pool`: the pairs of query and document that are to be judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leadline.cli._options import (
    OUTPUT,
    formats_option,
    progress,
    refuse_overwrite,
    repair_options,
    seed_type,
    whole,
    write_output,
)
from leadline.cli._results import describe_input
from leadline.cli._texts import facts_text
from leadline.errors import UsageError
from leadline.reporting.tables.pool_table import forecast, measured_pool_table, pool_table

if TYPE_CHECKING:
    pass


SECTION = "Judge documents"

DRAWING = ("wanted", "budget", "total", "pair", "new_runs", "machine", "earlier")
NAMES = {"pair": "--for-pair", "earlier": "--from", "documents": "--docs", "everything": "--all"}
NAMES |= {name: f"--{name}" for name in ("budget", "total", "machine")}


@click.command(epilog="Example: leadline pool bm25.run dense.run --depth 50 -o pool.tsv")
@click.argument("runs", nargs=-1)
@click.option(
    "-o",
    "--output",
    type=OUTPUT,
    metavar="POOL",
    required=True,
    help="The pool: TSV, or JSON Lines by its suffix.",
)
@click.option("--depth", type=whole(), metavar="K", help="Pool the first K documents of every run.")
@click.option(
    "--method",
    metavar="NAME",
    help="Another way: RRF(documents=100), RBP(documents=100,p=0.8), MoveToFront(documents=100).",
)
@click.option(
    "--random",
    type=whole(0),
    default=0,
    metavar="N",
    help="Add N documents per query, drawn from the rest of the collection.",
)
@click.option("--all", "everything", is_flag=True, help="Pool the whole collection.")
@click.option(
    "--docs",
    "documents",
    metavar="DOCS",
    help="The collection, as texts or as an index (default: what any run retrieved).",
)
@click.option("--queries", metavar="QUERIES", help="Queries that no run has are pooled too.")
@click.option("--known", metavar="PAIRS", help="Leave out the pairs of a pool or of qrels.")
@click.option("--judged", metavar="QRELS", help="Leave out what was judged; MoveToFront follows it.")
@click.option(
    "--level",
    "rel",
    type=float,
    default=1.0,
    show_default=True,
    metavar="GRADE",
    help="The least relevant grade, for MoveToFront.",
)
@click.option(
    "--for",
    "wanted",
    multiple=True,
    metavar="MEASURE",
    help=(
        "Draw documents so that `estimate` can estimate MEASURE (again for more); needs --budget or --total."
    ),
)
@click.option("--budget", type=float, metavar="B", help="With --for: mean judgments per query.")
@click.option("--total", type=whole(), metavar="N", help="With --for: judgments in all.")
@click.option(
    "--for-pair",
    "pair",
    nargs=2,
    metavar="A B",
    help="With --for: only documents whose weights in runs A and B differ.",
)
@click.option(
    "--new-runs",
    type=float,
    default=0.15,
    show_default=True,
    metavar="SHARE",
    help="With --for: share of the budget for documents below the cutoff, which later runs may need.",
)
@click.option("--machine", metavar="LABELS", help="With --for: labels of a machine, for the forecast only.")
@click.option(
    "--from", "earlier", metavar="POOL", help="With --for: enlarge an earlier pool; nothing judged is lost."
)
@click.option("--batch", type=whole(), metavar="N", help="At most N new pairs per query.")
@click.option("--whole", is_flag=True, help="Write known pairs too.")
@click.option("--seed", type=seed_type, default=0, show_default=True, help="Decides the random draw.")
@click.option("--name-by", type=click.Choice(["file", "tag"]), default="file", help="What names a run.")
@repair_options
@formats_option()
def command(*, runs: tuple[str, ...], output: str, form: str, whole: bool, **options: Any) -> None:
    """Choose the documents to judge: drawn to estimate a measure, by depth, by weight, or all.

    To measure systems, draw documents with --for MEASURE and --budget; `leadline estimate` then estimates the
    measure with a confidence interval. To find relevant documents, use --depth or --method.

    POOL is a table of query_id, doc_id, probability and contributors (the rank in every run that has the
    document, as JSON); with --for also of order, the order in which to judge.
    """
    from leadline.io.pool_files import write_pool
    from leadline.judging.pool import pool

    drawing = {name: options.pop(name) for name in DRAWING}
    if drawing["wanted"]:
        _draw(runs, output, form, drawing, options)
        return
    used = [name for name in ("budget", "total", "pair", "machine", "earlier") if drawing[name]]
    if used:
        raise UsageError(f"{NAMES[used[0]]} without --for has no effect; expected --for MEASURE")
    given = {name: options[name] for name in ("documents", "queries", "known", "judged")}
    refuse_overwrite(output, *runs, *filter(None, given.values()))
    with progress("queries") as on_query:
        found = pool(runs, on_query=on_query, **options)
    made = found.whole if whole else found.new
    if not found.whole.documents:
        raise UsageError("nothing to judge: the collection has no pooled document; do the ids match?")
    if not made.documents:
        raise UsageError("nothing to judge: all pairs are known; --whole writes them")
    write_pool(made, output)
    inputs = [describe_input(info.path, info.counts["documents_read"]) for info in found.runs]
    inputs += [describe_input(path, found.read[name]) for name, path in given.items() if path]
    data = found.to_dict() | {"pool": output}
    write_output(
        facts_text(
            "pool",
            inputs,
            found.options | given | {"whole": whole},
            found.warnings,
            data,
            pool_table(found, output=output),
            form,
        ),
        None,
    )


def _draw(
    runs: tuple[str, ...], output: str, form: str, drawing: dict[str, Any], options: dict[str, Any]
) -> None:
    """Draw a pool for measures, write it, and print the forecast."""
    from leadline.estimation.pool_designs import pool_for
    from leadline.io.pool_files import write_drawn_pool

    unused = [name for name in ("documents", "queries", "known", "method", "batch") if options[name]]
    unused += [name for name in ("random", "everything") if options[name]]
    if unused:
        raise UsageError(f"--for and {NAMES.get(unused[0], '--' + unused[0])}; expected one of them")
    files = {name: drawing[name] for name in ("machine", "earlier")} | {"judged": options["judged"]}
    refuse_overwrite(output, *runs, *filter(None, files.values()))
    with progress("runs") as on_run:
        found = pool_for(
            runs,
            drawing["wanted"],
            budget=drawing["budget"],
            total=drawing["total"],
            rel=options["rel"],
            depth=options["depth"],
            new_runs=drawing["new_runs"],
            pair=drawing["pair"] or None,
            machine=drawing["machine"],
            judged=options["judged"],
            earlier=drawing["earlier"],
            order=options["order"],
            on_duplicate=options["on_duplicate"],
            on_nan=options["on_nan"],
            name_by=options["name_by"],
            seed=options["seed"],
            on_run=on_run,
        )
    sheet = measured_pool_table(found, output=output)
    write_drawn_pool(found.pool, output, forecast(found, output))
    inputs = [describe_input(info.path, info.counts["documents_read"]) for info in found.runs]
    data = found.to_dict() | {"pool": output}
    write_output(facts_text("pool", inputs, found.options | files, found.warnings, data, sheet, form), None)
