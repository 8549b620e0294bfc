"""Whether the arms got the shares of users that were planned."""

from __future__ import annotations

import math
from typing import NamedTuple

from leadline.online.planning import checked_fraction

SUSPECT = 0.001  # p below which something is wrong with the assignment or the log
DOUBTFUL = 0.05  # p below which the shares are not clearly those that were planned


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

    @property
    def verdict(self) -> str:
        """Return whether the shares are as planned: not at p below 0.001, not clearly at p below 0.05.

        >>> [Split(0.5, 0.5, 0.0, p).verdict for p in (0.2, 0.009, 0.0001)]
        ['as planned', 'not clearly as planned', 'not as planned']
        """
        if self.suspect:
            return "not as planned"
        return "not clearly as planned" if self.p < DOUBTFUL else "as planned"


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
