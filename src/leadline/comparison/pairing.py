"""Pairs of runs to compare, groups of queries, and differences of estimates with their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from leadline.comparison.rules import Rules
from leadline.data.arrays import Floats, Integers
from leadline.data.records import ResultWarning
from leadline.data.wording import counted, first_few
from leadline.errors import InputError, NoIntervalError, UsageError, either
from leadline.estimation.estimated_columns import with_target
from leadline.estimation.measured import estimates_of
from leadline.evaluation.lookups import place_of
from leadline.evaluation.results import Results
from leadline.stats.moments import Groups, Weighted

# What gives estimates an interval, by a part of the reason for which they have none.
REMEDIES = {
    "judgments are missing": "Judge the missing pairs",
    " queries, not": "Judge more queries",
    "need at least": "Judge more pairs",
    "not valid with": "Choose another measure, such as P@10",
    "not simulated": "Choose another measure, such as P@10",
    "without predicted": "Choose another measure, such as P@10",
    "of the weight": "Leave out these runs, or judge more of their documents",
    "shares no query": "Leave out these runs",
    "does not list": "Use a pool from `leadline pool --for`",
}


def read_query_groups(source: str) -> dict[str, str]:
    """Read the groups of queries from a column of a table with a header."""
    from leadline.io.small_tables import column_of

    path, rows = column_of(source, example="queries.tsv:paragraph")
    groups: dict[str, str] = {}
    for line, *cells in rows:
        query, group = map(str, cells)
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
    codes = group_codes(results, groups)
    if codes is None or results.weighted is None:
        return results.weighted if codes is None else codes
    return results.weighted._replace(codes=codes)


def group_codes(results: Results, groups: str | Mapping[str, object] | None) -> Integers | None:
    """Return the group of each query as an integer code; None without groups."""
    if groups is None:
        return None
    if not isinstance(groups, (str, Mapping)):
        raise UsageError(
            f"query_group cannot be of type {type(groups).__name__}. Pass FILE:COLUMN or {{query: group}}."
        )
    source = groups if isinstance(groups, str) else "in memory"
    labels = read_query_groups(groups) if isinstance(groups, str) else groups
    used = set(results.averaged_queries())
    lacking = [query for query in results.queries if query in used and query not in labels]
    if lacking:
        others = len(lacking) - 1
        more = f" and {counted(others, 'other query', 'other queries')} have" if others else " has"
        raise InputError(
            f"query '{lacking[0]}'{more} no group",
            path=source.rpartition(":")[0] or source,
            hint="Assign every query to a group",
        )
    # queries outside all means are separate groups, without any difference
    names = [str(labels[query]) if query in labels else f"\0{query}" for query in results.queries]
    order = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return np.array([order[name] for name in names], dtype=np.int64)


class Pairs(NamedTuple):
    """Indices of the first and second run of each pair."""

    first: Integers
    second: Integers

    def __len__(self) -> int:  # the number of pairs, not of columns
        return len(self.first)


def pairs_of(results: Results, baseline: str | Sequence[str] | None) -> Pairs:
    """Return the pairs of runs with the baselines; without one, of each run with every earlier one."""
    names = results.names
    if len(names) < 2:
        raise UsageError(f"comparing needs at least two runs, not {len(names)}")
    baselines = [place_of(names, name) for name in listed_names(() if baseline is None else baseline)]
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


def listed_names(baseline: str | Sequence[str]) -> list[str]:
    """Return the names of baselines, each once; raise UsageError for anything else."""
    names = [baseline] if isinstance(baseline, str) else baseline
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"baseline={baseline!r} is not valid. Pass the name of a run or a list of names.")
    return list(dict.fromkeys(names))


def check_averages(results: Results) -> None:
    """Raise UsageError for measures that are not means over queries."""
    wrong = [str(m) for m in results.measures if m.average in ("sum", "geometric")]
    if wrong:
        raise UsageError(
            f"only arithmetic means over queries can be compared, not {either(wrong)}. Use measures "
            "such as AP or nDCG@10."
        )


def check_intervals(results: Results, measures: Iterable[object] | None = None) -> None:
    """Raise NoIntervalError for estimates without a valid interval, which no test can tell apart either."""
    for measure in map(str, results.measures if measures is None else measures):
        reasons = (results.withheld or {}).get(measure, {})
        runs: dict[str, list[str]] = {}
        for name in filter(reasons.__contains__, results.names):
            runs.setdefault(reasons[name], []).append(name)
        if runs:
            listed = first_few([f"{first_few(names)} ({why})" for why, names in runs.items()])
            first = next(iter(runs))
            hint = next((hint for part, hint in REMEDIES.items() if part in first), "Add judgments")
            raise NoIntervalError(f"{measure} has no interval for {listed}. {hint}.")


def check_judged(results: Results) -> None:
    """Raise InputError for runs without a judged document, whose ids hardly match."""
    for code in ("no_overlap", "no_judged_document"):
        for notice in results.warnings:
            if notice.code == code:
                raise InputError(notice.message)


def pooled_names(results: Results) -> dict[str, str]:
    """Return the names of estimated measures that are relative to the pool, as `evaluate` shows them."""
    estimated = estimates_of(results)
    measures = [] if estimated is None else list(map(str, estimated.measures))
    targets = [] if estimated is None else list(map(estimated.target, range(len(measures))))
    return {
        name: with_target(name, target)
        for name, target in zip(measures, targets, strict=True)
        if target == "pooled"
    }


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
        return [
            ResultWarning(
                "not_tested", f"{counted(number, 'pair is', 'pairs are')} not tested: {one}", number
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
            f"the pool has {estimated.look.looks} looks, but these values use all judgments so far. Pass "
            "judgments and runs instead of results to get the values at the last look."
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
