"""Bring pool, texts, queries and store together: what a judging page needs, and what does not fit said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from leadline.data.ids import is_utf8
from leadline.data.results import ResultWarning
from leadline.data.validation import check_numbers
from leadline.data.wording import counted, percent
from leadline.data.wording import queries as count_queries
from leadline.errors import InputError, UsageError
from leadline.io.pool_files import Pooled, read_pool
from leadline.io.texts import read_queries
from leadline.judging.cards import Cards
from leadline.judging.documents import open_texts
from leadline.judging.events import FORMS, check_judge, written
from leadline.judging.queue import Queues
from leadline.judging.store import JudgingPair, Store

OVERLAP = 0.1


class Opened(NamedTuple):
    """A judging page that is ready to be served."""

    store: Store
    queues: Queues
    cards: Cards
    warnings: list[ResultWarning]

    def app(self, *, token: str | None = None, local: bool = True) -> Any:
        """Give the web application."""
        from leadline.judging.app import make_app

        return make_app(self.queues, self.cards, token=token, local=local)

    def facts(self) -> list[str]:
        """Say what is judged, by whom and how."""
        pairs = self.queues.pairs.values()
        judged = {pair for acts in self.queues.judgments().values() for pair in acts}
        wanted = count_queries(len({pair.query for pair in pairs}))
        done = len(judged & self.queues.pairs.keys())
        found = [
            f"{counted(len(pairs), 'document')} of {wanted}, {done:,} judged",
            f"grades {written(self.store.grades)}; shown: {' or '.join(self.cards.forms)}",
        ]
        if self.queues.named:
            share = percent(self.queues.overlap)
            found.append(f"judges {', '.join(self.queues.named)}; {share} of the pairs go to two")
        return found


@contextmanager
def opened(
    pool: str | None,
    docs: str,
    queries: str,
    store: str,
    *,
    grades: str | None = None,
    seed: int | None = None,
    forms: str = "full",
    judges: str | None = None,
    overlap: float | None = None,
    analysis: str = "Words",
    on_document: Callable[[int, int], None] | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Iterator[Opened]:
    """Open a store for judging; make it where there is none, and add the pairs of the pool that are new.

    Pairs whose query or document has no text are kept in the store, left out of the queues, and counted.
    """
    chosen, names = check_forms(forms), check_judges(judges, overlap)
    reading = dict(reading or {})
    rows = None if pool is None else _pooled(pool)
    asked = {query.id: query for query in read_queries(queries, **reading)}
    with closing(Store.open(store, grades=grades, seed=seed)) as found:
        warnings = [] if rows is None else _added(found, rows)
        pairs = found.pairs()
        wanted = {pair.document for pair in pairs}
        with closing(open_texts(docs, wanted, on_document=on_document, **reading)) as texts:
            warnings += _missing(pairs, asked, texts.ids, docs, queries)
            known = {pair.id for pair in pairs if pair.query in asked and pair.document in texts.ids}
            share = OVERLAP if overlap is None else overlap
            queues = Queues(found, judges=names, overlap=share, known=known)
            cards = Cards(texts, asked, forms=chosen, analysis=analysis, seed=found.seed)
            warnings += _changed(found, queues, cards)
            found.checkpoint()
            yield Opened(found, queues, cards, warnings)


def _pooled(path: str) -> Pooled:
    """Read a pool whose ids a store can hold."""
    found = read_pool(path)
    for name in (*found.queries, *found.documents):
        if not is_utf8(name):
            raise InputError(
                f"id {name[:40]!r} is not UTF-8", expected="ids that a store can hold", path=path
            )
    return found


def _added(store: Store, rows: Pooled) -> list[ResultWarning]:
    """Add the pairs of a pool; tell how many are new where there were some."""
    before = len(store.pairs())
    added = store.add_pairs(zip(rows.queries, rows.documents, rows.probability.tolist(), strict=True))
    words = f"pairs that are new in the store: {added:,}; {before:,} were there"
    return [ResultWarning("new_pairs", words, added)] if before and added else []


def _missing(
    pairs: Sequence[JudgingPair], queries: Any, documents: Any, docs: str, asked: str
) -> Iterator[ResultWarning]:
    """Tell of queries and documents without a text; refuse when nothing can be shown."""
    for code, noun, path, missing in (
        ("unknown_queries", "query", asked, {p.query for p in pairs if p.query not in queries}),
        ("unknown_documents", "document", docs, {p.document for p in pairs if p.document not in documents}),
    ):
        whole = {getattr(pair, noun) for pair in pairs}
        if whole and len(missing) == len(whole):
            raise InputError(
                f"has no {noun} of the pool, not even '{min(missing)}'", expected="the same ids", path=path
            )
        if missing:
            many = counted(len(missing), noun, "queries" if noun == "query" else "")
            words = f"{many} of the pool not in {path}, as '{min(missing)}'; not shown to judges"
            yield ResultWarning(code, words, len(missing))


def _changed(store: Store, queues: Queues, cards: Cards) -> Iterator[ResultWarning]:
    """Tell of documents whose text is no longer the one that was judged."""
    now: dict[str, str] = {}
    changed = set()
    for number, digest in store.digests():
        pair = queues.pairs.get(number)
        if pair is not None:
            if pair.document not in now:
                now[pair.document] = cards.digest(pair)
            if now[pair.document] != digest:
                changed.add(pair.document)
    if changed:
        many = counted(len(changed), "judged document")
        words = f"{many} with another text than was judged, as '{min(changed)}'; the judgments stay"
        yield ResultWarning("changed_texts", words, len(changed))


def check_forms(text: str) -> tuple[str, ...]:
    """Read which forms of presentation are wanted.

    >>> check_forms("static, dynamic")
    ('static', 'dynamic')
    """
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    wrong = [one for one in found if one not in FORMS]
    if wrong:
        raise UsageError(f"shown form '{wrong[0]}'; expected {', '.join(FORMS)}")
    return found


def check_judges(text: str | None, overlap: float | None) -> tuple[str, ...]:
    """Read the names of judges.

    >>> check_judges("ann, bob", None)
    ('ann', 'bob')
    """
    if overlap is not None:
        check_numbers(overlap=overlap)
    if text is None:
        if overlap is not None:
            raise UsageError("a share that two judge, but no judges; expected --judges NAMES with --overlap")
        return ()
    names = tuple(check_judge(name) for name in text.split(","))
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"two judges called '{twice[0]}'; expected a name for each")
    if overlap and len(names) < 2:
        raise UsageError(f"one judge, but a share of {overlap:g} for two; expected another in --judges")
    return names
