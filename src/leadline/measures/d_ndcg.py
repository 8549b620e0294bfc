"""nDCG of the gain for all intents together."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Codes, Floats, Integers
from leadline.judged import Judged
from leadline.measures import finite, over
from leadline.measures._diversity import _Diversity
from leadline.naming import Spellings, cutoff


class D_nDCG(_Diversity):  # noqa: N801  # the field's spelling
    """nDCG in which the gain of a document is the mean of its grades over the subtopics.

    All subtopics weigh the same; negative grades give 0. The ideal list is ordered by that gain.
    Needs `--subtopics`. Undefined when no document has a gain.

    >>> round(D_nDCG(cutoff=2).of_subtopics(["a", "ab", "b"]), 4)  # 1 + 2/1.585 of 2 + 1/1.585
    0.8597
    """

    title = "D-nDCG"
    formula = (
        "DCG@k / DCG@k of the documents ordered by gain, gain = sum of the grades over subtopics"
    )
    source = "Sakai and Song 2011; NTCIREVAL"
    spellings: ClassVar[Spellings] = {"D-nDCG": {}}

    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return over(*global_gains(self, judged, self.cutoff))


def global_gains(measure: _Diversity, judged: Judged, cutoff: int | None) -> tuple[Floats, Floats]:
    """Give the DCG of the list and of the ideal list, from the grades over all subtopics."""
    table, qrels = measure.table(judged), judged.qrels
    with np.errstate(over="ignore"):
        gain: Floats = np.bincount(
            table.row, np.maximum(table.grades, 0.0), minlength=len(qrels)
        ).astype(np.float64)
    rows = np.lexsort((-gain, qrels.query))
    query = qrels.query[rows]
    ranks = np.arange(1, len(rows) + 1) - np.searchsorted(query, query)
    return (
        finite(measure, _added(judged, judged.query, judged.rank, gain[judged.row], cutoff)),
        finite(measure, _added(judged, query, ranks, gain[rows], cutoff)),
    )


def _added(
    judged: Judged, query: Codes, rank: Codes | Integers, gain: Floats, cutoff: int | None
) -> Floats:
    kept = gain > 0
    if cutoff is not None:
        kept &= rank <= cutoff
    return judged.total(query[kept], gain[kept] / np.log2(rank[kept] + 1.0))
