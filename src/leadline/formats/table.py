"""What is written: runs and qrels as rows of (query, document, number) with the names of the columns."""

from __future__ import annotations

from typing import Any, NamedTuple

from leadline.qrels import Qrels
from leadline.run import Run
from leadline.vocabulary import to_text

RUN_COLUMNS = ("query_id", "doc_id", "score")
QRELS_COLUMNS = ("query_id", "doc_id", "relevance")


class Table(NamedTuple):
    """Rows by query, best first in a run; `suffix` is that of the file they go to.

    Qrels may have more columns: the subtopic, the probability to be judged.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    suffix: str = ""
    tag: str = ""


def of_run(run: Run) -> Table:
    """Lay a run out."""
    bounds = run.offsets.tolist()
    documents, names = run.document.tolist(), list(run.documents)
    scores = run.scores.tolist()
    rows: list[tuple[Any, ...]] = [
        (query, names[documents[row]], scores[row])
        for place, query in enumerate(run.queries)
        for row in range(bounds[place], bounds[place + 1])
    ]
    return Table(RUN_COLUMNS, rows, tag=run.tag or run.name)


def of_qrels(qrels: Qrels) -> Table:
    """Lay qrels out; whole grades are whole numbers."""
    made = _judgments(qrels)
    shares = qrels.shares()
    if shares is None:
        return made
    rows = [(*row, shares[row[0]].get(row[1])) for row in made.rows]
    return made._replace(columns=(*made.columns, "probability"), rows=rows)


def _judgments(qrels: Qrels) -> Table:
    by_subtopic = qrels.by_subtopic()
    if by_subtopic is not None:
        rows: list[tuple[Any, ...]] = [
            (query, document, grade, subtopic)
            for query, found in by_subtopic.items()
            for subtopic, documents in found.items()
            for document, grade in documents.items()
        ]
        return Table((*QRELS_COLUMNS, "subtopic"), rows)
    names = list(qrels.queries)
    grades = [int(grade) if grade == int(grade) else grade for grade in qrels.grades.tolist()]
    begin, end = qrels.begin.tolist(), qrels.end.tolist()
    documents = [to_text(name) for name in qrels.documents]
    judged: list[tuple[Any, ...]] = [
        (names[code], documents[row], grades[row])
        for code in range(len(names))
        for row in range(begin[code], end[code])
    ]
    return Table(QRELS_COLUMNS, judged)
