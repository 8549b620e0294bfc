"""Measure how much the intervals of estimates shrink if the grades of unjudged documents are predicted.

QRELS are the truth. A document without a judgment counts as not relevant. All RUNS are pooled as in `leadline
pool --for`. In each of `--draws` rounds, documents are drawn and each measure is estimated with each proxy. A
proxy predicts the grades of unjudged documents, mostly from votes of the runs. The width of the intervals is
divided by their width with the proxy `centred`, the mean grade of the judged pairs. The votes of the runs are
weighted equally, or by an estimate of the quality of each run: without judgments (nruns, reference count, and
DeShaTo with `--docs`), by HSA of the judged ranks, or by the true value, which shows how much weights can
achieve. Two adverse proxies predict badly on purpose: one labels at random, the other by the ranks of the
worst run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from leadline import Measure, Qrels, read_qrels
from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.reading import Reading
from leadline.data.table import Table
from leadline.data.wording import counted
from leadline.estimation.designs import Draw, Target, Weights, draw
from leadline.estimation.estimators import Sample
from leadline.estimation.guesses import VOTE_CONSTANT, Cells, Guess, folds_of
from leadline.estimation.histogram_result import slope
from leadline.estimation.pool_designs import rank_weights
from leadline.estimation.sampling_errors import MOST_GUESSED
from leadline.estimation.system_lists import Systems, read_systems
from leadline.estimation.unjudged import estimate_systems, fit_topics
from leadline.estimation.unjudged_methods import METHODS
from leadline_studies import LEVEL, SEED, Claim, Given, Option, Outcome, of_judged, with_options
from leadline_studies.common.coverage import covers
from leadline_studies.common.tables import sheet
from leadline_studies.estimate.study import (
    Board,
    Setting,
    World,
    joined,
    listed,
    make_board,
    make_setting,
    quantile_cells,
    simulated,
)
from leadline_studies.estimate.trials import Trial

CLAIM = Claim("Predictions of unjudged grades make the intervals of estimates narrower.")
MEASURES = ("P@10", "RBP(p=0.8)@10")
OPTIONS = (
    Option("docs", str, "Texts of the documents for DeShaTo.", metavar="DOCS"),
    Option("measure", str, "Measure to estimate (repeatable).", MEASURES),
    LEVEL,
    Option("budget", int, "Mean number of judgments per query.", 20),
    Option("draws", int, "Number of samples to draw, each with --budget judgments per query.", 50, least=2),
    Option("topics", int, "Number of topics for DeShaTo.", 50, metavar="T"),
    Option("fits", int, "Number of LDA fits for DeShaTo.", 3),
    Option("sweeps", int, "Number of Gibbs sweeps over all tokens in each fit.", 200),
    SEED,
)
UNJUDGED = ("nruns", "reference-count")
DEPTH = 100  # documents of each run that estimators without judgments may use
BINS = 10  # of HSA
VOTE_EDGES = (3, 6, 11, 21, 41, 81)  # first rank by votes of each cell after the first
LABELS = 4  # of the adverse machines
CENTRED = "centred"
HSA = "votes by HSA"
TRUE = "votes by true value"


Trials = Sequence[tuple[Floats, ...]]
Proxy = Cells | Callable[[Draw], Cells]


class Votes(NamedTuple):
    """A measure on a board, with the votes that the runs give to each pair."""

    setting: Setting
    depth: int

    @property
    def board(self) -> Board:
        return self.setting.board

    @property
    def query(self) -> Integers:
        return self.board.table.query.astype(np.int64)

    def of(self, weights: Floats) -> Floats:
        """Return weighted sums over the runs of 1 / (60 + rank)."""
        rows, ranks = self.board.brought
        value = weights[self.board.system] / (VOTE_CONSTANT + ranks)
        return np.bincount(rows, value, minlength=len(self.query)).astype(np.float64)

    def cells(self, weights: Floats, chosen: Draw) -> Cells:
        """Return cells of quantiles of weighted votes."""
        return quantile_cells(self.of(weights), chosen.probability)


def votes_of(systems: Systems, runs: Sequence[Any], truth: Qrels, measure: Measure) -> Votes:
    """Return a measure on the board of all runs."""
    world = World(systems, runs, len(systems.infos), *joined(systems, runs, truth))
    depth = 2 * len(rank_weights(measure))
    return Votes(make_setting(make_board(world, depth), measure, world, depth), depth)


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the simulation."""
    measures = simulated(given.measure, given.level)
    truth = read_qrels(qrels)
    depth = max(DEPTH, *(2 * len(rank_weights(measure_)) for measure_ in measures))
    every = listed(runs)
    systems = of_judged(read_systems(every, Reading(), depth=depth), truth)
    scores = _scores(systems, given)
    cells: list[dict[str, Any]] = []
    for measure_ in measures:
        votes = votes_of(systems, every, truth, measure_)
        frame, means = votes.setting.frame, votes.setting.truth
        proxies = _proxies(votes, scores | {"true value": means}, given.seed)
        trials: dict[str, list[tuple[Floats, ...]]] = {}
        for number in given.each(range(given.draws)):
            chosen = draw(frame, given.budget * len(frame.queries), seed=given.seed + number)
            for name, proxy in proxies.items():
                of_draw = proxy if isinstance(proxy, Cells) else proxy(chosen)
                trials.setdefault(name, []).append(_trial(votes, of_draw, chosen, number))
        cells += [
            {"measure": str(measure_), "proxy": name} | _summary(of_proxy, trials[CENTRED], means)
            for name, of_proxy in trials.items()
        ]
    data = {
        "draws": given.draws,
        "budget": given.budget,
        "systems": len(systems.infos),
        "queries": len(systems.queries),
        "pairs": len(frame.query) / len(systems.queries),
        "level": given.level,
        "cells": cells,
    }
    return Outcome(data, options={"measure": list(map(str, measures))})


