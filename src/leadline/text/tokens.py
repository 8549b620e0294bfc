"""Cut text into tokens: Unicode words, and pairs of characters in scripts that write no blanks."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Scripts whose words are not parted: Thai, Lao, Myanmar, Khmer, kana, bopomofo, Han. Hangul has blanks.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
ASCII = re.compile(r"[a-z0-9]+")
NARROW = re.compile(r"[^\W_]+")
BEYOND_LATIN = re.compile("[\u0300-\U0010ffff]")


@cache
def wide() -> re.Pattern[str]:
    """Give the pattern of a word with its combining marks, which plain patterns take for no letters.

    Looking through all of Unicode takes a moment, so it is done for the first text that needs it.
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
    """Give the pattern that parts a word where a script without blanks begins or ends."""
    return re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")


UNSPACED_START = re.compile(f"[{UNSPACED}]")


def words(text: str) -> list[str]:
    """Give the words of a text, lower-cased, compatibility forms made plain.

    >>> words("It's 2 a.m. in Zürich"), words("北京大学 2024")
    (['it', 's', '2', 'a', 'm', 'in', 'zürich'], ['北京', '京大', '大学', '2024'])
    """
    if text.isascii():
        return ASCII.findall(text.lower())
    return [folded(text[begin:end]) for begin, end in word_spans(text)]


def folded(token: str) -> str:
    """Give the form of a token under which it is counted: lower case, NFKC."""
    return unicodedata.normalize("NFKC", token.lower())


def word_spans(text: str) -> list[tuple[int, int]]:
    """Give begin and end of every word.

    >>> word_spans("a wing, swept")
    [(0, 1), (2, 6), (8, 13)]
    """
    if not BEYOND_LATIN.search(text):
        return [found.span() for found in NARROW.finditer(text)]
    spans: list[tuple[int, int]] = []
    for found in wide().finditer(text):
        begin, end = found.span()
        if not UNSPACED_START.search(text, begin, end):
            spans.append((begin, end))
            continue
        for piece in pieces().finditer(text, begin, end):
            spans += _pairs(text, *piece.span())
    return spans


def _pairs(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Give overlapping pairs of characters in a script without blanks; else the piece as it is."""
    if end - begin < 3 or not UNSPACED_START.match(text, begin):
        return [(begin, end)]
    return [(place, place + 2) for place in range(begin, end - 1)]
