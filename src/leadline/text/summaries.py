"""Static and query-biased (dynamic) summaries of documents, and query highlighting."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.validation import check_whole, check_word
from leadline.text import ANALYSES, Analysis
from leadline.text.words import UNSPACED_START, folded, tokens_at, word_bounds

# What no page and no terminal should get from a document: controls but white space, halves of letters.
UNSHOWN = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
RETURNING = re.compile("\r\n?|\f")  # a terminal would write over the line
# Bidirectional controls, whose effect must not extend beyond the document.
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Summary(NamedTuple):
    """A text and its matches: `highlights` are begin and end in characters, increasing, without overlaps.

    >>> Summary("a <wing> lifts", ((3, 7),)).to_html()
    'a &lt;<mark>wing</mark>&gt; lifts'
    """

    text: str
    highlights: tuple[tuple[int, int], ...] = ()

    def to_html(self) -> str:
        """Return safe HTML: the text is escaped, matches are in `<mark>`.

        Text may run from right to left: put it into an element with `dir="auto"`.
        """
        return self._marked(lambda text: html.escape(UNSHOWN.sub("\ufffd", text)), "<mark>", "</mark>")

    def to_terminal(self, *, bold: bool = True) -> str:
        """Return text for a terminal, matches bold or in square brackets, control characters escaped.

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
    """Merge spans that touch or overlap.

    >>> merged([(4, 6), (0, 2), (1, 3)])
    ((0, 3), (4, 6))
    """
    result: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return tuple(result)


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
    """A normalized text: unit u, a word or a part of a long one, is `text[begin[u]:end[u]]`.

    Sentence s has the units from `edge[s]` to `edge[s + 1]`; its text begins at `starts[s]`, and that of the
    previous sentence ends at `stops[s]`.
    """

    text: str
    begin: Integers
    end: Integers
    edge: Integers
    starts: Integers
    stops: Integers

    @classmethod
    def of(cls, text: str) -> Layout:
        """Return the layout of a text.

        >>> layout = Layout.of("It rains.  It rains a lot!")
        >>> layout.size, layout.edge.tolist()
        (6, [0, 2, 6])
        """
        text = normalised(text)
        begin, end = _units(text)
        edges = np.array([0, *_sentences(text), len(text)], dtype=np.int64)
        at = np.searchsorted(begin, edges)
        edge, first = np.unique(at, return_index=True)
        last = np.searchsorted(at, edge, side="right") - 1
        return cls(text, begin, end, edge, edges[last], edges[first])

    @property
    def size(self) -> int:
        """Number of units."""
        return len(self.begin)

    def is_edge(self, unit: int) -> bool:
        """Return whether a sentence begins or the text ends before a unit."""
        return bool(self.edge[np.searchsorted(self.edge, unit)] == unit)

    def begin_of(self, unit: int) -> int:
        """Return the offset where a window that begins with a unit begins."""
        if self.is_edge(unit):
            return int(self.starts[np.searchsorted(self.edge, unit)])
        return character_boundary(self.text, int(self.begin[unit]))

    def end_of(self, unit: int) -> int:
        """Return the offset where a window that ends before a unit ends."""
        if self.is_edge(unit):
            return int(self.stops[np.searchsorted(self.edge, unit)])
        return character_boundary(self.text, int(self.end[unit - 1]))


def normalised(text: str) -> str:
    r"""Normalize white space to one blank, mark empty lines, and remove control characters.

    >>> normalised(" a\tb  c ")
    'a b c'
    """
    if not text.isprintable():
        text = TURNING.sub("", re.sub("[\ud800-\udfff]", "\ufffd", text))
        text = UNSHOWN.sub(lambda match: match[0] if match[0].isspace() else " ", text)
    parts = (" ".join(part.split()) for part in BLANK_LINE.split(text))
    return PARAGRAPH.join(part for part in parts if part)


