"""What a judge sees of a pair: the query, the title, a summary or the text, and what matches in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from leadline.data.hashing import draw
from leadline.io.texts import Document
from leadline.judging.documents import Texts, digest, showable
from leadline.judging.store import JudgingPair
from leadline.text import ANALYSES, Analysis
from leadline.text.summaries import dynamic_summary, matches, static_summary
from leadline.text.summary_windows import Summary

PREFIX = 100_000  # characters that a summary is made of: who caches long documents caches their beginning
FIRST_PART = 6_000  # characters of the text that come with a card
NEXT_PARTS = 20_000
WORDS = 50
DESCRIPTIONS = ("description", "desc", "narrative", "narr", "question", "background", "context")
CALLED = {"desc": "description", "narr": "narrative"}


class Cards:
    """Makes cards; `forms` are the ways to present a document, one of them drawn for each judge and pair."""

    def __init__(
        self,
        texts: Texts,
        queries: Mapping[str, Document],
        *,
        forms: Sequence[str],
        analysis: str | Analysis,
        seed: int,
    ) -> None:
        self.texts = texts
        self.queries = queries
        self.forms = tuple(forms)
        # Named analyses are looked up once, not for every text.
        self.analysis = ANALYSES.parse(analysis) if isinstance(analysis, str) else analysis
        self.seed = seed
        self._summary = lru_cache(maxsize=4096)(self._new_summary)

    def query(self, name: str) -> dict[str, Any]:
        """Give what a judge sees of a query."""
        found = self.queries[name]
        more = [
            [CALLED.get(label, label), showable(text.strip())]
            for label in DESCRIPTIONS
            if isinstance(text := found.more.get(label), str) and text.strip()
        ]
        return {"id": showable(name), "text": showable(found.content.strip()), "more": more}

    def form(self, judge: str, pair: JudgingPair) -> str:
        """Say how a document is presented to a judge."""
        place = draw(self.seed, "form", judge, pair.query, pair.document)
        return self.forms[int(place * len(self.forms))]

    def card(self, judge: str, pair: JudgingPair) -> dict[str, Any]:
        """Give what a judge sees of a pair."""
        found, form = self.texts.get(pair.document), self.form(judge, pair)
        query = self.queries[pair.query].content
        title = Summary(found.title, self._matches(found.title, query))
        summary = None if form == "title" else self._summary(pair, form)
        if form == "full" and summary is not None and len(summary.text) >= len(found.text.strip()):
            summary = None  # the text that stands below is no longer
        return {
            "pair": pair.id,
            "query": pair.query,
            "document": showable(pair.document),
            "digest": digest(found),
            "form": form,
            "title": pieces(title),
            "facts": [[name, showable(text)] for name, text in found.facts],
            "summary": None if summary is None else pieces(summary),
            "text": self.part(pair, 0) if form == "full" else None,
            "parts": len(bounds(len(found.text))),
            "length": len(found.text),
            "cut": form != "title" and len(found.text) > PREFIX,
        }

    def digest(self, pair: JudgingPair) -> str:
        """Return the digest of the text that is shown for a pair now."""
        return digest(self.texts.get(pair.document))

    def _new_summary(self, pair: JudgingPair, form: str) -> Summary:
        text = self.texts.get(pair.document).text[:PREFIX]
        query = self.queries[pair.query].content
        if form != "static":
            return dynamic_summary(text, query, words=WORDS, analysis=self.analysis)
        found = static_summary(text, words=WORDS, analysis=self.analysis)
        return found._replace(highlights=self._matches(found.text, query))

    def _matches(self, text: str, query: str) -> tuple[tuple[int, int], ...]:
        return matches(text, query, analysis=self.analysis)

    def part(self, pair: JudgingPair, part: int) -> list[str]:
        """Give a part of the whole text with what matches; none where there is no such part."""
        text = self.texts.get(pair.document).text
        limits = bounds(len(text))
        if not 0 <= part < len(limits):
            return []
        begin, end = (_between_words(text, place) for place in limits[part])
        shown = text[begin:end]
        return pieces(Summary(shown, self._matches(shown, self.queries[pair.query].content)))

    def batch(
        self, judge: str, pairs: Iterable[JudgingPair], *, size: int = 400_000
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Give cards until they are long enough, at least one, and the queries of them."""
        cards: list[dict[str, Any]] = []
        room = size
        for pair in pairs:
            made = self.card(judge, pair)
            room -= 500 + sum(map(len, [*(made["summary"] or ()), *(made["text"] or ())]))
            if cards and room < 0:
                break
            cards.append(made)
        return cards, {name: self.query(name) for name in {card["query"] for card in cards}}


def pieces(found: Summary) -> list[str]:
    """Cut a text where it is marked: plain and marked pieces in turn, a plain one first.

    >>> pieces(Summary("a wing lifts", ((2, 6),)))
    ['a ', 'wing', ' lifts']
    """
    made: list[str] = []
    done = 0
    for begin, end in found.highlights:
        made += [showable(found.text[done:begin]), showable(found.text[begin:end])]
        done = end
    return [*made, showable(found.text[done:])]


def bounds(length: int) -> list[tuple[int, int]]:
    """Say where the parts of a text of some length begin and end.

    >>> bounds(30_000)
    [(0, 6000), (6000, 26000), (26000, 30000)]
    """
    limits = [0, *range(FIRST_PART, length, NEXT_PARTS), length] if length else []
    return list(pairwise(limits))


def _between_words(text: str, place: int) -> int:
    """Move a place to the blank before it, if there is one near."""
    if place in (0, len(text)):
        return place
    blank = max(text.rfind(blank, place - 200, place) for blank in " \n\t")
    return place if blank < 0 else blank + 1
