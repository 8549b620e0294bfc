"""A good and a bad list of one query, and the topics that they hold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.estimators.methods.deshato import DeShaTo, cumulate
from leadline.estimators.pool import Pool
from leadline.estimators.systems import Systems
from leadline.qrels import Qrels
from leadline.topics import Vectors

DEPTH = 30


class Listed(NamedTuple):
    """A list: how many of its first documents are relevant, DeShaTo's score, its terms and vectors.

    `vectors` are the sum, the minimum and the product of its topic vectors, of any scale.
    """

    kind: str
    query: str
    run: str
    relevant: int
    documents: int
    score: float
    terms: dict[str, float]
    vectors: list[Floats]

    def __str__(self) -> str:
        return (
            f"{self.kind} list ({self.run}): {self.relevant} of {self.documents} relevant, "
            f"score {self.score:.0f}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data, the vectors left out."""
        return {name: value for name, value in self._asdict().items() if name != "vectors"}


def good_and_bad(
    table: Qrels, systems: Systems, vectors: Vectors, *, level: float = 1.0
) -> list[Listed]:
    """Give the lists of one query with most and fewest relevant documents among their first 30.

    It is the query where these are furthest apart, among lists with so many documents and vectors for all;
    nothing where no query has two such lists. DeShaTo has no part in the choice.
    """
    aligned = systems.align(vectors.ids, vectors.theta)
    alone = np.arange(len(systems.infos), dtype=np.int32)
    judged = table.to_dict()
    found: list[Listed] = []
    most = 0
    for place, query in enumerate(systems.queries):
        pool = systems.pool(place, alone, topics=aligned).first(DEPTH)
        assert pool.row is not None
        full = pool.total((pool.row[pool.document] >= 0).astype(np.float64)) == DEPTH
        grades = judged.get(query, {})
        names = systems.first_documents(place, DEPTH)  # in the order of the codes of the pool
        good = np.array([grades.get(name, 0) >= level for name in names], dtype=np.float64)
        hits = pool.total(good[np.unique(pool.document, return_inverse=True)[1]])
        counts = np.where(full, hits, np.nan)
        if full.any() and np.nanmax(counts) - np.nanmin(counts) > most:
            most = int(np.nanmax(counts) - np.nanmin(counts))
            ends = {"good": int(np.nanargmax(counts)), "bad": int(np.nanargmin(counts))}
            found = _listed(systems, query, pool, hits.astype(np.int64), ends)
    return found


def _listed(
    systems: Systems, query: str, pool: Pool, hits: Integers, ends: dict[str, int]
) -> list[Listed]:
    made, estimate = cumulate(pool), DeShaTo(depth=DEPTH).estimate(pool)
    return [
        Listed(
            kind, query, systems.infos[place].name, int(hits[place]), DEPTH,
            float(estimate.values[place]),
            {name: float(values[place]) for name, values in estimate.terms.items()},
            [made.total[place], made.least[place], made.product[place]],
        )
        for kind, place in ends.items()
    ]  # fmt: skip
