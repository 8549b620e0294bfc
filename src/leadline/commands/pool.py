"""`leadline pool`: the pairs of query and document that are to be judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from leadline.commands._options import (
    OUTPUT,
    deliver,
    formats_option,
    keep_inputs,
    progress,
    repair_options,
    seed_type,
    whole,
)
from leadline.commands._results import describe_input
from leadline.commands._texts import facts_text
from leadline.errors import UsageError
from leadline.render import Cell, Sheet

SECTION = "Judge documents"

if TYPE_CHECKING:
    from leadline.pooling import Pool


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
@click.option("--method", metavar="NAME", help="Another way: RRF(documents=100), RBP(documents=100,p=0.8), "
              "MoveToFront(documents=100).")  # fmt: skip
@click.option("--random", type=whole(0), default=0, metavar="N",
              help="Add N documents per query, drawn from the "
              "rest of the collection.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Pool the whole collection.")
@click.option("--docs", "documents", metavar="DOCS", help="The collection, as texts or as an index (default: "
              "what any run retrieved).")  # fmt: skip
@click.option("--queries", metavar="QUERIES", help="Queries that no run has are pooled too.")
@click.option("--known", metavar="PAIRS", help="Leave out the pairs of a pool or of qrels.")
@click.option(
    "--judged", metavar="QRELS", help="Leave out what was judged; MoveToFront follows it."
)
@click.option("--level", "rel", type=float, default=1.0, show_default=True, metavar="GRADE",
              help="The least relevant grade, for MoveToFront.")  # fmt: skip
@click.option("--batch", type=whole(), metavar="N", help="At most N new pairs per query.")
@click.option("--whole", is_flag=True, help="Write known pairs too.")
@click.option("--seed", type=seed_type, default=0, show_default=True,
              help="Decides the random draw.")  # fmt: skip
@click.option("--name-by", type=click.Choice(["file", "tag"]), default="file",
              help="What names a run.")  # fmt: skip
@repair_options
@formats_option()
def command(*, runs: tuple[str, ...], output: str, form: str, whole: bool, **options: Any) -> None:
    """Choose the documents to judge: the first of every RUN, by weight, by move-to-front, drawn, or all.

    POOL is a table of query_id, doc_id, probability, and contributors (the rank in every run that brought
    the document, as JSON). Where documents were drawn, `evaluate --pool POOL` estimates from the
    probabilities how many relevant documents there are.
    """
    from leadline.formats.pools import write_pool
    from leadline.pooling import pool

    given = {name: options[name] for name in ("documents", "queries", "known", "judged")}
    keep_inputs(output, *runs, *filter(None, given.values()))
    with progress("queries") as on_query:
        found = pool(runs, on_query=on_query, **options)
    made = found.whole if whole else found.new
    if not found.whole.documents:
        raise UsageError(
            "nothing to judge: the collection has no pooled document; do the ids match?"
        )
    if not made.documents:
        raise UsageError("nothing to judge: all pairs are known; --whole writes them")
    write_pool(made, output)
    inputs = [describe_input(info.path, info.counts["documents_read"]) for info in found.runs]
    inputs += [describe_input(path, found.read[name]) for name, path in given.items() if path]
    data = found.to_dict() | {"pool": output}
    deliver(
        facts_text("pool", inputs, found.options | given | {"whole": whole}, found.notices, data,
                   sheet_of(found, output), form), None,
    )  # fmt: skip


def sheet_of(found: Pool, output: str) -> Sheet:
    """Lay a pool out: its numbers, then what every run brought."""
    data = found.to_dict()
    rows: list[list[Cell]] = [
        [run["name"], f"{run['brought']:,}", f"{run['alone']:,}"] for run in data["runs"]
    ]
    if data["drawn"]:
        rows.append(["drawn", f"{data['drawn']:,}", None])
    queries = max(data["queries"], 1)
    said = (
        f"{output}: {data['pairs']:,} new pairs of {data['pooled']:,}, in {data['queries']:,} queries, "
        f"{data['pairs'] / queries:.1f} a query"
    )
    return Sheet(["run", "brought", "it alone"], rows, notes=[said])
