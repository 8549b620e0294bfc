"""Measure the bias and coverage of estimates from few judgments, and how well the estimates order runs.

QRELS are the truth. A document without a judgment counts as not relevant. RUNS are pooled as in `leadline
pool --for`, once per measure and budget. In each of `--draws` rounds, documents are drawn and the measures
are estimated with each proxy. A proxy predicts the grades of unjudged documents, for example from votes of
the runs or from a file of LLM labels. Two adverse proxies predict badly on purpose: one labels at random, the
other marks the first document of each run. All budgets use the same random numbers, so that a larger sample
contains the smaller ones. Runs given with `--new` are not pooled. For comparison, depth pools and MoveToFront
pools of the same size are scored, and their unjudged documents count as not relevant. Pairs of runs are
compared by judging documents on which the two runs differ, documents drawn with equal probability, or some
queries completely. Sources: Horvitz and Thompson 1952; Cormack, Palmer and Clarke 1998; Yilmaz, Kanoulas and
Aslam 2008.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, combinations, zip_longest
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from leadline import InputError, Measure, Qrels, Run, UsageError, read_qrels
from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.ids import to_bytes, to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.judgment_tables import DrawnPool
from leadline.data.reading import Reading
from leadline.data.table import Table
from leadline.data.wording import counted
from leadline.estimation.designs import (
    Frame,
    Kind,
    Linear,
    Ratio,
    draw,
    kind_of,
    listed_frame,
    random_numbers,
)
from leadline.estimation.estimate import estimate
from leadline.estimation.estimators import Sample
from leadline.estimation.guesses import Cells, folds_of
from leadline.estimation.pool_designs import pool_for, rank_weights
from leadline.estimation.sampling_errors import FEWEST_JUDGMENTS, MOST_GUESSED, MOST_GUESSED_OF_NEW
from leadline.estimation.system_lists import Systems, read_systems
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.join import judge_runs
from leadline.evaluation.profiles import profile_of
from leadline.judging.pooling_methods import MoveToFront, RankedLists
from leadline.stats import INTERVALS
from leadline.stats.correlation import kendall
from leadline_studies import (
    LEVEL,
    SEED,
    Claim,
    Given,
    Option,
    Outcome,
    of_judged,
    parse_integers,
    with_options,
)
from leadline_studies.common.coverage import coverage, covers
from leadline_studies.common.tables import sheet
from leadline_studies.estimate.trials import Trial

CLAIM = Claim("Estimates from few judgments are unbiased, and their intervals have nominal coverage.")
OPTIONS = (
    Option("new", str, "Run that is not pooled (repeatable).", (), metavar="RUN"),
    Option("machine", str, "File of LLM labels to use as a proxy (repeatable).", (), metavar="LABELS"),
    Option(
        "measure", str, "Measure to estimate (repeatable). [default: P@10, RBP(p=0.8)@10, DCG@10, RR@10]", ()
    ),
    LEVEL,
    Option(
        "budgets",
        str,
        "Mean numbers of judgments per query, separated by commas.",
        "5,10,20,40,80",
        metavar="NUMBERS",
    ),
    Option("draws", int, "Number of samples to draw per measure and budget.", 200, least=2),
    Option(
        "pairs",
        int,
        "Number of pairs of runs for which documents are judged separately, or 0 to skip this.",
        40,
        least=0,
    ),
    SEED,
)
MEASURES = ("P@10", "RBP(p=0.8)@10", "DCG@10", "RR@10")
DEEPEST = 100  # ranks from which depth pools and MoveToFront take documents
PAIR_TOTAL, WHOLE_TOTAL = 100, 250  # judgments for a pair of runs: of differing documents, of whole queries


class World(NamedTuple):
    """Runs, of which the first `pooled` are pooled, joined with complete judgments of the queries asked."""

    systems: Systems
    runs: Sequence[Any]
    pooled: int
    truth: Qrels
    full: list[JudgedRun]
    machines: Sequence[str] = ()
    draws: int = 0
    seed: int = 0

    @classmethod
    def of(
        cls, runs: Sequence[Any], new: Sequence[Any], truth: Qrels, measures: Sequence[Measure], **rest: Any
    ) -> World:
        """Read the runs as deep as the measures and the rival pools need."""
        every = [*runs, *new]
        depth = max(DEEPEST, *(2 * len(rank_weights(one)) for one in measures))
        systems = of_judged(read_systems(every, Reading(), depth=depth), truth)
        return cls(systems, every, len(runs), *joined(systems, every, truth), **rest)

    def lists(self, query: bytes, depth: int) -> list[list[bytes]]:
        """Return the first documents of the pooled runs for a query."""
        ranked = self.systems.lists(query)[: self.pooled]
        return [[self.systems.documents[code] for code in one[:depth].tolist()] for one in ranked]


class Board(NamedTuple):
    """Pairs of the frame and others that matter, the runs joined with them, and ranks in pooled runs.

    `framed` flags pairs of the frame, `best` is the best rank in a pooled run, `system` the run of each
    pair in `brought`, `numbers` the permanent random number of each pair in each draw.
    """

    table: Qrels
    joined: list[JudgedRun]
    framed: Flags
    best: Integers
    brought: tuple[Integers, Integers]
    system: Integers
    pooled: int
    labels: Mapping[str, Floats]
    numbers: Floats

    def sample(self, proxy: Cells, probability: Floats, drawn: Flags, seed: int) -> Sample:
        """Return the sample of one draw."""
        folds = folds_of(self.table.queries)
        return Sample(self.table, probability, drawn, *proxy, folds, self.brought, self.pooled, seed)

    def proxies(self, probability: Floats) -> dict[str, Cells]:
        """Return everything that guesses, by name."""
        size = len(probability)
        votes = np.bincount(self.brought[0], 1.0 / (60.0 + self.brought[1]), minlength=size)
        found = {
            "none": Cells.one(size, guessing=False),
            "centred": Cells.one(size),
            "votes": quantile_cells(np.where(probability > 0, votes, np.nan), probability),
        } | {name: Cells.of_levels(labels) for name, labels in self.labels.items()}
        rng = np.random.default_rng(0)
        found["adverse, random labels"] = Cells(rng.integers(1, 5, size), 5, apart=0)
        top = np.bincount(self.brought[0], self.brought[1] == 1, minlength=size) > 0
        found["adverse, first documents"] = Cells(np.where(top, 2, 1), 3, apart=0)
        return found

    def frame(self, importance: Floats) -> Frame:
        """Return the frame of a design; pairs outside it are never drawn."""
        weights = np.where(self.framed, importance, -1.0)
        query = self.table.query.astype(np.int64)
        return Frame(list(self.table.queries.names), query, list(self.table.documents), weights, self.best)


VOTE_CELLS = 8


def quantile_cells(values: Floats, probability: Floats) -> Cells:
    """Return cells by quantiles of the values of the pairs; those without one are apart.

    At most eight distinct values are a cell each. Otherwise every cell has about the same expected number of
    judgments, the sum of its inclusion probabilities; equal values share a cell. Cells do not depend on the
    draw.

    >>> quantile_cells(np.array([0.5, np.nan, 2.0, 0.5]), np.array([1.0, 1.0, 0.2, 0.0])).cell.tolist()
    [1, 0, 2, 1]
    """
    framed = ~np.isnan(values) & (probability > 0)
    distinct, place = np.unique(values[framed], return_inverse=True)
    edges = distinct[1:]
    if len(distinct) > VOTE_CELLS:
        weight = np.bincount(place, probability[framed])
        middle = (np.cumsum(weight) - weight / 2) / weight.sum()
        quantile = (middle * VOTE_CELLS + 1e-9).astype(np.int64)  # middle < 1
        edges = distinct[1:][np.diff(quantile) > 0]
    cell = np.searchsorted(edges, values, side="right") + 1
    return Cells(np.where(np.isnan(values), 0, cell), len(edges) + 2, apart=0)


# Of each draw: by run, and below and above the difference of each pair of runs.
Trials = list[tuple[Any, ...]]


class Setting(NamedTuple):
    """One measure on a board: what does not change over draws."""

    board: Board
    measure: Measure
    kind: Kind
    truth: Floats
    frame: Frame
    new: Flags


def simulated(texts: Sequence[str], level: float) -> list[Measure]:
    """Return the measures; those whose estimates are not sums over documents are refused."""
    measures = profile_of("leadline").measures(texts, rel=level)
    for one in measures:
        with suppress(UsageError):
            if not isinstance(kind_of(one), Ratio):
                continue
        raise UsageError(f"this study cannot simulate {one}. Use P, CG, DCG, RBP, RR, Success@10 or ERR.")
    return measures


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the simulation."""
    measures = simulated(list(given.measure) or MEASURES, given.level)
    sizes = sorted(parse_integers(given.budgets, "budgets"))
    how = {"machines": given.machine, "draws": given.draws, "seed": given.seed}
    world = World.of(listed(runs), given.new, read_qrels(qrels), measures, **how)
    found: dict[str, list[dict[str, Any]]] = {"cells": [], "rivals": [], "nested": []}
    boards: dict[int, Board] = {}
    for one in measures:
        limit = 2 * len(rank_weights(one))
        if limit not in boards:
            boards[limit] = make_board(world, limit)
        setting = make_setting(boards[limit], one, world, limit)
        before = np.zeros((given.draws, len(setting.board.framed)), dtype=np.bool_)
        for size in sizes:
            design = draw(setting.frame, size * len(world.systems.queries), seed=given.seed)
            drawn = setting.board.numbers < design.probability
            kept = {"kept": coverage(drawn[before]), "cut": design.cut}
            found["nested"].append({"measure": str(one), "budget": size} | kept)
            before = drawn
            found["cells"] += _cells(setting, size, design.probability, given.each(drawn))
            found["rivals"] += _rivals(setting, size, world)
    lists = dict(list(lists_of(world.systems).items())[: world.pooled])
    linear = next((one for one in measures if isinstance(kind_of(one), Linear)), None)
    data: dict[str, Any] = {
        "draws": given.draws,
        "systems": len(world.runs),
        "pooled": world.pooled,
        "level": given.level,
        "queries": len(world.systems.queries),
        "frame": {str(limit): int(board.framed.sum()) for limit, board in boards.items()},
        **found,
        "exact": [_exact(lists, one, world.truth) for one in measures],
        "pairs": _pairs_alone(lists, linear, world, given.pairs) if linear and given.pairs else [],
    }
    return Outcome(data, options={"measure": list(map(str, measures))})


