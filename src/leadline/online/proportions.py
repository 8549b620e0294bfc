"""Two shares of users who clicked: difference, tests, intervals."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

from leadline.errors import UsageError
from leadline.statistics import checked_level

NORMAL = NormalDist()
FEWEST = 5  # expected users in a cell of the table, below which the normal curve is not trusted
MOST = 2_000_000_000  # users of an arm; the exact test multiplies two such numbers in 64 bits


class Share(NamedTuple):
    """How many of how many clicked."""

    clicks: int
    users: int

    @property
    def rate(self) -> float:
        """Give the clickthrough."""
        return self.clicks / self.users


def share(clicks: int, users: int, *, what: str = "") -> Share:
    """Check counts: whole numbers, one user or more, no more clicks than users.

    >>> share(46, 10_000).rate
    0.0046
    """
    for name, value in (("clicks", clicks), ("users", users)):
        if isinstance(value, bool) or value != int(value) or value < 0:
            raise UsageError(f"{what}{value} {name}; expected a whole number, 0 or more")
    if users < 1:
        raise UsageError(f"{what}0 users; expected one or more")
    if users > MOST:
        raise UsageError(f"{what}{users:,} users; expected no more than {MOST:,}")
    if clicks > users:
        raise UsageError(
            f"{what}{clicks:,} clicks of {users:,} users; expected users who clicked, each once: no more "
            "than users"
        )
    return Share(int(clicks), int(users))


def pooled_z(a: Share, b: Share) -> float:
    """Give z of the difference b - a with the pooled share in its standard error; NaN for no click or all.

    z = (p_b - p_a) / sqrt(p (1 - p) (1/n_a + 1/n_b)), p the share of both together.

    >>> round(pooled_z(Share(46, 10_000), Share(69, 10_000)), 3)
    2.151
    """
    together = (a.clicks + b.clicks) / (a.users + b.users)
    spread = math.sqrt(together * (1 - together) * (1 / a.users + 1 / b.users))
    return (b.rate - a.rate) / spread if spread else math.nan


def two_sided(z: float) -> float:
    """Give the two-sided p of z."""
    return math.erfc(abs(z) / math.sqrt(2))


def fisher_p(a: Share, b: Share) -> float:
    """Give the two-sided p of Fisher's exact test: the tables of these margins that are no likelier."""
    from scipy.stats import fisher_exact

    table = [[one.clicks, one.users - one.clicks] for one in (a, b)]
    return float(fisher_exact(table)[1])


def is_small(a: Share, b: Share) -> bool:
    """Say whether a cell of the table is expected to hold fewer than five users.

    >>> is_small(Share(3, 100), Share(5, 100)), is_small(Share(30, 100), Share(50, 100))
    (True, False)
    """
    clicks, users = a.clicks + b.clicks, a.users + b.users
    return min(clicks, users - clicks) * min(a.users, b.users) < FEWEST * users


def wilson(one: Share, confidence: float = 0.95) -> tuple[float, float]:
    """Give Wilson's score interval of a share.

    Source: Wilson 1927; Newcombe 1998a, method 3.

    >>> [round(end, 4) for end in wilson(Share(46, 10_000))]
    [0.0035, 0.0061]
    """
    z = NORMAL.inv_cdf((1 + checked_level(confidence)) / 2)
    n, p = one.users, one.rate
    middle = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((middle + sign * half) / (1 + z * z / n) for sign in (-1, 1))
    return (0.0 if one.clicks == 0 else low), (1.0 if one.clicks == n else high)


def newcombe(a: Share, b: Share, confidence: float = 0.95) -> tuple[float, float]:
    """Give the interval of the difference b - a from the Wilson intervals of both.

    d - sqrt((p_b - l_b)^2 + (u_a - p_a)^2) to d + sqrt((u_b - p_b)^2 + (p_a - l_a)^2): it stays inside -1 to
    1 and holds for few clicks, where d plus and minus two standard errors does not.

    Source: Newcombe 1998b, method 10.

    >>> [round(end, 4) for end in newcombe(Share(46, 10_000), Share(69, 10_000))]
    [0.0002, 0.0045]
    """
    (low_a, high_a), (low_b, high_b) = wilson(a, confidence), wilson(b, confidence)
    difference = b.rate - a.rate
    low = difference - math.hypot(b.rate - low_b, high_a - a.rate)
    high = difference + math.hypot(high_b - b.rate, a.rate - low_a)
    return low, high


def lift(a: Share, b: Share, confidence: float = 0.95) -> tuple[float, float, float]:
    """Give the lift p_b / p_a - 1 with its interval from the logarithm of the ratio; NaN without clicks.

    Source: Katz, Baptista, Azen and Pike 1978.

    >>> [round(value, 3) for value in lift(Share(46, 10_000), Share(69, 10_000))]
    [0.5, 0.034, 1.176]
    """
    if not a.clicks or not b.clicks:
        return (b.rate / a.rate - 1 if a.clicks else math.nan), math.nan, math.nan
    z = NORMAL.inv_cdf((1 + checked_level(confidence)) / 2)
    ratio = b.rate / a.rate
    spread = math.sqrt((1 - a.rate) / a.clicks + (1 - b.rate) / b.clicks)
    return ratio - 1, ratio * math.exp(-z * spread) - 1, ratio * math.exp(z * spread) - 1
