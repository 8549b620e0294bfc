"""The table of a comparison: pairs x measures in columns, and one record a pair for readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from leadline.arrays import Flags, Floats
from leadline.comparison.pairing import Pairs
from leadline.intervals import intervals_of
from leadline.results import Intervals, Notice, Results, RunInfo, optional, plain
from leadline.statistics import Correction, Interval, PairedTest
from leadline.statistics.effects import EQUAL, outcomes, standardised
from leadline.statistics.moments import moments
from leadline.statistics.power import detectable, queries_needed

TUKEY = "Tukey"  # both a test and a correction: all pairs of runs at once


@dataclass(frozen=True)
class Rules:
    """How a comparison was made; without a correction it is Tukey's."""

    test: PairedTest
    correction: Correction | None
    interval: Interval
    family: str
    confidence: float
    margin: float | None
    power: float
    seed: int

    @property
    def corrected_by(self) -> str:
        """Name the correction."""
        return TUKEY if self.correction is None else str(self.correction)

    def to_dict(self) -> dict[str, Any]:
        """Give the rules as plain data."""
        shown = {
            "test": str(self.test),
            "correction": self.corrected_by,
            "interval": str(self.interval),
        }
        return asdict(self) | shown


class Change(NamedTuple):
    """A query and its two values."""

    query: str
    a: float
    b: float

    @property
    def difference(self) -> float:
        """Give the first value less the second."""
        return self.a - self.b