def joined(systems: Systems, runs: Sequence[Any], truth: Qrels) -> tuple[Qrels, list[JudgedRun]]:
    """Return the judgments of the queries that were asked, and the runs joined with them."""
    whole = truth.keep(np.isin(truth.query, truth.queries.encode(systems.queries.names)))
    return whole, judge_runs(runs, whole, lambda one: one, reading=Reading())[1]


def listed(runs: Any) -> list[Any]:
    """Return runs as a list."""
    return list(runs) if isinstance(runs, (list, tuple)) else [runs]


def pairs_of(table: Qrels) -> Iterator[tuple[bytes, bytes]]:
    """Return query and document of every row."""
    return zip((table.queries.names[query] for query in table.query.tolist()), table.documents, strict=True)


def judged_pool(pool: DrawnPool, truth: Qrels, *, drawn: bool) -> dict[str, dict[str, float]]:
    """Judge the pairs of a pool, or the drawn ones alone, by complete judgments."""
    grades = truth.to_dict()
    judged: dict[str, dict[str, float]] = {}
    for query, document, taken in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if taken or not drawn:
            judged.setdefault(query, {})[document] = grades.get(query, {}).get(document, 0)
    return judged


def lists_of(systems: Systems) -> dict[str, dict[str, list[str]]]:
    """Return the runs as lists of document ids by query."""
    lists: dict[str, dict[str, list[str]]] = {info.name: {} for info in systems.infos}
    for query in systems.queries.names:
        for by_query, ranked in zip(lists.values(), systems.lists(query), strict=True):
            if len(ranked):
                by_query[to_text(query)] = [to_text(systems.documents[code]) for code in ranked.tolist()]
    return lists


