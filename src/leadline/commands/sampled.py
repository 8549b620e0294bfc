"""`leadline sampled`: rank measures estimated from relevant documents and a sample of others."""

from __future__ import annotations

from typing import Any

import click

from leadline.commands._options import (
    MOST_DRAWS,
    confidence_option,
    deliver,
    keep_inputs,
    output_options,
    progress,
    reading_options,
    seed_type,
    whole,
)
from leadline.commands._results import results_text
from leadline.formats import read_qrels
from leadline.histograms.estimates import Estimates
from leadline.histograms.sampled import sampled
from leadline.render import Cell, Sheet
from leadline.results import plain
from leadline.wording import counted

SECTION = "Estimate from a sample, or without judgments"


@click.command(
    epilog="Example: leadline sampled qrels.txt bm25.run dense.run -m AP -m RR --population 20"
)
@click.argument("qrels")
@click.argument("scores", nargs=-1, required=True)
@click.option("-m", "--measure", "measures", multiple=True, metavar="MEASURE",
              help="Such as AP (again for more; default AP, nDCG@10, RR, P@10, R@100).")  # fmt: skip
@click.option("--population", metavar="N",
              help="Documents in the collection; or a file of queries and how many documents are not "
              "relevant. Default: all that have scores.")  # fmt: skip
@click.option("--sample", type=whole(), metavar="N",
              help="Keep N scored non-relevant documents a query: those of smallest SHA-256 of seed, query, "
              "document.")  # fmt: skip
@click.option("-l", "--level", "rel", type=float, metavar="GRADE",
              help="The least relevant grade, for measures that have `rel`.")  # fmt: skip
@click.option("--queries", type=click.Choice(["all", "with_relevant"]), default="all", show_default=True,
              help="The queries of the mean.")  # fmt: skip
@click.option("--draws", type=whole(0, MOST_DRAWS), default=200, show_default=True, metavar="N",
              help="Samples drawn again for the intervals; 0: none.")  # fmt: skip
@confidence_option
@click.option("--seed", type=seed_type, default=0, show_default=True,
              help="Chooses the sample and begins the random draws.")  # fmt: skip
@click.option("-q", "--per-query", is_flag=True, help="Show every query too (JSON).")
@reading_options
@output_options
def command(
    *, qrels: str, scores: tuple[str, ...], measures: tuple[str, ...], population: str | None,
    per_query: bool, form: str, output: str | None, kind: str | None, **options: Any,
) -> None:  # fmt: skip
    """Estimate rank measures from SCORES of the relevant documents (by QRELS) and of a sample of others.

    Nothing needs to be ranked: a scored document that is not relevant stands for N/n of them. Where that is
    many, measures of the first ranks come out too high; systems are still ordered well. Intervals tell what
    other samples, and other queries, would have given.
    """
    from leadline.formats.populations import read_population

    keep_inputs(output, qrels, *scores)
    size = None if population is None else read_population(population)
    table = read_qrels(qrels, kind=kind)
    with progress("runs") as on_run:
        found = sampled(table, scores, measures or None, population=size, on_run=on_run, **options)
    found.options |= {"kind": kind}
    text = results_text(
        "sampled", found, lambda: found.to_dict(per_query=per_query), lambda: sheet_of(found), form=form,
        qrels=qrels, judgments=len(table), to_file=output is not None,
    )  # fmt: skip
    deliver(text, output)


def sheet_of(found: Estimates) -> Sheet:
    """Lay estimates out measure by measure, the best run first."""
    rows: list[list[Cell]] = []
    for column, measure in enumerate(found.measures):
        values = found.means[:, column]
        rows += [
            [found.names[place], str(measure),
             *map(plain, (float(values[place]), *found.limits[place, column].tolist()))]
            for place in sorted(range(len(values)), key=lambda row: -values[row])
        ]  # fmt: skip
    level = f"{100 * found.options['confidence']:g} %"
    notes = [
        f"{counted(len(found.runs), 'run')}, estimates from the relevant documents and a sample of others",
        f"low, high: {level} interval over queries and samples; sampling: over samples alone",
        "bias: by how much the estimate is too high, or low (-), at least",
        *map(str, found.notices),
    ]
    heads = ["run", "measure", "estimate", "low", "high", "sampling low", "sampling high", "bias"]
    return Sheet(heads, rows, notes=notes)
