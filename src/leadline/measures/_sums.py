"""Sums over ranks that no list reaches, in blocks, so that a large cutoff costs no memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from leadline.arrays import Floats

BLOCK = 1 << 20


def added_to(cutoff: int, term: Callable[[Floats], Floats]) -> float:
    """Add up the terms of ranks 1..cutoff, one after the other, until they no longer matter."""
    total = 0.0
    for low in range(1, cutoff + 1, BLOCK):
        ranks = np.arange(low, min(low + BLOCK, cutoff + 1), dtype=np.float64)
        part = float(np.cumsum(term(ranks))[-1])
        if total + part == total:
            break
        total += part
    return total
