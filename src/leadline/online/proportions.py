"""Two proportions: tests, intervals, sample ratio mismatch, sequential tests, and sample sizes."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.wording import in_code
from leadline.errors import UsageError
from leadline.stats import checked_level, checked_power

NORMAL = NormalDist()
FEWEST = 5  # expected users in a cell of the table, below which the normal curve is not trusted
MOST = 2_000_000_000  # users of an arm; the exact test multiplies two such numbers in 64 bits


class Limits(NamedTuple):
    """A number with the limits of its interval; NaN without one."""

    value: float
    low: float = math.nan
    high: float = math.nan


class Proportion(NamedTuple):
    """A proportion: numbers of clicks and of users."""

    clicks: int
    users: int

    @property
    def rate(self) -> float:
        """The proportion."""
        return self.clicks / self.users


def proportion_of(clicks: int, users: int, *, what: str = "") -> Proportion:
    """Return a proportion; raise UsageError for invalid counts.

    >>> proportion_of(46, 10_000).rate
    0.0046
    """
    for name, value in (("clicks", clicks), ("users", users)):
        if isinstance(value, bool) or value != int(value) or value < 0:
            raise UsageError(f"{what}{name} must be a whole number of at least 0, not {in_code(value)}")
    if users < 1:
        raise UsageError(f"{what}users must be at least 1, not 0")
    if users > MOST:
        raise UsageError(f"{what}at most {MOST:,} users are supported, not {users:,}")
    if clicks > users:
        raise UsageError(
            f"{what}there are more clicks ({clicks:,}) than users ({users:,}). Pass the number of users who "
            "clicked."
        )
    return Proportion(int(clicks), int(users))


def pooled_z(a: Proportion, b: Proportion) -> float:
    """Return z of the difference b - a with the pooled standard error; NaN for no clicks or all.

    z = (p_b - p_a) / sqrt(p (1 - p) (1/n_a + 1/n_b)), with p the pooled proportion.

    >>> round(pooled_z(Proportion(46, 10_000), Proportion(69, 10_000)), 3)
    2.151
    """
    pooled = (a.clicks + b.clicks) / (a.users + b.users)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / a.users + 1 / b.users))
    return (b.rate - a.rate) / spread if spread else math.nan


def two_sided(z: float) -> float:
    """Return the two-sided p of z."""
    return math.erfc(abs(z) / math.sqrt(2))


def fisher_p(a: Proportion, b: Proportion) -> float:
    """Return the two-sided p of Fisher's exact test: the probability of tables that are no likelier."""
    from scipy.stats import fisher_exact

    table = [[arm.clicks, arm.users - arm.clicks] for arm in (a, b)]
    return float(fisher_exact(table)[1])


def is_small(a: Proportion, b: Proportion) -> bool:
    """Return whether the expected number of users of a cell is below five.

    >>> is_small(Proportion(3, 100), Proportion(5, 100)), is_small(Proportion(30, 100), Proportion(50, 100))
    (True, False)
    """
    clicks, users = a.clicks + b.clicks, a.users + b.users
    return min(clicks, users - clicks) * min(a.users, b.users) < FEWEST * users


