"""Notes below the pairs of a comparison: sentences, numbers of verdicts, methods and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.comparison.gate import WORSE, Gate
from leadline.comparison.sentences import few_groups_text, groups_text, sentence
from leadline.data.wording import counted, percent
from leadline.stats.corrections import BH
from leadline.stats.intervals import SMALLEST, Student
from leadline.stats.paired_tests import T

if TYPE_CHECKING:
    from leadline.comparison.comparison_result import Comparison

SENTENCES = 12  # maximum number of pairs described in sentences; JSON has a sentence for every pair


def comparison_notes(
    comparison: Comparison,
    chosen: Sequence[Sequence[int]],
    *,
    changed: int = 3,
    per_pair: bool = False,
    conditions: Sequence[Gate] = (),
) -> list[str]:
    """Return the notes below the pairs that are shown: sentences, methods and warnings."""
    return [
        *pair_notes(comparison, chosen, changed=changed, per_pair=per_pair),
        *map(str, conditions),
        "",
        *method_notes(comparison, per_pair=per_pair),
        *_false_alarm_note(comparison, conditions),
        *map(str, comparison.warnings),
    ]


def pair_notes(
    comparison: Comparison, chosen: Sequence[Sequence[int]], *, changed: int = 3, per_pair: bool = False
) -> list[str]:
    """Return a sentence for each pair if they are few, and the numbers of verdicts if pairs are left out."""
    shown = sum(map(len, chosen))
    few = shown <= SENTENCES
    notes = []
    for pair in comparison.records(changed=changed, chosen=chosen) if few else ():
        reach = comparison.reach(pair.measure)
        notes.append(sentence(pair, comparison.rules, reach, per_pair=per_pair))
        if pair.changed:
            listed = (f"{change.query} {change.difference:+.4f}" for change in pair.changed)
            notes.append("  queries that differ most: " + ", ".join(listed))
    every_shown = few and shown == comparison.p_corrected.size
    return notes if every_shown else notes + _verdict_counts(comparison, chosen)


def _verdict_counts(comparison: Comparison, chosen: Sequence[Sequence[int]]) -> list[str]:
    """Return notes with the numbers of verdicts, of all pairs and of those not shown."""
    every, hidden = [], []
    for verdicts, shown in zip(comparison.verdicts, chosen, strict=True):
        every += verdicts
        left = set(range(len(verdicts))) - set(shown)
        hidden += [verdicts[index] for index in sorted(left)]
    notes = [f"{counted(len(every), 'pair')}: {_counts(every)}"]
    if hidden:
        notes.append(f"not shown: {_counts(hidden)} (--pairs all)")
    return notes


def _counts(verdicts: Sequence[str]) -> str:
    return ", ".join(f"{word} {verdicts.count(word):,}" for word in dict.fromkeys(verdicts))


def method_notes(comparison: Comparison, *, per_pair: bool = False) -> list[str]:
    """Return notes on test, correction, intervals and effect size."""
    rules, size = comparison.rules, comparison.size
    over = "all measures" if rules.family == "all" else "each measure"
    corrected = f"corrected: {rules.correction} over {counted(size, 'pair')} of {over}"
    notes = [
        f"p: {rules.test}, two-sided, H0: {rules.test.null}; {corrected}; seed {rules.seed}",
        f"low, high: {percent(rules.confidence)} {_kind(comparison, per_pair=per_pair)}",
        "effect: mean / standard deviation of "
        + ("the differences [interval]" if comparison.groups is None else "effective groups")
        + ("; wins: queries on which a is better" if comparison.results.withheld is None else ""),
    ]
    if comparison.these is not None:
        level = percent(rules.confidence)
        notes.insert(2, f"these queries: {level} interval of each pair over draws of judgments")
    if len(comparison.results.measures) > 1:
        others = ", ".join(str(measure) for measure in comparison.results.measures[1:])
        notes.append(f"primary measure: {comparison.primary}; secondary: {others}")
    if comparison.groups is not None:
        table = max((each.means for each in comparison.statistics), key=lambda found: found.effective.max())
        number, effective = int(table.clusters.max()), float(table.effective.max())
        notes.append(
            f"queries in groups ({rules.shown()['query_group']}): "
            + (few_groups_text(number, effective) or groups_text(number, effective))
        )
    return notes


def _kind(comparison: Comparison, *, per_pair: bool) -> str:
    """Return the description of the intervals that are shown, and whether they match the test."""
    rules = comparison.rules
    if comparison.simultaneous is None or per_pair:
        own = rules.joint if rules.joint and comparison.size == 1 else rules.interval
        text = f"interval of each pair alone ({own})"
        if per_pair and comparison.simultaneous is not None:
            text += "; it may exclude 0 where the corrected p is not significant"
    elif rules.joint is not None:
        text = f"simultaneous intervals, approximate ({rules.joint})"
    elif isinstance(rules.correction, BH):
        text = f"intervals by the false coverage rate (Benjamini and Yekutieli; {rules.interval})"
    else:
        text = f"simultaneous intervals (Bonferroni; {rules.interval})"
        if (np.abs(comparison.simultaneous) == SMALLEST).any():
            text += f", approximate: some limits are moved to 0 by later steps of {rules.correction}"
    inverted = isinstance(rules.test, T) or not isinstance(rules.interval, Student)
    if rules.matched and not inverted and rules.joint is None:
        text += f"; Student's, not inverted from {rules.test}"
    if not rules.matched and (rules.joint is None or per_pair):
        text += f"; of the mean difference, not inverted from {rules.test}: test and interval may disagree"
    return text


def _false_alarm_note(comparison: Comparison, tried: Sequence[Gate]) -> list[str]:
    """Return a note on the false alarm probability of several tests by --fail-if-worse."""
    tests = sum(gate.condition.kind == WORSE and not gate.unchanged for gate in tried)
    if tests < 2:
        return []
    alpha = comparison.rules.alpha
    most = min(1.0, tests * alpha)
    return [
        f"{tests} tests by --fail-if-worse, each at {alpha:.3g}: false alarm probability at most {most:.3g}"
    ]
