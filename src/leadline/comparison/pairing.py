"""Pairs of runs to compare, the options of a comparison, and differences of estimates with intervals."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.registry import Registry
from leadline.data.table import ResultWarning, range_of
from leadline.data.validation import check_numbers
from leadline.data.wording import counted, first_few, listed_few
from leadline.errors import InputError, NoIntervalError, UnknownNameError, UsageError, either
from leadline.estimation.estimated_columns import with_target
from leadline.estimation.measured import estimates_of
from leadline.evaluation.lookups import place_of
from leadline.evaluation.results import Results
from leadline.stats import (
    CORRECTIONS,
    INTERVALS,
    TESTS,
    Correction,
    Interval,
    PairedTest,
    checked_level,
    checked_power,
    checked_seed,
)
from leadline.stats.intervals import Randomisation as InvertedRandomisation
from leadline.stats.intervals import Student
from leadline.stats.moments import Groups, Weighted
from leadline.stats.paired_tests import Randomisation, T
from leadline.stats.simultaneous import BH, Holm, Uncorrected

TUKEY = "Tukey"  # permutes the values of all runs within a query
MAX_T = "MaxT"  # flips the signs of all differences of a query together
JOINT = {"tukey": TUKEY, "max_t": MAX_T, "maxt": MAX_T}
JOINT_TITLES = {TUKEY: "randomized Tukey HSD", MAX_T: "max-t randomization test"}
MAX_T_DRAWS = 10_000
INVERTED = 100  # pairs x measures; inverting the randomization test for more takes minutes


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Options of a comparison, under the names that users give them.

    `correction` is "Tukey" or "MaxT" for a joint procedure. Without an interval, the default depends on the
    number of tests (`sized`).
    """

    test: PairedTest = field(default_factory=T)
    correction: Correction | str = field(default_factory=Holm)
    interval: Interval | None = None
    family: str = "measure"
    confidence: float = 0.95
    margin: float | None = None
    power: float = 0.8
    smallest: float | None = None
    query_group: str | Mapping[str, object] | None = None
    seed: int = 0
    # What errors for unknown names offer: tests (by default all), and procedures besides corrections.
    _tests: ClassVar[tuple[str, ...]] = ()
    _joint: ClassVar[tuple[str, ...]] = (MAX_T, TUKEY)

    def __post_init__(self) -> None:
        joint = JOINT.get(self.correction.lower()) if isinstance(self.correction, str) else None
        parsed = {
            "test": _parsed(self.test, PairedTest, TESTS, self._tests),
            "correction": joint
            or _parsed(self.correction, Correction, CORRECTIONS, (*CORRECTIONS.classes, *self._joint)),
            "interval": None if self.interval is None else _parsed(self.interval, Interval, INTERVALS),
        }
        for name, value in parsed.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "confidence", checked_level(self.confidence))
        checked_seed(self.seed)
        if self.family not in ("measure", "all"):
            raise UsageError(f"family={self.family!r} is not valid. Use 'measure' or 'all'.")
        given = {name: getattr(self, name) for name in ("margin", "smallest")}
        given = {name: value for name, value in given.items() if value is not None}
        check_numbers(power=self.power, **given)
        for name, value in given.items():
            if not value > 0:
                raise UsageError(f"{name} must be a number above 0 (in units of the measure), not {value}")
        checked_power(self.power)
        if self.joint == TUKEY and self.family == "all":
            raise UsageError(
                "Tukey does not support --config test.family=all. Use --config test.family=measure, or "
                "another correction."
            )
        if self.joint == TUKEY and self.query_group is not None:
            raise UsageError("Tukey does not support query groups. Use --correction MaxT.")

    @classmethod
    def of(cls, **options: Any) -> Self:
        """Return the rules of options as a user gives them."""
        return cls(**options)

    @classmethod
    def take(cls, options: dict[str, Any]) -> Self:
        """Return the rules of the options that belong to a comparison, and remove these from all options."""
        return cls(**{each.name: options.pop(each.name) for each in fields(cls) if each.name in options})

    def sized(self, tests: int) -> Self:
        """Return the rules with the interval for this number of pairs x measures.

        By default it is the inverted test for Randomisation and up to 100 tests, otherwise Student's t.
        """
        if self.interval is not None:
            return self
        if isinstance(self.test, Randomisation) and tests <= INVERTED:
            return replace(self, interval=InvertedRandomisation(draws=self.test.draws))
        return replace(self, interval=Student())

    @property
    def alpha(self) -> float:
        """Significance level, 1 - confidence."""
        return 1 - self.confidence

    @property
    def joint(self) -> str | None:
        """Name of the joint procedure for all pairs; None with a correction of p-values."""
        return self.correction if isinstance(self.correction, str) else None

    @property
    def title(self) -> str:
        """Name of the test that decides, in words."""
        return self.test.title if self.joint is None else JOINT_TITLES[self.joint]

    @property
    def decided_by(self) -> str:
        """The test and the correction, or the joint procedure instead of both."""
        return self.joint or f"{self.test}, {self.correction}"

    @property
    def single(self) -> Correction:
        """Correction of tests that no joint procedure makes, such as those of equivalence."""
        return self.correction if isinstance(self.correction, Correction) else Holm()

    @property
    def adjusted(self) -> str:
        """What the intervals of a family are: simultaneous, except those of BH."""
        return "BH-adjusted" if isinstance(self.correction, BH) else "simultaneous"

    @property
    def corrects(self) -> bool:
        """Whether p-values are corrected."""
        return not isinstance(self.correction, Uncorrected)

    @property
    def matched(self) -> bool:
        """Whether test and interval both concern the mean, so that they are made consistent."""
        return isinstance(self.test, (T, Randomisation)) and isinstance(
            self.interval, (Student, InvertedRandomisation)
        )

    def corrected(self, p: Floats) -> Floats:
        """Return the p-values of a family, corrected."""
        assert isinstance(self.correction, Correction)
        return self.correction.corrected(p)

    def limits(self, values: Floats, level: float, groups: Groups | None) -> tuple[Floats, Floats]:
        """Return the limits of the mean of each column; the rules must be `sized`."""
        assert self.interval is not None
        return self.interval.limits(values, level=level, seed=self.seed, groups=groups)

    def shown(self) -> dict[str, Any]:
        """Return the options as they are written in results."""
        return {each.name: _shown(getattr(self, each.name)) for each in fields(self)}


