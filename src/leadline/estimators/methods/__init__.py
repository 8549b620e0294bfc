"""How good systems are, without judgments: one estimator a file, found by looking; `METHODS` has them."""

from __future__ import annotations

import sys
from typing import ClassVar, NamedTuple

from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.estimators.pool import Pool
from leadline.naming import Named, Room


class Estimate(NamedTuple):
    """What is said of every system on one query: an estimate (larger is better), documents used, terms."""

    values: Floats
    used: Floats
    terms: dict[str, Floats]


class Estimator(Named):
    """An estimate of how good the list of a query is, from lists alone or from the topics of documents.

    `called` is its name in the literature. `voting` estimators look at what other systems found, and need
    `fewest` teams.
    """

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    called: ClassVar[str]
    voting: ClassVar[bool] = True
    fewest: ClassVar[int] = 2
    depth: int | None

    def estimate(self, pool: Pool) -> Estimate:
        """Give an estimate of every system on one query; a system without documents has 0."""
        raise NotImplementedError

    def check(self, teams: int) -> None:
        """Refuse too few systems."""
        if self.voting and teams < self.fewest:
            raise UsageError(
                f"{self.called} with {teams} system{'s' * (teams != 1)} (or teams); expected {self.fewest} "
                "or more, for systems vote on each other"
            )

    def check_topics(self, topics: int) -> None:
        """Refuse too few topics; voting estimators look at none."""


METHODS: Room[Estimator] = Room(sys.modules[__name__], Estimator, "method")
