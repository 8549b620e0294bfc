"""Notes below the pairs of a comparison: sentences, numbers of verdicts, methods and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.comparison.compared_pair import few_groups_text, groups_text, sentence
from leadline.comparison.gate import WORSE, Gate
from leadline.comparison.pairing import in_groups, pooled_names
from leadline.data.wording import counted, percent, queries
from leadline.estimation.estimated_columns import POOLED
from leadline.stats.intervals import SMALLEST, Student
from leadline.stats.paired_tests import Randomisation, T
from leadline.stats.simultaneous import BH

if TYPE_CHECKING:
    from leadline.comparison.comparison_result import Comparison

SENTENCES = 12  # maximum number of pairs described in sentences; JSON has a sentence for every pair
PAPER = {"a": "System", "b": "vs.", "measure": "Measure", "a - b": "Difference"}  # headings in LaTeX


def pair_notes(
    comparison: Comparison,
    chosen: Sequence[Sequence[int]],
    *,
    changed: int = 3,
    per_pair: bool = False,
    long: bool = False,
) -> list[str]:
    """Return a sentence for each pair if they are few, and the numbers of verdicts if pairs are left out."""
    shown = sum(map(len, chosen))
    few = shown <= SENTENCES
    notes = []
    for pair in comparison.records(changed=changed, chosen=chosen) if few else ():
        reach = comparison.reach(pair.measure)
        notes.append(sentence(pair, comparison.rules, reach, per_pair=per_pair, detectable=long))
        if pair.changed:
            changes = [f"{change.query} ({change.difference:+.4f})" for change in pair.changed]
            several = "queries with the largest differences" if changes[1:] else ""
            notes.append(f"  {several or 'query with the largest difference'}: {', '.join(changes)}")
    if few and shown == comparison.p_corrected.size:
        return notes
    every, hidden = [], []
    for verdicts, listed in zip(comparison.verdicts, map(set, chosen), strict=True):
        every += verdicts
        hidden += [verdict for index, verdict in enumerate(verdicts) if index not in listed]
    notes.append(f"{counted(len(every), 'pair')}: {counts_of(every)}")
    if hidden:
        notes.append(f"not shown: {counts_of(hidden)} (--pairs all)")
    return notes


def counts_of(verdicts: Sequence[str]) -> str:
    """Return the number of times that each verdict occurs, as text."""
    return ", ".join(f"{verdicts.count(word):,} {word}" for word in dict.fromkeys(verdicts))


def method_notes(comparison: Comparison, *, per_pair: bool = False, long: bool = False) -> list[str]:
    """Return notes on test, correction and intervals; with `long` on hypothesis, effect and measures."""
    rules, level = comparison.rules, percent(comparison.rules.confidence)
    draws = rules.joint or any(getattr(one, "draws", 0) for one in (rules.test, rules.interval))
    *others, last = _p_notes(comparison)
    notes = [
        *others,
        last + (f", seed {rules.seed}" if draws else ""),
        *["equivalence: two one-sided t-tests" + _correction(comparison)] * (rules.margin is not None),
        f"low, high: {level} {_kind(comparison, per_pair=per_pair)}",
    ]
    if comparison.these is not None:
        notes.append(
            f"these queries: {level} CI of each pair for these queries only, over samples of documents"
        )
    notes += [POOLED] * bool(pooled_names(comparison.results))
    if long:
        spread = "the differences [CI]"
        if comparison.groups is not None:
            spread = "effective groups" if in_groups(comparison.groups) else "effective queries"
        wins = "; wins: queries on which a is better" if comparison.results.withheld is None else ""
        notes += [
            f"H0: {rules.test.null if rules.joint is None else Randomisation.null}",
            f"effect: mean / standard deviation of {spread}{wins}",
            f"primary measure: {comparison.primary}",
        ]
    if in_groups(comparison.groups):
        table = max((each.means for each in comparison.statistics), key=lambda found: found.effective.max())
        number, effective = int(table.clusters.max()), float(table.effective.max())
        notes.append(
            f"queries in groups ({rules.shown()['query_group']}): "
            + (few_groups_text(number, effective) or groups_text(number, effective))
        )
    return notes


def caption(comparison: Comparison, *, per_pair: bool = False) -> str:
    """Return the caption of a table in a paper: what stands in it, and the test in words."""
    single = per_pair or comparison.simultaneous is None
    kind = "confidence intervals" if single else f"{comparison.rules.adjusted} confidence intervals"
    number = queries(len(comparison.results.averaged_queries()))
    return (
        f"Mean differences over {number} with {percent(comparison.rules.confidence)} {kind} "
        f"({method(comparison)})."
    )


def method(comparison: Comparison) -> str:
    """Return test, correction and significance level in the words of a paper."""
    rules = comparison.rules
    correction = [str(rules.correction)] if comparison.corrects and rules.joint is None else []
    return ", ".join([rules.title, *correction, f"alpha = {rules.alpha:.3g}"])


def _p_notes(comparison: Comparison) -> list[str]:
    """Return what p and the p of a joint procedure are, with the number of tests in a family."""
    rules, size = comparison.rules, comparison.size
    p = f"p: {rules.test.title}, two-sided"
    over = f"{counted(size, 'test')} of all measures" if rules.family == "all" else counted(size, "pair")
    each = "" if rules.family == "all" or len(comparison.results.measures) == 1 else " per measure"
    over = f" over {over}{each}" * comparison.corrects
    if rules.joint is not None:
        return [f"{p}, uncorrected", f"p ({rules.joint}): {rules.title}, two-sided,{over}"]
    return [p + _correction(comparison) + over]


def _correction(comparison: Comparison) -> str:
    """Return the correction of single tests as text; empty for only one test."""
    if comparison.size < 2:
        return ""
    return f", {comparison.rules.single}-corrected" if comparison.rules.corrects else ", uncorrected"


def _kind(comparison: Comparison, *, per_pair: bool) -> str:
    """Return the description of the intervals that are shown, and whether they match the test."""
    rules = comparison.rules
    if comparison.simultaneous is None or per_pair:
        own = rules.joint if rules.joint and comparison.size == 1 else rules.interval
        text = f"CI of each pair ({own})"
        if per_pair and comparison.simultaneous is not None:
            text += "; may exclude 0 even if the corrected p is not significant"
    elif rules.joint is not None:
        text = f"simultaneous CI ({rules.joint}), approximate"
    elif isinstance(rules.correction, BH):
        text = f"CI with a controlled false coverage rate (Benjamini and Yekutieli, {rules.interval})"
    else:
        text = f"simultaneous CI (Bonferroni, {rules.interval})"
        if (np.abs(comparison.simultaneous) == SMALLEST).any():
            text += f"; approximate, because {rules.correction} moves some limits to 0"
    inverted = isinstance(rules.test, T) or not isinstance(rules.interval, Student)
    if rules.matched and not inverted and rules.joint is None:
        text += f", not inverted from {rules.test}"
    if not rules.matched and (rules.joint is None or per_pair):
        text += f" of the mean, which may disagree with {rules.test}"
    return text


def false_alarm_note(comparison: Comparison, tried: Sequence[Gate]) -> list[str]:
    """Return a note on the false alarm probability of several tests by --fail-if-worse."""
    tests = sum(gate.condition.kind == WORSE and not gate.unchanged for gate in tried)
    if tests < 2:
        return []
    alpha = comparison.rules.alpha
    most = min(1.0, tests * alpha)
    return [
        f"{tests} --fail-if-worse tests at {alpha:.3g} give a false alarm with probability {most:.3g} at most"
    ]