def make_board(world: World, depth: int) -> Board:
    """Return the pairs that the first ranks of the runs hold; the frame is what the pooled ones hold."""
    ranks: dict[tuple[bytes, bytes], int] = {}
    rows: list[tuple[tuple[bytes, bytes], int, int]] = []
    labelled = {
        os.path.basename(path).removesuffix(".qrels"): read_qrels(path).to_dict() for path in world.machines
    }
    others: set[tuple[bytes, bytes]] = set()
    for query in world.systems.queries.names:
        for number, codes in enumerate(world.systems.lists(query)):
            for rank, code in enumerate(codes[:depth].tolist(), start=1):
                pair = query, world.systems.documents[code]
                if number < world.pooled:
                    ranks[pair] = min(rank, ranks.get(pair, rank))
                    rows.append((pair, rank, number))
                elif any(to_text(pair[1]) in one.get(to_text(query), {}) for one in labelled.values()):
                    others.add(pair)  # guessed by its own label, and never drawn
    names = sorted(ranks.keys() | others)

    def looked_up(grades: Mapping[str, Mapping[str, float]], missing: float) -> list[float]:
        return [grades.get(to_text(query), {}).get(to_text(name), missing) for query, name in names]

    grades = looked_up(world.truth.to_dict(), 0)
    table = Qrels.of((*pair, float(grade)) for pair, grade in zip(names, grades, strict=True))
    place = {pair: row for row, pair in enumerate(names)}
    labels = {name: np.array(looked_up(known, np.nan), dtype=np.float64) for name, known in labelled.items()}
    for name, values in labels.items():
        if np.isnan(values).all():
            path = world.machines[list(labels).index(name)]
            raise InputError("no pooled document has a label. Check that the ids match.", path=path)
    best = np.array([ranks.get(pair, depth + 1) for pair in names], dtype=np.int64)
    board = Board(
        table,
        judge_runs(world.runs, table, lambda one: one, reading=Reading())[1],
        best <= depth,
        best,
        (np.array([place[pair] for pair, *_ in rows]), np.array([rank for _, rank, _ in rows])),
        np.array([number for *_, number in rows]),
        world.pooled,
        labels,
        np.zeros((0, 0)),
    )
    frame = board.frame(np.zeros(len(names)))
    numbers = [random_numbers(frame, world.seed + number) for number in range(world.draws)]
    return board._replace(numbers=np.array(numbers))


