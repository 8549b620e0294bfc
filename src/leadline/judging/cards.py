"""What the page shows of a pair: query, title, summary or text, with matches highlighted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from leadline.data.hashing import hashed_uniform
from leadline.io.texts import Document
from leadline.judging.documents import Texts, showable
from leadline.judging.store import JudgingPair
from leadline.text import ANALYSES, Analysis
from leadline.text.summaries import Summary, dynamic_summary, matches, static_summary

PREFIX = 100_000  # characters that a summary is made of: who caches long documents caches their beginning
FIRST_PART = 6_000  # characters of the text that come with a card
NEXT_PARTS = 20_000
WORDS = 50
SHARED = 1024  # cards that are kept for other judges
DESCRIPTIONS = ("description", "desc", "narrative", "narr", "question", "background", "context")
CALLED = {"desc": "description", "narr": "narrative"}


class Cards:
    """Builder of cards; `forms` are the forms of presentation, one drawn per judge and pair."""

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
        self._shown = lru_cache(maxsize=SHARED)(self._new_shown)  # judges see the same documents

    def query(self, name: str) -> dict[str, Any]:
        """Return what a judge sees of a query."""
        query = self.queries[name]
        more = [
            [CALLED.get(label, label), showable(text.strip())]
            for label in DESCRIPTIONS
            if isinstance(text := query.more.get(label), str) and text.strip()
        ]
        return {"id": showable(name), "text": showable(query.content.strip()), "more": more}

    def form(self, judge: str, pair: JudgingPair) -> str:
        """Return the form in which a document is presented to a judge."""
        number = hashed_uniform(self.seed, "form", judge, pair.query, pair.document)
        return self.forms[int(number * len(self.forms))]

    def card(self, judge: str, pair: JudgingPair) -> dict[str, Any]:
        """Return what a judge sees of a pair."""
        return self._shown(pair, self.form(judge, pair), self.digest(pair)).copy()

    def _new_shown(self, pair: JudgingPair, form: str, seen: str) -> dict[str, Any]:
        """Return what every judge sees of a pair in a form, for a text with a digest."""
        text = self.texts.get(pair.document)
        title = Summary(text.title, self._matches(text.title, self.queries[pair.query].content))
        short = form == "full" and len(text.text) <= FIRST_PART  # enough to be read without a summary
        summary = None if form == "title" or short else self._summary(pair, form)
        complete = short or (summary is not None and len(summary.text) >= len(text.text.strip()))
        if form == "full" and complete:
            summary = None  # the full text, shown below, is not longer
        return {
            "pair": pair.id,
            "query": pair.query,
            "document": showable(pair.document),
            "digest": seen,
            "form": form,
            "title": pieces(title),
            "facts": [[name, showable(text)] for name, text in text.facts],
            "summary": None if summary is None else pieces(summary),
            "text": self.part(pair, 0) if form == "full" else None,
            "parts": len(bounds(len(text.text))),
            "length": len(text.text),
            "complete": complete,  # the summary shows the whole text
            "cut": form != "title" and len(text.text) > PREFIX,
        }

    def digest(self, pair: JudgingPair) -> str:
        """Return the digest of the text currently shown for a pair."""
        return self.texts.digest(pair.document)

    def _new_summary(self, pair: JudgingPair, form: str) -> Summary:
        text = self.texts.get(pair.document).text[:PREFIX]
        query = self.queries[pair.query].content
        if form != "static":
            return dynamic_summary(text, query, words=WORDS, analysis=self.analysis)
        summary = static_summary(text, words=WORDS, analysis=self.analysis)
        return summary._replace(highlights=self._matches(summary.text, query))

    def _matches(self, text: str, query: str) -> tuple[tuple[int, int], ...]:
        return matches(text, query, analysis=self.analysis)

    def part(self, pair: JudgingPair, part: int) -> list[str]:
        """Return a part of the full text with its matches; empty if there is no such part."""
        text = self.texts.get(pair.document).text
        limits = bounds(len(text))
        if not 0 <= part < len(limits):
            return []
        begin, end = (_between_words(text, position) for position in limits[part])
        shown = text[begin:end]
        return pieces(Summary(shown, self._matches(shown, self.queries[pair.query].content)))

    def batch(
        self, judge: str, pairs: Iterable[JudgingPair], *, size: int = 400_000
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return cards up to a total length, at least one, and their queries."""
        cards: list[dict[str, Any]] = []
        remaining = size
        for pair in pairs:
            card_ = self.card(judge, pair)
            remaining -= 500 + sum(map(len, [*(card_["summary"] or ()), *(card_["text"] or ())]))
            if cards and remaining < 0:
                break
            cards.append(card_)
        return cards, {name: self.query(name) for name in {card["query"] for card in cards}}


def pieces(summary: Summary) -> list[str]:
    """Split a summary at its highlights: alternately plain and highlighted pieces, starting with a plain one.

    >>> pieces(Summary("a wing lifts", ((2, 6),)))
    ['a ', 'wing', ' lifts']
    """
    made: list[str] = []
    done = 0
    for begin, end in summary.highlights:
        made += [showable(summary.text[done:begin]), showable(summary.text[begin:end])]
        done = end
    return [*made, showable(summary.text[done:])]


def bounds(length: int) -> list[tuple[int, int]]:
    """Return the bounds of the parts of a text of the given length.

    >>> bounds(30_000)
    [(0, 6000), (6000, 26000), (26000, 30000)]
    """
    limits = [0, *range(FIRST_PART, length, NEXT_PARTS), length] if length else []
    return list(pairwise(limits))


def _between_words(text: str, position: int) -> int:
    """Move a position to the preceding blank, if one is near."""
    if position in (0, len(text)):
        return position
    blank = max(text.rfind(blank, position - 200, position) for blank in " \n\t")
    return position if blank < 0 else blank + 1
