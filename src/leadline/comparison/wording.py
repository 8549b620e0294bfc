"""A plain sentence for every pair: what was found, how sure it is, and what it would take."""

from __future__ import annotations

import math

from leadline.comparison.table import Pair, Rules
from leadline.wording import percent


def sentence(pair: Pair, rules: Rules) -> str:
    """Say what was found of a pair of runs."""
    both = f"{pair.a} and {pair.b}"
    if pair.queries == 0:
        return f"{no_query(pair.a, pair.b, pair.measure)}."
    if pair.verdict == "identical":
        return f"{both} have the same {pair.measure} on {over(pair, 'all ')}."
    if pair.verdict == "undecided":
        return f"{both} are not told apart by {pair.measure}: {seen(pair, rules)}; {_why(pair, rules)}."
    found = f"{seen(pair, rules)}, {_p(pair, rules)}, over {over(pair)}"
    if pair.verdict in ("better", "worse"):
        return f"{pair.a} is {pair.verdict} than {pair.b} by {pair.measure}: {found}{_yet(pair, rules)}."
    if pair.verdict == "equivalent":
        return (
            f"{both} are equivalent by {pair.measure} within {rules.margin:g}: {found}; "
            f"{p_text(pair.p_equivalent)} for a difference of {rules.margin:g} or more."
        )
    return f"{both} are not told apart by {pair.measure}: {found}{_needed(pair, rules)}."


def no_query(a: str, b: str, measure: str) -> str:
    """Say that two runs cannot be compared.

    >>> no_query("bm25", "dense", "AP")
    'bm25 and dense cannot be compared by AP: no query counts in the means of both'
    """
    return f"{a} and {b} cannot be compared by {measure}: no query counts in the means of both"


def seen(pair: Pair, rules: Rules) -> str:
    """Write a difference and its interval."""
    if not math.isfinite(pair.low):
        return signed(pair.difference)
    limits = f"{signed(pair.low)} to {signed(pair.high)}"
    return f"{signed(pair.difference)} ({percent(rules.confidence)} interval {limits})"


def over(pair: Pair, count: str = "") -> str:
    """Write over how many queries a pair was compared."""
    return "1 query" if pair.queries == 1 else f"{count}{pair.queries} queries"


def signed(value: float) -> str:
    """Write a difference with its sign.

    >>> signed(0.01234), signed(-0.5), signed(0.0)
    ('+0.0123', '-0.5000', '0.0000')
    """
    text = f"{value:+.4f}"
    return "0.0000" if text in ("+0.0000", "-0.0000") else text


def p_text(p: float | None) -> str:
    """Write a p value, never as 0.

    >>> p_text(0.0321), p_text(1e-9)
    ('p = 0.032', 'p < 0.0001')
    """
    if p is None or math.isnan(p):
        return "p undefined"
    if p < 0.0001:
        return "p < 0.0001"
    return f"p = {p:.2g}" if p < 0.995 else "p = 1"


def _p(pair: Pair, rules: Rules) -> str:
    if pair.p == pair.p_corrected:
        return p_text(pair.p)
    corrected = p_text(pair.p_corrected).removeprefix("p ").removeprefix("= ")
    return f"{p_text(pair.p)} ({rules.corrected_by} {corrected})"


def _why(pair: Pair, rules: Rules) -> str:
    if pair.queries == 1:
        return "one query cannot show which is better"
    every = over(pair, "all ")
    return f"the difference is the same on {every}, so {rules.test} has no spread to judge by"


def _yet(pair: Pair, rules: Rules) -> str:
    """Say where a sure difference is a small one."""
    if pair.p_equivalent is None or pair.p_equivalent >= 1 - rules.confidence:
        return ""
    return f"; yet they are equivalent within {rules.margin:g}"


def _needed(pair: Pair, rules: Rules) -> str:
    """Say what it would take to tell them apart."""
    power = f"({percent(rules.power)} power, this pair alone)"  # a t test, without the correction
    shown = f"with as many as here differences from {pair.detectable:.2g} on would be seen {power}"
    if pair.needed is None or pair.needed <= pair.queries:
        return f"; {shown}" if pair.detectable > 0 else ""
    return f"; if the true difference is as large, about {pair.needed:,} queries would show it; {shown}"
