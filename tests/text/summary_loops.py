"""The choice of windows again, as loops over everything that could be chosen: slow and obvious."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leadline.text.words import UNSPACED, UNSPACED_START, wide

Match = tuple[int, int, int]  # units: first, after the last; and the query term
Window = tuple[int, int]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Return the begin and end of every word; in scripts without blanks, of overlapping pairs."""
    spans: list[tuple[int, int]] = []
    for match in wide().finditer(text):
        for piece in re.finditer(f"[{UNSPACED}]+|[^{UNSPACED}]+", match[0]):
            begin, end = match.start() + piece.start(), match.start() + piece.end()
            if end - begin < 3 or not UNSPACED_START.match(text, begin):
                spans.append((begin, end))
            else:
                spans += [(offset, offset + 2) for offset in range(begin, end - 1)]
    return spans


def cores(matches: Sequence[Match], phrases: Sequence[Window], bound: int) -> list[Window]:
    """Return the phrases that fit, else the smallest stretches from match to match with most terms."""
    fitting = [(low, high) for low, high in phrases if high - low <= bound]
    if fitting:
        return fitting
    found: list[tuple[int, int, Window]] = []
    for first, (low, _, _) in enumerate(matches):
        for last in range(first, len(matches)):
            high = min(matches[last][1], matches[last][0] + bound)
            if high - low <= bound:
                terms = {term for _, _, term in matches[first : last + 1]}
                found.append((-len(terms), high - low, (low, high)))
    most, size, _ = min(found)
    return [window for *key, window in found if key == [most, size]]


def around(core: Window, edges: Sequence[int], bound: int) -> Window:
    """Return the window around a core, sentence by sentence."""
    low, high = core
    size = edges[-1]
    first = max(edge for edge in edges if edge <= low)
    last = min(edge for edge in edges if edge >= high)
    if last - first <= bound:
        end = max(edge for edge in edges if edge <= first + bound)
        begin = min(edge for edge in edges if edge >= end - bound)
        if 2 * (end - begin) < bound:
            end = min(begin + bound, size)
            begin = min(begin, max(0, end - bound))
        return begin, end
    if high <= first + bound:
        return first, first + bound
    if last - low <= bound:
        return last - bound, last
    begin = low - (bound - (high - low)) // 2
    return begin, begin + bound


def best(
    matches: Sequence[Match],
    shown: Sequence[Match],
    phrases: Sequence[Window],
    edges: Sequence[int],
    bound: int,
) -> Window:
    """Return the best window: the one around a core that shows most matches, the earliest of these."""

    def key(window: Window) -> tuple[int, int]:
        begin, end = window
        return -sum(begin <= low and high <= end for low, high, _ in shown), begin

    return min((around(core, edges, bound) for core in cores(matches, phrases, bound)), key=key)
