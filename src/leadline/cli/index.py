"""`leadline index`: index a document collection."""

from __future__ import annotations

import time
from typing import Any

from leadline.cli._inputs import analysis_of
from leadline.cli._outputs import Outputs, progress
from leadline.data.table import Table

SECTION = "Retrieval"


def command(
    *, docs: str, outputs: Outputs, language: str | None, analysis: str | None, **options: Any
) -> None:
    """Index a document collection.

    DOCS is JSON Lines (doc_id, title, text), JSON, CSV, TSV, Parquet, TREC text or SMART, plain or
    compressed, or a folder of text files (.txt, .md, .rst, .html). Title and text are indexed as one field.
    Other columns are stored and shown in search results. The index is a folder, and its index.json records
    how it was made. If leadline rejects an index made by an earlier version, rebuild the index.

    Example: leadline index docs.jsonl -o docs.index --language english

    Options
    -------
    docs
    --overwrite | Output | flag
        Replace INDEX if it exists.
    use analysis
    --keep FILE:COLUMN>=NUMBER
        Index only documents whose value in a table column meets a condition, such as
        "spam.tsv:percentile>=60". Documents missing from the table are left out.
    --store-text | flag
        Store the texts in the index, for summaries and for `leadline judge`.
    use texts
    -C index.positions, index.prefix
    -o | thing INDEX
    """
    from leadline.retrieval.index.builder import build_index

    analysis_ = analysis_of(language, analysis)
    output = str(outputs.thing)
    began = time.perf_counter()
    with progress("documents") as on_document:
        index = build_index(docs, output, analysis=analysis_, on_document=on_document, **options)
    data: dict[str, Any] = {
        "documents": index.documents,
        "tokens": index.tokens,
        "terms": index.terms,
        "analysis": analysis_,
        "bytes": index.size,
        "seconds": time.perf_counter() - began,
    }
    shown = {name: data[name] for name in ("documents", "tokens", "terms", "analysis")}
    shown |= {"size": f"{index.size / 1e6:.1f} MB", "time": f"{data['seconds']:.1f} s"}
    table = Table(["fact", "value"], [list(row) for row in shown.items()], wrapped=frozenset({"value"}))
    recorded = {"output": output, "analysis": analysis_} | options
    inputs = [(docs, index.documents)]
    outputs.write_facts("index", table, data, inputs, recorded, warnings=index.warnings)
