"""Judgments listed as positives only, made complete on request."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from leadline.errors import UsageError
from leadline.qrels import Qrels
from leadline.vocabulary import Ids, to_bytes


def complete(qrels: Qrels, docids: Iterable[str]) -> Qrels:
    """Give qrels in which every document of `docids` is judged for every query, 0 where it was not.

    For collections that were judged exhaustively and list only what is relevant. Nothing calls this by
    itself: it is wrong where documents were left unjudged.

    >>> from leadline import read_qrels
    >>> complete(read_qrels({"q1": {"d1": 1}}), ["d1", "d2"]).to_dict()
    {'q1': {'d1': 1, 'd2': 0}}
    """
    documents = sorted({to_bytes(name) for name in docids})
    if not documents:
        raise UsageError("complete() without documents; expected the ids of the collection")
    names: list[bytes] = []
    grades: list[float] = []
    bounds = [0]
    listed = list(qrels.documents)
    for low, high in zip(qrels.begin.tolist(), qrels.end.tolist(), strict=True):
        judged = set(listed[low:high])
        names += listed[low:high]
        grades += qrels.grades[low:high].tolist()
        rest = [name for name in documents if name not in judged]
        names += rest
        grades += [0.0] * len(rest)
        bounds.append(len(names))
    ends = np.array(bounds, dtype=np.int64)
    return Qrels(
        qrels.queries, ends[:-1].copy(), ends[1:].copy(), Ids.of(names),
        np.array(grades, dtype=np.float64), source=qrels.source,
    )  # fmt: skip
