"""Result of a suite: means of many runs on many collections, with tests within and over collections."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from leadline.comparison.comparison_result import Comparison
from leadline.comparison.engine import FEWEST, smallest_p, verdicts
from leadline.comparison.pairing import place_of
from leadline.comparison.suite_records import Scope, SuitePair, SuiteRules, WinRate
from leadline.data.arrays import Flags, Floats
from leadline.data.result import Result
from leadline.data.results import Results, ResultWarning, keyed, plain
from leadline.data.wording import counted
from leadline.stats.moments import moments
from leadline.stats.paired_tests import Randomisation, Sign

CANNOT_TELL = "cannot tell"
INCOMPLETE = "incomplete"


class Suite(Result):
    """Many runs evaluated on many collections.

    Attributes
    ----------
    results : dict of str to Results
        Results by collection.
    comparisons : dict of str to Comparison
        Comparisons by collection; none for a collection with one run.
    collections : list of str
        Names of the collections.
    names : list of str
        Names of the runs.
    measures : list of str
        Names of the measures.
    columns : list of Measure
        The measures.
    groups : dict of str to list of str
        Collections of each average that the suite defines.
    means : ndarray of float64, shape (n_runs, n_collections, n_measures)
        Means over queries; NaN where a run lacks a collection, or its mean is undefined.
    present : ndarray of bool, shape (n_runs, n_collections)
        Whether there is a run on a collection.
    """

    def __init__(
        self,
        results: Mapping[str, Results],
        comparisons: Mapping[str, Comparison],
        rules: SuiteRules,
        *,
        groups: Mapping[str, Sequence[str]] | None = None,
        inputs: Sequence[dict[str, Any]] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.results = dict(results)
        self.comparisons = dict(comparisons)
        self.rules = rules
        self.groups = {name: list(members) for name, members in (groups or {}).items()}
        self.inputs = list(inputs)
        self.options = dict(options or {})
        self.collections = list(self.results)
        self.names = list(dict.fromkeys(name for each in self.results.values() for name in each.names))
        first = next(iter(self.results.values()))
        self.columns = list(first.measures)
        self.measures = [str(measure) for measure in self.columns]
        shape = (len(self.names), len(self.collections))
        self.means: Floats = np.full((*shape, len(self.measures)), np.nan)
        self.present: Flags = np.zeros(shape, dtype=np.bool_)
        for place, each in enumerate(self.results.values()):
            rows = [self.names.index(name) for name in each.names]
            self.means[rows, place] = each.means
            self.present[rows, place] = True
        for name in self.rules.baselines:
            place_of(self.names, name)
        self.warnings = self._warnings()

    def _warnings(self) -> list[ResultWarning]:
        missing = self.missing
        lacking = list(dict.fromkeys(name for name, _ in missing))
        shown = ", ".join(f"{name} on {collection}" for name, collection in missing[:3])
        what = (
            "averaged over the collections that each run has, which differ"
            if self.rules.partial
            else "no macro mean, win rate and test over all collections for these"
        )
        words = (
            f"missing: {counted(len(missing), 'cell')} of {self.present.size:,} ({shown}"
            f"{', ...' if len(missing) > 3 else ''}), of {counted(len(lacking), 'run')}; {what}"
        )
        warnings = [ResultWarning("missing_cells", words, len(missing))]
        undefined = int(np.isnan(self.means[self.present]).sum())
        warnings.append(
            ResultWarning(
                "undefined_means", f"undefined means of runs that are there: {undefined}", undefined
            )
        )
        for collection, each in self.results.items():
            warnings += [
                ResultWarning(notice.code, f"{collection}: {notice.message}", notice.count)
                for notice in each.warnings
            ]
        return [notice for notice in warnings if notice.count]

    @property
    def missing(self) -> list[tuple[str, str]]:
        """Runs and the collections that they lack."""
        return [
            (self.names[run], self.collections[place]) for run, place in np.argwhere(~self.present).tolist()
        ]

    def measure_index(self, measure: object) -> int:
        """Return the index of a measure, given by any name that `evaluate` accepts."""
        return next(iter(self.results.values())).measure_index(measure)

    @cached_property
    def macro(self) -> Floats:
        """Means over collections of the means, runs x measures; NaN for a run that lacks a collection."""
        return self._averaged(self.means)

    def _averaged(self, means: Floats) -> Floats:
        """Average runs x collections x measures over the collections."""
        defined = ~np.isnan(means)
        number = defined.sum(axis=1)
        sums = np.where(defined, means, 0.0).sum(axis=1)
        enough = number > 0 if self.rules.partial else number == means.shape[1]
        return np.where(enough & (number > 0), sums / np.maximum(number, 1), np.nan)

    def average(self, group: str) -> Floats:
        """Return the average over a group of collections, runs x measures."""
        return self._averaged(self.means[:, [self.collections.index(name) for name in self.groups[group]]])

    @cached_property
    def win_rates(self) -> list[list[WinRate]]:
        """Win rates by run and measure: over the other runs and the collections that both have."""
        return [[self._win_rate(run, place) for place in range(len(self.measures))] for run in self._runs]

    @property
    def _runs(self) -> range:
        return range(len(self.names))

    def _win_rate(self, run: int, measure: int) -> WinRate:
        values = self.means[:, :, measure] * (1 if self.columns[measure].rising else -1)
        own = values[run]
        if not self.rules.partial and np.isnan(own).any():
            return WinRate(0, 0, 0)
        others = np.delete(values, run, axis=0)
        with np.errstate(invalid="ignore"):
            wins, ties = int((own > others).sum()), int((own == others).sum())
        return WinRate(wins, ties, int((~np.isnan(own - others)).sum()))

    def order(self, measure: int = 0) -> list[int]:
        """Return the indices of the runs from best to worst macro mean; those without one are last."""
        sign = -1.0 if self.columns[measure].rising else 1.0
        keys = [math.inf if math.isnan(mean) else sign * mean for mean in self.macro[:, measure].tolist()]
        return sorted(self._runs, key=lambda run: (keys[run], run))

    @cached_property
    def pairs(self) -> list[SuitePair]:
        """Every pair of runs (or of a run and a baseline) by every measure; the first has the better mean."""
        return [pair for place in range(len(self.measures)) for pair in self._pairs(place)]

    def _pairs(self, measure: int) -> list[SuitePair]:
        order, rules = self.order(measure), self.rules
        chosen = list(combinations(order, 2))
        if rules.baselines:
            bases = [self.names.index(name) for name in rules.baselines]
            chosen = [(a, b) for rank, b in enumerate(bases) for a in order if a not in [b, *bases[:rank]]]
        strata = [self._strata(a, b, measure) for a, b in chosen]
        whole = [bool(each) and (rules.partial or len(each) == len(self.collections)) for each in strata]
        several = [fine and len(each) >= FEWEST for fine, each in zip(whole, strata, strict=True)]
        within = self._scopes([stratified(each, rules) for each in strata], whole, measure)
        over = self._scopes([over_collections(each, rules) for each in strata], several, measure)
        pairs = []
        for (a, b), each, fine, inner, outer in zip(chosen, strata, whole, within, over, strict=True):
            means = np.array([column.mean() for column in each])
            better = means if self.columns[measure].rising else -means
            few = len(each) < FEWEST or smallest_p(rules, len(each), sum(several)) >= rules.alpha
            pairs.append(
                SuitePair(
                    self.names[a],
                    self.names[b],
                    self.measures[measure],
                    float(means.mean()) if fine else math.nan,
                    len(each),
                    sum(map(len, each)),
                    int((better > 0).sum()),
                    int((better == 0).sum()),
                    int((better < 0).sum()),
                    inner,
                    outer._replace(verdict=CANNOT_TELL) if fine and few else outer,
                )
            )
        return pairs

    def _strata(self, a: int, b: int, measure: int) -> list[Floats]:
        """Return the differences of two runs by query, for every collection that both have."""
        strata = []
        for place, each in enumerate(self.results.values()):
            if not (self.present[a, place] and self.present[b, place]):
                continue
            values = each.averaged_values(measure)
            rows = [each.names.index(self.names[run]) for run in (a, b)]
            differences = values[rows[0]] - values[rows[1]]
            differences = differences[~np.isnan(differences)]
            if len(differences):
                strata.append(differences)
        return strata

    def _scopes(self, found: Sequence[Finding], tested: Sequence[bool], measure: int) -> list[Scope]:
        """Return the corrected tests of pairs; those not tested are incomplete."""
        found = [test if fine else NO_TEST for test, fine in zip(found, tested, strict=True)]
        mean, low, high, p = np.array([test[:4] for test in found]).reshape(-1, 4).T
        corrected = self.rules.corrected(p)
        words = verdicts(
            corrected,
            mean,
            self.rules.alpha,
            rising=self.columns[measure].rising,
            identical=np.array([test.identical for test in found], dtype=np.bool_) & ~np.isnan(p),
        )
        words = [word if fine else INCOMPLETE for word, fine in zip(words, tested, strict=True)]
        numbers = (low.tolist(), high.tolist(), p.tolist(), corrected.tolist())
        return [Scope(*each) for each in zip(*numbers, words, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as built-in types, with the keys of docs/suites.md; None is undefined."""
        return {
            "measures": self.measures,
            "collections": [self._collection(place) for place in range(len(self.collections))],
            "runs": [self._run(run) for run in self._runs],
            "missing": [{"run": run, "collection": collection} for run, collection in self.missing],
            "averages": [
                {"name": group, "members": {name: [name] for name in members}}
                for group, members in self.groups.items()
            ],
            "comparisons": {name: _comparison(each) for name, each in self.comparisons.items()},
            "pairs": [keyed(pair) for pair in self.pairs],
        }

    def _collection(self, place: int) -> dict[str, Any]:
        name = self.collections[place]
        results = self.results[name]
        return {
            "name": name,
            "queries": len(results.averaged_queries()),
            "runs": len(results.runs),
            "missing": [self.names[run] for run in np.flatnonzero(~self.present[:, place]).tolist()],
        }

    def _run(self, run: int) -> dict[str, Any]:
        named = {group: self.average(group)[run] for group in self.groups}
        return {
            "name": self.names[run],
            "collections": int(self.present[run].sum()),
            "means": {
                collection: self._by_measure(self.means[run, place])
                for place, collection in enumerate(self.collections)
                if self.present[run, place]
            },
            "macro": self._by_measure(self.macro[run]),
            "averages": {name: self._by_measure(values) for name, values in named.items()},
            "win_rate": {
                measure: {**rate._asdict(), "rate": plain(rate.rate)}
                for measure, rate in zip(self.measures, self.win_rates[run], strict=True)
            },
        }

    def _by_measure(self, values: Floats) -> dict[str, float | None]:
        return dict(zip(self.measures, map(plain, values.tolist()), strict=True))

    def __repr__(self) -> str:
        return (
            f"Suite({len(self.names)} runs on {len(self.collections)} collections, "
            f"{len(self.missing)} missing, by {', '.join(self.measures)})"
        )