def _scores(systems: Systems, given: Given) -> dict[str, Floats]:
    """Return estimates of the quality of every run without judgments."""
    results = {name: estimate_systems(systems, METHODS.parse(name), seed=given.seed) for name in UNJUDGED}
    if given.docs is not None:
        how = {"fits": given.fits, "sweeps": given.sweeps, "seed": given.seed}
        vectors = fit_topics(systems, given.docs, given.topics, **how)
        method = METHODS.parse("deshato")
        results["DeShaTo"] = estimate_systems(systems, method, topics=vectors, seed=given.seed)
    return {name: result.scores for name, result in results.items()}


def _weights(scores: Floats) -> Floats:
    """Return weights from 0 for the smallest score to 1 for the largest."""
    known = scores[~np.isnan(scores)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if low == high:
        return np.ones(len(scores))
    return np.nan_to_num((scores - low) / (high - low), nan=0.5)


def _vote_cells(query: Integers, votes: Floats) -> Cells:
    """Return the cells of pairs by their rank in votes within the query."""
    order = np.lexsort((-votes, query))
    ordered = query[order]
    rank = np.empty(len(query), dtype=np.int64)
    rank[order] = np.arange(len(query)) - np.searchsorted(ordered, ordered) + 1
    last = len(VOTE_EDGES) + 1
    return Cells(np.searchsorted(VOTE_EDGES, rank, side="right"), last + 1, last, last)


def _proxies(votes: Votes, scores: Mapping[str, Floats], seed: int) -> dict[str, Proxy]:
    """Return for every proxy its cells, or a function that makes them of a draw."""
    size = len(votes.query)
    random = np.random.default_rng(seed).integers(1, LABELS + 1, size)
    alike = np.ones(len(votes.setting.truth))
    worst = _labels_of(votes, int(votes.setting.truth.argmin()))

    def by_histograms(chosen: Draw) -> Cells:
        folds = folds_of(votes.board.table.queries)
        cells = [
            votes.cells(_weights(hsa_of(votes, chosen.drawn & (folds[votes.query] != fold))), chosen)
            for fold in range(int(folds.max()) + 1)
        ]
        return Cells(  # a row for each fold, made of the judgments of the others
            np.array([of_fold.cell for of_fold in cells]), max(of_fold.cells for of_fold in cells), 0, 0
        )

    return {
        "none": Cells.one(size, guessing=False),
        CENTRED: Cells.one(size),
        "votes, cells by rank": _vote_cells(votes.query, votes.of(alike)),
        "adverse: random labels": Cells(random, LABELS + 1, 0, 0),
        "adverse: worst run": Cells(worst, LABELS + 1, 0, 0),
        "votes": partial(votes.cells, alike),
        **{f"votes by {name}": partial(votes.cells, _weights(of_runs)) for name, of_runs in scores.items()},
        HSA: by_histograms,
    }


def _labels_of(votes: Votes, system: int) -> Integers:
    """Return labels by the ranks of one run: 4 for its first quarter of the frame, 1 for its last; 0 else."""
    label = np.zeros(len(votes.query), dtype=np.int64)
    own = votes.board.system == system
    rows, ranks = (part[own] for part in votes.board.brought)
    label[rows] = LABELS - (ranks - 1) * LABELS // votes.depth
    return label


def hsa_of(votes: Votes, judged: Flags) -> Floats:
    """Return HSA of every run, from ten bins of the ranks of its judged documents in the frame."""
    rows, ranks = votes.board.brought
    used = judged[rows]
    grades = votes.board.table.grades
    other = votes.setting.kind.target.of(grades)[rows[used]] <= 0
    bin_ = (votes.depth - ranks[used]) * BINS // votes.depth
    key = (votes.board.system[used] * 2 + other) * BINS + bin_
    systems = len(votes.setting.truth)
    counts = np.bincount(key, minlength=systems * 2 * BINS).reshape(systems, 2, BINS).astype(np.float64)
    slopes: Floats = slope(counts[:, 0], counts[:, 1], half_counts=True, weighted=True)
    return slopes


@dataclass(frozen=True)
class _FoldedSample(Sample):
    """A sample whose cells depend on the fold that is left out: `by_fold` has a row per fold."""

    by_fold: Integers | None = None

    def guess(self, target: Target, weights: Weights | None, cutoff: int | None) -> Guess:
        """Fit the prediction of every fold in the cells that were made without its judgments."""
        if self.by_fold is None:
            return super().guess(target, weights, cutoff)
        rows = [
            (guess.table[fold], guess.outside[fold])
            for fold, cell in enumerate(self.by_fold)
            for guess in [replace(self, cell=cell, by_fold=None).guess(target, weights, cutoff)]
        ]
        table, outside = zip(*rows, strict=True)
        return Guess(np.array(table), np.array(outside))


def _trial(votes: Votes, cells: Cells, chosen: Draw, seed: int) -> tuple[Floats, ...]:
    """Return values of all runs, ends of their intervals below and above, and guessed weights."""
    board, folds = votes.board, folds_of(votes.board.table.queries)
    by_fold = cells.cell if cells.cell.ndim > 1 else None
    cell = cells.cell if by_fold is None else by_fold[folds[votes.query], np.arange(by_fold.shape[1])]
    same = board.sample(cells._replace(cell=cell), chosen.probability, chosen.drawn, seed)
    trial = Trial.of(_FoldedSample(**vars(same), by_fold=by_fold), votes.setting.kind, board.joined)
    return trial.values, *np.hypot(trial.half, trial.doubt.T), trial.guessed


def _summary(trials: Trials, centred: Trials, truth: Floats) -> dict[str, Any]:
    """Return the width relative to centred, its spread between draws, coverage and bias."""
    values, below, above, guessed = np.array(trials).swapaxes(0, 1)
    wide, base = below + above, np.array(centred)[:, 1:3].sum(axis=1)
    given = guessed <= MOST_GUESSED
    error = values - truth
    held = covers(values - below, values + above, truth)
    some = given & (base > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_draw = np.where(some, wide / base, 0.0).sum(axis=1) / some.sum(axis=1)
        half_width, coverage = wide[some].sum() / some.sum() / 2, held[some].sum() / some.sum()
    return {
        "ratio": float(by_draw.mean()),
        "ratio_sd": float(by_draw.std(ddof=1)),
        "ratio_low": float(by_draw.min()),
        "ratio_high": float(by_draw.max()),
        "half_width": float(half_width),
        "coverage": float(coverage),
        "given": float(given.mean()),
        "bias": float(error.mean()),
        "rmse": float(np.sqrt((error**2).mean())),
    }


COLUMNS = ("ratio", "ratio_sd", "ratio_low", "ratio_high", "half_width", "coverage", "given", "bias", "rmse")


def tables(data: Mapping[str, Any]) -> dict[str, Table]:
    """Return the table of all cells."""
    heads = [f"{name.replace('_', ' ')}={name}" for name in COLUMNS]
    return {"proxies": sheet(data["cells"], ["measure", "proxy", *heads], digits=3)}


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return the conclusions."""
    cells = [cell for cell in data["cells"] if not math.isnan(cell["ratio"])]
    adverse = [cell for cell in cells if cell["proxy"].startswith("adverse")]
    if not adverse:
        return ["No verdict: some draws have no interval with centred. Use a larger --budget."]
    worst = max(adverse, key=lambda cell: cell["ratio"])
    best = min((cell for cell in cells if cell["proxy"] != TRUE), key=lambda cell: cell["ratio"])
    narrow = (
        f"The narrowest intervals are those with {best['proxy']} for {best['measure']}: {best['ratio']:.3f} "
        f"of the width with centred, over {counted(data['draws'], 'draw')}."
    )
    wide = f"The widest adverse proxy has {worst['ratio']:.3f} of that width ({worst['measure']})."
    return [narrow, wide]
