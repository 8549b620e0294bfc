"""What another judge does to systems: their absolute numbers, and their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.agreements.judgments import Judgments
from leadline.arrays import Floats
from leadline.evaluation import evaluate
from leadline.formats import repair_of
from leadline.judged_runs import readable_twice
from leadline.measures import MEASURES
from leadline.results import RunInfo, plain
from leadline.statistics.correlation import kendall

DEFAULT_MEASURES = ("AP", "nDCG")


class Ranking(NamedTuple):
    """Means of systems under each judge: `values` is judges x systems x measures."""

    judges: list[str]
    runs: list[RunInfo]
    measures: list[str]
    values: Floats

    @property
    def systems(self) -> list[str]:
        """Give the names of the systems."""
        return [run.name for run in self.runs]


class Change(NamedTuple):
    """How one measure of all systems differs between two judges.

    `mean` and `largest` are of absolute differences; `relative` is the mean difference as a share of the
    first judge's mean value; `swapped` of `apart` pairs of systems change places (pairs that are equal under
    a judge are in neither), `widest` is the largest difference of a swapped pair under the first judge.
    """

    tau: float
    mean: float
    largest: float
    relative: float
    swapped: int
    apart: int
    widest: float

    def to_dict(self) -> dict[str, float | int | None]:
        """Give the numbers; None is undefined."""
        return {
            name: plain(value) if isinstance(value, float) else value
            for name, value in self._asdict().items()
        }


def ranked(
    judgments: Judgments,
    runs: Any,
    *,
    measures: Sequence[str] = DEFAULT_MEASURES,
    judged_only: bool = False,
    on_run: Callable[[int, int], None] | None = None,
) -> Ranking:
    """Evaluate runs with the judgments of every judge."""
    kinds = MEASURES.expand_all(measures)
    runs = readable_twice(runs, repair_of("score", "refuse", "refuse"))
    values, infos = [], []
    for place in range(len(judgments.names)):
        if on_run:
            on_run(place, len(judgments.names))
        found = evaluate(
            judgments.qrels(place), runs, list(map(str, kinds)), judged_only=judged_only
        )
        values.append(found.means)
        infos = list(found.runs)
    return Ranking(judgments.names, infos, list(map(str, kinds)), np.stack(values))


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
        kendall(first, second), float(moved.mean()), float(moved.max()),
        float(moved.mean()) / whole if whole else float("nan"),
        int(swapped.sum()), int(apart.sum()), float(np.abs(before[swapped]).max(initial=0.0)),
    )  # fmt: skip


def changes(ranking: Ranking, pairs: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """Compare pairs of judges by every measure."""
    return [
        {"a": ranking.judges[a], "b": ranking.judges[b], "measure": measure}
        | change(ranking.values[a, :, place], ranking.values[b, :, place]).to_dict()
        for a, b in pairs
        for place, measure in enumerate(ranking.measures)
    ]