class Finding(NamedTuple):
    """Mean difference with its interval and p-value."""

    mean: float
    low: float
    high: float
    p: float
    identical: bool


NO_TEST = Finding(math.nan, math.nan, math.nan, math.nan, identical=False)


def stratified(strata: Sequence[Floats], rules: SuiteRules) -> Finding:
    """Test the mean over collections of mean differences, over queries within the collections.

    Every collection has the same weight. The t test has variance sum(s_c^2 / n_c) / C^2 and Satterthwaite's
    degrees of freedom; the randomisation test flips the signs of queries, weighted by 1 / n_c.

    References
    ----------
    Satterthwaite (1946), An approximate distribution of estimates of variance components.

    Examples
    --------
    >>> found = stratified([np.array([0.1, 0.3]), np.array([0.0, 0.2, 0.1, 0.1])], SuiteRules())
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


def over_collections(strata: Sequence[Floats], rules: SuiteRules) -> Finding:
    """Test the mean over collections of mean differences, with the collections as the sample.

    >>> found = over_collections([np.array([0.1]), np.array([0.2, 0.4]), np.array([0.2])], SuiteRules())
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


def _t_limits(mean: float, error: float, freedom: float, rules: SuiteRules) -> tuple[float, float]:
    """Return the limits of Student's t; the mean without an error, NaN where this is undefined."""
    if not error > 0:
        return mean + error, mean + error
    from scipy.special import stdtrit

    half = float(stdtrit(freedom, (1 + rules.confidence) / 2)) * error
    return mean - half, mean + half


def _comparison(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the pairs of one collection as built-in types."""
    names = "a b measure mean_a mean_b difference low high p p_corrected wins ties losses queries verdict"
    records = map(keyed, comparison.records(changed=0))
    return [{name: record[name] for name in names.split()} for record in records]
