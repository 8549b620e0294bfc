"""Read TREC qrels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leadline.data.qrels import Qrels
from leadline.data.reading import Reading
from leadline.errors import InputError
from leadline.io import swapped_arguments
from leadline.io.opening import Chunk, read_whole
from leadline.io.trec_lists import CompiledLists, PlainLists, TrecLists, as_fields, qrels_of_lists
from leadline.kernels import plain

if TYPE_CHECKING:
    from leadline.io.tables import OutputTable


def read(path: str, *, subtopics: bool = False, whole: Chunk | None = None, sure: bool = False) -> Qrels:
    """Read a qrels file; refuses a document that is judged twice for one query.

    `subtopics` reads the second column: then a document is judged once for each subtopic. `whole` is the text
    where it is read already. A ranking of four columns is refused unless `sure`.
    """
    window = whole or read_whole(path)
    if subtopics:
        return _by_subtopic(window)
    lists: TrecLists | None = CompiledLists.scan(window, 1, run=False)
    if lists is None or not np.isfinite(lists.scores).all():
        lists = _plain_lists(window)
    if not lists.queries:
        raise InputError("contains no judgments", expected=plain.QRELS_COLUMNS, path=path)
    lists.group()
    qrels = qrels_of_lists(lists, path)
    if not sure and swapped_arguments.is_ranking(qrels.documents, lists.bounds):
        text = window.text[: window.end].tobytes()
        swapped_arguments.refuse_ranking(qrels.documents, lists.bounds, text, path)
    if qrels.duplicate is not None:
        _refuse_repeat(window)
    return qrels


def _by_subtopic(window: Chunk) -> Qrels:
    try:
        found = plain.scan_subtopics(window.text[: window.end].tobytes(), 1)
    except InputError as error:
        raise error.at(window.path) from None
    if not found:
        raise InputError("contains no judgments", expected=plain.QRELS_COLUMNS, path=window.path)
    return Qrels.of_subtopics(found, source=window.path)


def _plain_lists(window: Chunk) -> PlainLists:
    try:
        return PlainLists(plain.scan_qrels(window.text[: window.end].tobytes(), 1))
    except InputError as error:
        raise error.at(window.path) from None


def _refuse_repeat(window: Chunk) -> None:
    """Refuse a document that is judged twice, with the lines."""
    lists = _plain_lists(window)
    lists.group()
    try:
        lists.resolve_duplicates(Reading(), action="is judged")
    except InputError as error:
        raise error.at(window.path) from None


def write(table: OutputTable) -> bytes:
    """Write qrels; the second column is the subtopic, or 0; there is no place for a probability."""
    lines: list[bytes] = []
    second = 4 if table.columns[3:4] not in {(), ("probability",)} else 3
    for query, document, grade, *more in table.rows:
        code, name, *column = as_fields(query, document, *more[: second - 3])
        lines.append(b"%b %b %b %b\n" % (code, *(column or [b"0"]), name, repr(grade).encode()))
    return b"".join(lines)
