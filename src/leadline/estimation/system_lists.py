"""The lists of many runs, query by query, with ids as codes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats
from leadline.data.ids import Vocabulary, to_text
from leadline.data.reading import Reading
from leadline.data.results import RunInfo
from leadline.errors import InputError
from leadline.evaluation.join import each_run

DIGITS = 9  # votes are sums of shares such as 1/3: what is equal must be equal in any order of systems


class RankedPool(NamedTuple):
    """All retrieved documents of one query, row by row: which system, at which rank, which document.

    Rows are ordered by system, then rank (from 1). Documents are numbered in the order of the bytes of their
    ids. `team[s]` is the team of system s, each system its own unless teams were given. `seed` begins random
    draws. `theta` holds topic vectors and `row[d]` which of them is that of document d (-1: none).
    """

    system: Codes
    rank: Codes
    document: Codes
    documents: int
    team: Codes
    seed: tuple[int, ...] = (0,)
    theta: Floats | None = None
    row: Codes | None = None

    @property
    def systems(self) -> int:
        """Give the number of systems."""
        return len(self.team)

    @property
    def weight(self) -> Floats:
        """Give the vote of every system: all systems of a team share one."""
        found: Floats = 1 / np.bincount(self.team)[self.team]
        return found

    @property
    def lengths(self) -> Floats:
        """Count the documents of every system."""
        return self.total(np.ones(len(self.system)))

    @classmethod
    def of(
        cls,
        lists: Sequence[Sequence[str]],
        *,
        teams: Sequence[object] = (),
        seed: int = 0,
        vectors: dict[str, list[float]] | None = None,
    ) -> RankedPool:
        """Make it from lists of document ids, best first.

        >>> RankedPool.of([["a", "b"], ["b", "c"]]).document
        array([0, 1, 1, 2], dtype=int32)
        """
        names = sorted({name for one in lists for name in one}, key=str.encode)
        numbers = {name: place for place, name in enumerate(names)}
        theta = row = None
        if vectors is not None:
            places = {name: place for place, name in enumerate(vectors)}
            theta = np.array(list(vectors.values()), dtype=np.float64)
            row = np.array([places.get(name, -1) for name in names], dtype=np.int32)
        return cls(
            np.repeat(np.arange(len(lists)), [len(one) for one in lists]).astype(np.int32),
            np.array([1 + place for one in lists for place in range(len(one))], dtype=np.int32),
            np.array([numbers[name] for one in lists for name in one], dtype=np.int32),
            len(names),
            team_codes(list(teams) or range(len(lists))),
            (seed,),
            theta,
            row,
        )

    def first(self, depth: int | None) -> RankedPool:
        """Keep the first documents of every list."""
        return self if depth is None else self.where(self.rank <= depth)

    def where(self, keep: Flags) -> RankedPool:
        """Keep some rows, with their ranks."""
        return self._replace(system=self.system[keep], rank=self.rank[keep], document=self.document[keep])

    def total(self, values: Floats) -> Floats:
        """Add values up by system, in the order of rank."""
        return np.bincount(self.system, values, minlength=self.systems).astype(np.float64)

    def votes(self, values: Floats | None = None) -> Floats:
        """Add votes (times a value of each row) up by document."""
        weight = self.weight[self.system]
        found = np.bincount(
            self.document, weight if values is None else weight * values, minlength=self.documents
        )
        return np.round(found, DIGITS).astype(np.float64)

    def own_votes(self) -> Floats:
        """Give, row by row, the votes that the document has from the team of the row's own system."""
        key = self.team[self.system].astype(np.int64) * self.documents + self.document
        _, group = np.unique(key, return_inverse=True)
        return np.bincount(group, self.weight[self.system]).astype(np.float64)[group]

    def average_precision(self, relevant: Flags) -> Floats:
        """Give AP of every system when these documents are relevant: the mean of i / rank of the i-th.

        >>> RankedPool.of([["a", "b"], ["b", "c"]]).average_precision(np.array([False, True, False]))
        array([0.5, 1. ])
        """
        hits = np.flatnonzero(relevant[self.document])
        system = self.system[hits]
        before = np.cumsum(np.concatenate(([0], np.bincount(system, minlength=self.systems))))
        nth = np.arange(1, len(hits) + 1) - before[system]
        gained = np.bincount(system, nth / self.rank[hits], minlength=self.systems)
        found: Floats = gained / np.maximum(1, np.count_nonzero(relevant))
        return found


