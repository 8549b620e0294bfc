"""Where a text matches a query: words with a term of it, and the whole of it as a phrase."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.arrays import Integers
from leadline.text import Analysis, tokens

STOPPED = " "  # before a stop word, so that it is no other word's stem


class Found(NamedTuple):
    """The matches of a text in its order: begin and end in characters, which query term; and the phrases."""

    begin: Integers
    end: Integers
    term: Integers
    phrase_begin: Integers
    phrase_end: Integers

    def spans(self, begin: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """Give begin and end of all that matches, or of what reaches into a stretch of the text."""
        found: list[tuple[int, int]] = []
        for low, high in ((self.begin, self.end), (self.phrase_begin, self.phrase_end)):
            first = np.searchsorted(high, begin, side="right")
            last = len(low) if end is None else np.searchsorted(low, end)
            found += zip(low[first:last].tolist(), high[first:last].tolist(), strict=True)
        return found


def find(text: str, query: str, analysis: Analysis) -> Found:
    """Find the words of a text that have a term of a query."""
    asked = _keys(analysis.split(query), analysis)
    terms = [key for key in asked if not key.startswith(STOPPED)] or asked
    numbers = {key: place for place, key in enumerate(dict.fromkeys([*terms, *asked]), start=1)}
    begin, end = analysis.bounds(text)
    words = [text[low:high] for low, high in zip(begin.tolist(), end.tolist(), strict=True)]
    distinct = list(set(words))
    coded = zip(distinct, _keys([tokens.folded(word) for word in distinct], analysis), strict=True)
    signs = {word: chr(numbers[key]) for word, key in coded if key in numbers}
    row = "".join([signs.get(word, "\0") for word in words])
    codes = np.frombuffer(row.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    place = np.flatnonzero((codes > 0) & (codes <= len(set(terms))))
    found = np.stack([begin[place], end[place], codes[place] - 1], axis=1)
    more = _alone(text, terms, numbers)
    if more:
        found = np.unique(np.concatenate([found, more]), axis=0)
    at = np.array(_places(row, "".join(chr(numbers[key]) for key in asked)), dtype=np.int64)
    return Found(found[:, 0], found[:, 1], found[:, 2], begin[at], end[at + len(asked) - 1])


def _keys(words: Sequence[str], analysis: Analysis) -> list[str]:
    """Give what words are compared by: their terms, and stop words as they are."""
    return [
        STOPPED + word if term is None else term
        for word, term in zip(words, analysis.terms_of(words), strict=True)
    ]


def _alone(text: str, terms: list[str], numbers: dict[str, int]) -> list[tuple[int, int, int]]:
    """Find query terms of one character in a script without blanks, whose tokens are pairs elsewhere."""
    return [
        (*found.span(), numbers[term] - 1)
        for term in dict.fromkeys(terms)
        if len(term) == 1 and tokens.UNSPACED_START.match(term)
        for found in re.finditer(term, text)
    ]


def _places(row: str, whole: str) -> list[int]:
    """Find the query as a whole, from left to right, not overlapping."""
    found = []
    at = row.find(whole) if len(whole) > 1 else -1
    while at >= 0:
        found.append(at)
        at = row.find(whole, at + len(whole))
    return found
