"""Multiple comparisons: corrected p-values and simultaneous intervals that are consistent with them.

A family of tests consists of all pairs of one measure, or of all measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.comparison.pairing import Pairs
from leadline.comparison.rules import MAX_T_DRAWS, TUKEY, Rules
from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.results import Results, ResultWarning
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.stats.corrections import BH
from leadline.stats.intervals import consistent_limits
from leadline.stats.moments import effective_groups, moments, totals
from leadline.stats.paired_tests import decided_by_sign
from leadline.stats.simultaneous import max_t, tukey

# Percentage of simulated families of pairs whose 95 % intervals all held, by number of queries: lowest and
# highest of three collections (docs/comparing.md). And the number of queries from which it is not said.
COVERAGE = {
    "Bonferroni": {6: (60, 72), 10: (65, 84), 15: (71, 91)},
    "MaxT": {6: (76, 98), 10: (88, 97), 15: (93, 96)},
}
ENOUGH = 25


class Family(NamedTuple):
    """Corrected p-values and simultaneous confidence limits.

    Attributes
    ----------
    p_corrected : ndarray of float64, shape (n_measures, n_pairs)
        Corrected p-values.
    limits : ndarray of float64, shape (n_measures, n_pairs, 2), or None
        Simultaneous limits; None without correction.
    size : int
        Number of tests in a family.
    """

    p_corrected: Floats
    limits: Floats | None
    size: int


def size_of(rules: Rules, *, pairs: int, measures: int) -> int:
    """Return the number of tests in a family."""
    return pairs * (measures if rules.family == "all" else 1)


def corrected(differences: Sequence[Floats], p: Floats, rules: Rules, groups: Integers | None) -> Family:
    """Correct p-values for multiple comparisons and compute simultaneous confidence intervals."""
    families = [list(range(len(differences)))]
    if rules.family != "all":
        families = [[index] for index in families[0]]
    size = size_of(rules, pairs=p.shape[1], measures=len(p))
    p_corrected = np.full(p.shape, np.nan)
    limits = np.full((*p.shape, 2), np.nan)
    for indices in families:
        columns = np.concatenate([differences[index] for index in indices], axis=1)
        joined, low_high = _family(columns, p[indices].ravel(), rules, groups)
        p_corrected[indices] = joined.reshape(len(indices), -1)
        if low_high is not None:
            limits[indices] = low_high.reshape(len(indices), -1, 2)
    has_limits = rules.joint is not None or (rules.corrects and size > 1)
    return Family(p_corrected, limits if has_limits else None, size)


def _family(
    differences: Floats, p: Floats, rules: Rules, groups: Integers | None
) -> tuple[Floats, Floats | None]:
    """Return corrected p-values and simultaneous limits (columns x 2) of one family."""
    if rules.joint is not None:
        joint_test = max_t(differences, draws=MAX_T_DRAWS, seed=rules.seed, groups=groups)
        limits = np.stack(joint_test.limits(rules.confidence), axis=1)
        return joint_test.p, unbounded(limits, differences, joint_test.p < rules.alpha, groups)
    assert rules.correction is not None
    p_corrected = rules.correction.corrected(p)
    size = int((~np.isnan(p)).sum())
    if size < 2 or not rules.corrects:
        return p_corrected, None
    with np.errstate(invalid="ignore"):
        significant = np.asarray(p_corrected < rules.alpha)
    share = rules.alpha / size
    if isinstance(rules.correction, BH):
        share *= max(1, int(significant.sum()))
    low, high = rules.interval.limits(differences, level=1 - share, seed=rules.seed, groups=groups)
    if rules.matched:
        low, high = consistent_limits(low, high, significant, differences)
    limits = np.stack([low, high], axis=1)
    return p_corrected, unbounded(limits, differences, significant, groups)


def unbounded(limits: Floats, differences: Floats, significant: Flags, groups: Integers | None) -> Floats:
    """Return limits with infinite ones for pairs with equal differences that are not significant.

    The variance of equal differences is 0. The inverted sign test rejects all means except the observed one
    if it rejects 0, and otherwise none.
    """
    decided = decided_by_sign(differences, groups) & ~significant
    return np.where(decided[:, None], np.array([-np.inf, np.inf]), limits)


def pairwise_limits(differences: Floats, p: Floats, rules: Rules, groups: Integers | None) -> Floats:
    """Return the confidence limits of each pair alone, consistent with its p-value: columns x 2."""
    low, high = rules.interval.limits(differences, level=rules.confidence, seed=rules.seed, groups=groups)
    with np.errstate(invalid="ignore"):
        significant = np.asarray(p < rules.alpha)
    if rules.matched:
        low, high = consistent_limits(low, high, significant, differences)
    return unbounded(np.stack([low, high], axis=1), differences, significant, groups)


class TukeyTest(NamedTuple):
    """Randomised Tukey HSD test of one measure: differences, corrected p-values, limits and warnings."""

    differences: Floats
    p_corrected: Floats
    limits: Floats
    warnings: list[ResultWarning]


def tukey_test(results: Results, index: int, differences: Floats, rules: Rules) -> TukeyTest:
    """Test all pairs by one measure with the randomised Tukey HSD test, over the queries of all runs."""
    values = results.averaged_values(index).T
    complete = np.asarray(~np.isnan(values).any(axis=1))
    if not complete.any():
        raise UsageError(f"no query has {results.measures[index]} in all runs; {TUKEY} needs at least one")
    left = int((~complete & ~np.isnan(values).all(axis=1)).sum())
    words = f"queries missing from some run: {left} for {results.measures[index]}; left out by {TUKEY}"
    warnings = [ResultWarning("incomplete_queries", words, left)] if left else []
    differences = np.where(complete[:, None], differences, np.nan)
    ranges, means = tukey(values[complete], seed=rules.seed), moments(differences).mean
    reach = ranges.half_width(rules.confidence)
    p = ranges.p_values(means)
    limits = consistent_limits(means - reach, means + reach, np.asarray(p < rules.alpha), differences)
    return TukeyTest(differences, p, np.stack(limits, axis=1), warnings)


def few_queries(
    differences: Sequence[Floats], size: int, rules: Rules, groups: Integers | None
) -> list[ResultWarning]:
    """Return how often simultaneous intervals from few queries hold; nothing for a single pair."""
    if size < 2 or not rules.corrects or rules.joint == TUKEY or isinstance(rules.correction, BH):
        return []
    units = max(float(effective_groups(totals(table, groups)).max(initial=0)) for table in differences)
    if not 0 < units < ENOUGH:
        return []
    number = counted(int(units), "query", "queries") if groups is None else f"{units:.1f} effective groups"
    name = "MaxT" if rules.joint else "Bonferroni"
    figures = COVERAGE[name]
    least = max((few for few in figures if few <= units), default=min(figures))
    low, high = figures[least]
    words = (
        f"simultaneous intervals: approximate with {number}; with {least} queries, 95 % intervals ({name}) "
        f"of all pairs of 10 to 37 runs held together in {low} to {high} % of simulated samples "
        "(docs/comparing.md)"
    )
    return [ResultWarning("approximate_intervals", words, int(units))]


def out_of_reach(
    differences: Sequence[Floats], pairs: Pairs, rules: Rules, groups: Integers | None
) -> list[ResultWarning]:
    """Return a warning if no corrected p-value can be below the significance level."""
    if rules.joint == TUKEY:
        return []
    size = size_of(rules, pairs=len(pairs), measures=len(differences))
    most = max(int((np.nan_to_num(table) != 0).sum(axis=0).max()) for table in differences)
    noun = "queries"
    if groups is not None:
        noun = "groups of queries"
        most = min(most, max(_most_groups(table, groups) for table in differences))
    smallest = rules.test.smallest(most)
    if rules.joint is not None:
        corrected_p = max(2.0 ** (1 - min(most, 1000)), 1 / (MAX_T_DRAWS + 1))
    else:
        assert rules.correction is not None
        corrected_p = float(rules.correction.corrected([smallest] + [1.0] * (size - 1))[0])
    if most == 0 or corrected_p < rules.alpha:
        return []
    draws = getattr(rules.test, "draws", 0)
    if draws and smallest == 1 / (draws + 1):
        enough = int(np.ceil(size / rules.alpha))
        words = (
            f"tests in a family: {size:,}; with {draws:,} draws none can be significant "
            f"(draws={enough} is sufficient)"
        )
        return [ResultWarning("too_few_draws", words, size)]
    words = (
        f"{noun} that differ: at most {most:,}; too few for a significant difference by {rules.test}, whose "
        f"p is at least {smallest:.4g}" + (f" (tests in a family: {size:,})" if size > 1 else "")
    )
    return [ResultWarning("too_few_queries", words, most)]


def _most_groups(differences: Floats, groups: Integers) -> int:
    """Return the largest number of groups in which a query of a pair differs."""
    differs = np.nan_to_num(differences) != 0
    return max((len(np.unique(groups[column])) for column in differs.T), default=0)


def resamples_without_spread(differences: Sequence[Floats], *, most: float = 0.01) -> list[ResultWarning]:
    """Return a warning of pairs with a share of constant bootstrap resamples above `most`.

    With n queries, of which n_v have value v, the probability of a constant resample is the sum of
    (n_v / n)^n. Its standard error is 0, which adds a point mass at 0 or infinity to the distribution of t.
    """
    worst, count = 0.0, 0
    for table in differences:
        for column in table.T:
            defined = column[~np.isnan(column)]
            if len(defined) < 2 or not np.ptp(defined):
                continue
            _, times = np.unique(defined, return_counts=True)
            share = float(((times / len(defined)) ** len(defined)).sum())
            worst, count = max(worst, share), count + (share > most)
    words = (
        f"pairs with many constant bootstrap resamples: {count}; up to {100 * worst:.0f} % of the resamples "
        "have zero variance, and p is approximate"
    )
    return [ResultWarning("resamples_without_spread", words, count)] if count else []
