"""A/B tests of deployed systems by clickthrough, and assignment of users to arms."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.table import ResultWarning, raised
from leadline.data.validation import check_numbers, check_whole, check_word
from leadline.data.wording import counted
from leadline.errors import InputError, UsageError, both, either, one_of, together
from leadline.io.read_paths import public
from leadline.online.abtest_result import ABTest, AlwaysValid, Arm, ArmDifference, SampleSizes
from leadline.online.logs import Columns, Log, chosen_arms, read_log, read_two, repeated_clicks, shown_within
from leadline.online.proportions import (
    EXPECTED,
    Limits,
    Proportion,
    checked_difference,
    checked_fraction,
    detectable,
    fisher_p,
    hybrid,
    is_small,
    lift,
    newcombe,
    pooled_z,
    proportion_of,
    reach,
    sample_ratio_test,
    score_limits,
    sequential_test,
    single_look,
    two_sided,
    users_for_difference,
    users_for_variance,
    wilson,
)
from leadline.stats import checked_level

FEW_USERS = 20  # of an arm: with fewer the 95 % intervals of clicks per row cover as little as 90 %
ENOUGH_USERS = 100  # of an arm: with fewer they cover 89 to 97 %
FEW = 100  # clicks of an arm: with fewer the clickthrough is known to a tenth of itself at best


def warnings_of(result: ABTest, log: Log | None, units: Units | None, lost: int) -> list[ResultWarning]:
    """Return the warnings about the order of the arms, exclusions and small samples."""
    options, (first, second) = result.options, (arm.name for arm in result.arms)
    by_name = options["arm"] is not None and options["arms"] is None and first.lower() not in ("a", ARMS[0])
    words = f"arm {first} is the control, because its name sorts first. If {second} is the control, "
    words += f"pass both with `--arms`, {second} first."
    found = [("arms_by_name", words, int(by_name))]
    if units is not None and result.unit == "row":
        words = (
            f"{counted(len(units.arm), 'row is', 'rows are')} not grouped by user. Clicks by the same "
            "user are dependent, so p is usually too small and the interval too narrow. If there is a "
            "user column, pass `--user COLUMN`."
        )
        found.append(("ungrouped", words, len(units.arm)))
    rarest = min(result.arms, key=lambda arm: arm.clicked)
    if rarest.clicked < FEW:
        clicked = f"only {counted(rarest.clicked, result.unit)}" if rarest.clicked else f"no {result.unit}s"
        words = (
            f"arm {rarest.name} has {clicked} with a click. With fewer than {FEW} such {result.unit}s, the "
            "relative standard error of a low clickthrough is about 10 % or more."
        )
        found.append(("few_clicks", words, max(1, rarest.clicked)))
    fewest_users, unknown = min(arm.units for arm in result.arms), math.isnan(result.compared.low)
    if unknown:
        words = "no interval for the difference and no test for clicks per row: "
        if few := fewest_users < FEW_USERS:
            words += (
                f"an arm has fewer than {FEW_USERS} users. Intervals from so few users would be too narrow."
            )
        else:
            words += "all users of one arm have the same clicks per row, so the variance cannot be estimated"
        found.append(("few_users" if few else "no_variance", words, 1))
    elif options["metric"] == "rows" and fewest_users < ENOUGH_USERS:
        words = (
            f"intervals and p of clicks per row are approximate with fewer than {ENOUGH_USERS} users in an "
            "arm. In simulations, 95 % intervals of an arm contained the true value in 91 to 97 % of cases "
            "with 20 users and in 92 to 95 % with 50. Intervals of the difference contained the true "
            "difference in at least 89 % of cases."
        )
        found.append(("approximate_intervals", words, fewest_users))
    smallest = options["smallest"]
    if smallest is not None and not unknown and result.sizes.users_needed is None:
        words = (
            f"the number of {result.unit}s needed to detect a difference of {smallest:g} is not computed: "
            f"such a difference from any clickthrough in the confidence interval of {first} would put the "
            f"clickthrough of {second} below 0 or above 1. Use a smaller difference"
        )
        found.append(("impossible_difference", words, 1))
    if result.compared.test.startswith("Fisher"):
        words = "an expected count is below 5, so p is from Fisher's exact test, not from the z test"
        found.append(("small_counts", words, 1))
    split = result.split
    if split is not None and split.suspect:
        words = (
            f"sample ratio: {100 * split.seen:.2f} % of users are in B, but {100 * split.planned:g} % were "
            f"planned (p = {split.p:.1e}). The arms are not comparable until this is explained."
        )
        found.append(("sample_ratio", words, 1))
    if log is not None and units is not None:
        others = f"excluded {counted(log.others, 'row')} of other arms"
        crossed = f"excluded {counted(units.crossed, 'user')} in several arms, because a user should see "
        crossed += "only one"
        below = f"excluded {counted(lost, 'row')} below position {options['within']}"
        below += " or without a position" * bool(np.isnan(log.position).any())
        gone = len(np.unique(log.users)) - units.crossed - len(units.arm) if result.unit == "user" else 0
        below += f", and {counted(gone, 'user')} with no other rows" * (gone > 0)
        unplaced = int((np.isnan(log.position) & (log.click > 0)).sum()) if options["within"] else 0
        inside = log.position <= options["within"] if options["within"] else True
        placeless = f"ignored {counted(unplaced, 'click')} without a position"
        order = (
            "the logs are interleaved evenly, and p of the sequential test depends on this order. If they "
            "have a time column, pass `--time COLUMN`."
        )
        found += [
            ("other_arms", others, log.others),
            repeated_clicks(int((log.repeated & ~log.crossed & inside).sum())),
            ("crossed_users", crossed, units.crossed),
            ("below_positions", below, lost),
            ("clicks_without_position", placeless, unplaced),
            ("interleaved", order, int(not log.timed and result.always is not None)),
        ]
    return raised(*found)


class Units(NamedTuple):
    """Units in order of arrival: arm (0 for A), number of rows, and number of clicked rows of each.

    `crossed` counts the users that were in several arms, who are excluded.
    """

    arm: Integers
    rows: Floats
    clicks: Floats
    crossed: int = 0

    @property
    def clicked(self) -> Floats:
        """Flags, as 0 or 1, of the units with a click."""
        return (self.clicks > 0).astype(np.float64)

    def counts(self, arm: int) -> tuple[int, int]:
        """Return the numbers of units with a click and of all units of an arm."""
        in_arm = self.arm == arm
        return int(self.clicked[in_arm].sum()), int(in_arm.sum())


def units_of(log: Log, counted: Flags, click: Floats) -> Units:
    """Group the rows by user, or take every row as a unit."""
    arm, click, users = log.arm[counted], click[counted], log.users[counted]
    if (users < 0).all():
        return Units(arm, np.ones(len(arm)), click)
    _, first, unit = np.unique(users, return_index=True, return_inverse=True)
    rows = np.bincount(unit).astype(np.float64)
    crossed = log.crossed[counted][first]
    order = np.argsort(first, kind="stable")
    order = order[~crossed[order]]
    clicks = np.bincount(unit, weights=click).astype(np.float64)
    return Units(arm[first][order], rows[order], clicks[order], int(crossed.sum()))


def ratio(units: Units, arm: int, *, pooled: bool = False) -> tuple[float, float]:
    """Return the clicks per row of an arm, and its variance over users by the delta method.

    With x clicks and y rows of each of n users, R = sum x / sum y and its variance is that of x - R y over
    users, divided by n ymean^2. `pooled` takes R of both arms, as a test of no difference does. NaN variance
    for fewer than two users.

    Source: Deng, Knoblich and Lu 2018.

    >>> units = Units(np.zeros(3, dtype=np.int64), np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 1.0]))
    >>> [round(value, 4) for value in ratio(units, 0)]
    [0.3333, 0.037]
    """
    in_arm = units.arm == arm
    x, y = units.clicks[in_arm], units.rows[in_arm]
    clicks, rows = (units.clicks.sum(), units.rows.sum()) if pooled else (x.sum(), y.sum())
    residual = (x * rows - clicks * y) / rows  # exactly 0 if all users have the same clicks per row
    variance = residual.var(ddof=1) / len(x) / y.mean() ** 2 if len(x) > 1 else math.nan
    return float(x.sum() / y.sum()), float(variance)


FIRST_PAGE = 10  # results

__all__ = ["ABTest", "abtest"]


@public
def abtest(
    log: str | os.PathLike[str] | None = None,
    *,
    a: tuple[int, int] | None = None,
    b: tuple[int, int] | None = None,
    a_log: str | os.PathLike[str] | None = None,
    b_log: str | os.PathLike[str] | None = None,
    arm: str = "arm",
    click: str = "click",
    user: str | None = None,
    position: str | None = None,
    within: int | None = None,
    time: str | None = None,
    arms: Sequence[str] | None = None,
    metric: str = "users",
    planned: float | None = None,
    effect: float = EXPECTED,
    confidence: float = 0.95,
    power: float = 0.8,
    smallest: float | None = None,
) -> ABTest:
    """Compare the clickthrough of two arms of an A/B test.

    Clickthrough is the proportion of users who click a result: on the first page, or with `position` on the
    first `within` results. Input is either the counts `a` and `b`, a `log` of both arms, or the logs `a_log`
    and `b_log`.

    The difference is b - a with Newcombe's interval; p is two-sided by the pooled z test, or by Fisher's
    exact test if fewer than five users are expected in a cell. The always-valid p and interval may be
    inspected after every user.

    Parameters
    ----------
    log, a_log, b_log : str or path, optional
        Log of both arms, or of each.
    a, b : tuple of int, optional
        Numbers of clicks and users of each arm.
    arm, click, user, position, time : str, optional
        Names of the columns. With `user` the rows are grouped by the randomized user; without it every row is
        a unit, with a warning. Without `time` the order of the rows is that of time.
    within : int, optional
        Number of positions considered (1: the top result; default 10).
    arms : sequence of str, optional
        Names of A and B. Default: the two names in the log.
    metric : {"users", "rows"}
        Users with a click, or clicks per row with the variance over users (delta method).
    planned : float, optional
        Planned proportion of users in B, for the test of sample ratio mismatch.
    effect : float
        Relative difference to which the always-valid test is tuned.
    confidence, power : float
        Confidence level of the intervals, and power of the detectable difference.
    smallest : float, optional
        Smallest absolute difference of interest, for the number of users needed.

    Examples
    --------
    >>> found = abtest(a=(46, 10_000), b=(69, 10_000))
    >>> round(found.compared.z, 2), round(found.compared.p, 3)
    (2.15, 0.031)
    """
    check_numbers(effect=effect, confidence=confidence, power=power)
    check_word(("users", "rows"), metric=metric)
    check_whole(1, within=within)
    checked_level(confidence)
    if smallest is not None:
        check_numbers(smallest=smallest)
        checked_difference(smallest)
    by_rows = metric == "rows"
    of_logs = {"--user": user, "--position": position, "--time": time, "--within": within}
    both(of_logs | {"--config abtest.metric=rows": by_rows}, {"a log": a is None and b is None})
    both({"--within": within}, {"--position": position})
    both({"--config abtest.metric=rows": by_rows}, {"--user": user})
    one_of({"--config abtest.effect": effect != EXPECTED, "--config abtest.metric=rows": by_rows})
    read = _read(log, a, b, a_log, b_log, Columns(click, arm, user, position, time), arms)
    depth = None if position is None else within or FIRST_PAGE
    units, lost = (None, 0) if read is None else _units(read, depth, metric)
    proportions = _proportions(a, b, units, lost, ["A", "B"] if read is None else read.arms)
    first, second = (
        _arm(index, read, proportion, units, metric, confidence)
        for index, proportion in enumerate(proportions)
    )
    compared = _by_rows(units, first, second) if units and by_rows else _by_users(*proportions, confidence)
    sample_ratio = None if planned is None else sample_ratio_test((first.units, second.units), planned)
    result = ABTest(
        (first, second),
        compared,
        None if by_rows else _always(proportions, units, effect, confidence),
        _sizes(proportions, compared, units, metric, power, confidence, smallest),
        split=sample_ratio,
        warnings=[],
        inputs=[] if read is None else read.inputs,
        options={
            "unit": "user" if read is None or user is not None else "row",
            "metric": metric,
            "a": list(a) if a else None,
            "b": list(b) if b else None,
            "arm": arm if log else None,
            "arms": list(arms) if arms else None,
            "click": click if read else None,
            "user": user,
            "position": position,
            "within": depth,
            "time": time,
            "planned": planned,
            "effect": effect,
            "confidence": confidence,
            "power": power,
            "smallest": smallest,
        },
    )
    result.warnings = warnings_of(result, read, units, lost)
    return result


def _read(
    log: Any, a: Any, b: Any, a_log: Any, b_log: Any, columns: Columns, arms: Sequence[str] | None
) -> Log | None:
    """Read the logs; None for counts."""
    there = {
        "a log": log is not None,
        "counts": a is not None or b is not None,
        "one log per arm": a_log is not None or b_log is not None,
    }
    inputs = [name for name, given in there.items() if given]
    if len(inputs) != 1:
        given = f", but not {either(inputs, 'and')} together" if inputs else ""
        raise UsageError(
            "pass counts (`--a` and `--b`), one log of both arms, or one log per arm (`--a-log` and "
            f"`--b-log`){given}"
        )
    if log is not None:
        return chosen_arms(read_log(log, columns), arms)
    both({"--arms": arms}, {"one log of both arms": None})
    for first, second in (({"--a": a}, {"--b": b}), ({"--a-log": a_log}, {"--b-log": b_log})):
        together(first, second)
    return None if a is not None else read_two(a_log, b_log, columns._replace(arm=""))


def _units(log: Log, within: int | None, metric: str) -> tuple[Units, int]:
    """Return the units, and the number of rows below the positions compared.

    Every user counts, also one without a row within these positions.
    """
    counted, click = np.ones(len(log.click), dtype=np.bool_), log.click
    if within is not None and metric == "users" and (log.users >= 0).any():
        click = np.where(log.position <= within, click, 0.0)
    elif within is not None:
        counted, click = shown_within(log, within)
        if not counted.any():
            raise InputError(f"no row has a position of at most {within}", hint="Pass a larger `--within`.")
    return units_of(log, counted, click), int((~counted).sum())


def _proportions(
    a: Any, b: Any, units: Units | None, lost: int, arms: Sequence[str]
) -> tuple[Proportion, Proportion]:
    if units is not None:
        counts = [units.counts(arm) for arm in (0, 1)]
        for name, (_, users) in zip(arms, counts, strict=True):
            if not users:
                if not units.crossed:
                    raise UsageError(
                        f"arm '{name}' has no rows within the compared positions. Pass a larger `--within`."
                    )
                outside = ", or is outside the compared positions (`--within`)" * (lost > 0)
                raise UsageError(
                    f"arm '{name}' has no rows left. Each of its rows is from a user who is also in another "
                    f"arm{outside}. leadline does not analyze interleaving, where each user sees both "
                    "systems."
                )
        return Proportion(*counts[0]), Proportion(*counts[1])
    return proportion_of(*a, what="A: "), proportion_of(*b, what="B: ")


def _arm(
    index: int, log: Log | None, proportion: Proportion, units: Units | None, metric: str, confidence: float
) -> Arm:
    name = "AB"[index] if log is None else log.arms[index]
    clicked, number = proportion
    if units is None:
        return Arm(name, number, clicked, number, clicked, proportion.rate, *wilson(proportion, confidence))
    in_arm = units.arm == index
    rows, clicks = int(units.rows[in_arm].sum()), int(units.clicks[in_arm].sum())
    rate, limits = proportion.rate, wilson(proportion, confidence)
    if metric == "rows":
        rate, variance = ratio(units, index)
        limits = _limits(rate, variance, number, confidence)
    return Arm(name, number, clicked, rows, clicks, rate, *limits)


def _limits(rate: float, variance: float, users: int, confidence: float) -> tuple[float, float]:
    """Return Wilson's limits of clicks per row, with the number of rows whose variance would be this one."""
    from scipy.special import stdtrit

    if users < FEW_USERS or not variance > 0:
        return math.nan, math.nan
    quantile = float(stdtrit(users - 1, (1 + confidence) / 2))
    return score_limits(rate, rate * (1 - rate) / variance, quantile)