def make_setting(board: Board, measure: Measure, world: World, depth: int) -> Setting:
    """Return a measure on a board, with the true values of the runs."""
    names = list(world.systems.queries.names)
    made, *_ = listed_frame(
        names, [world.lists(name, depth) for name in names], [rank_weights(measure)], depth
    )
    keys = zip((names[query] for query in made.query.tolist()), made.documents, strict=True)
    importance = dict(zip(keys, made.importance.tolist(), strict=True))
    weights = np.array([importance.get(pair, 0.0) for pair in pairs_of(board.table)])
    new = np.arange(len(world.full)) >= world.pooled
    truth = _values(measure, world, world.full).mean(axis=1)
    return Setting(board, measure, kind_of(measure), truth, board.frame(weights), new)


def _values(measure: Measure, world: World, runs: Sequence[JudgedRun]) -> Floats:
    """Return the values of runs for the queries asked."""
    kept = world.truth.queries.encode(world.systems.queries.names)
    return np.array([np.nan_to_num(measure.values(one)) for one in runs])[:, kept]


def _cells(
    setting: Setting, budget: int, probability: Floats, drawn: Iterable[Flags]
) -> list[dict[str, Any]]:
    """Estimate from every draw with every proxy, and sum up by proxy."""
    proxies = setting.board.proxies(probability)
    found: dict[str, Trials] = {name: [] for name in proxies}
    first, second = np.triu_indices(len(setting.truth), 1)
    for number, chosen in enumerate(drawn):
        for name, proxy in proxies.items():
            sample = setting.board.sample(proxy, probability, chosen, number)
            trial = Trial.of(sample, setting.kind, setting.board.joined)
            most = np.where(setting.new & proxy.guessing, MOST_GUESSED_OF_NEW, MOST_GUESSED)
            parts = trial.values, trial.half, trial.guessed <= most, trial.doubt
            found[name].append((*parts, *trial.pair_limits(first, second, most)))
    return [
        {"measure": str(setting.measure), "budget": budget, "proxy": name} | _summary(setting, trials)
        for name, trials in found.items()
    ]


