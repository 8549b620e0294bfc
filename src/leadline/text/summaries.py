"""Summaries of documents: static, dynamic, and where the query matches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.validation import check_whole, check_word
from leadline.text import ANALYSES, Analysis, summary_windows
from leadline.text.summary_windows import PARAGRAPH, Layout, Occurrences, Summary, merged, unbroken
from leadline.text.tokens import folded

ELLIPSIS = "\u2026"


def compose_summary(
    layout: Layout, windows: Sequence[tuple[int, int]], found: Occurrences | None = None
) -> Summary:
    """Make the summary of windows (in units) and of what matches in the tidy text."""
    parts: list[str] = []
    length = 0
    marks: list[tuple[int, int]] = []

    def add(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    for number, (first, last) in enumerate(windows):
        begin, end = layout.place(first), layout.stop(last)
        text = layout.text[begin:end].rstrip()
        if number or not layout.is_edge(first):
            add(f" {ELLIPSIS} " if number else f"{ELLIPSIS} ")
        end = begin + len(text)
        spans = found.spans(begin, end) if found else ()
        marks += [
            (length + max(low, begin) - begin, length + min(high, end) - begin)
            for low, high in merged((unbroken(layout.text, low), high) for low, high in spans)
            if low < end
        ]
        add(text.replace(PARAGRAPH, " "))
    if windows and not layout.is_edge(windows[-1][1]):
        add(f" {ELLIPSIS}")
    return Summary("".join(parts), tuple(marks))


REPEATS = 0.8  # the cosine from which a sentence says what another said


def choose_sentences(layout: Layout, words: int, analysis: Analysis) -> list[tuple[int, int]]:
    """Choose the sentences, in units and in the order of the text, that say most in so many words."""
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
    taken: list[int] = []
    vectors: list[dict[int, float]] = []
    room = words
    for place in order.tolist():
        if sizes[place] > room or not scores[place]:
            continue
        rows = slice(bounds[place], bounds[place + 1])
        vector = _unit(term[rows], weight[rows] / lengths[place])
        if all(_cosine(vector, other) < REPEATS for other in vectors):
            taken.append(place)
            vectors.append(vector)
            room -= int(sizes[place])
    return _neighbours_joined(layout, sorted(taken) or [0])


def _counts(layout: Layout, analysis: Analysis) -> tuple[Integers, Integers, Floats]:
    """Count the terms of every sentence: sentence, term, how often; by sentence, then term."""
    begin, end = analysis.bounds(layout.text)
    words = [layout.text[low:high] for low, high in zip(begin.tolist(), end.tolist(), strict=True)]
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


def _unit(terms: Integers, weights: Floats) -> dict[int, float]:
    return dict(zip(terms.tolist(), weights.tolist(), strict=True))


def _cosine(one: dict[int, float], other: dict[int, float]) -> float:
    return sum(weight * other.get(term, 0.0) for term, weight in one.items())


def _neighbours_joined(layout: Layout, sentences: list[int]) -> list[tuple[int, int]]:
    """Give the units of sentences, neighbours as one stretch."""
    edge = layout.edge.tolist()
    found: list[tuple[int, int]] = []
    for place in sentences:
        if found and found[-1][1] == edge[place]:
            found[-1] = (found[-1][0], edge[place + 1])
        else:
            found.append((edge[place], edge[place + 1]))
    return found


__all__ = ["Summary", "dynamic_summary", "matches", "static_summary"]


def static_summary(
    text: str, *, words: int = 50, kind: str = "first", analysis: str | Analysis = "Words"
) -> Summary:
    """Summarise a text without regard to any query.

    `kind="first"` gives the first `words` words. `kind="sentences"` gives key sentences in the order of the
    text: each is scored by the cosine between its tf-idf vector and the centroid of the text (idf from the
    sentences of the text itself: ln(1 + sentences / sentences with the term)), the best that fit are taken,
    and one that nearly repeats a taken one (cosine 0.8 or more) is left out.

    In scripts without blanks a pair of neighbouring characters counts as a word; so does each 24 characters
    of what is longer. White space becomes one blank, control characters go.

    Source: lecture on IR evaluation, "Static summaries"; centroid: Radev et al. 2004.

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
    """Summarise a text by the places that match a query best.

    At most `windows` windows, of `words` words in all and at least eight each. The best window holds the
    whole query as a phrase; else it is around the smallest stretch with the most distinct query terms; among
    equals it shows the most matches, then it is the earliest. A further window is chosen in the same way from
    what is left, for the terms not yet shown as long as there are any. A window begins and ends with a
    sentence where its length allows, and has an ellipsis where it does not; windows stand in the order of the
    text, an ellipsis between them. Words are compared by the terms of `analysis`, stop words only when a
    query has nothing else. Where nothing matches, it is the static summary. Linear in the length of the text.

    Source: lecture on IR evaluation, "Dynamic summaries".

    >>> text = "Rain fell. New islands grew. The rest is sea."
    >>> found = dynamic_summary(text, "growing new island", words=3)
    >>> found.text, [found.text[begin:end] for begin, end in found.highlights]
    ('New islands grew.', ['New', 'islands'])
    """
    check_whole(1, words=words, windows=windows)
    layout = Layout.of(text)
    found = summary_windows.find_occurrences(layout.text, query, _analysis(analysis))
    chosen = [(0, min(words, layout.size))]
    if len(found.begin):
        chosen = summary_windows.choose_windows(layout, found, words=words, windows=windows)
    return compose_summary(layout, chosen, found)


def matches(text: str, query: str, *, analysis: str | Analysis = "Words") -> tuple[tuple[int, int], ...]:
    """Give begin and end of everything in a text that matches a query, in characters, apart from each other.

    A word matches when it has the term of a word of the query; the whole query as a phrase is one match,
    its blanks and stop words included.

    >>> matches("The state of the art; arts of states", "state of the art")
    ((4, 20), (22, 26), (30, 36))
    """
    return merged(summary_windows.find_occurrences(text, query, _analysis(analysis)).spans())


def _analysis(given: str | Analysis) -> Analysis:
    return ANALYSES.parse(given) if isinstance(given, str) else given