class Pair(NamedTuple):
    """Two runs compared by one measure; `difference`, `effect`, `wins` are of `a` against `b`.

    `needed` is the number of queries that would show a difference of the size seen, `detectable` the least
    difference that the queries there are would show, both with the power asked for.
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


class Comparison:
    """Pairs of runs compared by measures.

    Arrays are measures x pairs; `differences[m]` is queries x pairs. `pairs` gives
    records, `sentences` words.
    """

    def __init__(
        self,
        results: Results,
        pairing: Pairs,
        rules: Rules,
        *,
        differences: Sequence[Floats],
        limits: Floats,
        p: Floats,
        p_corrected: Floats,
        p_equivalent: Floats | None,
    ) -> None:
        self.results = results
        self.pairing = pairing
        self.rules = rules
        self.differences = list(differences)
        self.limits = limits
        self.p = p
        self.p_corrected = p_corrected
        self.p_equivalent = p_equivalent
        self.notices: list[Notice] = list(results.notices)
        self.notices += self._fewer_queries()
        self.options = results.options | rules.to_dict()

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
        return intervals_of(
            self.results, rules.interval, confidence=rules.confidence, seed=rules.seed
        )

    @cached_property
    def means(self) -> Floats:
        """Give the mean differences: measures x pairs; NaN where two runs share no query."""
        return np.stack([moments(each).mean for each in self.differences])

    @cached_property
    def told_apart(self) -> Flags:
        """Say which pairs are told apart: measures x pairs."""
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
            words = np.where(
                self.told_apart[place], np.where(rising, "better", "worse"), "not told apart"
            )
            words = words.astype("<U14")
            if self.p_equivalent is not None:
                with np.errstate(invalid="ignore"):
                    alike = self.p_equivalent[place] < 1 - self.rules.confidence
                words[alike & ~self.told_apart[place]] = "equivalent"
            words[np.isnan(self.p_corrected[place])] = "undecided"
            words[(counts.wins + counts.losses == 0) & (counts.ties > 0)] = "identical"
            found.append(words.tolist())
        return found

    @property
    def pairs(self) -> list[Pair]:
        """Give a record for every pair and measure, with the three queries that changed most."""
        return self.records()

    def records(self, *, changed: int = 3) -> list[Pair]:
        """Give a record for every pair, measure by measure, with the queries that changed most."""
        return [
            record
            for place in range(len(self.results.measures))
            for record in self.of_pairs(place, range(len(self.pairing)), changed=changed)
        ]

    def pairs_with(self, run: int) -> list[int]:
        """Give the places of the pairs that a run is in."""
        return np.flatnonzero((self.pairing.first == run) | (self.pairing.second == run)).tolist()

    def of_pairs(self, place: int, pairs: Iterable[int], *, changed: int = 0) -> list[Pair]:
        """Give the records of some pairs by one measure."""
        differences, names = self.differences[place], self.names
        measure = self.results.measures[place]
        found, effects, counts = (
            moments(differences),
            standardised(differences),
            outcomes(differences),
        )
        alike = None if self.p_equivalent is None else self.p_equivalent[place]
        records = []
        for pair in pairs:
            first, second = int(self.pairing.first[pair]), int(self.pairing.second[pair])
            effect, queries = float(effects[pair]), int(found.number[pair])
            records.append(Pair(
                a=names[first], b=names[second], measure=str(measure),
                mean_a=float(self.results.means[first, place]),
                mean_b=float(self.results.means[second, place]),
                difference=float(found.mean[pair]),
                low=float(self.limits[place, pair, 0]), high=float(self.limits[place, pair, 1]),
                p=float(self.p[place, pair]), p_corrected=float(self.p_corrected[place, pair]),
                p_equivalent=None if alike is None else float(alike[pair]), effect=effect,
                wins=int((counts.wins if measure.rising else counts.losses)[pair]),
                ties=int(counts.ties[pair]),
                losses=int((counts.losses if measure.rising else counts.wins)[pair]),
                queries=queries, needed=self._needed(effect),
                detectable=detectable(
                    float(found.deviation[pair]), queries,
                    power_wanted=self.rules.power, level=self.rules.confidence,
                ),
                verdict=self.verdicts[place][pair], changed=self.changed(place, pair, changed),
            ))  # fmt: skip
        return records

    def _needed(self, effect: float) -> int | None:
        return queries_needed(effect, power_wanted=self.rules.power, level=self.rules.confidence)

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
        """Say for runs x runs which are told apart by a measure; pairs not compared are not."""
        found = np.zeros((len(self.names), len(self.names)), dtype=np.bool_)
        found[self.pairing] = self.told_apart[place]
        return found | found.T

    def _fewer_queries(self) -> list[Notice]:
        """Tell of pairs that share fewer queries than their means are of."""
        count = 0
        for place, differences in enumerate(self.differences):
            own = (~np.isnan(self.results.counted(place))).sum(axis=1)
            shared = (~np.isnan(differences)).sum(axis=0)
            most = np.maximum(own[self.pairing.first], own[self.pairing.second])
            count += int((shared < most).sum())
        words = (
            f"pairs of means over different queries: {count}; only the queries of both are compared"
        )
        return [Notice("pairs_of_fewer_queries", words, count)] if count else []

    def sentences(self) -> list[str]:
        """Say in a plain sentence what was found of every pair."""
        from leadline.comparison.wording import sentence

        return [sentence(pair, self.rules) for pair in self.pairs]

    def to_dict(self, *, changed: int = 3) -> dict[str, Any]:
        """Give the comparison as plain data: `measures`, `queries`, `pairs`; None is undefined."""
        from leadline.comparison.wording import sentence

        pairs = []
        for pair in self.records(changed=changed):
            entry = {key: _plain(value) for key, value in pair._asdict().items()}
            entry["changed"] = [
                change._asdict() | {"difference": change.difference} for change in pair.changed
            ]
            pairs.append(entry | {"sentence": sentence(pair, self.rules)})
        return {
            "measures": [str(measure) for measure in self.results.measures],
            "queries": self.results.averaged_queries(),
            "pairs": pairs,
        }

    def to_columns(self) -> dict[str, list[Any]]:
        """Give one row a pair and measure, as columns by name; NaN is undefined."""
        names = [name for name in Pair._fields if name != "changed"]
        pairs = self.records(changed=0)
        return {name: [getattr(pair, name) for pair in pairs] for name in names}

    def to_pandas(self) -> Any:
        """Give one row a pair and measure as a pandas frame."""
        return optional("pandas").DataFrame(self.to_columns())

    def __repr__(self) -> str:
        measures = ", ".join(map(str, self.results.measures))
        return f"Comparison({len(self.pairing)} pairs of {len(self.names)} runs by {measures})"


def _plain(value: object) -> object:
    return plain(value) if isinstance(value, float) else value