def character_boundary(text: str, offset: int) -> int:
    r"""Move an offset back to the nearest boundary of a character with its combining marks.

    >>> character_boundary("e\u0301a", 1), character_boundary("e\u0301a", 2)
    (0, 2)
    """
    for at in range(offset, max(0, offset - LONGEST), -1):
        if at >= len(text) or not _is_combining(text, at):
            return at
    return 0 if offset < LONGEST else offset


def _is_combining(text: str, at: int) -> bool:
    sign = text[at]
    if unicodedata.category(sign)[0] == "M" or JOINER in (sign, text[at - 1]):
        return True
    if "\U0001f3fb" <= sign <= "\U0001f3ff":  # the color of the skin
        return True
    before = re.search("[\U0001f1e6-\U0001f1ff]*$", text[max(0, at - LONGEST) : at])
    flags = len(before[0]) if before else 0
    return "\U0001f1e6" <= sign <= "\U0001f1ff" and flags % 2 == 1


def _units(text: str) -> tuple[Integers, Integers]:
    """Return the begin and end of every word, and of the pieces of overlong ones."""
    begin, end = word_bounds(text)
    if len(text) > LONGEST and (not len(begin) or begin[0] > LONGEST):
        begin, end = np.append(0, begin), np.append(0, end)
    elif not len(begin) and text:
        begin, end = np.array([0]), np.array([len(text)])
    stretch = np.diff(begin, append=len(text))
    if not (stretch > LONGEST).any():
        return begin, end
    pieces = np.maximum(1, -(-stretch // LONGEST))
    word_index = np.repeat(np.arange(len(begin)), pieces)
    nth = np.arange(len(word_index)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = begin[word_index] + LONGEST * nth
    ends = np.append(starts[1:], len(text))
    last_of_word = (starts < end[word_index]) & (end[word_index] < ends)
    single = pieces[word_index] == 1
    return starts, np.where(last_of_word | single, end[word_index], ends)


def _sentences(text: str) -> list[int]:
    """Yield the offsets where sentences begin, except the first."""
    lower = text == text.lower()
    return [
        match.end()
        for match in SENTENCE.finditer(text)
        if match.end() < len(text) and _ends(text, match, lower=lower)
    ]


def _ends(text: str, match: re.Match[str], *, lower: bool) -> bool:
    """Return whether a full stop ends a sentence, not an abbreviation, initial or number."""
    begin, end = match.span()
    if text[begin] in WITHOUT_BLANK or PARAGRAPH in match[0]:
        return True
    if not match[1] or (text[end].islower() and not lower and text[begin - 1 : begin] != " "):
        return False
    if text[begin] != "." or match[0].rstrip() != ".":
        return True
    word = text[max(0, begin - 12) : begin].rpartition(" ")[2].lstrip(OPENING)
    initial = len(word) == 1 and word.isupper()
    return not (initial or "." in word or word.lower() in KNOWN)


STOPPED = " "  # before a stop word, so that it is no other word's stem


class Occurrences(NamedTuple):
    """Matches in text order: begin and end in characters, and query term; and the phrases."""

    begin: Integers
    end: Integers
    term: Integers
    phrase_begin: Integers
    phrase_end: Integers

    def spans(self, begin: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """Return the begin and end of all matches, or of those that overlap a part of the text."""
        overlapping: list[tuple[int, int]] = []
        for low, high in ((self.begin, self.end), (self.phrase_begin, self.phrase_end)):
            first = np.searchsorted(high, begin, side="right")
            last = len(low) if end is None else np.searchsorted(low, end)
            overlapping += zip(low[first:last].tolist(), high[first:last].tolist(), strict=True)
        return overlapping


def find_occurrences(text: str, query: str, analysis: Analysis) -> Occurrences:
    """Return the words of a text with a term of the query."""
    query_keys = _keys(analysis.split(query), analysis)
    terms = [key for key in query_keys if not key.startswith(STOPPED)] or query_keys
    numbers = {key: index for index, key in enumerate(dict.fromkeys([*terms, *query_keys]), start=1)}
    begin, end = analysis.bounds(text)
    words = tokens_at(text, begin, end)
    distinct = list(set(words))
    coded = zip(distinct, _keys([folded(word) for word in distinct], analysis), strict=True)
    signs = {word: chr(numbers[key]) for word, key in coded if key in numbers}
    row = "".join([signs.get(word, "\0") for word in words])
    codes = np.frombuffer(row.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    index = np.flatnonzero((codes > 0) & (codes <= len(set(terms))))
    occurrences = np.stack([begin[index], end[index], codes[index] - 1], axis=1)
    more = _single_characters(text, terms, numbers)
    if more:
        occurrences = np.unique(np.concatenate([occurrences, more]), axis=0)
    at = np.array(_phrase_offsets(row, "".join(chr(numbers[key]) for key in query_keys)), dtype=np.int64)
    return Occurrences(
        occurrences[:, 0], occurrences[:, 1], occurrences[:, 2], begin[at], end[at + len(query_keys) - 1]
    )


def _keys(words: Sequence[str], analysis: Analysis) -> list[str]:
    """Return the keys by which words are compared: terms, and stop words as they are."""
    return [
        STOPPED + word if term is None else term
        for word, term in zip(words, analysis.terms_of(words), strict=True)
    ]


def _single_characters(text: str, terms: list[str], numbers: dict[str, int]) -> list[tuple[int, int, int]]:
    """Return matches of one-character query terms in scripts without blanks, elsewhere tokenized as pairs."""
    return [
        (*match.span(), numbers[term] - 1)
        for term in dict.fromkeys(terms)
        if len(term) == 1 and UNSPACED_START.match(term)
        for match in re.finditer(term, text)
    ]


def _phrase_offsets(row: str, phrase: str) -> list[int]:
    """Return the non-overlapping matches of the query as a phrase, from left to right."""
    phrases = []
    at = row.find(phrase) if len(phrase) > 1 else -1
    while at >= 0:
        phrases.append(at)
        at = row.find(phrase, at + len(phrase))
    return phrases


FEWEST = 8  # words of a window, where there are several
Window = tuple[int, int]  # units: the first, and the one after the last


class UnitMatches(NamedTuple):
    """Matches in units: first unit, one past the last, and query term."""

    low: Integers
    high: Integers
    term: Integers

    def where(self, chosen: Flags) -> UnitMatches:
        """Return a subset of the matches."""
        return UnitMatches(self.low[chosen], self.high[chosen], self.term[chosen])


def choose_windows(layout: Layout, occurrences: Occurrences, *, words: int, windows: int) -> list[Window]:
    """Return at most `windows` windows of `words` words in total, in text order."""
    if layout.size <= words:
        return [(0, layout.size)]
    all_of = UnitMatches(*_units_of_matches(layout, occurrences.begin, occurrences.end), occurrences.term)
    phrases = _units_of_matches(layout, occurrences.phrase_begin, occurrences.phrase_end)
    windows = min(windows, max(1, words // FEWEST))
    selected: list[Window] = []
    left = np.ones(len(all_of.low), dtype=np.bool_)
    unseen = left.copy()
    while len(selected) < windows and left.any():
        targets = left & unseen if (left & unseen).any() else left
        window = best(layout, all_of.where(targets), all_of.where(left), phrases, words // windows)
        selected.append(window)
        left &= (all_of.high <= window[0]) | (all_of.low >= window[1])
        unseen &= ~np.isin(all_of.term, np.unique(all_of.term[~left]))
        outside = (phrases[1] <= window[0]) | (phrases[0] >= window[1])
        phrases = phrases[0][outside], phrases[1][outside]
    if len(selected) == 1 and windows > 1:
        phrases = _units_of_matches(layout, occurrences.phrase_begin, occurrences.phrase_end)
        selected = [best(layout, all_of, all_of, phrases, words)]
    return list(merged(selected))


def best(
    layout: Layout, targets: UnitMatches, shown: UnitMatches, phrases: tuple[Integers, Integers], bound: int
) -> Window:
    """Return the best window of at most `bound` words; ties are decided by the matches in `shown`."""
    fits = phrases[1] - phrases[0] <= bound
    if fits.any():
        low, high = phrases[0][fits], phrases[1][fits]
    else:
        low, high = smallest(targets, bound)
    begin, end = around(layout, low, high, bound)
    matches = np.searchsorted(shown.high, end, side="right") - np.searchsorted(shown.low, begin)
    index = int(np.argmax(matches))
    return int(begin[index]), int(end[index])


def smallest(matches: UnitMatches, bound: int) -> tuple[Integers, Integers]:
    """Return all smallest spans of at most `bound` words with the most distinct terms, in order.

    >>> of = UnitMatches(np.array([0, 5, 7]), np.array([1, 6, 8]), np.array([0, 1, 0]))
    >>> [ends.tolist() for ends in smallest(of, 10)]  # units 5 to 7 have both terms
    [[5], [8]]
    """
    ends = np.minimum(matches.high, matches.low + bound)  # a match may be longer
    if (matches.term == matches.term[0]).all():
        shortest = ends - matches.low == (ends - matches.low).min()
        return matches.low[shortest], ends[shortest]
    low, high, term = matches.low.tolist(), ends.tolist(), matches.term.tolist()
    terms = max(term) + 1
    counts, first, distinct, most_terms = [0] * terms, 0, 0, 0
    for last, code in enumerate(term):
        distinct += not counts[code]
        counts[code] += 1
        while high[last] - low[first] > bound:
            counts[term[first]] -= 1
            distinct -= not counts[term[first]]
            first += 1
        most_terms = max(most_terms, distinct)
    counts, first, distinct, size = [0] * terms, 0, 0, bound
    stretches: list[Window] = []
    for last, code in enumerate(term):
        distinct += not counts[code]
        counts[code] += 1
        while distinct > most_terms or counts[term[first]] > 1 or high[last] - low[first] > bound:
            counts[term[first]] -= 1
            distinct -= not counts[term[first]]
            first += 1
        if distinct == most_terms and high[last] - low[first] <= size:
            if high[last] - low[first] < size:
                size, stretches = high[last] - low[first], []
            stretches.append((low[first], high[last]))
    columns = np.array(stretches, dtype=np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


def around(layout: Layout, low: Integers, high: Integers, bound: int) -> tuple[Integers, Integers]:
    """Return the windows around spans: whole sentences where they fit, else as much as fits."""
    edge = layout.edge
    first = edge[np.searchsorted(edge, low, side="right") - 1]
    last = edge[np.searchsorted(edge, high)]
    fits = last - first <= bound
    # Add whole sentences that fit, first after the match, then before it.
    end = edge[np.searchsorted(edge, first + bound, side="right") - 1]
    begin = edge[np.searchsorted(edge, end - bound)]
    # Too little text to be informative: cut the next sentence instead of omitting it.
    little = fits & (2 * (end - begin) < bound)
    end = np.where(little, np.minimum(begin + bound, layout.size), end)
    begin = np.where(little, np.minimum(begin, np.maximum(0, end - bound)), begin)
    # A sentence that does not fit: its begin, else its end, else the middle of it.
    middle = low - (bound - (high - low)) // 2
    cut = np.where(high <= first + bound, first, np.where(last - low <= bound, last - bound, middle))
    return np.where(fits, begin, cut), np.where(fits, end, cut + bound)


def _units_of_matches(layout: Layout, begin: Integers, end: Integers) -> tuple[Integers, Integers]:
    """Return the first unit of character spans, and one past the last."""
    low = np.maximum(0, np.searchsorted(layout.begin, begin, side="right") - 1)
    return low, np.maximum(low + 1, np.searchsorted(layout.begin, end))


ELLIPSIS = "\u2026"


def compose_summary(
    layout: Layout, windows: Sequence[tuple[int, int]], occurrences: Occurrences | None = None
) -> Summary:
    """Return the summary of windows (in units), with the matches in it."""
    parts: list[str] = []
    length = 0
    marks: list[tuple[int, int]] = []

    def add(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    for number, (first, last) in enumerate(windows):
        begin, end = layout.begin_of(first), layout.end_of(last)
        text = layout.text[begin:end].rstrip()
        if number or not layout.is_edge(first):
            add(f" {ELLIPSIS} " if number else f"{ELLIPSIS} ")
        end = begin + len(text)
        spans = occurrences.spans(begin, end) if occurrences else ()
        marks += [
            (length + max(low, begin) - begin, length + min(high, end) - begin)
            for low, high in merged((character_boundary(layout.text, low), high) for low, high in spans)
            if low < end
        ]
        add(text.replace(PARAGRAPH, " "))
    if windows and not layout.is_edge(windows[-1][1]):
        add(f" {ELLIPSIS}")
    return Summary("".join(parts), tuple(marks))


REPEATS = 0.8  # cosine from which a sentence counts as a near-duplicate


def choose_sentences(layout: Layout, words: int, analysis: Analysis) -> list[tuple[int, int]]:
    """Return the key sentences that fit into a number of words, as units in text order."""
    sentence, term, count = _counts(layout, analysis)
    number = len(layout.edge) - 1
    terms = int(term.max(initial=-1)) + 1
    idf = np.log1p(number / np.maximum(1, np.bincount(term, minlength=terms)))
    weight = count * idf[term]
    centroid = np.bincount(term, weight, minlength=terms)
    lengths = np.sqrt(np.bincount(sentence, weight**2, minlength=number))
    dots = np.bincount(sentence, weight * centroid[term], minlength=number)
    scores = np.divide(dots, lengths, out=np.zeros(number), where=lengths > 0)
    bounds = np.searchsorted(sentence, np.arange(number + 1))
    order = np.argsort(-np.round(scores, 12), kind="stable")
    sizes = np.diff(layout.edge)
    if sizes[order[0]] > words:
        first = int(layout.edge[order[0]])
        return [(first, first + words)]
    selected: list[int] = []
    vectors: list[dict[int, float]] = []
    remaining = words
    for index in order.tolist():
        if sizes[index] > remaining or not scores[index]:
            continue
        rows = slice(bounds[index], bounds[index + 1])
        vector = dict(zip(term[rows].tolist(), (weight[rows] / lengths[index]).tolist(), strict=True))
        if all(_cosine(vector, chosen) < REPEATS for chosen in vectors):
            selected.append(index)
            vectors.append(vector)
            remaining -= int(sizes[index])
    edge = layout.edge.tolist()
    return list(merged((edge[sentence], edge[sentence + 1]) for sentence in selected or [0]))


def _counts(layout: Layout, analysis: Analysis) -> tuple[Integers, Integers, Floats]:
    """Return the term counts of the sentences, sorted: sentence, term, count."""
    begin, end = analysis.bounds(layout.text)
    words = tokens_at(layout.text, begin, end)
    distinct = list(dict.fromkeys(words))
    forms = [folded(word) for word in distinct]
    numbers: dict[str | None, int] = {None: -1}
    codes = {
        word: numbers.setdefault(term, len(numbers) - 1)
        for word, term in zip(distinct, analysis.terms_of(forms), strict=True)
    }
    term = np.array([codes[word] for word in words], dtype=np.int64)
    unit = np.searchsorted(layout.begin, begin, side="right") - 1
    sentence = np.searchsorted(layout.edge, unit, side="right") - 1
    keep = term >= 0
    keys, counts = np.unique(sentence[keep] * len(numbers) + term[keep], return_counts=True)
    return keys // len(numbers), keys % len(numbers), counts.astype(np.float64)


def _cosine(left: dict[int, float], right: dict[int, float]) -> float:
    return sum(weight * right.get(term, 0.0) for term, weight in left.items())


__all__ = ["Summary", "dynamic_summary", "matches", "static_summary"]


def static_summary(
    text: str, *, words: int = 50, kind: str = "first", analysis: str | Analysis = "Words"
) -> Summary:
    """Summarize a text independently of any query.

    `kind="first"` returns the first `words` words. `kind="sentences"` extracts key sentences in text order:
    each is scored by the cosine between its tf-idf vector and the centroid of the text (idf from the
    sentences of the text: ln(1 + sentences / sentences with the term)); the best that fit are selected,
    except near-duplicates (cosine 0.8 or more) of a selected one. If the best sentence of all does not fit,
    the summary is its beginning.

    In scripts without blanks a pair of adjacent characters counts as a word; so does every 24 characters of
    longer units. White space becomes one blank, and control characters are removed.

    Source: Radev et al. 2004; Manning, Raghavan and Schuetze 2008, section 8.7.

    >>> static_summary("One two three. Four five six.", words=4).text
    'One two three. Four …'
    """
    check_whole(1, words=words)
    check_word(("first", "sentences"), kind=kind)
    layout = Layout.of(text)
    if layout.size <= words:
        chosen = [(0, layout.size)]
    elif kind == "first":
        chosen = [(0, words)]
    else:
        chosen = choose_sentences(layout, words, _analysis(analysis))
    return compose_summary(layout, chosen)


def dynamic_summary(
    text: str, query: str, *, words: int = 50, windows: int = 2, analysis: str | Analysis = "Words"
) -> Summary:
    """Summarize a text by the passages that match a query best (keyword in context).

    At most `windows` windows, of `words` words in total and at least eight each. The best window contains the
    whole query as a phrase; else it surrounds the smallest span with the most distinct query terms; ties go
    to the window with most matches, then the earliest. Further windows are selected in the same way from the
    rest, for the terms not shown yet as long as there are any. A window is aligned with sentences where its
    length allows, and marked by an ellipsis otherwise; windows are in text order. Words are compared by the
    terms of `analysis`, stop words only if the query has nothing else. Without a match, the static summary is
    returned. Takes linear time in the length of the text.

    Source: Tombros and Sanderson 1998; Manning, Raghavan and Schuetze 2008, section 8.7.

    >>> text = "Rain fell. New islands grew. The rest is sea."
    >>> found = dynamic_summary(text, "growing new island", words=3)
    >>> found.text, [found.text[begin:end] for begin, end in found.highlights]
    ('New islands grew.', ['New', 'islands'])
    """
    check_whole(1, words=words, windows=windows)
    layout = Layout.of(text)
    occurrences = find_occurrences(layout.text, query, _analysis(analysis))
    chosen = [(0, min(words, layout.size))]
    if len(occurrences.begin):
        chosen = choose_windows(layout, occurrences, words=words, windows=windows)
    return compose_summary(layout, chosen, occurrences)


def matches(text: str, query: str, *, analysis: str | Analysis = "Words") -> tuple[tuple[int, int], ...]:
    """Return the begin and end of all matches of a query in a text, in characters, without overlaps.

    A word matches if it has the term of a word of the query; the whole query as a phrase is one match,
    including its blanks and stop words.

    >>> matches("The state of the art; arts of states", "state of the art")
    ((4, 20), (22, 26), (30, 36))
    """
    return merged(find_occurrences(text, query, _analysis(analysis)).spans())


def _analysis(analysis: str | Analysis) -> Analysis:
    return ANALYSES.parse(analysis) if isinstance(analysis, str) else analysis
