"""Words, stemmed, without stop words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from leadline.arrays import Integers
from leadline.errors import UsageError
from leadline.naming import Parameter
from leadline.text import Analysis, stems, stop_words, tokens
from leadline.text.places import word_bounds


class ByLanguage(Parameter):
    """A parameter that is a word of its own or one of the names that a package offers."""

    def __init__(self, default: str, *own: str, offered: Callable[[], list[str]]) -> None:
        super().__init__(default, kind=str)
        self.own = own
        self.offered = offered

    def expected(self) -> str:
        """Say in words what is allowed."""
        return ", ".join((*self.own, *self.offered()))

    def read(self, value: object) -> object:
        """Give an allowed value; a code such as `de` is the language it means."""
        if value in self.own:
            return value
        if isinstance(value, str):
            named = language_named(value)
            if named in self.offered():
                return named
        raise ValueError


def language_named(text: str) -> str:
    """Give the name of a language from its name or two-letter code, as it is where there is none.

    >>> language_named("de"), language_named("German"), language_named("porter")
    ('german', 'german', 'porter')
    """
    import stop_words as package

    found: str = package.LANGUAGE_MAPPING.get(text.lower(), text.lower())
    return found


class Words(Analysis):
    """Unicode words in lower case, stemmed; pairs of characters where a script writes no blanks.

    `stem` is a Snowball algorithm or `none`; `stop` is `basic` (English function words), a language of the
    package stop-words, or `none`.

    >>> Words(stem="none").terms("The flying machines")
    ['flying', 'machines']
    """

    title: ClassVar[str] = "words, stemmed, without stop words"

    stem: str = ByLanguage("english", "none", offered=stems.algorithms)  # type: ignore[assignment]  # as of naming
    stop: str = ByLanguage("basic", "basic", "none", offered=stop_words.languages)  # type: ignore[assignment]

    def split(self, text: str) -> list[str]:
        """Give the words of a text in order."""
        return tokens.words(text)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Give begin and end of every word."""
        return tokens.word_spans(text)

    def bounds(self, text: str) -> tuple[Integers, Integers]:
        """Give what `spans` gives as two columns."""
        return word_bounds(text)

    def terms_of(self, tokens: Iterable[str]) -> list[str | None]:
        """Give the stem of every word; None is a stop word."""
        stops = stop_words.stop_words_of(self.stop)
        given = list(tokens)
        return [
            None if token in stops or not stem else stem
            for token, stem in zip(given, stems.stemmed(given, self.stem), strict=True)
        ]


def for_language(name: str) -> Words:
    """Give the analysis of a language: its stems and its stop words, as far as there are such.

    >>> for_language("de"), for_language("ja"), for_language("none")
    (Words(stem=german,stop=german), Words(stem=none,stop=japanese), Words(stem=none,stop=none))
    """
    named = language_named(name)
    stem = named if named in stems.algorithms() else "none"
    stop = "basic" if named == "english" else named if named in stop_words.languages() else "none"
    if named != "none" and (stem, stop) == ("none", "none"):
        known = sorted({*stems.algorithms(), *stop_words.languages()})
        raise UsageError(f"unknown language '{name}'; expected none or " + ", ".join(known))
    return Words(stem=stem, stop=stop)
