"""Coefficients of inter-assessor agreement, over all units and by group."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.registry import Parametric, Registry, choice
from leadline.errors import UsageError, either
from leadline.stats.intervals import t_quantiles
from leadline.stats.moments import each_block, weights


def coded(grades: Floats) -> tuple[Floats, Integers]:
    """Return the distinct grades in increasing order and the index of each judgment; -1: not judged.

    >>> values, codes = coded(np.array([[2.0, 0.0], [np.nan, 2.0]]))
    >>> values.tolist(), codes.tolist()
    ([0.0, 2.0], [[1, 0], [-1, 1]])
    """
    judged = ~np.isnan(grades)
    values = np.unique(grades[judged])
    codes = np.where(judged, np.searchsorted(values, grades), -1).astype(np.int64)
    return values, codes


def confusions(
    first: Integers, second: Integers, size: int, group: Integers | None = None, groups: int = 1
) -> Floats:
    """Return confusion tables of two judges per group of units: groups x size x size.

    `group` is the group of every unit. Units that only one of the two judged are excluded.
    """
    return np.asarray(confusions_with(first, second[:, None], size, group, groups)[0])


def confusions_with(
    first: Integers, second: Integers, size: int, group: Integers | None = None, groups: int = 1
) -> Floats:
    """Return confusion tables of a judge and others per group of units: others x groups x size x size.

    As `confusions`, but `second` has a column for each of the others.

    >>> confusions_with(np.array([0, 1, 1]), np.array([[0], [1], [-1]]), 2).tolist()
    [[[[1.0, 0.0], [0.0, 1.0]]]]
    """
    others = second.shape[1]
    table = np.arange(others) * groups + (0 if group is None else group[:, None])
    cell = (table * size + first[:, None]) * size + second
    counts = np.bincount(cell[(first >= 0)[:, None] & (second >= 0)], minlength=others * groups * size * size)
    return counts.reshape(others, groups, size, size).astype(np.float64)


def coincidences(codes: Integers, size: int, group: Integers | None = None, groups: int = 1) -> Floats:
    """Return coincidence tables of the judgments per group of units: groups x size x size.

    Every ordered pair of judgments of a unit with m judgments counts 1 / (m - 1), so that the unit counts m;
    a unit with a single judgment does not count.

    Source: Krippendorff (2004), Content Analysis, section 11.3.
    """
    judgments = (codes >= 0).sum(axis=1)
    units = np.flatnonzero(judgments > 1)
    if group is not None:
        units = units[np.argsort(group[units], kind="stable")]
    owner = np.zeros(len(units), dtype=np.int64) if group is None else group[units]
    weight = 1.0 / (judgments[units] - 1)
    tables = np.zeros((groups, size, size))
    counts = np.zeros((len(units), size))
    for grade in range(size):
        counts[:, grade] = (codes[units] == grade).sum(axis=1)
    bounds = np.searchsorted(owner, np.arange(groups + 1))
    for index, (low, high) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        part, row_weight = counts[low:high], weight[low:high]
        tables[index] = (part * row_weight[:, None]).T @ part - np.diag(row_weight @ part)
    return tables


# All coefficients are made of tables of grades x grades. For two judges that is the confusion table: how
# often the first gave the grade of the row and the second that of the column. For more it is the table of
# coincidences (Krippendorff): every pair of judgments of one unit, both ways, each weighing 1 / (number of
# judgments of the unit - 1). A unit is a pair of query and document.
#
# No coefficient is named "kappa": Manning et al. (2008) call Scott's pi kappa, most programs Cohen's.
# Chance gives 0, full agreement 1. Where all judgments fall on one grade, chance alone gives full agreement
# and what is corrected for chance is 0/0: undefined (NaN), never 1.

TABLE = "Pass one row per unit and one column per judge, with at least two judges."
FEWEST_PAIRS = 50  # for a verdict: with 13 pairs and kappa .67, the 95 % interval is about .3 to 1
ACCEPTABLE = 2 / 3  # Krippendorff (2004): the lower limit for tentative conclusions


class Coefficient(Parametric):
    """Base class of the agreement coefficients.

    `multi_judge` ones take any number of judges (coincidence tables), others two (confusion tables).
    """

    title: ClassVar[str]
    key: ClassVar[str]
    source: ClassVar[str]
    multi_judge: ClassVar[bool] = False
    allows_missing: ClassVar[bool] = True
    chance_corrected: ClassVar[bool] = True

    def of_tables(self, tables: Floats, values: Floats) -> Floats:
        """Return the coefficient of each table (..., grades, grades); NaN where it is undefined."""
        return self.of_cells(np.moveaxis(np.asarray(tables, dtype=np.float64), (-2, -1), (0, 1)), values)

    def of_cells(self, cells: Floats, values: Floats) -> Floats:
        """Return the coefficient of tables of shape (n_grades, n_grades, ...), one array for each cell."""
        raise NotImplementedError

    def of(self, grades: ArrayLike) -> float:
        """Return the coefficient of a table of judgments, units x judges; NaN where a judge did not judge.

        With two judges, units that only one judged are excluded; with more, NaN if a judgment is missing and
        the coefficient requires all.
        """
        table = _checked(grades)
        if not self.allows_missing and table.shape[1] > 2 and np.isnan(table).any():
            return float("nan")
        values, codes = coded(table)
        if self.multi_judge:
            counts = coincidences(codes, len(values))
        elif codes.shape[1] == 2:
            counts = confusions(codes[:, 0], codes[:, 1], len(values))
        else:
            able = either(name for name, kind in COEFFICIENTS.classes.items() if kind.multi_judge)
            raise UsageError(
                f"{type(self).__name__} compares two judges, not {codes.shape[1]}. For more than two, use "
                f"{able}."
            )
        return float(self.of_tables(counts, values)[0]) if len(values) else float("nan")


def acceptable(value: float, pairs: int) -> bool | None:
    """Return whether a coefficient is at least 2/3; None where it is undefined or from fewer than 50 pairs.

    Krippendorff's threshold for tentative conclusions; Manning, Raghavan and Schuetze (2008), section 8.5,
    call values from 0.67 to 0.8 fair agreement.

    >>> acceptable(0.776, 400), acceptable(0.5, 400), acceptable(0.776, 13)
    (True, False, None)
    """
    return None if np.isnan(value) or pairs < FEWEST_PAIRS else bool(value >= ACCEPTABLE)


def above_chance(observed: Floats, expected: Floats) -> Floats:
    """Return (P(A) - P(E)) / (1 - P(E)); NaN where P(E) is 1."""
    attainable = 1.0 - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        coefficient: Floats = np.where(attainable > 0, (observed - expected) / attainable, np.nan)
    return coefficient


def cell_proportions(cells: Floats) -> Floats:
    """Return the cells of tables (n_grades, n_grades, ...) divided by their sums; NaN for an empty table."""
    totals = cells.sum(axis=(0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        proportions: Floats = np.where(totals > 0, cells / totals, np.nan)
    return proportions


def _trace(cells: Floats) -> Floats:
    diagonal = np.arange(len(cells))
    return np.asarray(cells[diagonal, diagonal].sum(axis=0))


def _checked(grades: ArrayLike) -> Floats:
    try:
        table = np.asarray(grades, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"the grades are not a table of numbers. {TABLE}") from None
    if table.ndim != 2 or table.shape[1] < 2:
        raise UsageError(f"the grades have the shape {table.shape}. {TABLE}")
    if np.isinf(table).any():
        raise UsageError("a grade is infinite. Pass finite numbers, or NaN where a judge gave no grade.")
    return table


class ChanceAgreement(NamedTuple):
    """Observed agreement of two judges, and what chance would give.

    Attributes
    ----------
    a, b : str
        First and second judge.
    pairs : int
        Pairs judged by both.
    disagreements : int
        Pairs that they gave different grades.
    observed : float
        Proportion of equal grades, P(A).
    pooled : list of float
        Proportion of each grade among the judgments of both.
    expected : float
        Chance agreement from these pooled proportions, P(E) of Scott's pi.
    expected_own : float
        Chance agreement from the proportions of each judge, P(E) of Cohen's kappa without weights.
    """

    a: str
    b: str
    pairs: int
    disagreements: int
    observed: float
    pooled: list[float]
    expected: float
    expected_own: float

    @classmethod
    def of(cls, a: str, b: str, table: Floats) -> ChanceAgreement:
        """Return the numbers of a confusion table of two judges.

        >>> ChanceAgreement.of("a", "b", np.array([[300, 20], [10, 70]])).observed
        0.925
        """
        same, pairs = int(np.trace(table)), int(table.sum())
        first, second = table.sum(axis=1), table.sum(axis=0)
        pooled = (first + second) / (2 * pairs)
        expected = float(pooled @ pooled), float(first @ second) / pairs**2
        return cls(a, b, pairs, pairs - same, same / pairs, pooled.tolist(), *expected)


COEFFICIENTS: Registry[Coefficient] = Registry(sys.modules[__name__], Coefficient, "coefficient")


class PercentAgreement(Coefficient):
    """Proportion of units to which both judges assign the same grade, P(A), not corrected for chance.

    From 0 to 1.

    >>> PercentAgreement().of([[1, 1], [1, 0], [0, 0], [0, 0]])
    0.75
    """

    title = "percent agreement"
    key = "agreement"
    source = "Manning, Raghavan and Schuetze 2008, section 8.5"
    chance_corrected = False

    def of_cells(self, cells: Floats, _values: Floats) -> Floats:
        """Return the proportion on the diagonal."""
        return _trace(cell_proportions(cells))


class Cohen(Coefficient):
    """Cohen's kappa: chance-corrected agreement, with chance from the marginals of each judge.

    1 - D(A) / D(E), the observed over the expected disagreement. `weights` is the disagreement of two grades:
    `none` 1 for different grades, `linear` |a - b|, `quadratic` (a - b)^2 of the grades as numbers. (Most
    programs use the indices of the grades, which gives the same value if the grades are consecutive.) From -1
    to 1.

    >>> lists = [[1, 1]] * 300 + [[1, 0]] * 20 + [[0, 1]] * 10 + [[0, 0]] * 70
    >>> round(Cohen().of(lists), 4)
    0.7761
    >>> round(Cohen(weights="quadratic").of([[0, 1], [1, 1], [2, 2], [3, 1]]), 4)
    0.1667
    """

    title = "Cohen's kappa"
    key = "cohen"
    source = "Cohen 1960; weighted: Cohen 1968"

    weights: str = choice("none", "linear", "quadratic")

    def of_cells(self, cells: Floats, values: Floats) -> Floats:
        """Return 1 minus the ratio of observed to expected disagreement."""
        cells = cell_proportions(cells)
        differences = np.abs(values[:, None] - values)
        distance = {
            "none": (differences > 0).astype(float),
            "linear": differences,
            "quadratic": differences**2,
        }
        disagreement = distance[self.weights]
        observed = np.tensordot(disagreement, cells, axes=2)
        expected = (cells.sum(axis=1) * np.tensordot(disagreement, cells.sum(axis=0), axes=1)).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            kappa: Floats = np.where(expected > 0, 1 - observed / expected, np.nan)
        return kappa


class Scott(Coefficient):
    """Scott's pi: (P(A) - P(E)) / (1 - P(E)), with chance from the pooled marginals of both judges.

    P(E) is the sum over grades of the squared mean proportion of both judges. The judges are treated as
    exchangeable: a systematic difference between them counts as disagreement. From -1 to 1.

    >>> round(Scott().of([[1, 1]] * 300 + [[1, 0]] * 20 + [[0, 1]] * 10 + [[0, 0]] * 70), 4)
    0.7759
    """

    title = "Scott's pi (pooled marginals)"
    key = "scott"
    source = "Scott 1955; Manning, Raghavan and Schuetze 2008, section 8.5"

    def of_cells(self, cells: Floats, _values: Floats) -> Floats:
        """Return the agreement above chance from pooled marginals."""
        cells = cell_proportions(cells)
        pooled = (cells.sum(axis=1) + cells.sum(axis=0)) / 2
        return above_chance(_trace(cells), (pooled**2).sum(axis=0))


class Fleiss(Coefficient):
    """Fleiss' kappa: Scott's pi for any number of judges, all of whom judged every unit.

    P(A) is the proportion of agreeing pairs of judgments of the same unit, P(E) the sum of the squared
    proportions of the grades among all judgments. With two judges it equals Scott's pi. NaN where judgments
    are missing; use `Krippendorff` there. From -1 / (judges - 1) to 1.

    >>> round(Fleiss().of([[1, 1, 1], [1, 1, 0], [0, 0, 0], [0, 0, 1]]), 4)
    0.3333
    """

    title = "Fleiss' kappa"
    key = "fleiss"
    source = "Fleiss 1971"
    multi_judge = True
    allows_missing = False

    def of_cells(self, cells: Floats, _values: Floats) -> Floats:
        """Return the agreement above chance from the proportions of the grades."""
        cells = cell_proportions(cells)
        return above_chance(_trace(cells), (cells.sum(axis=1) ** 2).sum(axis=0))


class Krippendorff(Coefficient):
    """Krippendorff's alpha: 1 - D(A) / D(E), for any number of judges and missing judgments.

    With coincidences o, their marginals n_c and total n, D(A) is the sum of o_ck d_ck / n and D(E) that of
    n_c n_k d_ck / (n (n - 1)). `level` is the level of measurement, which determines the distance d_ck:
    `nominal` 1 for different grades; `ordinal` the squared number of judgments from one grade to the other,
    those of the two grades counted half; `interval` (c - k)^2. At most 1; below 0 for systematic
    disagreement.

    >>> nan = float("nan")
    >>> round(Krippendorff().of([[1, 1], [1, 0], [0, 0], [0, nan]]), 4)
    0.4444
    """

    title = "Krippendorff's alpha"
    key = "krippendorff"
    source = "Krippendorff 2004, section 11.3; Hayes and Krippendorff 2007"
    multi_judge = True

    level: str = choice("nominal", "ordinal", "interval")

    def of_cells(self, cells: Floats, values: Floats) -> Floats:
        """Return 1 minus the ratio of observed to expected disagreement."""
        sums = cells.sum(axis=1)
        total = sums.sum(axis=0)
        if self.level == "ordinal":
            middle = np.cumsum(sums, axis=0) - sums / 2
            distance = (middle[:, None] - middle) ** 2
            observed = (cells * distance).sum(axis=(0, 1))
            expected = (sums * (sums * distance).sum(axis=1)).sum(axis=0)
        else:
            differences = values[:, None] - values
            distance = differences**2 if self.level == "interval" else (differences != 0).astype(np.float64)
            observed = np.tensordot(distance, cells, axes=2)
            expected = (sums * np.tensordot(distance, sums, axes=1)).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            alpha: Floats = np.where(expected > 0, 1 - (total - 1) * observed / expected, np.nan)
        return alpha


PAIRS_PER_BLOCK = 32  # so that draws x tables fit into memory
CELLS = 4_000_000  # array elements per block of draws


class UnitGroups(NamedTuple):
    """Groups of units that are resampled together: the group of each unit and the number of groups."""

    of_unit: Integers
    number: int


def symmetric_tables(coefficient: Coefficient, tables: Floats) -> Floats:
    """Return confusion tables, made symmetric for a coefficient that takes coincidence tables."""
    return tables + np.swapaxes(tables, -1, -2) if coefficient.multi_judge else tables


@dataclass(eq=False)
class PairwiseAgreement:
    """Pairwise agreement of several judges, with bootstrap over groups of units."""

    codes: Integers
    values: Floats
    pairs: Sequence[tuple[int, int]]
    groups: UnitGroups
    _kept: tuple[UnitGroups | None, Floats] | None = None

    def tables(self, pairs: Sequence[tuple[int, int]], groups: UnitGroups | None = None) -> Floats:
        """Return confusion tables: pairs x groups x grades x grades; one group if `groups` is None."""
        of_unit, number = (None, 1) if groups is None else groups
        size = len(self.values)
        found = np.empty((len(pairs), number, size, size))
        others: dict[int, list[int]] = {}
        for row, (a, _) in enumerate(pairs):
            others.setdefault(a, []).append(row)
        for a, rows in others.items():
            second = self.codes[:, [pairs[row][1] for row in rows]]
            found[rows] = confusions_with(self.codes[:, a], second, size, of_unit, number)
        return found

    def values_of(self, coefficient: Coefficient, groups: UnitGroups | None = None) -> Floats:
        """Return a coefficient of every pair of judges: pairs x groups."""
        if self._kept is None or self._kept[0] is not groups:  # several coefficients of a grouping follow
            self._kept = groups, self.tables(self.pairs, groups)
        return coefficient.of_tables(symmetric_tables(coefficient, self._kept[1]), self.values)

    def _blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield the tables of every group in blocks of pairs of judges."""
        for start in range(0, len(self.pairs), PAIRS_PER_BLOCK):
            part = slice(start, start + PAIRS_PER_BLOCK)
            yield part, self.tables(self.pairs[part], self.groups)

    def drawn(self, coefficients: Sequence[Coefficient], draws: int, seed: int) -> Floats:
        """Return bootstrap replicates, resampling groups: coefficients x draws x pairs."""
        replicates = np.full((len(coefficients), draws, len(self.pairs)), np.nan)
        for part, tables in self._blocks() if draws else ():
            cells_of_groups = np.ascontiguousarray(tables.transpose(2, 3, 1, 0))

            def measured(cells: Floats) -> Floats:
                both = {False: cells, True: cells + np.swapaxes(cells, 0, 1)}
                return np.stack([one.of_cells(both[one.multi_judge], self.values) for one in coefficients])

            replicates[:, :, part] = _in_blocks(cells_of_groups, measured, draws, seed)
        return replicates

    def supported(self, coefficient: Coefficient) -> Flags:
        """Return whether the groups are enough for an interval of the coefficient of each pair of judges."""
        return np.concatenate([supported(tables, coefficient) for _, tables in self._blocks()])

    def left_out(self, coefficients: Sequence[Coefficient]) -> Floats:
        """Return the coefficients `without_each` group in turn: coefficients x groups x pairs."""
        left = np.full((len(coefficients), self.groups.number, len(self.pairs)), np.nan)
        for part, tables in self._blocks():
            for row, coefficient in enumerate(coefficients):
                symmetric = symmetric_tables(coefficient, tables)
                left[row, :, part] = without_each(symmetric, coefficient, self.values).T
        return left


