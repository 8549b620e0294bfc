"""Examples of lists with many and few relevant documents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.qrels import Qrels
from leadline.estimation.system_lists import RankedPool, Systems
from leadline.estimation.unjudged_methods import DeShaTo, cumulate
from leadline.topics.infer import Vectors

DEPTH = 30


class ExampleList(NamedTuple):
    """A ranked list with its number of relevant documents and DeShaTo's score.

    Attributes
    ----------
    kind : {"good", "bad"}
        Most or fewest relevant documents.
    query, run : str
        Names of query and run.
    relevant, documents : int
        Number of relevant documents among the first `documents`.
    score : float
        DeShaTo's score.
    terms : dict of str to float
        Terms of the score.
    vectors : list of ndarray
        Sum, minimum and product of the topic vectors, not normalised.
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
        """Return a dictionary of the fields without the vectors."""
        return {name: value for name, value in self._asdict().items() if name != "vectors"}


def best_and_worst_lists(
    table: Qrels, systems: Systems, vectors: Vectors, *, level: float = 1.0
) -> list[ExampleList]:
    """Return the lists of one query with most and fewest relevant documents at ranks 1 to 30.

    The query is the one with the largest difference, among lists of at least 30 documents that all have a
    topic vector. The result is empty if no query has two such lists. Scores of DeShaTo are not used.
    """
    aligned = systems.align(vectors.ids, vectors.theta)
    alone = np.arange(len(systems.infos), dtype=np.int32)
    judged = table.to_dict()
    examples: list[ExampleList] = []
    most = 0
    for index, query in enumerate(systems.queries):
        pool = systems.pool(index, alone, topics=aligned).first(DEPTH)
        assert pool.row is not None
        full = pool.total((pool.row[pool.document] >= 0).astype(np.float64)) == DEPTH
        grades = judged.get(query, {})
        names = systems.first_documents(index, DEPTH)  # in the order of the codes of the pool
        good = np.array([grades.get(name, 0) >= level for name in names], dtype=np.float64)
        hits = pool.total(good[np.unique(pool.document, return_inverse=True)[1]])
        counts = np.where(full, hits, np.nan)
        if full.any() and np.nanmax(counts) - np.nanmin(counts) > most:
            most = int(np.nanmax(counts) - np.nanmin(counts))
            ends = {"good": int(np.nanargmax(counts)), "bad": int(np.nanargmin(counts))}
            examples = _listed(systems, query, pool, hits.astype(np.int64), ends)
    return examples


def _listed(
    systems: Systems, query: str, pool: RankedPool, hits: Integers, ends: dict[str, int]
) -> list[ExampleList]:
    made, estimate = cumulate(pool), DeShaTo(depth=DEPTH).estimate(pool)
    return [
        ExampleList(
            kind,
            query,
            systems.infos[index].name,
            int(hits[index]),
            DEPTH,
            float(estimate.values[index]),
            {name: float(values[index]) for name, values in estimate.terms.items()},
            [made.total[index], made.least[index], made.product[index]],
        )
        for kind, index in ends.items()
    ]