def team_codes(teams: Sequence[object]) -> Codes:
    """Give numbers to teams, by first appearance.

    >>> team_codes(["x", "y", "x"])
    array([0, 1, 0], dtype=int32)
    """
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(team, len(numbers)) for team in teams], dtype=np.int32)


class Topics(NamedTuple):
    """Topic vectors, and the one of each document (-1: none)."""

    theta: Floats
    row: Codes


class _System(NamedTuple):
    spans: dict[bytes, tuple[int, int]]
    document: Codes


class Systems:
    """The whole lists of many runs; documents are numbered over all of them in the order of their ids.

    `queries` are those that any run has, `present[s, q]` says which run has which.
    """

    def __init__(self, infos: list[RunInfo], names: list[bytes], lists: list[_System]) -> None:
        self.infos = infos
        self.documents = names
        self._lists = lists
        self.queries = Vocabulary.of_bytes(name for one in lists for name in one.spans)
        self.present: Flags = np.array(
            [[name in one.spans for name in self.queries.names] for one in lists], dtype=np.bool_
        )

    def lists(self, query: bytes) -> list[Codes]:
        """Give the list of a query of every run, best first; empty where a run has none."""
        spans = [slice(*one.spans.get(query, (0, 0))) for one in self._lists]
        return [one.document[span] for one, span in zip(self._lists, spans, strict=True)]

    def pool(self, query: int, team: Codes, *, seed: int = 0, topics: Topics | None = None) -> RankedPool:
        """Give the lists of one query; its random draws depend on the seed and its id alone."""
        name = self.queries.names[query]
        lists = self.lists(name)
        sizes = [len(one) for one in lists]
        known, document = np.unique(np.concatenate(lists), return_inverse=True)
        starts = np.cumsum([0, *sizes[:-1]])
        rank = np.arange(1, sum(sizes) + 1) - np.repeat(starts, sizes)
        return RankedPool(
            np.repeat(np.arange(len(sizes)), sizes).astype(np.int32),
            rank.astype(np.int32),
            document.astype(np.int32),
            len(known),
            team,
            (seed, zlib.crc32(name)),
            None if topics is None else topics.theta,
            None if topics is None else topics.row[known],
        )

    def pools(self, team: Codes, *, seed: int = 0, topics: Topics | None = None) -> Iterator[RankedPool]:
        """Give the lists of every query, one after the other."""
        return (self.pool(query, team, seed=seed, topics=topics) for query in range(len(self.queries)))

    def only(self, chosen: Sequence[int]) -> Systems:
        """Keep some systems, in the order given."""
        return Systems(
            [self.infos[place] for place in chosen], self.documents, [self._lists[place] for place in chosen]
        )

    def asked(self, queries: Iterable[bytes]) -> Systems:
        """Keep some queries; one that no system has is left out."""
        wanted = set(queries)
        return Systems(
            self.infos,
            self.documents,
            [
                one._replace(spans={name: span for name, span in one.spans.items() if name in wanted})
                for one in self._lists
            ],
        )

    def first_documents(self, query: int, depth: int) -> list[str]:
        """Give the documents that any run has among its first ones."""
        lists = [one[:depth] for one in self.lists(self.queries.names[query])]
        return [to_text(self.documents[code]) for code in np.unique(np.concatenate(lists)).tolist()]

    def align(self, ids: list[str], theta: Floats) -> Topics:
        """Find the vector of every document; vectors of others are left alone."""
        places = {name.encode("utf-8", "surrogateescape"): row for row, name in enumerate(ids)}
        row = np.array([places.get(name, -1) for name in self.documents], dtype=np.int32)
        if not (row >= 0).any():
            raise InputError("no retrieved document has a topic vector", expected="ids as in the runs")
        return Topics(theta, row)


def read_systems(runs: Any, reading: Reading, *, on_run: Callable[[int, int], None] | None = None) -> Systems:
    """Read runs one after the other; they must have different names."""
    numbers: dict[bytes, int] = {}
    infos: list[RunInfo] = []
    lists: list[_System] = []
    for info, run in each_run(runs, reading, on_run=on_run):
        infos.append(info)
        codes = np.array(
            [numbers.setdefault(known, len(numbers)) for known in run.documents.names], dtype=np.int32
        )
        bounds = run.offsets.tolist()
        spans = dict(zip(run.queries.names, pairwise(bounds), strict=True))
        lists.append(_System(spans, codes[run.document]))
    ordered = sorted(numbers)
    place = np.empty(len(numbers), dtype=np.int32)
    place[[numbers[name] for name in ordered]] = np.arange(len(numbers))
    return Systems(infos, ordered, [one._replace(document=place[one.document]) for one in lists])
