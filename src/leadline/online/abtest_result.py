"""Result of an A/B test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from leadline.data.result import Result
from leadline.data.results import ResultWarning, plain
from leadline.online.proportions import SampleRatio, SequentialTest


class Arm(NamedTuple):
    """One arm: units (users, or rows if users are unknown), units with a click, rows and clicked rows.

    `rate` is the clickthrough that is compared, with Wilson's interval, or that of the delta method.
    """

    name: str
    units: int
    clicked: int
    rows: int
    clicks: int
    rate: float
    low: float
    high: float


class ArmDifference(NamedTuple):
    """The difference b - a with its interval, z, p and test, the p of both tests, and the lift."""

    difference: float
    low: float
    high: float
    z: float
    p: float
    test: str
    interval: str
    p_z: float
    p_exact: float
    lift: tuple[float, float, float]


class AlwaysValid(NamedTuple):
    """AlwaysValid-valid p and interval after all users, and the number of users when p fell below alpha."""

    p: float
    low: float
    high: float
    effect: float
    decided: int | None
    path: SequentialTest | None


class SampleSizes(NamedTuple):
    """Smallest detectable difference, and users per arm needed for the smallest relevant one."""

    power: float
    detectable: float
    users_needed: int | None


class ABTest(Result):
    """Comparison of two arms by clickthrough; `unit` is user or row, `metric` what is compared."""

    def __init__(
        self,
        arms: tuple[Arm, Arm],
        compared: ArmDifference,
        always: AlwaysValid,
        sizes: SampleSizes,
        *,
        split: SampleRatio | None,
        warnings: Sequence[ResultWarning],
        inputs: Sequence[tuple[str, int]],
        options: dict[str, Any],
    ) -> None:
        self.arms = arms
        self.compared = compared
        self.always = always
        self.sizes = sizes
        self.split = split
        self.warnings = list(warnings)
        self.inputs = list(inputs)
        self.options = options

    @property
    def unit(self) -> str:
        """Unit of analysis: user or row."""
        return str(self.options["unit"])

    @property
    def significant(self) -> bool:
        """Whether p is below 1 - confidence."""
        return bool(self.compared.p < 1 - self.options["confidence"])

    def __repr__(self) -> str:
        a, b = self.arms
        return (
            f"ABTest({a.name} {a.clicked}/{a.units}, {b.name} {b.clicked}/{b.units}, difference "
            f"{self.compared.difference:+.5f}, p {self.compared.p:.4f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; None is undefined or an infinite limit."""
        compared, always = self.compared, self.always
        value, low, high = map(plain, compared.lift)
        return {
            "unit": self.unit,
            "metric": self.options["metric"],
            "arms": [arm._asdict() | {"low": plain(arm.low), "high": plain(arm.high)} for arm in self.arms],
            "difference": plain(compared.difference),
            "z": plain(compared.z),
            "p": plain(compared.p),
            "low": plain(compared.low),
            "high": plain(compared.high),
            "test": compared.test,
            "interval": compared.interval,
            "p_z": plain(compared.p_z),
            "p_exact": plain(compared.p_exact),
            "lift": {"value": value, "low": low, "high": high},
            "always_valid": {
                "p": plain(always.p),
                "low": plain(always.low),
                "high": plain(always.high),
                "effect": always.effect,
                "looks": 1 if always.path is None else len(always.path.users),
                "decided": always.decided,
            },
            "power": {
                "wanted": self.sizes.power,
                "detectable": plain(self.sizes.detectable),
                "smallest": self.options["smallest"],
                "users_needed": self.sizes.users_needed,
            },
            "sample_ratio": None
            if self.split is None
            else self.split._asdict() | {"suspect": self.split.suspect, "verdict": self.split.verdict},
        }


def undefined_lift(difference: float, base: float) -> tuple[float, float, float]:
    """Return a lift without an interval.

    >>> undefined_lift(0.1, 0.5)
    (0.2, nan, nan)
    """
    return (difference / base if base else math.nan), math.nan, math.nan
