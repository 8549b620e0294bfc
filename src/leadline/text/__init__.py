"""How a text becomes terms: one file per way to do it; `ANALYSES` finds them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Integers
from leadline.data.registry import Parametric, Registry


class Analysis(Parametric):
    """A way to turn text into terms: tokens in order, and the term that each token counts as.

    `split` gives the tokens of a text, `spans` and `bounds` where they stand, `terms_of` the term of each
    token or None for a stop word. A token's place in the order is its position, stop words counted.
    """

    title: ClassVar[str]

    def split(self, text: str) -> list[str]:
        """Give the tokens of a text in order."""
        raise NotImplementedError

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Give begin and end of every token that `split` gives, in characters of the text."""
        raise NotImplementedError

    def bounds(self, text: str) -> tuple[Integers, Integers]:
        """Give what `spans` gives as two columns."""
        found = np.array(self.spans(text), dtype=np.int64).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def terms_of(self, tokens: Iterable[str]) -> list[str | None]:
        """Give the term of every token; None is a stop word."""
        return list(tokens)

    def terms(self, text: str) -> list[str]:
        """Give the terms of a text in order, stop words left out.

        >>> ANALYSES.parse("Words").terms("The wings of two birds")
        ['wing', 'two', 'bird']
        """
        return [term for term in self.terms_of(self.split(text)) if term is not None]


ANALYSES: Registry[Analysis] = Registry(sys.modules[__name__], Analysis, "analysis")
