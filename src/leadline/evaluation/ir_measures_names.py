"""Names of the measures of ir_measures, from its objects or as it prints them."""

from __future__ import annotations

import re

PACKAGE = "ir_measures"
# What it prints, and the same in names of leadline.
PRINTED = (
    (re.compile(r"^NumRet\((rel=\d+)\)$"), r"NumRelRet(\1)"),
    (re.compile(r"^SetP\(relative=True\)$"), "SetRelP"),
    (re.compile(r"^SetP\((rel=\d+),relative=True\)$"), r"SetRelP(\1)"),
    (re.compile(r"dcg='exp-log2'"), "gain=exp"),
    (re.compile(r"dcg='log2'"), "gain=linear"),
)


def is_of_ir_measures(value: object) -> bool:
    """Return whether a value is an object of ir_measures, which need not be installed."""
    return type(value).__module__.partition(".")[0] == PACKAGE


def text_of(measure: object) -> str:
    """Return the text of a measure of ir_measures, an object or its name, in names of leadline.

    >>> text_of("NumRet(rel=2)"), text_of("nDCG(dcg='exp-log2')@10"), text_of("AP(rel=2)")
    ('NumRelRet(rel=2)', 'nDCG(gain=exp)@10', 'AP(rel=2)')
    """
    text = str(measure)
    for pattern, ours in PRINTED:
        text = pattern.sub(ours, text)
    return text
