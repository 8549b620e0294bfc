"""The queues of the judges: which pair comes next."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from threading import Lock, RLock
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Hashes, Integers, document_keys, hashed_uniform, sampling_keys, shuffled
from leadline.errors import UsageError
from leadline.judging.events import Event, check_judge
from leadline.judging.serving import RateLimit, TooManyError
from leadline.judging.store import Act, JudgingPair, Store


def deal(
    judges: Sequence[str],
    pairs: Iterable[JudgingPair],
    before: Mapping[str, str],
    acts: Iterable[Act],
    *,
    seed: int,
) -> dict[str, str]:
    """Assign queries without a judge, or to be reassigned, to judges.

    A query stays with its judge as long as the judge is listed; for a new judge, queries not begun are
    reassigned. Unassigned queries go, largest first, to the judge with the fewest pairs.

    >>> pairs = [JudgingPair(number, f"q{number}", "d", 1.0) for number in range(4)]
    >>> sorted(deal(["ann", "bob"], pairs, {}, [], seed=0).values())
    ['ann', 'ann', 'bob', 'bob']
    """
    pairs = list(pairs)
    size = Counter(pair.query for pair in pairs)
    of_pair = {pair.id: pair.query for pair in pairs}
    begun = {(of_pair[act.pair], act.judge) for act in acts if act.pair in of_pair}
    newcomers = set(judges) - set(before.values())
    assigned = {
        query: judge
        for query, judge in before.items()
        if judge in judges and query in size and (not newcomers or (query, judge) in begun)
    }
    load = Counter(dict.fromkeys(judges, 0))
    for query, judge in assigned.items():
        load[judge] += size[query]
    made: dict[str, str] = {}
    for query in sorted(
        size.keys() - assigned.keys(), key=lambda name: (-size[name], hashed_uniform(seed, name))
    ):
        judge = min(judges, key=lambda name: (load[name], hashed_uniform(seed, name, query)))
        load[judge] += size[query]
        made[query] = judge
    return {query: judge for query, judge in made.items() if before.get(query) != judge}


def second(judges: Sequence[str], owner: str, pair: JudgingPair, *, seed: int, overlap: float) -> str | None:
    """Return the second judge of a pair, or None: a proportion of the pairs has one, selected by hash.

    A larger proportion includes all pairs of a smaller one.
    """
    names = (pair.query, pair.document)
    if hashed_uniform(seed, "overlap", *names) >= overlap:
        return None
    candidates = [judge for judge in judges if judge != owner]
    return min(candidates, key=lambda judge: hashed_uniform(seed, "second", judge, *names), default=None)


MOST_JUDGES = 1000  # self-registered
ALWAYS_JUDGES = 20
MOST_PLACES = 20_000_000  # judges times pairs: each queue takes about 100 bytes a pair
NEW_AT_ONCE = 200  # a class that begins together
NEW_EVERY = 3.0  # seconds, after that


class QueueCount(NamedTuple):
    """Progress of a judge: pairs judged, pairs in the queue, and pairs skipped for now."""

    done: int
    total: int
    skipped: int


class _JudgeQueue:
    """Order of the pairs of one judge, and the position reached."""

    def __init__(self, order: list[int]) -> None:
        self.order = order
        self.place = {pair: index for index, pair in enumerate(order)}
        self.first = 0  # before it nothing is open
        self.done = 0  # judged pairs that are in the order
        self.judged: dict[int, Act] = {}
        self.skipped: dict[int, int] = {}  # by the event
        self.waiting = False

    def update(self, pair: int, acts: Sequence[Act]) -> None:
        """Update the current judgment of a pair."""
        judged = [act for act in acts if act.kind == "judge"]
        was_judged = self.judged.pop(pair, None) is not None
        self.skipped.pop(pair, None)
        if judged:
            self.judged[pair] = judged[-1]
        elif acts:
            self.skipped[pair] = acts[-1].id
        self.first = min(self.first, self.place.get(pair, self.first))
        self.done += (bool(judged) - was_judged) if pair in self.place else 0


class Queues:
    """Queues of all judges over a store; state is written to disk before it is reported.

    With `judges`, queries are assigned to judges, and a proportion `overlap` of the pairs to two of them;
    without, every judge who enters a name judges all pairs. Each queue goes query by query, in an order given
    by a hash of seed, judge and pair; but the pairs of a drawn pool come first, in its order.

    `limit` is the order from which on pairs are held back until the stopping rule has been evaluated (interim
    look).
    """

    def __init__(
        self,
        store: Store,
        *,
        judges: Sequence[str] = (),
        overlap: float = 0.0,
        known: Collection[int] | None = None,
    ) -> None:
        self.store = store
        self.named = list(judges)
        self.overlap = overlap
        self.pairs = {pair.id: pair for pair in store.pairs() if known is None or pair.id in known}
        self.version = time.time_ns() // 1_000_000  # rises with every save, also over a restart
        self.limit = math.inf
        self.stopped = ""  # why there is nothing more to judge
        self._lock = RLock()
        self._saving = Lock()  # queues take what was saved in the order of the transactions
        self._lines: dict[str, _JudgeQueue] = {}
        acts = store.acts()
        self._assigned = self._deal(acts)
        self._judges_of: dict[int, set[str]] = {}
        self._foreign: set[int] = set()  # pairs judged by someone they are no longer assigned to
        self._present = set(store.judges())
        self._arrivals = RateLimit(NEW_AT_ONCE, NEW_EVERY)
        for judge in dict.fromkeys([*self.named, *store.judges()]):
            self._lines[judge] = self._line(judge)
        of: dict[tuple[str, int], list[Act]] = {}
        for act in acts:
            of.setdefault((act.judge, act.pair), []).append(act)
        for (judge, number), acts_on_pair in of.items():
            self._take(judge, number, acts_on_pair)

    def _deal(self, acts: Iterable[Act]) -> Mapping[int, tuple[str, ...]]:
        """Return the judges of each pair; empty if everyone judges all."""
        if not self.named:
            return {}
        seed = self.store.seed
        pairs, before = list(self.pairs.values()), self.store.deals()
        assigned = deal(self.named, pairs, before, acts, seed=seed)
        if assigned:
            self.store.add_deals(sorted(assigned.items()))
        owners = before | assigned
        judges_of: dict[int, tuple[str, ...]] = {}
        for pair in pairs:
            owner = owners[pair.query]
            twice = second(self.named, owner, pair, seed=seed, overlap=self.overlap)
            judges_of[pair.id] = (owner,) if twice is None else (owner, twice)
        return judges_of

    def _line(self, judge: str) -> _JudgeQueue:
        """Return the queue of a judge: drawn pairs in the order of the pool, then query by query."""
        drawn, rest, query, keys, of_queries = self._order
        name = judge.encode("utf-8", "surrogatepass")
        by_query = shuffled(of_queries, name)[query]
        order = drawn + rest[np.lexsort((shuffled(keys, name), query, by_query))].tolist()
        if self.named:
            order = [pair for pair in order if judge in self._assigned[pair]]
        return _JudgeQueue(order)

    @cached_property
    def _order(self) -> tuple[list[int], Integers, Integers, Hashes, Hashes]:
        """Drawn pairs in order; of the rest pairs, codes of their queries and keys; keys of all queries."""
        pairs = sorted(self.pairs.values(), key=lambda pair: (pair.order, pair.id))
        drawn = [pair.id for pair in pairs if pair.order < math.inf]
        rest = pairs[len(drawn) :]
        codes = {name: code for code, name in enumerate(dict.fromkeys(pair.query for pair in rest))}
        names = [name.encode("utf-8", "surrogatepass") for name in codes]
        seed = self.store.seed
        keys = [
            sampling_keys(names[codes[pair.query]], [pair.document.encode("utf-8", "surrogatepass")], seed)
            for pair in rest
        ]
        return (
            drawn,
            np.array([pair.id for pair in rest], dtype=np.int64),
            np.array([codes[pair.query] for pair in rest], dtype=np.int64),
            np.concatenate([*keys, np.zeros(0, np.uint64)]),
            document_keys(names, seed),
        )

    def _take(self, judge: str, pair: int, acts: Sequence[Act]) -> None:
        line = self._lines[judge]
        line.update(pair, acts)
        judges = self._judges_of.setdefault(pair, set())
        (judges.add if pair in line.judged else judges.discard)(judge)
        if self.named and judge not in self._assigned.get(pair, ()):
            self._foreign.add(pair)
        for other in self._lines.values() if pair in self._foreign else ():
            other.first = min(other.first, other.place.get(pair, other.first))

    @property
    def most_judges(self) -> int:
        """Return the limit on judges who enter their own name, which decreases with the number of pairs."""
        limit = MOST_PLACES // max(1, len(self.pairs))
        return max(ALWAYS_JUDGES, min(MOST_JUDGES, limit))

    def check(self, name: str) -> str:
        """Return the name of a judge who is admitted; only listed names if there is a list."""
        name = check_judge(name)
        if self.named and name not in self.named:
            raise UsageError(f"'{name}' is not on the list of judges")
        if not self.named and name not in self._present and len(self._present) >= self.most_judges:
            raise UsageError(
                f"there are already {len(self._present):,} judges, the maximum for this page. If you are "
                "one of them, enter the same name as before."
            )
        return name

    def join(self, name: str) -> str:
        """Admit a judge by name."""
        name = self.check(name)
        if name not in self._present:
            wait = 0 if self.named else self._arrivals.wait()
            if wait > 0:
                raise TooManyError("too many new judges are joining at once", wait)
            line = self._line(name)
            self.store.add_judge(name)
            with self._lock:
                if name not in self._present:
                    self.check(name)
                    self._arrivals.take()
                    self._lines.setdefault(name, line)
                    self._present.add(name)
        return name

    def append(self, judge: str, events: Sequence[Event]) -> None:
        """Save events of a judge."""
        (error,) = self.append_all([(judge, events)])
        if error is not None:
            raise error

    def append_all(self, sent: Sequence[tuple[str, Sequence[Event]]]) -> list[UsageError | None]:
        """Save events of several judges in one transaction; return why those of each were not saved."""
        with self._saving:
            saved = self.store.append_all(sent)
            with self._lock:
                for (judge, _), standing in zip(sent, saved, strict=True):
                    if not isinstance(standing, UsageError):
                        for pair, acts in standing.items():
                            self._take(judge, pair, acts)
                self.version += 1
        return [standing if isinstance(standing, UsageError) else None for standing in saved]

    def _is_open(self, judge: str, pair: int) -> bool:
        """Return whether a judge still has to judge a pair, considering substitutes."""
        if pair in self._lines[judge].judged:
            return False
        if not self.named:
            return True
        return len(self._judges_of.get(pair, ())) < len(self._assigned[pair])

    def _is_due(self, judge: str, pair: int) -> bool:
        """Return whether a judge may judge a pair now: a second judge of a drawn pair waits for the first."""
        if not self.named or self.pairs[pair].order == math.inf:
            return True
        return judge == self._assigned[pair][0] or bool(self._judges_of.get(pair))

    def settled(self) -> set[int]:
        """Return the pairs that were judged or skipped by somebody."""
        with self._lock:
            return {pair for line in self._lines.values() for pair in (*line.judged, *line.skipped)}

    def stop(self, reason: str) -> None:
        """Stop presenting pairs, except those that were skipped."""
        with self._lock:
            self.stopped = reason

    def upcoming(self, judge: str, count: int, holding: Collection[int] = ()) -> list[JudgingPair]:
        """Return the next pairs of a judge that the page does not hold; skipped pairs come last."""
        with self._lock:
            line = self._lines[judge]
            upcoming: list[int] = []
            closed, before_limit = True, False
            line.waiting = False
            for index in range(line.first, len(line.order)):
                pair = line.order[index]
                is_open = self._is_open(judge, pair)
                is_new = is_open and pair not in line.skipped and self._is_due(judge, pair)
                if is_new and self.stopped:
                    break
                if is_new and self.pairs[pair].order >= self.limit < math.inf and before_limit:
                    line.waiting = True  # for a look; but not where only other judges are behind
                    break
                before_limit |= is_new and self.pairs[pair].order < self.limit
                closed = closed and not is_open and pair not in line.skipped
                line.first = index + 1 if closed else line.first
                if is_new and pair not in holding:
                    upcoming.append(pair)
                    if len(upcoming) == count:
                        break
            if len(upcoming) < count and not line.waiting:
                later = sorted(line.skipped, key=line.skipped.__getitem__)
                upcoming += [
                    pair
                    for pair in later
                    if self._is_open(judge, pair) and pair not in holding and pair in line.place
                ]
            return [self.pairs[pair] for pair in upcoming[:count]]

    def is_waiting(self, judge: str) -> bool:
        """Return whether pairs of a judge were held back, when last asked for, until a look is taken."""
        return self._lines[judge].waiting

    def awaited(self, judge: str) -> dict[str, int]:
        """Return by whom pairs have to be judged before this judge, their second, and how many."""
        with self._lock:
            line = self._lines[judge]
            if self.stopped:
                return {}
            owners = [
                self._assigned[pair][0]
                for pair in line.order[line.first :]
                if pair not in line.skipped and self._is_open(judge, pair) and not self._is_due(judge, pair)
            ]
            return dict(Counter(owners).most_common())

    def left(self, judge: str) -> dict[str, int]:
        """Return how many pairs the other listed judges still have."""
        if self.stopped:
            return {}
        counts = {other: self.count(other) for other in self.named if other != judge}
        open_pairs = {other: count.total - count.done for other, count in counts.items()}
        return {other: count for other, count in open_pairs.items() if count}

    def remaining(self) -> bool:
        """Return whether a pair has nobody's judgment, or a listed judge has one left to judge."""
        counts = [self.count(judge) for judge in self.named]
        judged = [pair for acts in self.judgments().values() for pair in acts]
        return any(one.done < one.total for one in counts) or not self.pairs.keys() <= set(judged)

    def is_skipped(self, judge: str, pair: int) -> bool:
        """Return whether a judge skipped a pair before."""
        return pair in self._lines[judge].skipped

    def count(self, judge: str) -> QueueCount:
        """Return the progress of a judge."""
        with self._lock:
            line = self._lines[judge]
            settled = sum(
                pair in line.place and pair not in line.judged and not self._is_open(judge, pair)
                for pair in self._foreign
            )
            return QueueCount(line.done, len(line.order) - settled, len(line.skipped))

    def judgments(self) -> dict[str, dict[int, Act]]:
        """Return the current judgments of every judge."""
        with self._lock:
            return {judge: dict(line.judged) for judge, line in self._lines.items()}

    def judges(self) -> list[str]:
        """Return the judges, listed ones first."""
        with self._lock:
            return list(self._lines)