def _summary(setting: Setting, trials: Trials) -> dict[str, Any]:
    """Return bias, coverage, width, rank correlation and decided pairs over draws, by group of runs."""
    truth, new = setting.truth, setting.new
    values, half, given, doubt, below, above = (np.array(part) for part in zip(*trials, strict=True))
    error = values - truth
    low, high = np.hypot(half, doubt[:, :, 0]), np.hypot(half, doubt[:, :, 1])
    held = covers(values - low, values + high, truth)
    first, second = np.triu_indices(len(truth), 1)
    gap, true_gap = values[:, first] - values[:, second], truth[first] - truth[second]
    inside = covers(gap - below, gap + above, true_gap)
    exact = half[:, first] + half[:, second] == 0
    decided = (gap > below) | (gap < -above) | (exact & (gap != 0))
    wrong = decided & (np.sign(gap) != np.sign(true_gap))
    among = ~new[first] & ~new[second]
    taus = [kendall(row, truth) for row in values]
    found: dict[str, Any] = {
        "tau": float(np.mean(taus)),
        "tau_low": float(np.quantile(taus, 0.05)),
        "rmse_difference": _root_mean_square(gap - true_gap),
        "spread_of_draws": float(error.mean(axis=1).std(ddof=1)),
    }
    for name, group in (("pairs", among), ("pairs_new", ~among)):
        known = ~np.isnan(below) & group
        if group.any():
            found |= {
                f"coverage_{name}": coverage(inside[known]),
                f"decided_{name}": float(decided[:, group].mean()),
                f"wrong_{name}": float(wrong[:, group].sum() / max(decided[:, group].sum(), 1)),
                f"half_width_{name}": float(above[known].mean()) if known.any() else None,
            }
    for name, group in (("pooled", ~new), ("new", new)):
        chosen = given & (half > 0) & group
        if group.any():
            found |= {
                f"bias_{name}": float(error[:, group].mean()),
                f"spread_{name}": float(error[:, group].mean(axis=1).std(ddof=1)),
                f"coverage_{name}": coverage(held[chosen]),
                f"half_width_{name}": float(low[chosen].mean()) if chosen.any() else None,
                f"withheld_{name}": float(1 - given[:, group].mean()),
            }
    return found


def _rivals(setting: Setting, budget: int, world: World) -> list[dict[str, Any]]:
    """Measure with pools by depth and by MoveToFront of about the same cost; unjudged is not relevant."""
    rel = setting.kind.target.rel or 1.0
    pools: list[set[tuple[bytes, bytes]]] = [set() for _ in range(DEEPEST + 1)]
    front: set[tuple[bytes, bytes]] = set()
    grades = world.truth.to_dict()
    queries = len(world.systems.queries)
    for query in world.systems.queries.names:
        lists = world.systems.lists(query)[: world.pooled]
        for rank, level in enumerate(zip_longest(*world.lists(query, DEEPEST)), start=1):
            pools[rank] |= {(query, name) for name in level if name is not None}
        codes = np.unique(np.concatenate(lists))
        names = [world.systems.documents[code] for code in codes.tolist()]
        known = grades.get(to_text(query), {})
        relevant = {row: known.get(to_text(name), 0) >= rel for row, name in enumerate(names)}
        offered = RankedLists([np.searchsorted(codes, one[:DEEPEST]) for one in lists], len(codes))
        front |= {
            (query, names[row]) for row in MoveToFront(documents=budget).order(offered, relevant).tolist()
        }
    pools = list(accumulate(pools, or_))
    nearest = min(range(1, len(pools)), key=lambda depth: abs(len(pools[depth]) - budget * queries))
    return [
        {"measure": str(setting.measure), "budget": budget, "method": name, "cost": len(pool) / queries}
        | _as_evaluated(setting, pool, world)
        for name, pool in ((f"depth {nearest}", pools[nearest]), ("MoveToFront", front))
    ]


