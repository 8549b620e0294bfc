"""`leadline replicate`: how well an experiment was reproduced, or replicated on another collection."""

from __future__ import annotations

from typing import Any

import click

from leadline.cli._help import typed
from leadline.cli._inputs import read_judgments
from leadline.cli._outputs import Outputs, inputs_of, progress
from leadline.comparison.replication import replicate
from leadline.errors import UsageError, one_of
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
    use evaluation
    -C test.draws = 10000
    -o | figures differences/effects
    """
    runs = (original, original_advanced, reproduced, reproduced_advanced)
    judgments = [path for path in (qrels, qrels2) if path is not None]
    if outputs.figure == "differences" and qrels2 is not None:
        raise UsageError(
            "--figure differences compares runs on the same queries, so it cannot be combined with QRELS2. "
            "Use --figure effects."
        )
    if per_query and qrels2 is not None:
        raise UsageError(
            "--per-query compares runs on the same queries, so it cannot be combined with QRELS2. Leave out "
            "--per-query or QRELS2."
        )
    outputs.needs_json(per_query)
    one_of({"QRELS2": qrels2} | typed(context, "rbo"))
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
