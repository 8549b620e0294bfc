"""Measure how much narrower predictions of unjudged grades make the intervals of estimates.

QRELS are the truth; documents without a judgment are not relevant. All RUNS are pooled as by `leadline pool
--for`; `--draws` times documents are drawn, and each measure is estimated with every proxy. The width of the
intervals is divided by their width with the proxy `centred`, the mean grade of the judged pairs. Votes of
the runs are plain, or weighted by estimates of the quality of each run: without judgments (nruns, reference
count; DeShaTo with `--docs`), by HSA of the judged ranks, or by the true value, which shows how much weights
can achieve. Two adverse machines label at random, or by the ranks of the worst run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.ids import to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import Qrels
from leadline.data.reading import Reading
from leadline.data.run import Run
from leadline.data.table import Table
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.estimation.designs import Draw, Frame, draw, frame_of
from leadline.estimation.document_topics import fit_topics
from leadline.estimation.estimators import Estimator, Sample
from leadline.estimation.guesses import VOTE_CONSTANT, Cells, Guess, folds_of
from leadline.estimation.measure_targets import Cascade, Kind, Linear, Target, Weights, kind_of
from leadline.estimation.pool_designs import rank_weights
from leadline.estimation.sampling_errors import half_width
from leadline.estimation.score_histograms.bins import slope
from leadline.estimation.system_lists import Systems, read_systems
from leadline.estimation.unjudged import estimate_systems
from leadline.estimation.unjudged_methods import METHODS
from leadline.estimation.withheld import MOST_GUESSED
from leadline.evaluation.join import judge_runs
from leadline.evaluation.profiles import profile_of
from leadline.io.read import QrelsLike, read_qrels
from leadline.measures import Measure
from leadline_studies import Claim, Option, Outcome, Progress

CLAIM = Claim("Predictions of unjudged grades make the intervals of estimates narrower.")
MEASURES = ("P@10", "RBP(p=0.8)@10")
OPTIONS = (
    Option("docs", str, "Texts of the documents, for DeShaTo.", metavar="DOCS"),
    Option("measure", str, "Measure (repeatable).", MEASURES, metavar="MEASURE", repeatable=True),
    Option("level", float, "Minimum relevant grade.", 1.0, metavar="GRADE"),
    Option("budget", int, "Mean number of judgments per query.", 20, metavar="N"),
    Option("draws", int, "Number of samples drawn.", 50, metavar="N"),
    Option("topics", int, "Number of topics of DeShaTo.", 50, metavar="T"),
    Option("fits", int, "Number of LDA fits of DeShaTo.", 3, metavar="N"),
    Option("sweeps", int, "Number of Gibbs sweeps of each fit.", 200, metavar="N"),
    Option("seed", int, "Seed of the random number generator.", 0, metavar="N"),
)
UNJUDGED = ("nruns", "reference-count")
DEPTH = 100  # documents of each run that estimators without judgments may use
BINS = 10  # of HSA
VOTE_EDGES = (3, 6, 11, 21, 41, 81)  # first rank by votes of each cell after the first
LABELS = 4  # of the adverse machines
CENTRED = "centred"
HSA = "votes by HSA"
TRUE = "votes by true value"


class _Setting(NamedTuple):
    """What is common to all draws: frame, joined runs, true values and contributions of the runs."""

    frame: Frame
    table: Qrels
    joined: list[JudgedRun]
    kind: Kind
    truth: Floats
    rows: Integers  # row, rank and system of every contribution
    ranks: Integers
    system: Integers
    depth: int

    @property
    def query(self) -> Integers:
        return self.table.query.astype(np.int64)

    def votes(self, weights: Floats) -> Floats:
        """Return weighted sums over the runs of 1 / (60 + rank)."""
        value = weights[self.system] / (VOTE_CONSTANT + self.ranks)
        return np.bincount(self.rows, value, minlength=len(self.table.grades)).astype(np.float64)

    def by_votes(self, weights: Floats, chosen: Draw) -> Cells:
        """Return cells of quantiles of weighted votes, as `leadline evaluate --proxy votes`."""
        return Cells.of_quantiles(self.votes(weights), chosen.probability)


def run(
    qrels: QrelsLike,
    runs: Any,
    *,
    docs: str | None = None,
    measure: Sequence[str] = MEASURES,
    level: float = 1.0,
    budget: int = 20,
    draws: int = 50,
    topics: int = 50,
    fits: int = 3,
    sweeps: int = 200,
    seed: int = 0,
    on_run: Progress | None = None,
) -> Outcome:
    """Run the simulation; `on_run` reports the progress in draws."""
    if draws < 2:
        raise UsageError(f"draws={draws}; expected two or more")
    measures = profile_of("leadline").measures(list(measure), rel=level, documents=None)
    kinds = [kind_of(measure_) for measure_ in measures]
    for measure_, kind in zip(measures, kinds, strict=True):
        if not isinstance(kind, (Linear, Cascade)):
            problem = f"{measure_} has no width per draw"
            raise UsageError(f"{problem}; expected measures such as P@10, RBP@10, RR@10")
    truth = read_qrels(qrels)
    depth = max(DEPTH, *(2 * len(rank_weights(measure_)) for measure_ in measures))
    systems = read_systems(runs, Reading(), depth=depth).asked(truth.queries.names)
    scores = _scores(systems, docs, topics, fits, sweeps, seed)
    cells: list[dict[str, Any]] = []
    done = 0
    for measure_, kind in zip(measures, kinds, strict=True):
        setting = _setting(truth, systems, measure_, kind)
        proxies = _proxies(setting, scores | {"true value": setting.truth}, seed)
        trials: dict[str, list[_Trial]] = {}
        for number in range(draws):
            chosen = draw(setting.frame, budget * len(setting.frame.queries), seed=seed + number)
            for name, proxy in proxies.items():
                trials.setdefault(name, []).append(_trial(setting, proxy(chosen), chosen, number))
            done += 1
            if on_run:
                on_run(done, len(measures) * draws)
        cells += [
            {"measure": str(measure_), "proxy": name} | _summary(of_proxy, trials[CENTRED], setting.truth)
            for name, of_proxy in trials.items()
        ]
    data = {
        "draws": draws,
        "budget": budget,
        "systems": len(systems.infos),
        "queries": len(systems.queries),
        "pairs": len(setting.frame.query) / len(systems.queries),
        "level": level,
        "cells": cells,
    }
    options = {
        "docs": docs,
        "measure": list(map(str, measures)),
        "level": level,
        "budget": budget,
        "draws": draws,
        "topics": topics,
        "fits": fits,
        "sweeps": sweeps,
        "seed": seed,
    }
    return Outcome(data, {"proxies": _sheet(cells)}, {}, lines_of(data), (), (), options)


def _scores(
    systems: Systems, docs: str | None, topics: int, fits: int, sweeps: int, seed: int
) -> dict[str, Floats]:
    """Return estimates of the quality of every run without judgments."""
    scores = {
        name: np.array(
            list(estimate_systems(systems, METHODS.parse(name), seed=seed).to_dict()["scores"].values())
        )
        for name in UNJUDGED
    }
    if docs is not None:
        vectors = fit_topics(systems, docs, topics, fits=fits, sweeps=sweeps, seed=seed)
        result = estimate_systems(systems, METHODS.parse("deshato"), topics=vectors, seed=seed)
        scores["DeShaTo"] = np.array(list(result.to_dict()["scores"].values()))
    return {name: values.astype(np.float64) for name, values in scores.items()}


def _setting(truth: Qrels, systems: Systems, measure: Measure, kind: Kind) -> _Setting:
    names = list(systems.queries.names)
    runs = _runs_of(systems)
    weight = rank_weights(measure)
    depth = 2 * len(weight)
    lists = [
        [[systems.documents[code] for code in ranking[:depth].tolist()] for ranking in systems.lists(name)]
        for name in names
    ]
    frame = frame_of(names, lists, [weight], depth)
    grades = truth.to_dict()
    keys = [
        (names[query], ranking) for query, ranking in zip(frame.query.tolist(), frame.documents, strict=True)
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    keys = [keys[row] for row in order]
    frame = Frame(
        sorted(names),
        np.searchsorted(np.array(sorted(names), dtype=object), np.array([q for q, _ in keys], dtype=object)),
        [document for _, document in keys],
        frame.importance[order],
        frame.best[order],
    )
    table = Qrels.of(
        (query, document, float(grades.get(to_text(query), {}).get(to_text(document), 0)))
        for query, document in keys
    )
    _, joined = judge_runs(runs, table, lambda ranking: ranking, reading=Reading())
    whole = truth.keep(np.isin(truth.query, truth.queries.encode(names)))
    codes = whole.queries.encode(names)
    _, values = judge_runs(runs, whole, measure.values, reading=Reading())
    rows = {key: row for row, key in enumerate(keys)}
    brought = [
        (rows[name, document], rank, system)
        for name, ranked in zip(names, lists, strict=True)
        for system, ranking in enumerate(ranked)
        for rank, document in enumerate(ranking, start=1)
    ]
    columns = np.array(brought, dtype=np.int64).T
    means = np.nan_to_num(np.array(values)[:, codes]).mean(axis=1)
    return _Setting(frame, table, joined, kind, means, columns[0], columns[1], columns[2], depth)


def _runs_of(systems: Systems) -> dict[str, Run]:
    """Return the first documents of every run, in their order."""
    rows: list[list[tuple[bytes, bytes, float]]] = [[] for _ in systems.infos]
    for name in systems.queries.names:
        for index, ranked in enumerate(systems.lists(name)):
            rows[index] += [
                (name, systems.documents[code], -rank) for rank, code in enumerate(ranked.tolist())
            ]
    return {info.name: Run.of(rows_of_run) for info, rows_of_run in zip(systems.infos, rows, strict=True)}


def _weights(scores: Floats) -> Floats:
    """Return weights from 0 for the smallest score to 1 for the largest."""
    known = scores[~np.isnan(scores)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    if low == high:
        return np.ones(len(scores))
    return np.nan_to_num((scores - low) / (high - low), nan=0.5)


def _vote_cells(query: Integers, votes: Floats) -> Integers:
    """Return the cell of each pair by its rank in votes within the query."""
    order = np.lexsort((-votes, query))
    ordered = query[order]
    rank = np.empty(len(query), dtype=np.int64)
    rank[order] = np.arange(len(query)) - np.searchsorted(ordered, ordered) + 1
    return np.searchsorted(VOTE_EDGES, rank, side="right")


def _proxies(
    setting: _Setting, scores: Mapping[str, Floats], seed: int
) -> dict[str, Callable[[Draw], Cells]]:
    """Return for every proxy its cells, which may depend on the draw."""
    size = len(setting.table.grades)
    last = len(VOTE_EDGES) + 1
    alike = np.ones(len(setting.truth))
    ranked = _vote_cells(setting.query, setting.votes(alike))
    random = np.random.default_rng(seed).integers(1, LABELS + 1, size)
    fixed = {
        "none": Cells.one(size, guessing=False),
        CENTRED: Cells.one(size),
        "votes, cells by rank": Cells(ranked, last + 1, last, last),
        "adverse: random labels": Cells(random, LABELS + 1, 0, 0),
        "adverse: worst run": Cells(_labels_of(setting, int(setting.truth.argmin())), LABELS + 1, 0, 0),
    }

    def constant(cells: Cells) -> Callable[[Draw], Cells]:
        return lambda _: cells

    def weighted(weights: Floats) -> Callable[[Draw], Cells]:
        return lambda chosen: setting.by_votes(weights, chosen)

    def by_histograms(chosen: Draw) -> Cells:
        folds = folds_of(setting.table.queries)
        cells = [
            setting.by_votes(_weights(hsa_of(setting, chosen.drawn & (folds[setting.query] != fold))), chosen)
            for fold in range(int(folds.max()) + 1)
        ]
        return Cells(  # a row for each fold, made of the judgments of the others
            np.array([of_fold.cell for of_fold in cells]), max(of_fold.cells for of_fold in cells), 0, 0
        )

    proxies = {name: constant(cells) for name, cells in fixed.items()} | {"votes": weighted(alike)}
    proxies |= {f"votes by {name}": weighted(_weights(values)) for name, values in scores.items()}
    return proxies | {HSA: by_histograms}


def _labels_of(setting: _Setting, system: int) -> Integers:
    """Return labels by the ranks of one run: 4 for its first quarter of the frame, 1 for its last; 0 else."""
    label = np.zeros(len(setting.table.grades), dtype=np.int64)
    own = setting.system == system
    label[setting.rows[own]] = LABELS - (setting.ranks[own] - 1) * LABELS // setting.depth
    return label


def hsa_of(setting: _Setting, judged: Flags) -> Floats:
    """Return HSA of every run, from ten bins of the ranks of its judged documents in the frame."""
    used = judged[setting.rows]
    other = setting.kind.target.of(setting.table.grades)[setting.rows[used]] <= 0
    bin_ = (setting.depth - setting.ranks[used]) * BINS // setting.depth
    key = (setting.system[used] * 2 + other) * BINS + bin_
    systems = len(setting.truth)
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


class _Trial(NamedTuple):
    """Values of all runs, ends of their intervals below and above, and whether these are given."""

    values: Floats
    below: Floats
    above: Floats
    given: Flags


def _trial(setting: _Setting, cells: Cells, chosen: Draw, seed: int) -> _Trial:
    folds = folds_of(setting.table.queries)
    by_fold = cells.cell if cells.cell.ndim > 1 else None
    cell = cells.cell if by_fold is None else by_fold[folds[setting.query], np.arange(by_fold.shape[1])]
    sample = _FoldedSample(
        setting.table,
        chosen.probability,
        chosen.drawn,
        *cells._replace(cell=cell),
        folds,
        (setting.rows, setting.ranks),
        len(setting.truth),
        seed,
        by_fold,
    )
    estimator = Estimator(sample, setting.kind)
    parts = [estimator.of(run) for run in setting.joined]
    shares = sample.probability[sample.drawn]
    half = np.array(
        [half_width(part.errors, part.replicates, shares, 0.95, part.predicted[1]) for part in parts]
    )
    doubt = np.array([part.doubt for part in parts])
    return _Trial(
        np.array([np.nan_to_num(part.values).mean() for part in parts]),
        np.hypot(half, doubt[:, 0]),
        np.hypot(half, doubt[:, 1]),
        np.array([part.shares[2] + part.shares[3] <= MOST_GUESSED for part in parts]),
    )


def _summary(trials: Sequence[_Trial], centred: Sequence[_Trial], truth: Floats) -> dict[str, Any]:
    """Return the width relative to centred, its spread between draws, coverage and bias."""
    given = np.array([trial.given for trial in trials])
    wide, base = (np.array([trial.below + trial.above for trial in each]) for each in (trials, centred))
    error = np.array([trial.values for trial in trials]) - truth
    held = (error <= np.array([trial.below for trial in trials])) & (
        -error <= np.array([trial.above for trial in trials])
    )
    some = given & (base > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(some, wide / base, np.nan)
    by_draw = np.nanmean(ratio, axis=1)
    return {
        "ratio": float(by_draw.mean()),
        "ratio_sd": float(by_draw.std(ddof=1)),
        "ratio_low": float(by_draw.min()),
        "ratio_high": float(by_draw.max()),
        "half_width": float(wide[some].mean() / 2),
        "coverage": float(held[some].mean()),
        "given": float(given.mean()),
        "bias": float(error.mean()),
        "rmse": float(np.sqrt((error**2).mean())),
    }


COLUMNS = ("ratio", "ratio_sd", "ratio_low", "ratio_high", "half_width", "coverage", "given", "bias", "rmse")


def _sheet(cells: Sequence[Mapping[str, Any]]) -> Table:
    rows = [[cell["measure"], cell["proxy"], *(cell[name] for name in COLUMNS)] for cell in cells]
    return Table(["measure", "proxy", *(name.replace("_", " ") for name in COLUMNS)], rows, digits=3)


def lines_of(data: Mapping[str, Any]) -> list[str]:
    """Return the conclusions."""
    adverse = [cell for cell in data["cells"] if cell["proxy"].startswith("adverse")]
    worst = max(adverse, key=lambda cell: cell["ratio"])
    best = min((cell for cell in data["cells"] if cell["proxy"] != TRUE), key=lambda cell: cell["ratio"])
    narrow = (
        f"narrowest: {best['proxy']} for {best['measure']}, {best['ratio']:.3f} of the width with centred, "
        f"over {counted(data['draws'], 'draw')}"
    )
    wide = f"widest adverse proxy: {worst['ratio']:.3f} of the width with centred ({worst['measure']})"
    return [narrow, wide]
