"""`leadline score`: score given pairs of query and document by retrieval models."""

from __future__ import annotations

from typing import Any

from leadline.cli._outputs import Outputs, progress
from leadline.cli.search import search_table, seconds_of, write_runs

SECTION = "Retrieval"


def command(
    *,
    index: str,
    queries: str,
    pairs: str,
    models: tuple[str, ...],
    outputs: Outputs,
    feedback: str | None,
    **reading: Any,
) -> None:
    """Score query-document pairs with a retrieval model.

    PAIRS is a qrels file, a run, or a table with the columns query_id and doc_id. Only these pairs are
    scored, and their scores are the same as in `leadline search`. Pairs with score 0 are also in the run.
    Pairs whose query has no text or whose document is not indexed are left out, and notes say how many. With
    several models, RUN is a folder with one run per model.

    Example: leadline score docs.index queries.jsonl pairs.tsv -m BM25 -o bm25.run

    Options
    -------
    index
    queries
    pairs
    -m, --model MODEL as models | MODEL | many | required
        Retrieval model, such as BM25(k1=0.9,b=0.4) (repeatable). `leadline models` lists all models.
    use feedback, texts
    -o | thing RUN
    """
    from leadline.io.id_lists import read_pairs
    from leadline.io.texts import read_queries
    from leadline.retrieval.index import open_index
    from leadline.retrieval.search import score

    query_texts, requested = read_queries(queries, **reading), read_pairs(pairs)
    opened_index = open_index(index)
    with progress("queries") as on_query:
        runs = score(opened_index, query_texts, requested, models, feedback=feedback, on_query=on_query)
    options = {"models": list(runs), "output": outputs.thing, "feedback": feedback} | reading
    inputs = [(index, opened_index.documents), (queries, len(query_texts)), (pairs, len(requested))]
    paths = write_runs(runs, outputs.thing)
    data = {
        "models": list(runs),
        "runs": paths,
        "seconds": seconds_of(runs),
        "pairs": len(next(iter(runs.values())).scores),
    }
    table = search_table(runs, paths)
    outputs.write_facts("score", table, data, inputs, options, warnings=runs.warnings)
