"""Normalised discounted cumulative gain."""

from __future__ import annotations

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, over
from leadline.measures.discounted_gain import discounted
from leadline.naming import choice, cutoff


class nDCG(Measure):  # noqa: N801  # the field's spelling
    """DCG divided by the DCG of the ideal order of all judged documents; 1 is the best possible list.

    `discount=jk` and `gain=exp` as for DCG. The lecture's tables are `discount=jk`; their ideal holds the
    five retrieved gains only, which there are all the judged ones.

    >>> round(nDCG(cutoff=4).of([1, 0.6, 0, 0.8, 0, 1]), 4)
    0.6843
    >>> round(nDCG(discount="jk", cutoff=4).of([1, 0.6, 0, 0.8, 0, 1, 0.2]), 2)
    0.71
    """

    title = "normalised discounted cumulative gain"
    formula = "DCG@k / DCG@k of all judged documents ordered by grade"
    source = "lecture, 'Normalized Discounted Cumulative Gain'; Jarvelin and Kekalainen 2002"
    spellings = {"ndcg": {}, "ndcg_cut": {}, "ndcg_burges": {"gain": "exp"}}

    gain: str = choice("linear", "exp")
    discount: str = choice("log2", "jk")
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        query, rank, grade = judged.gains
        ideal = judged.qrels.ideal
        return over(
            discounted(judged, query, rank, grade, self),
            discounted(judged, ideal.query, ideal.rank, ideal.gain, self),
        )
