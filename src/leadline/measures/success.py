"""Success."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure, found
from leadline.naming import Alone, Spellings, needed_cutoff, number


class Success(Measure):
    """1 when any of the first k documents is relevant, else 0.

    sentence-transformers and BEIR call it accuracy: `accuracy@k` and `cosine_accuracy@k` are read as
    Success@k, while `Accuracy` (with a capital letter, or without a cutoff) is that of pairs.

    >>> Success(cutoff=1).of([0, 1]), Success(cutoff=2).of([0, 1])
    (0.0, 1.0)
    """

    title = "success at k"
    formula = "1 if a relevant document is at ranks 1..k, else 0"
    source = "trec_eval success; also called hit rate"
    spellings: ClassVar[Spellings] = {"success": {}, "hit_rate": {}, "hit": {}}
    cut_spellings: ClassVar[Spellings] = {"accuracy": {}, "top_k_accuracy": {}}
    alone: ClassVar[Alone] = {"success": (1, 5, 10)}

    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        return (found(judged, judged.hits(self.rel), self.cutoff) > 0).astype(np.float64)
