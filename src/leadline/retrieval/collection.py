"""Statistics of a test collection, and ids that do not match between its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.data.ids import to_bytes
from leadline.data.table import Column, ResultWarning, Table, columns_of, plain, printed_table, raised
from leadline.data.wording import first_few, percent
from leadline.errors import InputError
from leadline.io.objects import read_qrels
from leadline.io.read import QrelsLike
from leadline.io.read_paths import path_of, public
from leadline.io.run_names import unread_files
from leadline.io.texts import TextsLike, read_documents, read_queries
from leadline.result import Result
from leadline.text import ANALYSES, Analysis


@dataclass
class Collection(Result):
    """Statistics of a test collection.

    Attributes
    ----------
    documents : int
        Number of documents.
    empty_documents : int
        Number of documents without terms.
    size : int
        Size of the texts in bytes (UTF-8).
    mean_terms : float
        Mean number of terms of a document, stop words left out.
    queries : int
        Number of queries.
    mean_query_terms : float
        Mean number of terms of a query.
    judged_queries : int
        Number of queries with judgments.
    judgments : int
        Number of judgments.
    mean_judgments : float
        Mean number of judgments of a judged query.
    mean_relevant : float
        Mean number of relevant documents (grade 1 or more) of a judged query.
    relevant : int
        Number of relevant documents (grade 1 or more) over all queries.
    relevant_held : int
        Number of those that the collection contains.
    coverage : float
        Collection coverage, relevant_held / relevant, which bounds the recall of every system.
    grades : dict of str to int
        Number of judgments of each grade.
    unknown_documents : int
        Number of judged documents that are not in the collection.
    unknown_queries : int
        Number of judged queries that are not among the queries.
    unjudged_queries : int
        Number of queries without judgments.
    """

    documents: int
    empty_documents: int
    size: int
    mean_terms: float
    queries: int
    mean_query_terms: float
    judged_queries: int
    judgments: int
    mean_judgments: float
    mean_relevant: float
    relevant: int
    relevant_held: int
    coverage: float
    grades: dict[str, int]
    unknown_documents: int
    unknown_queries: int
    unjudged_queries: int

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data; None is undefined."""
        return {
            name: plain(value) if isinstance(value, float) else value
            for name in type(self).__annotations__
            for value in [getattr(self, name)]
        }

    def _columns(self) -> list[Column]:
        """Return the numbers as one row; `grade_1` counts the judgments of grade 1."""
        numbers = {name: value for name, value in self.to_dict().items() if name != "grades"}
        numbers |= {f"grade_{grade}": count for grade, count in self.grades.items()}
        return columns_of(list(numbers), [list(numbers.values())])

    def _tables(self) -> list[Table]:
        share = f" ({percent(round(self.coverage, 4))})" if self.relevant else ""
        rows = [
            ("documents", f"{self.documents:,}"),
            ("  without terms", f"{self.empty_documents:,}"),
            ("  text size", f"{self.size / 1e6:.1f} MB"),
            ("  terms per document", f"{self.mean_terms:.1f}"),
            ("queries", f"{self.queries:,}"),
            ("  terms per query", f"{self.mean_query_terms:.1f}"),
            ("  with judgments", f"{self.judged_queries:,}"),
            ("judgments", f"{self.judgments:,}"),
            ("  per judged query", f"{self.mean_judgments:.1f}"),
            ("  relevant per judged query", f"{self.mean_relevant:.1f}"),
            *((f"  with grade {grade}", f"{count:,}") for grade, count in self.grades.items()),
            ("collection coverage", f"{self.relevant_held:,} of {self.relevant:,} relevant{share}"),
        ]
        return [printed_table(columns_of(("collection", "number"), rows), notes=self._notes())]