def without_each(tables: Floats, coefficient: Coefficient, values: Floats) -> Floats:
    """Return a coefficient of the sum of the tables of groups without each in turn: ... x groups.

    NaN for a group without units; infinite where the coefficient is undefined without a group.
    """
    left = coefficient.of_tables(tables.sum(axis=-3, keepdims=True) - tables, values)
    left = np.where(np.isnan(left), np.inf, left)
    return np.where(tables.sum(axis=(-2, -1)) > 0, left, np.nan)


FEWEST_OF_EACH = 5  # with fewer, intervals held as few as .01 of simulated samples (docs/agreement.md)


def supported(tables: Floats, coefficient: Coefficient) -> Flags:
    """Return whether tables of groups (... x groups x grades x grades) are enough for an interval.

    They are if the judges disagree in at least five groups and agree in at least five: on any grade if the
    coefficient is not corrected for chance, else on each of two grades.

    >>> full, partial = np.diag([30.0, 20.0]), np.array([[30.0, 4.0], [1.0, 5.0]])
    >>> [bool(supported(np.stack([table] * 5), Cohen())) for table in (full, partial)]
    [False, True]
    """
    present = tables > 1e-9  # coincidences are sums of fractions
    apart = (present & ~np.eye(present.shape[-1], dtype=np.bool_)).any(axis=(-2, -1)).sum(axis=-1)
    alike = np.diagonal(present, axis1=-2, axis2=-1)  # ... x groups x grades
    if not coefficient.chance_corrected:
        alike = np.asarray(alike.any(axis=-1, keepdims=True))
    grades = (alike.sum(axis=-2) >= FEWEST_OF_EACH).sum(axis=-1)
    return np.asarray((apart >= FEWEST_OF_EACH) & (grades > coefficient.chance_corrected))


