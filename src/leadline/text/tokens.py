"""Tokenization, as text and as arrays of offsets."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import numpy as np

from leadline.data.arrays import Bytes, Flags, Integers

# Scripts without blanks between words: Thai, Lao, Myanmar, Khmer, kana, bopomofo, Han. Hangul has blanks.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
ASCII = re.compile(r"[a-z0-9]+")
NARROW = re.compile(r"[^\W_]+")
BEYOND_LATIN = re.compile("[\u0300-\U0010ffff]")


@cache
def wide() -> re.Pattern[str]:
    """Return the pattern of a word with combining marks.

    Compiled on first use, since it enumerates all of Unicode.
    """
    ranges: list[list[int]] = []
    for code in (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)):  # there are no marks elsewhere
        if unicodedata.category(chr(code))[0] != "M":
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    inside = "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)
    return re.compile(rf"[^\W_](?:[^\W_]|[{inside}])*")


@cache
def pieces() -> re.Pattern[str]:
    """Return the pattern that splits a word where a script without blanks begins or ends."""
    return re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")


UNSPACED_START = re.compile(f"[{UNSPACED}]")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case and NFKC.

    >>> words("It's 2 a.m. in Zürich"), words("北京大学 2024")
    (['it', 's', '2', 'a', 'm', 'in', 'zürich'], ['北京', '京大', '大学', '2024'])
    """
    if text.isascii():
        return ASCII.findall(text.lower())
    return [folded(text[begin:end]) for begin, end in word_spans(text)]


def folded(token: str) -> str:
    """Return the normal form of a token: lower case, NFKC."""
    return unicodedata.normalize("NFKC", token.lower())


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the begin and end of every word.

    >>> word_spans("a wing, swept")
    [(0, 1), (2, 6), (8, 13)]
    """
    if not BEYOND_LATIN.search(text):
        return [match.span() for match in NARROW.finditer(text)]
    spans: list[tuple[int, int]] = []
    for match in wide().finditer(text):
        begin, end = match.span()
        if not UNSPACED_START.search(text, begin, end):
            spans.append((begin, end))
            continue
        for piece in pieces().finditer(text, begin, end):
            spans += _pairs(text, *piece.span())
    return spans


def _pairs(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Return overlapping pairs of characters in a script without blanks; else the piece unchanged."""
    if end - begin < 3 or not UNSPACED_START.match(text, begin):
        return [(begin, end)]
    return [(offset, offset + 2) for offset in range(begin, end - 1)]


OTHER, MARK, LETTER, UNSPACED_MARK, UNSPACED_LETTER = 1, 2, 3, 4, 5
# Cached character classes, 0 if unknown; computing all of Unicode at once would be slow.
KINDS: Bytes = np.zeros(0x110000, dtype=np.uint8)


def word_bounds(text: str) -> tuple[Integers, Integers]:
    """Return the begin and end of every word, as two arrays.

    >>> [column.tolist() for column in word_bounds("a wing, 北京大")]
    [[0, 2, 8, 9], [1, 6, 10, 11]]
    """
    classes = _kinds(text)
    letters = np.flatnonzero((classes == LETTER) | (classes == UNSPACED_LETTER))
    if not len(letters):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    # A word begins with the first letter of a row of letters and marks.
    row = np.concatenate(([False], classes >= MARK, [False]))
    boundaries = np.flatnonzero(row[1:] != row[:-1])
    index = np.searchsorted(letters, boundaries[::2])
    begin, end = np.append(letters, len(text))[index], boundaries[1::2]
    begin, end = begin[begin < end], end[begin < end]
    unspaced = classes >= UNSPACED_MARK
    if not unspaced.any():
        return begin, end
    return _pairs_of_pieces(*_pieces(begin, end, unspaced), unspaced)


def _kinds(text: str) -> Bytes:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    classes: Bytes = KINDS[codes]
    if not classes.all():
        for code in np.unique(codes[classes == 0]).tolist():
            KINDS[code] = _kind(chr(code))
        classes = KINDS[codes]
    return classes


def _kind(sign: str) -> int:
    unspaced = UNSPACED_START.match(sign) is not None
    if sign.isalnum():
        return UNSPACED_LETTER if unspaced else LETTER
    if unicodedata.category(sign)[0] == "M":
        return UNSPACED_MARK if unspaced else MARK
    return OTHER


def _pieces(begin: Integers, end: Integers, unspaced: Flags) -> tuple[Integers, Integers]:
    """Split words where a script without blanks begins or ends."""
    inside = np.zeros(len(unspaced) + 1, dtype=np.int8)
    inside[begin] = 1
    inside[end] -= 1
    inside = np.cumsum(inside[:-1], dtype=np.int8)
    boundaries = 1 + np.flatnonzero((unspaced[1:] != unspaced[:-1]) & (inside[1:] & inside[:-1] > 0))
    return np.union1d(begin, boundaries), np.union1d(end, boundaries)


def _pairs_of_pieces(begin: Integers, end: Integers, unspaced: Flags) -> tuple[Integers, Integers]:
    """Replace pieces longer than a pair in a script without blanks by overlapping pairs."""
    many = unspaced[begin] & (end - begin > 2)
    pieces = np.where(many, end - begin - 1, 1)
    piece_index = np.repeat(np.arange(len(begin)), pieces)
    nth = np.arange(len(piece_index)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = begin[piece_index] + nth
    return starts, np.where(many[piece_index], starts + 2, end[piece_index])
