"""Result of a suite: means of many runs on many collections, with tests within and over collections."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np

from leadline.comparison.comparison_result import Comparison, outperformed_runs
from leadline.comparison.engine import FEWEST, NO_TEST, Finding, over_collections, stratified, verdicts
from leadline.comparison.pairing import SuiteRules
from leadline.data.arrays import Flags, Floats
from leadline.data.table import PROBABILITY, Column, ResultWarning, Table, keyed, plain, printed_table, raised
from leadline.data.wording import counted, first_few, percent
from leadline.evaluation.lookups import place_of
from leadline.evaluation.results import Results
from leadline.result import Make, Result

LETTERED = 6  # maximum number of runs with letters; with more, outperformed runs are counted
CANNOT_TELL = "cannot tell"
INCOMPLETE = "incomplete"
# Columns of the pairs of one collection in JSON.
COMPARED = (
    *("a", "b", "measure", "mean_a", "mean_b", "difference", "low", "high", "p", "p_corrected"),
    *("wins", "ties", "losses", "queries", "verdict"),
)


class Scope(NamedTuple):
    """One test of a pair over the queries or the collections of a suite.

    Attributes
    ----------
    low, high : float
        Limits of the confidence interval of the difference, for this pair alone; not clipped to the range of
        the measure.
    p : float
        p-value.
    p_corrected : float
        p-value corrected over the pairs.
    verdict : str
        Outcome for `a`: better, worse, not significant, identical, undecided, or why there is no test.
    """

    low: float
    high: float
    p: float
    p_corrected: float
    verdict: str


class SuitePair(NamedTuple):
    """Two runs compared by one measure over the collections of a suite; differences are `a` minus `b`.

    Attributes
    ----------
    a, b : str
        Names of the first and second run.
    measure : str
        The measure.
    difference : float
        Mean over collections of the mean differences; NaN if a run lacks a collection, unless it was asked
        to average what there is.
    collections : int
        Number of collections that both runs have.
    queries : int
        Number of queries of these collections.
    wins, ties, losses : int
        Numbers of collections on which the mean of `a` is better, equal and worse.
    within : Scope
        Test over queries within these collections: would other queries of them give the same sign?
    over : Scope
        Test over collections: would other collections like them? "cannot tell" with fewer than five, or if
        no data could reach significance.
    """

    a: str
    b: str
    measure: str
    difference: float
    collections: int
    queries: int
    wins: int
    ties: int
    losses: int
    within: Scope
    over: Scope


class WinRate(NamedTuple):
    """Comparisons of a run with the others, collection by collection.

    Attributes
    ----------
    wins, ties : int
        Numbers of comparisons in which the mean of the run is better, and equal.
    comparisons : int
        Number of comparisons: the other runs on every collection that both have.
    rate : float
        Share of comparisons won, from 0 to 1, a tie counted as half a win; NaN without comparisons.
    """

    wins: int
    ties: int
    comparisons: int

    @property
    def rate(self) -> float:
        """Return the share of comparisons that are won; NaN without any."""
        return (self.wins + self.ties / 2) / self.comparisons if self.comparisons else math.nan


@dataclass(repr=False, eq=False)
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

    results: dict[str, Results]
    comparisons: dict[str, Comparison]
    rules: SuiteRules
    groups: dict[str, list[str]]
    inputs: list[dict[str, Any]]

    def __post_init__(self) -> None:
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
        missing, undefined = self.missing, int(np.isnan(self.means[self.present]).sum())
        shown = first_few([f"{name} on {collection}" for name, collection in missing])
        one = len({name for name, _ in missing}) == 1
        effect = f"{'has' if one else 'have'} no macro mean, win rate or test over all collections"
        if self.rules.partial:
            effect = f"{'is' if one else 'are'} averaged over the remaining collections"
        absent = f"missing: {len(missing):,} of {self.present.size:,} cells ({shown}); "
        absent += f"{'this run' if one else 'these runs'} {effect}"
        whose = "its run is" if undefined == 1 else "their runs are"
        words = f"{counted(undefined, 'mean is', 'means are')} undefined although {whose} present"
        own = [
            (notice.code, f"{collection}: {notice.message}", notice.count)
            for collection, each in self.results.items()
            for notice in each.warnings
        ]
        return raised(("missing_cells", absent, len(missing)), ("undefined_means", words, undefined), *own)

    @property
    def unreliable(self) -> str:
        """Why no interval over queries is given, whatever the values; empty if one may be."""
        found = ((name, each.unreliable) for name, each in self.results.items() if each.unreliable)
        return ": ".join(next(found, ()))

    @property
    def _over_own(self) -> bool:
        """Whether some means are over part of the collections, those on which a run has a mean."""
        return self.rules.partial and bool(np.isnan(self.means).any())

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
        values = np.where([measure.rising for measure in self.columns], self.means, -self.means)
        defined = ~np.isnan(values)
        found = []
        for own, known in zip(values, defined, strict=True):
            numbers = ((own > values), (own == values), (known & defined))
            wins, ties, comparisons = (each.sum(axis=(0, 1)) for each in numbers)
            ties, comparisons = ties - known.sum(axis=0), comparisons - known.sum(axis=0)  # not with itself
            compared = known.all(axis=0) | self.rules.partial
            rates = np.where(compared, [wins, ties, comparisons], 0).T
            found.append([WinRate(*rate) for rate in rates.tolist()])
        return found

    def order(self, measure: int = 0) -> list[int]:
        """Return the indices of the runs from best to worst macro mean; those without one are last."""
        sign = -1.0 if self.columns[measure].rising else 1.0
        keys = [math.inf if math.isnan(mean) else sign * mean for mean in self.macro[:, measure].tolist()]
        return sorted(range(len(self.names)), key=lambda run: (keys[run], run))

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
            better = np.sign(means if self.columns[measure].rising else -means).tolist()
            wins, ties, losses = map(better.count, (1, 0, -1))
            smallest = np.full(sum(several), rules.test.smallest(len(each)))
            few = fine and (len(each) < FEWEST or rules.corrected(smallest)[0] >= rules.alpha)
            pairs.append(
                SuitePair(
                    self.names[a],
                    self.names[b],
                    self.measures[measure],
                    float(means.mean()) if fine else math.nan,
                    len(each),
                    sum(map(len, each)),
                    wins,
                    ties,
                    losses,
                    inner,
                    outer._replace(verdict=CANNOT_TELL) if few else outer,
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
        if self.unreliable:
            return [Scope(math.nan, math.nan, math.nan, math.nan, CANNOT_TELL)] * len(found)
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

    def _columns(self) -> list[Column]:
        by_measure = [self._of_measure(place) for place in range(len(self.measures))]
        return [
            columns[0]._replace(values=[value for column in columns for value in column.plain()])
            for columns in zip(*by_measure, strict=True)
        ]

    def _of_measure(self, place: int) -> list[Column]:
        """Return the columns of the means by one measure, the best macro mean first."""
        order, rising = self.order(place), self.columns[place].rising
        rates = [self.win_rates[run][place] for run in order]

        def values(name: str, found: Floats, heading: str | None = None, *, dropped: int = 0) -> Column:
            best = _best(found, rising=rising or name == "win_rate")
            return Column(name, found, heading, best=best, dropped=dropped)

        sets = len(self.collections)
        return [
            Column("measure", [self.measures[place]] * len(order), hidden=True),
            Column("run", [self.names[run] for run in order]),
            *(
                values(name, self.means[order, column, place], dropped=sets - column)
                for column, name in enumerate(self.collections)
            ),
            values("macro", self.macro[order, place]),
            *(values(group, self.average(group)[order, place]) for group in self.groups),
            values("win_rate", np.array([rate.rate for rate in rates]), "win rate"),
            Column("comparisons", [rate.comparisons for rate in rates], hidden=True),
            Column("collections", self.present.sum(axis=1)[order], hidden=bool(self.present.all())),
        ]

    def _tables(self) -> list[Table]:
        tables = [
            printed_table(
                self._of_measure(place),
                letters=self._letters(place),
                title=f"{measure}: mean by collection",
                notes=self._notes(),
            )
            for place, measure in enumerate(self.measures)
        ]
        tables[-1].notes += ["", *map(str, self.warnings)] if self.warnings else []
        if self.pairs:
            tables.append(
                printed_table(
                    self._pair_columns(),
                    title=f"pairs of runs over {'shared' if self._over_own else 'all'} collections",
                    notes=self._pair_notes(),
                )
            )
        return tables

    def _pair_columns(self) -> list[Column]:
        """Return the printed columns of the pairs over all collections."""
        a, b, measure, difference, _, _, wins, ties, losses, within, over = zip(*self.pairs, strict=True)
        low, high, _, p, verdict = zip(*within, strict=True)
        *_, p_over, over_collections = zip(*over, strict=True)
        counts = zip(wins, ties, losses, strict=True)
        return [
            Column("a", a),
            Column("b", b),
            Column("measure", measure, hidden=len(self.measures) == 1),
            Column("a - b", difference),
            Column("low", low, dropped=1),
            Column("high", high, dropped=2),
            Column("p", p, form=PROBABILITY),
            Column("a is", verdict),
            Column("won-tied-lost", ["-".join(map(str, each)) for each in counts]),
            Column("p over", p_over, form=PROBABILITY, dropped=3),
            Column("over collections", over_collections),
        ]

    def _letters(self, place: int) -> dict[tuple[int, int], str]:
        """Return the runs that each run significantly outperforms on a collection, or their number."""
        lettered = len(self.names) <= LETTERED
        letters: dict[tuple[int, int], str] = {}
        row_of = {self.names[run]: row for row, run in enumerate(self.order(place))}
        for column, name in enumerate(self.collections, start=1):
            comparison = self.comparisons.get(name)
            if comparison is None:
                continue
            for run, losers in enumerate(outperformed_runs(comparison, place)):
                if not losers:
                    continue
                rows = sorted(row_of[comparison.names[loser]] for loser in losers)
                text = "".join(ascii_lowercase[row] for row in rows) if lettered else str(len(rows))
                letters[row_of[comparison.names[run]], column] = text
        return letters

    def _notes(self) -> list[str]:
        rules = self.rules
        over = counted(len(self.collections), "collection")
        if self._over_own:
            over = "the collections on which the run has a mean"
        notes = [
            f"macro: mean over {over}, all weighted equally",
            "win rate: how often the run beats another run on a collection, 0 to 1 (a tie is half a win)",
        ]
        if self.comparisons:
            marks = "second number: number of runs"
            if len(self.names) <= LETTERED:
                marks = "letters: runs (a is the first row)"
            how = f"{rules.test}, {rules.correction}, {1 - rules.confidence:.3g}"
            how += "; only pairs with a baseline are tested" * bool(rules.baselines)
            notes.append(f"{marks} that this run significantly outperforms on the collection ({how})")
        return notes

    def _pair_notes(self) -> list[str]:
        rules, pairs = self.rules, self.pairs
        tested = Counter(pair.measure for pair in pairs if not math.isnan(pair.within.p))
        family = str(rules.correction)
        if tested:
            most = "up to " * (min(tested.values()) < max(tested.values()))
            family += f" over {most}{counted(max(tested.values()), 'pair')}"
        notes = [
            "a - b: mean over collections",
            f"low, high: {percent(rules.confidence)} CI of each pair, over queries within these collections",
            f"p, a is: over queries within these collections ({rules.test}, {family})",
            "p over, over collections: the same test with the collections as the sample",
        ]
        few = [pair.collections for pair in pairs if pair.over.verdict == CANNOT_TELL]
        if few:
            why = f"at least {FEWEST} collections are needed to generalize to other collections"
            if min(few) >= FEWEST:
                why = f"no result over {min(few)} collections can be significant ({rules.decided_by})"
            notes.append(f"{CANNOT_TELL}: {self.unreliable or why}")
        if any(pair.within.verdict == INCOMPLETE for pair in pairs):
            where, others = "on one or more collections, ", " (`--partial` tests the other collections)"
            if rules.partial:
                where = others = ""
            notes.append(f"{INCOMPLETE}: {where}no query counts toward the means of both runs{others}")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return the result as built-in types, with the keys of docs/api.md; None is undefined."""
        return {
            "measures": self.measures,
            "collections": [
                {
                    "name": name,
                    "queries": len(each.averaged_queries()),
                    "runs": len(each.runs),
                    "missing": [run for run, collection in self.missing if collection == name],
                }
                for name, each in self.results.items()
            ],
            "runs": [self._run(run) for run in range(len(self.names))],
            "missing": [{"run": run, "collection": collection} for run, collection in self.missing],
            "averages": [
                {"name": group, "members": {name: [name] for name in members}}
                for group, members in self.groups.items()
            ],
            "comparisons": {
                name: [{key: row[key] for key in COMPARED} for row in each.to_rows()]
                for name, each in self.comparisons.items()
            },
            "pairs": [keyed(pair) for pair in self.pairs],
        }

    def _run(self, run: int) -> dict[str, Any]:
        return {
            "name": self.names[run],
            "collections": int(self.present[run].sum()),
            "means": {
                collection: self._by_measure(self.means[run, place])
                for place, collection in enumerate(self.collections)
                if self.present[run, place]
            },
            "macro": self._by_measure(self.macro[run]),
            "averages": {group: self._by_measure(self.average(group)[run]) for group in self.groups},
            "win_rate": {
                measure: {**rate._asdict(), "rate": plain(rate.rate)}
                for measure, rate in zip(self.measures, self.win_rates[run], strict=True)
            },
        }

    def _by_measure(self, values: Floats) -> dict[str, float | None]:
        return dict(zip(self.measures, map(plain, values.tolist()), strict=True))

    def _figure(self, *, measure: object | None = None) -> Make:
        """Draw the means by run and collection of a measure."""
        from leadline.charts.grid import heat_map

        place = 0 if measure is None else self.measure_index(measure)
        order = self.order(place)
        table = np.column_stack([self.means[order, :, place], self.macro[order, place]])
        return lambda width: heat_map(
            [self.names[run] for run in order],
            [*self.collections, "macro mean"],
            table,
            np.column_stack([~self.present[order], np.isnan(table[:, -1])]),
            rising=self.columns[place].rising,
            measure=self.measures[place],
            width=width,
        )

    def __repr__(self) -> str:
        return (
            f"Suite({counted(len(self.names), 'run')} on {counted(len(self.collections), 'collection')}, "
            f"{len(self.missing)} missing, by {', '.join(self.measures)})"
        )


def _best(values: Floats, *, rising: bool) -> set[int]:
    """Return the rows of the best value; none of a single one."""
    signed = np.where(np.isnan(values), -np.inf, values if rising else -values)
    if len(values) < 2 or np.isfinite(signed).sum() < 2:
        return set()
    return set(np.flatnonzero(signed == signed.max()).tolist())