@dataclass(frozen=True, kw_only=True)
class SuiteRules(Rules):
    """Options of the tests of a suite; `partial` compares pairs on the collections that both have."""

    interval: Interval | None = field(default_factory=Student)
    baselines: tuple[str, ...] = ()
    partial: bool = False
    _tests: ClassVar[tuple[str, ...]] = ("Randomisation", "T")
    _joint: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        given = self.correction
        super().__post_init__()
        if not isinstance(self.test, (T, Randomisation)):
            name = type(self.test).__name__
            raise UsageError(f"--test {name} does not apply to a suite. Use T or Randomisation.")
        if self.joint is not None:
            raise UsageError(
                f"--correction {given} does not apply to a suite. Use one of "
                f"{', '.join(CORRECTIONS.classes)}."
            )


def _parsed(given: Any, kind: type, known: Registry[Any], offered: Sequence[str] = ()) -> Any:
    """Return what a name means, also as people write it: "paired t-test"."""
    if isinstance(given, kind):
        return given
    text = "_".join(given.split()) if isinstance(given, str) and "(" not in given else given
    try:
        return known.parse(text)
    except UnknownNameError:
        near = known.nearest(text, offered=offered)
        raise UnknownNameError(f"unknown {known.noun} '{text}'. {near}") from None


def _shown(value: object) -> object:
    if isinstance(value, Mapping):
        return "in memory"
    return str(value) if isinstance(value, (PairedTest, Correction, Interval)) else value


# What gives estimates an interval, by a part of the reason for which they have none.
REMEDIES = {
    "judgments are missing": "Judge the missing pairs, or merge the judgments from before the draw",
    " queries, not": "Judge more queries",
    "need at least": "Judge more pairs",
    "with LLM labels": "Leave out the labels (`--machine none`), or choose another measure, such as P@10",
    "all pooled documents": "Choose another measure, such as P@10",
    "not tested in simulations": "Choose another measure, such as P@10",
    "without predicted": "Choose another measure, such as P@10",
    "of the weight": "Judge more documents of any run without an interval",
    "no query in common": "Check the query ids of any run without an interval",
    "documents that were not drawn": "Pass one as `--pool`",
}
OF_RUNS = ("of the weight", "no query in common")  # reasons that other runs may not have


def read_query_groups(source: str) -> dict[str, str]:
    """Read the groups of queries from a column of a table with a header."""
    from leadline.io.small_tables import column_of

    path, rows = column_of(source, example="queries.tsv:paragraph")
    groups: dict[str, str] = {}
    for line, *cells in rows:
        query, group = ("" if cell is None else str(cell) for cell in cells)
        if groups.setdefault(query, group) != group:
            raise InputError(
                f"query '{query}' is in two groups",
                path=path,
                line=line,
                hint="Assign each query to one group",
            )
    return groups


