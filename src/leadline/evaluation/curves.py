"""Recall-precision curves and subtopic recall curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.data.arrays import Floats, Integers, freeze
from leadline.data.ids import Vocabulary
from leadline.data.judged_run import Hits, JudgedRun
from leadline.data.reading import JudgedOptions, Reading
from leadline.data.table import Column, RunInfo
from leadline.data.validation import check_numbers, check_whole, check_word
from leadline.data.wording import counted, queries
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.join import judge_runs
from leadline.evaluation.lookups import place_of
from leadline.evaluation.run_warnings import check_level, warnings_of
from leadline.io.objects import judgments_of
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import public
from leadline.measures.average_precision import ELEVEN_LEVELS, RULES, interpolate
from leadline.measures.diversity import StRecall
from leadline.result import Make, Result

TICKS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 50, 100, 200, 500, 1000)  # ranks of the table


class _OfRuns:
    """What curves of runs share: a value of each run at each place."""

    _digits = 3

    runs: list[RunInfo]
    queries: Vocabulary

    @property
    def names(self) -> list[str]:
        """Names of the runs."""
        return [run.name for run in self.runs]

    def _order(self, values: Floats) -> list[int]:
        """Return the indices of the runs by descending mean of their values."""
        means = values.mean(axis=1).tolist()
        return sorted(range(len(self.runs)), key=lambda run: (-means[run], run))

    def _table(self, heads: Iterable[float], values: Floats, order: Sequence[int]) -> list[Column]:
        best = (values[order] == values.max(axis=0)) & (len(order) > 1)
        return [
            Column("run", [self.names[run] for run in order]),
            *(
                Column(str(head), column[order], best=np.flatnonzero(top).tolist())
                for head, column, top in zip(heads, values.T, best.T, strict=True)
            ),
        ]

    def _size(self) -> str:
        return f"{counted(len(self.runs), 'run')}, {queries(len(self.queries))}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size()})"


@dataclass(repr=False, eq=False)
class Curves(_OfRuns, Result):
    """Recall-precision curves of runs.

    Attributes
    ----------
    levels : tuple of float
        Levels of recall.
    precision : ndarray of float64, shape (n_runs, n_levels)
        Mean interpolated precision by run and level of recall.
    """

    levels = ELEVEN_LEVELS

    runs: list[RunInfo]
    queries: Vocabulary
    precision: Floats
    _hits: Sequence[Hits]
    _relevant: Integers

    def __post_init__(self) -> None:
        freeze(self.precision)

    def order(self) -> list[int]:
        """Return the indices of the runs by descending mean over the levels."""
        return self._order(self.precision)

    def points(self, run: str) -> dict[str, list[list[float]]]:
        """Return rank, recall and precision at every retrieved relevant document, by query."""
        hits = self._hits[place_of(self.names, run)]
        columns = (hits.rank, hits.nth / self._relevant[hits.query], hits.nth / hits.rank)
        points: dict[str, list[list[float]]] = {query: [] for query in self.queries}
        lists = list(points.values())
        for query, *point in zip(hits.query.tolist(), *(column.tolist() for column in columns), strict=True):
            lists[query].append(point)
        return points

    def _columns(self) -> list[Column]:
        return self._table(self.levels, self.precision, self.order())

    def _notes(self) -> list[str]:
        rule = self.options["interpolation"]
        first = f"mean interpolated precision by recall level (interpolation: {rule})"
        return [first, self._size(), *super()._notes()]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys levels and runs."""
        runs = [
            {"name": run.name, "precision": precision, "points": self.points(run.name)}
            for run, precision in zip(self.runs, self.precision.tolist(), strict=True)
        ]
        return {"levels": list(self.levels), "runs": runs}

    def _figure(self) -> Make:
        """Draw the interpolated recall-precision curves."""
        from leadline.charts import COLUMN
        from leadline.charts.line_plots import recall_precision

        return lambda width: recall_precision(self.names, self.levels, self.precision, width=width or COLUMN)


@public
def curve(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    *,
    interpolation: str = "standard",
    rel: float = 1.0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[JudgedOptions],
) -> Curves:
    """Return the interpolated recall-precision curves of runs.

    The means are over all queries of the qrels. Queries that are missing from a run or have no relevant
    document count 0, and are counted in `warnings`.

    Parameters
    ----------
    qrels : path, mapping or frame
        Relevance judgments.
    runs : path, mapping, frame, or several of these
        One run or more.
    interpolation : str, default "standard"
        Rule of interpolation, as of the measure IPrec.
    rel : float, default 1
        Minimum grade that counts as relevant.
    on_run : callable, optional
        Called with the numbers of finished runs and of all runs after each run.
    **options
        How runs and judgments are read: `order`, `on_duplicate`, `on_nan`, `name_by` and `negative` (see
        `leadline.data.reading.Reading`).

    Returns
    -------
    Curves
        Mean precision at eleven levels of recall, and the points of every query.

    Examples
    --------
    >>> judgments = {"q1": {"d1": 1, "d2": 0, "d3": 1}}
    >>> found = curve(judgments, {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}})
    >>> found.points("run")
    {'q1': [[1, 0.5, 1.0], [3, 1.0, 0.6666666666666666]]}
    >>> found.precision[0].round(2)
    array([1.  , 1.  , 1.  , 1.  , 1.  , 1.  , 0.67, 0.67, 0.67, 0.67, 0.67])
    """
    reading = Reading.of(curve, options, JudgedOptions)
    check_word(RULES, interpolation=interpolation)
    check_numbers(rel=rel)
    judgments = judgments_of(qrels, reading)
    refuse_sample(judgments)
    check_level(rel, judgments)

    def curve_of(judged: JudgedRun) -> tuple[Floats, Hits]:
        values = interpolate(judged, ELEVEN_LEVELS, rule=interpolation, rel=rel)
        return np.nan_to_num(values).mean(axis=0), judged.hits(rel)

    infos, curves = judge_runs(runs, judgments, curve_of, reading=reading, on_run=on_run)
    precision, hits = zip(*curves, strict=True)
    return Curves(
        infos,
        judgments.queries,
        np.stack(precision),
        hits,
        judgments.relevant(rel),
        warnings=warnings_of(infos, judgments, levels=[rel]),
        options={"interpolation": interpolation, "rel": rel, **reading.options(JudgedOptions)},
    )


