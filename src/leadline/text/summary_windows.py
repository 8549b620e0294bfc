"""Windows of a text that match a query: layout, occurrences, and choice."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Integers
from leadline.text import Analysis, tokens
from leadline.text.tokens import word_bounds

# What no page and no terminal should get from a document: controls but white space, halves of letters.
UNSHOWN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
RETURNING = re.compile("\r\n?|\f")  # a terminal would write over the line
# Characters that turn the direction of what follows: they must not reach beyond the document.
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Summary(NamedTuple):
    """A text and what in it matches: `highlights` are begin and end in characters, rising, apart.

    >>> Summary("a <wing> lifts", ((3, 7),)).to_html()
    'a &lt;<mark>wing</mark>&gt; lifts'
    """

    text: str
    highlights: tuple[tuple[int, int], ...] = ()

    def to_html(self) -> str:
        """Give safe HTML: everything of the text is escaped, matches stand in `<mark>`.

        Text may run from right to left: put it into an element with `dir="auto"`.
        """
        return self._marked(lambda text: html.escape(UNSHOWN.sub("\ufffd", text)), "<mark>", "</mark>")

    def to_terminal(self, *, bold: bool = True) -> str:
        """Give text for a terminal, matches bold or in square brackets; control characters are made harmless.

        >>> Summary("a wing lifts", ((2, 6),)).to_terminal(bold=False)
        'a [wing] lifts'
        """
        first, last = ("\x1b[1m", "\x1b[0m") if bold else ("[", "]")

        def safe(text: str) -> str:
            return TURNING.sub("", UNSHOWN.sub("\ufffd", RETURNING.sub("\n", text)))

        return self._marked(safe, first, last)

    def _marked(self, safe: Callable[[str], str], first: str, last: str) -> str:
        parts = []
        done = 0
        for begin, end in self.highlights:
            parts += [safe(self.text[done:begin]), first, safe(self.text[begin:end]), last]
            done = end
        return "".join([*parts, safe(self.text[done:])])


def merged(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Put spans that touch or overlap together.

    >>> merged([(4, 6), (0, 2), (1, 3)])
    ((0, 3), (4, 6))
    """
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return tuple(found)


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


STOPPED = " "  # before a stop word, so that it is no other word's stem


class Occurrences(NamedTuple):
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


def find_occurrences(text: str, query: str, analysis: Analysis) -> Occurrences:
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
    return Occurrences(found[:, 0], found[:, 1], found[:, 2], begin[at], end[at + len(asked) - 1])


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


FEWEST = 8  # words of a window, where there are several
Window = tuple[int, int]  # units: the first, and the one after the last


class Matched(NamedTuple):
    """Matches in units: the first and the one after the last of each, and its query term."""

    low: Integers
    high: Integers
    term: Integers

    def where(self, chosen: Flags) -> Matched:
        """Keep some of them."""
        return Matched(self.low[chosen], self.high[chosen], self.term[chosen])


