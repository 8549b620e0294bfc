"""Texts of the documents of a pool, looked up one at a time, and what the judging page shows of them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple

from leadline.data.arrays import hashed_uniform
from leadline.data.ids import to_bytes
from leadline.errors import InputError, LeadlineError, repeated
from leadline.io.texts import ONE_EACH, Document, read_documents
from leadline.judging.store import JudgingPair
from leadline.text import ANALYSES, Analysis
from leadline.text.summaries import UNSHOWN, Summary, dynamic_summary, matches, static_summary

# Fields that could reveal to a judge which system retrieved a document, or its rank.
TELLING = {"rank", "score", "run", "runs", "system", "systems", "tag", "grade", "relevance", "probability"}
LONGEST_FACT = 200
MOST_FACTS = 6
KEPT = 16  # texts in memory
CHANGED = "was changed, moved or deleted while the server was running"


class Text(NamedTuple):
    """Title, text and other fields of a document."""

    title: str
    text: str
    facts: tuple[tuple[str, str], ...] = ()


def digest(text: Text) -> str:
    """Return a digest of the title and text of a document, 16 hexadecimal digits.

    >>> digest(Text("a", "b")) == digest(Text("a", "b")) != digest(Text("ab", ""))
    True
    """
    size = f"{len(text.title)} ".encode()
    whole = f"{text.title}{text.text}".encode("utf-8", "surrogatepass")
    return blake2b(size + whole, digest_size=8).hexdigest()


def open_texts(
    source: str,
    documents: Collection[str],
    *,
    on_document: Callable[[int, int], None] | None = None,
    **reading: Any,
) -> FileTexts | IndexTexts:
    """Open a file or folder of documents, or an index that stores texts, for the documents of a pool."""
    from leadline.retrieval.index.index_files import holds_index

    if holds_index(source):
        return IndexTexts(source, documents)
    return FileTexts(source, documents, on_document=on_document, **reading)


class FileTexts:
    """Texts from a document file of any format; those of the pool are copied to a temporary file."""

    def __init__(
        self,
        source: str,
        pooled: Collection[str],
        *,
        on_document: Callable[[int, int], None] | None = None,
        **reading: Any,
    ) -> None:
        # Offset, length and digest of each text; the copy does not change, so one digest serves all saves.
        self.places: dict[str, tuple[int, int, str]] = {}
        self._lock = Lock()
        self._file = tempfile.TemporaryFile(prefix="leadline-")  # noqa: SIM115  # as long as this object
        try:
            self._copy(source, pooled, on_document, reading)
        except BaseException:
            self.close()
            raise
        self._kept = lru_cache(maxsize=KEPT)(self._read)

    def _copy(
        self,
        source: str,
        pooled: Collection[str],
        on_document: Callable[[int, int], None] | None,
        reading: Mapping[str, Any],
    ) -> None:
        """Copy the documents of a pool; in a folder, `184.txt` may be document 184."""
        folder, count = os.path.isdir(source), 0
        for count, document in enumerate(read_documents(source, **reading), start=1):
            name = document.id
            stem, suffix = os.path.splitext(name)
            if folder and name not in pooled and suffix.lower() in ONE_EACH:
                name = stem
            if name in self.places:
                raise repeated(f"document '{name}'", path=source)
            if name in pooled:
                record = [document.title, document.text, facts_of(document.more)]
                line = json.dumps(record).encode()
                seen = digest(Text(document.title, document.text))
                self.places[name] = self._file.tell(), len(line), seen
                self._file.write(line)
            if on_document is not None:
                on_document(count, 0)
        if not count:
            raise InputError("contains no documents", path=source)
        self._file.flush()

    @property
    def ids(self) -> Collection[str]:
        """Ids of the documents of the pool that are available."""
        return self.places.keys()

    def get(self, name: str) -> Text:
        """Return the text of a document."""
        return self._kept(name)

    def digest(self, name: str) -> str:
        """Return the digest of the text of a document."""
        return self.places[name][2]

    def _read(self, name: str) -> Text:
        begin, size, _ = self.places[name]
        with self._lock:
            self._file.seek(begin)
            line = self._file.read(size)
        title, text, facts = json.loads(line)
        return Text(title, text, tuple((label, value) for label, value in facts))

    def close(self) -> None:
        """Delete the copy."""
        self._file.close()


class IndexTexts:
    """Texts stored in an index.

    An index rebuilt while it is open is rejected, since its documents may have other positions.
    """

    def __init__(self, path: str, pooled: Collection[str]) -> None:
        from leadline.retrieval.index import open_index

        self.index = open_index(path)
        self._sizes = self._sizes_now()
        names = sorted(pooled)
        codes = self.index.document_codes(map(to_bytes, names)).tolist()
        self.codes = {name: code for name, code in zip(names, codes, strict=True) if code >= 0}
        if self.codes:
            self.index.text(next(iter(self.codes.values())))  # raises an error for an index without texts

    @property
    def ids(self) -> Collection[str]:
        """Ids of the documents of the pool that are available."""
        return self.codes.keys()

    def get(self, name: str) -> Text:
        """Return the text of a document."""
        code = self.codes[name]
        try:
            self._check()
            record = self.index.record(code)
            content = self.index.text(code)
        except LeadlineError:
            raise
        except (OSError, ValueError, LookupError, TypeError) as error:
            self._check()
            raise self._changed(f"cannot be read ({type(error).__name__})") from None
        self._check()
        title = record.pop("title", "") or ""
        text = content.decode("utf-8", "replace")
        return Text(title, text.removeprefix(f"{title}\n") if title else text, facts_of(record))

    def digest(self, name: str) -> str:
        """Return the digest of the text of a document, as it is now."""
        return digest(self.get(name))

    def _sizes_now(self) -> dict[str, int]:
        """Return the size of each file of the index; empty if the folder is gone."""
        try:
            with os.scandir(self.index.path) as files:
                return {file.name: file.stat().st_size for file in files}
        except OSError:
            return {}

    def _check(self) -> None:
        """Reject an index other than the one opened; an identical rebuild is accepted."""
        try:
            self.index.check_unchanged()
        except InputError:
            raise self._changed(CHANGED) from None
        if self._sizes_now() != self._sizes:  # a file that is mapped and cut shows other bytes
            raise self._changed(CHANGED)

    def _changed(self, change: str) -> InputError:
        return InputError(
            f"the index {change}",
            path=self.index.path,
            hint="Stop the server and start it again with a complete index.",
        )

    def close(self) -> None:
        """Release nothing."""


def facts_of(more: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the fields shown to judges: short ones that do not reveal where a document was found.

    >>> facts_of({"url": "a.example", "rank": "3", "body": "x" * 1000, "author": ""})
    (('url', 'a.example'),)
    """
    facts = [
        (str(name), value)
        for name, value in more.items()
        if isinstance(value, str)
        and 0 < len(value.strip()) <= LONGEST_FACT
        and str(name).lower() not in TELLING
    ]
    return tuple(facts[:MOST_FACTS])


def showable(text: str) -> str:
    """Replace control characters and unpaired surrogates."""
    return UNSHOWN.sub("\ufffd", text)


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
        texts: FileTexts | IndexTexts,
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
        return self._shown(pair, self.form(judge, pair), self.texts.digest(pair.document)).copy()

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
