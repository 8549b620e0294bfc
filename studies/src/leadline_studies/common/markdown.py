"""Write Markdown for the pages of the studies: tables, numbers with intervals, paragraphs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], *, labels: int | None = None) -> str:
    """Return a Markdown table; columns after the first `labels` are right-aligned."""
    names = list(heads)
    left = len(names) if labels is None else labels
    rule = ["---"] * left + ["---:"] * (len(names) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (names, rule, *rows))


def number(value: float | None, form: str = ".2f") -> str:
    """Return a number as text, or a dash for None."""
    return "-" if value is None else format(value, form)


def percent(value: float | None, digits: int = 1) -> str:
    """Return a proportion in per cent, as text, or a dash for None."""
    return number(None if value is None else 100 * value, f".{digits}f")


def with_interval(entry: Mapping[str, Any], form: str = ".2f", middle: str = "value") -> str:
    """Return a value with its interval: `value [low, high]`."""
    low, high = (number(entry[end], form) for end in ("low", "high"))
    return f"{number(entry[middle], form)} [{low}, {high}]"


def value_range(values: Iterable[float], form: str = ".2f") -> str:
    """Return the range of some values: `low to high`."""
    numbers = list(values)
    return f"{min(numbers):{form}} to {max(numbers):{form}}"


def bold(text: str, significant: bool) -> str:
    """Return a text in bold if its value is significant (or best)."""
    return f"**{text}**" if significant else text


def wrapped(text: str) -> str:
    """Wrap the lines of paragraphs; tables, lists, figures and commands stay as they are."""
    parts = [
        part if part[0] in "|-#!< " else "\n".join(textwrap.wrap(part, 110, break_on_hyphens=False))
        for part in text.strip("\n").split("\n\n")
    ]
    return "\n\n".join(parts) + "\n"
