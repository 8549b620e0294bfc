"""`leadline suite`: many runs on many collections."""

from __future__ import annotations

from typing import Any

from leadline.cli._outputs import Outputs, progress
from leadline.render import View

SECTION = "Evaluation"


def command(
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
