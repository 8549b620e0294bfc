"""Static and query-biased (dynamic) summaries of documents, and query highlighting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.validation import check_whole, check_word
from leadline.text import ANALYSES, Analysis, summary_windows
from leadline.text.summary_windows import PARAGRAPH, Layout, Occurrences, Summary, character_boundary, merged
from leadline.text.tokens import folded

ELLIPSIS = "\u2026"


def compose_summary(
    layout: Layout, windows: Sequence[tuple[int, int]], occurrences: Occurrences | None = None
) -> Summary:
    """Return the summary of windows (in units), with the matches in it."""
    parts: list[str] = []
    length = 0
    marks: list[tuple[int, int]] = []

    def add(text: str) -> None:
        nonlocal length
        parts.append(text)
        length += len(text)

    for number, (first, last) in enumerate(windows):
        begin, end = layout.begin_of(first), layout.end_of(last)
        text = layout.text[begin:end].rstrip()
        if number or not layout.is_edge(first):
            add(f" {ELLIPSIS} " if number else f"{ELLIPSIS} ")
        end = begin + len(text)
        spans = occurrences.spans(begin, end) if occurrences else ()
        marks += [
            (length + max(low, begin) - begin, length + min(high, end) - begin)
            for low, high in merged((character_boundary(layout.text, low), high) for low, high in spans)
            if low < end
        ]
        add(text.replace(PARAGRAPH, " "))
    if windows and not layout.is_edge(windows[-1][1]):
        add(f" {ELLIPSIS}")
    return Summary("".join(parts), tuple(marks))


REPEATS = 0.8  # cosine from which a sentence counts as a near-duplicate


def choose_sentences(layout: Layout, words: int, analysis: Analysis) -> list[tuple[int, int]]:
    """Return the key sentences that fit into a number of words, as units in text order."""
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
    selected: list[int] = []
    vectors: list[dict[int, float]] = []
    remaining = words
    for index in order.tolist():
        if sizes[index] > remaining or not scores[index]:
            continue
        rows = slice(bounds[index], bounds[index + 1])
        vector = _unit(term[rows], weight[rows] / lengths[index])
        if all(_cosine(vector, chosen) < REPEATS for chosen in vectors):
            selected.append(index)
            vectors.append(vector)
            remaining -= int(sizes[index])
    edge = layout.edge.tolist()
    return list(merged((edge[sentence], edge[sentence + 1]) for sentence in selected or [0]))


def _counts(layout: Layout, analysis: Analysis) -> tuple[Integers, Integers, Floats]:
    """Return the term counts of the sentences, sorted: sentence, term, count."""
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


def _cosine(left: dict[int, float], right: dict[int, float]) -> float:
    return sum(weight * right.get(term, 0.0) for term, weight in left.items())


__all__ = ["Summary", "dynamic_summary", "matches", "static_summary"]


def static_summary(
    text: str, *, words: int = 50, kind: str = "first", analysis: str | Analysis = "Words"
) -> Summary:
    """Summarize a text independently of any query.

    `kind="first"` returns the first `words` words. `kind="sentences"` extracts key sentences in text order:
    each is scored by the cosine between its tf-idf vector and the centroid of the text (idf from the
    sentences of the text: ln(1 + sentences / sentences with the term)); the best that fit are selected,
    except near-duplicates (cosine 0.8 or more) of a selected one.

    In scripts without blanks a pair of adjacent characters counts as a word; so does every 24 characters of
    longer units. White space becomes one blank, and control characters are removed.

    Source: Radev et al. 2004; Manning, Raghavan and Schuetze 2008, section 8.7.

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
    """Summarize a text by the passages that match a query best (keyword in context).

    At most `windows` windows, of `words` words in total and at least eight each. The best window contains the
    whole query as a phrase; else it surrounds the smallest span with the most distinct query terms; ties go
    to the window with most matches, then the earliest. Further windows are selected in the same way from the
    rest, for the terms not shown yet as long as there are any. A window is aligned with sentences where its
    length allows, and marked by an ellipsis otherwise; windows are in text order. Words are compared by the
    terms of `analysis`, stop words only if the query has nothing else. Without a match, the static summary is
    returned. Takes linear time in the length of the text.

    Source: Tombros and Sanderson 1998; Manning, Raghavan and Schuetze 2008, section 8.7.

    >>> text = "Rain fell. New islands grew. The rest is sea."
    >>> found = dynamic_summary(text, "growing new island", words=3)
    >>> found.text, [found.text[begin:end] for begin, end in found.highlights]
    ('New islands grew.', ['New', 'islands'])
    """
    check_whole(1, words=words, windows=windows)
    layout = Layout.of(text)
    occurrences = summary_windows.find_occurrences(layout.text, query, _analysis(analysis))
    chosen = [(0, min(words, layout.size))]
    if len(occurrences.begin):
        chosen = summary_windows.choose_windows(layout, occurrences, words=words, windows=windows)
    return compose_summary(layout, chosen, occurrences)


def matches(text: str, query: str, *, analysis: str | Analysis = "Words") -> tuple[tuple[int, int], ...]:
    """Return the begin and end of all matches of a query in a text, in characters, without overlaps.

    A word matches if it has the term of a word of the query; the whole query as a phrase is one match,
    including its blanks and stop words.

    >>> matches("The state of the art; arts of states", "state of the art")
    ((4, 20), (22, 26), (30, 36))
    """
    return merged(summary_windows.find_occurrences(text, query, _analysis(analysis)).spans())


def _analysis(analysis: str | Analysis) -> Analysis:
    return ANALYSES.parse(analysis) if isinstance(analysis, str) else analysis
