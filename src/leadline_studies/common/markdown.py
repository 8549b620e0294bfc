"""Write Markdown for the pages of the studies: tables, numbers with intervals, paragraphs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], *, labels: int | None = None) -> str:
    """Write a table; the columns after the first `labels` are numbers and set right, without it none is."""
    names = list(heads)
    left = len(names) if labels is None else labels
    rule = ["---"] * left + ["---:"] * (len(names) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (names, rule, *rows))


def number(value: float | None, form: str = ".2f") -> str:
    """Write a number, or a dash for none."""
    return "-" if value is None else format(value, form)


def span(one: Mapping[str, Any], form: str = ".2f", middle: str = "value") -> str:
    """Write a value with its interval: `value [low, high]`."""
    low, high = (number(one[end], form) for end in ("low", "high"))
    return f"{number(one[middle], form)} [{low}, {high}]"


def extent(values: Iterable[float], form: str = ".2f") -> str:
    """Write the least and the largest of some values: `low to high`."""
    known = list(values)
    return f"{min(known):{form}} to {max(known):{form}}"


def bold(text: str, told: bool) -> str:
    """Set a text bold where something is told of it."""
    return f"**{text}**" if told else text


def wrapped(text: str) -> str:
    """Break the lines of paragraphs; tables, lists, figures and commands stay as they are."""
    parts = [
        part if part[0] in "|-#!< " else "\n".join(textwrap.wrap(part, 110, break_on_hyphens=False))
        for part in text.strip("\n").split("\n\n")
    ]
    return "\n\n".join(parts) + "\n"
