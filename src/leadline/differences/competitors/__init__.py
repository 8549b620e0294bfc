"""What else says how alike two systems are: one file each, found by looking; `COMPETITORS` has them.

They look at ranks (`Ranked`) and not at judgments, and are shown beside id.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.differences.ranked import Ranked
from leadline.naming import Named, Room


class Competitor(Named):
    """A likeness of two lists of one query; larger is more alike."""

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

    def values(self, ranked: Ranked) -> Floats:
        """Give systems x systems; NaN where it is undefined."""
        raise NotImplementedError

    def of(self, first: Sequence[str], second: Sequence[str]) -> float:
        """Give the value of two lists of documents, best first."""
        return float(self.values(Ranked.of([first, second]))[0, 1])


def common(ranked: Ranked, cutoff: int | None) -> Floats:
    """Give systems x systems: how many documents two lists share at ranks up to the cutoff."""
    place = ranked.orders.place
    held = place >= 0 if cutoff is None else (place >= 0) & (place < cutoff)
    held = held.astype(np.float32)  # counts are exact up to 2**24
    shared: Floats = (held @ held.T).astype(np.float64)
    return shared


COMPETITORS: Room[Competitor] = Room(sys.modules[__name__], Competitor, "competitor")
