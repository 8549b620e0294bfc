"""A summary and its two faces: HTML and the terminal."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

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
        return self._marked(
            lambda text: html.escape(UNSHOWN.sub("\ufffd", text)), "<mark>", "</mark>"
        )

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
