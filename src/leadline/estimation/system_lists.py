"""Ranked lists of several runs by query, with document ids encoded as integers."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats
from leadline.data.ids import DocumentNumbers, Vocabulary
from leadline.data.reading import Reading
from leadline.data.table import RunInfo
from leadline.errors import InputError
from leadline.evaluation.join import NumberedLists, numbered_runs

DIGITS = 9  # of votes: rounding makes sums of fractions independent of the order of systems


class RankedPool(NamedTuple):
    """Retrieved documents of all systems for one query; one row per system and rank."""

    # system number, rank (from 1) and document number, ordered by system and rank. Documents are numbered in
    # byte order of their ids
    system: Codes
    rank: Codes
    document: Codes
    documents: int  # number of distinct documents
    team: Codes  # team of each system
    seed: tuple[int, ...] = (0,)  # seed of random draws
    theta: Floats | None = None  # topic vectors (n_vectors x n_topics)
    row: Codes | None = None  # row in `theta` of each document, -1 if it has no vector

    @property
    def systems(self) -> int:
        """Number of systems."""
        return len(self.team)

    @property
    def weight(self) -> Floats:
        """Weight of each system's vote: 1 / number of systems in its team."""
        votes: Floats = 1 / np.bincount(self.team)[self.team]
        return votes

    @property
    def lengths(self) -> Floats:
        """Number of documents of each system."""
        return self.total(np.ones(len(self.system)))

    def first(self, depth: int | None) -> RankedPool:
        """Return the pool cut at a depth; None: uncut."""
        return self if depth is None else self.where(self.rank <= depth)

    def where(self, keep: Flags) -> RankedPool:
        """Return the pool of the flagged rows; ranks are unchanged."""
        return self._replace(system=self.system[keep], rank=self.rank[keep], document=self.document[keep])

    def total(self, values: Floats) -> Floats:
        """Return sums of row values by system."""
        return np.bincount(self.system, values, minlength=self.systems).astype(np.float64)

    def votes(self, values: Floats | None = None) -> Floats:
        """Return sums of votes, multiplied by row values, by document."""
        weight = self.weight[self.system]
        totals = np.bincount(
            self.document, weight if values is None else weight * values, minlength=self.documents
        )
        return np.round(totals, DIGITS).astype(np.float64)

    def own_votes(self) -> Floats:
        """Return for each row the votes for its document from the team of its system."""
        key = self.team[self.system].astype(np.int64) * self.documents + self.document
        _, group = np.unique(key, return_inverse=True)
        return np.bincount(group, self.weight[self.system]).astype(np.float64)[group]

    def average_precision(self, relevant: Flags) -> Floats:
        """Return the average precision of each system.

        >>> system, rank, document = np.array([0, 0, 1, 1]), np.array([1, 2, 1, 2]), np.array([0, 1, 1, 2])
        >>> pool = RankedPool(system, rank, document, 3, np.array([0, 1]))
        >>> pool.average_precision(np.array([False, True, False]))
        array([0.5, 1. ])
        """
        hits = np.flatnonzero(relevant[self.document])
        system = self.system[hits]
        before = np.cumsum(np.concatenate(([0], np.bincount(system, minlength=self.systems))))
        nth = np.arange(1, len(hits) + 1) - before[system]
        gained = np.bincount(system, nth / self.rank[hits], minlength=self.systems)
        values: Floats = gained / np.maximum(1, np.count_nonzero(relevant))
        return values


def number_teams(teams: Sequence[object]) -> Codes:
    """Return team numbers in order of first occurrence.

    >>> number_teams(["x", "y", "x"])
    array([0, 1, 0], dtype=int32)
    """
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(team, len(numbers)) for team in teams], dtype=np.int32)


class Topics(NamedTuple):
    """Topic vectors (`theta`), and the row of each document in them (`row`, -1 if none)."""

    theta: Floats
    row: Codes


