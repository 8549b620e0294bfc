"""Coefficients of inter-assessor agreement, of all units and by group."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leadline.data.arrays import Floats, Integers
from leadline.data.registry import Parametric, Registry, choice
from leadline.errors import UsageError
from leadline.stats.resampling import each_block, weights


def coded(grades: Floats) -> tuple[Floats, Integers]:
    """Give the grades that occur, rising, and the place of each judgment among them; -1: not judged.

    >>> values, codes = coded(np.array([[2.0, 0.0], [np.nan, 2.0]]))
    >>> values.tolist(), codes.tolist()
    ([0.0, 2.0], [[1, 0], [-1, 1]])
    """
    known = ~np.isnan(grades)
    values = np.unique(grades[known])
    codes = np.where(known, np.searchsorted(values, grades), -1).astype(np.int64)
    return values, codes


def confusions(
    first: Integers, second: Integers, size: int, group: Integers | None = None, groups: int = 1
) -> Floats:
    """Count, per group of units, which grade the second judge gave where the first gave which.

    groups x size x size; `group` is the group of every unit. Units that one of them did not judge are out.
    """
    both = (first >= 0) & (second >= 0)
    cell = first[both] * size + second[both]
    if group is not None:
        cell += group[both] * (size * size)
    counts = np.bincount(cell, minlength=groups * size * size)
    return counts.reshape(groups, size, size).astype(np.float64)


def coincidences(codes: Integers, size: int, group: Integers | None = None, groups: int = 1) -> Floats:
    """Sum, per group of units, the pairs of judgments of the same unit: groups x size x size.

    Every ordered pair of judgments of a unit with m judgments counts 1 / (m - 1), so that a unit counts m;
    one with a single judgment says nothing. (Krippendorff 2004, section 11.3)
    """
    made = (codes >= 0).sum(axis=1)
    kept = np.flatnonzero(made > 1)
    if group is not None:
        kept = kept[np.argsort(group[kept], kind="stable")]
    owner = np.zeros(len(kept), dtype=np.int64) if group is None else group[kept]
    weight = 1.0 / (made[kept] - 1)
    found = np.zeros((groups, size, size))
    given = (
        np.stack([(codes[kept] == grade).sum(axis=1) for grade in range(size)], axis=1)
        if size
        else np.zeros((len(kept), 0))
    )
    counts = given.astype(np.float64)
    bounds = np.searchsorted(owner, np.arange(groups + 1))
    for place, (low, high) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        part, share = counts[low:high], weight[low:high]
        found[place] = (part * share[:, None]).T @ part - np.diag(share @ part)
    return found


# All coefficients are made of tables of grades x grades. For two judges that is the confusion table: how
# often the first gave the grade of the row and the second that of the column. For many it is the table of
# coincidences (Krippendorff): every pair of judgments of one unit, both ways, each weighing 1 / (number of
# judgments of the unit - 1). A unit is a pair of query and document.
#
# There is no coefficient called just kappa: the lecture's is `Scott`, the one most programs mean is `Cohen`.
# Chance gives 0, full agreement 1. Where all judgments fall on one grade, chance alone gives full agreement
# and what is corrected for chance is 0/0: undefined (NaN), never 1.

ACCEPTABLE = 2 / 3  # the lecture: values in [2/3, 1] are acceptable


class Coefficient(Parametric):
    """One way to put agreement into a number.

    `called` is its key in results. `many` says that it takes any number of judges, and is made of the table
    of coincidences; the others take two. `holes` says that judgments may be missing where more than two
    judged. `corrected` says whether chance is taken off.
    """

    title: ClassVar[str]
    called: ClassVar[str]
    source: ClassVar[str]
    many: ClassVar[bool] = False
    holes: ClassVar[bool] = True
    corrected: ClassVar[bool] = True

    def of_tables(self, tables: Floats, values: Floats) -> Floats:
        """Give the coefficient of each table (... x grades x grades); NaN where it is undefined.

        `values` are the grades, rising.
        """
        raise NotImplementedError

    def of(self, grades: ArrayLike) -> float:
        """Give the coefficient of judgments: units x judges, NaN where a judge did not judge.

        Two judges: a unit that only one judged is left out. Of more, NaN where a judgment is missing and the
        coefficient needs all.
        """
        table = _checked(grades)
        if not self.holes and table.shape[1] > 2 and np.isnan(table).any():
            return float("nan")
        values, codes = coded(table)
        if self.many:
            counts = coincidences(codes, len(values))
        elif codes.shape[1] == 2:
            counts = confusions(codes[:, 0], codes[:, 1], len(values))
        else:
            raise UsageError(f"{codes.shape[1]} judges; expected two for {type(self).__name__}")
        return float(self.of_tables(counts, values)[0]) if len(values) else float("nan")


def acceptable(value: float) -> bool | None:
    """Say whether a value lies in the lecture's range [2/3, 1]; None where it is undefined.

    >>> acceptable(0.776), acceptable(0.5), acceptable(float("nan"))
    (True, False, None)
    """
    return None if np.isnan(value) else bool(value >= ACCEPTABLE)


def above_chance(observed: Floats, expected: Floats) -> Floats:
    """Give (P(A) - P(E)) / (1 - P(E)); NaN where chance alone agrees always."""
    room = 1.0 - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(room > 0, (observed - expected) / room, np.nan)
    return found


def shares(tables: Floats) -> Floats:
    """Give every cell as a share of its table; NaN for a table of nothing."""
    whole = tables.sum(axis=(-2, -1), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(whole > 0, tables / whole, np.nan)
    return found


def _checked(grades: ArrayLike) -> Floats:
    try:
        table = np.asarray(grades, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError("grades that are no table of numbers; expected units x judges") from None
    if table.ndim != 2 or table.shape[1] < 2:
        raise UsageError(f"grades of shape {table.shape}; expected units x judges, two judges or more")
    if np.isinf(table).any():
        raise UsageError("an infinite grade; expected numbers, or NaN where a judge did not judge")
    return table


COEFFICIENTS: Registry[Coefficient] = Registry(sys.modules[__name__], Coefficient, "coefficient")


class PercentAgreement(Coefficient):
    """The share of units to which both judges give the same grade, P(A); chance is not taken off.

    From 0 to 1.

    >>> PercentAgreement().of([[1, 1], [1, 0], [0, 0], [0, 0]])
    0.75
    """

    title = "percent agreement"
    called = "agreement"
    source = "lecture, kappa measure"
    corrected = False

    def of_tables(self, tables: Floats, _values: Floats) -> Floats:
        """Give the sum of the diagonal as a share."""
        found: Floats = shares(tables).trace(axis1=-2, axis2=-1)
        return found


class Cohen(Coefficient):
    """Cohen's kappa: agreement above chance, where chance is the product of each judge's own marginals.

    1 - D(A) / D(E), the disagreement seen over that expected by chance; `weights` says how far apart two
    grades are: `none` 1 for any two, `linear` |a - b|, `quadratic` (a - b)^2 of the grades as numbers (most
    programs take their places in the list of grades, which is the same where no grade is skipped). From -1
    to 1.

    >>> lists = [[1, 1]] * 300 + [[1, 0]] * 20 + [[0, 1]] * 10 + [[0, 0]] * 70
    >>> round(Cohen().of(lists), 4)
    0.7761
    >>> round(Cohen(weights="quadratic").of([[0, 1], [1, 1], [2, 2], [3, 1]]), 4)
    0.1667
    """

    title = "Cohen's kappa"
    called = "cohen"
    source = "Cohen 1960; weighted: Cohen 1968"

    weights: str = choice("none", "linear", "quadratic")

    def of_tables(self, tables: Floats, values: Floats) -> Floats:
        """Give 1 less the disagreement seen over that expected."""
        cells = shares(tables)
        apart = np.abs(values[:, None] - values)
        distance = {"none": (apart > 0).astype(float), "linear": apart, "quadratic": apart**2}
        far = distance[self.weights]
        by_chance = cells.sum(axis=-1)[..., :, None] * cells.sum(axis=-2)[..., None, :]
        expected = (by_chance * far).sum(axis=(-2, -1))
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = np.where(expected > 0, 1 - (cells * far).sum(axis=(-2, -1)) / expected, np.nan)
        return found


class Scott(Coefficient):
    """Scott's pi: (P(A) - P(E)) / (1 - P(E)), chance by the pooled marginals of both judges.

    P(E) is the sum over grades of the square of the mean share of both judges. It takes the judges as
    exchangeable: what one likes better than the other counts as disagreement. From -1 to 1.

    >>> round(Scott().of([[1, 1]] * 300 + [[1, 0]] * 20 + [[0, 1]] * 10 + [[0, 0]] * 70), 4)
    0.7759
    """

    title = "Scott's pi (pooled marginals)"
    called = "scott"
    source = "Scott 1955; lecture, calculating the kappa statistic"

    def of_tables(self, tables: Floats, _values: Floats) -> Floats:
        """Give agreement above that of the pooled marginals."""
        cells = shares(tables)
        pooled = (cells.sum(axis=-1) + cells.sum(axis=-2)) / 2
        return above_chance(cells.trace(axis1=-2, axis2=-1), (pooled**2).sum(axis=-1))


class Fleiss(Coefficient):
    """Fleiss' kappa: Scott's pi for any number of judges, all of whom judged every unit.

    P(A) is the share of agreeing pairs of judgments of the same unit, P(E) the sum of squared shares of the
    grades among all judgments. With two judges it is Scott's pi. Where judgments are missing it is not
    defined (NaN): `Krippendorff` is for that. From -1 / (judges - 1) to 1.

    >>> round(Fleiss().of([[1, 1, 1], [1, 1, 0], [0, 0, 0], [0, 0, 1]]), 4)
    0.3333
    """

    title = "Fleiss' kappa"
    called = "fleiss"
    source = "Fleiss 1971"
    many = True
    holes = False

    def of_tables(self, tables: Floats, _values: Floats) -> Floats:
        """Give agreement above that of the shares of grades."""
        cells = shares(tables)
        return above_chance(cells.trace(axis1=-2, axis2=-1), (cells.sum(axis=-1) ** 2).sum(axis=-1))


class Krippendorff(Coefficient):
    """Krippendorff's alpha: 1 - D(A) / D(E), for any number of judges and with judgments missing.

    With o the table of coincidences, n_c its sums and n its total: D(A) is the sum of o_ck d_ck / n, D(E)
    that of n_c n_k d_ck / (n (n - 1)). `level` says how far apart grades are, d_ck: `nominal` 1 for any two;
    `ordinal` the square of how many judgments lie from one to the other, half of each end counted; `interval`
    (c - k)^2. At most 1; below 0 where judges avoid each other.

    >>> nan = float("nan")
    >>> round(Krippendorff().of([[1, 1], [1, 0], [0, 0], [0, nan]]), 4)
    0.4444
    """

    title = "Krippendorff's alpha"
    called = "krippendorff"
    source = "Krippendorff 2004, section 11.3; Hayes and Krippendorff 2007"
    many = True

    level: str = choice("nominal", "ordinal", "interval")

    def of_tables(self, tables: Floats, values: Floats) -> Floats:
        """Give 1 less the disagreement seen over that expected."""
        sums = tables.sum(axis=-1)
        whole = sums.sum(axis=-1)
        far = self._apart(sums, values)
        seen = (tables * far).sum(axis=(-2, -1))
        expected = (sums[..., :, None] * sums[..., None, :] * far).sum(axis=(-2, -1))
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = np.where(expected > 0, 1 - (whole - 1) * seen / expected, np.nan)
        return found

    def _apart(self, sums: Floats, values: Floats) -> Floats:
        if self.level == "ordinal":
            middle = np.cumsum(sums, axis=-1) - sums / 2
            between: Floats = (middle[..., :, None] - middle[..., None, :]) ** 2
            return between
        apart = values[:, None] - values
        return apart**2 if self.level == "interval" else (apart != 0).astype(np.float64)


TOGETHER = 32  # pairs of judges handled at once, so that draws x tables fit the memory
CELLS = 4_000_000  # numbers that a block of draws may take


class Groups(NamedTuple):
    """What is drawn again: the group of every unit, and how many groups there are."""

    of_unit: Integers
    number: int


def both_ways(coefficient: Coefficient, tables: Floats) -> Floats:
    """Give confusion tables as the coefficient wants them: as coincidences for one of many judges."""
    return tables + np.swapaxes(tables, -1, -2) if coefficient.many else tables


class Between:
    """The confusion tables of some pairs of judges."""

    def __init__(
        self, codes: Integers, values: Floats, pairs: Sequence[tuple[int, int]], whole: Groups
    ) -> None:
        self.codes = codes
        self.values = values
        self.pairs = list(pairs)
        self.groups = whole

    def tables(self, pairs: Sequence[tuple[int, int]], groups: Groups | None = None) -> Floats:
        """Give pairs x groups x grades x grades; one group without groups."""
        of_unit, number = (None, 1) if groups is None else groups
        size = len(self.values)
        return np.stack(
            [confusions(self.codes[:, a], self.codes[:, b], size, of_unit, number) for a, b in pairs]
        )

    def values_of(self, coefficient: Coefficient, groups: Groups | None = None) -> Floats:
        """Give a coefficient of every pair of judges: pairs x groups."""
        tables = self.tables(self.pairs, groups)
        return coefficient.of_tables(both_ways(coefficient, tables), self.values)

    def drawn(self, coefficients: Sequence[Coefficient], draws: int, seed: int) -> Floats:
        """Give coefficients x draws x pairs, the groups drawn again in every draw."""
        found = np.full((len(coefficients), draws, len(self.pairs)), np.nan)
        for start in range(0, len(self.pairs) if draws else 0, TOGETHER):
            part = self.pairs[start : start + TOGETHER]
            tables = self.tables(part, self.groups)
            flat = np.swapaxes(tables, 0, 1).reshape(self.groups.number, -1)

            def measured(
                again: Floats, shape: tuple[int, ...] = (-1, len(part), *tables.shape[2:])
            ) -> Floats:
                each = again.reshape(shape)
                return np.stack([one.of_tables(both_ways(one, each), self.values) for one in coefficients])

            found[:, :, start : start + TOGETHER] = _in_blocks(flat, measured, draws, seed)
        return found


def drawn_of_all(
    codes: Integers, values: Floats, coefficient: Coefficient, groups: Groups, draws: int, seed: int
) -> Floats:
    """Give a coefficient of all judges for every draw, the groups drawn again in each."""
    size = len(values)
    flat = coincidences(codes, size, groups.of_unit, groups.number).reshape(groups.number, -1)

    def measured(again: Floats) -> Floats:
        return coefficient.of_tables(again.reshape(-1, size, size), values)[None]

    return _in_blocks(flat, measured, draws, seed)[0] if draws else np.empty(0)


def _in_blocks(flat: Floats, measured: Callable[[Floats], Floats], draws: int, seed: int) -> Floats:
    """Measure sums of groups (rows) drawn with replacement, some draws at a time."""
    groups, cells = flat.shape
    size = max(1, min(256, CELLS // max(groups, cells, 1)))

    def one(rng: np.random.Generator, count: int) -> Floats:
        return measured(weights(rng, count, groups) @ flat)

    return np.concatenate(list(each_block(draws, seed, one, block=size)), axis=1)
