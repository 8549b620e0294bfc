"""Tell a run that stands where judgments are expected, so that swapped arguments are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.qrels import QrelsColumns
from leadline.data.run import RunColumns
from leadline.errors import InputError
from leadline.io import row_columns
from leadline.kernels import plain

HINT = (
    "Judgments usually come before runs (QRELS RUN...). To treat the input as judgments anyway, use "
    "`--config read.kind=qrels`"
)
LARGEST_GRADE = 10
ONE_DIGIT = rb"-?[0-9]"
MANY_LEVELS = 7  # scores with as many different values are no grades
HEAD = 1 << 16  # bytes that show whether a text is a ranking
FEW = 10  # fewer grades than these say nothing about their kind


def refuse_columns(names: Iterable[str], path: str, *, listed: bool = False) -> None:
    """Refuse a table with a column that only runs have, or ranked lists.

    >>> refuse_columns(["query_id", "doc_id", "relevance"], "qrels.csv")
    """
    found = row_columns.run_column(names, row_columns.RANK[:1])
    if found is not None:
        what = "contains ranked lists" if listed else f"has a column '{found}'"
        raise InputError(f"{what}, as a run does", path=path, hint=HINT)


def refuse_scores(qrels: QrelsColumns, path: str) -> None:
    """Refuse grades that are scores: mostly distinct fractions, some negative or above 10."""
    odd = qrels.grades[(qrels.grades < 0) | (qrels.grades > LARGEST_GRADE)]
    if len(odd) and mostly_fractions(qrels.grades, qrels.query):
        raise InputError(f"contains grades such as {odd[0]:g}, which look like scores", path=path, hint=HINT)


def mostly_fractions(grades: Floats, query: Codes) -> bool:
    """Return whether more than half of the grades are fractions that no other document of the query has.

    >>> one = np.zeros(3, dtype=np.int32)
    >>> mostly_fractions(np.array([0.5, 0.25, 1.0]), one), mostly_fractions(np.array([0.5, 0.5, 1.0]), one)
    (True, False)
    """
    fractions = grades != np.floor(grades)
    order = np.lexsort((grades[fractions], query[fractions]))
    values, owner = grades[fractions][order], query[fractions][order]
    same = (values[1:] == values[:-1]) & (owner[1:] == owner[:-1])
    return 2 * (len(values) - int(same.sum())) > len(grades)


def refuse_swapped(qrels: QrelsColumns, run: RunColumns) -> None:
    """Refuse judgments whose grades look like scores beside a run whose scores look like grades.

    >>> qrels = QrelsColumns.of([("q", "a", 1), ("q", "b", 0)])
    >>> refuse_swapped(qrels, RunColumns.of([("q", "a", 0.9), ("q", "b", 0.4)]))
    """
    if like_scores(qrels) and _like_grades(run):
        grades = qrels.grades
        odd = (grades != np.floor(grades)) | (grades < 0) | (grades > LARGEST_GRADE)
        raise InputError(
            f"grades such as {grades[odd][0]:g} look like scores, and scores in {run.name} such as "
            f"{run.scores[0]:g} look like grades",
            path=qrels.source,
            hint=row_columns.ORDER,
        )


def like_scores(qrels: QrelsColumns) -> bool:
    """Return whether most grades are alone in their query, and fractions, or some negative or above 10.

    >>> like_scores(QrelsColumns.of([("q", "a", 0.9), ("q", "b", 0.4)]))
    True
    """
    if qrels.levels.dtype.itemsize == 1:  # small whole numbers
        return False
    if mostly_fractions(qrels.grades, qrels.query):
        return True
    odd = (qrels.grades < 0) | (qrels.grades > LARGEST_GRADE)
    if len(odd) < FEW or 2 * np.count_nonzero(odd) < len(odd):
        return False
    return mostly_fractions(qrels.grades + 0.5, qrels.query)  # all are fractions now: are they distinct?


def _like_grades(run: RunColumns) -> bool:
    """Return whether scores are few whole numbers as grades are, with ties, or 0 and 1 only."""
    scores = run.scores
    if not len(scores) or scores.max() > LARGEST_GRADE or (scores != np.floor(scores)).any():
        return False
    if len(np.unique(scores)) >= MANY_LEVELS:
        return False
    query = np.repeat(np.arange(len(run.queries)), np.diff(run.offsets))
    different = len(np.unique(np.stack([query, scores]), axis=1).T)
    return different < len(scores) or bool(np.isin(scores, (0.0, 1.0)).all())


def refuse_runs(source: Any, path: str = "qrels") -> None:
    """Refuse runs where judgments are expected: a dictionary of runs by name, or a list of runs.

    >>> refuse_runs({"q1": {"d1": 1}})
    """
    each = source.values() if isinstance(source, Mapping) else source if isinstance(source, list) else ()
    first = next(iter(each), None)
    inner = next(iter(first.values()), None) if isinstance(first, Mapping) else None
    if isinstance(first, RunColumns) or isinstance(inner, Mapping):
        raise InputError(
            "these look like runs or judgments by subtopic, not plain judgments",
            hint=f"{row_columns.ORDER}. For judgments by subtopic, use --config read.subtopics",
            path=path,
        )


def remarks_on(qrels: QrelsColumns) -> tuple[tuple[str, str, int], ...]:
    """Return a remark on grades that may be scores although they are no larger than grades are."""
    whole = qrels.levels.dtype.itemsize == 1  # small whole numbers
    if whole or len(qrels.grades) < FEW or not mostly_fractions(qrels.grades, qrels.query):
        return ()
    count = int(np.count_nonzero(qrels.grades != np.floor(qrels.grades)))
    words = f"judgments whose grades look like scores: {count:,}. Did you pass a run as judgments?"
    return (("grades_like_scores", words, count),)


def refuse_ranking(text: bytes, path: str) -> None:
    """Refuse four columns that are a ranking (see `is_ranking`) if column 2, the document, differs."""
    if not _second_is_constant(text):
        raise InputError(
            "column 3 contains the ranks 1, 2, ... for every query, as in a run", path=path, hint=HINT
        )


def begins_ranking(text: bytes) -> bool:
    """Return whether the first lines of a text are a ranking: query, document, rank, score."""
    head = text[: text.find(b"\n", HEAD) + 1 or None]
    rows = [plain.fields_of(line) for _, line in plain.data_lines(head)]
    if {*map(len, rows)} != {4} or len({row[1] for row in rows}) == 1:
        return False
    bounds = np.cumsum([0, *(len([*each]) for _, each in groupby(rows, key=itemgetter(0)))])
    return is_ranking([row[2] for row in rows], bounds)


def refuse_other_columns(qrels: QrelsColumns, text: bytes, path: str) -> None:
    """Refuse columns in the order query, document, grade, iteration, as `ir_datasets export` writes them."""
    if not _second_is_constant(text):
        relevant = any(name.isdigit() and name != b"0" for name in qrels.documents)
        order = (
            "If the columns are query, document, grade and iteration, use "
            "`--config read.qrels_columns=query_id,doc_id,grade,iteration`"
        )
        raise InputError(
            f"column 3 contains only one-digit numbers, such as '{qrels.documents[0].decode()}', and column "
            "4 contains only zeros, but qrels need document ids in column 3 and grades in column 4",
            path=path,
            hint=order if relevant else "",
        )


def has_grades_for_documents(qrels: QrelsColumns) -> bool:
    """Return whether all grades are 0 and all documents are one-digit numbers, as grades in column 3 are.

    >>> has_grades_for_documents(QrelsColumns.of([("q1", "2", 0), ("q2", "0", 0)]))
    True
    >>> has_grades_for_documents(QrelsColumns.of([("q1", "2", 0), ("q2", "d7", 0)]))
    False
    """
    return not qrels.levels.any() and all(re.fullmatch(ONE_DIGIT, name) for name in qrels.documents)


def is_ranking(ids: Sequence[bytes], bounds: Integers) -> bool:
    """Return whether the ids of every query are 1..n.

    >>> is_ranking([b"1", b"2", b"1"], np.array([0, 2, 3])), is_ranking([b"1", b"3"], np.array([0, 2]))
    (True, False)
    """
    if not len(ids) or not ids[0].isdigit():
        return False
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        names = {ids[row] for row in range(low, high)}
        if any(b"%d" % rank not in names for rank in range(1, high - low + 1)):
            return False
    return True


def _second_is_constant(text: bytes) -> bool:
    first = None
    for _, fields in plain.qrels_fields(text, 1):
        first = first or fields[1]
        if fields[1] != first:
            return False
    return True
