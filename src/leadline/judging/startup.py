"""Preparation of a judging page from pool, texts, queries and store, and of judgments by simulated judges."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from secrets import token_hex
from typing import Any, NamedTuple

import numpy as np

from leadline.data.ids import is_utf8
from leadline.data.judgment_tables import DrawnPool, Pooled
from leadline.data.table import ResultWarning, raised
from leadline.data.validation import check_numbers
from leadline.data.wording import counted, first_few, listed_few, percent
from leadline.data.wording import queries as count_queries
from leadline.errors import InputError, UsageError, either
from leadline.evaluation.profiles import profile_of
from leadline.io.judgment_store import DRAWN
from leadline.io.objects import read_qrels
from leadline.io.pool_files import read_drawn_pool
from leadline.io.read import QrelsLike
from leadline.io.run_names import IR_DATASETS, STANDARD_INPUT
from leadline.io.texts import read_queries
from leadline.judging.documents import Cards, open_texts
from leadline.judging.events import (
    DEFAULT,
    FORMS,
    HIGHEST,
    MOST_GRADES,
    Event,
    Grade,
    check_judge,
    parse_scale,
    written,
)
from leadline.judging.half_widths import Precision, fixed_facts, parse_rule
from leadline.judging.queue import Queues
from leadline.judging.store import JudgingPair, Store

OVERLAP = 0.1


class JudgingPage(NamedTuple):
    """A judging page that is ready to be served."""

    store: Store
    queues: Queues
    cards: Cards
    warnings: list[ResultWarning]
    precision: Precision | None = None

    def app(self, *, token: str | None = None, local: bool = True) -> Any:
        """Return the web application."""
        from leadline.judging.app import make_app

        return make_app(self.queues, self.cards, self.precision, token=token, local=local)

    def facts(self) -> list[str]:
        """Return a summary: what is judged, by whom, and how."""
        pairs = self.queues.pairs.values()
        judged = {pair for acts in self.queues.judgments().values() for pair in acts}
        queries = count_queries(len({pair.query for pair in pairs}))
        done = len(judged & self.queues.pairs.keys())
        facts = [
            f"{counted(len(pairs), 'pair')} for {queries}, {done:,} judged",
            f"grades {written(self.store.grades)}; content: {' or '.join(self.cards.forms)}",
        ]
        if self.queues.named:
            several = len(self.queues.named) > 1
            share = f"; {percent(self.queues.overlap)} of the pairs go to two judges" * several
            facts.append(f"{'judges' if several else 'judge'} {', '.join(self.queues.named)}{share}")
        if self.precision is not None:
            facts += self.precision.facts()
        return facts


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
    stop_when: str | None = None,
    looks: int | None = None,
    on_document: Callable[[int, int], None] | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Iterator[JudgingPage]:
    """Open or create a store for judging, and add the new pairs of the pool, by default the one it keeps.

    Pairs whose query or document has no text are kept in the store, excluded from the queues, and counted.
    The pairs of a pool of `leadline pool --for` are judged in its order, except those that were judged when
    it was drawn, which are left out.
    """
    chosen, names = check_forms(forms), check_judges(judges, overlap)
    reading = dict(reading or {})
    rows, drawn = (None, None) if pool is None else pooled(pool)
    pairs: list[JudgingPair] = []
    if not is_new(store):
        pairs, kept = _kept(store, drawn, grades, seed)
        drawn = kept if rows is None else drawn
    if rows is None and not pairs:
        raise UsageError(f"no pool was given, and the store {store} has no pairs to judge. Pass POOL.")
    if stop_when is not None and (drawn is None or "measures" not in drawn.design):
        raise UsageError("--stop-when needs a pool drawn with `leadline pool --for`")
    rule = fixed = None
    if stop_when is not None and drawn is not None:  # before a store is created
        rule = parse_rule(stop_when, drawn.design["measures"], drawn.design.get("rel"))
    if is_new(store):
        check_scale(drawn, parse_scale(grades or DEFAULT))
    before = 0 if drawn is None else int(drawn.judged_before.sum())
    if before and stop_when is not None:
        raise UsageError(
            f"a stopping rule requires all judgments to be in the store, but {counted(before, 'pair')} had "
            "been judged before the draw. Use a pool drawn without --judged."
        )
    topics = {query.id: query for query in read_queries(queries, **reading)}
    if not (os.path.exists(docs) or docs == STANDARD_INPUT or docs.startswith(IR_DATASETS)):
        raise InputError("no such file", path=docs)  # before a store is created
    if rows is not None:
        more = zip(rows.queries, rows.documents, rows.probability.tolist(), strict=True)
        pairs += [JudgingPair(0, *row) for row in more]
    documents = {pair.document for pair in pairs}
    with closing(open_texts(docs, documents, on_document=on_document, **reading)) as texts:
        missing = list(_missing(pairs, topics, texts.ids, docs, queries))  # before the store is changed

        def is_shown(pair: JudgingPair) -> bool:
            return pair.query in topics and pair.document in texts.ids

        if pairs and not any(map(is_shown, pairs)):
            raise InputError(
                "no pooled pair has both a query with a text and a document with a text",
                hint="Check that the ids match those in --queries and --docs.",
            )
        with closing(Store.open(store, grades=grades, seed=seed)) as opened_store:
            if rule is not None and drawn is not None:
                # before the pairs of another pool are added
                fixed = fixed_facts(opened_store, drawn, rule, looks)
            warnings = [*([] if rows is None else fill(opened_store, rows, drawn)), *missing]
            pair_ids = {pair.id for pair in opened_store.pairs() if is_shown(pair)}
            share = OVERLAP if overlap is None else overlap
            queues = Queues(opened_store, judges=names, overlap=share, known=pair_ids)
            cards = Cards(texts, topics, forms=chosen, analysis=analysis, seed=opened_store.seed)
            warnings += _changed(opened_store, queues, cards)
            precision = None
            warnings += _judged_before(drawn)
            if drawn is not None and not before and "measures" in drawn.design:
                precision = Precision(drawn, queues, rule=rule, fixed=fixed)
            opened_store.checkpoint()
            yield JudgingPage(opened_store, queues, cards, warnings, precision)


def _kept(
    store: str, drawn: DrawnPool | None, grades: str | None, seed: int | None
) -> tuple[list[JudgingPair], DrawnPool | None]:
    """Return the pairs and the drawn pool of a store; raise UsageError if its scale does not suit a pool."""
    with closing(Store.open(store, grades=grades, seed=seed)) as opened_store:
        check_scale(drawn, opened_store.grades, store)
        return opened_store.pairs(), opened_store.pool()


def pooled(path: str) -> tuple[Pooled, DrawnPool | None]:
    """Read the pairs to judge, and the draw if any; raise InputError for ids that a store cannot hold."""
    drawn = read_drawn_pool(path)
    pooled = drawn.pairs(np.flatnonzero(drawn.drawn & ~drawn.judged_before).tolist())
    for name in (*pooled.queries, *pooled.documents):
        if not is_utf8(name):
            raise InputError(
                f"the id {name[:40]!r} cannot be written in UTF-8, so a store cannot contain it", path=path
            )
    return pooled, drawn if drawn.design else None


def fill(store: Store, rows: Pooled, drawn: DrawnPool | None) -> list[ResultWarning]:
    """Add the pairs of a pool and its order; warn of new pairs beside others, and of those no longer kept."""
    before = len(store.pairs())
    added = store.add_pairs(zip(rows.queries, rows.documents, rows.probability.tolist(), strict=True))
    shares = rows.probability if drawn is None else drawn.probability
    if (shares < 1).any() or (drawn is not None and drawn.judged_before.any()):
        store.set_fact(DRAWN, "yes")
    message = f"added {counted(added, 'pair')} to the {before:,} already in the store"
    warnings = raised(("new_pairs", message, added if before else 0))
    if drawn is not None:
        earlier = store.pool() or drawn
        lost = len(earlier.drawn_rows().keys() - drawn.drawn_rows().keys())
        store.set_pool(drawn)
        message = (
            "the store now keeps this pool instead of an earlier one, so estimates exclude "
            f"{counted(lost, 'pair')} of the earlier pool. To keep both pools, use two stores"
        )
        warnings += raised(("replaced_pool", message, lost))
    return warnings


def _judged_before(drawn: DrawnPool | None) -> list[ResultWarning]:
    """Return a warning about pairs of a pool that were judged before it was drawn."""
    before = 0 if drawn is None else int(drawn.judged_before.sum())
    message = (
        f"{counted(before, 'pair')} of the pool had been judged before the draw, so only the other pairs are "
        "judged, and the page shows no half-widths. Merge the earlier judgments with those of the store "
        "before you evaluate (docs/judging.md)"
    )
    return raised(("judged_before", message, before))


def _missing(
    pairs: Sequence[JudgingPair], queries: Any, documents: Any, docs: str, topics: str
) -> Iterator[ResultWarning]:
    """Return warnings about queries and documents without a text; raise InputError if none has one."""
    for code, noun, path, missing in (
        ("unknown_queries", "query", topics, {p.query for p in pairs if p.query not in queries}),
        ("unknown_documents", "document", docs, {p.document for p in pairs if p.document not in documents}),
    ):
        whole = {getattr(pair, noun) for pair in pairs}
        if whole and len(missing) == len(whole):
            raise InputError(
                f"there is no text for any pooled {noun} (for example, '{min(missing)}')",
                path=path,
                hint="Check that the ids match those of the pool.",
            )
        if missing:
            count = counted(len(missing), f"pooled {noun}", "pooled queries" if noun == "query" else "")
            message = f"left out {count} missing from {path} ({first_few(sorted(missing))})"
            yield ResultWarning(code, message, len(missing))


def _changed(store: Store, queues: Queues, cards: Cards) -> Iterator[ResultWarning]:
    """Return a warning about documents whose text has changed since it was judged."""
    now: dict[str, str] = {}
    changed = set()
    for number, digest in store.digests():
        pair = queues.pairs.get(number)
        if pair is not None:
            if pair.document not in now:
                now[pair.document] = cards.texts.digest(pair.document)
            if now[pair.document] != digest:
                changed.add(pair.document)
    if changed:
        count = counted(len(changed), "judged document whose text has", "judged documents whose texts have")
        message = f"kept the grades of {count} changed since ({first_few(sorted(changed))})"
        yield ResultWarning("changed_texts", message, len(changed))


def is_new(store: str) -> bool:
    """Return whether a store is yet to be created; the lock makes an empty file for it."""
    return not os.path.exists(store) or not os.path.getsize(store)


def check_scale(drawn: DrawnPool | None, grades: Sequence[Grade], store: str = "") -> None:
    """Raise UsageError for a scale whose grades are all below the relevant ones of a measure of the pool."""
    highest = max(grade.value for grade in grades)
    measures = [] if drawn is None else list(drawn.design.get("measures", ()))
    for measure in profile_of("leadline").measures(measures) if measures else ():
        level = getattr(measure, "rel", None)
        if level is not None and level > HIGHEST:
            raise UsageError(
                f"the pool is for {measure}, but judges cannot give a grade above {HIGHEST}. Draw the pool "
                f"for a measure with rel={HIGHEST} or less."
            )
        if level is not None and level > highest:
            where, how = (
                (f"on the scale of {store}", "Use a new store and") if store else ("on the scale", "Pass")
            )
            raise UsageError(
                f"the pool is for {measure}, but the highest grade {where} is {highest}. {how} --grades with "
                f'a grade of {level:g} or more (at most {HIGHEST}), such as "0=no,{math.ceil(level)}=yes".'
            )


def check_forms(text: str) -> tuple[str, ...]:
    """Parse the forms of presentation.

    >>> check_forms("static, dynamic")
    ('static', 'dynamic')
    """
    forms = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    wrong = [form for form in forms if form not in FORMS]
    if wrong:
        raise UsageError(f"unknown content '{wrong[0]}'. Use {either(FORMS)}.")
    return forms


def check_judges(text: str | None, overlap: float | None) -> tuple[str, ...]:
    """Parse the names of judges.

    >>> check_judges("ann, bob", None)
    ('ann', 'bob')
    """
    if overlap is not None:
        check_numbers(overlap=overlap)
    if text is None:
        if overlap is not None:
            raise UsageError("--overlap needs --judges NAMES")
        return ()
    names = tuple(check_judge(name) for name in text.split(","))
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"two judges are both named '{twice[0]}'. Give each a different name.")
    if overlap and len(names) < 2:
        raise UsageError(f"--overlap {overlap:g} needs at least two judges, as in --judges ann,bob")
    return names


JUDGE = "simulated"
BATCH = 500  # events per transaction


class SimulatedJudgments(NamedTuple):
    """What simulated judges added to a store.

    `judges` has the number of new judgments of each judge, and `unjudged` counts the pairs among them that
    the known judgments lack. They have grade 0. `queries` counts the queries of the store without one.
    """

    judges: dict[str, int]
    unjudged: int
    queries: int
    warnings: list[ResultWarning]


def simulate(
    pool: str,
    store: str,
    judgments: QrelsLike,
    *,
    grades: str | None = None,
    judges: str | None = None,
    overlap: float | None = None,
    seed: int | None = None,
) -> SimulatedJudgments:
    """Judge a pool with the grades of known judgments, in the order in which people would judge it.

    A pair that the judgments lack gets grade 0, as does a negative grade. Other grades that are not on the
    scale, such as fractions, are refused. A new store has `grades`, by default 0 and the grades of the
    judgments, and `seed`. By default there is one judge, "simulated"; with several, a second judge grades
    `overlap` of the pairs, by default 0.1.
    """
    names = check_judges(JUDGE if judges is None else judges, overlap)
    share = OVERLAP if overlap is None else overlap
    known = read_qrels(judgments).to_dict()
    rows, drawn = pooled(pool)
    pairs = zip(rows.queries, rows.documents, strict=True)
    given = {_given(known, query, document) for query, document in pairs}
    if is_new(store):
        grades = _scale(known, given) if grades is None else grades
        check_given(given, parse_scale(grades))
    with closing(Store.open(store, grades=grades, seed=seed)) as opened:
        given |= {_given(known, pair.query, pair.document) for pair in opened.pairs()}
        check_given(given, opened.grades, store)
        warnings = fill(opened, rows, drawn) + _judged_before(drawn)
        queues = Queues(opened, judges=names, overlap=share if len(names) > 1 else 0.0)
        counts = dict.fromkeys(names, 0)
        unjudged, more = set[int](), True
        while more:  # a second judge of a drawn pair waits for the first
            more = False
            for judge in names:
                queues.join(judge)
                events = []
                for pair in queues.upcoming(judge, BATCH):
                    grade = _given(known, pair.query, pair.document)
                    unjudged |= set() if pair.document in known.get(pair.query, {}) else {pair.id}
                    events.append(Event(token_hex(16), "judge", pair.id, grade=int(grade), shown="full"))
                queues.append(judge, events)
                counts[judge] += len(events)
                more |= bool(events)
        opened.checkpoint()
        queries = {pair.query for pair in opened.pairs()} - known.keys()
    return SimulatedJudgments(counts, len(unjudged), len(queries), warnings)


def _given(known: Mapping[str, Mapping[str, float]], query: str, document: str) -> float:
    """Return the grade that a simulated judge gives."""
    return max(0, known.get(query, {}).get(document, 0))


def check_given(given: set[float], grades: Sequence[Grade], store: str = "") -> None:
    """Raise UsageError for grades of simulated judges that are not on the scale."""
    missing = sorted(given - {grade.value for grade in grades})
    if missing:
        them = "the grades" if len(missing) > 1 else "the grade"
        where, how = f"of {store}" if store else "in --grades", ""
        if missing[-1] > HIGHEST or any(grade % 1 for grade in missing):
            how = f"Use judgments whose grades are whole numbers from 0 to {HIGHEST}"
        elif len(given) > MOST_GRADES:
            how = f"Use judgments with at most {MOST_GRADES} different grades"
        if store:
            how = f"{how}, and another store" if how else "Use another store"
        how = how or f"Add {them} to --grades"
        shown = listed_few([f"{grade:g}" for grade in missing], MOST_GRADES)
        raise UsageError(
            f"simulated judges would give {them} {shown}, which {'are' if len(missing) > 1 else 'is'} not on "
            f"the scale {where} ({written(tuple(grades))}). {how}."
        )


def _scale(known: Mapping[str, Mapping[str, float]], given: set[float]) -> str:
    """Return the scale of a new store: 0, 1 and all grades of the judgments, or those given if too many."""
    every = {max(0, grade) for of_query in known.values() for grade in of_query.values()}
    for wanted in ({0, 1} | every, {0, 1} | given, given):
        values = sorted(wanted)
        whole = all(value in range(HIGHEST + 1) for value in values)
        if 2 <= len(values) <= MOST_GRADES and whole:
            return ",".join(f"{value:g}=grade {value:g}" for value in values)
    shown = first_few([f"{value:g}" for value in values], 6)
    raise UsageError(
        f"simulated judges would need the grades {shown}, but a store has at most {MOST_GRADES} grades, "
        f"all whole numbers from 0 to {HIGHEST}. Use judgments within these limits."
    )
