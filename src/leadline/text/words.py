"""The text analyses: words with stemming and stop words, and character n-grams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, ClassVar

from leadline.data.arrays import Integers
from leadline.data.optional import import_optional
from leadline.data.registry import Parameter, whole
from leadline.errors import UsageError
from leadline.text import Analysis, tokens
from leadline.text.tokens import word_bounds


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
    stop_words = import_optional("stop_words")
    if name not in stop_words.AVAILABLE_LANGUAGES:
        raise UsageError(f"there are no stop words for '{name}'. Choose from {', '.join(languages())}.")
    entries = stop_words.get_stop_words(name)
    return frozenset(token for entry in entries for token in tokens.words(entry))


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

    title: ClassVar[str] = "words, stemmed, without stop words"

    stem: str = LanguageParameter("english", "none", offered=algorithms)  # type: ignore[assignment]
    stop: str = LanguageParameter("basic", "basic", "none", offered=languages)  # type: ignore[assignment]

    def split(self, text: str) -> list[str]:
        return tokens.words(text)

    def spans(self, text: str) -> list[tuple[int, int]]:
        return tokens.word_spans(text)

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
        raise UsageError(f"unknown language '{name}'. Choose from none, {', '.join(offered)}.")
    return Words(stem=stem, stop=stop)


class Characters(Analysis):
    """Overlapping character n-grams within words; a shorter word is one n-gram.

    >>> Characters(n=4).terms("Zeppelin, ab")
    ['zepp', 'eppe', 'ppel', 'peli', 'elin', 'ab']
    """

    title: ClassVar[str] = "groups of n characters inside words"

    n: int = whole(4)

    def split(self, text: str) -> list[str]:
        return [tokens.folded(text[begin:end]) for begin, end in self.spans(text)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        pattern = tokens.wide() if tokens.BEYOND_LATIN.search(text) else tokens.NARROW
        return [
            (begin, min(begin + self.n, word.end()))
            for word in pattern.finditer(text)
            for begin in range(word.start(), max(word.start() + 1, word.end() - self.n + 1))
        ]
