"""Weights of a fusion, chosen on a grid by a measure and cross-validated over queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import comb
from typing import Any, Unpack

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.ids import Vocabulary
from leadline.data.reading import Reading, RunOptions
from leadline.data.result import Result
from leadline.data.results import Averaged, ResultWarning, plain
from leadline.data.run import Run
from leadline.data.validation import check_whole
from leadline.data.wording import counted
from leadline.errors import InputError, UsageError
from leadline.evaluation.evaluate import evaluate
from leadline.io.read import QrelsLike, RunLike, read_qrels
from leadline.io.read_paths import public
from leadline.measures import Measure
from leadline.retrieval.fusion import (
    FusedRun,
    described,
    method_of,
    normalisation_of,
    runs_of,
    warnings_of,
    weights_of,
)
from leadline.retrieval.fusion_lists import FusionLists, normalised
from leadline.retrieval.fusion_methods import FusionMethod

MOST = 5_000  # weights on the grid


class FusionTraining(Result):
    """Weights of a fusion trained on judged queries.

    Attributes
    ----------
    measure : Measure
        The measure by which weights were chosen.
    run : FusedRun
        Runs fused with `weights`.
    held_out : FusedRun
        Runs fused so that no query has weights chosen with it: by those of its fold.
    weights : dict of str to float
        Weight of each run, chosen on all queries; their sum is 1.
    training : float
        Mean of the measure with these weights on the queries that chose them.
    cross_validated : float
        Mean with weights chosen on the other folds.
    optimism : float
        `training` minus `cross_validated`; the reverse where smaller values are better.
    equal : float
        Mean with equal weights.
    alone : dict of str to float
        Mean of each run by itself.
    folds : list of dict
        `weights` and `queries` of each fold.
    """

    def __init__(
        self,
        names: Sequence[str],
        measure: Averaged,
        weights: Floats,
        values: tuple[float, float, float],
        *,
        alone: Sequence[float],
        folds: Sequence[dict[str, Any]],
        runs: tuple[FusedRun, FusedRun],
        warnings: Sequence[ResultWarning],
        options: dict[str, Any],
    ) -> None:
        self.run, self.held_out = runs
        self.measure = measure
        self.weights = dict(zip(names, weights.tolist(), strict=True))
        self.training, self.cross_validated, self.equal = values
        self.alone = dict(zip(names, alone, strict=True))
        self.folds = list(folds)
        self.warnings = list(warnings)
        self.options = dict(options)
        self.sources = self.run.sources

    @property
    def optimism(self) -> float:
        """Difference of the training and the cross-validated value."""
        sign = 1.0 if self.measure.rising else -1.0
        return sign * (self.training - self.cross_validated)

    @property
    def queries(self) -> int:
        """Number of queries trained on."""
        return sum(len(fold["queries"]) for fold in self.folds)

    def to_dict(self) -> dict[str, Any]:
        """Return the training as built-in types; None is undefined."""
        return {
            "measure": str(self.measure),
            "weights": self.weights,
            "training": plain(self.training),
            "cross_validated": plain(self.cross_validated),
            "optimism": plain(self.optimism),
            "equal_weights": plain(self.equal),
            "alone": {name: plain(value) for name, value in self.alone.items()},
            "n": self.queries,
            "folds": self.folds,
        }

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {weight:g}" for name, weight in self.weights.items())
        return f"FusionTraining({shown}; {self.measure} {self.cross_validated:.4f} cross-validated)"


@public
def train_fusion(
    runs: Iterable[RunLike] | Mapping[str, RunLike],
    qrels: QrelsLike,
    measure: str | Measure = "nDCG@10",
    *,
    method: str | FusionMethod = "CombSUM",
    normalise: str | None = None,
    steps: int = 10,
    folds: int = 5,
    seed: int = 0,
    depth: int | None = None,
    name: str | None = None,
    **options: Unpack[RunOptions],
) -> FusionTraining:
    """Choose the weights of a fusion by a measure, and cross-validate the choice over queries.

    Weights are the multiples of 1 / steps that add up to 1. Of weights with equal means, those nearest to
    equal weights are chosen. The value on the queries that chose the weights is too good; the cross-validated
    value is not, and `held_out` is the run to evaluate on the same judgments.

    Parameters
    ----------
    runs : iterable or mapping of runs
        Two runs or more.
    qrels : path, mapping or Qrels
        Judgments of the training queries.
    measure : str or Measure, default "nDCG@10"
        Measure whose mean over the judged queries is optimised.
    method : str or FusionMethod, default "CombSUM"
        A method with weights.
    normalise : str, optional
        Normalisation of scores, as in `fuse`.
    steps : int, default 10
        Number of steps of the grid from weight 0 to weight 1.
    folds : int, default 5
        Number of folds; at most the number of queries.
    seed : int, default 0
        Seed of the random assignment of queries to folds.
    depth : int, optional
        Largest number of documents kept for a query, before evaluation.
    name : str, optional
        Name of the run.
    **options
        How runs are read, as in `fuse`.

    Returns
    -------
    FusionTraining

    Raises
    ------
    UsageError
        If the grid has more than 5,000 weights, or the method or the measure cannot be trained.

    Examples
    --------
    >>> good, bad = {"q1": ["a", "b"], "q2": ["c"]}, {"q1": ["b", "a"], "q2": ["d"]}
    >>> found = train_fusion({"good": good, "bad": bad}, {"q1": {"a": 1}, "q2": {"c": 1}}, "RR", method="RRF")
    >>> found.weights, found.training, found.cross_validated
    ({'good': 0.6, 'bad': 0.4}, 1.0, 1.0)
    """
    check_whole(1, steps=steps, depth=depth)
    check_whole(2, folds=folds)
    check_whole(0, seed=seed)
    chosen = method_of(method)
    normalisation = normalisation_of(chosen, normalise)
    found = runs_of(runs, Reading.of(train_fusion, options, RunOptions))
    names = [run.name for run in found.runs]
    if len(set(names)) < len(names):
        raise UsageError(
            f"two runs are called {next(one for one in names if names.count(one) > 1)}; expected names"
        )
    weights_of(chosen, [1.0] * len(names), names)
    points = grid(len(names), steps)
    judgments = read_qrels(qrels)
    fusion = _Fusion(FusionLists(found.runs), chosen, normalisation, depth)
    every = [*points, np.full(len(names), 1 / len(names))]
    results = [evaluate(judgments, fusion.run(weights), [measure]) for weights in every]
    measured = results[0].measures[0]
    if len(results[0].measures) > 1 or measured.average not in ("mean", "defined"):
        raise UsageError(f"measure '{measure}' is no mean of one value a query; expected one, as in AP")
    table = np.stack([result.averaged_values(0)[0] for result in results])
    used = np.flatnonzero(~np.isnan(table).all(axis=0))
    if len(used) < 2:
        raise InputError(f"{counted(len(used), 'query', 'queries')} with a value", expected="two or more")
    if measured.rising and not table[:, used].any():
        raise InputError(
            f"{measured} is 0 for every query with all weights",
            expected="judgments with relevant documents that the runs retrieve",
        )
    sign = 1.0 if measured.rising else -1.0
    values = sign * table[:, used]
    order = preference(points)
    best = _best(values[:-1], order)
    fold_of = np.empty(len(used), dtype=np.int64)
    number = min(folds, len(used))
    fold_of[np.random.default_rng(seed).permutation(len(used))] = np.arange(len(used)) % number
    winners = [_best(values[:-1, fold_of != fold], order) for fold in range(number)]
    held_out = np.array([values[winners[fold], place] for place, fold in enumerate(fold_of.tolist())])
    queries = [judgments.queries[code] for code in used.tolist()]
    run = described(fusion.run(points[best]), found, chosen, normalisation, points[best], name=name)
    apart = described(
        fusion.by_query(best, winners, dict(zip(queries, fold_of.tolist(), strict=True)), points),
        found,
        chosen,
        normalisation,
        points[best],
        name=name,
    )
    more = warnings_of(fusion.lists, chosen, normalisation)
    for one, note in (
        (run, f"weights learned from {len(used)} judged queries: do not evaluate the run with them"),
        (apart, ""),
    ):
        one.warnings += more + ([ResultWarning("learned", note, 1)] if note else [])
        one.options |= {
            "depth": depth,
            "steps": steps,
            "folds": number,
            "seed": seed,
            "measure": str(measured),
        }
    return FusionTraining(
        names,
        measured,
        points[best],
        (
            sign * float(np.nanmean(values[best])),
            sign * float(np.nanmean(held_out)),
            sign * float(np.nanmean(values[-1])),
        ),
        alone=[
            sign * float(np.nanmean(values[_index(points, np.eye(len(names))[index])]))
            for index in range(len(names))
        ],
        folds=[
            {
                "weights": points[winner].tolist(),
                "queries": [one for one, at in zip(queries, fold_of.tolist(), strict=True) if at == fold],
            }
            for fold, winner in enumerate(winners)
        ],
        runs=(run, apart),
        warnings=run.warnings,
        options=run.options,
    )


def grid(runs: int, steps: int) -> Floats:
    """Return all weights of runs that are multiples of 1 / steps and add up to 1.

    >>> grid(2, 2).tolist()
    [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]
    """
    size = comb(steps + runs - 1, runs - 1)
    if size > MOST:
        fitting = next(
            (fewer for fewer in range(steps, 0, -1) if comb(fewer + runs - 1, runs - 1) <= MOST), None
        )
        hint = (
            f"at most {MOST:,}, as with {counted(fitting, 'step')}"
            if fitting
            else f"at most {MOST:,}; fewer runs"
        )
        raise UsageError(f"{size:,} weights of {runs} runs in {steps} steps; expected {hint}")
    return np.array(list(_compositions(runs, steps)), dtype=np.float64) / steps


def _compositions(parts: int, total: int) -> Iterator[list[int]]:
    if parts == 1:
        yield [total]
        return
    for first in range(total + 1):
        for rest in _compositions(parts - 1, total - first):
            yield [first, *rest]


def preference(points: Floats) -> Integers:
    """Return the indices of weights, those nearest to equal weights first.

    >>> preference(grid(2, 2)).tolist()
    [1, 0, 2]
    """
    distance = np.round(((points - 1 / points.shape[1]) ** 2).sum(axis=1), 12)
    return np.argsort(distance, kind="stable")


def _best(values: Floats, order: Integers) -> int:
    """Return the index of the largest mean; of means equal but for rounding, the first in the order."""
    means = np.nanmean(values, axis=1)
    return int(next(index for index in order.tolist() if means[index] >= means.max() - 1e-12))


def _index(points: Floats, weights: Floats) -> int:
    return int(np.argmin(np.abs(points - weights).sum(axis=1)))


class _Fusion:
    """Fusion of the same lists with many weights; a run of weight 0 is left out."""

    def __init__(
        self, lists: FusionLists, method: FusionMethod, normalisation: str, depth: int | None
    ) -> None:
        self.lists, self.method, self.normalisation, self.depth = lists, method, normalisation, depth
        self.prepared: dict[tuple[int, ...], FusionLists] = {}

    def run(self, weights: Floats) -> Run:
        kept = tuple(np.flatnonzero(weights > 0).tolist())
        if kept not in self.prepared:
            lists = self.lists.of_runs(kept)
            self.prepared[kept] = normalised(lists, self.normalisation) if self.method.uses_scores else lists
        lists = self.prepared[kept]
        return lists.run_of(self.method.scores(lists, weights[list(kept)]), depth=self.depth)

    def by_query(self, best: int, winners: Sequence[int], fold_of: Mapping[str, int], points: Floats) -> Run:
        """Return the run in which each query has the weights of its fold; without a fold the best ones."""
        runs = {index: self.run(points[index]) for index in {best, *winners}}
        queries: Vocabulary = self.lists.queries
        rows, sources = [], []
        for code, query in enumerate(queries):
            index = winners[fold_of[query]] if query in fold_of else best
            rows.append(np.arange(*runs[index].offsets[code : code + 2].tolist()))
            sources.append(index)
        document = [runs[index].document[part] for index, part in zip(sources, rows, strict=True)]
        scores = [runs[index].scores[part] for index, part in zip(sources, rows, strict=True)]
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return Run.of_columns(
            queries, offsets, self.lists.documents, np.concatenate(document), np.concatenate(scores)
        )
