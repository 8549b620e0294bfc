"""`leadline rank`: ranks of runs with intervals, groups of ties, probabilities to be the best."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import CORRECTION, TEST, Command, option
from leadline.cli._options import (
    confidence_option,
    evaluation_options,
    measure_option,
    output_options,
    progress,
    sample_options,
    seed_option,
    write_output,
)
from leadline.cli._plots import check_plots, plot_option, plot_options, write_plots
from leadline.cli._reading_options import judgments_and_draw, values_of
from leadline.cli._results import inputs_of, result_text
from leadline.cli._scores import given_scores, refuse_without_scores, scores_options
from leadline.cli._settings import setting, settings
from leadline.comparison.compare import COMPARED
from leadline.comparison.rank import DRAWS, rank_results
from leadline.comparison.rules import Rules
from leadline.errors import UsageError

SECTION = "Evaluation"


@click.command(
    cls=Command, epilog="Example: leadline rank qrels.txt bm25.run dense.run -m nDCG@10 --plot ranks.svg"
)
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@scores_options
@measure_option(
    f"Measure, as in AP (its mean is MAP) or nDCG@10 (repeatable). [default: {', '.join(COMPARED)}; with "
    "--scores all]"
)
@option(
    "Statistics",
    "--test",
    type=TEST,
    default="T",
    show_default=True,
    metavar="NAME",
    help="Paired significance test of all pairs: T, Randomisation, Bootstrap, Wilcoxon, Sign.",
)
@option(
    "Statistics",
    "--correction",
    type=CORRECTION,
    default="Holm",
    show_default=True,
    metavar="NAME",
    help="Correction for all pairs: Holm, Hochberg, Bonferroni, MaxT (step-down randomised max-t), Tukey; BH "
    "and Uncorrected give intervals that are not simultaneous.",
)
@settings("test.family")
@option(
    "Statistics",
    "--query-group",
    metavar="FILE:COLUMN",
    help="Groups (clusters) of dependent queries; tests and resampling are by group. The first column of "
    "FILE is the query id.",
)
@setting("test.draws", default=DRAWS)
@confidence_option
@seed_option
@plot_option("Figure of the ranks by the first measure")
@plot_options
@sample_options
@evaluation_options
@output_options
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    level: float | None,
    plots: tuple[str, ...],
    form: str,
    output: str | None,
    kind: str | None,
    scores: bool,
    **options: Any,
) -> None:
    """Rank runs, with confidence intervals of the ranks.

    The rank of a run is that of its mean, 1 for the best; ties share their mean rank. The simultaneous
    interval goes from 1 + the number of runs that are significantly better to the number of runs less those
    that are significantly worse, by tests of all pairs, corrected for their number. At 95 % all these
    intervals contain the ranks in the population of queries with at least that probability (measured:
    docs/ranking.md). Beside them stand the percentile interval of the rank of each run alone over bootstrap
    resamples of the queries, the expected rank, and the probability to be the best, which adds up to 1.

    Group 1 is the best run and those that are not significantly different from it; group 2 is formed of the
    rest in the same way, and so on.
    """
    appearance = check_plots(plots, output=output or "-")
    rules, draws = Rules.take(options), options.pop("draws")
    if scores:
        asked = [*options, "level", "kind"]
        results, ((qrels, judged), *others) = given_scores(context, asked, (qrels, *runs), measures)
    else:
        refuse_without_scores(context)
        if not runs:
            raise UsageError("no run; expected QRELS RUN RUN..., or --scores FILE...")
        with progress("runs") as on_run:
            wanted = measures or COMPARED
            given = judgments_and_draw(qrels, options, kind, wanted)
            results, _, judged, others = values_of(
                given, runs, wanted, options, rules, rel=level, on_run=on_run
            )
    ranking = rank_results(results, rules, draws=draws)
    ranking.options |= {"kind": kind} | appearance
    text = result_text(
        "rank",
        ranking,
        form,
        inputs=lambda: inputs_of(ranking, qrels, judged, others),
        to_file=output is not None,
    )
    write_plots(plots, ranking)
    write_output(text, output)