class Covered(NamedTuple):
    """Subtopics covered by one run."""

    new: Floats  # number of subtopics that a rank is the first to cover: (n_queries, n_ranks)
    size: Floats  # number of subtopics of each query

    @property
    def share(self) -> Floats:
        """Subtopic recall, queries x ranks; 0 for queries without subtopics."""
        total: Floats = np.cumsum(self.new, axis=1) / np.maximum(self.size, 1.0)[:, None]
        return total


@dataclass(repr=False, eq=False)
class SubtopicCurves(_OfRuns, Result):
    """Subtopic recall curves of runs.

    Attributes
    ----------
    covered : list of Covered
        Covered subtopics of each run by query and rank.
    share : ndarray of float64, shape (n_runs, n_ranks)
        Mean subtopic recall by run and rank.
    """

    runs: list[RunInfo]
    queries: Vocabulary
    covered: Sequence[Covered]

    def __post_init__(self) -> None:
        self.share = np.stack([run.share.mean(axis=0) for run in self.covered])
        freeze(self.share)

    @property
    def ranks(self) -> list[int]:
        """Ranks, from 1."""
        return list(range(1, self.share.shape[1] + 1))

    def order(self) -> list[int]:
        """Return the indices of the runs by descending mean over the ranks."""
        return self._order(self.share)

    def points(self, run: str) -> dict[str, list[list[float]]]:
        """Return rank, number of new subtopics and subtopic recall at ranks with new subtopics, by query."""
        covered = self.covered[place_of(self.names, run)]
        new, share = covered.new, covered.share
        points: dict[str, list[list[float]]] = {query: [] for query in self.queries}
        for query, place in np.argwhere(new).tolist():
            points[self.queries[query]].append(
                [place + 1, int(new[query, place]), float(share[query, place])]
            )
        return points

    def _columns(self) -> list[Column]:
        ranks = [rank for rank in TICKS if rank <= self.ranks[-1]]
        return self._table(ranks, self.share[:, [rank - 1 for rank in ranks]], self.order())

    def _notes(self) -> list[str]:
        return ["mean subtopic recall by rank", self._size(), *super()._notes()]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys ranks and runs."""
        runs = [
            {"name": run.name, "covered": share, "points": self.points(run.name)}
            for run, share in zip(self.runs, self.share.tolist(), strict=True)
        ]
        return {"ranks": self.ranks, "runs": runs}

    def _figure(self) -> Make:
        """Draw subtopic recall by rank."""
        from leadline.charts import COLUMN
        from leadline.charts.line_plots import covered_by_rank

        return lambda width: covered_by_rank(self.names, self.ranks, self.share, width=width or COLUMN)


def subtopic_curve(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    *,
    ranks: int = 20,
    rel: float = 1.0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[JudgedOptions],
) -> SubtopicCurves:
    """Return the subtopic recall of runs by rank.

    The means are over all queries of the qrels. Queries that are missing from a run or have no subtopics
    count 0.
    """
    reading = Reading.of(subtopic_curve, options, JudgedOptions)
    check_whole(1, ranks=ranks)
    check_numbers(rel=rel)
    judgments = judgments_of(qrels, replace(reading, subtopics=True))
    refuse_sample(judgments)
    check_level(rel, judgments)
    measure = StRecall(rel=rel)

    def curve_of(judged: JudgedRun) -> Covered:
        hits = measure.covered(judged, rel).first(ranks)
        first = hits.nth == 1
        new = np.zeros((len(judged.present), ranks))
        np.add.at(new, (hits.query[first], hits.rank[first] - 1), 1.0)
        return Covered(new, measure.size(judged, rel))

    infos, covered = judge_runs(runs, judgments, curve_of, reading=reading, on_run=on_run)
    return SubtopicCurves(
        infos,
        judgments.queries,
        covered,
        warnings=warnings_of(infos, judgments, levels=[rel]),
        options={"subtopics": True, "ranks": ranks, "rel": rel, **reading.options(JudgedOptions)},
    )
