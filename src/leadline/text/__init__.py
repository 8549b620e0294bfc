"""Text analysis: from text to terms."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import ClassVar

from leadline.data.arrays import Integers
from leadline.data.registry import Parametric, Registry


class Analysis(Parametric):
    """Base class of the text analyses: tokens in order, and the term of each token.

    `split` returns the tokens of a text, `bounds` their character offsets, `terms_of` the term of
    each token or None for a stop word. Positions count all tokens, including stop words.
    """

    title: ClassVar[str]

    def split(self, text: str) -> list[str]:
        """Return the tokens of a text in order."""
        raise NotImplementedError

    def bounds(self, text: str) -> tuple[Integers, Integers]:
        """Return the begin and end of every token of `split`, in characters."""
        raise NotImplementedError

    def terms_of(self, tokens: Iterable[str]) -> list[str | None]:
        """Return the term of every token; None is a stop word."""
        return list(tokens)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in order, without stop words.

        >>> ANALYSES.parse("Words").terms("The wings of two birds")
        ['wing', 'two', 'bird']
        """
        return [term for term in self.terms_of(self.split(text)) if term is not None]


ANALYSES: Registry[Analysis] = Registry(sys.modules[__name__], Analysis, "analysis")
