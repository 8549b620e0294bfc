"""Two proportions of users: tests, intervals, sample ratio, and sequential tests."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.errors import UsageError
from leadline.online.planning import checked_fraction
from leadline.stats import checked_level

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


FIRST_LOOK = 20  # clicks of both arms together, and users who did not click; before that nothing is said
EXPECTED = 0.2  # of the clickthrough: the size of effects that the test is tuned to


class Looks(NamedTuple):
    """The test after every user: users so far, difference b - a, its always-valid interval, p so far.

    Before the first look the difference may be undefined, the interval is infinite and p is 1.
    """

    users: Integers
    difference: Floats
    low: Floats
    high: Floats
    p: Floats


def looks(arm: Integers, clicked: Floats, *, effect: float = EXPECTED, confidence: float = 0.95) -> Looks:
    """Test after every user, in the order in which they came; `arm` is 0 for A, 1 for B.

    With d the difference, V = p (1 - p) (1/n_a + 1/n_b), p the share of both together, and t = `effect` p:
    the likelihood ratio of d with a normal effect of deviation t against none is
    sqrt(V / (V + t^2)) exp(t^2 d^2 / (2 V (V + t^2))), and p is the least of its reciprocals so far. Stopping
    when it falls below alpha errs in no more than alpha of tests without a difference, whenever one
    stops. It holds for many clicks (V is estimated), so that nothing is said before twenty. The interval
    takes the larger of V and the sum of both arms' own variances.

    Source: Johari, Koomen, Pekelis and Walsh 2022; Robbins 1970.

    >>> dice = np.random.default_rng(1)
    >>> arm = dice.integers(0, 2, 4000)
    >>> found = looks(arm, (dice.random(4000) < 0.2 + 0.1 * arm).astype(float))
    >>> bool(found.p[-1] < 0.01)
    True
    """
    b = arm.astype(np.float64)
    users = np.stack([np.cumsum(1 - b), np.cumsum(b)])
    clicks = np.stack([np.cumsum(clicked * (1 - b)), np.cumsum(clicked * b)])
    difference, low, high, p = _measured(users, clicks, effect, confidence)
    return Looks(np.arange(1, len(arm) + 1), difference, low, high, np.minimum.accumulate(p) if len(p) else p)


def one_look(
    a: Share, b: Share, *, effect: float = EXPECTED, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Give p and the interval of one look at counts, as valid as any other look."""
    users = np.array([[a.users], [b.users]], dtype=np.float64)
    clicks = np.array([[a.clicks], [b.clicks]], dtype=np.float64)
    _, low, high, p = _measured(users, clicks, effect, confidence)
    return float(p[0]), float(low[0]), float(high[0])


def _measured(
    users: Floats, clicks: Floats, effect: float, confidence: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Give difference, interval and p of each column: two arms x looks."""
    if not (math.isfinite(effect) and effect > 0):
        raise UsageError(f"effect {effect:g}; expected a share of the clickthrough above 0, as 0.2")
    alpha = 1 - checked_level(confidence)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rates = clicks / users
        together = clicks.sum(axis=0) / users.sum(axis=0)
        inverse = (1 / users).sum(axis=0)
        ready = (clicks.sum(axis=0) >= FIRST_LOOK) & np.isfinite(inverse)
        ready &= users.sum(axis=0) - clicks.sum(axis=0) >= FIRST_LOOK
        difference = rates[1] - rates[0]
        spread = together * (1 - together) * inverse
        tuned = (effect * together) ** 2
        log_ratio = 0.5 * np.log(spread / (spread + tuned)) + (
            tuned * difference**2 / (2 * spread * (spread + tuned))
        )
        p = np.where(ready, np.minimum(1.0, np.exp(-log_ratio)), 1.0)
        own = np.maximum(spread, (rates * (1 - rates) / users).sum(axis=0))
        half = np.sqrt(
            2 * own * (own + tuned) / tuned * (0.5 * np.log((own + tuned) / own) - math.log(alpha))
        )
        half = np.where(ready & (own > 0), half, np.inf)
        low, high = (np.where(np.isfinite(half), difference + side * half, side * np.inf) for side in (-1, 1))
    return difference, low, high, p