def _by_users(a: Proportion, b: Proportion, confidence: float) -> ArmDifference:
    z, small = pooled_z(a, b), is_small(a, b)
    p_z, exact = two_sided(z), fisher_p(a, b)
    return ArmDifference(
        b.rate - a.rate,
        z,
        exact if small else p_z,
        *newcombe(a, b, confidence),
        "Fisher's exact test" if small else "pooled z",
        "Newcombe",
        p_z,
        exact,
        lift(a, b, confidence),
    )


def _by_rows(units: Units, a: Arm, b: Arm) -> ArmDifference:
    """Compare clicks per row: the test has the variance without a difference, as the pooled z test has.

    Where that is smaller than the sum of the arms' own variances, the test uses the arms' own: the pooled one
    may be 0 where they are not. This never raised the size in simulations, and took at most .02 of the power.

    In 4,000 simulations each (20 to 1,000 users an arm, geometric numbers of rows, and beta clickthroughs
    with means from 0.01 to 0.9), its size at 0.05 was at most 0.058 for arms of equal size and 0.093 for 20
    and 400 users; the intervals of the difference covered 89 to 100 %, with 1,000 users 94 to 96 %.
    """
    from scipy.special import stdtr

    low, high = hybrid(*(Limits(arm.rate, arm.low, arm.high) for arm in (a, b)))
    z = p = math.nan
    if not math.isnan(low):
        each = [[ratio(units, arm, pooled=pooled)[1] for arm in (0, 1)] for pooled in (True, False)]
        var_a, var_b = max(each, key=sum)
        z = (b.rate - a.rate) / math.sqrt(var_a + var_b)
        freedom = (var_a + var_b) ** 2 / (var_a**2 / (a.units - 1) + var_b**2 / (b.units - 1))
        p = 2 * float(stdtr(freedom, -abs(z)))
    difference = b.rate - a.rate
    return ArmDifference(
        difference,
        z,
        p,
        low,
        high,
        "Welch's t by the delta method",
        "Newcombe by the delta method",
        two_sided(z),
        math.nan,
        Limits(difference / a.rate if a.rate else math.nan),
    )


