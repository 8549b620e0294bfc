"""`leadline replicate`, `suite` and `why-different`: experiments on several collections, or done again."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import typed
from leadline.cli._inputs import read_judgments
from leadline.cli._outputs import Outputs, describe_input, inputs_of, progress
from leadline.errors import one_of
from leadline.render import View

SECTION = "Evaluation"


def command(
    context: click.Context,
    /,
    *,
    original: str,
    original_advanced: str,
    reproduced: str,
    reproduced_advanced: str,
    qrels: str,
    qrels2: str | None,
    measures: tuple[str, ...],
    level: float | None,
    per_query: bool,
    outputs: Outputs,
    kind: str | None,
    **options: Any,
) -> None:
    """Measure how well an experiment was reproduced or replicated.

    An experiment consists of a baseline run and an advanced run. Its effect is the difference between their
    means. With QRELS alone, the second pair of runs is a reproduction on the same queries. leadline compares
    the order of documents (Kendall's tau union, rank-biased overlap), the per-query values (RMSE, paired
    t-tests) and the effects (effect ratio, delta relative improvement). With QRELS2, judgments for different
    queries, the second pair is a replication, and leadline compares the means (Welch's t-test) and the
    effects.

    The effect ratio is the reproduced effect divided by the original effect. Its interval is withheld if the
    interval of the original effect contains 0. Intervals account for the choice of queries and are
    approximate. docs/replication.md reports their coverage.

    Example: leadline replicate bm25.run dense.run our-bm25.run our-dense.run qrels.txt -m AP

    Options
    -------
    original : ORIGINAL-BASE | INPUT
    original_advanced : ORIGINAL-ADVANCED | INPUT
    reproduced : REPRODUCED-BASE | INPUT
    reproduced_advanced : REPRODUCED-ADVANCED | INPUT
    qrels
    [qrels2] | INPUT
    -m, --measure MEASURE as measures | Measures | MEASURE | many
        Measure, such as AP (its mean is MAP) or nDCG@10 (repeatable). [default: AP, nDCG@10]
    --rbo RBO | Measures | SIMILARITY | = "RBO(p=0.95)"
        Rank-biased overlap to compute, with its persistence p.
    use confidence, seed
    -q, --per-query | Queries | flag
        Add per-query differences, tau union and RBO to the JSON output (reproductions only).
    use measuring, unnamed, measured
    -C test.draws = 10000
    -o | figures differences/effects | kinds Kind of figure to save with -o: differences or effects. [default:
        differences, or effects with QRELS2]
    """
    from leadline.comparison.replication import replicate

    runs = (original, original_advanced, reproduced, reproduced_advanced)
    judgments = [path for path in (qrels, qrels2) if path is not None]
    one_of({"QRELS2": qrels2} | typed(context, "rbo", "per_query"))
    outputs.needs_json(per_query)
    tables = [read_judgments(path, options, kind) for path in judgments]
    with progress("runs") as on_run:
        result = replicate(
            runs[:2],
            runs[2:],
            qrels=tables[0],
            qrels2=tables[1] if qrels2 is not None else None,
            measures=measures or None,
            rel=level,
            on_run=on_run,
            **options,
        )
    result.options |= {"kind": kind} | outputs.options()
    others = [(path, len(table.grades)) for path, table in zip(judgments[1:], tables[1:], strict=True)]
    view = View(result, json={"per_query": per_query}, lines="values")
    outputs.write("replicate", view, lambda: inputs_of(result, qrels, len(tables[0].grades), others))


def suite(
    *, suite: str, measures: tuple[str, ...], baseline: tuple[str, ...], outputs: Outputs, **options: Any
) -> None:
    """Evaluate many runs on many collections, and compare them.

    SUITE is a TOML file, or a folder with COLLECTION/qrels.txt (or qrels.tsv, or qrels/test.tsv) and
    COLLECTION/runs/*. Runs with the same name count as the same system. In the file, each section
    [collections.NAME] needs `qrels` and `runs` (pattern, list of patterns, or table of paths). A collection
    can also set `documents` (number of documents in the collection) and `level` (lowest relevant grade). The
    file can also set `measures` and, under [groups], groups of collections to average over. Paths are
    relative to the file.

    The macro mean gives every collection the same weight. A run that is missing from a collection has no
    macro mean unless you add --partial. leadline tests every pair of runs on each collection, over the
    queries of all collections together, and over the collections, each of which then counts as one
    observation. The last test needs at least five collections.

    Example: leadline suite suite.toml --baseline bm25 -o suite.svg

    Options
    -------
    suite
    -m, --measure MEASURE as measures | Measures | MEASURE | many
        Measure, such as nDCG@10 (repeatable). [default: the measures in SUITE, or nDCG@10]
    --baseline NAME | Statistics | many
        Run to compare the other runs with (repeatable). [default: all pairs]
    --test NAME | Statistics | T/Randomisation (any case) | = "T"
        Paired test, within each collection and over all of them: T or Randomisation.
    --correction NAME | Statistics | CORRECTION | = "Holm"
        Correction for multiple testing: Holm, Hochberg, Bonferroni, BH or Uncorrected.
    use confidence, seed
    --partial | Measures | flag
        If a run is missing from some collections, average over the remaining collections. [default: such a
        run has no macro mean, win rate or test over all collections]
    --engine ENGINE | Parts | = "local"
        Evaluate runs with threads (local), N processes (processes[:N]), N Dask workers (dask[:N]) or a Dask
        cluster (dask:tcp://HOST:PORT).
    use repairs
    -o | figure
    """
    from leadline.comparison.suite_evaluation import suite as evaluate_suite

    with progress("runs") as on_run:
        result = evaluate_suite(
            suite, measures=measures or None, baseline=baseline or None, on_run=on_run, **options
        )
    outputs.write("suite", View(result), lambda: result.inputs, result.options | outputs.options())


def why_different(
    *, a: str, b: str, qrels: str | None, run: str | None, per_query: bool, outputs: Outputs, **options: Any
) -> None:
    """Find out why two tables of the same measure differ.

    The two RESULTs, A and B, are tables of per-query values: output of `trec_eval -q` or `ir_measures -q`,
    leadline results, a table with a header, or JSON of the form {query: {measure: value}}. With --qrels and
    --run, leadline tries possible causes: the order of tied documents, the precision of scores, duplicates,
    documents with the same id as the query, unjudged documents, the relevance level, cutoff, gains, discount,
    interpolation, missing queries, queries without relevant documents, and other conventions in which
    evaluation programs differ. A cause explains a query if one of its settings reproduces the value in A and
    another setting reproduces the value in B. If no single cause explains all queries, leadline tries pairs
    of causes.

    Example: leadline why-different a.txt b.json --qrels qrels.txt --run bm25.run

    Options
    -------
    a : RESULT[:MEASURE]
    b : RESULT[:MEASURE]
    --qrels QRELS | Reading
        Relevance judgments on which the values are based. Needs --run.
    --run RUN | Reading
        Run that the values belong to. Needs --qrels.
    -m, --measure MEASURE | Measures
        Measure to compare. [default: the first measure that is in both tables and differs]
    -l, --level GRADE as rel | Measures | float
        Lowest relevant grade in both programs. [default: 1]
    -q, --per-query | Queries | flag
        Also show the values of the queries that differ, with their explanations.
    -C read.name
    -o
    """
    from leadline.comparison.why_different import why_different

    result = why_different(a, b, qrels=qrels, run=run, **options)
    options = {"per_query": per_query}
    view = View(result, shown=options, json=options, lines="numbers+causes")
    sides = (result.a, result.b)
    outputs.write(
        "why-different", view, lambda: [describe_input(side.path, len(side.values)) for side in sides]
    )
