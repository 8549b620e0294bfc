"""Values of the runs of a command, by judgments of all documents or of a drawn sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from leadline.cli._reading_options import read_judgments
from leadline.comparison.rules import Rules
from leadline.data.qrels import Qrels
from leadline.data.results import Results
from leadline.estimation.estimate import EstimatedResults
from leadline.estimation.measured import measured
from leadline.evaluation.evaluate import evaluate


class Values(NamedTuple):
    """Values of runs, the judgments (None for estimates, which read their own), and how many they are."""

    results: Results
    qrels: Qrels | None
    judged: int


def values_of(
    qrels: str,
    runs: Sequence[str],
    measures: Sequence[Any],
    options: Mapping[str, Any],
    kind: str | None,
    rules: Rules,
    *,
    rel: float | None,
    on_run: Callable[[int, int], None] | None,
) -> Values:
    """Evaluate runs, or estimate their values if `options` have a pool that was drawn."""
    others = {name: value for name, value in options.items() if name not in ("pool", "machine")}
    if options["pool"] is None and options["machine"] is None:
        table = read_judgments(qrels, options, kind)
        return Values(
            evaluate(table, runs, measures, rel=rel, on_run=on_run, **others), table, len(table.grades)
        )
    results = measured(
        qrels, runs, measures, rel=rel, confidence=rules.confidence, seed=rules.seed, on_run=on_run, **options
    )
    return Values(results, None, results.judgments if isinstance(results, EstimatedResults) else 0)
