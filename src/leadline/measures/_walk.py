"""What measures share in which a user goes from rank to rank with a probability (C/W/L)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.measures._graded import OTHER_NAMES, gains_below
from leadline.naming import Refused

DEEPEST = 100_000  # ranks are columns of a matrix here
CELLS = 1 << 20


class _Walk(Measure):
    """Gain per document that a user looks at; gains are grade / max_grade.

    `depth` is the last rank that the user may reach.
    """

    refused: ClassVar[Refused] = OTHER_NAMES

    max_grade: float

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        if self.last > DEEPEST:
            raise UsageError(
                f"rank {self.last} in {type(self).__name__}; expected {DEEPEST} or less"
            )

    @property
    def last(self) -> int:
        """Give the last rank that the user may reach."""
        raise NotImplementedError

    def going_on(self, rank: Floats, gain: Floats) -> Floats:
        """Give the probability to go on to the next rank: queries x ranks, from the gains."""
        raise NotImplementedError

    def values(self, judged: Judged) -> Floats:
        """Give the value of every query."""
        query, rank, grade = gains_below(self, judged, self.max_grade)
        kept = rank <= self.last
        query, rank, grade = query[kept], rank[kept], grade[kept]
        size = len(judged.present)
        values = np.empty(size)
        step = max(1, CELLS // self.last)
        for low in range(0, size, step):
            part = slice(*np.searchsorted(query, [low, low + step]))
            gain = np.zeros((min(step, size - low), self.last))
            gain[query[part] - low, rank[part] - 1] = grade[part] / self.max_grade
            values[low : low + step] = self._per_document(gain)
        return values

    def _per_document(self, gain: Floats) -> Floats:
        looked = np.ones_like(gain)
        ranks = np.arange(1.0, self.last)
        looked[:, 1:] = np.cumprod(self.going_on(ranks, gain)[:, : self.last - 1], axis=1)
        whole = np.cumsum(looked, axis=1)[:, -1]
        return np.asarray(np.cumsum(looked * gain, axis=1)[:, -1] / whole, dtype=np.float64)
