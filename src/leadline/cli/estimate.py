"""`leadline estimate`: measures from a sample of judgments, with confidence intervals."""

from __future__ import annotations

import os
from typing import Any

import click

from leadline.cli._help import Command, option
from leadline.cli._options import (
    OUTPUT,
    confidence_option,
    formats_option,
    level_option,
    measure_option,
    name_by_option,
    output_option,
    per_query_option,
    progress,
    refuse_same_output,
    repair_options,
    seed_option,
    write_output,
)
from leadline.cli._plots import check_plots, plot_option, plot_options, write_plots
from leadline.cli._reading_options import labels_of, read_with
from leadline.cli._results import inputs_of, result_text
from leadline.errors import UsageError

SECTION = "Estimation"


@click.command(
    cls=Command, epilog="Example: leadline estimate judged.sqlite bm25.run dense.run --pool pool.tsv -m P@10"
)
@click.argument("judgments")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--pool",
    metavar="POOL",
    help=(
        "Inclusion probabilities, as written by `leadline pool --for`. [default: judged pairs are certain]"
    ),
)
@measure_option(
    "Measure (repeatable): P, CG, DCG, RBP, RR (MRR), Success, ERR, nDCG, R, F or AP (MAP). "
    "[default: P@10, nDCG@10]"
)
@click.option(
    "--machine",
    metavar="LABELS",
    help="Machine labels made without the judgments, and calibrated by them; `none` for none. "
    "[default: those of POOL]",
)
@click.option(
    "--proxy",
    metavar="votes|centred|none|FILE:COLUMN",
    help="Prediction for unjudged pairs without labels: votes of the pooled runs, the mean of the "
    "judged pairs (centred; default where pairs were drawn), none, or quantiles of a number for each pair: "
    "a column of a table with query_id and doc_id.",
)
@level_option(name="rel")
@option(
    "Statistics",
    "--pairs",
    type=click.Choice(["none", "all"]),
    default="none",
    show_default=True,
    help="Differences of pairs of runs, with confidence intervals.",
)
@click.option(
    "--skipped",
    is_flag=True,
    help="Accept drawn pairs without a judgment, and count them; estimates may then be biased.",
)
@option(
    "Output",
    "--save",
    type=OUTPUT,
    metavar="FILE.parquet",
    help="Save the values of queries, for `compare --scores`.",
)
@per_query_option("Add the estimates of single queries (JSON).")
@plot_option("Figure of the estimates of the first measure")
@plot_options
@confidence_option
@name_by_option
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
    save: str | None,
    plots: tuple[str, ...],
    **options: Any,
) -> None:
    """Estimate measures from a sample of judgments, with intervals.

    JUDGMENTS are qrels in any format, or the store of `leadline judge`. With the inclusion probabilities of
    POOL, sums (P, DCG, RBP) are unbiased; R, F and AP (MAP) have no confidence interval. `low` and `high` are
    the interval over other samples of documents for these queries; `queries_low` and `queries_high` in JSON
    include the variation over queries. The weights of every value by source (judged, drawn, guessed, unknown)
    sum to 1.
    """
    from leadline.estimation.estimate import estimate

    if judgments == "none" and not os.path.exists(judgments):
        raise UsageError(
            "no judgments: expected at least some; without any, `leadline unjudged` ranks the runs, and "
            "`leadline evaluate` takes machine labels as judgments"
        )
    labels, pool = options.pop("machine"), options["pool"]
    machine = labels_of(pool if options["proxy"] is None else None, labels)
    column = (options["proxy"] or "").rpartition(":")[0]
    refuse_same_output(output or "-", save, *plots)
    appearance = check_plots(plots)
    with progress("runs") as on_run:
        result = estimate(judgments, runs, measures or None, machine=machine, on_run=on_run, **options)
    result.options |= {"pool": pool, "machine": machine, "pairs": pairs} | appearance
    others = read_with(result, pool, machine or column)
    text = result_text(
        "estimate",
        result,
        form,
        inputs=lambda: inputs_of(result, judgments, result.judgments, others),
        to_file=output is not None,
        data=lambda: result.to_dict(per_query=per_query, pairs=pairs == "all"),
        pairs=pairs == "all",
    )
    if save is not None:
        from leadline.reporting.restore import save as save_results

        inputs = inputs_of(result, judgments, result.judgments, others)
        save_results(result, save, command="estimate", inputs=inputs)
    write_plots(plots, result)
    write_output(text, output)
