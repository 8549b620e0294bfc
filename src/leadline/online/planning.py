"""Sample size of an A/B test, and assignment of users to arms."""

from __future__ import annotations

import hashlib
import math
from statistics import NormalDist

from leadline.errors import UsageError
from leadline.stats import checked_level, checked_power

ARMS = ("control", "variant")


def arm_of(user: str, *, fraction: float, salt: str) -> str:
    """Return the arm of a user: the variant for about a proportion `fraction` of all users.

    A user sees the variant if the first 64 bits of BLAKE2b of salt and user, as a number from 0 to 1, are
    below `fraction`. A larger fraction keeps all users who already see the variant, and another salt (one per
    experiment) assigns users independently.

    >>> arm_of("ann", fraction=0.5, salt="new snippets"), arm_of("ann", fraction=0.5, salt="new snippets")
    ('variant', 'variant')
    """
    checked_fraction(fraction)
    key = salt.encode("utf-8", "surrogateescape") + b"\0" + user.encode("utf-8", "surrogateescape")
    number = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
    return ARMS[number < fraction * 2.0**64]


NORMAL = NormalDist()


def effect_size(a: float, b: float) -> float:
    """Return Cohen's h of two proportions: 2 asin(sqrt(b)) - 2 asin(sqrt(a)), with stable variance.

    Source: Cohen 1988, chapter 6.

    >>> round(effect_size(0.05, 0.055), 4)
    0.0224
    """
    for value in (a, b):
        if not 0 <= value <= 1:
            raise UsageError(f"clickthrough must be a proportion from 0 to 1, not {value!r}")
    return 2 * (math.asin(math.sqrt(b)) - math.asin(math.sqrt(a)))


def power(a: float, b: float, users: tuple[float, float], *, confidence: float = 0.95) -> float:
    """Return the power of a two-sided test of two proportions with these numbers of users.

    >>> round(power(0.05, 0.055, (31_218, 31_218)), 3)
    0.8
    """
    critical = NORMAL.inv_cdf((1 + checked_level(confidence)) / 2)
    shift = abs(effect_size(a, b)) / math.sqrt(1 / users[0] + 1 / users[1])
    return NORMAL.cdf(shift - critical) + NORMAL.cdf(-shift - critical)


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
            f"a lift of {lift!r} does not work with a clickthrough of {rate!r}. With the lift, the "
            "clickthrough must be different and from 0 to 1."
        )
    checked_fraction(fraction)
    ratio = _reach(power_wanted, confidence) / effect
    total = ratio * ratio / (fraction * (1 - fraction))
    return math.ceil(total * (1 - fraction)), math.ceil(total * fraction)


def users_for_difference(
    rates: tuple[float, float], difference: float, *, power_wanted: float = 0.8, confidence: float = 0.95
) -> int:
    """Return the users of each arm needed to detect a difference of clickthrough, up or down.

    >>> users_for_difference((0.04, 0.05), 0.005)  # as a lift of a tenth over 0.05
    31218
    """
    low, high = rates
    rate = min(max(0.5, low), high)
    if not 0 < difference < 1:
        raise UsageError(
            f"the smallest difference must be above 0 and below 1, such as 0.005, not {difference!r}"
        )
    ends = [end for end in (rate - difference, rate + difference) if 0 <= end <= 1]
    if not ends:
        raise UsageError(
            f"a smallest difference of {difference!r} is too large, because the clickthrough of A may be "
            f"{rate:.3g}, and that of B would be below 0 or above 1. Pass a smaller difference."
        )
    quantiles = _reach(power_wanted, confidence)
    return math.ceil(2 * max((quantiles / effect_size(rate, end)) ** 2 for end in ends))


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

    if not 0 < difference < math.inf:
        raise UsageError(f"the smallest difference must be a number above 0, not {difference!r}")
    upper = sum(
        variance * (number - 1) / float(chdtri(number - 1, checked_level(confidence)))
        for variance, number in zip(variances, users, strict=True)
    )
    return math.ceil((_reach(power_wanted, confidence) / difference) ** 2 * upper)


def detectable(
    rate: float, users: tuple[float, float], *, power_wanted: float = 0.8, confidence: float = 0.95
) -> float:
    """Return the smallest increase of a clickthrough detectable with this power.

    In units of clickthrough; NaN if even a clickthrough of 1 would not be detected.

    >>> round(detectable(0.05, (31_218, 31_218)), 5)
    0.005
    """
    distance = _reach(power_wanted, confidence) * math.sqrt(1 / users[0] + 1 / users[1])
    angle = math.asin(math.sqrt(rate)) + distance / 2
    return math.sin(angle) ** 2 - rate if angle < math.pi / 2 else math.nan


def checked_fraction(fraction: float, name: str = "fraction") -> float:
    """Return a proportion of users in B; raise UsageError if it is out of range."""
    if not 0 < fraction < 1:
        raise UsageError(f"{name} must be a proportion above 0 and below 1, not {fraction!r}")
    return float(fraction)


def _reach(power_wanted: float, confidence: float) -> float:
    reach = NORMAL.inv_cdf(checked_power(power_wanted))
    return NORMAL.inv_cdf((1 + checked_level(confidence)) / 2) + reach
