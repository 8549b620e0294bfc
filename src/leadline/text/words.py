"""Tokenization, as text and as arrays of offsets, and the analyses: stemmed words and n-grams."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from leadline.data.arrays import Bytes, Flags, Integers
from leadline.data.optional import import_optional
from leadline.data.registry import Parameter, whole
from leadline.errors import UsageError, either
from leadline.text import Analysis

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
    """Return the pattern of a word with combining marks, for which all of Unicode is enumerated once."""
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


UNSPACED_START = re.compile(f"[{UNSPACED}]")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case and NFKC.

    >>> words("It's 2 a.m. in Zürich"), words("北京大学 2024")
    (['it', 's', '2', 'a', 'm', 'in', 'zürich'], ['北京', '京大', '大学', '2024'])
    """
    if text.isascii():
        return ASCII.findall(text.lower())
    return list(map(folded, tokens_at(text, *word_bounds(text))))


def folded(token: str) -> str:
    """Return the normal form of a token: lower case, NFKC."""
    return unicodedata.normalize("NFKC", token.lower())


def tokens_at(text: str, begin: Integers, end: Integers) -> list[str]:
    """Return the parts of a text."""
    return [text[low:high] for low, high in zip(begin.tolist(), end.tolist(), strict=True)]


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


def algorithms() -> list[str]:
    """Return the names of the stemming algorithms."""
    return sorted(import_optional("Stemmer").algorithms())


@cache
def _stemmer(name: str) -> Any:
    return import_optional("Stemmer").Stemmer(name, 0)  # no cache: every word is stemmed once


def stemmed(tokens: Sequence[str], name: str) -> list[str]:
    """Return the stem of every token; `none` leaves them unchanged.

    >>> stemmed(["wings", "flying"], "english")
    ['wing', 'fli']
    """
    if name == "none":
        return list(tokens)
    stems: list[str] = _stemmer(name).stemWords(list(tokens))
    return stems


# Words that only join others; nothing that a query could be about. The English list of the package
# has 1,333 words, among them computer, information, research, system and test.
BASIC = """a about above after again against all also am an and any are aren as at be because been before
being below between both but by can cannot could couldn d did didn do does doesn doing don down during each
either for from further had hadn has hasn have haven having he her here hers herself him himself his how i if
in into is isn it its itself just ll m me might more most must my myself nor not of off on once only or other
our ours ourselves out over own re s same shall she should shouldn so some such t than that the their theirs
them themselves then there these they this those through thus to too under until up upon us ve very was wasn
we were weren what when where whether which while who whom whose why will with within without won would
wouldn you your yours yourself yourselves"""


def languages() -> list[str]:
    """Return the languages with a stop word list."""
    return sorted(import_optional("stop_words").AVAILABLE_LANGUAGES)


@cache
def stop_words_of(name: str) -> frozenset[str]:
    """Return the stop words of a list: `none`, `basic`, or a language.

    An entry that is split into several tokens (don't) adds each of them.

    >>> "the" in stop_words_of("basic"), "wing" in stop_words_of("english")
    (True, False)
    """
    if name == "none":
        return frozenset()
    if name == "basic":
        return frozenset(BASIC.split())
    entries = import_optional("stop_words").get_stop_words(name)
    return frozenset(token for entry in entries for token in words(entry))


class LanguageParameter(Parameter):
    """Parameter that is one of some fixed words or a name offered by a package."""

    def __init__(self, default: str, *fixed: str, offered: Callable[[], list[str]]) -> None:
        super().__init__(default, type_=str)
        self.own = fixed
        self.offered = offered

    def expected(self) -> str:
        return ", ".join((*self.own, *self.offered()))

    def read(self, value: object) -> object:
        """Return an allowed value; a code such as `de` is converted to its language."""
        if value in self.own:
            return value
        if isinstance(value, str):
            named = language_named(value)
            if named in self.offered():
                return named
        raise ValueError


def language_named(text: str) -> str:
    """Return the language of a name or two-letter code; other text is returned unchanged.

    >>> language_named("de"), language_named("German"), language_named("porter")
    ('german', 'german', 'porter')
    """
    language: str = import_optional("stop_words").LANGUAGE_MAPPING.get(text.lower(), text.lower())
    return language


class Words(Analysis):
    """Lower-case Unicode words, stemmed, without stop words; character pairs in scripts without blanks.

    `stem` is a Snowball algorithm or `none`; `stop` is `basic` (English function words), a language of the
    package stop-words, or `none`.

    >>> Words(stem="none").terms("The flying machines")
    ['flying', 'machines']
    """

    title: ClassVar[str] = "stemmed words without stop words"

    stem: str = LanguageParameter("english", "none", offered=algorithms)  # type: ignore[assignment]
    stop: str = LanguageParameter("basic", "basic", "none", offered=languages)  # type: ignore[assignment]

    def split(self, text: str) -> list[str]:
        return words(text)

    def bounds(self, text: str) -> tuple[Integers, Integers]:
        return word_bounds(text)

    def terms_of(self, tokens: Iterable[str]) -> list[str | None]:
        stops = stop_words_of(self.stop)
        token_list = list(tokens)
        return [
            None if token in stops or not stem else stem
            for token, stem in zip(token_list, stemmed(token_list, self.stem), strict=True)
        ]


def for_language(name: str) -> Words:
    """Return the analysis of a language: its stemmer and stop words, where available.

    >>> for_language("de"), for_language("ja"), for_language("none")
    (Words(stem=german,stop=german), Words(stem=none,stop=japanese), Words(stem=none,stop=none))
    """
    named = language_named(name)
    stem = named if named in algorithms() else "none"
    stop = "basic" if named == "english" else named if named in languages() else "none"
    if named != "none" and (stem, stop) == ("none", "none"):
        offered = sorted({*algorithms(), *languages()})
        raise UsageError(f"unknown language '{name}'. Use {either(['none', *offered])}.")
    return Words(stem=stem, stop=stop)


class Characters(Analysis):
    """Overlapping character n-grams within words; a shorter word is one n-gram.

    >>> Characters(n=4).terms("Zeppelin, ab")
    ['zepp', 'eppe', 'ppel', 'peli', 'elin', 'ab']
    """

    title: ClassVar[str] = "overlapping character n-grams within words"

    n: int = whole(4)

    def split(self, text: str) -> list[str]:
        return list(map(folded, tokens_at(text, *self.bounds(text))))

    def bounds(self, text: str) -> tuple[Integers, Integers]:
        pattern = wide() if BEYOND_LATIN.search(text) else NARROW
        offsets = [
            (begin, min(begin + self.n, word.end()))
            for word in pattern.finditer(text)
            for begin in range(word.start(), max(word.start() + 1, word.end() - self.n + 1))
        ]
        begin, end = np.array(offsets, dtype=np.int64).reshape(-1, 2).T
        return begin, end
