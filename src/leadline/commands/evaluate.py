"""`leadline evaluate`: measure runs against judgments."""

from __future__ import annotations

from typing import Any

import click

from leadline.commands._options import deliver, output_options, progress, reading_options
from leadline.commands._results import results_text
from leadline.evaluation import evaluate
from leadline.formats import read_qrels
from leadline.profiles import PROFILES
from leadline.render import Cell, Sheet
from leadline.results import Results, plain


@click.command(
    epilog="Example: leadline evaluate qrels.txt bm25.run dense.run.gz -m AP -m nDCG@10 --per-query"
)
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help="A measure, as in nDCG@10 (again for more; default: AP nDCG@10 RR P@10 R@100 "
    "Judged@10). `leadline measures` lists them.",
)
@click.option(
    "-l",
    "--level",
    type=float,
    metavar="GRADE",
    help="The least relevant grade, for measures that have `rel`.",
)
@click.option("-q", "--per-query", is_flag=True, help="Show every query too.")
@click.option(
    "--queries",
    type=click.Choice(["all", "both", "with_relevant"]),
    help="The queries of the mean: all judged ones (default), those in both files, those with "
    "a relevant document.",
)
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="leadline",
    show_default=True,
    help="Compute as another program does.",
)
@click.option(
    "--known", metavar="FILE", help="Documents that the user knew before, for Coverage and Novelty."
)
@reading_options
@output_options
def command(  # click documents the options
    qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], level: float | None, per_query: bool,
    form: str, output: str | None, **options: Any,
) -> None:  # fmt: skip
    """Measure RUNS against the judgments QRELS: per-query values and means in one pass.

    Every judged query counts; a query that a run lacks counts 0, and what was missing, tied or unjudged is
    counted under the table.
    """
    table = read_qrels(qrels)
    with progress("runs") as on_run:
        results = evaluate(table, runs, measures or None, rel=level, on_run=on_run, **options)
    text = results_text(
        "evaluate", results,
        lambda: results.to_dict(per_query=per_query), lambda: sheet_of(results, per_query=per_query),
        form=form, qrels=qrels, judgments=len(table), to_file=output is not None,
    )  # fmt: skip
    deliver(text, output)


def sheet_of(results: Results, *, per_query: bool = False) -> Sheet:
    """Lay results out: runs down (the best first), measures across."""
    texts = [str(measure) for measure in results.measures]
    order = results.order()
    rows: list[list[Cell]] = []
    best: set[tuple[int, int]] = set()
    for place in order:
        if per_query:
            rows += [
                [results.runs[place].name, query, *map(plain, values)]
                for query, values in zip(
                    results.queries, results.values[place].tolist(), strict=True
                )
            ]
        means: list[Cell] = [results.runs[place].name]
        rows.append(
            [*means, *(["mean"] if per_query else []), *map(plain, results.means[place].tolist())]
        )
        best |= {
            (len(rows) - 1, column + 1 + per_query)
            for column, winners in enumerate(results.best())
            if place in winners
        }
    queries = len(results.averaged_queries())
    notes = [f"{len(results.runs)} runs, mean over {queries} queries", *map(str, results.notices)]
    return Sheet(
        columns=["run", *(["query"] if per_query else []), *texts],
        rows=rows,
        best=best,
        notes=notes,
    )
