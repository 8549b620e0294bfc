"""Choose windows: the phrase, then the smallest stretch with most terms, most matches, the first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.arrays import Flags, Integers
from leadline.text.summaries.layout import Layout
from leadline.text.summaries.occurrences import Found

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


def choose(layout: Layout, found: Found, *, words: int, windows: int) -> list[Window]:
    """Choose at most so many windows of so many words in all, in the order of the text."""
    if layout.size <= words:
        return [(0, layout.size)]
    all_of = Matched(*_units(layout, found.begin, found.end), found.term)
    phrases = _units(layout, found.phrase_begin, found.phrase_end)
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
        phrases = _units(layout, found.phrase_begin, found.phrase_end)
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
    cut = np.where(
        high <= first + bound, first, np.where(last - low <= bound, last - bound, middle)
    )
    return np.where(whole, begin, cut), np.where(whole, end, cut + bound)


def _units(layout: Layout, begin: Integers, end: Integers) -> tuple[Integers, Integers]:
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
