"""Where the words of a long text stand: what `tokens.word_spans` gives, as columns and without a loop."""

from __future__ import annotations

import unicodedata

import numpy as np

from leadline.arrays import Bytes, Flags, Integers
from leadline.text.tokens import UNSPACED_START

OTHER, MARK, LETTER, UNSPACED_MARK, UNSPACED_LETTER = 1, 2, 3, 4, 5
# What each character is, 0 where nobody has asked yet: to ask for all of Unicode takes a moment.
KINDS: Bytes = np.zeros(0x110000, dtype=np.uint8)


def word_bounds(text: str) -> tuple[Integers, Integers]:
    """Give begin and end of every word, as two columns.

    >>> [column.tolist() for column in word_bounds("a wing, 北京大")]
    [[0, 2, 8, 9], [1, 6, 10, 11]]
    """
    kind = _kinds(text)
    letters = np.flatnonzero((kind == LETTER) | (kind == UNSPACED_LETTER))
    if not len(letters):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    # A word begins with the first letter of a row of letters and marks.
    row = np.concatenate(([False], kind >= MARK, [False]))
    turns = np.flatnonzero(row[1:] != row[:-1])
    place = np.searchsorted(letters, turns[::2])
    begin, end = np.append(letters, len(text))[place], turns[1::2]
    begin, end = begin[begin < end], end[begin < end]
    unspaced = kind >= UNSPACED_MARK
    if not unspaced.any():
        return begin, end
    return _pairs(*_pieces(begin, end, unspaced), unspaced)


def _kinds(text: str) -> Bytes:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    kind: Bytes = KINDS[codes]
    if not kind.all():
        for code in np.unique(codes[kind == 0]).tolist():
            KINDS[code] = _kind(chr(code))
        kind = KINDS[codes]
    return kind


def _kind(sign: str) -> int:
    unspaced = UNSPACED_START.match(sign) is not None
    if sign.isalnum():
        return UNSPACED_LETTER if unspaced else LETTER
    if unicodedata.category(sign)[0] == "M":
        return UNSPACED_MARK if unspaced else MARK
    return OTHER


def _pieces(begin: Integers, end: Integers, unspaced: Flags) -> tuple[Integers, Integers]:
    """Part words where a script without blanks begins or ends."""
    inside = np.zeros(len(unspaced) + 1, dtype=np.int8)
    inside[begin] = 1
    inside[end] -= 1
    inside = np.cumsum(inside[:-1], dtype=np.int8)
    turns = 1 + np.flatnonzero((unspaced[1:] != unspaced[:-1]) & (inside[1:] & inside[:-1] > 0))
    return np.union1d(begin, turns), np.union1d(end, turns)


def _pairs(begin: Integers, end: Integers, unspaced: Flags) -> tuple[Integers, Integers]:
    """Make overlapping pairs of what is longer than a pair in a script without blanks."""
    many = unspaced[begin] & (end - begin > 2)
    pieces = np.where(many, end - begin - 1, 1)
    owner = np.repeat(np.arange(len(begin)), pieces)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = begin[owner] + nth
    return starts, np.where(many[owner], starts + 2, end[owner])
