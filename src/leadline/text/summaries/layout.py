"""How a text is laid out: words to count, and sentences to begin and end with."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

import numpy as np

from leadline.arrays import Integers
from leadline.text.places import word_bounds
from leadline.text.summaries.showing import TURNING, UNSHOWN

LONGEST = 24  # characters; a longer stretch without the begin of a word counts as several words
PARAGRAPH = "\u2029"
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
# What may end a sentence: marks, what closes after them, and blanks. Some marks need no blank.
MARKS = ".!?\u2026\u061f\u06d4\u0964\u0965\u0589\u1362\u1367\u104b\u17d4"
WITHOUT_BLANK = f"\u3002\uff01\uff1f\uff61{PARAGRAPH}"
CLOSING = "\"'\u201d\u2019\u00bb)\\]\u300d\u300f\uff09\u3011"
OPENING = "\"'([{\u201c\u2018\u00ab\u201e"
SENTENCE = re.compile(f"[{MARKS}{WITHOUT_BLANK}]++[{CLOSING}]*+( ?)")
ABBREVIATIONS = """
    al approx art ca cap cf ch co col corp dept dr ed eds eq eqs est etc ex fig figs gen gov inc jr
    lt ltd mr mrs ms mt nos op p pp prof ref refs rep rev sec sen sr st ths viz vol vols vs bzw evtl
    ggf nr usw vgl mme mlle env
"""
KNOWN = frozenset(ABBREVIATIONS.split())
JOINER = "\u200d"


class Layout(NamedTuple):
    """A tidy text: unit u, a word or as much, is `text[begin[u]:end[u]]`.

    Sentence s has the units from `edge[s]` to `edge[s + 1]`; its text begins at `starts[s]`, and the
    sentence before it ended at `stops[s]`.
    """

    text: str
    begin: Integers
    end: Integers
    edge: Integers
    starts: Integers
    stops: Integers

    @classmethod
    def of(cls, text: str) -> Layout:
        """Lay a text out.

        >>> layout = Layout.of("It rains.  It rains a lot!")
        >>> layout.size, layout.edge.tolist()
        (6, [0, 2, 6])
        """
        text = tidy(text)
        begin, end = _units(text)
        places = np.array([0, *_sentences(text), len(text)], dtype=np.int64)
        at = np.searchsorted(begin, places)
        edge, first = np.unique(at, return_index=True)
        last = np.searchsorted(at, edge, side="right") - 1
        return cls(text, begin, end, edge, places[last], places[first])

    @property
    def size(self) -> int:
        """Count the units."""
        return len(self.begin)

    def is_edge(self, unit: int) -> bool:
        """Say whether a sentence begins or the text ends before a unit."""
        return bool(self.edge[np.searchsorted(self.edge, unit)] == unit)

    def place(self, unit: int) -> int:
        """Give the character where a window begins that begins with a unit."""
        if self.is_edge(unit):
            return int(self.starts[np.searchsorted(self.edge, unit)])
        return unbroken(self.text, int(self.begin[unit]))

    def stop(self, unit: int) -> int:
        """Give the character where a window ends that has the units before this one."""
        if self.is_edge(unit):
            return int(self.stops[np.searchsorted(self.edge, unit)])
        return unbroken(self.text, int(self.end[unit - 1]))


def tidy(text: str) -> str:
    r"""Make white space one blank and an empty line one mark; take out what nobody should be shown.

    >>> tidy(" a\tb  c ")
    'a b c'
    """
    if not text.isprintable():
        text = TURNING.sub("", re.sub("[\ud800-\udfff]", "\ufffd", text))
        text = UNSHOWN.sub(lambda found: found[0] if found[0].isspace() else " ", text)
    parts = (" ".join(part.split()) for part in BLANK_LINE.split(text))
    return PARAGRAPH.join(part for part in parts if part)


def unbroken(text: str, place: int) -> int:
    r"""Move a place back so that it parts no letter from its marks and no joined signs.

    >>> unbroken("e\u0301a", 1), unbroken("e\u0301a", 2)
    (0, 2)
    """
    for at in range(place, max(0, place - LONGEST), -1):
        if at >= len(text) or not _clings(text, at):
            return at
    return 0 if place < LONGEST else place


def _clings(text: str, at: int) -> bool:
    sign = text[at]
    if unicodedata.category(sign)[0] == "M" or JOINER in (sign, text[at - 1]):
        return True
    if "\U0001f3fb" <= sign <= "\U0001f3ff":  # the colour of the skin
        return True
    before = re.search("[\U0001f1e6-\U0001f1ff]*$", text[max(0, at - LONGEST) : at])
    flags = len(before[0]) if before else 0
    return "\U0001f1e6" <= sign <= "\U0001f1ff" and flags % 2 == 1


def _units(text: str) -> tuple[Integers, Integers]:
    """Give begin and end of every word, and of the pieces of what is too long to be one."""
    begin, end = word_bounds(text)
    if len(text) > LONGEST and (not len(begin) or begin[0] > LONGEST):
        begin, end = np.append(0, begin), np.append(0, end)
    elif not len(begin) and text:
        begin, end = np.array([0]), np.array([len(text)])
    stretch = np.diff(begin, append=len(text))
    if not (stretch > LONGEST).any():
        return begin, end
    pieces = np.maximum(1, -(-stretch // LONGEST))
    owner = np.repeat(np.arange(len(begin)), pieces)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = begin[owner] + LONGEST * nth
    ends = np.append(starts[1:], len(text))
    last_of_word = (starts < end[owner]) & (end[owner] < ends)
    single = pieces[owner] == 1
    return starts, np.where(last_of_word | single, end[owner], ends)


def _sentences(text: str) -> list[int]:
    """Give the places where sentences begin, but the first."""
    lower = text == text.lower()
    return [
        found.end()
        for found in SENTENCE.finditer(text)
        if found.end() < len(text) and _ends(text, found, lower=lower)
    ]


def _ends(text: str, found: re.Match[str], *, lower: bool) -> bool:
    """Tell a full stop from the point of an abbreviation, an initial, a number, or within a sentence."""
    begin, end = found.span()
    if text[begin] in WITHOUT_BLANK or PARAGRAPH in found[0]:
        return True
    if not found[1] or (text[end].islower() and not lower and text[begin - 1 : begin] != " "):
        return False
    if text[begin] != "." or found[0].rstrip() != ".":
        return True
    word = text[max(0, begin - 12) : begin].rpartition(" ")[2].lstrip(OPENING)
    initial = len(word) == 1 and word.isupper()
    return not (initial or "." in word or word.lower() in KNOWN)
