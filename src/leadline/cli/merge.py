"""`leadline merge`: results of parts of a run, put together."""

from __future__ import annotations

from leadline.cli._outputs import Outputs
from leadline.render import View

SECTION = "Evaluation"


def command(
    *, files: tuple[str, ...], queries: str | None, name: str | None, per_query: bool, outputs: Outputs
) -> None:
    """Merge results saved for parts of a run.

    Create FILES with `leadline evaluate QRELS PART -o FILE.parquet`. Values and means are the same as if you
    had evaluated the whole run. Queries that are in no part count as missing. leadline rejects FILES if two
    of them contain the same query of the same run, or if they differ in their runs, judgments, measures or
    options.

    Example: leadline merge part-1.parquet part-2.parquet --name bm25 -o all.parquet

    Options
    -------
    files...
    --name NAME | Selection
        Name of the merged run, needed if its parts have different names. With --name, each file must
        contain only one run.
    use per-query
    -C scores.queries all/both
    -o | figures heat-map/box/violin/line/means
    """
    from leadline.scale.saved_files import merge_files

    results = merge_files(files, queries=queries, name=name)
    options = {"per_query": per_query}
    outputs.write("merge", View(results, shown=options, json=options), lambda: results.inputs)
