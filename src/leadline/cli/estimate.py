"""`leadline estimate`: measures from a sample of judgments, with confidence intervals."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._options import (
    confidence_option,
    formats_option,
    output_option,
    progress,
    refuse_overwrite,
    repair_options,
    seed_option,
    write_output,
)
from leadline.cli._results import results_text
from leadline.reporting.tables.estimate_table import estimate_table

SECTION = "Estimate from a sample, or without judgments"


@click.command(epilog="Example: leadline estimate mine.qrels bm25.run dense.run --pool pool.tsv -m P@10")
@click.argument("judgments")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--pool",
    metavar="POOL",
    help=(
        "Inclusion probabilities, as `leadline pool --for` writes them; without it judged pairs are certain."
    ),
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    help=(
        "A measure (again for more; default: P@10 nDCG@10): P, CG, DCG, RBP, RR, Success, "
        "ERR, nDCG, R, F or AP."
    ),
)
@click.option(
    "--machine",
    metavar="LABELS",
    help="Labels of a machine judge, calibrated by the judgments; `none` for none (default: what POOL says).",
)
@click.option(
    "--proxy",
    type=click.Choice(["votes", "centred", "none"]),
    help="What unjudged pairs are guessed from without labels: votes of the pooled runs, the mean of the "
    "judged pairs (default where pairs were drawn), or nothing.",
)
@click.option("-l", "--level", "rel", type=float, metavar="GRADE", help="Minimum relevant grade.")
@click.option(
    "--pairs",
    type=click.Choice(["none", "all"]),
    default="none",
    show_default=True,
    help="Add the differences of all pairs of runs, with their intervals.",
)
@click.option(
    "--skipped",
    is_flag=True,
    help="Go on where drawn pairs lack a judgment, and count them; estimates may be biased.",
)
@click.option("-q", "--per-query", is_flag=True, help="Add the estimates of single queries (JSON).")
@confidence_option
@click.option("--name-by", type=click.Choice(["file", "tag"]), default="file", help="What names a run.")
@seed_option
@repair_options
@formats_option()
@output_option
def command(
    *,
    judgments: str,
    runs: tuple[str, ...],
    form: str,
    output: str | None,
    measures: tuple[str, ...],
    pairs: str,
    per_query: bool,
    **options: Any,
) -> None:
    """Estimate measures of RUNS from a sample of JUDGMENTS, with confidence intervals.

    JUDGMENTS are qrels in any format, or the store of the judging page. `low` and `high` say what other
    draws of documents would have given for these queries; `queries_low` and `queries_high` in JSON include
    other queries. The weight of every value by source (judged, drawn, guessed, unknown) adds up to 1.
    """
    from leadline.estimation.estimate import estimate

    labels = options.pop("machine")
    pool = options["pool"]
    if labels is None and pool is not None and options["proxy"] is None:
        labels = _labels_of(pool)
    machine = None if labels == "none" else labels
    refuse_overwrite(output, judgments, *runs, *filter(None, (pool, machine)))
    with progress("runs") as on_run:
        found = estimate(judgments, runs, measures or None, machine=machine, on_run=on_run, **options)
    found.options |= {"pool": pool, "machine": machine, "pairs": pairs}
    text = results_text(
        "estimate",
        found,
        lambda: found.to_dict(per_query=per_query, pairs=pairs == "all"),
        lambda: estimate_table(found, pairs=pairs == "all"),
        form=form,
        qrels=judgments,
        judgments=found.judgments,
        to_file=output is not None,
    )
    write_output(text, output)


def _labels_of(pool: str) -> str | None:
    """Return the path of the labels that a pool names, if the file is there."""
    import os

    from leadline.io.pool_files import read_drawn_pool

    path = read_drawn_pool(pool).design.get("machine")
    return path if isinstance(path, str) and os.path.exists(path) else None
