"""Simulated pooling of the runs themselves, from judgments that contain all relevant documents."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from leadline.data.ids import to_text
from leadline.data.qrels import Qrels
from leadline.data.reading import Reading
from leadline.data.validation import check_whole
from leadline.errors import InputError
from leadline.evaluation.join import each_run
from leadline.io.read import read_qrels


def pooled_judgments(qrels: Qrels, runs: Any, depth: int) -> Qrels:
    """Return judgments of the top `depth` documents of all runs, as if only these had been judged.

    Parameters
    ----------
    qrels
        Judgments that list every relevant document.
    runs
        The runs that make the pool of each query.
    depth
        How many documents of each run.

    Returns
    -------
    Qrels
        The documents of the pool with their grade in `qrels`, or 0. Queries without a judgment in `qrels`
        are left out; a query whose pool holds no relevant document stays, with grades of 0.

    Raises
    ------
    InputError
        No query of the runs is judged.

    Examples
    --------
    >>> truth = read_qrels({"q": {"a": 1, "b": 1}})
    >>> pooled_judgments(truth, {"x": {"q": ["a", "c", "b"]}}, 2).to_dict()
    {'q': {'a': 1, 'c': 0}}
    """
    check_whole(1, pool=depth)
    grades = qrels.to_dict()
    pooled: dict[str, dict[str, float]] = {}
    for _, run in each_run(runs, Reading()):
        names = run.documents.names
        for query, (low, high) in zip(run.queries.names, pairwise(run.offsets.tolist()), strict=True):
            known = grades.get(to_text(query))
            if known is not None:
                retrieved = map(to_text, (names[code] for code in run.document[low : min(high, low + depth)]))
                pooled.setdefault(to_text(query), {}).update(
                    (document, known.get(document, 0)) for document in retrieved
                )
    if not pooled:
        raise InputError("no query of the runs is judged", path=qrels.source, expected="the same ids")
    return read_qrels(pooled)
