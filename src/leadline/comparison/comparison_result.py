"""Result of a comparison: arrays of measures x pairs, and one record per pair and measure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from math import isfinite
from string import ascii_lowercase
from typing import Any, TypeAlias

import numpy as np

from leadline.comparison.compared_pair import (
    COUNTS,
    DROPPED,
    LONG,
    PAPER,
    PRINTED,
    Change,
    ComparedPair,
    Values,
    pair_columns,
    shown_columns,
)
from leadline.comparison.engine import Differences, Tested
from leadline.comparison.gate import WORSE, Gate
from leadline.comparison.pair_texts import (
    SENTENCES,
    caption,
    method_notes,
    p_text,
    pair_notes,
    sentence,
    signed,
)
from leadline.comparison.pairing import Pairs, Rules, doubt_of, pooled_names, these_queries
from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.table import (
    Column,
    Preformatted,
    ResultWarning,
    RunInfo,
    Table,
    interval_texts,
    named_columns,
    printed_table,
)
from leadline.data.validation import check_word, refusal
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.evaluation.limits import Intervals, mean_intervals
from leadline.evaluation.lookups import cut_note
from leadline.evaluation.results import Results
from leadline.evaluation.run_warnings import no_quality
from leadline.result import Make, Result, figure_of
from leadline.stats import Interval
from leadline.stats.intervals import Randomisation as InvertedRandomisation
from leadline.stats.intervals import Student
from leadline.stats.moments import EQUAL, Groups, means, totals
from leadline.stats.power import outcomes, standardised, standardised_limits

Chosen: TypeAlias = Sequence[Sequence[int]] | None  # indices of pairs by measure

AT_ONCE = 4096  # pairs whose queries are sorted together
MOST_LETTERS = len(ascii_lowercase)  # with more runs, outperformed runs are counted instead


class Comparison(Tested, Result):
    """Pairs of runs compared by one or more measures.

    Attributes
    ----------
    results : Results
        Values of the runs.
    pairing : Pairs
        Indices of the runs of each pair.
    rules : Rules
        Test, correction and intervals.
    these : These or None
        Differences for these queries, over draws of judgments; None if the values are no estimates.
    parts : list of Differences
        Values and pairs by measure, before queries are left out by Tukey.
    differences : list of ndarray of float64, shape (n_queries, n_pairs)
        Differences by measure; NaN if a query is missing from either mean.
    p_uncorrected, p_corrected : ndarray of float64, shape (n_measures, n_pairs)
        p-values before and after correction.
    p_equivalent : ndarray of float64, shape (n_measures, n_pairs), or None
        Corrected p-values of the equivalence test; None without a margin.
    simultaneous : ndarray of float64, shape (n_measures, n_pairs, 2), or None
        Simultaneous confidence limits; None for a single pair or without correction.
    groups : ndarray of int64, shape (n_queries,), Weighted or None
        Group of each query, and its weight; None without either.
    baselines : list of str
        Names of the baselines; empty if all pairs of runs are compared.
    """

    _words = dict.fromkeys(["worse", "worst", "losers", "regressions", "degraded"], "{worse}") | (
        dict.fromkeys(["better", "winners", "improved", "gains"], "{better}")
        | {name: f"pairs[0].{name}" for name in ("wins", "ties", "losses")}
        | {
            "winner": "verdict",
            "scores": "comparison.results.per_query",
            "per_query": "comparison.results.per_query",
        }
        | dict.fromkeys(["mean", "means_of_runs"], "comparison.results.means")
    )

    def __init__(
        self,
        results: Results,
        pairing: Pairs,
        rules: Rules,
        groups: Groups | None = None,
        *,
        baselines: Sequence[str] = (),
    ) -> None:
        self.these = these_queries(results, pairing)
        reasons, doubt = (None, doubt_of(results, pairing)) if self.these is None else self.these[1:]
        super().__init__(Differences.of(results, pairing, reasons), rules, groups, doubt=doubt)
        self.results = results
        self.baselines = list(baselines)
        self.pairing = pairing
        self.warnings = [*results.warnings, *no_quality(results.measures)]
        self.warnings += [*self._fewer_queries(), *self.notices()]
        if results.withheld is not None:
            words = (
                "estimates for single queries vary with the sample, so wins and per-query differences are "
                "hidden"
            )
            self.warnings.append(ResultWarning("estimated_queries", words, 1))
            if rules.smallest is not None:
                words = (
                    "to compute from estimates how many queries you need to detect a difference of "
                    f"{rules.smallest:g}, use `leadline compare QRELS RUN... --pool POOL` with a pool from "
                    "`leadline pool --for`, without `--query-slice`"
                )
                self.warnings.append(ResultWarning("no_plan", words, 1))
        if self.these is not None:
            self.warnings += self.these.warnings()
        self.options = results.options | self.rules.shown()

    @property
    def primary(self) -> str:
        """Name of the primary measure, the first one."""
        return str(self.results.measures[0])

    @property
    def runs(self) -> list[RunInfo]:
        """The compared runs."""
        return self.results.runs

    @property
    def names(self) -> list[str]:
        """Names of the runs."""
        return self.results.names

    @property
    def unused(self) -> frozenset[str]:
        """Fields of pairs that this comparison has no values for."""
        return frozenset(("these_low", "these_high") if self.these is None else ())

    @cached_property
    def intervals(self) -> Intervals:
        """Confidence intervals of the means of the runs, at the level of the comparison."""
        rules = self.rules
        # a sign-flip test applies to differences, not to values
        kind: Interval = Student()
        if rules.interval is not None and not isinstance(rules.interval, InvertedRandomisation):
            kind = rules.interval
        found = mean_intervals(
            self.results, kind, confidence=rules.confidence, seed=rules.seed, groups=self.groups
        )
        for run, sampled in enumerate(self.results.sampling or ()):
            known = [sampled["estimate"].get(str(one), {}).get("low") for one in self.results.measures]
            found.limits[run, [low is None for low in known]] = np.nan  # withheld
        return found

    @property
    def pairs(self) -> list[ComparedPair]:
        """Records of all pairs and measures, with the three queries of largest difference."""
        return self.records()

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        """Return a column as an array, such as `comparison["p"]`: a value per record of `pairs`."""
        fields = self.fields()
        if name not in fields:
            raise UsageError(f"a comparison has no column '{name}'. Choose one of {', '.join(fields)}.")
        return np.asarray(fields[name])

    def _filled(self) -> dict[str, str]:
        pairs = zip(self.pairing.first.tolist(), self.pairing.second.tolist(), strict=True)
        a, b = next(((self.names[first], self.names[second]) for first, second in pairs), ("a", "b"))
        more = "" if len(self.results.measures) == 1 else f", measure={self.primary!r}"
        return {
            "worse": f"comparison.results.worst({a!r}, against={b!r}{more})",
            "better": f"comparison.results.worst({b!r}, against={a!r}{more})",
        }

    def _only(self) -> ComparedPair:
        """Return the record of the only pair and measure."""
        if self.p_corrected.size != 1:
            pairs, measures = len(self.pairing), len(self.results.measures)
            raise UsageError(
                "only a comparison with a single pair and a single measure has this attribute, but this one "
                f"has {counted(pairs, 'pair')} and {counted(measures, 'measure')}. "
                "Use `pairs` to list every result."
            )
        return self.pairs[0]

    @property
    def verdict(self) -> str:
        """Verdict of the only pair and measure, for the first run of the pair."""
        return self._only().verdict

    @property
    def difference(self) -> float:
        """Mean difference of the only pair and measure: first run minus second run."""
        return self._only().difference

    @property
    def p(self) -> float:
        """p-value of the only pair and measure."""
        return self._only().p

    @property
    def significant(self) -> bool:
        """Whether the only difference is significant."""
        self._only()
        return bool(self.rejected.all())

    @property
    def low(self) -> float:
        """Lower confidence limit of the only difference."""
        return self._only().low

    @property
    def high(self) -> float:
        """Upper confidence limit of the only difference."""
        return self._only().high

    @property
    def sentence(self) -> str:
        """Sentence that reports the only pair and measure."""
        self._only()
        return self.sentences()[0]

    def records(self, *, changed: int = 3, chosen: Chosen = None) -> list[ComparedPair]:
        """Return the records of pairs, measure by measure.

        Parameters
        ----------
        changed : int, default 3
            Number of queries with the largest differences in each record.
        chosen : sequence of sequence of int, optional
            Indices of the pairs to return, by measure; all pairs by default.
        """
        return _records(self.fields(chosen, changed=changed))

    def chosen(self, pairs: str | int) -> list[list[int]]:
        """Return the indices of the pairs to show, by measure.

        Parameters
        ----------
        pairs : {"significant", "all"} or int
            Significant pairs, all pairs, or the given number of pairs with the smallest corrected p-values.
        """
        if pairs == "all":
            return [list(range(len(self.pairing)))] * len(self.results.measures)
        if pairs == "significant":
            return [np.flatnonzero(row).tolist() for row in self.rejected]
        if isinstance(pairs, (str, bool)) or not isinstance(pairs, (int, np.integer)) or pairs < 0:
            raise refusal("pairs", pairs, "'significant', 'all' or a whole number of at least 0")
        size = -np.abs(self.means)
        return [
            np.lexsort((size[index], row))[: int(pairs)].tolist()
            for index, row in enumerate(self.p_corrected)
        ]

    def pairs_with(self, run: int) -> list[int]:
        """Return the indices of the pairs that contain a run."""
        return np.flatnonzero((self.pairing.first == run) | (self.pairing.second == run)).tolist()

    def fields(self, chosen: Chosen = None, *, changed: int = 0) -> dict[str, Values]:
        """Return the columns of pairs by name, measure by measure, in the order of the JSON.

        Parameters
        ----------
        chosen : sequence of sequence of int, optional
            Indices of the pairs, by measure; all pairs by default.
        changed : int, default 0
            Number of queries with the largest differences in `changed`.
        """
        listed = self.chosen("all") if chosen is None else chosen
        parts = [np.array(pairs, dtype=np.int64) for pairs in listed]
        changes = [self._most_changed(index, pairs, changed) for index, pairs in enumerate(parts)]
        measures = np.repeat(np.arange(len(parts)), list(map(len, parts)))
        return pair_columns(self, measures, np.concatenate(parts), list(chain.from_iterable(changes)))

    def _columns(
        self, *, pairs: str | int = "all", chosen: Chosen = None, long: bool = False
    ) -> list[Column]:
        fields = self.fields(self.chosen(pairs) if chosen is None else chosen)
        headings = {name: name for name in (*PRINTED, *LONG * long)} | {"difference": "a - b"}
        headings["p_corrected"] = f"p ({self.rules.correction})" if self.corrects else "p"
        if long and self.corrects:
            headings["p"] = "p"
        if self.results.withheld is not None:
            headings = {name: heading for name, heading in headings.items() if name not in COUNTS}
        names = [name for name in ComparedPair._fields if name not in {*self.unused, "changed"}]
        columns = named_columns({name: fields[name] for name in names}, headings, dropped=DROPPED)
        if self.these is not None:
            reach = self._reaches(fields["measure"])
            limits = (np.clip(fields[f"these_{end}"], -reach, reach) for end in ("low", "high"))
            texts = Column("these queries", interval_texts(*limits), printed_only=True)
            columns.insert(names.index("high") + 1, texts)
        return columns

    def _tables(
        self,
        *,
        pairs: str | int | None = None,
        chosen: Chosen = None,
        changed: int = 3,
        per_pair: bool = False,
        long: bool = False,
        conditions: Sequence[Gate] = (),
    ) -> list[Table]:
        chosen = self.printed_pairs(pairs) if chosen is None else chosen
        columns = self._columns(chosen=chosen, long=long)
        shown = self._shown({column.name: column.values for column in columns}, per_pair=per_pair)
        notes = [
            *pair_notes(self, chosen, changed=changed, per_pair=per_pair, long=long),
            *map(str, conditions),
            "",
            *method_notes(self, per_pair=per_pair, long=long),
            *_false_alarm_note(self, conditions),
            *cut_note(self.results.options),
            *map(str, self._told(per_pair=per_pair)),
        ]
        words = caption(self, per_pair=per_pair)
        return [printed_table(columns, shown=shown, notes=notes, caption=words, paper=PAPER)]

    def _told(self, *, per_pair: bool) -> list[ResultWarning]:
        """Return the warnings; with `per_pair`, those about the intervals of the family give way."""
        family = self._few_queries() if per_pair else []
        return [one for one in self.warnings if one not in family] + (
            self._few_queries(alone=True) if per_pair else []
        )

    def _in_data(self, note: str) -> str:
        return note_in_data(note)

    def printed_pairs(self, pairs: str | int | None = None) -> list[list[int]]:
        """Return the indices of the pairs to print, by measure: by default all if they are few."""
        if pairs is None:
            pairs = "all" if self.p_corrected.size <= SENTENCES else "significant"
        return self.chosen(pairs)

    def _reaches(self, measures: Values) -> Floats:
        """Return the largest possible difference of each row, by the name of its measure."""
        known = {str(one): self.reach(str(one)) for one in self.results.measures}
        return np.array([known[measure] for measure in measures], dtype=np.float64)

    def _shown(self, fields: dict[str, Any], *, per_pair: bool) -> dict[str, Values]:
        """Return the columns that are printed otherwise: limits to report, effects with their limits."""
        reach = self._reaches(fields["measure"])
        effects = zip(*(_listed(fields[f"effect{end}"]) for end in ("", "_low", "_high")), strict=True)
        names = pooled_names(self.results)
        return shown_columns(fields, reach, alone=per_pair) | {
            "measure": [names.get(str(name), name) for name in _listed(fields["measure"])],
            "effect": [
                Preformatted(f"{effect:.2f} [{low:.2f}, {high:.2f}]") if isfinite(low) else effect
                for effect, low, high in effects
            ],
        }

    @property
    def first_level(self) -> float:
        """Confidence level of one pair at the first step of the correction."""
        if not self.rules.corrects:
            return self.rules.confidence
        return 1 - self.rules.alpha / self.size

    @cached_property
    def statistics(self) -> dict[str, np.ndarray[Any, Any]]:
        """Statistics of the differences by name, measures x pairs."""
        found = [
            self._statistics(part, table) for part, table in zip(self.parts, self.differences, strict=True)
        ]
        return {name: np.stack([each[name] for each in found]) for name in found[0]}

    def _statistics(self, part: Differences, table: Floats) -> dict[str, np.ndarray[Any, Any]]:
        found, effect = means(totals(table, self.groups)), standardised(table)
        low, high = np.full((2, table.shape[1]), np.nan)
        if self.groups is None:  # there is no interval of the effect size for dependent queries
            low, high = standardised_limits(table, level=self.rules.confidence)
        else:
            spread = found.deviation > 0
            effect = np.divide(found.mean, found.deviation, out=np.full(len(spread), np.nan), where=spread)
            effect[(found.deviation == 0) & (found.mean == 0)] = 0.0
        for one in (effect, low, high) if part.reasons else ():
            one[[bool(reason) for reason in part.reasons]] = np.nan
        wins, ties, losses = outcomes(table if part.rising else -table)
        return {
            "queries": (~np.isnan(table)).sum(axis=0),
            "groups": found.clusters.astype(np.int64),
            "effective_groups": found.effective,
            "deviation": found.deviation,
            "effect": effect,
            "effect_low": low,
            "effect_high": high,
            "wins": wins,
            "ties": ties,
            "losses": losses,
        }

    def _most_changed(self, index: int, pairs: Integers, number: int) -> list[list[Change]]:
        """Return the queries with the largest differences of each pair, in descending order."""
        if self.results.withheld is not None or not number:  # estimates of single queries are too variable
            return [[] for _ in pairs]
        values = self.results.averaged_values(index)
        queries = list(self.results.queries)
        changes: list[list[Change]] = []
        for begin in range(0, len(pairs), AT_ONCE):
            part = pairs[begin : begin + AT_ONCE]
            size = np.abs(np.nan_to_num(self.differences[index][:, part])).T
            order = np.argsort(-size, axis=1, kind="stable")[:, :number]
            counts = (np.take_along_axis(size, order, axis=1) > EQUAL).sum(axis=1)
            first, second = self.pairing.first[part][:, None], self.pairing.second[part][:, None]
            columns = (order, values[first, order], values[second, order])
            for count, codes, a, b in zip(counts.tolist(), *(c.tolist() for c in columns), strict=True):
                rows = zip(codes[:count], a[:count], b[:count], strict=True)
                changes.append([Change(queries[code], x, y) for code, x, y in rows])
        return changes

    def matrix(self, index: int) -> Flags:
        """Return flags of significant differences, runs x runs; False for pairs that were not compared."""
        better = self.significantly_better(index)
        return better | better.T

    def _fewer_queries(self) -> list[ResultWarning]:
        """Return a warning of pairs whose means are over different sets of queries."""
        count = 0
        for index, differences in enumerate(self.differences):
            own = (~np.isnan(self.results.averaged_values(index))).sum(axis=1)
            shared = (~np.isnan(differences)).sum(axis=0)
            most = np.maximum(own[self.pairing.first], own[self.pairing.second])
            count += int((shared < most).sum())
        cover = counted(count, "comparison covers", "comparisons cover")
        words = f"{cover} fewer queries than the mean of run a or b (only shared queries are compared)"
        return [ResultWarning("pairs_of_fewer_queries", words, count)] if count else []

    def sentences(self) -> list[str]:
        """Return one sentence for each pair and measure."""
        return self._sentences(self.pairs)

    def _sentences(self, pairs: Sequence[ComparedPair]) -> list[str]:
        alone = bool(self.options.get("per_pair"))
        return [sentence(pair, self.rules, self.reach(pair.measure), per_pair=alone) for pair in pairs]

    def reach(self, measure: str) -> float:
        """Return the width of the range of a measure; infinite if unbounded."""
        match = next(candidate for candidate in self.results.measures if str(candidate) == measure)
        return float(getattr(match, "high", np.inf)) - float(getattr(match, "low", -np.inf))

    def to_dict(self, *, changed: int = 3, chosen: Chosen = None, per_query: bool = False) -> dict[str, Any]:
        """Return a dictionary with the keys measures, primary, queries and pairs; None is undefined.

        Parameters
        ----------
        changed : int, default 3
            Number of queries with the largest differences in each pair.
        chosen : sequence of sequence of int, optional
            Indices of the pairs to return, by measure; all pairs by default.
        per_query : bool
            Add `results`, the values of the queries, and `rules`, by which they were compared; `from_json`
            needs them.
        """
        fields = self.fields(chosen, changed=changed)
        records = _records(fields)
        fields["changed"] = [
            [change._asdict() | {"difference": change.difference} for change in pair.changed]
            for pair in records
        ]
        fields["sentence"] = self._sentences(records)
        columns = {
            name: Column(name, values).plain() for name, values in fields.items() if name not in self.unused
        }
        return {
            "measures": [str(measure) for measure in self.results.measures],
            "primary": self.primary,
            "queries": self.results.averaged_queries(),
            "pairs": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        } | (
            {"results": self.results.to_dict(per_query=True), "rules": self.rules.shown()}
            if per_query
            else {}
        )

    def _figure(
        self,
        *,
        figure: str | None = None,
        pair: tuple[str, str] | None = None,
        measure: object | None = None,
        per_pair: bool = False,
        pairs: str | int | None = None,
        chosen: Sequence[int] | None = None,
    ) -> Make:
        """Draw a comparison; by default the differences of the only pair, or a forest plot."""
        from leadline.comparison.comparison_figures import KINDS, drawn_comparison, pair_of, refuse_by_query
        from leadline.evaluation.query_figures import SHAPES

        by_query = "differences" if self.results.withheld is None or pair else "pairs"
        name = figure or (by_query if pair or len(self.pairing) == 1 else "forest")
        check_word((*KINDS, *SHAPES), figure=name)
        index = 0 if measure is None else self.results.measure_index(measure)
        if name in SHAPES:
            refuse_by_query(self, name)
            return figure_of(self.results, figure=name, measure=self.results.measures[index])
        pair_index = pair_of(self, pair) if pair else 0
        drawn = self.printed_pairs(pairs)[index] if chosen is None else chosen
        return lambda width: drawn_comparison(
            self, name, index, pair=pair_index, width=width, per_pair=per_pair, pairs=drawn
        )

    def __repr__(self) -> str:
        measures = ", ".join(map(str, self.results.measures))
        size = f"{counted(len(self.pairing), 'pair')} of {counted(len(self.names), 'run')} on {measures}"
        if self.p_corrected.size == 1:
            only = self.pairs[0]
            size = (
                f"{only.a} - {only.b}, {only.measure} {signed(only.difference)}, {p_text(only.p_corrected)}"
            )
        return f"Comparison({size})"


def note_in_data(note: str) -> str:
    """Return a note beside CSV or JSON Lines, where `low`, `high` and `p` are those of each pair alone.

    >>> note_in_data("low, high: simultaneous CI (MaxT)"), note_in_data("p: t-test, Holm-corrected")
    ('simultaneous_low, simultaneous_high: simultaneous CI (MaxT)', 'p_corrected: t-test, Holm-corrected')
    """
    name, colon, text = note.partition(": ")
    if name == "low, high" and ("simultaneous CI" in text or "false coverage rate" in text):
        name = "simultaneous_low, simultaneous_high"
    elif name == "these queries":
        name = "these_low, these_high"
    elif name.startswith("p (") or (name == "p" and "-corrected" in text):
        name = "p_corrected"
    return name + colon + text.replace("p (Holm):", "p_corrected:")


def _listed(values: Values) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _records(fields: dict[str, Values]) -> list[ComparedPair]:
    ordered = (_listed(fields[name]) for name in ComparedPair._fields)
    return [ComparedPair(*values) for values in zip(*ordered, strict=True)]


def outperformed_runs(comparison: Comparison, index: int) -> list[list[int]]:
    """Return for each run the indices of the runs that it significantly outperforms."""
    if not getattr(comparison.results.measures[index], "quality", True):
        return [[] for _ in comparison.names]
    return [np.flatnonzero(row).tolist() for row in comparison.significantly_better(index)]


def _false_alarm_note(comparison: Comparison, tried: Sequence[Gate]) -> list[str]:
    """Return a note on the false alarm probability of several tests by --fail-if-worse."""
    tests = sum(gate.condition.kind == WORSE and not gate.unchanged for gate in tried)
    if tests < 2:
        return []
    alpha = comparison.rules.alpha
    most = min(1.0, tests * alpha)
    words = f"{tests} --fail-if-worse tests at level {alpha:.3g} give a false alarm with probability at most"
    return [f"{words} {most:.3g}"]
