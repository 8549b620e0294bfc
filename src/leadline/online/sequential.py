"""A test that stays right however often one looks: the mixture sequential probability ratio test."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.errors import UsageError
from leadline.online.proportions import Share
from leadline.statistics import checked_level

FIRST_LOOK = (
    20  # clicks of both arms together, and users who did not click; before that nothing is said
)
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


def looks(
    arm: Integers, clicked: Floats, *, effect: float = EXPECTED, confidence: float = 0.95
) -> Looks:
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
    return Looks(
        np.arange(1, len(arm) + 1), difference, low, high, np.minimum.accumulate(p) if len(p) else p
    )


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
        low, high = (
            np.where(np.isfinite(half), difference + side * half, side * np.inf) for side in (-1, 1)
        )
    return difference, low, high, p
