"""Families of pairs: corrected p values, and simultaneous intervals that agree with them.

A family is all pairs of a measure, or of all measures. Whether a pair is significant and whether its
simultaneous interval excludes 0 are one question asked twice, so both come from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.comparison.pairing import Pairs
from leadline.comparison.rules import MAX_T_DRAWS, TUKEY, Rules
from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.results import Results, ResultWarning
from leadline.errors import UsageError
from leadline.stats.corrections import BH
from leadline.stats.intervals import agreeing
from leadline.stats.moments import moments
from leadline.stats.paired_tests import decided_by_sign
from leadline.stats.simultaneous import max_t, tukey


class Family(NamedTuple):
    """Corrected p values and simultaneous limits of measures x pairs.

    `limits` is None where nothing is corrected: each pair stands for itself then, with its own interval.
    `size` is the number of tests that are corrected together.
    """

    p_corrected: Floats
    limits: Floats | None
    size: int


def size_of(rules: Rules, *, pairs: int, measures: int) -> int:
    """Return how many tests a family holds."""
    return pairs * (measures if rules.family == "all" else 1)


def corrected(differences: Sequence[Floats], p: Floats, rules: Rules, groups: Integers | None) -> Family:
    """Correct p values of measures x pairs, and invert the correction into simultaneous intervals.

    Parameters
    ----------
    differences : sequence of ndarray, shape (n_queries, n_pairs)
        One table a measure.
    p : ndarray, shape (n_measures, n_pairs)
        Uncorrected p values.
    rules : Rules
        Test, correction, interval and levels; the correction is not Tukey's.
    groups : ndarray of int, optional
        Group of every query.

    Notes
    -----
    With m pairs in a family, Bonferroni, Holm and Hochberg have Bonferroni's intervals, at level
    1 - alpha/m. Holm and Hochberg reject more than these: where only their later steps do, the limit that
    passes 0 is moved to the number beside 0. BH has intervals at 1 - alpha R/m, R the number of significant
    pairs or 1; of those of significant pairs a share of alpha at most is expected to miss (Benjamini and
    Yekutieli 2005, JASA 100). MaxT has its own. Limits are moved only where test and interval are both of
    the mean (`Rules.matched`); elsewhere they may contradict, and the comparison says whose they are.

    """
    families = [list(range(len(differences)))]
    if rules.family != "all":
        families = [[place] for place in families[0]]
    size = size_of(rules, pairs=p.shape[1], measures=len(p))
    p_corrected = np.full(p.shape, np.nan)
    limits = np.full((*p.shape, 2), np.nan)
    for places in families:
        columns = np.concatenate([differences[place] for place in places], axis=1)
        joined, low_high = _family(columns, p[places].ravel(), rules, groups)
        p_corrected[places] = joined.reshape(len(places), -1)
        if low_high is not None:
            limits[places] = low_high.reshape(len(places), -1, 2)
    known = rules.joint is not None or (rules.corrects and size > 1)
    return Family(p_corrected, limits if known else None, size)


def _family(
    differences: Floats, p: Floats, rules: Rules, groups: Integers | None
) -> tuple[Floats, Floats | None]:
    """Correct one family; limits are columns x low, high."""
    if rules.joint is not None:
        found = max_t(differences, draws=MAX_T_DRAWS, seed=rules.seed, groups=groups)
        limits = np.stack(found.limits(rules.confidence), axis=1)
        return found.p, unbounded(limits, differences, found.p < rules.alpha, groups)
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
        low, high = agreeing(low, high, significant, differences)
    limits = np.stack([low, high], axis=1)
    return p_corrected, unbounded(limits, differences, significant, groups)


def unbounded(limits: Floats, differences: Floats, significant: Flags, groups: Integers | None) -> Floats:
    """Invert the sign test where all differences of a pair are equal, so that nothing else has a spread.

    Of equal differences it rejects every mean but that one if it rejects 0, and none if it does not: the
    limits stay where they are, or are infinite.
    """
    decided = decided_by_sign(differences, groups) & ~significant
    return np.where(decided[:, None], np.array([-np.inf, np.inf]), limits)


def pairwise_limits(differences: Floats, p: Floats, rules: Rules, groups: Integers | None) -> Floats:
    """Return the interval of each pair by itself, which agrees with its own p: columns x low, high."""
    low, high = rules.interval.limits(differences, level=rules.confidence, seed=rules.seed, groups=groups)
    with np.errstate(invalid="ignore"):
        significant = np.asarray(p < rules.alpha)
    if rules.matched:
        low, high = agreeing(low, high, significant, differences)
    return unbounded(np.stack([low, high], axis=1), differences, significant, groups)


class Shuffled(NamedTuple):
    """One measure by Tukey: differences over the queries of all runs, corrected p, limits, notices."""

    differences: Floats
    p_corrected: Floats
    limits: Floats
    warnings: list[ResultWarning]


def shuffled(results: Results, place: int, differences: Floats, rules: Rules) -> Shuffled:
    """Compare all pairs by one measure over the queries that all runs have: these can be shuffled."""
    values = results.counted(place).T
    whole = np.asarray(~np.isnan(values).any(axis=1))
    if not whole.any():
        raise UsageError(f"no query has {results.measures[place]} in every run; {TUKEY} expects such queries")
    left = int((~whole & ~np.isnan(values).all(axis=1)).sum())
    words = f"queries that some run lacks: {left} for {results.measures[place]}; {TUKEY} leaves them out"
    warnings = [ResultWarning("incomplete_queries", words, left)] if left else []
    differences = np.where(whole[:, None], differences, np.nan)
    ranges, means = tukey(values[whole], seed=rules.seed), moments(differences).mean
    reach = ranges.reach(rules.confidence)
    limits = np.stack([means - reach, means + reach], axis=1)
    return Shuffled(differences, ranges.p_values(means), limits, warnings)


def out_of_reach(
    differences: Sequence[Floats], pairs: Pairs, rules: Rules, groups: Integers | None
) -> list[ResultWarning]:
    """Tell where no p can become small enough to stay significant after the correction."""
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
            f"pairs corrected together: {size:,}; with {draws:,} draws none can be significant "
            f"(draws={enough} is enough)"
        )
        return [ResultWarning("too_few_draws", words, size)]
    words = (
        f"{noun} that differ: {most:,} at most; too few for a significant difference by {rules.test}, whose "
        f"p is at least {smallest:.4g} there" + (f" (pairs corrected together: {size:,})" if size > 1 else "")
    )
    return [ResultWarning("too_few_queries", words, most)]


def _most_groups(differences: Floats, groups: Integers) -> int:
    """Return the largest number of groups in which some query of a pair differs."""
    differs = np.nan_to_num(differences) != 0
    return max((len(np.unique(groups[column])) for column in differs.T), default=0)


def resamples_without_spread(differences: Sequence[Floats], *, most: float = 0.01) -> list[ResultWarning]:
    """Warn where a share above `most` of the resamples of a pair draws one value alone.

    With n queries of which n_v have value v, the chance is the sum of (n_v / n)^n. Such a resample has no
    standard error, so the bootstrap distribution of t has a lump at 0 or infinity.
    """
    worst, count = 0.0, 0
    for table in differences:
        for column in table.T:
            known = column[~np.isnan(column)]
            if len(known) < 2 or not np.ptp(known):
                continue
            _, times = np.unique(known, return_counts=True)
            share = float(((times / len(known)) ** len(known)).sum())
            worst, count = max(worst, share), count + (share > most)
    words = (
        f"pairs whose bootstrap resamples often have no spread: {count}; up to {100 * worst:.0f} % of the "
        "resamples hold a single value, and p is approximate"
    )
    return [ResultWarning("resamples_without_spread", words, count)] if count else []
