"""Stems: the Snowball algorithms by language."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any


def algorithms() -> list[str]:
    """Give the names of the stemming algorithms."""
    import Stemmer

    return sorted(Stemmer.algorithms())


@cache
def _stemmer(name: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(name, 0)  # no cache of its own: every word is stemmed once


def stemmed(tokens: Sequence[str], name: str) -> list[str]:
    """Give the stem of every token; `none` leaves them as they are.

    >>> stemmed(["wings", "flying"], "english")
    ['wing', 'fli']
    """
    if name == "none":
        return list(tokens)
    found: list[str] = _stemmer(name).stemWords(list(tokens))
    return found