def _always(
    proportions: tuple[Proportion, Proportion], units: Units | None, effect: float, confidence: float
) -> AlwaysValid:
    """Return the sequential test after every unit if their order is known, else once."""
    if units is None:
        p, low, high = single_look(*proportions, effect=effect, confidence=confidence)
        return AlwaysValid(p, low, high, effect, 1, None, None)
    path = sequential_test(units.arm, units.clicked, effect=effect, confidence=confidence)
    below = np.flatnonzero(path.p < 1 - confidence)
    decided = int(path.users[below[0]]) if len(below) else None
    p, low, high = (float(column[-1]) for column in (path.p, path.low, path.high))
    return AlwaysValid(p, low, high, effect, len(path.users), decided, path)


def _sizes(
    proportions: tuple[Proportion, Proportion],
    compared: ArmDifference,
    units: Units | None,
    metric: str,
    power: float,
    confidence: float,
    smallest: float | None,
) -> SampleSizes:
    """Return the detectable difference, and the users needed for the smallest relevant difference."""
    a, b = proportions
    users, needed = (a.users, b.users), None
    how = {"power_wanted": power, "confidence": confidence}
    if metric != "rows" or units is None:
        if smallest is not None:
            needed = users_for_difference(wilson(a, confidence), smallest, **how)
        return SampleSizes(power, detectable(a.rate, users, **how), needed)
    distance = reach(power, confidence)
    if math.isnan(compared.low):
        return SampleSizes(power, math.nan, None)
    var_a, var_b = (ratio(units, index)[1] for index in (0, 1))
    if smallest is not None:
        needed = users_for_variance((var_a * a.users, var_b * b.users), users, smallest, **how)
    return SampleSizes(power, distance * math.sqrt(var_a + var_b), needed)


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
