"""Recall-precision curves: the points of every query, and means at eleven recall levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from leadline.arguments import check_numbers, check_word
from leadline.arrays import Floats, Integers, freeze
from leadline.errors import UsageError
from leadline.formats import QrelsLike, RunLike, read_qrels, repair_of
from leadline.judged import Hits, Judged
from leadline.judged_runs import judge_runs
from leadline.measures.interpolated_precision import ELEVEN_LEVELS, RULES, interpolate
from leadline.notices import notices_of
from leadline.results import Notice, RunInfo
from leadline.vocabulary import Vocabulary
from leadline.wording import counted, queries


class Curves:
    """The curves of some runs: `precision[r, l]` is the mean of run r at recall `levels[l]`."""

    levels = ELEVEN_LEVELS

    def __init__(
        self,
        runs: Sequence[RunInfo],
        queries: Vocabulary,
        precision: Floats,
        hits: Sequence[Hits],
        relevant: Integers,
        *,
        notices: Sequence[Notice] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        freeze(precision)
        self.runs = list(runs)
        self.queries = queries
        self.precision = precision
        self._hits = list(hits)
        self._relevant = relevant
        self.notices = list(notices)
        self.options = dict(options or {})

    @property
    def names(self) -> list[str]:
        """Give the names of the runs."""
        return [run.name for run in self.runs]

    def order(self) -> list[int]:
        """Give the runs by their mean over the levels, the best first."""
        means = self.precision.mean(axis=1).tolist()
        return sorted(range(len(self.runs)), key=lambda place: (-means[place], place))

    def points(self, run: str) -> dict[str, list[list[float]]]:
        """Give, per query, rank, recall and precision at every retrieved relevant document."""
        if run not in self.names:
            raise UsageError(f"no run '{run}' in these curves; there are: " + ", ".join(self.names))
        hits = self._hits[self.names.index(run)]
        columns = (hits.rank, hits.nth / self._relevant[hits.query], hits.nth / hits.rank)
        found: dict[str, list[list[float]]] = {query: [] for query in self.queries}
        lists = list(found.values())
        for query, *point in zip(
            hits.query.tolist(), *(column.tolist() for column in columns), strict=True
        ):
            lists[query].append(point)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give the curves as plain data: `levels`, `runs`."""
        runs = [
            {"name": run.name, "precision": precision, "points": self.points(run.name)}
            for run, precision in zip(self.runs, self.precision.tolist(), strict=True)
        ]
        return {"levels": list(self.levels), "runs": runs}

    def __repr__(self) -> str:
        return f"Curves({counted(len(self.runs), 'run')}, {queries(len(self.queries))})"


def curve(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    *,
    interpolation: str = "standard",
    rel: float = 1.0,
    negative: str = "nonrelevant",
    order: str = "score",
    on_duplicate: str = "refuse",
    on_nan: str = "refuse",
    name_by: str = "file",
    on_run: Callable[[int, int], None] | None = None,
) -> Curves:
    """Give the recall-precision curves of runs; `interpolation` is a rule of the measure IPrec.

    Every query of the qrels counts: one that a run lacks or that has nothing of grade `rel` counts
    0 in the mean, and is counted in `notices`.

    >>> judgments = {"q1": {"d1": 1, "d2": 0, "d3": 1}}
    >>> found = curve(judgments, {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}})
    >>> found.points("run")
    {'q1': [[1, 0.5, 1.0], [3, 1.0, 0.6666666666666666]]}
    >>> found.precision[0].round(2)
    array([1.  , 1.  , 1.  , 1.  , 1.  , 1.  , 0.67, 0.67, 0.67, 0.67, 0.67])
    """
    check_word(RULES, interpolation=interpolation)
    check_numbers(rel=rel)
    table = read_qrels(qrels, negative=negative)

    def one(judged: Judged) -> tuple[Floats, Hits]:
        values = interpolate(judged, ELEVEN_LEVELS, rule=interpolation, rel=rel)
        return np.nan_to_num(values).mean(axis=0), judged.hits(rel)

    repair = repair_of(order, on_duplicate, on_nan)
    infos, found = judge_runs(runs, table, one, repair=repair, name_by=name_by, on_run=on_run)
    precision, hits = zip(*found, strict=True)
    return Curves(
        infos, table.queries, np.stack(precision), hits, table.relevant(rel),
        notices=notices_of(infos, table, levels=[rel]),
        options={
            "interpolation": interpolation, "rel": rel, "negative": negative, "order": order,
            "on_duplicate": on_duplicate, "on_nan": on_nan, "name_by": name_by,
        },
    )  # fmt: skip
