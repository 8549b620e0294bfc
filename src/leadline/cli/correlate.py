"""`leadline rank`, `correlate` and `difference`: orders of runs, and distances between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from leadline.cli._help import SHARED
from leadline.cli._inputs import (
    given_scores,
    judgments_and_draw,
    read_judgments,
    refuse_no_runs,
    values_given,
    values_of,
)
from leadline.cli._outputs import Outputs, describe_input, inputs_of, progress
from leadline.cli._settings import GIVEN
from leadline.comparison.compare import COMPARED
from leadline.comparison.correlate import column_of, correlate
from leadline.comparison.difference import difference as distances
from leadline.comparison.joint_tables import complete
from leadline.comparison.pairing import Rules
from leadline.comparison.rank import rank_results
from leadline.data.registry import split_names
from leadline.errors import InputError, UsageError, both, one_of
from leadline.estimation.measured import default_measures
from leadline.io.id_lists import read_labels
from leadline.io.result_files import Column
from leadline.io.run_names import split_name
from leadline.io.score_tables import first_file
from leadline.io.small_tables import split_place
from leadline.render import View

SECTION = "Evaluation"
INPUTS = (
    "correlate needs TRUTH[:MEASURE] and ESTIMATE[:MEASURE], or any number of files of per-query values and "
    "two measures (-m MEASURE -m MEASURE). To compare how two sets of judgments rank systems, run `leadline "
    "evaluate QRELS RUN... -m AP -o FILE.json` once with each set, and pass both files to `leadline "
    "correlate`."
)


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
    Pearson's r. Each input is a result saved as .json or .parquet, a result printed with -f json, or a table
    with a header. MEASURE is a measure in a result (AP, hsa, ric) or a column of a table (default: the
    first). leadline excludes runs that occur in only one input and reports how many there are.

    The inputs may also be files of per-query values: either TRUTH and ESTIMATE, or any number of files and
    two -m options. leadline does not change the sign of measures for which lower is better, so they usually
    correlate negatively with other measures.

    With at least ten runs, leadline computes a confidence interval over runs. With per-query values of at
    least five runs, it computes an interval over queries. Both intervals are approximate. The interval over
    runs is a percentile bootstrap interval: in simulations with r up to 0.98, 95 % intervals contained the
    true value in 87 to 100 % of the samples. The interval over queries is for the same runs on a larger
    population of queries, and is corrected for the bias caused by sampling error. In simulations, 95 %
    intervals over queries contained the true value in 84 to 100 % of the samples
    (docs/studies/significance.md).

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
    sides: tuple[Any, Any] = (truth, estimate)
    settings: dict[str, Any] = {}
    if values_given(context, [split_place(path)[0] for path in paths], kind, saved=not two):
        sides, settings = _sides(context, paths, measures), context.meta["leadline.scores"]
    elif estimate is None or not two:
        for path, _ in map(split_place, paths):
            if not first_file(split_name(path)[1]):
                raise InputError("no such file", path=path)
        raise UsageError(INPUTS)
    result = correlate(*sides, teams=read_labels(team) if team else None, **options)
    result.options |= settings | {"team": team} | outputs.options()
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
        first, second = (column_of(results, results.measure_index(name), label) for name in names)
        return first, second
    if names or len(paths) != 2:
        raise UsageError(INPUTS)
    sides = []
    for path, measure in map(split_place, paths):
        results, _ = given_scores(context, (), [path], [measure] if measure else ())
        sides.append(column_of(results, results.measure_index(measure) if measure else 0, path))
    return sides[0], sides[1]


def rank(
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


def difference(
    *,
    qrels: str,
    runs: tuple[str, ...],
    level: float,
    binary: bool,
    documents: str | None,
    competitors: tuple[str, ...],
    no_competitors: bool,
    group: str | None,
    parameter: str | None,
    per_query: bool,
    engine: str | None,
    outputs: Outputs,
    kind: str | None,
    **options: Any,
) -> None:
    """Compute the Information Difference and RIC of runs.

    RIC (Relevance Information Correlation) measures how much information, in bits, a ranking gives about
    which of two judged documents is more relevant. The Information Difference (id) of two lists is the
    information that one list has and the other does not, summed over both directions. The output also shows
    the concordance (the share of pairs in the right order minus the share in the wrong order), the number of
    reversed lists (those that rank most of their pairs in the wrong order), and the rank similarities of the
    lists.

    Example: leadline difference qrels.txt bm25.run dense.run -k 20 -o map.svg

    Options
    -------
    qrels
    runs...
    -k, --cutoff K | Measures | int 1..
        Compute RIC@k and id@k on lists cut at rank K. Pairs of documents are weighted by their ranks in an
        ideal list, and all values are divided by the RIC of the ideal list.
    -l, --level GRADE | Measures | float | (= 1.0)
        Lowest relevant grade. Lists are cut after their last relevant document. [default: 1]
    --binary | Measures | flag
        Use binary relevance instead of the grades.
    --exhaustive DOCS as documents | Reading
        File with all document ids, such as the corpus. Unjudged documents in DOCS count as non-relevant.
    --competitor NAME as competitors | Measures | SIMILARITY | many
        Rank similarity to report, such as RBO(p=0.9) or Jaccard@20 (repeatable). [default: Jaccard and
        Overlap, plus RBO and Kendall for up to 20 runs]
    --no-competitors | Measures | flag
        Leave out the rank similarities.
    --group FILE:COLUMN | Output
        Team or family of every run, for the figures.
    --parameter FILE:COLUMN | Output
        Parameter value of every run, for --figure parameter (needs --group).
    use per-query-json
    --engine ENGINE | Parts
        Compare runs with threads (local), N processes (processes[:N]), N Dask workers (dask[:N]) or a Dask
        cluster (dask:tcp://HOST:PORT). leadline then keeps only the means of each pair of runs, not the
        per-query values.
    use reading
    -C difference.signed, difference.printed6, difference.weighted, difference.normalise, difference.condense,
       difference.truncate
    -o | figures map/tree/cumulative/parameter | kinds Kind of figure to save with -o: map (distances between
       runs), tree (groups of runs), cumulative (distribution of id) or parameter (RIC by --parameter).
       [default: map]
    """
    if outputs.figure == "parameter" and (group is None or parameter is None):
        raise UsageError("--figure parameter needs --group FILE:COLUMN and --parameter FILE:COLUMN")
    outputs.needs_json(per_query)
    groups, parameters = (read_labels(path) if path is not None else {} for path in (group, parameter))
    outputs.needs_figure("group")
    both({"--parameter": parameter}, {"--figure parameter": outputs.figure == "parameter"})
    one_of({"--competitor": competitors, "--no-competitors": no_competitors})
    table = read_judgments(qrels, options, kind)
    judgments = len(table.grades)
    if documents is not None:
        from leadline.io.selection import read_document_ids

        table = complete(table, read_document_ids(documents))
    with progress("runs") as on_run, progress("queries") as on_query:
        result = distances(
            table,
            runs,
            rel=level,
            graded=not binary,
            competitors=() if no_competitors else competitors or None,
            engine=engine,
            on_run=on_run,
            on_query=on_query,
            **options,
        )
    result.options |= {
        "kind": kind,
        "complete": documents,
        "group": group,
        "parameter": parameter,
    } | outputs.options()
    view = View(result, json={"per_query": per_query}, figure={"groups": groups, "parameters": parameters})
    outputs.write("difference", view, lambda: inputs_of(result, qrels, judgments))
