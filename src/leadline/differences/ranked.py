"""The whole lists of many runs, unjudged documents included: what competitors of id look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.arrays import Codes, Integers
from leadline.differences.tables import Orders, orders_of
from leadline.formats import Repair, read_run
from leadline.vocabulary import Vocabulary


class Ranked(NamedTuple):
    """The lists of one query: documents numbered over all systems, best first.

    `entry[s]` is the rank at which each document of list s comes in: the first rank of its group of equal
    scores.
    """

    orders: Orders
    entry: list[Codes]

    @property
    def size(self) -> int:
        """Give the number of systems."""
        return len(self.orders.bounds) - 1

    @property
    def lengths(self) -> Integers:
        """Give the length of every list."""
        return np.diff(self.orders.bounds)

    @classmethod
    def of(cls, lists: Sequence[Sequence[Any]], entry: Sequence[Sequence[int]] = ()) -> Ranked:
        """Make it from lists of anything; without `entry` nothing is tied.

        >>> Ranked.of([["a", "b"], ["b", "c"]]).orders.place
        array([[ 0,  1, -1],
               [-1,  0,  1]], dtype=int32)
        """
        numbers: dict[Any, int] = {}
        coded = [
            np.array([numbers.setdefault(name, len(numbers)) for name in one], dtype=np.int32)
            for one in lists
        ]
        ranks = [np.arange(1, len(one) + 1, dtype=np.int32) for one in coded]
        given = [np.array(one, dtype=np.int32) for one in entry]
        return cls(orders_of(coded, len(numbers)), given or ranks)


class _System(NamedTuple):
    bounds: list[tuple[int, int]]
    document: Codes
    entry: Codes


def ranked_lists(
    sources: Sequence[tuple[str | None, Any]], queries: Vocabulary, repair: Repair
) -> Iterator[Ranked]:
    """Give the lists of every query, one query after the other; of a run only codes and ranks are kept."""
    numbers: dict[bytes, int] = {}
    systems = [_system(source, queries, numbers, repair) for _, source in sources]
    for query in range(len(queries)):
        spans = [slice(*system.bounds[query]) for system in systems]
        lists = [system.document[span] for system, span in zip(systems, spans, strict=True)]
        entry = [system.entry[span] for system, span in zip(systems, spans, strict=True)]
        known, coded = np.unique(np.concatenate(lists), return_inverse=True)
        ends = np.cumsum([len(one) for one in lists])[:-1]
        yield Ranked(orders_of(np.split(coded.astype(np.int32), ends), len(known)), entry)


def _system(source: Any, queries: Vocabulary, numbers: dict[bytes, int], repair: Repair) -> _System:
    run = read_run(
        source, order=repair.order, on_duplicate=repair.on_duplicate, on_nan=repair.on_nan
    )
    codes = np.array(
        [numbers.setdefault(name, len(numbers)) for name in run.documents.names], dtype=np.int32
    )
    starts = np.ones(len(run), dtype=np.bool_)
    starts[1:] = run.scores[1:] != run.scores[:-1]
    starts[run.offsets[:-1][run.offsets[:-1] < len(run)]] = True
    first = np.maximum.accumulate(np.where(starts, np.arange(len(run)), 0))
    owner = np.repeat(run.offsets[:-1], np.diff(run.offsets))
    spans = dict(
        zip(run.queries.names, zip(run.offsets[:-1].tolist(), run.offsets[1:].tolist(), strict=True),
            strict=True)
    )  # fmt: skip
    return _System(
        [spans.get(name, (0, 0)) for name in queries.names],
        codes[run.document] if len(codes) else np.empty(0, dtype=np.int32),
        (first - owner + 1).astype(np.int32),
    )