def _as_evaluated(setting: Setting, pool: set[tuple[bytes, bytes]], world: World) -> dict[str, Any]:
    whole = world.truth
    inside = np.array([pair in pool for pair in pairs_of(whole)])
    grades = np.where(inside, whole.grades, 0.0)
    part = Qrels.of_columns(whole.queries, whole.begin, whole.end, whole.documents, grades)
    means = _values(setting.measure, world, [_judged_by(part, one) for one in world.full]).mean(axis=1)
    error = means - setting.truth
    first, second = np.triu_indices(len(error), 1)
    found = {
        "bias_pooled": float(error[~setting.new].mean()),
        "rmse_difference": _root_mean_square(error[first] - error[second]),
        "tau": kendall(means, setting.truth),
    }
    return found | ({"bias_new": float(error[setting.new].mean())} if setting.new.any() else {})


def _root_mean_square(errors: Floats) -> float | None:
    return float(np.sqrt((errors**2).mean())) if errors.size else None


def _judged_by(qrels: Qrels, one: JudgedRun) -> JudgedRun:
    """Return a joined run with other grades of the same pairs."""
    same: Any = {name: getattr(one, name) for name in ("present", "length", "offsets", "rank", "row")}
    return JudgedRun(qrels, **same, ties=(one.above, one.below), unjudged_ties=one.unjudged_ties)


def _exact(lists: Mapping[str, Any], measure: Measure, truth: Qrels) -> dict[str, Any]:
    """Return whether a pool with p = 1 gives the numbers of `evaluate`, bit by bit."""
    pool = pool_for(lists, measure, budget=10_000, new_runs=0.0).pool
    judged = judged_pool(pool, truth, drawn=False)
    estimated = estimate(judged, lists, measure, pool=pool)
    direct = evaluate(judged, lists, measure)
    return {
        "measure": str(measure),
        "runs": len(lists),
        "equal": bool(np.array_equal(estimated.values, direct.values, equal_nan=True)),
        "certain": bool((pool.probability == 1).all()),
    }


Lists = Mapping[str, Mapping[str, Sequence[str]]]


def _pairs_alone(lists: Lists, measure: Measure, world: World, count: int) -> list[dict[str, Any]]:
    """Compare pairs of runs by 100 judgments of their differing documents, and by 250 of whole queries."""
    every = list(combinations(lists, 2))
    chosen = np.random.default_rng(world.seed).permutation(len(every))[:count].tolist()
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for place in chosen:
        pair = {name: lists[name] for name in every[place]}
        for name, result in _one_pair(pair, measure, world).items():
            rows.setdefault(name, []).extend(result)
    found = []
    for name, results in rows.items():
        width, error, judged = np.array(results).T
        wide = width > 0
        with np.errstate(invalid="ignore"):  # NaN without an interval
            half_width = width[wide].sum() / wide.sum()
            held = covers(-width, width, error)[wide].sum() / wide.sum()
        found.append(
            {
                "method": name,
                "judgments": float(judged.mean()),
                "half_width": float(half_width),
                "coverage": float(held),
                "rmse": float(np.sqrt((error**2).mean())),
                "pairs": len(chosen),
                "measure": str(measure),
            }
        )
    return found