class Systems:
    """Complete ranked lists of several runs, with documents numbered in byte order of their ids.

    `queries` are those of any run, `present` says which run has which (n_runs x n_queries).
    """

    def __init__(self, infos: list[RunInfo], names: Sequence[bytes], lists: list[NumberedLists]) -> None:
        self.infos = infos
        self.documents = names
        self._lists = lists
        self.queries = Vocabulary.of_bytes(name for system in lists for name in system.spans)
        self.present: Flags = np.array(
            [[name in system.spans for name in self.queries.names] for system in lists], dtype=np.bool_
        )

    def lists(self, query: bytes) -> list[Codes]:
        """Return the document numbers of each run for a query, in rank order; empty if a run lacks it."""
        spans = [slice(*system.spans.get(query, (0, 0))) for system in self._lists]
        return [system.document[span] for system, span in zip(self._lists, spans, strict=True)]

    def pool(self, query: int, team: Codes, *, seed: int = 0, topics: Topics | None = None) -> RankedPool:
        """Return the pool of one query; its random draws depend only on the seed and the query id."""
        name = self.queries.names[query]
        lists = self.lists(name)
        sizes = [len(ranked) for ranked in lists]
        codes, document = np.unique(np.concatenate(lists), return_inverse=True)
        starts = np.cumsum([0, *sizes[:-1]])
        rank = np.arange(1, sum(sizes) + 1) - np.repeat(starts, sizes)
        return RankedPool(
            np.repeat(np.arange(len(sizes)), sizes).astype(np.int32),
            rank.astype(np.int32),
            document.astype(np.int32),
            len(codes),
            team,
            (seed, zlib.crc32(name)),
            None if topics is None else topics.theta,
            None if topics is None else topics.row[codes],
        )

    def pools(self, team: Codes, *, seed: int = 0, topics: Topics | None = None) -> Iterator[RankedPool]:
        """Return an iterator over the pools of all queries."""
        return (self.pool(query, team, seed=seed, topics=topics) for query in range(len(self.queries)))

    def only(self, chosen: Sequence[int]) -> Systems:
        """Return the systems with the chosen indices, in that order."""
        return Systems(
            [self.infos[index] for index in chosen], self.documents, [self._lists[index] for index in chosen]
        )

    def asked(self, queries: Iterable[bytes]) -> Systems:
        """Return the systems restricted to some queries; unknown queries are ignored."""
        wanted = set(queries)
        return Systems(
            self.infos,
            self.documents,
            [
                system._replace(spans={name: span for name, span in system.spans.items() if name in wanted})
                for system in self._lists
            ],
        )

    def align(self, ids: list[str], theta: Floats, path: str = "") -> Topics:
        """Match topic vectors (of a file) to the retrieved documents; other vectors are ignored."""
        rows = {name.encode("utf-8", "surrogateescape"): row for row, name in enumerate(ids)}
        row = np.array([rows.get(name, -1) for name in self.documents], dtype=np.int32)
        if not (row >= 0).any():
            hint = "Use the same document ids as in the runs."
            raise InputError("no retrieved document has a topic vector", path=path, hint=hint)
        return Topics(theta, row)


def read_systems(
    runs: Any, reading: Reading, *, depth: int | None = None, on_run: Callable[[int, int], None] | None = None
) -> Systems:
    """Read runs, whose names must differ, into `Systems`; `depth` is how much of each list is kept."""
    numbers = DocumentNumbers()
    read = numbered_runs(runs, reading, numbers, depth=depth, on_run=on_run)
    ids = numbers.ids()
    used = np.zeros(len(ids), dtype=np.bool_)
    for _, lists in read:
        used[lists.document] = True
    vocabulary, codes = ids.take(np.flatnonzero(used)).coded()
    position = np.zeros(len(ids), dtype=np.int32)
    position[used] = codes
    return Systems(
        [info for info, _ in read],
        vocabulary.names,
        [lists._replace(document=position[lists.document]) for _, lists in read],
    )
