"""Documents that are part of a sample for certain: the first of a baseline run."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from leadline.errors import UsageError
from leadline.formats import Repair, RunLike, read_run
from leadline.qrels import Qrels


class Certain(NamedTuple):
    """The documents taken for certain: by query code, those not of positive grade; and the depth."""

    documents: list[frozenset[bytes]]
    depth: int


def certain_documents(given: Any, qrels: Qrels, repair: Repair) -> Certain | None:
    """Return the first K documents of a baseline run that have no positive grade, by query.

    Parameters
    ----------
    given : tuple of (run, int), str or None
        The run, in any form that runs are read from, and K; or "RUN:K" with the path of the run.
    qrels : Qrels
        The judgments; queries that they lack are left out.
    repair : Repair
        How the run is read.

    Returns
    -------
    Certain or None
        None where nothing is given.

    """
    if given is None:
        return None
    source, depth = split(given)
    run = read_run(
        source, order=repair.order, on_duplicate=repair.on_duplicate, on_nan=repair.on_nan
    )
    found: list[frozenset[bytes]] = [frozenset() for _ in qrels.queries]
    names = run.documents.names
    for place, code in enumerate(qrels.queries.encode(run.queries.names).tolist()):
        if code >= 0:
            low = int(run.offsets[place])
            high = min(int(run.offsets[place + 1]), low + depth)
            grades, judged = qrels.grades, qrels.lookup[code]
            found[code] = frozenset(
                names[item]
                for item in run.document[low:high].tolist()
                if (row := judged.get(names[item])) is None or not grades[row] > 0
            )
    return Certain(found, depth)


def split(given: Any) -> tuple[RunLike, int]:
    """Split RUN:K into the run and K.

    Examples
    --------
    >>> split("bm25.run:50")
    ('bm25.run', 50)

    """
    expected = "expected RUN:K, the first K documents of RUN, as in bm25.run:50"
    if isinstance(given, (str, os.PathLike)):
        path, _, depth = os.fspath(given).rpartition(":")
        if not path or not (depth.isascii() and depth.isdigit()) or not int(depth):
            raise UsageError(f"certain '{os.fspath(given)}'; {expected}")
        return path, int(depth)
    if isinstance(given, tuple) and len(given) == 2:
        source, depth = given
        if isinstance(depth, (int, np.integer)) and not isinstance(depth, bool) and depth > 0:
            return source, int(depth)
    raise UsageError(f"certain={given!r:.60}; {expected}, or a pair of a run and K")


def drawn_beside(certain: Certain | None, sample: int | None) -> int | None:
    """Return how many documents of a sample are drawn, once K of them are taken for certain."""
    if certain is None or sample is None:
        return sample
    if sample <= certain.depth:
        raise UsageError(
            f"sample={sample} with the first {certain.depth} documents of a run for certain; expected "
            f"more than {certain.depth}: half for certain and half drawn, as in {2 * certain.depth}"
        )
    return sample - certain.depth