def choose_windows(layout: Layout, found: Occurrences, *, words: int, windows: int) -> list[Window]:
    """Choose at most so many windows of so many words in all, in the order of the text."""
    if layout.size <= words:
        return [(0, layout.size)]
    all_of = Matched(*_windows_of_matches_units(layout, found.begin, found.end), found.term)
    phrases = _windows_of_matches_units(layout, found.phrase_begin, found.phrase_end)
    windows = min(windows, max(1, words // FEWEST))
    picked: list[Window] = []
    left = np.ones(len(all_of.low), dtype=np.bool_)
    unseen = left.copy()
    while len(picked) < windows and left.any():
        wanted = left & unseen if (left & unseen).any() else left
        window = best(layout, all_of.where(wanted), all_of.where(left), phrases, words // windows)
        picked.append(window)
        left &= (all_of.high <= window[0]) | (all_of.low >= window[1])
        unseen &= ~np.isin(all_of.term, np.unique(all_of.term[~left]))
        phrases = _apart(phrases, window)
    if len(picked) == 1 and windows > 1:
        phrases = _windows_of_matches_units(layout, found.phrase_begin, found.phrase_end)
        picked = [best(layout, all_of, all_of, phrases, words)]
    return _joined(picked)


def best(
    layout: Layout, wanted: Matched, shown: Matched, phrases: tuple[Integers, Integers], bound: int
) -> Window:
    """Give the best window of at most `bound` words; `shown` are the matches that count between equals."""
    fits = phrases[1] - phrases[0] <= bound
    if fits.any():
        low, high = phrases[0][fits], phrases[1][fits]
    else:
        low, high = smallest(wanted, bound)
    begin, end = around(layout, low, high, bound)
    matches = np.searchsorted(shown.high, end, side="right") - np.searchsorted(shown.low, begin)
    place = int(np.argmax(matches))
    return int(begin[place]), int(end[place])


def smallest(found: Matched, bound: int) -> tuple[Integers, Integers]:
    """Give all smallest stretches of at most `bound` words with the most distinct terms, in order.

    >>> of = Matched(np.array([0, 5, 7]), np.array([1, 6, 8]), np.array([0, 1, 0]))
    >>> [ends.tolist() for ends in smallest(of, 10)]  # units 5 to 7 have both terms
    [[5], [8]]
    """
    ends = np.minimum(found.high, found.low + bound)  # a match may be longer
    if (found.term == found.term[0]).all():
        least = ends - found.low == (ends - found.low).min()
        return found.low[least], ends[least]
    low, high, term = found.low.tolist(), ends.tolist(), found.term.tolist()
    terms = max(term) + 1
    counts, first, distinct, most = [0] * terms, 0, 0, 0
    for last, code in enumerate(term):
        distinct += not counts[code]
        counts[code] += 1
        while high[last] - low[first] > bound:
            counts[term[first]] -= 1
            distinct -= not counts[term[first]]
            first += 1
        most = max(most, distinct)
    counts, first, distinct, size = [0] * terms, 0, 0, bound
    stretches: list[Window] = []
    for last, code in enumerate(term):
        distinct += not counts[code]
        counts[code] += 1
        while distinct > most or counts[term[first]] > 1 or high[last] - low[first] > bound:
            counts[term[first]] -= 1
            distinct -= not counts[term[first]]
            first += 1
        if distinct == most and high[last] - low[first] <= size:
            if high[last] - low[first] < size:
                size, stretches = high[last] - low[first], []
            stretches.append((low[first], high[last]))
    columns = np.array(stretches, dtype=np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def around(layout: Layout, low: Integers, high: Integers, bound: int) -> tuple[Integers, Integers]:
    """Give the windows around stretches: whole sentences where they fit, else as much as fits."""
    edge = layout.edge
    first = edge[np.searchsorted(edge, low, side="right") - 1]
    last = edge[np.searchsorted(edge, high)]
    whole = last - first <= bound
    # Sentences that fit: as many after it as there is room for, then as many before it.
    end = edge[np.searchsorted(edge, first + bound, side="right") - 1]
    begin = edge[np.searchsorted(edge, end - bound)]
    # So little that it says nothing: the next sentence is cut rather than left out.
    little = whole & (2 * (end - begin) < bound)
    end = np.where(little, np.minimum(begin + bound, layout.size), end)
    begin = np.where(little, np.minimum(begin, np.maximum(0, end - bound)), begin)
    # A sentence that does not fit: its begin, else its end, else the middle of it.
    middle = low - (bound - (high - low)) // 2
    cut = np.where(high <= first + bound, first, np.where(last - low <= bound, last - bound, middle))
    return np.where(whole, begin, cut), np.where(whole, end, cut + bound)


def _windows_of_matches_units(layout: Layout, begin: Integers, end: Integers) -> tuple[Integers, Integers]:
    """Give the first unit of spans of characters, and the one after the last."""
    low = np.maximum(0, np.searchsorted(layout.begin, begin, side="right") - 1)
    return low, np.maximum(low + 1, np.searchsorted(layout.begin, end))


def _apart(phrases: tuple[Integers, Integers], window: Window) -> tuple[Integers, Integers]:
    """Keep the phrases outside of a window."""
    keep = (phrases[1] <= window[0]) | (phrases[0] >= window[1])
    return phrases[0][keep], phrases[1][keep]


def _joined(windows: list[Window]) -> list[Window]:
    """Put windows that touch together."""
    found: list[Window] = []
    for begin, end in sorted(windows):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found
