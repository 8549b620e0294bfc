"""Result of an A/B test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from leadline.data.table import Column, columns_of, keyed, plain
from leadline.data.wording import counted, percent
from leadline.online.proportions import Limits, SampleRatio, SequentialTest
from leadline.result import Make, Result


class Arm(NamedTuple):
    """One arm of an A/B test.

    Attributes
    ----------
    name : str
        Name of the arm.
    units : int
        Number of users, or of rows where users are unknown.
    clicked : int
        Number of units with a click.
    rows : int
        Number of rows.
    clicks : int
        Number of rows with a click.
    rate : float
        The clickthrough that is compared, from 0 to 1.
    low, high : float
        Limits of its interval, by Wilson or by the delta method.
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
    """Difference of the clickthrough of two arms.

    Attributes
    ----------
    difference : float
        Clickthrough of `b` minus that of `a`, from -1 to 1.
    z : float
        Difference divided by its standard error.
    p : float
        Two-sided p-value of `test`.
    low, high : float
        Limits of its confidence interval.
    test : str
        Name of the test.
    interval : str
        Method of the interval.
    p_z : float
        p-value of the z test.
    p_exact : float
        p-value of Fisher's exact test; NaN where it is not defined.
    lift : Limits
        Difference divided by the clickthrough of `a`, and the limits of its interval.
    """

    difference: float
    z: float
    p: float
    low: float
    high: float
    test: str
    interval: str
    p_z: float
    p_exact: float
    lift: Limits


class AlwaysValid(NamedTuple):
    """Always-valid p-value and interval, after all users.

    Attributes
    ----------
    p : float
        Always-valid p-value.
    low, high : float
        Limits of the always-valid interval of the difference.
    effect : float
        Size of the effects that the test is tuned to, as a fraction of the clickthrough rate.
    looks : int
        Number of times the data were tested: once for counts, else after every user.
    decided : int or None
        Number of users when p first fell below 1 - confidence; None if it did not, or if their order is
        unknown.
    path : SequentialTest or None
        p-value and interval after each number of users; None if the order of the users is unknown.
    """

    p: float
    low: float
    high: float
    effect: float
    looks: int
    decided: int | None
    path: SequentialTest | None


class SampleSizes(NamedTuple):
    """Difference detectable with the power, and users per arm for the smallest difference of interest."""

    power: float
    detectable: float
    users_needed: int | None


