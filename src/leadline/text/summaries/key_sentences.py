"""Key sentences: those nearest to the centroid of the text."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.text import Analysis
from leadline.text.summaries.layout import Layout
from leadline.text.tokens import folded

REPEATS = 0.8  # the cosine from which a sentence says what another said


def choose(layout: Layout, words: int, analysis: Analysis) -> list[tuple[int, int]]:
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
