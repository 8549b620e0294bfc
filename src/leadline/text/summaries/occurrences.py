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
    """The matches of a text in its order: begin and end in characters, and which query term; the phrases."""

    begin: Integers
    end: Integers
    term: Integers
    phrases: list[tuple[int, int]]

    def spans(self) -> list[tuple[int, int]]:
        """Give begin and end of all that matches."""
        return [*zip(self.begin.tolist(), self.end.tolist(), strict=True), *self.phrases]


def find(text: str, query: str, analysis: Analysis) -> Found:
    """Find the words of a text that have a term of a query."""
    asked = _keys(analysis.split(query), analysis)
    terms = [key for key in asked if not key.startswith(STOPPED)] or asked
    numbers = {key: place for place, key in enumerate(dict.fromkeys([*terms, *asked]))}
    wanted = len(set(terms))
    words, spans = analysis.split(text), analysis.spans(text)
    distinct = list(set(words))
    coded = dict(zip(distinct, _keys(distinct, analysis), strict=True))
    signs = {word: chr(1 + numbers[key]) for word, key in coded.items() if key in numbers}
    row = "".join([signs.get(word, "\0") for word in words])
    codes = np.frombuffer(row.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    places = np.flatnonzero((codes > 0) & (codes <= wanted))
    found = [(*spans[place], int(codes[place]) - 1) for place in places.tolist()]
    found += _alone(text, terms, numbers)
    whole = "".join(chr(1 + numbers[key]) for key in asked)
    columns = np.array(sorted(set(found)), dtype=np.int64).reshape(-1, 3)
    return Found(columns[:, 0], columns[:, 1], columns[:, 2], _phrases(row, whole, spans))


def _keys(words: Sequence[str], analysis: Analysis) -> list[str]:
    """Give what words are compared by: their terms, and stop words as they are."""
    return [
        STOPPED + word if term is None else term
        for word, term in zip(words, analysis.terms_of(words), strict=True)
    ]


def _alone(text: str, terms: list[str], numbers: dict[str, int]) -> list[tuple[int, int, int]]:
    """Find query terms of one character in a script without blanks, whose tokens are pairs elsewhere."""
    return [
        (*found.span(), numbers[term])
        for term in dict.fromkeys(terms)
        if len(term) == 1 and tokens.UNSPACED_START.match(term)
        for found in re.finditer(term, text)
    ]


def _phrases(row: str, whole: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Find the query as a whole, from left to right, not overlapping."""
    found = []
    at = row.find(whole) if len(whole) > 1 else -1
    while at >= 0:
        found.append((spans[at][0], spans[at + len(whole) - 1][1]))
        at = row.find(whole, at + len(whole))
    return found
