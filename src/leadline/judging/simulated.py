"""Simulated judges, who give the grades of known judgments to the pairs of a pool."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple

from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.io.objects import read_qrels
from leadline.io.read import QrelsLike
from leadline.judging.events import Event
from leadline.judging.queue import Queues
from leadline.judging.startup import OVERLAP, check_judges, fill, pooled
from leadline.judging.store import Store

JUDGE = "simulated"
MOST_GRADES = 5
BATCH = 500  # events per transaction


class SimulatedJudgments(NamedTuple):
    """What simulated judges added to a store.

    `judges` has the number of new judgments of each judge, and `unjudged` counts those of pairs that the
    known judgments lack. They have grade 0. `queries` counts the queries of the pool that have no judgment.
    """

    judges: dict[str, int]
    unjudged: int
    queries: int


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

    A pair that the judgments lack gets grade 0, as does a negative grade. A new store has `grades`, by
    default 0 and the grades of the judgments, and `seed`. By default there is one judge, "simulated"; with
    several, a second judge grades `overlap` of the pairs, by default 0.1.
    """
    names = check_judges(JUDGE if judges is None else judges, overlap)
    share = OVERLAP if overlap is None else overlap
    known = read_qrels(judgments).to_dict()
    rows, drawn = pooled(pool)
    scale = _scale(known) if grades is None else grades
    with closing(Store.open(store, grades=scale, seed=seed)) as opened:
        fill(opened, rows, drawn)
        queues = Queues(opened, judges=names, overlap=share if len(names) > 1 else 0.0)
        counts = dict.fromkeys(names, 0)
        unjudged, more = 0, True
        while more:  # a second judge of a drawn pair waits for the first
            more = False
            for judge in names:
                queues.join(judge)
                events = []
                for pair in queues.upcoming(judge, BATCH):
                    grade = known.get(pair.query, {}).get(pair.document)
                    unjudged += grade is None
                    key = f"simulated-{judge[:30]}-{pair.id}"
                    events.append(Event(key, "judge", pair.id, grade=max(0, int(grade or 0)), shown="full"))
                queues.append(judge, events)
                counts[judge] += len(events)
                more |= bool(events)
        opened.checkpoint()
        queries = {pair.query for pair in opened.pairs()} - known.keys()
    return SimulatedJudgments(counts, unjudged, len(queries))


def _scale(known: Mapping[str, Mapping[str, float]]) -> str:
    """Return the scale of a new store: 0 and all positive grades of the judgments."""
    values = sorted(
        {0, 1} | {max(0, int(grade)) for of_query in known.values() for grade in of_query.values()}
    )
    if len(values) > MOST_GRADES or values[-1] > 9:
        raise UsageError(
            f"the judgments have {counted(len(values), 'grade')} up to {values[-1]}. Name at most "
            f'{MOST_GRADES} with --grades, such as "0=no,1=partly,2=yes".'
        )
    return ",".join(f"{value}=grade {value}" for value in values)