def in_groups(groups: Groups | None) -> bool:
    """Return whether queries are in groups, and not only weighted."""
    return groups is not None and not (isinstance(groups, Weighted) and groups.alone)


def units_of(results: Results, groups: str | Mapping[str, object] | None) -> Groups | None:
    """Return the group of each query, and its weight if it has one; None without either."""
    if groups is None:
        return results.weighted
    if not isinstance(groups, (str, Mapping)):
        raise UsageError(
            f"query_group cannot be of type {type(groups).__name__}. Pass FILE:COLUMN or {{query: group}}."
        )
    source = groups if isinstance(groups, str) else "query_group"
    labels = read_query_groups(groups) if isinstance(groups, str) else groups
    used = set(results.averaged_queries())
    lacking = [query for query in results.queries if query in used and labels.get(query) in (None, "")]
    if lacking:
        raise InputError(
            f"{counted(len(lacking), 'query has', 'queries have')} no group ({first_few(lacking)})",
            path=source.rpartition(":")[0] or source,
            hint="Assign every query to a group",
        )
    # queries outside all means are separate groups, without any difference
    names = [str(labels[query]) if query in labels else f"\0{query}" for query in results.queries]
    order = {name: code for code, name in enumerate(dict.fromkeys(names))}
    codes = np.array([order[name] for name in names], dtype=np.int64)
    return codes if results.weighted is None else results.weighted._replace(codes=codes)


class Pairs(NamedTuple):
    """Indices of the first and second run of each pair."""

    first: Integers
    second: Integers

    def __len__(self) -> int:  # the number of pairs, not of columns
        return len(self.first)


def pairs_of(results: Results, baseline: str | Sequence[str] | None) -> Pairs:
    """Return the pairs of runs with the baselines; without one, of each run with every earlier one."""
    names = results.names
    wanted = baselines_of(results, baseline)
    if len(names) < 2:
        missing = f"no run is named '{wanted[0]}', and " if wanted and wanted[0] not in names else ""
        raise UsageError(f"{missing}a comparison needs at least two runs, not {len(names)}")
    baselines = [place_of(names, name) for name in wanted]
    if not baselines:
        second, first = np.triu_indices(len(names), k=1)
        return Pairs(first, second)
    pairs = [
        (run, base)
        for rank, base in enumerate(baselines)
        for run in range(len(names))
        if run != base and run not in baselines[:rank]  # compare two baselines once
    ]
    first, second = np.array(pairs, dtype=np.int64).T
    return Pairs(first, second)


def baselines_of(results: Results, baseline: str | Sequence[str] | None) -> list[str]:
    """Return the names of baselines, each given by its name or by the path of its file."""
    by_path = {os.path.realpath(run.path): run.name for run in results.runs if run.path}
    return [
        name if name in results.names else by_path.get(os.path.realpath(name), name)
        for name in listed_names(() if baseline is None else baseline)
    ]


def listed_names(baseline: str | Sequence[str]) -> list[str]:
    """Return the names of baselines, each once; raise UsageError for anything else."""
    names = [baseline] if isinstance(baseline, str) else baseline
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"baseline={baseline!r} is not valid. Pass a run name or a list of run names.")
    return list(dict.fromkeys(names))


def check_averages(results: Results) -> None:
    """Raise UsageError for measures that are not means over queries."""
    wrong = [str(m) for m in results.measures if m.average in ("sum", "geometric")]
    if wrong:
        raise UsageError(
            f"only arithmetic means over queries can be compared, not {either(wrong)}. Use measures "
            "such as AP or nDCG@10."
        )


def check_margin(measure: Any, margin: float, before: str, means: str) -> None:
    """Raise UsageError for a margin as large as the range of a measure, such as 1 (for 1 %?) of AP."""
    low, high = range_of(measure)
    if margin >= high - low:
        raise UsageError(
            f"'{before}{margin:g}' {means}, because {measure} ranges from {low:g} to {high:g}. Choose a "
            f"smaller margin, such as {before}{0.01 * (high - low):g}."
        )


def check_intervals(results: Results, measures: Iterable[object] | None = None) -> None:
    """Raise NoIntervalError for estimates without a valid interval, which no test can tell apart either."""
    for measure in map(str, results.measures if measures is None else measures):
        reasons = (results.withheld or {}).get(measure, {})
        runs: dict[str, list[str]] = {}
        for name in filter(reasons.__contains__, results.names):
            runs.setdefault(reasons[name], []).append(name)
        if runs:
            parts = [f"for {listed_few(names)}, because {why}" for why, names in runs.items()]
            listed = ", and none ".join(parts[:3]) + ", ..." * (len(parts) > 3)
            first = next(iter(runs))
            hint = next((hint for part, hint in REMEDIES.items() if part in first), "Add judgments")
            if len(results.names) - sum(map(len, runs.values())) > 1 and any(
                part in first for part in OF_RUNS
            ):
                hint += ", or leave it out"
            raise NoIntervalError(f"{measure} has no interval {listed}. {hint}.")


