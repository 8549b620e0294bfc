"""`leadline sampled`: rank measures estimated from relevant documents and a sample of others."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._options import (
    MOST_DRAWS,
    OUTPUT,
    confidence_option,
    output_options,
    progress,
    reading_options,
    refuse_overwrite,
    refuse_same_output,
    seed_type,
    whole,
    write_output,
)
from leadline.cli._results import describe_input, results_text
from leadline.cli._texts import facts_text
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.estimation.sampled import CORRECTIONS, sampled
from leadline.estimation.score_histograms.score_sets import split
from leadline.io.read import read_qrels
from leadline.reporting.render import Cell, Table
from leadline.reporting.tables.estimate_table import sampled_table

SECTION = "Estimate from a sample, or without judgments"


@click.command(epilog="Example: leadline sampled qrels.txt bm25.run dense.run -m AP -m RR --population 20")
@click.argument("qrels")
@click.argument("scores", nargs=-1)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="Such as AP (again for more; default AP, nDCG@10, RR, P@10, R@100).",
)
@click.option(
    "--population",
    metavar="N",
    help="Documents in the collection; or a file of queries and how many documents are not "
    "relevant. Default: all that have scores.",
)
@click.option(
    "--sample",
    type=whole(),
    metavar="N",
    help="Number of scored non-relevant documents to keep per query, those of --certain included: "
    "those of smallest SHA-256 of seed, query, document.",
)
@click.option(
    "--certain",
    metavar="RUN:K",
    help="The first K documents of RUN are in the sample for certain; they weigh 1, drawn ones N/n "
    "of the rest.",
)
@click.option(
    "--pairs",
    type=OUTPUT,
    metavar="POOL",
    help="Draw --sample documents from --docs and write the pairs that every system has to score "
    "to POOL; no SCORES are read.",
)
@click.option("--docs", metavar="DOCS", help="The collection to draw from, as texts or as an index.")
@click.option(
    "--correction",
    type=click.Choice(CORRECTIONS),
    default="log",
    show_default=True,
    help="Prior of the ranks: uniform on a log scale; uniform, as published; none: each drawn "
    "document counts N/n times.",
)
@click.option(
    "--gamma",
    type=float,
    metavar="X",
    help="Weight of the variance against the squared bias, above 0 and at most 1. Default: 1 / "
    "number of queries.",
)
@click.option(
    "-l",
    "--level",
    "rel",
    type=float,
    metavar="GRADE",
    help="Smallest relevant grade, for measures that have `rel`.",
)
@click.option(
    "--queries",
    type=click.Choice(["all", "with_relevant"]),
    default="all",
    show_default=True,
    help="The queries of the mean.",
)
@click.option(
    "--draws",
    type=whole(0, MOST_DRAWS),
    default=40,
    show_default=True,
    metavar="N",
    help="Pseudo-populations for the sampling variance; 0: no intervals.",
)
@confidence_option
@click.option(
    "--seed",
    type=seed_type,
    default=0,
    show_default=True,
    help="Seed of the sample and of the pseudo-populations.",
)
@click.option("-q", "--per-query", is_flag=True, help="Show every query too (JSON).")
@reading_options
@output_options
def command(
    *,
    qrels: str,
    scores: tuple[str, ...],
    measures: tuple[str, ...],
    population: str | None,
    pairs: str | None,
    docs: str | None,
    per_query: bool,
    form: str,
    output: str | None,
    kind: str | None,
    **options: Any,
) -> None:
    """Estimate rank measures from SCORES of the relevant documents (by QRELS) and of a sample of others.

    Nothing needs to be ranked. The rank of a relevant document is estimated from the sampled documents above
    it, by the correction of Krichene and Rendle (2020). Sampling intervals are for other samples of the same
    queries, low and high for other queries too; where a simulation did not confirm them, none is printed and
    the reason is. The correction makes values comparable with exact ones; it does not order systems better
    than uncorrected values do. Few documents per query order systems badly at the first ranks (nDCG@10, RR)
    unless half of them are the first of a good run (--certain). See docs/sampled.md.
    """
    baseline = options["certain"]
    inputs = [*scores, *([split(baseline)[0]] if baseline else []), *([docs] if docs else [])]
    refuse_overwrite(output, qrels, *map(str, inputs))
    if pairs is not None:
        refuse_overwrite(pairs, qrels, *map(str, inputs))
        refuse_same_output(pairs, output)
        _draw(qrels, scores, pairs, docs, form, output, options, kind=kind)
        return
    if not scores:
        raise click.UsageError("Missing argument 'SCORES...'.")
    if docs is not None:
        raise UsageError("--docs is for --pairs; expected both or neither")
    _estimate(qrels, scores, measures, population, form, output, options, per_query=per_query, kind=kind)


def _draw(
    qrels: str,
    scores: tuple[str, ...],
    pairs: str,
    docs: str | None,
    form: str,
    output: str | None,
    options: dict[str, Any],
    *,
    kind: str | None,
) -> None:
    from leadline.data.ids import to_text
    from leadline.estimation.sampled import sample_to_score
    from leadline.io.pool_files import write_pool
    from leadline.retrieval.collection import ids_of

    if scores:
        raise UsageError(f"--pairs draws a sample and reads no scores; '{scores[0]}' was given")
    if docs is None or options["sample"] is None:
        raise UsageError("--pairs needs --docs DOCS and --sample N: what to draw from, and how many")
    table = read_qrels(qrels, kind=kind)
    names = [to_text(name) for name in ids_of(docs)]
    asked = {name: options[name] for name in ("sample", "certain", "seed", "negative")}
    drawn = sample_to_score(table, names, **asked)
    write_pool(drawn, pairs)
    queries = len(set(drawn.queries))
    sure = int((drawn.probability == 1).sum())
    data = {"pool": pairs, "queries": queries, "pairs": len(drawn.documents), "certain": sure}
    said = (
        f"{pairs}: {counted(len(drawn.documents), 'pair')} in {counted(queries, 'query', 'queries')}, "
        f"{sure:,} of them for certain"
    )
    inputs = [describe_input(qrels, len(table)), describe_input(docs, len(names))]
    cells: list[Cell] = [pairs, queries, len(drawn.documents), sure]
    sheet = Table(list(data), [cells], notes=[said])
    write_output(facts_text("sampled", inputs, asked, [], data, sheet, form), output)


def _estimate(
    qrels: str,
    scores: tuple[str, ...],
    measures: tuple[str, ...],
    population: str | None,
    form: str,
    output: str | None,
    options: dict[str, Any],
    *,
    per_query: bool,
    kind: str | None,
) -> None:
    from leadline.io.id_lists import read_population

    size = None if population is None else read_population(population)
    table = read_qrels(qrels, kind=kind)
    with progress("runs") as on_run:
        found = sampled(table, scores, measures or None, population=size, on_run=on_run, **options)
    found.options |= {"kind": kind}
    text = results_text(
        "sampled",
        found,
        lambda: found.to_dict(per_query=per_query),
        lambda: sampled_table(found),
        form=form,
        qrels=qrels,
        judgments=len(table),
        to_file=output is not None,
    )
    write_output(text, output)