@dataclass(repr=False, eq=False)
class ABTest(Result):
    """Comparison of two arms by clickthrough.

    Attributes
    ----------
    arms : tuple of Arm
        The two arms, A first.
    compared : ArmDifference
        Difference of the arms, B minus A.
    always : AlwaysValid or None
        Always-valid p-value and interval; None for clicks per row.
    sizes : SampleSizes
        Detectable difference, and users needed.
    split : SampleRatio or None
        Test of the split of the users; None without a planned one.
    inputs : list of (str, int)
        Files that were read, with their numbers of rows.
    """

    _digits = 5

    arms: tuple[Arm, Arm]
    compared: ArmDifference
    always: AlwaysValid | None
    sizes: SampleSizes
    split: SampleRatio | None
    inputs: Sequence[tuple[str, int]]

    @property
    def unit(self) -> str:
        """Unit of analysis: user or row."""
        return str(self.options["unit"])

    @property
    def significant(self) -> bool:
        """Whether p is below 1 - confidence."""
        return bool(self.compared.p < 1 - self.options["confidence"])

    def _labelled(self) -> Sequence[str]:
        return [arm.name for arm in self.arms]

    def _figure(self) -> Make:
        """Draw the clickthrough of both arms, and the anytime-valid interval of their difference."""
        from leadline.charts import COLUMN
        from leadline.charts.interval_plots import two_arms

        steps = self.always and self.always.path
        return lambda width: two_arms(
            *([getattr(arm, field) for arm in self.arms] for field in ("name", "rate", "low", "high")),
            path=None if steps is None else (steps.users, steps.difference, steps.low, steps.high),
            unit=self.unit,
            confidence=self.options["confidence"],
            width=width or COLUMN,
        )

    def __repr__(self) -> str:
        a, b = self.arms
        return (
            f"ABTest({a.name} {a.clicked}/{a.units}, {b.name} {b.clicked}/{b.units}, difference "
            f"{self.compared.difference:+.5f}, p {self.compared.p:.4g})"
        )

    def _columns(self) -> list[Column]:
        names = ("arm", f"{self.unit}s", "clicked", "rows", "clicks", "clickthrough", "low", "high")
        columns = columns_of(names, self.arms)
        return columns if self.options["metric"] == "rows" else columns[:3] + columns[5:]

    def _notes(self) -> list[str]:
        around = filter(None, (_peeking(self), _seen(self), _shares(self)))
        return [_verdict(self), *around, *super()._notes()]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; None is undefined or an infinite limit."""
        always = None
        if self.always is not None:
            always = keyed(self.always._replace(path=None))
            del always["path"]
        return {
            "unit": self.unit,
            "metric": self.options["metric"],
            "arms": list(map(keyed, self.arms)),
            **keyed(self.compared),
            "always_valid": always,
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


def _verdict(test: ABTest) -> str:
    """Return a sentence on the size and significance of the difference."""
    compared = test.compared
    a, b = test.arms
    shift = f"{b.name} - {a.name} = {compared.difference:+.5f}"
    if plain(compared.low) is None:
        return f"difference between {b.name} and {a.name}: {shift}"
    outcome = "significant difference" if test.significant else "no significant difference"
    interval = f"{percent(test.options['confidence'])} interval {compared.low:+.5f} to {compared.high:+.5f}"
    letter = "t" if test.options["metric"] == "rows" else "z"
    p = "p undefined" if plain(compared.p) is None else _p_text(compared.p, 1 - test.options["confidence"])
    line = (
        f"{outcome} between {b.name} and {a.name}: {shift} ({interval}, {compared.interval}), "
        f"{letter} = {_number(compared.z, 2)}, {p} ({compared.test})"
    )
    lift, low, high = (100 * end for end in compared.lift)
    if plain(lift) is None:
        return line
    line += f"; lift {lift:+.1f} %"
    if plain(low) is not None:
        return line + f" ({low:+.1f} to {high:+.1f})"
    few = test.options["metric"] == "users"
    return line + " (no interval: fewer than 5 clicks are expected in an arm)" if few else line


def _number(value: float, digits: int) -> str:
    return "undefined" if plain(value) is None else f"{value:.{digits}f}"


def _peeking(test: ABTest) -> str:
    always = test.always
    if always is None:
        return "no sequential test for clicks per row"
    looked = "one look" if always.path is None else f"a look after every {test.unit}"
    interval = "no interval yet"
    if plain(always.low) is not None:
        low, high = max(always.low, -1.0), min(always.high, 1.0)
        interval = f"interval {low:+.5f} to {high:+.5f}"
    level = 1 - test.options["confidence"]
    line = (
        f"sequential test, valid at every look: {_p_text(always.p, level)}, {interval} ({looked}, tuned "
        f"to a difference of {percent(always.effect)} of the clickthrough)"
    )
    if always.decided:
        line += f"; p fell below {level:.2g} after {counted(always.decided, test.unit)} and cannot rise again"
        if not (always.low > 0 or always.high < 0):
            line += f", but the interval after all {test.unit}s contains 0"
    return line


def _p_text(p: float, level: float) -> str:
    """Return p, never as 0, with as many digits, 4 or more, as show on which side of the level it is.

    >>> _p_text(0.04998, 0.05), _p_text(0.03, 0.05), _p_text(1e-9, 0.05)
    ('p = 0.04998', 'p = 0.0300', 'p < 0.0001')
    """
    level = round(level, 12)
    digits = next((n for n in range(4, 12) if (round(p, n) < level) == (p < level)), 12)
    text = f"{p:.{digits}f}"
    return f"p = {text}" if float(text) else f"p < {10.0**-digits:.{digits}f}"


def _seen(test: ABTest) -> str:
    sizes, unit = test.sizes, f"{test.unit}s"
    if plain(sizes.detectable) is None:
        return ""
    change = "a difference" if test.options["metric"] == "rows" else "an increase"
    line = (
        f"detectable with these {unit}: {change} of {sizes.detectable:.5f} or more "
        f"({percent(sizes.power)} power)"
    )
    if sizes.users_needed:
        needed = counted(sizes.users_needed, test.unit)
        line += f"; detecting {test.options['smallest']:g} takes at most {needed} per arm"
    return line


def _shares(test: ABTest) -> str:
    if test.split is None:
        return "sample ratio not checked (pass the planned share of users in B as `--planned`)"
    if test.split.suspect:
        return ""  # a notice says so
    return (
        f"shares {test.split.verdict}: {100 * test.split.seen:.2f} % in B, "
        f"{100 * test.split.planned:g} % planned (p = {test.split.p:.3f})"
    )
