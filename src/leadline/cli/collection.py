"""`leadline collection`: statistics of a test collection."""

from __future__ import annotations

from leadline.cli._inputs import analysis_of
from leadline.cli._outputs import Outputs, describe_input, progress
from leadline.render import View

SECTION = "Files and collections"


def command(
    docs: str,
    queries: str,
    qrels: str,
    *,
    language: str | None,
    analysis: str | None,
    encoding: str,
    outputs: Outputs,
) -> None:
    """Describe a test collection.

    The table shows the number of documents and queries (topics), their mean lengths in terms, the judgments
    per query, and the grades. Notes below the table report ids that do not match between the files.

    Example: leadline collection docs.jsonl queries.jsonl qrels.txt

    Options
    -------
    docs
    queries
    qrels
    use analysis
    -C read.encoding
    -o
    """
    from leadline.retrieval.collection import collection

    analysis = analysis_of(language, analysis)
    with progress("documents") as on_document:
        result = collection(
            docs, queries, qrels, analysis=analysis, encoding=encoding, on_document=on_document
        )
    sizes = ((docs, result.documents), (queries, result.queries), (qrels, result.judgments))
    options = {"analysis": analysis, "encoding": encoding}
    view = View(result, lines="*")
    outputs.write("collection", view, lambda: [describe_input(path, rows) for path, rows in sizes], options)
