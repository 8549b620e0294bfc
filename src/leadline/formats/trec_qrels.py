"""Read TREC qrels."""

from __future__ import annotations

import numpy as np

from leadline.errors import InputError
from leadline.formats.opening import Window, read_whole
from leadline.formats.trec_lists import CompiledLists, PlainLists, Repair, TrecLists
from leadline.kernels import plain
from leadline.qrels import Qrels
from leadline.vocabulary import Vocabulary


def read(path: str) -> Qrels:
    """Read a qrels file; refuses a document that is judged twice for one query."""
    window = read_whole(path)
    lists: TrecLists | None = CompiledLists.scan(window, 1, run=False)
    if lists is None:
        lists = _plain_lists(window)
    if not lists.queries:
        raise InputError("holds no judgments", expected=plain.QRELS_COLUMNS, path=path)
    lists.group()
    queries = Vocabulary.of_bytes(lists.queries)
    order = np.argsort(queries.encode(lists.queries))
    qrels = Qrels(
        queries,
        lists.bounds[:-1][order],
        lists.bounds[1:][order],
        lists.ids(),
        lists.scores,
        hashes=lists.hashes,
        source=path,
    )
    if qrels.repeated is not None:
        _refuse_repeat(window)
    return qrels


def _plain_lists(window: Window) -> PlainLists:
    try:
        return PlainLists(plain.scan_qrels(window.text[: window.end].tobytes(), 1))
    except InputError as error:
        raise error.at(window.path) from None


def _refuse_repeat(window: Window) -> None:
    """Say at which lines a document is judged twice."""
    lists = _plain_lists(window)
    lists.group()
    try:
        lists.settle(Repair(), verb="is judged")
    except InputError as error:
        raise error.at(window.path) from None
