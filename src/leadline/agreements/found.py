"""What `agreement` found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.agreements.judgments import Judgments
from leadline.agreements.ranking import Ranking, changes
from leadline.arrays import Floats
from leadline.errors import UsageError
from leadline.results import Notice, plain
from leadline.statistics.agreement import acceptable

NAN = float("nan")


class Estimate(NamedTuple):
    """A coefficient with its interval; `corrected` for chance, so that the lecture's range is meant."""

    value: float
    low: float = NAN
    high: float = NAN
    corrected: bool = True

    @property
    def acceptable(self) -> bool | None:
        """Say whether it lies in [2/3, 1]; None where it is undefined or not corrected for chance."""
        return acceptable(self.value) if self.corrected else None

    def to_dict(self) -> dict[str, Any]:
        """Give value, interval, and whether it is acceptable where that is a question."""
        found: dict[str, Any] = {
            "value": plain(self.value), "low": plain(self.low), "high": plain(self.high),
        }  # fmt: skip
        return found | {"acceptable": self.acceptable} if self.corrected else found


class Agreement:
    """Coefficients by name: `agreement`, `scott`, `cohen`, `fleiss`, `krippendorff`.

    `between[name]` holds the mean over pairs of judges and then every pair's value; `of_all[name]` is of all
    judges. `judgments` are the pairs of query and document compared, `tables` the confusion of every pair
    of judges (rows: the first of them), `by_query` the mean over pairs of judges for each query.
    """

    def __init__(
        self,
        judgments: Judgments,
        pairs: Sequence[tuple[int, int]],
        grades: Floats,
        *,
        reference: bool,
        between: Mapping[str, tuple[Estimate, list[Estimate]]],
        of_all: Mapping[str, tuple[Estimate, int]],
        tables: Floats,
        by_query: Mapping[str, Floats],
        ranking: Ranking | None = None,
        notices: Sequence[Notice] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.judgments = judgments
        self.pairs = list(pairs)
        self.grades = grades
        self.reference = reference
        self.between = dict(between)
        self.of_all = dict(of_all)
        self.tables = tables
        self.by_query = dict(by_query)
        self.ranking = ranking
        self.notices = list(notices)
        self.options = dict(options or {})

    @property
    def judges(self) -> list[str]:
        """Give the names of the judges."""
        return self.judgments.names

    @property
    def queries(self) -> list[str]:
        """Give the queries of the pairs compared."""
        names = list(self.judgments.queries)
        return [names[code] for code in np.unique(self.judgments.query).tolist()] if names else []

    def __getitem__(self, name: str) -> Estimate:
        if name in self.of_all:
            return self.of_all[name][0]
        if name in self.between:
            return self.between[name][0]
        known = ", ".join(sorted({*self.between, *self.of_all}))
        raise UsageError(f"no coefficient '{name}'; there are: {known}")

    def __repr__(self) -> str:
        names = ("agreement", "scott", "cohen", "fleiss", "krippendorff")
        shown = ", ".join(f"{name} {self[name].value:.3f}" for name in names)
        return f"Agreement({len(self.judges)} judges, {len(self.judgments)} pairs, {shown})"

    def matrix(self, name: str = "cohen") -> Floats:
        """Give a coefficient of every two judges: judges x judges, NaN where it was not asked for."""
        if name not in self.between:
            raise UsageError(f"no coefficient '{name}'; there are: {', '.join(self.between)}")
        found = np.full((len(self.judges),) * 2, np.nan)
        for (a, b), one in zip(self.pairs, self.between[name][1], strict=True):
            found[a, b] = found[b, a] = one.value
        return found

    def counted(self) -> list[int]:
        """Count, for every pair of judges, the pairs of query and document that both judged."""
        found: list[int] = self.tables.sum(axis=(1, 2)).astype(int).tolist()
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data; None is undefined."""
        found: dict[str, Any] = {
            "judges": self.judges, "reference": self.judges[0] if self.reference else None,
            "pairs": len(self.judgments), "queries": self.queries, "grades": self.grades.tolist(),
        }  # fmt: skip
        for name in ("agreement", "scott", "cohen"):
            found[name] = self[name].to_dict() | {"between": self._each(name)}
        for name, (one, pairs) in self.of_all.items():
            more = {"between": self._each(name)} if name in self.between else {}
            found[name] = one.to_dict() | {"pairs": pairs} | more
        return found | {
            "confusion": [
                {"a": a, "b": b, "counts": table.astype(int).tolist()}
                for (a, b), table in zip(self.named(), self.tables, strict=True)
            ],
            "per_query": {
                query: {name: plain(float(values[place])) for name, values in self.by_query.items()}
                for place, query in enumerate(self.queries)
            },
            "ranking": None if self.ranking is None else {
                "systems": self.ranking.systems, "measures": self.ranking.measures,
                "means": {
                    judge: {
                        system: dict(zip(self.ranking.measures, map(plain, row), strict=True))
                        for system, row in zip(self.ranking.systems, rows.tolist(), strict=True)
                    }
                    for judge, rows in zip(self.ranking.judges, self.ranking.values, strict=True)
                },
                "between": changes(self.ranking, self.pairs),
            },
        }  # fmt: skip

    def named(self) -> list[tuple[str, str]]:
        """Give the names of every pair of judges."""
        return [(self.judges[a], self.judges[b]) for a, b in self.pairs]

    def _each(self, name: str) -> list[dict[str, Any]]:
        """Give a coefficient of every pair of judges."""
        each = zip(self.named(), self.between[name][1], self.counted(), strict=True)
        return [{"a": a, "b": b, "pairs": pairs} | one.to_dict() for (a, b), one, pairs in each]
