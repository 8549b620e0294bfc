"""Read TREC qrels."""

from __future__ import annotations

import numpy as np

from leadline.errors import InputError
from leadline.formats.opening import Window, read_whole
from leadline.formats.trec_lists import CompiledLists, PlainLists, TrecLists
from leadline.kernels import plain
from leadline.qrels import Qrels
from leadline.vocabulary import Vocabulary, to_text


def read(path: str) -> Qrels:
    """Read a qrels file; refuses a document that is judged twice for one query."""
    window = read_whole(path)
    lists = _lists(window)
    if not lists.queries:
        raise InputError("holds no judgments", expected=plain.QRELS_COLUMNS, path=path)
    lists.group()
    queries = Vocabulary.of_bytes(lists.queries)
    sizes = np.diff(lists.bounds)
    owner = np.repeat(queries.encode(lists.queries), sizes)
    order = np.argsort(owner, kind="stable")
    offsets = np.searchsorted(owner[order], np.arange(len(queries) + 1)).astype(np.int64)
    qrels = Qrels(queries, offsets, lists.ids().take(order), lists.scores[order], source=path)
    pair = qrels.repeated
    if pair is not None:
        first, again = sorted(int(order[row]) for row in pair)
        raise InputError(
            f"document '{to_text(qrels.documents[pair[0]])}' is judged twice for query "
            f"'{queries[int(qrels.query[pair[0]])]}' (first at line {lists.line(first)})",
            expected="each once",
            path=path,
            line=lists.line(again),
        )
    return qrels


def _lists(window: Window) -> TrecLists:
    found = CompiledLists.scan(window.text, window.end, 1, run=False, last=True)
    if found is not None:
        return found
    try:
        return PlainLists(plain.scan_qrels(window.text[: window.end].tobytes(), 1))
    except InputError as error:
        raise error.at(window.path) from None
