"""Coefficients of agreement, and the order of systems by each judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.records import RunInfo, plain
from leadline.stats.agreement_coefficients import acceptable
from leadline.stats.correlation import kendall

NAN = float("nan")


class Ranking(NamedTuple):
    """Means of systems under the judgments of each judge.

    `values` is judges x systems x measures; `by_query` are the values that are averaged, judges x queries x
    systems for each measure, None for a measure whose mean is no arithmetic mean over the same queries of all
    systems. `rising` says of which measures larger values are better.
    """

    judges: list[str]
    runs: list[RunInfo]
    measures: list[str]
    values: Floats
    by_query: list[Floats | None]
    rising: list[bool]

    @property
    def systems(self) -> list[str]:
        """Names of the systems."""
        return [run.name for run in self.runs]


class Change(NamedTuple):
    """Difference in a measure of all systems between the judgments of two judges.

    `mean` and `largest` are of absolute differences; `relative` is the mean difference divided by the mean
    value under the first judge; `swapped` is the number of system pairs in opposite order, of `apart` pairs
    without a tie under either judge; `widest` is the largest difference of a swapped pair under the first
    judge.
    """

    tau: float
    mean: float
    largest: float
    relative: float
    swapped: int
    apart: int
    widest: float

    def to_dict(self) -> dict[str, float | int | None]:
        """Return the numbers; None is undefined."""
        return {
            name: plain(value) if isinstance(value, float) else value
            for name, value in self._asdict().items()
        }


def change(first: Floats, second: Floats) -> Change:
    """Compare the values of systems under two judges.

    >>> found = change(np.array([0.4, 0.3, 0.1]), np.array([0.2, 0.3, 0.1]))
    >>> found.swapped, found.apart, round(found.mean, 3), round(found.largest, 3), round(found.widest, 3)
    (1, 3, 0.067, 0.2, 0.1)
    """
    moved = np.abs(second - first)
    upper = np.triu_indices(len(first), 1)
    before, after = (values[upper[0]] - values[upper[1]] for values in (first, second))
    apart = (before != 0) & (after != 0)
    swapped = apart & (np.sign(before) != np.sign(after))
    whole = float(first.mean())
    return Change(
        kendall(first, second),
        float(moved.mean()),
        float(moved.max()),
        float(moved.mean()) / whole if whole else float("nan"),
        int(swapped.sum()),
        int(apart.sum()),
        float(np.abs(before[swapped]).max(initial=0.0)),
    )


def changes(ranking: Ranking, pairs: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Compare pairs of judges by every measure."""
    return [
        {"a": ranking.judges[a], "b": ranking.judges[b], "measure": measure}
        | change(ranking.values[a, :, index], ranking.values[b, :, index]).to_dict()
        for a, b in pairs
        for index, measure in enumerate(ranking.measures)
    ]


def ranking_dict(ranking: Ranking, pairs: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Return the means of systems under each judge, and changes between pairs of judges, as plain data."""
    return {
        "systems": ranking.systems,
        "measures": ranking.measures,
        "means": {
            judge: {
                system: dict(zip(ranking.measures, map(plain, row), strict=True))
                for system, row in zip(ranking.systems, rows.tolist(), strict=True)
            }
            for judge, rows in zip(ranking.judges, ranking.values, strict=True)
        },
        "between": changes(ranking, pairs),
    }


class CoefficientEstimate(NamedTuple):
    """An agreement coefficient with its interval.

    Attributes
    ----------
    value : float
        The coefficient, at most 1; NaN where undefined.
    low : float
        Lower limit of its interval; NaN without one.
    high : float
        Upper limit of this interval.
    corrected : bool
        Whether the coefficient is corrected for chance.
    pairs : int
        Query-document pairs that it is from.
    """

    value: float
    low: float = NAN
    high: float = NAN
    corrected: bool = True
    pairs: int = 0

    @property
    def acceptable(self) -> bool | None:
        """Whether the value is at least 2/3; None if undefined, not chance-corrected, or below 50 pairs."""
        return acceptable(self.value, self.pairs) if self.corrected else None

    def to_dict(self) -> dict[str, Any]:
        """Return value, limits, and `acceptable` for a chance-corrected coefficient."""
        data: dict[str, Any] = {"value": plain(self.value), "low": plain(self.low), "high": plain(self.high)}
        return data | {"acceptable": self.acceptable} if self.corrected else data
