"""The lists of one query of many runs, as columns: what every estimator looks at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.arrays import Codes, Flags, Floats

DIGITS = (
    9  # votes are sums of shares such as 1/3: what is equal must be equal in any order of systems
)


class Pool(NamedTuple):
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
    ) -> Pool:
        """Make it from lists of document ids, best first.

        >>> Pool.of([["a", "b"], ["b", "c"]]).document
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
            len(names), team_codes(list(teams) or range(len(lists))), (seed,), theta, row,
        )  # fmt: skip

    def first(self, depth: int | None) -> Pool:
        """Keep the first documents of every list."""
        return self if depth is None else self.where(self.rank <= depth)

    def where(self, keep: Flags) -> Pool:
        """Keep some rows, with their ranks."""
        return self._replace(
            system=self.system[keep], rank=self.rank[keep], document=self.document[keep]
        )

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

        >>> Pool.of([["a", "b"], ["b", "c"]]).average_precision(np.array([False, True, False]))
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
