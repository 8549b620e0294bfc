"""The numbers of a test collection as a table."""

from __future__ import annotations

from leadline.reporting.render import Cell, Table
from leadline.retrieval.collection import Collection


def collection_table(found: Collection) -> Table:
    """Lay the numbers down, one a row."""
    rows: list[list[Cell]] = [
        ["documents", f"{found.documents:,}"],
        ["  without a term", f"{found.empty_documents:,}"],
        ["  size of the text", f"{found.size / 1e6:.1f} MB"],
        ["  terms per document", f"{found.mean_terms:.1f}"],
        ["queries", f"{found.queries:,}"],
        ["  terms per query", f"{found.mean_query_terms:.1f}"],
        ["  with judgments", f"{found.judged_queries:,}"],
        ["judgments", f"{found.judgments:,}"],
        ["  per judged query", f"{found.mean_judgments:.1f}"],
        ["  relevant per judged query", f"{found.mean_relevant:.1f}"],
    ]
    rows += [[f"  of grade {grade}", f"{count:,}"] for grade, count in found.grades.items()]
    notes = list(map(str, found.warnings))
    return Table(["of the collection", "number"], rows, notes=notes)
