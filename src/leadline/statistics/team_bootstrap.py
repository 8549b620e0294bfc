"""Intervals where observations come in teams: whole teams are drawn again, not single systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.errors import UsageError


def draws_of_teams(teams: Sequence[str], *, samples: int, seed: int = 0) -> Iterator[Integers]:
    """Give, draw by draw, how often each system is in: its team's number of draws with replacement.

    Systems of one team are not independent, so that single-system intervals are too narrow.

    >>> next(draws_of_teams(["a", "a", "b"], samples=1)).tolist()
    [0, 0, 2]
    """
    _, member = np.unique(np.asarray(teams, dtype=object).astype(str), return_inverse=True)
    size = int(member.max(initial=-1)) + 1
    dice = np.random.default_rng(seed)
    for _ in range(samples):
        drawn = np.bincount(dice.integers(0, size, size), minlength=size)
        yield drawn[member]


def interval(values: Sequence[float] | Floats, level: float = 0.95) -> tuple[float, float]:
    """Give the percentile interval of the defined values; NaN without any."""
    if not 0 < level < 1:
        raise UsageError(f"level={level}; expected between 0 and 1")
    found = np.asarray(values, dtype=np.float64)
    found = found[~np.isnan(found)]
    if not len(found):
        return float("nan"), float("nan")
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def team_interval(
    statistic: Callable[[Integers], float],
    teams: Sequence[str],
    *,
    samples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Give the interval of a statistic of the number of times that each system was drawn."""
    drawn = draws_of_teams(teams, samples=samples, seed=seed)
    return interval([statistic(times) for times in drawn], level)
