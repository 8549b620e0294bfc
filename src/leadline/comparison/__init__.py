"""Is A better than B: differences of paired queries, with intervals, tests, corrections and words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.arguments import check_numbers
from leadline.arrays import Floats
from leadline.comparison.pairing import Pairs, differences_of, pairs_of, refuse_what_has_no_mean
from leadline.comparison.table import TUKEY, Comparison, Rules
from leadline.errors import UsageError
from leadline.evaluation import evaluate
from leadline.formats import QrelsLike, RunLike
from leadline.measures import Measure
from leadline.results import Notice, Results
from leadline.statistics import (
    CORRECTIONS,
    INTERVALS,
    TESTS,
    Correction,
    Interval,
    PairedTest,
    checked_level,
    checked_seed,
)
from leadline.statistics.equivalence import equivalence
from leadline.statistics.moments import moments
from leadline.statistics.tukey import tukey

COMPARED = ("AP", "nDCG@10")  # the measures, where none are named


def compare(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: Iterable[str | Measure] | str | Measure | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    test: str | PairedTest = "T",
    correction: str | Correction = "Holm",
    family: str = "measure",
    interval: str | Interval = "Student",
    confidence: float = 0.95,
    margin: float | None = None,
    power: float = 0.8,
    seed: int = 0,
    **options: Any,
) -> Comparison:
    """Compare runs, by default all pairs of them, by measures over the same queries.

    A difference is that of the first run minus the second; with `baseline` (a name, or several) every other
    run comes first and the baseline second. p values are two-sided and corrected over all pairs of a measure,
    or over all measures too with `family="all"`; `correction="Tukey"` shuffles all runs at once and
    takes the place of the test, over the queries that all runs have. `margin`, in units of the measure, adds
    a test of equivalence. What is told apart is so at 1 - `confidence`. `options` are those of `evaluate`.

    >>> qrels = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
    >>> a = {"q1": {"d": 1.0}, "q2": {"d": 1.0}, "q3": {"x": 2.0, "d": 1.0}}
    >>> b = {"q1": {"x": 2.0, "d": 1.0}, "q2": {"d": 1.0}, "q3": {"x": 2.0, "d": 1.0}}
    >>> pair = compare(qrels, {"a": a, "b": b}, "RR").pairs[0]
    >>> round(pair.difference, 4), round(pair.p, 4), pair.verdict
    (0.1667, 0.4226, 'not told apart')
    """
    results = evaluate(qrels, runs, COMPARED if measures is None else measures, **options)
    return compare_results(
        results, baseline=baseline, test=test, correction=correction, family=family, seed=seed,
        interval=interval, confidence=confidence, margin=margin, power=power,
    )  # fmt: skip


def compare_results(
    results: Results,
    *,
    baseline: str | Sequence[str] | None = None,
    test: str | PairedTest = "T",
    correction: str | Correction = "Holm",
    family: str = "measure",
    interval: str | Interval = "Student",
    confidence: float = 0.95,
    margin: float | None = None,
    power: float = 0.8,
    seed: int = 0,
) -> Comparison:
    """Compare the runs of results; as `compare`, for what was evaluated before."""
    shuffled = isinstance(correction, str) and correction.lower() == TUKEY.lower()
    rules = Rules(
        test=test if isinstance(test, PairedTest) else TESTS.parse(test),
        correction=None if shuffled else _parsed(correction),
        interval=interval if isinstance(interval, Interval) else INTERVALS.parse(interval),
        family=family, confidence=checked_level(confidence), margin=margin, power=power,
        seed=checked_seed(seed),
    )  # fmt: skip
    _check(rules)
    refuse_what_has_no_mean(results)
    pairs = pairs_of(results, baseline)
    tables = [_one(results, place, pairs, rules) for place in range(len(results.measures))]
    p = np.stack([table.p for table in tables])
    alike = None if margin is None else np.stack([table.equivalent for table in tables])
    if rules.correction is not None:
        p_corrected = _corrected(p, rules.correction, rules.family)
    else:
        p_corrected = np.stack([table.corrected for table in tables])
    if alike is not None:  # Tukey's ranges say nothing of equivalence
        alike = _corrected(alike, rules.correction or CORRECTIONS.parse("Holm"), rules.family)
    comparison = Comparison(
        results, pairs, rules,
        differences=[table.differences for table in tables],
        limits=np.stack([table.limits for table in tables]),
        p=p, p_corrected=p_corrected, p_equivalent=alike,
    )  # fmt: skip
    comparison.notices += [notice for table in tables for notice in table.notices]
    comparison.notices += _out_of_reach(rules, tables, pairs=len(pairs), measures=len(tables))
    return comparison


class _Table(NamedTuple):
    """What was found by one measure, per pair."""

    differences: Floats
    limits: Floats
    p: Floats
    corrected: Floats
    equivalent: Floats
    notices: list[Notice]


def _parsed(correction: str | Correction) -> Correction:
    return correction if isinstance(correction, Correction) else CORRECTIONS.parse(correction)


def _check(rules: Rules) -> None:
    if rules.family not in ("measure", "all"):
        raise UsageError(f"family={rules.family!r}; expected 'measure' or 'all'")
    check_numbers(power=rules.power, **{} if rules.margin is None else {"margin": rules.margin})
    if rules.margin is not None and not rules.margin > 0:
        raise UsageError(
            f"margin {rules.margin}; expected a number above 0, in units of the measure"
        )
    if not 0 < rules.power < 1:
        raise UsageError(f"power {rules.power}; expected a share between 0 and 1, such as 0.8")
    if rules.correction is None and rules.family == "all":
        raise UsageError("Tukey corrects within a measure; expected another correction for all")


def _out_of_reach(
    rules: Rules, tables: Sequence[_Table], *, pairs: int, measures: int
) -> list[Notice]:
    """Tell where no p can become small enough to outlive the correction."""
    if rules.correction is None:
        return []
    size = pairs * (measures if rules.family == "all" else 1)
    most = max(int((np.nan_to_num(table.differences) != 0).sum(axis=0).max()) for table in tables)
    smallest = rules.test.smallest(most)
    corrected = rules.correction.corrected([smallest] + [1.0] * (size - 1))[0]
    if most == 0 or corrected < 1 - rules.confidence:
        return []
    draws = getattr(rules.test, "draws", 0)
    if draws and smallest == 1 / (draws + 1):
        enough = math.ceil(size / (1 - rules.confidence))
        words = (
            f"pairs corrected together: {size:,}; too many to tell one apart with {draws:,} draws "
            f"(draws={enough} is enough)"
        )
        return [Notice("too_few_draws", words, size)]
    words = (
        f"queries that differ: {most:,} at most; too few to tell a pair apart by {rules.test}, whose p is "
        f"{smallest:.4g} or more there"
        + (f" (pairs corrected together: {size:,})" if size > 1 else "")
    )
    return [Notice("too_few_queries", words, most)]


def _one(results: Results, place: int, pairs: Pairs, rules: Rules) -> _Table:
    """Compare all pairs by one measure."""
    differences = differences_of(results, place, pairs)
    if rules.correction is None:
        return _tukey(results, place, differences, rules)
    limits = np.stack(
        rules.interval.limits(differences, level=rules.confidence, seed=rules.seed), axis=1
    )
    p = rules.test.p_values(differences, seed=rules.seed)
    return _Table(differences, limits, p, p, _alike(differences, rules), [])


def _tukey(results: Results, place: int, differences: Floats, rules: Rules) -> _Table:
    """Compare all pairs by one measure over the queries that all runs have: these can be shuffled."""
    values = results.counted(place).T
    whole = np.asarray(~np.isnan(values).any(axis=1))
    if not whole.any():
        raise UsageError(
            f"no query has {results.measures[place]} in every run; Tukey expects such queries"
        )
    left = int((~whole & ~np.isnan(values).all(axis=1)).sum())
    words = (
        f"queries that some run lacks: {left} for {results.measures[place]}; Tukey leaves them out"
    )
    notices = [Notice("incomplete_queries", words, left)] if left else []
    differences = np.where(whole[:, None], differences, np.nan)
    ranges, means = tukey(values[whole], seed=rules.seed), moments(differences).mean
    reach = ranges.reach(rules.confidence)
    return _Table(
        differences, np.stack([means - reach, means + reach], axis=1),
        rules.test.p_values(differences, seed=rules.seed), ranges.p_values(means),
        _alike(differences, rules), notices,
    )  # fmt: skip


def _alike(differences: Floats, rules: Rules) -> Floats:
    """Give p of equivalence; NaN where there is no margin."""
    if rules.margin is None:
        return np.full(differences.shape[1], np.nan)
    return equivalence(differences, rules.margin)


def _corrected(p: Floats, correction: Correction, family: str) -> Floats:
    """Correct p values of measures x pairs within their families."""
    if family == "all":
        return correction.corrected(p.ravel()).reshape(p.shape)
    return np.stack([correction.corrected(row) for row in p])
