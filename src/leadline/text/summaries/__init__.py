"""Summaries of documents for result lists and judging: static, dynamic, and where the query matches."""

from __future__ import annotations

from leadline.arguments import check_whole, check_word
from leadline.text import ANALYSES, Analysis
from leadline.text.summaries import composing, key_sentences, occurrences, windows_of_matches
from leadline.text.summaries.layout import Layout
from leadline.text.summaries.showing import Summary, merged

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
        chosen = key_sentences.choose(layout, words, _analysis(analysis))
    return composing.compose(layout, chosen)


def dynamic_summary(
    text: str,
    query: str,
    *,
    words: int = 50,
    windows: int = 2,
    analysis: str | Analysis = "Words",
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
    found = occurrences.find(layout.text, query, _analysis(analysis))
    chosen = [(0, min(words, layout.size))]
    if len(found.begin):
        chosen = windows_of_matches.choose(layout, found, words=words, windows=windows)
    return composing.compose(layout, chosen, found)


def matches(
    text: str, query: str, *, analysis: str | Analysis = "Words"
) -> tuple[tuple[int, int], ...]:
    """Give begin and end of everything in a text that matches a query, in characters, apart from each other.

    A word matches when it has the term of a word of the query; the whole query as a phrase is one match,
    its blanks and stop words included.

    >>> matches("The state of the art; arts of states", "state of the art")
    ((4, 20), (22, 26), (30, 36))
    """
    return merged(occurrences.find(text, query, _analysis(analysis)).spans())


def _analysis(given: str | Analysis) -> Analysis:
    return ANALYSES.parse(given) if isinstance(given, str) else given
