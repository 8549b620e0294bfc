"""Recall-precision curves, and curves of covered subtopics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.data.arrays import Floats, Integers, freeze
from leadline.data.ids import Vocabulary
from leadline.data.judged_run import Hits, JudgedRun
from leadline.data.reading import JudgedOptions, Reading
from leadline.data.result import Result
from leadline.data.results import ResultWarning, RunInfo
from leadline.data.validation import check_numbers, check_whole, check_word
from leadline.data.wording import counted, queries
from leadline.errors import UsageError
from leadline.evaluation.join import judge_runs
from leadline.evaluation.run_warnings import warnings_of
from leadline.io.read import QrelsLike, RunLike, judgments_of
from leadline.measures.average_precision import ELEVEN_LEVELS, RULES, interpolate
from leadline.measures.diversity import StRecall


class Curves(Result):
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
        warnings: Sequence[ResultWarning] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        freeze(precision)
        self.runs = list(runs)
        self.queries = queries
        self.precision = precision
        self._hits = list(hits)
        self._relevant = relevant
        self.warnings = list(warnings)
        self.options = dict(options or {})

    @property
    def names(self) -> list[str]:
        """Return the names of the runs."""
        return [run.name for run in self.runs]

    def order(self) -> list[int]:
        """Return the runs by their mean over the levels, the best first."""
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
        for query, *point in zip(hits.query.tolist(), *(column.tolist() for column in columns), strict=True):
            lists[query].append(point)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as plain data: `levels`, `runs`."""
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
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[JudgedOptions],
) -> Curves:
    """Return the recall-precision curves of runs; `interpolation` is a rule of the measure IPrec.

    Every query of the qrels counts: one that a run lacks or that has nothing of grade `rel` counts
    0 in the mean, and is counted in `warnings`. `options` say how runs and judgments are read: `order`,
    `on_duplicate`, `on_nan`, `name_by` and `negative` of `leadline.data.reading.Reading`.

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
    table = judgments_of(qrels, reading)

    def one(judged: JudgedRun) -> tuple[Floats, Hits]:
        values = interpolate(judged, ELEVEN_LEVELS, rule=interpolation, rel=rel)
        return np.nan_to_num(values).mean(axis=0), judged.hits(rel)

    infos, found = judge_runs(runs, table, one, reading=reading, on_run=on_run)
    precision, hits = zip(*found, strict=True)
    return Curves(
        infos,
        table.queries,
        np.stack(precision),
        hits,
        table.relevant(rel),
        warnings=warnings_of(infos, table, levels=[rel]),
        options={"interpolation": interpolation, "rel": rel, **reading.options(JudgedOptions)},
    )


class Covered(NamedTuple):
    """What one run covers: queries x ranks of new subtopics, and how many each query has."""

    new: Floats
    size: Floats

    @property
    def share(self) -> Floats:
        """Return queries x ranks: the share of subtopics covered; 0 for a query without any."""
        total: Floats = np.cumsum(self.new, axis=1) / np.maximum(self.size, 1.0)[:, None]
        return total


class SubtopicCurves(Result):
    """The curves of some runs: `share[r, k]` is the mean share of subtopics covered to rank k + 1."""

    def __init__(
        self,
        runs: Sequence[RunInfo],
        queries: Vocabulary,
        covered: Sequence[Covered],
        *,
        warnings: Sequence[ResultWarning] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.runs = list(runs)
        self.queries = queries
        self.covered = list(covered)
        self.share = np.stack([part.share.mean(axis=0) for part in covered])
        freeze(self.share)
        self.warnings = list(warnings)
        self.options = dict(options or {})

    @property
    def names(self) -> list[str]:
        """Return the names of the runs."""
        return [run.name for run in self.runs]

    @property
    def ranks(self) -> list[int]:
        """Return the ranks."""
        return list(range(1, self.share.shape[1] + 1))

    def order(self) -> list[int]:
        """Return the runs by their mean over the ranks, the best first."""
        means = self.share.mean(axis=1).tolist()
        return sorted(range(len(self.runs)), key=lambda place: (-means[place], place))

    def points(self, run: str) -> dict[str, list[list[float]]]:
        """Give, per query, rank, new subtopics and share covered at every rank that brings any."""
        if run not in self.names:
            raise UsageError(f"no run '{run}' in these curves; there are: " + ", ".join(self.names))
        covered = self.covered[self.names.index(run)]
        return {
            query: [
                [rank, int(new), share]
                for rank, (new, share) in enumerate(zip(row, shares, strict=True), start=1)
                if new
            ]
            for query, row, shares in zip(
                self.queries, covered.new.tolist(), covered.share.tolist(), strict=True
            )
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as plain data: `ranks`, `runs`."""
        runs = [
            {"name": run.name, "covered": share, "points": self.points(run.name)}
            for run, share in zip(self.runs, self.share.tolist(), strict=True)
        ]
        return {"ranks": self.ranks, "runs": runs}

    def __repr__(self) -> str:
        return f"SubtopicCurves({counted(len(self.runs), 'run')}, {queries(len(self.queries))})"


def subtopic_curve(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    *,
    ranks: int = 20,
    rel: float = 1.0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[JudgedOptions],
) -> SubtopicCurves:
    """Return how many new subtopics each of the first ranks of some runs brings.

    At every rank the share covered is subtopic recall there. Every query of the qrels counts: one that a
    run lacks, or that has no subtopics, counts 0 in the mean. `options` are those of `curve`.
    """
    reading = Reading.of(subtopic_curve, options, JudgedOptions)
    check_whole(1, ranks=ranks)
    check_numbers(rel=rel)
    table = judgments_of(qrels, replace(reading, subtopics=True))
    measure = StRecall(rel=rel)

    def one(judged: JudgedRun) -> Covered:
        found = measure.covered(judged, rel).first(ranks)
        first = found.nth == 1
        new = np.zeros((len(judged.present), ranks))
        np.add.at(new, (found.query[first], found.rank[first] - 1), 1.0)
        return Covered(new, measure.size(judged, rel))

    infos, covered = judge_runs(runs, table, one, reading=reading, on_run=on_run)
    return SubtopicCurves(
        infos,
        table.queries,
        covered,
        warnings=warnings_of(infos, table, levels=[rel]),
        options={"subtopics": True, "ranks": ranks, "rel": rel, **reading.options(JudgedOptions)},
    )
