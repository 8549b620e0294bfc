"""What is said of pairs of runs: a sentence for each, and the notes and caption of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from leadline.comparison.compared_pair import ComparedPair
from leadline.comparison.pairing import Rules, in_groups, pooled_names
from leadline.data.table import digits_beside_zero
from leadline.data.wording import counted, first_few, percent, queries, queries_between
from leadline.estimation.estimated_columns import POOLED
from leadline.stats.intervals import SMALLEST, Student
from leadline.stats.moments import FEWEST_GROUPS
from leadline.stats.paired_tests import Randomisation, T
from leadline.stats.simultaneous import BH

if TYPE_CHECKING:
    from leadline.comparison.comparison_result import Comparison

SENTENCES = 12  # maximum number of pairs described in sentences; JSON has a sentence for every pair


def sentence(
    pair: ComparedPair,
    rules: Rules,
    reach: float = math.inf,
    *,
    per_pair: bool = False,
    detectable: bool = False,
) -> str:
    """Return a sentence that reports the comparison of a pair of runs."""
    both = f"{pair.a} and {pair.b}"
    if pair.queries == 0:
        return f"{no_query(pair.a, pair.b, pair.measure)}."
    if pair.verdict == "identical":
        every = on_all(query_count(pair), pair.queries)
        return f"{both} have the same {pair.measure} {every}."
    if pair.verdict == "undecided":
        untested = pair.these_low is not None and math.isnan(pair.these_low)
        what, value = f"difference between {both} on {pair.measure}", signed(pair.difference)
        words = f"No significant {what}: {value}; {query_count(pair)} cannot show which is better."
        return f"Not tested: the {what}, {value}, has no valid interval." if untested else words
    numbers = difference_text(pair, rules, reach, per_pair=per_pair)
    numbers += f", {_p(pair, rules)}, {query_count(pair)}{_these(pair)}"
    if pair.verdict in ("better", "worse"):
        small = pair.p_equivalent is not None and pair.p_equivalent < rules.alpha
        yet = f"; equivalent within {rules.margin:g}" if small else ""
        return (
            f"{pair.a} is significantly {pair.verdict} than {pair.b} on {pair.measure}: {numbers}{yet}"
            f"{_needed_text(pair, rules)}."
        )
    if pair.verdict == "equivalent":
        return (
            f"{both} are equivalent on {pair.measure} within {rules.margin:g}: {numbers}; "
            f"{p_text(pair.p_equivalent)} for a difference of {rules.margin:g} or more"
            f"{_needed_text(pair, rules)}."
        )
    if detectable and pair.detectable > reach:
        numbers += f"; no difference is detectable with {percent(rules.power)} power"
    elif detectable and pair.detectable > 0:
        numbers += (
            f"; smallest difference detectable with {percent(rules.power)} power: {pair.detectable:.2g}"
        )
    numbers += _needed_text(pair, rules)
    return f"No significant difference between {both} on {pair.measure}: {numbers}."


def _these(pair: ComparedPair) -> str:
    """Return the limits of an estimated difference for these queries as text, empty without any."""
    low, high = pair.these_low, pair.these_high
    if low is None or high is None or math.isnan(low):
        return ""
    if low == high:
        return "; exact for these queries"
    digits = digits_beside_zero(_digits(pair.difference), low, high)
    return f"; {low:.{digits}f} to {high:.{digits}f} for these queries"


def no_query(a: str, b: str, measure: str) -> str:
    """Return the statement that two runs have no query in common.

    >>> no_query("bm25", "dense", "AP")
    'bm25 and dense cannot be compared on AP, because no query counts toward both means'
    """
    return f"{a} and {b} cannot be compared on {measure}, because no query counts toward both means"


def shown_limits(pair: ComparedPair, reach: float, *, per_pair: bool = False) -> tuple[float, float]:
    """Return the confidence limits to report, clipped to the range of differences."""
    low, high = pair.simultaneous_low, pair.simultaneous_high
    if per_pair or math.isnan(low):
        low, high = pair.low, pair.high
    return clipped(low, -reach, reach), clipped(high, -reach, reach)


def clipped(value: float, low: float, high: float) -> float:
    """Return the value clipped to a range; NaN is preserved."""
    return value if math.isnan(value) else min(max(value, low), high)


def difference_text(pair: ComparedPair, rules: Rules, reach: float, *, per_pair: bool = False) -> str:
    """Return a difference and its confidence interval as text."""
    low, high = shown_limits(pair, reach, per_pair=per_pair)
    if not math.isfinite(low) or not math.isfinite(high):
        return signed(pair.difference, _digits(pair.difference))
    simultaneous = not per_pair and not math.isnan(pair.simultaneous_low)
    kind = f"{rules.adjusted} CI" if simultaneous else "CI"
    digits = digits_beside_zero(_digits(pair.difference), low, high)
    limits = f"{low:.{digits}f} to {high:.{digits}f}"
    return f"{signed(pair.difference, digits)} ({percent(rules.confidence)} {kind} {limits})"


def _digits(difference: float) -> int:
    """Return the decimals of a difference in a sentence: three, or as many as show two digits of it.

    >>> _digits(0.0421), _digits(-12.5), _digits(0.00042), _digits(0.0)
    (3, 3, 5, 3)
    """
    size = abs(difference)
    return 3 if not 0 < size < 0.01 else min(6, 1 - math.floor(math.log10(size)))


def query_count(pair: ComparedPair) -> str:
    """Return the number of queries, and of groups of queries, as text."""
    return queries_in_groups(pair.queries, pair.groups, pair.effective_groups)


def queries_in_groups(number: int, groups: int | None, effective: float | None) -> str:
    """Return the number of queries, of groups, and of effective groups or queries if fewer, as text.

    >>> queries_in_groups(12, 4, 4.0), queries_in_groups(12, 8, 4.5), queries_in_groups(12, None, 7.25)
    ('12 queries in 4 groups', '12 queries in 8 groups (4.5 effective)', '12 queries (7.2 effective)')
    """
    if effective is None:
        return queries(number)
    if groups is None:  # weighted
        return groups_text(number, effective, "query", "queries")
    return f"{queries(number)} in {groups_text(groups, effective)}"


def on_all(sample: str, number: int) -> str:
    """Return where something holds for every query.

    >>> on_all("12 queries in 4 groups", 12), on_all("2 queries", 2), on_all("1 query", 1)
    ('on all 12 queries in 4 groups', 'on both queries', 'on the only query')
    """
    if number == 2:
        return f"on both{sample.removeprefix('2')}"
    return f"on all {sample}" if number > 1 else "on the only query"


def groups_text(groups: int, effective: float, *nouns: str) -> str:
    """Return a number of groups, and of effective groups if fewer, rounded down if too few, as text."""
    shown = math.floor(10 * effective) / 10 if effective < FEWEST_GROUPS else effective
    least = max(groups - 0.05, FEWEST_GROUPS * (groups >= FEWEST_GROUPS))
    return counted(groups, *(nouns or ["group"])) + f" ({shown:.1f} effective)" * (effective < least)


def few_groups_text(groups: int, effective: float, *, alone: bool = False) -> str:
    """Return the reason for which so few effective groups are not tested; empty if they are.

    Where queries have weights and no groups, each is `alone`.

    >>> few_groups_text(8, 3.64)
    '8 groups of queries (3.6 effective), but at least 5 effective ones are needed for a test'
    """
    if effective >= FEWEST_GROUPS:
        return ""
    nouns = ("query", "queries") if alone else ("group of queries", "groups of queries")
    found = groups_text(groups, effective, *nouns)
    ones = " effective ones" * ("effective" in found)
    return f"{found}, but at least {FEWEST_GROUPS}{ones} are needed for a test"


STATE_ALL = (
    'Add the missing queries (in JSON, write "QUERY": {} for a query with no results, which counts as 0)'
)


def lacking_text(names: Sequence[str], run: str, of: int = 0, *, values: str = "") -> str:
    """Return the statement that a run lacks judged queries, or `values` where these were read.

    >>> lacking_text(["q1"], "bm25"), lacking_text(list("abcd"), "bm25", values="AP values")
    ('bm25 lacks 1 judged query (q1)', 'bm25 has no AP values for 4 queries (a, b, c, ...)')
    """
    says, judged = (f"has no {values} for", "") if values else ("lacks", "judged ")
    number = f"{len(names):,} of {of:,} {judged}queries"
    number = number if of else counted(len(names), f"{judged}query", f"{judged}queries")
    return f"{run} {says} {number} ({first_few(names)})"


def signed(value: float, digits: int = 4) -> str:
    """Return a difference with its sign as text.

    >>> signed(0.01234), signed(-0.5), signed(-0.00001), signed(0.0123, 2)
    ('+0.0123', '-0.5000', '0.0000', '+0.01')
    """
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]


def p_text(p: float | None) -> str:
    """Return a p-value as text: never as 0, and with three digits from 0.01 to 0.10.

    >>> p_text(0.04963), p_text(0.4963), p_text(1e-9)
    ('p = 0.0496', 'p = 0.5', 'p < 0.0001')
    """
    if p is None or math.isnan(p):
        return "p undefined"
    if p < 0.0001:
        return "p < 0.0001"
    digits = 3 if 0.01 <= p <= 0.1 else 2
    return f"p = {p:.{digits}g}" if p < 0.995 else "p = 1"


def p_of_loss(p: float, margin: float, *, below: bool) -> str:
    """Return the one-sided p of a condition with what a small one is evidence of.

    >>> p_of_loss(0.3, 0.0, below=False), p_of_loss(1.0, 0.02, below=False), p_of_loss(1e-9, 0.02, below=True)
    ('p = 0.3 for a loss', 'p = 1 for a loss above 0.02', 'p < 0.0001 for a loss below 0.02')
    """
    bound = "below" if below else "above"
    return f"{p_text(p)} for a loss" + (f" {bound} {margin:g}" if margin or below else "")


def _p(pair: ComparedPair, rules: Rules) -> str:
    text = p_text(pair.p) + " by the sign test" * (math.isnan(pair.effect) and pair.queries > 1)
    if pair.p == pair.p_corrected:
        return text
    adjusted = p_text(pair.p_corrected)
    number = "" if adjusted == p_text(pair.p) else " " + adjusted.removeprefix("p ").removeprefix("= ")
    return f"{text} ({rules.correction}{number})"


def _needed_text(pair: ComparedPair, rules: Rules) -> str:
    """Return the number of queries that detect the smallest difference of interest, if there is one."""
    if pair.needed is None or rules.smallest is None:
        return ""
    return f"; {queries(pair.needed)} needed to detect {rules.smallest:g}"


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
    noun = "pair" if len(chosen) == 1 else "comparison"  # of pairs by several measures
    notes.append(f"{counted(len(every), noun)}: {counts_of(every)}")
    if hidden:
        notes.append(f"not shown: {counts_of(hidden)} (--pairs all)")
    return notes


def counts_of(verdicts: Sequence[str]) -> str:
    """Return the number of times that each verdict occurs, as text."""
    return ", ".join(f"{verdicts.count(word):,} {word}" for word in dict.fromkeys(verdicts))


def method_notes(comparison: Comparison, *, per_pair: bool = False, long: bool = False) -> list[str]:
    """Return notes on test, correction and intervals; with `long` on hypothesis, effect and measures."""
    rules, level = comparison.rules, percent(comparison.rules.confidence)
    *others, last = _p_notes(comparison)
    notes = [
        *others,
        last + (f", seed {rules.seed}" if rules.joint or hasattr(rules.test, "draws") else ""),
        *["equivalence: two one-sided t-tests" + _correction(comparison)] * (rules.margin is not None),
        f"low, high: {level} {_kind(comparison, per_pair=per_pair)}",
    ]
    if comparison.these is not None:
        notes.append(
            f"these queries: {level} CI of each pair for these queries only, over samples of documents"
        )
    notes += [POOLED] * bool(pooled_names(comparison.results))
    if long:
        effect, spread = f"effect [{level} CI]", "standard deviation of the differences"
        if comparison.groups is not None:
            units = "groups" if in_groups(comparison.groups) else "queries"
            effect, spread = "effect", f"(standard error * square root of the effective number of {units})"
        wins = "; wins: queries on which a is better" if comparison.results.withheld is None else ""
        notes += [
            f"H0: {rules.test.null if rules.joint is None else Randomisation.null}",
            f"{effect}: mean difference / {spread}{wins}",
            f"primary measure: {comparison.primary}",
        ]
    if in_groups(comparison.groups):
        number = int(comparison.statistics["groups"].max())
        effective = float(comparison.statistics["effective_groups"].max())
        notes.append(
            f"queries in groups ({rules.shown()['query_group']}): "
            + (few_groups_text(number, effective) or groups_text(number, effective))
        )
    return notes


def caption(comparison: Comparison, *, per_pair: bool = False) -> str:
    """Return the caption of a table in a paper: what stands in it, and the test in words."""
    single = per_pair or comparison.simultaneous is None
    kind = "confidence intervals" if single else f"{comparison.rules.adjusted} confidence intervals"
    number = queries_between(comparison.statistics["queries"].ravel().tolist())
    return (
        f"Mean differences over {number}, with "
        f"{percent(comparison.rules.confidence)} {kind} ({method(comparison)})."
    )


def method(comparison: Comparison) -> str:
    """Return test, correction and significance level in the words of a paper."""
    rules = comparison.rules
    correction = [str(rules.correction)] if comparison.corrects and rules.joint is None else []
    return ", ".join([rules.title, *correction, f"alpha = {rules.alpha:.3g}"])


def _p_notes(comparison: Comparison) -> list[str]:
    """Return what p and the p of a joint procedure are, with the number of tests in a family."""
    rules, size = comparison.rules, comparison.size
    p = f"p: {rules.test.title}{_permutations(comparison)}, two-sided"
    over = f"{counted(size, 'test')} across all measures" if rules.family == "all" else counted(size, "pair")
    each = "" if rules.family == "all" or len(comparison.results.measures) == 1 else " per measure"
    over = f" over {over}{each}" * comparison.corrects
    if rules.joint is not None:
        return [f"{p}, uncorrected", f"p ({rules.joint}): {rules.title}, two-sided,{over}"]
    return [p + _correction(comparison) + over]


def _permutations(comparison: Comparison) -> str:
    """Return the number of random permutations, if some differences have too many to try them all."""
    test = comparison.rules.test
    sampled = isinstance(test, Randomisation) and any(
        test.samples(table, comparison.groups) for table in comparison.differences
    )
    return f" ({test.draws:,} random permutations)" if sampled and isinstance(test, Randomisation) else ""


def _correction(comparison: Comparison) -> str:
    """Return the correction of single tests as text; empty for only one test."""
    if comparison.size < 2:
        return ""
    return f", {comparison.rules.single}-corrected" if comparison.rules.corrects else ", uncorrected"


def _kind(comparison: Comparison, *, per_pair: bool) -> str:
    """Return the description of the intervals that are shown, and whether they match the test."""
    rules = comparison.rules
    interval = str(rules.interval) + (f", seed {rules.seed}" if hasattr(rules.interval, "draws") else "")
    if comparison.simultaneous is None or per_pair:
        own = rules.joint if rules.joint and comparison.size == 1 else interval
        text = f"CI of each pair ({own})"
    elif rules.joint is not None:
        text = f"simultaneous CI ({rules.joint}), approximate"
    elif isinstance(rules.correction, BH):
        text = f"CI with a controlled false coverage rate (Benjamini and Yekutieli, {interval})"
    else:
        text = f"simultaneous CI (Bonferroni, {interval})"
        if (np.abs(comparison.simultaneous) == SMALLEST).any():
            text += f"; approximate, because {rules.correction} moves some limits to 0"
    inverted = isinstance(rules.test, T) or not isinstance(rules.interval, Student)
    if rules.matched and not inverted and rules.joint is None:
        text += f"; not computed by inverting {rules.test}"
    if not rules.matched and (rules.joint is None or (per_pair and comparison.size > 1)):
        text += " for the mean difference; it may disagree with p"
    if per_pair and comparison.simultaneous is not None:
        text += "; may exclude 0 even if the corrected p is not significant"
    return text
