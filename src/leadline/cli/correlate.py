"""`leadline correlate`: correlation of two scores of the same runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from leadline.cli._help import SHARED
from leadline.cli._inputs import given_scores, values_given
from leadline.cli._outputs import Outputs, describe_input
from leadline.cli._settings import GIVEN
from leadline.comparison.correlate import correlate, correlate_columns
from leadline.data.registry import split_names
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.evaluation.results import Results
from leadline.io.id_lists import read_labels
from leadline.io.result_files import Column
from leadline.io.small_tables import split_place
from leadline.render import View

SECTION = "Evaluation"


def command(
    context: click.Context,
    /,
    *,
    truth: str,
    estimate: str | None,
    more: tuple[str, ...],
    measures: tuple[str, ...],
    team: str | None,
    kind: str | None,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Compute correlations between two scores of the same runs.

    The coefficients are Kendall's tau-b, tau-AP, tau-AP,b (symmetric, with ties), Spearman's rho and
    Pearson's r. Each input is a result saved with -o, a result printed with -f json, or a table with a
    header. MEASURE is a measure in a result (AP, hsa, ric) or a column of a table (default: the first).
    leadline excludes runs that occur in only one input and reports how many there are.

    The inputs may also be files of per-query values: either TRUTH and ESTIMATE, or any number of files and
    two -m options. leadline does not change the sign of measures for which lower is better, so they usually
    correlate negatively with the others.

    With at least ten runs, leadline computes a confidence interval over runs. With per-query values of at
    least five runs, it also computes an interval over queries. Both are approximate. The interval over runs
    is a percentile bootstrap interval: in simulations, 95 % intervals contained the true value in 87 to 100 %
    of the samples. The interval over queries is for the same runs on a larger population of queries, and is
    corrected for the bias caused by sampling error. In simulations, 95 % intervals over queries contained the
    true value in 84 to 100 % of the samples (docs/studies/significance.md).

    Example: leadline correlate map.json:AP hsa.json:hsa_robust --team systems.tsv:team

    Options
    -------
    truth : TRUTH[:MEASURE]
    [estimate] : ESTIMATE[:MEASURE]
    [more]... : [FILE]...
    -m, --measure MEASURE as measures | Measures | MEASURE | many
        One of the two measures to correlate. Every file must have per-query values of both. Pass -m twice.
    --team FILE:COLUMN | Statistics
        Team that submitted each run. The bootstrap then resamples teams, because runs of one team are alike.
        With fewer than ten teams, there is no interval over runs.
    use confidence, seed, scores
    -C test.draws, read.kind values
    -o | figure
    """
    paths = [truth, *([] if estimate is None else [estimate]), *more]
    given = context.meta[GIVEN].keys() - context.meta[SHARED]
    read = not context.meta.get("leadline.scores", {}).keys().isdisjoint(given)
    two = len(paths) == 2 and not measures and not read  # which may be tables of runs too
    if values_given(context, [split_place(path)[0] for path in paths], kind, saved=not two):
        sides = _sides(context, paths, measures)
        result = correlate_columns(sides, teams=read_labels(team) if team else None, **options)
        result.options |= context.meta["leadline.scores"]
    elif estimate is None or not two:
        raise UsageError(
            (
                f"-m {measures[0]} needs per-query values. For other inputs, write TRUTH:MEASURE."
                if measures
                else f"correlate needs two inputs, not {len(paths)}. Pass TRUTH "
                "and ESTIMATE, or per-query values."
            )
            + " To compare rankings under two sets of judgments, use `leadline agreement QRELS QRELS --runs "
            "RUN...`."
        )
    else:
        result = correlate(truth, estimate, teams=read_labels(team) if team else None, **options)
    result.options |= {"team": team} | outputs.options()
    view = View(result, lines="")
    outputs.write(
        "correlate", view, lambda: [describe_input(side.path, len(side.values)) for side in result.sides]
    )


def _sides(context: click.Context, paths: Sequence[str], measures: Sequence[str]) -> tuple[Column, Column]:
    """Return both scores from tables: two measures of all files, or one measure of each of two files."""
    names = [name for one in measures for name in split_names(one)]
    if len(names) == 2:
        results, _ = given_scores(context, (), paths, names)
        label = paths[0] if len(paths) == 1 else f"{len(paths)} files"
        return _side(results, label, names[0]), _side(results, label, names[1])
    if names or len(paths) != 2:
        raise UsageError(
            "to correlate per-query values, pass two measures (FILE... -m MEASURE -m MEASURE) or "
            "two files without -m (TRUTH[:MEASURE] ESTIMATE[:MEASURE]), not "
            f"{counted(len(paths), 'file')} and {counted(len(names), 'measure')}"
        )
    sides = []
    for path, measure in map(split_place, paths):
        results, _ = given_scores(context, (), [path], [measure] if measure else ())
        sides.append(_side(results, path, measure or str(results.measures[0])))
    return sides[0], sides[1]


def _side(results: Results, path: str, measure: str) -> Column:
    """Return the means and the averaged values of a measure."""
    results.refuse_weights("`leadline correlate`")
    index = results.measure_index(measure)
    values = results.averaged_values(index)
    queries = list(results.queries)
    by_query = {
        name: {query: value for query, value in zip(queries, row, strict=True) if value == value}  # noqa: PLR0124
        for name, row in zip(results.names, values.tolist(), strict=True)
    }
    means = dict(zip(results.names, results.means[:, index].tolist(), strict=True))
    reasons = (results.withheld or {}).get(str(results.measures[index]), {})
    return Column(path, str(results.measures[index]), means, by_query, tuple(reasons.items()))