def check_judged(results: Results) -> None:
    """Raise InputError for runs without a judged document, whose ids hardly match."""
    for code in ("no_overlap", "no_judged_document"):
        for notice in results.warnings:
            if notice.code == code:
                raise InputError(notice.message)


def pooled_names(results: Results) -> dict[str, str]:
    """Return the names of estimated measures that are relative to the pool, as `evaluate` shows them."""
    estimated = estimates_of(results)
    if estimated is None:
        return {}
    names = list(map(str, estimated.measures))
    pooled = [name for index, name in enumerate(names) if estimated.target(index) == "pooled"]
    return {name: with_target(name, "pooled") for name in pooled}


class These(NamedTuple):
    """Differences for these queries, over draws of judgments; measures x pairs.

    Limits are equal where every document that matters was judged, and NaN where withheld, for a reason; such
    pairs are not tested. `doubt` is by how much documents outside the frame may lower and raise differences.
    """

    limits: Floats
    reasons: list[list[str]]
    doubt: Floats

    def warnings(self) -> list[ResultWarning]:
        """Return a warning of each reason for which pairs are not tested."""
        listed = [reason for row in self.reasons for reason in row if reason]
        noun = "pair" if len(self.reasons) == 1 else "comparison"  # of pairs by several measures
        return [
            ResultWarning(
                "not_tested", f"{counted(number, f'{noun} is', f'{noun}s are')} not tested: {one}", number
            )
            for one, number in Counter(listed).items()
        ]


def at_look(results: Results, rules: Rules) -> Rules:
    """Return the rules with the share of alpha of a look of the pool."""
    estimated = estimates_of(results)
    if estimated is None or estimated.look is None:
        return rules
    if not estimated.look.number:
        raise UsageError(
            f"the pool was drawn for {counted(estimated.look.looks, 'look')}, but these values use all "
            "judgments made so far, whether or not they complete a look. Pass the judgments, runs and pool "
            "instead, and leadline will use the most recent look."
        )
    return replace(rules, confidence=estimated.confidence)


def doubt_of(results: Results, pairs: Pairs) -> Floats | None:
    """Return by how much documents outside the frame may lower and raise differences of saved estimates.

    The sum over both runs, since nobody knows which of these documents they share.
    """
    if results.sampling is None:
        return None
    doubt = np.zeros((len(results.measures), len(results.runs), 2))
    for run, sampled in enumerate(results.sampling):
        for index, measure in enumerate(map(str, results.measures)):
            one = sampled["estimate"].get(measure, {})
            if sampled["new"] and one.get("lowest") is not None and one.get("highest") is not None:
                mean = float(results.means[run, index])
                doubt[index, run] = max(mean - one["lowest"], 0.0), max(one["highest"] - mean, 0.0)
    return np.asarray(doubt[:, pairs.first] + doubt[:, pairs.second, ::-1])


def these_queries(results: Results, pairs: Pairs) -> These | None:
    """Return the differences of pairs for these queries; None if the values are no estimates."""
    if results.unreliable:
        none = np.full((len(results.measures), len(pairs), 2), np.nan)
        untested = [[results.unreliable] * len(pairs) for _ in results.measures]
        return These(none, untested, np.zeros(none.shape))
    estimated = estimates_of(results)
    if estimated is None:  # or saved, with the reasons of runs and without those of pairs
        check_intervals(results)
        return None
    limits = np.full((len(results.measures), len(pairs), 2), np.nan)
    doubt = np.zeros(limits.shape)
    reasons = []
    place = {name: number for number, name in enumerate(results.names)}
    for index, measure in enumerate(results.measures):
        known = {(place[one.a], place[one.b]): one for one in estimated.differences(measure)}
        row = []
        for pair, (first, second) in enumerate(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)):
            one = known[min(first, second), max(first, second)]
            ends = (one.these_low, one.these_high) if first < second else (-one.these_high, -one.these_low)
            limits[index, pair] = (np.nan, np.nan) if one.reason else ends
            if estimated.new[first] or estimated.new[second]:
                doubt[index, pair] = one.doubt if first < second else one.doubt[::-1]
            row.append(one.reason)
        reasons.append(row)
    if all(map(all, reasons)):
        check_intervals(results)
    return These(limits, reasons, doubt)