FEWEST_QUERIES = 10  # with fewer, intervals held .88 to .94 of simulated samples (docs/agreement.md)


def jackknife_limits(
    values: Floats,
    left_out: Floats,
    *,
    level: float = 0.95,
    fewest: int = FEWEST_QUERIES,
    least: float = -np.inf,
) -> tuple[Floats, Floats]:
    """Return limits of coefficients by Student's t on their values without each query (jackknife).

    With n queries the squared standard error is (n - 1) / n times the sum of squared deviations of the values
    without one query from their mean; t has n - 1 degrees of freedom. Limits are from `least` to 1. NaN for
    fewer than `fewest` queries, and where a value is undefined.

    Source: Tukey (1958), Annals of Mathematical Statistics 29; Efron and Tibshirani (1993), chapter 11.

    >>> without = 0.5 + np.array([[0.1], [-0.1]] * 5)  # error sqrt(9 / 10 * 10 * 0.01) = 0.3
    >>> [limit.round(3).tolist() for limit in jackknife_limits(np.array([0.5]), without)]  # t = 2.262
    [[-0.179], [1.0]]
    """
    found = ~np.isnan(left_out)
    number = found.sum(axis=0).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = np.where(found, left_out, 0.0).sum(axis=0) / number
        squares = np.where(found, (left_out - middle) ** 2, 0.0).sum(axis=0)
        half_width = t_quantiles(number - 1, (1 + level) / 2) * np.sqrt((number - 1) / number * squares)
        half_width[(number < fewest) | ~np.isfinite(half_width)] = np.nan
        return np.maximum(values - half_width, least), np.minimum(values + half_width, 1.0)


def drawn_of_all(tables: Floats, values: Floats, coefficient: Coefficient, draws: int, seed: int) -> Floats:
    """Return bootstrap replicates of a coefficient of all judges, resampling the tables of groups."""
    cells = np.ascontiguousarray(tables.transpose(1, 2, 0)[..., None])

    def measured(resampled: Floats) -> Floats:
        return coefficient.of_cells(resampled, values)[None]

    return _in_blocks(cells, measured, draws, seed)[0, :, 0]


def _in_blocks(cells: Floats, measured: Callable[[Floats], Floats], draws: int, seed: int) -> Floats:
    """Return a statistic of the sums of groups drawn with replacement, computed in blocks of draws."""
    groups = cells.shape[2]
    size = max(1, min(256, CELLS // max(groups, cells.size // max(groups, 1), 1)))

    def block_of(rng: np.random.Generator, count: int) -> Floats:
        return measured(weights(rng, count, groups) @ cells)

    return np.concatenate(list(each_block(draws, seed, block_of, block=size)), axis=1)
