"""`leadline suite`: many runs on many collections."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import CORRECTION, Command, option
from leadline.cli._options import (
    confidence_option,
    engine_option,
    measure_option,
    progress,
    repair_options,
    seed_option,
)
from leadline.cli._outputs import Outputs, output_options
from leadline.render.view import View

SECTION = "Evaluation"


@click.command(cls=Command, epilog="Example: leadline suite suite.toml --baseline bm25 -o suite.svg")
@click.argument("suite")
@measure_option("Measure (repeatable). [default: those in SUITE, or nDCG@10]")
@option(
    "Statistics",
    "--baseline",
    multiple=True,
    metavar="NAME",
    help="Compare every other run with this one (repeatable). [default: all pairs of runs]",
)
@option(
    "Statistics",
    "--test",
    type=click.Choice(["T", "Randomisation"], case_sensitive=False),
    default="T",
    show_default=True,
    metavar="NAME",
    help="Paired test, within each collection and over them: T or Randomisation.",
)
@option(
    "Statistics",
    "--correction",
    type=CORRECTION,
    default="Holm",
    show_default=True,
    metavar="NAME",
    help="Correction for many tests: Holm, Hochberg, Bonferroni, BH or Uncorrected.",
)
@confidence_option
@seed_option
@option(
    "Measures",
    "--partial",
    is_flag=True,
    help=(
        "If a run lacks collections, average over the collections it has. [default: no macro mean, win "
        "rate or test over all collections for this run]"
    ),
)
@engine_option("Engine that evaluates the runs")
@repair_options
@output_options(figures=())
def command(
    *, suite: str, measures: tuple[str, ...], baseline: tuple[str, ...], outputs: Outputs, **options: Any
) -> None:
    """Evaluate many runs on many collections, and compare them.

    SUITE is a TOML file, or a folder with COLLECTION/qrels.txt and COLLECTION/runs/*. Runs with the same name
    are the same system. In the file, [collections.NAME] has qrels, runs (pattern, list of patterns, or table
    of paths), documents (size, 0 if unknown) and level (lowest relevant grade). You can add measures and
    [groups]. Paths are relative to the file.

    The macro mean gives every collection the same weight. A run that lacks a collection has no macro mean,
    unless you give --partial. leadline tests every pair on each collection, over the queries in these
    collections, and over the collections as a sample. The last test is inconclusive with fewer than five.
    """
    from leadline.comparison.suite_evaluation import suite as evaluate_suite

    with progress("runs") as on_run:
        result = evaluate_suite(
            suite, measures=measures or None, baseline=baseline or None, on_run=on_run, **options
        )
    outputs.write("suite", View(result), lambda: result.inputs, result.options | outputs.options())
