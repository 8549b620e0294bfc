"""The table of a comparison: pairs x measures in columns, and one record a pair for readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from leadline.comparison.families import Family, pairwise_limits
from leadline.comparison.pairing import Pairs
from leadline.comparison.rules import Rules
from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.result import Result
from leadline.data.results import Intervals, Results, ResultWarning, RunInfo, plain
from leadline.evaluation.mean_intervals import intervals_of
from leadline.stats.intervals import Student
from leadline.stats.moments import Means, means, moments, totals
from leadline.stats.power import (
    EQUAL,
    Outcomes,
    detectable,
    outcomes,
    queries_needed,
    standardised,
    standardised_limits,
    upper_deviation,
)


class Change(NamedTuple):
    """A query and its two values."""

    query: str
    a: float
    b: float

    @property
    def difference(self) -> float:
        """Give the first value less the second."""
        return self.a - self.b


class ComparedPair(NamedTuple):
    """Two runs compared by one measure; `difference`, `effect`, `wins` are of `a` against `b`.

    `low` and `high` are the confidence interval of this pair alone; `simultaneous_low` and
    `simultaneous_high` hold together with those of all pairs corrected together and exclude 0 where the
    pair is significant; NaN where it is the only one, or nothing is corrected. `effect` is the mean
    difference over its standard deviation, with the limits `effect_low`, `effect_high`. `detectable` is the
    difference that as many queries show with the power asked for, at the first level of the correction;
    `needed` the number of queries that would show the smallest difference that matters, None where none was
    given. `groups` is the number of groups of queries, None without groups.
    """

    a: str
    b: str
    measure: str
    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    p_equivalent: float | None
    effect: float
    wins: int
    ties: int
    losses: int
    queries: int
    needed: int | None
    detectable: float
    verdict: str
    changed: list[Change]
    simultaneous_low: float
    simultaneous_high: float
    effect_low: float
    effect_high: float
    groups: int | None


class Columns(NamedTuple):
    """What is needed of the differences of a measure, per pair."""

    queries: Floats
    found: Means
    effect: Floats
    effect_limits: tuple[Floats, Floats]
    counts: Outcomes


class Comparison(Result):
    """Pairs of runs compared by measures.

    Arrays are measures x pairs; `differences[m]` is queries x pairs. `pairs` gives
    records, `sentences` words. `simultaneous` are the limits that agree with `significant`, None where there
    is one pair or no correction; `groups` is the group of every query, None without groups.
    """

    def __init__(
        self,
        results: Results,
        pairing: Pairs,
        rules: Rules,
        *,
        differences: Sequence[Floats],
        p: Floats,
        family: Family,
        p_equivalent: Floats | None,
        groups: Integers | None = None,
    ) -> None:
        self.results = results
        self.pairing = pairing
        self.rules = rules
        self.differences = list(differences)
        self.p = p
        self.family = family
        self.p_corrected = family.p_corrected
        self.simultaneous = family.limits if family.size > 1 else None
        self.p_equivalent = p_equivalent
        self.groups = groups
        self.warnings: list[ResultWarning] = list(results.warnings)
        self.warnings += self._fewer_queries()
        self.options = results.options | rules.to_dict()

    @property
    def primary(self) -> str:
        """Return the primary measure: the first."""
        return str(self.results.measures[0])

    @cached_property
    def limits(self) -> Floats:
        """Return the interval of each pair alone: measures x pairs x low, high."""
        if self.rules.joint is not None and self.family.size == 1:
            assert self.family.limits is not None
            return self.family.limits
        return np.stack(
            [
                pairwise_limits(table, self.p[place], self.rules, self.groups)
                for place, table in enumerate(self.differences)
            ]
        )

    @property
    def shown_limits(self) -> Floats:
        """Return the limits that agree with the verdicts: simultaneous, or those of the pair alone."""
        return self.limits if self.simultaneous is None else self.simultaneous

    @property
    def runs(self) -> list[RunInfo]:
        """Give the runs."""
        return self.results.runs

    @property
    def names(self) -> list[str]:
        """Give the names of the runs."""
        return self.results.names

    @cached_property
    def intervals(self) -> Intervals:
        """Give the interval of every mean of a run, by the rules of the comparison."""
        rules = self.rules
        # a sign-flip test is one of differences, not of values
        kind = Student() if type(rules.interval).__name__ == "Randomisation" else rules.interval
        return intervals_of(
            self.results, kind, confidence=rules.confidence, seed=rules.seed, groups=self.groups
        )

    @cached_property
    def means(self) -> Floats:
        """Give the mean differences: measures x pairs; NaN where two runs share no query."""
        return np.stack([moments(each).mean for each in self.differences])

    @cached_property
    def significant(self) -> Flags:
        """Say which pairs have a significant difference: measures x pairs."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.p_corrected < 1 - self.rules.confidence)

    @cached_property
    def verdicts(self) -> list[list[str]]:
        """Give a word for each pair, measure by measure.

        `better` and `worse` are said of the first run where p, corrected, is small; `equivalent` where it is
        not and the two lie within the margin; `identical` where no query differs; `undecided` where p is
        undefined.
        """
        found = []
        for place, measure in enumerate(self.results.measures):
            counts = outcomes(self.differences[place])
            rising = self.means[place] > 0 if measure.rising else self.means[place] < 0
            words = np.where(self.significant[place], np.where(rising, "better", "worse"), "not told apart")
            words = words.astype("<U14")
            if self.p_equivalent is not None:
                with np.errstate(invalid="ignore"):
                    alike = self.p_equivalent[place] < 1 - self.rules.confidence
                words[alike & ~self.significant[place]] = "equivalent"
            words[np.isnan(self.p_corrected[place])] = "undecided"
            words[(counts.wins + counts.losses == 0) & (counts.ties > 0)] = "identical"
            found.append(words.tolist())
        return found

    @property
    def pairs(self) -> list[ComparedPair]:
        """Give a record for every pair and measure, with the three queries that changed most."""
        return self.records()

    def records(
        self, *, changed: int = 3, chosen: Sequence[Sequence[int]] | None = None
    ) -> list[ComparedPair]:
        """Give a record for every pair, measure by measure, with the queries that changed most.

        `chosen` are the places of the pairs to give, measure by measure; by default all.
        """
        every = range(len(self.pairing))
        return [
            record
            for place in range(len(self.results.measures))
            for record in self.of_pairs(place, every if chosen is None else chosen[place], changed=changed)
        ]

    def chosen(self, pairs: str | int) -> list[list[int]]:
        """Return the places of the pairs to show, measure by measure.

        Parameters
        ----------
        pairs : {"significant", "all"} or int
            A number N stands for the N pairs of smallest corrected p of every measure.

        """
        if pairs == "all":
            return [list(range(len(self.pairing)))] * len(self.results.measures)
        if pairs == "significant":
            return [np.flatnonzero(row).tolist() for row in self.significant]
        size = -np.abs(self.means)
        return [
            np.lexsort((size[place], row))[: int(pairs)].tolist()
            for place, row in enumerate(self.p_corrected)
        ]

    def pairs_with(self, run: int) -> list[int]:
        """Give the places of the pairs that a run is in."""
        return np.flatnonzero((self.pairing.first == run) | (self.pairing.second == run)).tolist()

    def of_pairs(self, place: int, pairs: Iterable[int], *, changed: int = 0) -> list[ComparedPair]:
        """Give the records of some pairs by one measure."""
        names, columns = self.names, self.columns[place]
        measure = self.results.measures[place]
        alike = None if self.p_equivalent is None else self.p_equivalent[place]
        together = np.full((len(self.pairing), 2), np.nan)
        if self.simultaneous is not None:
            together = self.simultaneous[place]
        records = []
        for pair in pairs:
            first, second = int(self.pairing.first[pair]), int(self.pairing.second[pair])
            clusters, deviation = self._spread(columns, pair)
            records.append(
                ComparedPair(
                    a=names[first],
                    b=names[second],
                    measure=str(measure),
                    mean_a=float(self.results.means[first, place]),
                    mean_b=float(self.results.means[second, place]),
                    difference=float(columns.found.mean[pair]),
                    low=float(self.limits[place, pair, 0]),
                    high=float(self.limits[place, pair, 1]),
                    p=float(self.p[place, pair]),
                    p_corrected=float(self.p_corrected[place, pair]),
                    p_equivalent=None if alike is None else float(alike[pair]),
                    effect=float(columns.effect[pair]),
                    wins=int((columns.counts.wins if measure.rising else columns.counts.losses)[pair]),
                    ties=int(columns.counts.ties[pair]),
                    losses=int((columns.counts.losses if measure.rising else columns.counts.wins)[pair]),
                    queries=int(columns.queries[pair]),
                    needed=self._needed(columns, pair),
                    detectable=detectable(
                        deviation, clusters, power_wanted=self.rules.power, level=self.first_level
                    ),
                    verdict=self.verdicts[place][pair],
                    changed=self.changed(place, pair, changed),
                    simultaneous_low=float(together[pair, 0]),
                    simultaneous_high=float(together[pair, 1]),
                    effect_low=float(columns.effect_limits[0][pair]),
                    effect_high=float(columns.effect_limits[1][pair]),
                    groups=None if self.groups is None else clusters,
                )
            )
        return records

    @property
    def first_level(self) -> float:
        """Return the confidence level of one pair at the first step of the correction."""
        if not self.rules.corrects:
            return self.rules.confidence
        return 1 - self.rules.alpha / self.family.size

    @cached_property
    def columns(self) -> list[Columns]:
        """Return what is needed of the differences of every measure, per pair."""
        columns = []
        for table in self.differences:
            queries = (~np.isnan(table)).sum(axis=0).astype(np.float64)
            low, high = np.full((2, table.shape[1]), np.nan)
            if self.groups is None:  # no interval is known for an effect size of dependent queries
                low, high = standardised_limits(table, level=self.rules.confidence)
            columns.append(
                Columns(
                    queries,
                    means(totals(table, self.groups)),
                    standardised(table),
                    (low, high),
                    outcomes(table),
                )
            )
        return columns

    def _spread(self, columns: Columns, pair: int) -> tuple[int, float]:
        """Return the number of independent units of a pair and the deviation that goes with it."""
        clusters = int(columns.found.clusters[pair])
        return clusters, float(columns.found.error[pair]) * clusters**0.5

    def _needed(self, columns: Columns, pair: int) -> int | None:
        """Return the queries needed for the smallest difference that matters."""
        clusters, deviation = self._spread(columns, pair)
        if self.rules.smallest is None or clusters < 2:
            return None
        upper = upper_deviation(deviation, clusters, level=self.rules.confidence)
        if upper == 0:
            return None
        wanted = queries_needed(
            self.rules.smallest / upper, power_wanted=self.rules.power, level=self.first_level
        )
        if wanted is None:
            return None
        return int(np.ceil(wanted * columns.queries[pair] / clusters))

    def changed(self, place: int, pair: int, number: int) -> list[Change]:
        """Give the queries whose values differ most between the runs of a pair, the largest first."""
        differences = self.differences[place][:, pair]
        size = np.abs(np.nan_to_num(differences))
        values = self.results.counted(place)
        order = np.argsort(-size, kind="stable")[:number]
        return [
            Change(
                self.results.queries[code],
                float(values[self.pairing.first[pair], code]),
                float(values[self.pairing.second[pair], code]),
            )
            for code in order.tolist()
            if size[code] > EQUAL
        ]

    def matrix(self, place: int) -> Flags:
        """Say for runs x runs which differ significantly by a measure; pairs not compared do not."""
        found = np.zeros((len(self.names), len(self.names)), dtype=np.bool_)
        found[self.pairing] = self.significant[place]
        return found | found.T

    def _fewer_queries(self) -> list[ResultWarning]:
        """Tell of pairs that share fewer queries than their means are of."""
        count = 0
        for place, differences in enumerate(self.differences):
            own = (~np.isnan(self.results.counted(place))).sum(axis=1)
            shared = (~np.isnan(differences)).sum(axis=0)
            most = np.maximum(own[self.pairing.first], own[self.pairing.second])
            count += int((shared < most).sum())
        words = f"pairs of means over different queries: {count}; only the queries of both are compared"
        return [ResultWarning("pairs_of_fewer_queries", words, count)] if count else []

    def sentences(self) -> list[str]:
        """Say in a plain sentence what was found of every pair."""
        from leadline.comparison.sentences import sentence

        return [sentence(pair, self.rules, self.reach(pair.measure)) for pair in self.pairs]

    def reach(self, measure: str) -> float:
        """Return how far apart two values of a measure can be; infinite where nobody knows."""
        found = next(each for each in self.results.measures if str(each) == measure)
        return float(getattr(found, "high", np.inf)) - float(getattr(found, "low", -np.inf))

    def to_dict(
        self, *, changed: int = 3, chosen: Sequence[Sequence[int]] | None = None, per_query: bool = False
    ) -> dict[str, Any]:
        """Give the comparison as plain data: `measures`, `queries`, `pairs`; None is undefined.

        `chosen` are the places of the pairs to give, measure by measure; by default all. With `per_query`
        there are also `results`, the values of the queries, and `rules`, by which they were compared:
        `from_json` needs them.
        """
        from leadline.comparison.sentences import sentence

        pairs = []
        for pair in self.records(changed=changed, chosen=chosen):
            entry = {key: _plain(value) for key, value in pair._asdict().items()}
            entry["changed"] = [
                change._asdict() | {"difference": change.difference} for change in pair.changed
            ]
            words = sentence(pair, self.rules, self.reach(pair.measure))
            pairs.append(entry | {"sentence": words})
        return {
            "measures": [str(measure) for measure in self.results.measures],
            "primary": self.primary,
            "queries": self.results.averaged_queries(),
            "pairs": pairs,
        } | (
            {"results": self.results.to_dict(per_query=True), "rules": self.rules.to_dict()}
            if per_query
            else {}
        )

    def to_columns(self) -> dict[str, list[Any]]:
        """Give one row a pair and measure, as columns by name; NaN is undefined."""
        names = [name for name in ComparedPair._fields if name != "changed"]
        pairs = self.records(changed=0)
        return {name: [getattr(pair, name) for pair in pairs] for name in names}

    def __repr__(self) -> str:
        measures = ", ".join(map(str, self.results.measures))
        return f"Comparison({len(self.pairing)} pairs of {len(self.names)} runs by {measures})"


def _plain(value: object) -> object:
    return plain(value) if isinstance(value, float) else value