def wilson(proportion: Proportion, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion.

    Source: Wilson 1927; Newcombe 1998a, method 3.

    >>> [round(end, 4) for end in wilson(Proportion(46, 10_000))]
    [0.0035, 0.0061]
    """
    return score_limits(
        proportion.rate, proportion.users, NORMAL.inv_cdf((1 + checked_level(confidence)) / 2)
    )


def score_limits(rate: float, users: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's limits from a rate, a number of users (or an effective one), and a quantile."""
    weight = quantile * quantile / users
    half = quantile * math.sqrt(rate * (1 - rate) / users + weight / (4 * users))
    low, high = ((rate + weight / 2 + sign * half) / (1 + weight) for sign in (-1, 1))
    return (low if rate > 0 else 0.0), (high if rate < 1 else 1.0)


def newcombe(a: Proportion, b: Proportion, confidence: float = 0.95) -> tuple[float, float]:
    """Return Newcombe's hybrid score interval of the difference b - a, from the Wilson intervals.

    It stays within -1 and 1 and, unlike the normal interval, is valid for few clicks.

    Source: Newcombe 1998b, method 10.

    >>> [round(end, 4) for end in newcombe(Proportion(46, 10_000), Proportion(69, 10_000))]
    [0.0002, 0.0045]
    """
    return hybrid(*(Limits(arm.rate, *wilson(arm, confidence)) for arm in (a, b)))


def hybrid(a: Limits, b: Limits) -> tuple[float, float]:
    """Return the interval of the difference of two rates from the limits of each.

    d - sqrt((p_b - l_b)^2 + (u_a - p_a)^2) to d + sqrt((u_b - p_b)^2 + (p_a - l_a)^2).
    """
    (rate_a, low_a, high_a), (rate_b, low_b, high_b) = a, b
    difference = rate_b - rate_a
    low = difference - math.hypot(rate_b - low_b, high_a - rate_a)
    high = difference + math.hypot(high_b - rate_b, rate_a - low_a)
    return low, high


def lift(a: Proportion, b: Proportion, confidence: float = 0.95) -> Limits:
    """Return the lift p_b / p_a - 1, with the interval of the ratio from the Wilson intervals.

    There is no interval if fewer than five clicks are expected in an arm: in 20,000 simulations each, it
    would cover 87 to 100 %. With more, it covers 93 to 100 % for rates from 0.01 to 0.999, where that of the
    logarithm of the ratio covers as few as 40 % (50 and 1,000 users with a rate of 0.99).

    Source: Donner and Zou 2012, section 3.

    >>> [round(value, 3) for value in lift(Proportion(46, 10_000), Proportion(69, 10_000))]
    [0.5, 0.034, 1.172]
    """
    clicks, users = a.clicks + b.clicks, a.users + b.users
    if not a.clicks or clicks * min(a.users, b.users) < FEWEST * users:
        return Limits(b.rate / a.rate - 1 if a.clicks else math.nan)
    (low_a, high_a), (low_b, high_b) = wilson(a, confidence), wilson(b, confidence)
    product = a.rate * b.rate
    least, most = low_b * (2 * b.rate - low_b), high_b * (2 * b.rate - high_b)
    root = math.sqrt(product**2 - least * high_a * (2 * a.rate - high_a))
    low = least / (product + root) if b.clicks else 0.0
    divisor = low_a * (2 * a.rate - low_a)
    high = (product + math.sqrt(product**2 - most * divisor)) / divisor
    return Limits(b.rate / a.rate - 1, low - 1, high - 1)


SUSPECT = 0.001  # p below which something is wrong with the assignment or the log
DOUBTFUL = 0.05  # p below which the proportions are possibly not as planned


class SampleRatio(NamedTuple):
    """Test of the split of the users, from the planned and seen proportions of users in B."""

    planned: float
    seen: float
    chi_square: float
    p: float

    @property
    def suspect(self) -> bool:
        """Whether the difference is unlikely by chance."""
        return self.p < SUSPECT

    @property
    def verdict(self) -> str:
        """Whether the proportions are as planned: not at p below 0.001, possibly not below 0.05.

        >>> [SampleRatio(0.5, 0.5, 0.0, p).verdict for p in (0.2, 0.009, 0.0001)]
        ['as planned', 'possibly not as planned', 'not as planned']
        """
        if self.suspect:
            return "not as planned"
        return "possibly not as planned" if self.p < DOUBTFUL else "as planned"


def sample_ratio_test(users: tuple[int, int], planned: float) -> SampleRatio:
    """Test for sample ratio mismatch: the numbers of users against the planned proportion of B.

    An arm that lost users (crashes, slow pages, bots filtered on one side) is not comparable; the
    clickthrough must then not be interpreted. p is from the chi-square test, or from the exact binomial test
    if fewer than five users are expected in an arm.

    Source: Fabijan et al. 2019.

    >>> round(sample_ratio_test((10_000, 10_300), 0.5).p, 3)
    0.035
    """
    checked_fraction(planned, "planned")
    total = sum(users)
    expected = (total * (1 - planned), total * planned)
    chi = sum(
        (observed - planned_count) ** 2 / planned_count
        for observed, planned_count in zip(users, expected, strict=True)
    )
    p = math.erfc(math.sqrt(chi / 2))
    if min(expected) < FEWEST:
        from scipy.stats import binomtest

        p = float(binomtest(users[1], total, planned).pvalue)
    return SampleRatio(planned, users[1] / total, chi, p)


FIRST_LOOK = 20  # minimum number of clicks in both arms, and of users without a click
EXPECTED = 0.2  # of the clickthrough: the size of effects that the test is tuned to


class SequentialTest(NamedTuple):
    """Sequential test after every user: arrays by number of users so far.

    Before the first look, limits are infinite and p is 1.
    """

    users: Integers
    difference: Floats
    low: Floats
    high: Floats
    p: Floats


def sequential_test(
    arm: Integers, clicked: Floats, *, effect: float = EXPECTED, confidence: float = 0.95
) -> SequentialTest:
    """Test after every user by the mixture sequential probability ratio test (mSPRT).

    With d the difference, V = p (1 - p) (1/n_a + 1/n_b), p the pooled proportion, and t = `effect` p: the
    likelihood ratio of a normal effect with deviation t against no effect is sqrt(V / (V + t^2)) exp(t^2 d^2
    / (2 V (V + t^2))), and p is the smallest of its reciprocals so far. Stopping when it falls below alpha
    has a false positive rate of at most alpha, whenever one stops. The test is asymptotic (V is estimated),
    so that it starts at twenty clicks. The interval uses the larger of V and the sum of both arms' variances.
    `arm` is 0 for A, 1 for B, in order of arrival.

    Source: Johari, Koomen, Pekelis and Walsh 2022; Robbins 1970.

    >>> rng = np.random.default_rng(1)
    >>> arm = rng.integers(0, 2, 4000)
    >>> found = sequential_test(arm, (rng.random(4000) < 0.2 + 0.1 * arm).astype(float))
    >>> bool(found.p[-1] < 0.01)
    True
    """
    b = arm.astype(np.float64)
    users = np.stack([np.cumsum(1 - b), np.cumsum(b)])
    clicks = np.stack([np.cumsum(clicked * (1 - b)), np.cumsum(clicked * b)])
    difference, low, high, p = _measured(users, clicks, effect, confidence)
    return SequentialTest(
        np.arange(1, len(arm) + 1), difference, low, high, np.minimum.accumulate(p) if len(p) else p
    )


def single_look(
    a: Proportion, b: Proportion, *, effect: float = EXPECTED, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return p and interval of a single look at counts, always valid like any other look."""
    users = np.array([[a.users], [b.users]], dtype=np.float64)
    clicks = np.array([[a.clicks], [b.clicks]], dtype=np.float64)
    _, low, high, p = _measured(users, clicks, effect, confidence)
    return float(p[0]), float(low[0]), float(high[0])


def _measured(
    users: Floats, clicks: Floats, effect: float, confidence: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return difference, interval and p of each column: two arms x looks."""
    if not (math.isfinite(effect) and effect > 0):
        raise UsageError(
            "--config abtest.effect must be a number above 0 (a fraction of the clickthrough rate, such as "
            f"0.2), not {effect!r}"
        )
    alpha = 1 - checked_level(confidence)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rates = clicks / users
        pooled = clicks.sum(axis=0) / users.sum(axis=0)
        inverse = (1 / users).sum(axis=0)
        ready = (clicks.sum(axis=0) >= FIRST_LOOK) & np.isfinite(inverse)
        ready &= users.sum(axis=0) - clicks.sum(axis=0) >= FIRST_LOOK
        difference = rates[1] - rates[0]
        spread = pooled * (1 - pooled) * inverse
        tuned = (effect * pooled) ** 2
        log_ratio = 0.5 * np.log(spread / (spread + tuned)) + (
            tuned * difference**2 / (2 * spread * (spread + tuned))
        )
        p = np.where(ready, np.minimum(1.0, np.exp(-log_ratio)), 1.0)
        variance = np.maximum(spread, (rates * (1 - rates) / users).sum(axis=0))
        half = np.sqrt(
            2
            * variance
            * (variance + tuned)
            / tuned
            * (0.5 * np.log((variance + tuned) / variance) - math.log(alpha))
        )
        half = np.where(ready & (variance > 0), half, np.inf)
        low, high = (np.where(np.isfinite(half), difference + side * half, side * np.inf) for side in (-1, 1))
    return difference, low, high, p


def effect_size(a: float, b: float) -> float:
    """Return Cohen's h of two proportions: 2 asin(sqrt(b)) - 2 asin(sqrt(a)), with stable variance.

    Source: Cohen 1988, chapter 6.

    >>> round(effect_size(0.05, 0.055), 4)
    0.0224
    """
    for value in (a, b):
        if not 0 <= value <= 1:
            raise UsageError(f"the clickthrough rate must be a proportion from 0 to 1, not {value!r}")
    return 2 * (math.asin(math.sqrt(b)) - math.asin(math.sqrt(a)))


def users_needed(
    rate: float, lift: float, *, fraction: float = 0.5, power_wanted: float = 0.8, confidence: float = 0.95
) -> tuple[int, int]:
    """Return the users of A and of B needed to detect a lift of a clickthrough with this power.

    `lift` is relative (0.1: 10 %), `fraction` the proportion of users assigned to B.

    >>> users_needed(0.05, 0.1)
    (31218, 31218)
    """
    if not 0 < rate < 1:
        raise UsageError(f"the clickthrough rate must be above 0 and below 1, such as 0.05, not {rate!r}")
    lifted = rate * (1 + lift)
    effect = effect_size(rate, lifted) if 0 <= lifted <= 1 else 0.0
    if not effect:
        raise UsageError(
            f"a lift of {lift!r} turns a clickthrough rate of {rate!r} into {lifted:.12g}. The new "
            "rate must be between 0 and 1 and differ from the old one."
        )
    checked_fraction(fraction)
    ratio = reach(power_wanted, confidence) / effect
    total = ratio * ratio / (fraction * (1 - fraction))
    return math.ceil(total * (1 - fraction)), math.ceil(total * fraction)


def checked_difference(difference: float) -> float:
    """Return a smallest difference of interest; raise UsageError if it is out of range."""
    if not 0 < difference < 1:
        raise UsageError(
            f"the smallest difference must be above 0 and below 1, such as 0.005, not {difference!r}"
        )
    return difference


def users_for_difference(
    rates: tuple[float, float], difference: float, *, power_wanted: float = 0.8, confidence: float = 0.95
) -> int | None:
    """Return the users of each arm needed to detect a difference of clickthrough, up or down.

    The rate of A is that of the interval `rates` which is nearest to a half and from which the difference
    leads to a possible rate of B; None if there is no such rate.

    >>> users_for_difference((0.04, 0.05), 0.005)  # as a lift of a tenth over 0.05
    31218
    """
    low, high = rates
    quantiles = reach(power_wanted, confidence)
    for rate in (min(max(0.5, low), high), 1 - difference, difference):
        ends = [end for end in (rate - difference, rate + difference) if 0 <= end <= 1]
        if ends and low <= rate <= high:
            return math.ceil(2 * max((quantiles / effect_size(rate, end)) ** 2 for end in ends))
    return None


def users_for_variance(
    variances: tuple[float, float],
    users: tuple[int, int],
    difference: float,
    *,
    power_wanted: float = 0.8,
    confidence: float = 0.95,
) -> int:
    """Return the users of each arm needed to detect a difference of means with variances over users.

    Each variance is replaced by its upper confidence limit, from the chi-square distribution.

    >>> users_for_variance((0.25, 0.25), (2000, 2000), 0.05)  # 1,570 if the variances were known
    1655
    """
    from scipy.special import chdtri

    upper = sum(
        variance * (number - 1) / float(chdtri(number - 1, checked_level(confidence)))
        for variance, number in zip(variances, users, strict=True)
    )
    return math.ceil((reach(power_wanted, confidence) / difference) ** 2 * upper)


def detectable(
    rate: float, users: tuple[float, float], *, power_wanted: float = 0.8, confidence: float = 0.95
) -> float:
    """Return the smallest increase of a clickthrough detectable with this power.

    In units of clickthrough; NaN if even a clickthrough of 1 would not be detected.

    >>> round(detectable(0.05, (31_218, 31_218)), 5)
    0.005
    """
    distance = reach(power_wanted, confidence) * math.sqrt(1 / users[0] + 1 / users[1])
    angle = math.asin(math.sqrt(rate)) + distance / 2
    return math.sin(angle) ** 2 - rate if angle < math.pi / 2 else math.nan


def checked_fraction(fraction: float, name: str = "fraction") -> float:
    """Return a proportion of users in B; raise UsageError if it is out of range."""
    if not 0 < fraction < 1:
        raise UsageError(f"`--{name}` must be a proportion above 0 and below 1, not {fraction!r}")
    return float(fraction)


def reach(power_wanted: float, confidence: float) -> float:
    """Return the standard errors between 0 and a difference that is significant with this power.

    >>> round(reach(0.8, 0.95), 3)
    2.802
    """
    alpha = 1 - checked_level(confidence)
    if checked_power(power_wanted) <= alpha:
        raise UsageError(
            f"power must be above {alpha:.6g} (1 - confidence), such as 0.8, not {power_wanted!r}. Even "
            f"without a difference, the test is significant with probability {alpha:.6g}."
        )
    return NORMAL.inv_cdf((1 + confidence) / 2) + NORMAL.inv_cdf(power_wanted)
