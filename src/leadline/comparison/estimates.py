"""Differences of estimated runs for the same queries: their intervals over draws, and pairs without one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from leadline.comparison.pairing import Pairs, check_intervals
from leadline.comparison.rules import Rules
from leadline.data.arrays import Floats
from leadline.data.records import ResultWarning
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.estimation.estimated_columns import with_target
from leadline.estimation.measured import estimates_of
from leadline.evaluation.results import Results


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
            f"The pool has {estimated.look.looks} looks, but these values use all judgments so far. Pass "
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
