"""Character n-grams, for any language."""

from __future__ import annotations

from typing import ClassVar

from leadline.data.registry import whole
from leadline.text import Analysis, tokens


class Characters(Analysis):
    """Overlapping character n-grams within words; a shorter word is one n-gram.

    >>> Characters(n=4).terms("Zeppelin, ab")
    ['zepp', 'eppe', 'ppel', 'peli', 'elin', 'ab']
    """

    title: ClassVar[str] = "groups of n characters inside words"

    n: int = whole(4)

    def split(self, text: str) -> list[str]:
        """Return the n-grams of a text in order."""
        return [tokens.folded(text[begin:end]) for begin, end in self.spans(text)]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the begin and end of every n-gram."""
        pattern = tokens.wide() if tokens.BEYOND_LATIN.search(text) else tokens.NARROW
        return [
            (begin, min(begin + self.n, word.end()))
            for word in pattern.finditer(text)
            for begin in range(word.start(), max(word.start() + 1, word.end() - self.n + 1))
        ]
