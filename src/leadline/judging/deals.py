"""Deal the queries out to named judges, so that a judge stays with one need; a share of pairs twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from leadline.judging.draws import draw
from leadline.judging.store import Act, Pair


def deal(
    judges: Sequence[str],
    pairs: Iterable[Pair],
    before: Mapping[str, str],
    acts: Iterable[Act],
    *,
    seed: int,
) -> dict[str, str]:
    """Give the judge of every query that has to be dealt, new or again.

    A query stays with its judge, as long as the judge is there; for a judge who has none yet, those that were
    not begun are dealt again. What has no judge goes, the largest first, to the judge with the fewest pairs.

    >>> pairs = [Pair(place, f"q{place}", "d", 1.0) for place in range(4)]
    >>> sorted(deal(["ann", "bob"], pairs, {}, [], seed=0).values())
    ['ann', 'ann', 'bob', 'bob']
    """
    pairs = list(pairs)
    size = Counter(pair.query for pair in pairs)
    of_pair = {pair.id: pair.query for pair in pairs}
    begun = {(of_pair[act.pair], act.judge) for act in acts if act.pair in of_pair}
    newcomers = set(judges) - set(before.values())
    kept = {
        query: judge
        for query, judge in before.items()
        if judge in judges and query in size and (not newcomers or (query, judge) in begun)
    }
    load = Counter(dict.fromkeys(judges, 0))
    for query, judge in kept.items():
        load[judge] += size[query]
    made: dict[str, str] = {}
    for query in sorted(size.keys() - kept.keys(), key=lambda one: (-size[one], draw(seed, one))):
        judge = min(judges, key=lambda name: (load[name], draw(seed, name, query)))
        load[judge] += size[query]
        made[query] = judge
    return {query: judge for query, judge in made.items() if before.get(query) != judge}


def second(
    judges: Sequence[str], owner: str, pair: Pair, *, seed: int, overlap: float
) -> str | None:
    """Give the judge who judges a pair too, or None: a share of pairs has one, drawn by hash.

    A larger share holds all pairs of a smaller one.
    """
    names = (pair.query, pair.document)
    if draw(seed, "overlap", *names) >= overlap:
        return None
    others = [judge for judge in judges if judge != owner]
    return min(others, key=lambda judge: draw(seed, "second", judge, *names), default=None)
