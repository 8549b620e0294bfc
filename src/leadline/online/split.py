"""Whether the arms got the shares of users that were planned."""

from __future__ import annotations

import math
from typing import NamedTuple

from leadline.online.planning import checked_fraction

SUSPECT = 0.001  # p below which something is wrong with the assignment or the log


class Split(NamedTuple):
    """The share of B that was planned and that was seen, chi-square with one degree of freedom, and p."""

    planned: float
    seen: float
    chi_square: float
    p: float

    @property
    def suspect(self) -> bool:
        """Say whether chance hardly explains the difference."""
        return self.p < SUSPECT


def split(users: tuple[int, int], planned: float) -> Split:
    """Test the numbers of users of A and B against the planned share of B.

    An arm that lost users (a crash, a slow page, bots filtered on one side) is not comparable: clickthrough
    must then not be read at all.

    Source: Fabijan et al. 2019, sample ratio mismatch.

    >>> round(split((10_000, 10_300), 0.5).p, 3)
    0.035
    """
    checked_fraction(planned)
    whole = sum(users)
    expected = (whole * (1 - planned), whole * planned)
    chi = sum((seen - want) ** 2 / want for seen, want in zip(users, expected, strict=True))
    return Split(planned, users[1] / whole, chi, math.erfc(math.sqrt(chi / 2)))
