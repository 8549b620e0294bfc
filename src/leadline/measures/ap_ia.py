"""Intent-aware average precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import over
from leadline.measures._diversity import _Diversity
from leadline.naming import Spellings, number


class AP_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Average precision for each subtopic alone, averaged over the subtopics of the query.

    A subtopic that no judged document covers does not count. Needs `--subtopics`. Undefined when
    no document is relevant to a subtopic.

    >>> AP_IA().of_subtopics(["a", "ab", "b"])  # a: 1; b: (1/2 + 2/3) / 2
    0.7916666666666666
    """

    title = "intent-aware average precision"
    formula = "mean over subtopics of AP with the documents of the subtopic as the relevant ones"
    source = "Agrawal et al. 2009; ndeval MAP-IA"
    spellings: ClassVar[Spellings] = {"MAP_IA": {}, "MAP-IA": {}, "AP-IA": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        table = self.table(judged)
        found = self.covered(judged, self.rel)
        keys, count = self.pairs(judged, self.rel)
        place = np.searchsorted(keys, table.keys(found.query, found.code))
        query = table.queries_of(keys)
        added = np.bincount(place, found.nth / found.rank, minlength=len(keys))
        value = over(judged.total(query, added / count), judged.total(query))
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only