@public
def collection(
    documents: TextsLike,
    queries: TextsLike,
    qrels: QrelsLike,
    *,
    analysis: str | Analysis = "Words",
    encoding: str = "utf-8",
    on_document: Callable[[int, int], None] | None = None,
) -> Collection:
    """Return statistics of a test collection, and the ids by which its files do not match.

    Terms are those of the analysis, without stop words. `mean_judgments` and `mean_relevant` (grade 1 or
    more) are over the queries with judgments.

    >>> found = collection({"d1": "two wings"}, {"q1": "wings"}, {"q1": {"d1": 1, "d9": 0}})
    >>> found.documents, found.judgments, found.unknown_documents
    (1, 2, 1)
    """
    how = analysis if isinstance(analysis, Analysis) else ANALYSES.parse(analysis)
    ids, sizes, lengths, files = set(), 0, [], set()
    for read, document in enumerate(read_documents(documents, encoding=encoding), start=1):
        ids.add(document.id)
        files.add(getattr(document.place, "path", ""))
        sizes += len(document.content.encode("utf-8", "surrogatepass"))
        lengths.append(len(how.terms(document.content)))
        if on_document is not None and read % 1000 == 0:
            on_document(read, 0)
    if not ids:
        raise InputError("no documents found", path=path_of(documents))
    topics = {query.id: query.content for query in read_queries(queries, encoding=encoding)}
    table = read_qrels(qrels)
    judged = table.to_dict()
    grades = np.array([grade for grades_of in judged.values() for grade in grades_of.values()])
    levels, counts = np.unique(grades, return_counts=True)
    unknown = {document for grades_of in judged.values() for document in grades_of} - ids
    relevant = [name for of in judged.values() for name, grade in of.items() if grade >= 1]
    held = sum(name in ids for name in relevant)
    strangers = judged.keys() - topics.keys()
    unjudged = topics.keys() - judged.keys()
    words = "the judgments are only a sample, so there may be more relevant documents than counted"
    sample = "sample", words, len(table.grades) * table.is_partial
    return Collection(
        documents=len(ids),
        empty_documents=lengths.count(0),
        size=sizes,
        mean_terms=_mean(sum(lengths), len(ids)),
        queries=len(topics),
        mean_query_terms=_mean(sum(len(how.terms(text)) for text in topics.values()), len(topics)),
        judged_queries=len(judged),
        judgments=len(grades),
        mean_judgments=_mean(len(grades), len(judged)),
        mean_relevant=_mean(len(relevant), len(judged)),
        relevant=len(relevant),
        relevant_held=held,
        coverage=_mean(held, len(relevant)),
        grades={f"{grade:g}": count for grade, count in zip(levels.tolist(), counts.tolist(), strict=True)},
        unknown_documents=len(unknown),
        unknown_queries=len(strangers),
        unjudged_queries=len(unjudged),
        warnings=[
            *raised(*table.remarks, sample, unread_files(documents, files)),
            *_warnings(unknown, set(strangers), set(unjudged)),
        ],
    )


@dataclass(frozen=True)
class CorpusCoverage:
    """Coverage of a test collection by a corpus; `queries` are (query, relevant, held), worst first."""

    documents: int
    judged: int
    judged_held: int
    relevant: int
    held: int
    queries: list[tuple[str, int, int]]

    @property
    def share(self) -> float:
        """Fraction of the relevant documents that the corpus contains."""
        return _mean(self.held, self.relevant)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        rows = [dict(zip(("query", "relevant", "held"), row, strict=True)) for row in self.queries]
        return vars(self) | {"share": plain(self.share), "queries": rows}


def holdings(documents: TextsLike, qrels: QrelsLike) -> CorpusCoverage:
    """Count the judged and the relevant documents that a corpus contains.

    The fraction of relevant documents bounds the recall of every system on this corpus. `documents` are texts
    or an index.

    >>> found = holdings({"d1": "wings"}, {"q1": {"d1": 1, "d9": 1}, "q2": {"d1": 0, "d8": 1}})
    >>> found.share, found.queries
    (0.3333333333333333, [('q2', 1, 0), ('q1', 2, 1)])
    """
    ids = set(ids_of(documents))
    if not ids:
        raise InputError("no documents found", path=path_of(documents))
    table = read_qrels(qrels)
    inside = np.array([name in ids for name in table.documents], dtype=np.bool_)
    judged, relevant_rows = table.grades >= 0, table.grades >= 1
    relevant, held = table.count(relevant_rows).tolist(), table.count(relevant_rows & inside).tolist()
    rows = [row for row in zip(table.queries, relevant, held, strict=True) if row[1]]
    rows.sort(key=lambda row: (row[2] / row[1], row[2] - row[1]))
    return CorpusCoverage(
        len(ids), int(judged.sum()), int((judged & inside).sum()), sum(relevant), sum(held), rows
    )


def ids_of(documents: TextsLike) -> Iterator[bytes]:
    """Return the ids of documents: of a file, of an index, or in memory."""
    from leadline.retrieval.index import open_index
    from leadline.retrieval.index.index_files import holds_index

    if isinstance(documents, (str, os.PathLike)) and holds_index(documents):
        return iter(open_index(documents).ids)
    return (to_bytes(document.id) for document in read_documents(documents))


def _mean(total: int, count: int) -> float:
    return total / count if count else float("nan")


def _warnings(unknown: set[str], strangers: set[str], unjudged: set[str]) -> list[ResultWarning]:
    facts = (
        ("unknown_documents", "judged documents not in the collection", unknown),
        ("unknown_queries", "judged queries without a text", strangers),
        ("unjudged_queries", "queries without judgments", unjudged),
    )
    return raised(
        *(
            (code, f"{message}: {len(names):,} ({first_few(sorted(names))})", len(names))
            for code, message, names in facts
        )
    )
