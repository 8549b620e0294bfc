"""The tests behind every comparison: p-values, corrections, simultaneous limits and verdicts.

Columns of differences by query (a pair of runs, or a pair on a slice) are tested together. A family of tests
consists of all columns of one measure, or of all measures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from leadline.comparison.pair_texts import few_groups_text
from leadline.comparison.pairing import MAX_T, MAX_T_DRAWS, TUKEY, Pairs, Rules, in_groups
from leadline.data.arrays import Flags, Floats
from leadline.data.table import ResultWarning, raised
from leadline.data.wording import counted, queries
from leadline.errors import UsageError
from leadline.evaluation.results import Results
from leadline.stats.intervals import COVERAGE, NORMAL, approximate, consistent_limits
from leadline.stats.moments import FEWEST_GROUPS, Groups, Weighted, effective_groups, means, moments, totals
from leadline.stats.paired_tests import (
    DECIMALS,
    Bootstrap,
    Randomisation,
    Sign,
    T,
    decided_by_sign,
    equivalence,
)
from leadline.stats.power import outcomes
from leadline.stats.ranks import paired_t
from leadline.stats.simultaneous import BH, MaxT, RangeDistribution, max_t, tukey

TINY = 1e-300  # smallest p-value that has a quantile
FEWEST = 5  # minimum number of queries (or groups): with fewer no test is significant at 95 %
BLOCK = 2_000_000  # differences per block of pairs


@dataclass(eq=False)
class Differences:
    """Differences by query of the pairs of runs by one measure.

    `values` are queries x runs, or without `pairs` the differences themselves, NaN where a query does not
    count. `reasons` say why a column is not tested and has no interval; none at all if all are tested.
    """

    values: Floats
    pairs: Pairs | None = None
    measure: str = ""
    rising: bool = True
    reasons: Sequence[str] = ()

    @classmethod
    def of(
        cls, results: Results, pairs: Pairs, reasons: Sequence[Sequence[str]] | None = None
    ) -> list[Differences]:
        """Return the differences of pairs by every measure of results; `reasons` are by measure."""
        why = reasons or [()] * len(results.measures)
        return [
            cls(results.averaged_values(index).T, pairs, str(measure), measure.rising, why[index])
            for index, measure in enumerate(results.measures)
        ]

    @property
    def size(self) -> int:
        """Number of columns."""
        return self.values.shape[1] if self.pairs is None else len(self.pairs)

    @cached_property
    def complete(self) -> Flags:
        """Flags of the queries that all runs have."""
        return np.asarray(~np.isnan(self.values).any(axis=1))

    @cached_property
    def table(self) -> Floats:
        """Differences, queries x columns."""
        if self.pairs is None:
            return self.values
        return np.asarray(self.values[:, self.pairs.first] - self.values[:, self.pairs.second])

    def p_values(self, rules: Rules, groups: Groups | None) -> Floats:
        """Return the p-values of the columns, uncorrected."""
        return rules.test.p_values(self.table, seed=rules.seed, groups=groups)


def doubtful(p: Floats, effect: Floats, doubt: Floats, alpha: float) -> Floats:
    """Return one-sided p-values of effects that may be smaller by a doubt.

    The standard error is that which a normal distribution gives an effect of this p-value, and the doubt adds
    to it what widens the limit at `alpha` by the doubt, as in `EstimatedResults`.

    >>> doubtful(np.array([0.01, 0.01]), np.array([0.1, 0.1]), np.array([0.0, 0.1]), 0.025).round(4).tolist()
    [0.01, 0.0669]
    """
    found = p.copy()
    for place in zip(*np.nonzero((doubt > 0) & (p < 0.5)), strict=True):
        quantile = -NORMAL.inv_cdf(max(float(p[place]), TINY))
        error = np.hypot(effect[place] / quantile, doubt[place] / -NORMAL.inv_cdf(alpha))
        found[place] = NORMAL.cdf(-float(effect[place] / error))
    return found


class AllPairs(Differences):
    """Differences of all pairs of many runs, whose p-values need no table of all differences."""

    def p_values(self, rules: Rules, groups: Groups | None) -> Floats:
        assert self.pairs is not None
        used = self.values[~np.isnan(self.values).all(axis=1)]
        if type(rules.test) is T and groups is None and not np.isnan(used).any():
            return paired_t(used)
        size = max(1, BLOCK // max(1, len(self.values)))
        starts = range(0, self.size, size)
        parts = [Pairs(*(side[start : start + size] for side in self.pairs)) for start in starts]
        return np.concatenate([Differences(self.values, part).p_values(rules, groups) for part in parts])


class Tested:
    """Columns of differences tested together: measures x columns.

    Attributes
    ----------
    doubt : array (n_measures, n_columns, 2), optional
        By how much the mean of each column may be too high and too low, whatever the queries: limits are
        widened by it, and p-values are those of the wider limits.
    """

    def __init__(
        self,
        differences: Sequence[Differences],
        rules: Rules,
        groups: Groups | None = None,
        *,
        doubt: Floats | None = None,
    ) -> None:
        self.doubt = doubt if doubt is not None and doubt.any() else None
        self.parts = list(differences)
        self.rules = rules.sized(sum(part.size for part in self.parts))
        self.groups = groups
        if rules.joint == TUKEY:
            if groups is not None:
                raise UsageError("Tukey does not support query weights. Use --correction MaxT.")
            for part in self.parts:
                if not part.complete.any():
                    raise UsageError(
                        f"{TUKEY} needs queries with a value of {part.measure} for every run, but there are "
                        "none. Use --correction MaxT."
                    )

    @cached_property
    def differences(self) -> list[Floats]:
        """Tested differences by measure, queries x columns; Tukey needs queries of all runs."""
        if self.rules.joint != TUKEY:
            return [part.table for part in self.parts]
        return [np.where(part.complete[:, None], part.table, np.nan) for part in self.parts]

    @cached_property
    def _families(self) -> list[list[int]]:
        """Indices of the measures that are corrected together."""
        indices = list(range(len(self.parts)))
        return [indices] if self.rules.family == "all" else [[index] for index in indices]

    @property
    def size(self) -> int:
        """Number of tests in a family; Tukey permutes all runs, even with a baseline."""
        if self.rules.joint == TUKEY:
            runs: int = self.parts[0].values.shape[1]
            return runs * (runs - 1) // 2
        return sum(self.parts[index].size for index in self._families[0])

    @cached_property
    def means(self) -> Floats:
        """Mean differences, measures x columns; NaN for runs without a query in common."""
        return np.stack([means(totals(table, self.groups)).mean for table in self.differences])

    @cached_property
    def p_uncorrected(self) -> Floats:
        """p-values before correction, measures x columns; NaN where undefined or not tested."""
        tested = self.parts
        if self.rules.joint == TUKEY:
            tested = [Differences(table) for table in self.differences]
        p = np.stack([part.p_values(self.rules, self.groups) for part in tested])
        return self._without_untested(self._doubtful(p))

    @cached_property
    def p_corrected(self) -> Floats:
        """Corrected p-values, measures x columns."""
        if self.rules.joint == TUKEY:
            ranges = zip(self._tukey, self.means, strict=True)
            p = np.stack([one.p_values(means) for one, means in ranges])
            return self._without_untested(self._doubtful(p))
        if self.rules.joint == MAX_T:
            return self._without_untested(self._doubtful(self._by_family([each.p for each in self._max_t])))
        corrected = [self.rules.corrected(self.p_uncorrected[indices].ravel()) for indices in self._families]
        return self._without_untested(self._by_family(corrected))

    @cached_property
    def p_equivalent(self) -> Floats | None:
        """Corrected p-values of the equivalence tests, measures x columns; None without a margin."""
        margin = self.rules.margin
        if margin is None:
            return None
        p = np.stack([equivalence(table, margin, self.groups) for table in self.differences])
        p = self._without_untested(p)
        if self.doubt is not None:
            p[self.doubt.any(axis=2)] = 1.0
        return self._by_family(
            [self.rules.single.corrected(p[indices].ravel()) for indices in self._families]
        )

    @cached_property
    def rejected(self) -> Flags:
        """Flags of the significant differences, measures x columns."""
        return self._below(self.p_corrected)

    def significantly_better(self, index: int) -> Flags:
        """Return flags of runs (rows) that are significantly better than others by a measure: runs x runs."""
        part = self.parts[index]
        assert part.pairs is not None
        differ = np.flatnonzero(self.rejected[index])
        first, second = part.pairs.first[differ], part.pairs.second[differ]
        ahead = (self.means[index, differ] > 0) == part.rising
        better = np.zeros((part.values.shape[1],) * 2, dtype=np.bool_)
        better[np.where(ahead, first, second), np.where(ahead, second, first)] = True
        return better

    @cached_property
    def verdicts(self) -> list[list[str]]:
        """Verdict on each column, by measure; see `verdicts`."""
        return [
            verdicts(
                self.p_corrected[index],
                self.means[index],
                self.rules.alpha,
                rising=part.rising,
                identical=outcomes(self.differences[index]).identical,
                p_equivalent=None if self.p_equivalent is None else self.p_equivalent[index],
            )
            for index, part in enumerate(self.parts)
        ]

    @cached_property
    def limits(self) -> Floats:
        """Confidence limits of each column alone: measures x columns x (low, high)."""
        if self.rules.joint is not None and self.size == 1:
            return self._family_limits
        rows = [
            self._interval(table, self.rules.confidence, self._below(p))
            for table, p in zip(self.differences, self.p_uncorrected, strict=True)
        ]
        return self._without_untested(self._widened(np.stack(rows)))

    @cached_property
    def simultaneous(self) -> Floats | None:
        """Simultaneous confidence limits; None for a single column or without correction."""
        return self._family_limits if self.size > 1 and self.rules.corrects else None

    @property
    def shown_limits(self) -> Floats:
        """Limits consistent with the verdicts: simultaneous ones, or those of each column alone."""
        return self.limits if self.simultaneous is None else self.simultaneous

    @cached_property
    def _family_limits(self) -> Floats:
        if self.rules.joint == TUKEY:
            rows = [self._tukey_limits(index) for index in range(len(self.parts))]
            return self._without_untested(self._widened(np.stack(rows)))
        rows = [self._limits_of_family(number) for number in range(len(self._families))]
        return self._without_untested(self._widened(self._by_family(rows)))

    def _widened(self, limits: Floats) -> Floats:
        """Return limits that also hold whatever is in doubt."""
        if self.doubt is None:
            return limits
        reach = np.hypot(limits - self.means[..., None], self.doubt)
        return np.where(self.doubt > 0, self.means[..., None] + reach * (-1, 1), limits)

    def _doubtful(self, p: Floats) -> Floats:
        """Return two-sided p-values that agree with the wider limits."""
        if self.doubt is None:
            return p
        toward_zero = np.where(self.means > 0, self.doubt[..., 0], self.doubt[..., 1])
        return 2 * doubtful(p / 2, np.abs(self.means), toward_zero, self.rules.alpha / 2)

    def _limits_of_family(self, number: int) -> Floats:
        """Return the simultaneous limits of one family: columns x 2."""
        rules, indices = self.rules, self._families[number]
        table = self._joined(indices)
        significant = self.rejected[indices].ravel()
        if rules.joint == MAX_T:
            limits = np.stack(self._max_t[number].limits(rules.confidence), axis=1)
            return _unbounded(limits, table, significant, self.groups)
        share = rules.alpha / max(1, int((~np.isnan(self.p_uncorrected[indices])).sum()))
        if isinstance(rules.correction, BH):
            share *= max(1, int(significant.sum()))
        return self._interval(table, 1 - share, significant)

    def _interval(self, table: Floats, level: float, significant: Flags) -> Floats:
        """Return confidence limits that agree with the tests where both concern the mean: columns x 2."""
        rules = self.rules
        low, high = rules.limits(table, level, self.groups)
        if rules.matched:
            low, high = consistent_limits(low, high, significant, table)
        return _unbounded(np.stack([low, high], axis=1), table, significant, self.groups)

    @cached_property
    def _max_t(self) -> list[MaxT]:
        draws, seed = MAX_T_DRAWS, self.rules.seed
        return [max_t(self._joined(i), draws=draws, seed=seed, groups=self.groups) for i in self._families]

    def _joined(self, indices: Sequence[int]) -> Floats:
        """Return the differences of a family, queries x columns of all its measures."""
        return np.concatenate([self.differences[index] for index in indices], axis=1)

    @cached_property
    def _tukey(self) -> list[RangeDistribution]:
        return [tukey(part.values[part.complete], seed=self.rules.seed) for part in self.parts]

    def _tukey_limits(self, index: int) -> Floats:
        reach, mean = self._tukey[index].half_width(self.rules.confidence), self.means[index]
        table = self.differences[index]
        return np.stack(consistent_limits(mean - reach, mean + reach, self.rejected[index], table), axis=1)

    def _below(self, p: Floats) -> Flags:
        with np.errstate(invalid="ignore"):
            return np.asarray(p < self.rules.alpha)

    def _by_family(self, found: Sequence[Floats]) -> Floats:
        """Return what was found for the columns of each family as measures x columns."""
        joined = np.concatenate(found)
        return joined.reshape(len(self.parts), -1, *joined.shape[1:])

    def _without_untested(self, found: Floats) -> Floats:
        """Set what was found to NaN for columns with a reason not to be tested."""
        for row, part in enumerate(self.parts):
            if part.reasons:
                found[row, [bool(reason) for reason in part.reasons]] = np.nan
        return found

    @property
    def corrects(self) -> bool:
        """Whether p-values differ from those without correction."""
        return self.rules.corrects and (self.size > 1 or self.rules.joint is not None)

    def notices(self) -> list[ResultWarning]:
        """Return the warnings about tests and intervals."""
        found = []
        for part in self.parts if self.rules.joint == TUKEY else ():
            left = int((~part.complete & ~np.isnan(part.values).all(axis=1)).sum())
            words = f"{TUKEY} leaves out {queries(left)} for which a run has no {part.measure}"
            found += raised(("incomplete_queries", words, left))
        found += [*self._out_of_reach(), *self._few_queries()]
        if isinstance(self.rules.test, Bootstrap):
            found += _resamples_without_spread(self.differences, self.groups)
        other = self.rules.joint is None and not isinstance(self.rules.test, Sign)
        tested = self.differences if other else []
        count = sum(int(decided_by_sign(table, self.groups).sum()) for table in tested)
        same = "difference is the same on every query"
        if in_groups(self.groups):
            same = "mean difference is the same in every group"
        words = f"the sign test decides {counted(count, 'comparison')}, because the {same}"
        return [*found, *raised(("decided_by_sign", words, count))]

    def _few_queries(self, *, alone: bool = False) -> list[ResultWarning]:
        """Return how often intervals from few queries hold, of a family or of single pairs."""
        rules = self.rules
        single = alone or self.size < 2 or not rules.corrects
        joint = rules.joint if self.size < 2 or not alone else None
        name = "single " * single + ("MaxT" if joint else type(rules.interval).__name__)
        unknown = name not in COVERAGE if single else rules.joint == TUKEY or isinstance(rules.correction, BH)
        if unknown:
            return []
        units = max(
            float(effective_groups(totals(table, self.groups)).max(initial=0)) for table in self.differences
        )
        number = queries(int(units))
        if self.groups is not None:
            if units < FEWEST_GROUPS:  # no interval
                return []
            number = f"{units:.1f} effective {'groups' if in_groups(self.groups) else 'queries'}"
        return approximate(name if name in COVERAGE else "Bonferroni", units, number)

    def smallest_p(self, units: int) -> float:
        """Return the smallest corrected p that so many differing queries (or groups) can give in a family."""
        rules = self.rules
        if rules.joint == TUKEY:
            return min(float(one.p_values(one.drawn[-1])) for one in self._tukey)
        if rules.joint == MAX_T:
            return max(2.0 ** (1 - min(units, 1000)), 1 / (MAX_T_DRAWS + 1))
        return float(rules.corrected(np.full(self.size, rules.test.smallest(units)))[0])

    def _out_of_reach(self) -> list[ResultWarning]:
        """Return a warning if no corrected p-value can be below the significance level."""
        rules, size = self.rules, self.size
        differs = [np.nan_to_num(table) != 0 for table in self.differences]
        most = max(int(each.sum(axis=0).max()) for each in differs)
        nouns = ("query", "queries")
        codes = self.groups.codes if isinstance(self.groups, Weighted) else self.groups
        if codes is not None and in_groups(self.groups):
            nouns = ("group of queries", "groups of queries")
            most = min(most, max(len(np.unique(codes[column])) for each in differs for column in each.T))
        corrected = self.smallest_p(most)
        if most == 0 or corrected < rules.alpha or self.rejected.any():  # as by the sign test
            return []
        smallest, draws = rules.test.smallest(most), getattr(rules.test, "draws", 0)
        if rules.joint is None and draws and smallest == 1 / (draws + 1):
            factor = size * float(rules.corrected(np.full(size, 1 / size))[0])
            enough = math.ceil(round(factor) / rules.alpha)
            kind = type(rules.test)
            least = rules.corrected(np.full(size, kind(draws=enough).smallest(most)))[0]
            if least < rules.alpha:
                words = f"with {draws:,} draws, no difference can be significant"
                words += f" (use the test {kind.__name__}(draws={enough}))"
                return [ResultWarning("too_few_draws", words, size)]
        p = rules.decided_by if self.corrects else rules.test
        limit = "at most" if size > 1 or in_groups(self.groups) else "only"
        words = (
            f"no difference can be significant, because the runs{' of each pair' * (size > 1)} differ on "
            f"{limit} {counted(most, *nouns)}: p ({p}) is "
            f"{'undefined' if np.isnan(self.p_corrected).all() else f'at least {corrected:.2g}'}"
        )
        return [ResultWarning("too_few_queries", words, most)]


def verdicts(
    p: Floats,
    mean: Floats,
    alpha: float,
    *,
    rising: bool,
    identical: Flags,
    p_equivalent: Floats | None = None,
) -> list[str]:
    """Return the verdicts of corrected p-values and mean differences.

    "better" or "worse" (the first run) for significant differences; "equivalent" for other differences that
    are significantly smaller than the margin; "identical" without any difference; "undecided" if p is
    undefined; otherwise "not significant".
    """
    with np.errstate(invalid="ignore"):
        significant = np.asarray(p < alpha)
        alike = np.zeros_like(significant) if p_equivalent is None else p_equivalent < alpha
        ahead = mean > 0 if rising else mean < 0
    words = np.where(significant, np.where(ahead, "better", "worse"), "not significant").astype("<U15")
    words[alike & ~significant] = "equivalent"
    words[np.isnan(p)] = "undecided"
    words[identical] = "identical"
    found: list[str] = words.tolist()
    return found


def few_queries_text(count: int) -> str:
    """Return the reason for which so few queries are not tested; empty if they are enough."""
    return "" if count >= FEWEST else f"{queries(count)}, but at least {FEWEST} are needed"


def few_queries_texts(differences: Floats, groups: Groups | None) -> list[str]:
    """Return the reason for which each column has too few queries or groups to be tested; empty if enough."""
    texts = [few_queries_text(count) for count in (~np.isnan(differences)).sum(axis=0).tolist()]
    if groups is None:
        return texts
    found = means(totals(differences, groups))
    units = zip(found.clusters.astype(int).tolist(), found.effective.tolist(), strict=True)
    alone = not in_groups(groups)
    few = [few_groups_text(*unit, alone=alone) if unit[0] else "" for unit in units]
    return [text or reason for text, reason in zip(few, texts, strict=True)]


def _unbounded(limits: Floats, differences: Floats, significant: Flags, groups: Groups | None) -> Floats:
    """Return limits with infinite ones for pairs with equal differences that are not significant.

    The variance of equal differences is 0. The inverted sign test rejects all means except the observed one
    if it rejects 0, and otherwise none.
    """
    decided = decided_by_sign(differences, groups) & ~significant
    return np.where(decided[:, None], np.array([-np.inf, np.inf]), limits)


def _resamples_without_spread(
    differences: Sequence[Floats], groups: Groups | None, *, most: float = 0.01
) -> list[ResultWarning]:
    """Return a warning of pairs with a share of constant bootstrap resamples above `most`.

    With n queries, of which n_v have value v, the probability of a constant resample is the sum of
    (n_v / n)^n. Its standard error is 0, which adds a point mass at 0 or infinity to the distribution of t.
    With groups of queries the units are the groups, and their values the mean differences.
    """
    worst, count = 0.0, 0
    for table in differences:
        units = table
        if in_groups(groups):
            observed = totals(table, groups)
            with np.errstate(invalid="ignore"):
                units = np.round(observed.sums / observed.sizes, DECIMALS)
        for column in units.T:
            defined = column[~np.isnan(column)]
            if len(defined) < 2 or not np.ptp(defined):
                continue
            _, times = np.unique(defined, return_counts=True)
            share = float(((times / len(defined)) ** len(defined)).sum())
            worst, count = max(worst, share), count + (share > most)
    same = "mean difference in every group" if in_groups(groups) else "difference on every query"
    words = (
        f"p is approximate for {counted(count, 'comparison')}: up to {100 * worst:.0f} % of the resamples "
        f"have the same {same}"
    )
    return [ResultWarning("resamples_without_spread", words, count)] if count else []


class Finding(NamedTuple):
    """Mean difference with its interval and p-value."""

    mean: float
    low: float
    high: float
    p: float
    identical: bool


NO_TEST = Finding(math.nan, math.nan, math.nan, math.nan, identical=False)


def stratified(strata: Sequence[Floats], rules: Rules) -> Finding:
    """Test the mean over collections of mean differences, over queries within the collections.

    Every collection has the same weight. The t test has variance sum(s_c^2 / n_c) / C^2 and Satterthwaite's
    degrees of freedom; the randomization test flips the signs of queries, weighted by 1 / n_c.

    Source: Satterthwaite (1946), An approximate distribution of estimates of variance components.

    >>> found = stratified([np.array([0.1, 0.3]), np.array([0.0, 0.2, 0.1, 0.1])], Rules())
    >>> round(found.mean, 4), round(found.p, 4)
    (0.15, 0.165)
    """
    if not strata:
        return NO_TEST
    number = np.array([len(each) for each in strata], dtype=np.float64)
    found = [moments(each[:, None]) for each in strata]
    mean = float(np.array([each.mean[0] for each in found]).mean())
    share = np.array([each.deviation[0] for each in found]) ** 2 / number  # NaN for one query
    every = np.concatenate(strata)
    identical = not every.any()
    error, freedom, p = math.sqrt(share.sum()) / len(strata), math.nan, math.nan
    if error > 0:
        from scipy.special import stdtr

        freedom = share.sum() ** 2 / (share**2 / (number - 1)).sum()
        p = float(2 * stdtr(freedom, -abs(mean) / error))
    elif error == 0:
        p = 1.0 if identical else Sign().p(every)
    if isinstance(rules.test, Randomisation):
        weighted = np.concatenate([each / len(each) for each in strata])
        p = float(rules.test.p_values(weighted[:, None], seed=rules.seed)[0])
    return Finding(mean, *_t_limits(mean, error, freedom, rules), p, identical)


def over_collections(strata: Sequence[Floats], rules: Rules) -> Finding:
    """Test the mean over collections of mean differences, with the collections as the sample.

    >>> found = over_collections([np.array([0.1]), np.array([0.2, 0.4]), np.array([0.2])], Rules())
    >>> round(found.mean, 4), round(found.p, 4)  # t of 0.1, 0.3, 0.2
    (0.2, 0.0742)
    """
    if not strata:
        return NO_TEST
    means = np.array([each.mean() for each in strata])[:, None]
    found = moments(means)
    mean, error = float(found.mean[0]), float(found.error[0])
    p = float(rules.test.p_values(means, seed=rules.seed)[0])
    limits = _t_limits(mean, error, len(means) - 1.0, rules)
    return Finding(mean, *limits, p, not np.concatenate(strata).any())


def _t_limits(mean: float, error: float, freedom: float, rules: Rules) -> tuple[float, float]:
    """Return the limits of Student's t; the mean without an error, NaN where this is undefined."""
    if not error > 0:
        return mean + error, mean + error
    from scipy.special import stdtrit

    half = float(stdtrit(freedom, (1 + rules.confidence) / 2)) * error
    return mean - half, mean + half
