"""`leadline correlate`: correlation of two scores of the same runs."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import Command, option
from leadline.cli._options import (
    confidence_option,
    draws_option,
    output_options,
    refuse_overwrite,
    seed_option,
    write_output,
)
from leadline.cli._results import describe_input, envelope, escaped, json_text, print_warnings, table_text
from leadline.comparison.correlate import Correlation, correlate
from leadline.io.id_lists import read_labels
from leadline.reporting.tables.evaluation_tables import correlation_table

SECTION = "Evaluation"


@click.command(
    cls=Command, epilog="Example: leadline correlate map.json:AP hsa.json:hsa_robust --team systems.tsv:team"
)
@click.argument("truth", metavar="TRUTH[:MEASURE]")
@click.argument("estimate", metavar="ESTIMATE[:MEASURE]")
@option(
    "Statistics",
    "--team",
    metavar="FILE:COLUMN",
    help="Team of every run; the bootstrap resamples teams, because their runs are alike.",
)
@draws_option("Number of bootstrap resamples for the intervals; 0 for none.")
@confidence_option
@seed_option
@output_options
def command(
    *, truth: str, estimate: str, team: str | None, form: str, output: str | None, **options: Any
) -> None:
    """Compute the rank correlation between two scores of the same runs.

    The coefficients are Kendall's tau-b, tau-AP, tau-AP,b (symmetric, with ties), Spearman's rho and
    Pearson's r. The inputs are JSON results of commands, results saved by `estimate --save`, or tables with a
    header. MEASURE is a measure of a result (AP, hsa, ric) or a column of a table; the default is the first.
    Runs that occur in one input only are counted and excluded.

    Both confidence intervals are approximate, and there are none for fewer than five runs. The interval over
    runs is a percentile bootstrap interval. The interval over queries is for the means over a larger
    population of queries, corrected for the bias that sampling error causes; in simulations, 95 % intervals
    of this kind contained the true value in 85 to 100 % of the samples (docs/studies/significance.md, without
    tau-AP,b).
    """
    refuse_overwrite(output, truth, estimate)
    result = correlate(truth, estimate, teams=read_labels(team) if team else None, **options)
    refuse_overwrite(output, *(side.path for side in result.sides))
    result.options["team"] = team
    write_output(_text(result, form, to_file=output is not None), output)


def _text(result: Correlation, form: str, *, to_file: bool) -> str:
    if form == "json":
        inputs = [describe_input(side.path, len(side.values)) for side in result.sides]
        return json_text(envelope("correlate", inputs, result.options, result.warnings) | result.to_dict())
    if form in ("csv", "jsonl"):
        print_warnings(result.warnings)
    if form == "jsonl":
        import json

        rows = [{"coefficient": name, **result.to_dict()[name]} for name in result.found]
        return "".join(escaped(json.dumps(row)) + "\n" for row in rows)
    return table_text(correlation_table(result), form, to_file=to_file)
