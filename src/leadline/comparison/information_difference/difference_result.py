"""Difference: what was found about how systems differ, and how it is read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, freeze
from leadline.data.ids import Vocabulary
from leadline.data.result import Result
from leadline.data.results import ResultWarning, RunInfo, plain
from leadline.errors import UsageError


class DifferencePair(NamedTuple):
    """Two systems, how far apart they are, and how far their scores are."""

    a: str
    b: str
    id: float
    ric_difference: float


class Difference(Result):
    """RIC and Information Difference of some systems, in bits; means are over the queries that count.

    `ap[s, q]` is AP of every query (0 where undefined). `ric[s, q]` and `concordance[s, q]` are NaN for a
    query that does not count (no relevant document judged, or none of another grade), `only[q, i, j]` is
    I(R_i; Q | R_j): what system i says of the judgments of query q that system j does not.
    """

    def __init__(
        self,
        runs: Sequence[RunInfo],
        queries: Vocabulary,
        ric: Floats,
        concordance: Floats,
        wrong_way: Flags,
        only: Floats,
        *,
        ap: Floats | None = None,
        cutoff: int | None = None,
        competitors: dict[str, Floats] | None = None,
        warnings: Sequence[ResultWarning] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        freeze(ric, concordance, wrong_way, only)
        self.runs = list(runs)
        self.queries = queries
        self.ric = ric
        self.concordance = concordance
        self.wrong_way = wrong_way
        self.only = only
        self.ap = np.full(ric.shape, np.nan) if ap is None else ap
        self.cutoff = cutoff
        self.competitors = dict(competitors or {})
        self.warnings = list(warnings)
        self.options = dict(options or {})

    @property
    def names(self) -> list[str]:
        """Give the names of the systems."""
        return [run.name for run in self.runs]

    @cached_property
    def counted(self) -> Flags:
        """Say which queries count."""
        counted: Flags = ~np.isnan(self.ric[0])
        return counted

    @cached_property
    def mean_ric(self) -> Floats:
        """Give the mean RIC of every system."""
        means: Floats = self.ric[:, self.counted].mean(axis=1)
        return means

    @cached_property
    def mean_concordance(self) -> Floats:
        """Give the mean concordance w (2c - 1) of every system, from -1 to 1."""
        means: Floats = self.concordance[:, self.counted].mean(axis=1)
        return means

    @cached_property
    def mean_only(self) -> Floats:
        """Give systems x systems: what the row says that the column does not."""
        means: Floats = self.only[self.counted].mean(axis=0)
        return means

    @cached_property
    def mean_id(self) -> Floats:
        """Give systems x systems: the mean Information Difference. It is no metric."""
        return self.mean_only + self.mean_only.T

    def id_of(self, a: str, b: str) -> float:
        """Give the mean Information Difference of two systems."""
        return float(self.mean_id[self.place(a), self.place(b)])

    def place(self, name: str) -> int:
        """Give the place of a system."""
        if name not in self.names:
            raise UsageError(f"no system '{name}' here; there are: " + ", ".join(self.names))
        return self.names.index(name)

    def order(self) -> list[int]:
        """Give the systems by their mean RIC, the best first."""
        best: list[int] = np.argsort(-self.mean_ric, kind="stable").tolist()
        return best

    @cached_property
    def _ends(self) -> tuple[Any, Any]:
        return np.triu_indices(len(self.runs), 1)

    def _pairs(self, chosen: Sequence[int]) -> list[DifferencePair]:
        first, second = self._ends
        return [
            DifferencePair(
                self.names[i],
                self.names[j],
                float(self.mean_id[i, j]),
                float(abs(self.mean_ric[i] - self.mean_ric[j])),
            )
            for i, j in zip(first[list(chosen)].tolist(), second[list(chosen)].tolist(), strict=True)
        ]

    def nearest(self, most: int = 5) -> list[DifferencePair]:
        """Give the pairs of smallest id, the nearest first."""
        return self._pairs(np.argsort(self.mean_id[self._ends], kind="stable")[:most].tolist())

    def farthest(self, most: int = 5) -> list[DifferencePair]:
        """Give the pairs of largest id, the farthest first."""
        return self._pairs(np.argsort(-self.mean_id[self._ends], kind="stable")[:most].tolist())

    def _contrast(self) -> Floats:
        """Give each pair its rank by id less its rank by difference in RIC, both from 0 to 1."""
        far, apart = (self.mean_id[self._ends], abs(self.mean_ric[:, None] - self.mean_ric)[self._ends])
        ranks = [np.argsort(np.argsort(values, kind="stable")) for values in (far, apart)]
        contrast: Floats = (ranks[0] - ranks[1]) / max(len(far) - 1, 1)
        return contrast

    def same_score_far_apart(self, most: int = 5) -> list[DifferencePair]:
        """Give pairs whose RIC is nearly equal and whose id is large, by the difference of the two ranks."""
        contrast = self._contrast()
        found = np.argsort(-contrast, kind="stable")[:most]
        return self._pairs(found[contrast[found] > 0].tolist())

    def near_but_unequal(self, most: int = 5) -> list[DifferencePair]:
        """Give pairs whose id is small and whose RIC differs, by the difference of the two ranks."""
        contrast = self._contrast()
        found = np.argsort(contrast, kind="stable")[:most]
        return self._pairs(found[contrast[found] < 0].tolist())

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Give it as plain data: `k`, `systems`, `ric`, `concordance`, `wrong_way`, `id`, ..."""
        names = self.names
        data: dict[str, Any] = {
            "k": self.cutoff,
            "systems": names,
            "queries": int(self.counted.sum()),
            "ric": dict(zip(names, self.mean_ric.tolist(), strict=True)),
            "concordance": dict(zip(names, self.mean_concordance.tolist(), strict=True)),
            "wrong_way": dict(zip(names, self.wrong_way.sum(axis=1).tolist(), strict=True)),
            "id": self.mean_id.tolist(),
            "only_first": self.mean_only.tolist(),
            "competitors": {
                name: [list(map(plain, row)) for row in table.tolist()]
                for name, table in self.competitors.items()
            },
            "nearest": [pair._asdict() for pair in self.nearest()],
            "farthest": [pair._asdict() for pair in self.farthest()],
            "same_score_far_apart": [pair._asdict() for pair in self.same_score_far_apart()],
            "near_but_unequal": [pair._asdict() for pair in self.near_but_unequal()],
        }
        if per_query:
            data["per_query"] = {query: self._query(place) for place, query in enumerate(self.queries)}
        return data

    def _query(self, place: int) -> dict[str, Any] | None:
        """Give one query as plain data, None where it does not count."""
        if not self.counted[place]:
            return None
        only = self.only[place]
        return {
            "ric": dict(zip(self.names, self.ric[:, place].tolist(), strict=True)),
            "concordance": dict(zip(self.names, self.concordance[:, place].tolist(), strict=True)),
            "wrong_way": [
                name
                for name, wrong in zip(self.names, self.wrong_way[:, place].tolist(), strict=True)
                if wrong
            ],
            "id": (only + only.T).tolist(),
            "only_first": only.tolist(),
        }

    def __repr__(self) -> str:
        at = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"Difference({len(self.runs)} systems, {int(self.counted.sum())} queries, id{at})"
