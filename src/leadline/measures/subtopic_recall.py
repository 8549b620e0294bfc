"""Subtopic recall."""

from __future__ import annotations

from typing import ClassVar

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import over
from leadline.measures._diversity import _Diversity
from leadline.naming import Spellings, cutoff, number


class StRecall(_Diversity):
    """Share of the subtopics of the query that the first k documents cover.

    A subtopic that no judged document covers does not count. Needs `--subtopics`. Undefined when
    no document is relevant to a subtopic.

    >>> StRecall(cutoff=2).of_subtopics(["a", "ab", "c", "d"])  # a and b of a, b, c, d
    0.5
    """

    title = "subtopic recall"
    formula = "subtopics of the documents at ranks 1..k / subtopics of the judged documents"
    source = "Zhai et al. 2003; ndeval strec; NTCIREVAL I-rec"
    spellings: ClassVar[Spellings] = {"strec": {}, "I-rec": {}, "subtopic_recall": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        return over(judged.total(found.query[found.nth == 1]), self.size(judged, self.rel))
