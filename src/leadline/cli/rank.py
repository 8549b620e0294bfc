"""`leadline rank`: ranks of runs with intervals, groups of ties, probabilities to be the best."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._inputs import given_scores, judgments_and_draw, refuse_no_runs, values_given, values_of
from leadline.cli._outputs import Outputs, inputs_of, progress
from leadline.comparison.compare import COMPARED
from leadline.comparison.pairing import Rules
from leadline.comparison.rank import rank_results
from leadline.estimation.measured import default_measures
from leadline.render import View

SECTION = "Evaluation"


def command(
    context: click.Context,
    /,
    *,
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    level: float | None,
    outputs: Outputs,
    kind: str | None,
    **options: Any,
) -> None:
    """Rank runs, with confidence intervals for the ranks.

    The run with the best mean has rank 1, and tied runs share their mean rank. The intervals are
    simultaneous: with the given confidence, all of them contain the true ranks. The best rank in a run's
    interval is 1 plus the number of runs that are significantly better. leadline also shows a bootstrap
    interval for each rank and each run's probability of being the best (docs/comparing.md).

    Group 1 consists of the best run and every run that does not differ from it significantly. Group 2 is
    formed in the same way from the remaining runs, and so on.

    You can pass files of per-query values, such as results of `leadline evaluate`, instead of QRELS and RUNS.

    Example: leadline rank qrels.txt bm25.run dense.run -m nDCG@10 -o ranks.svg

    Options
    -------
    qrels
    [runs]...
    -m, --measure MEASURE as measures | Measures | MEASURE | many
        Measure, such as AP (its mean is MAP) or nDCG@10 (repeatable). [default: AP, nDCG@10; with a
        pool or per-query values, all of their measures]
    use test, correction, query-group, confidence, seed, query-weights, sample, evaluation, scores
    -C test.family, test.draws = 10000
    -o | figure | digits
    """
    rules, draws = Rules.take(options), options.pop("draws")
    if values_given(context, (qrels, *runs), kind):
        asked = [*options, "level"]
        results, ((qrels, judged), *others) = given_scores(context, asked, (qrels, *runs), measures)
    else:
        refuse_no_runs(runs)
        with progress("runs") as on_run:
            given = judgments_and_draw(qrels, options, kind, measures)
            wanted = measures or default_measures(given[1], COMPARED)
            results, judged, others = values_of(given, runs, wanted, options, rules, rel=level, on_run=on_run)
    ranking = rank_results(results, rules, draws=draws)
    ranking.options |= {"kind": kind} | outputs.options()
    outputs.write("rank", View(ranking), lambda: inputs_of(ranking, qrels, judged, others))