def _one_pair(lists: Lists, measure: Measure, world: World) -> dict[str, list[tuple[float, float, float]]]:
    """Return half-width, error and number of judgments of each draw, by method."""
    runs = [Run(one, name=name) for name, one in lists.items()]
    cutoff = len(rank_weights(measure))
    systems = read_systems(runs, Reading(), depth=2 * cutoff)
    board = make_board(world._replace(systems=systems, runs=runs, pooled=2), 2 * cutoff)
    full = np.array([np.nan_to_num(measure.values(one)) for one in board.joined])  # complete above the cutoff
    gaps = full[0] - full[1]
    found: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    pool = pool_for(lists, measure, total=PAIR_TOTAL, pair=(runs[0].name, runs[1].name)).pool
    keys = zip(map(to_bytes, pool.queries), map(to_bytes, pool.documents), strict=True)
    share = dict(zip(keys, pool.probability.tolist(), strict=True))
    differing = np.array([share.get(pair, 0.0) for pair in pairs_of(board.table)])
    uniform = np.where(board.framed, min(1.0, PAIR_TOTAL / max(int(board.framed.sum()), 1)), 0.0)
    first, second = np.array([0]), np.array([1])
    for design, probability, kept in (
        ("differing documents", differing, ["none", "centred", *board.labels]),
        ("uniform", uniform, ["none"]),
    ):
        proxies = board.proxies(probability)
        for number, drawn in enumerate(board.numbers < probability):
            for name in kept:
                sample = board.sample(proxies[name], probability, drawn, number)
                trial = Trial.of(sample, kind_of(measure), board.joined)
                below, above = trial.pair_limits(first, second)
                error = float(trial.values[0] - trial.values[1] - gaps.mean())
                width = float(np.nan_to_num((below if error > 0 else above)[0]))
                found[f"{design}, {name}"].append((width, error, float(drawn.sum())))
    tops = ([one[:cutoff] for one in systems.lists(query)] for query in systems.queries.names)
    sizes = np.array([np.unique(np.concatenate(one)).size for one in tops])
    for number in range(world.draws):
        order = np.random.default_rng([world.seed, number]).permutation(len(gaps))
        count = int(np.searchsorted(np.cumsum(sizes[order]), WHOLE_TOTAL, side="right"))
        some = gaps[order[:count]]
        low, high = INTERVALS.parse("Student").limits(some[:, None], level=0.95)
        error, judged = float(some.mean() - gaps.mean()), float(sizes[order[:count]].sum())
        width = float(high[0] - low[0]) / 2
        left = np.sqrt(1 - count / len(gaps))  # of these queries only the others are unknown
        found["whole queries, such queries"].append((width, error, judged))
        found["whole queries, these queries"].append((width * left, error, judged))
    return found


COLUMNS = (
    *("bias_pooled", "bias_new", "coverage_pooled", "coverage_new", "coverage_pairs", "half_width_pooled"),
    *("tau", "decided_pairs", "wrong_pairs", "withheld_new", "spread_of_draws"),
)


def tables(data: Mapping[str, Any]) -> dict[str, Table]:
    """Return the table of all cells."""
    rows = [one | {"budget": str(one["budget"])} for one in data["cells"]]
    heads = [f"{name.replace('_', ' ')}={name}" for name in COLUMNS]
    return {"estimates": sheet(rows, ["measure", "budget", "proxy", *heads], digits=3)}


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return conclusions on the coverage of the intervals."""
    known = [one["coverage_pooled"] for one in data["cells"] if one["coverage_pooled"] is not None]
    good = sum(0.93 <= share <= 0.97 for share in known)
    line = (
        f"Over {counted(data['draws'], 'draw')}, 95 % intervals of pooled runs contain the truth 93 to 97 % "
        f"of the time in {good} of {counted(len(known), 'cell')} (measure, budget and proxy) with an "
        f"interval. There is no interval for fewer than {FEWEST_JUDGMENTS} judgments."
    )
    return [line]
