"""Measure the bias, coverage and order of estimates from few judgments.

QRELS are the truth; documents without a judgment are not relevant. RUNS are pooled as by `leadline pool
--for`, for each measure and budget; `--draws` times documents are drawn, and measures estimated with every
proxy and every file of machine labels. `--new` names runs that did not contribute. Two adverse machines are
added: random labels independent of the truth, and labels that mark the first document of any run. The true
nDCG is relative to the ideal list of the documents in the frame.
Sources: Horvitz and Thompson 1952; Yilmaz, Kanoulas and Aslam 2008.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.ids import to_bytes, to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import Qrels
from leadline.data.reading import Reading
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.estimation.designs import Frame, draw, frame_of
from leadline.estimation.estimate import FEWEST_JUDGMENTS, MOST_GUESSED
from leadline.estimation.estimators import Estimator, Sample
from leadline.estimation.guesses import VOTE_EDGES, folds_of, vote_cells
from leadline.estimation.measure_targets import Kind, Ratio, kind_of
from leadline.estimation.pool_designs import rank_weights
from leadline.estimation.system_lists import Systems, read_systems
from leadline.evaluation.join import judge_runs
from leadline.evaluation.profiles import profile_of
from leadline.io.read import QrelsLike, read_qrels
from leadline.measures import Measure
from leadline.reporting.render import Table
from leadline.stats.correlation import kendall
from leadline_studies import Option, Outcome, Tell, whole_numbers

OPTIONS = (
    Option("new", str, "Run that did not contribute to the pool (repeatable).", (), metavar="RUN", many=True),
    Option("machine", str, "Machine labels (repeatable).", (), metavar="LABELS", many=True),
    Option(
        "measure",
        str,
        "Measure (repeatable). [default: P@10, RBP@10, RR@10, nDCG@10]",
        (),
        metavar="MEASURE",
        many=True,
    ),
    Option("level", float, "Minimum relevant grade.", 1.0, metavar="GRADE"),
    Option(
        "budgets",
        str,
        "Mean numbers of judgments per query, separated by commas.",
        "5,10,20,40,80",
        metavar="NUMBERS",
    ),
    Option("draws", int, "Number of samples drawn.", 200, metavar="N"),
    Option("seed", int, "Seed of the random number generator.", 0, metavar="N"),
)
MEASURES = ("P@10", "RBP(p=0.8)@10", "RR@10", "nDCG@10")
Z = 1.959963984540054
GROUPS = ("pooled", "new", "pairs")


class _Proxy(NamedTuple):
    """What guesses: cells of pairs, their number, the cell of others, and the one that stays apart."""

    cell: Integers
    cells: int
    outside: int
    apart: int | None
    guessing: bool


class _Setting(NamedTuple):
    """What does not change over draws: the frame, the joined runs and the truth."""

    frame: Frame
    table: Qrels
    order: Integers
    joined: list[JudgedRun]
    new: Any
    kinds: list[Kind]
    measures: list[Measure]
    truth: Floats
    brought: tuple[Integers, Integers]
    pooled: int
    proxies: Mapping[str, _Proxy]


def run(
    qrels: QrelsLike,
    runs: Any,
    *,
    new: Sequence[str] = (),
    machine: Sequence[str] = (),
    measure: Sequence[str] = (),
    level: float = 1.0,
    budgets: str = "5,10,20,40,80",
    draws: int = 200,
    seed: int = 0,
    on_run: Tell | None = None,
) -> Outcome:
    """Run the simulation; `on_run` reports the progress in draws."""
    if draws < 2:
        raise UsageError(f"draws={draws}; expected two or more")
    measures = profile_of("leadline").measures(list(measure) or list(MEASURES), rel=level, documents=None)
    truth = read_qrels(qrels)
    reading = Reading()
    systems = read_systems(runs, reading).asked(truth.queries.names)
    sizes = whole_numbers(budgets, "budgets")
    found: list[dict[str, Any]] = []
    done, total = 0, len(measures) * len(sizes) * draws
    everything = [*_listed(runs), *new]
    for one in measures:
        setting = _setting(truth, systems, everything, len(_listed(runs)), one, machine)
        for budget in sizes:
            parts: dict[str, list[_Trial]] = {name: [] for name in setting.proxies}
            for number in range(draws):
                chosen = draw(setting.frame, budget * len(setting.frame.queries), seed=seed + number)
                for name, proxy in setting.proxies.items():
                    parts[name].append(_trial(setting, proxy, chosen.probability, chosen.drawn, number))
                done += 1
                if on_run:
                    on_run(done, total)
            found += [
                {"measure": str(one), "budget": budget, "proxy": name} | _summary(setting, trials)
                for name, trials in parts.items()
            ]
    data = {
        "draws": draws,
        "systems": len(everything),
        "pooled": len(_listed(runs)),
        "level": level,
        "queries": len(truth.queries),
        "cells": found,
    }
    options = {
        "new": list(new),
        "machine": list(machine),
        "measure": list(map(str, measures)),
        "level": level,
        "budgets": budgets,
        "draws": draws,
        "seed": seed,
    }
    return Outcome(data, {"estimates": _sheet(found)}, {}, lines_of(data), (), (), options)


def _listed(runs: Any) -> list[Any]:
    return list(runs) if isinstance(runs, (list, tuple)) else [runs]


def _setting(
    truth: Qrels,
    systems: Systems,
    everything: list[Any],
    pooled: int,
    measure: Measure,
    machines: Sequence[str],
) -> _Setting:
    names = list(systems.queries.names)
    weight = rank_weights(measure)
    depth = 2 * len(weight)
    lists = [
        [[systems.documents[code] for code in one[:depth].tolist()] for one in systems.lists(name)]
        for name in names
    ]
    frame = frame_of(names, lists, [weight], depth)
    grades = truth.to_dict()
    keys = [(names[q], d) for q, d in zip(frame.query.tolist(), frame.documents, strict=True)]
    framed = len(keys)
    keys += _labelled(machines, {to_text(name) for name in names}, set(keys))
    more = len(keys) - framed  # they are guessed by their own label, and never drawn
    frame = frame._replace(
        query=np.concatenate([frame.query, systems.queries.encode(q for q, _ in keys[framed:])]),
        documents=[document for _, document in keys],
        importance=np.concatenate([frame.importance, np.full(more, -1.0)]),
        best=np.concatenate([frame.best, np.full(more, depth + 1)]),
    )
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    table = Qrels.of(
        (*keys[row], float(grades.get(to_text(keys[row][0]), {}).get(to_text(keys[row][1]), 0)))
        for row in order.tolist()
    )
    _, joined = judge_runs(everything, table, lambda one: one, reading=Reading())
    whole = truth.keep(np.isin(truth.query, truth.queries.encode(names)))
    _, full = judge_runs(everything, whole, lambda one: one, reading=Reading())
    kind = kind_of(measure)
    values = np.array([np.nan_to_num(measure.values(one)) for one in full])
    kept = whole.queries.encode(names)
    values = values[:, kept]
    if isinstance(kind, Ratio):
        inside = table.keep(order < framed)
        values = values * _divisor(whole, kind)[kept] / np.maximum(_divisor(inside, kind), 1e-12)
    rows = {key: row for row, key in enumerate(keys[place] for place in order.tolist())}
    brought = [
        (rows[name, document], rank)
        for name, ranked in zip(names, lists, strict=True)
        for one in ranked
        for rank, document in enumerate(one, start=1)
    ]
    columns = np.array(brought, dtype=np.int64).T
    return _Setting(
        frame._replace(
            query=frame.query[order],
            documents=[frame.documents[row] for row in order.tolist()],
            importance=frame.importance[order],
            best=frame.best[order],
        ),
        table,
        order,
        joined,
        np.arange(len(everything)) >= pooled,
        [kind],
        [measure],
        values.mean(axis=1),
        (columns[0], columns[1]),
        pooled,
        _proxies(table, (columns[0], columns[1]), order < framed, machines),
    )


def _labelled(
    machines: Sequence[str], queries: set[str], known: set[tuple[bytes, bytes]]
) -> list[tuple[bytes, bytes]]:
    """Return the labelled pairs not judged yet, sorted."""
    found: set[tuple[bytes, bytes]] = set()
    for path in machines:
        for query, labels in read_qrels(path).to_dict().items():
            if query in queries:
                found |= {(to_bytes(query), to_bytes(document)) for document in labels}
    return sorted(found - known)


def _divisor(qrels: Qrels, kind: Ratio) -> Floats:
    """Return the denominators of a ratio under complete judgments."""
    size = len(qrels.grades)
    sample = Sample(
        qrels,
        np.ones(size),
        np.ones(size, dtype=np.bool_),
        np.zeros(size, dtype=np.int64),
        1,
        0,
        None,
        False,
        np.zeros(len(qrels.queries), dtype=np.int64),
        (np.zeros(0, np.int64), np.zeros(0, np.int64)),
        0,
    )
    return np.asarray(Estimator(sample, kind).divisors[:, 0])


def _proxies(
    table: Qrels, brought: tuple[Integers, Integers], framed: Any, machines: Sequence[str]
) -> dict[str, _Proxy]:
    size = len(table.grades)
    nothing = np.zeros(size, dtype=np.int64)
    votes = np.bincount(brought[0], 1.0 / (60.0 + brought[1]), minlength=size).astype(np.float64)
    cells = vote_cells(table.query.astype(np.int64), votes, framed)
    last = len(VOTE_EDGES) + 1
    found = {
        "none": _Proxy(nothing, 1, 0, None, guessing=False),
        "centred": _Proxy(nothing, 1, 0, None, guessing=True),
        "votes": _Proxy(cells, last + 1, last, last, guessing=True),
    }
    for path in machines:
        labels = read_qrels(path).to_dict()
        names = list(table.queries)
        given = [
            labels.get(names[query], {}).get(to_text(document))
            for query, document in zip(table.query.tolist(), table.documents, strict=True)
        ]
        levels = {one: place for place, one in enumerate(sorted({x for x in given if x is not None}), 1)}
        if not levels:
            raise UsageError(f"{path}: no label for a document of the frame; do the ids match?")
        cell = np.array([0 if one is None else levels[one] for one in given], dtype=np.int64)
        found[os.path.basename(path).removesuffix(".qrels")] = _Proxy(
            cell, len(levels) + 1, 0, 0, guessing=True
        )
    rng = np.random.default_rng(0)
    found["adverse, random labels"] = _Proxy(rng.integers(1, 5, size), 5, 0, 0, guessing=True)
    top = np.bincount(brought[0], brought[1] == 1, minlength=size) > 0
    found["adverse, first documents"] = _Proxy(np.where(top, 2, 1), 3, 0, 0, guessing=True)
    return found


class _Trial(NamedTuple):
    values: Floats
    variances: Floats
    pairs: Floats
    guessed: Floats
    doubt: Floats


def _trial(setting: _Setting, proxy: _Proxy, probability: Floats, drawn: Any, seed: int) -> _Trial:
    sample = Sample(
        setting.table,
        probability,
        drawn,
        proxy.cell,
        proxy.cells,
        proxy.outside,
        proxy.apart,
        proxy.guessing,
        folds_of(setting.table.queries),
        setting.brought,
        setting.pooled,
        seed,
    )
    estimator = Estimator(sample, setting.kinds[0])
    parts = [estimator.of(one) for one in setting.joined]
    errors = np.array([part.errors for part in parts])
    if not errors.shape[1]:
        covariance = np.zeros((len(parts), len(parts)))
    elif parts[0].scaled:
        covariance = np.cov(errors)
    else:
        covariance = errors @ errors.T
    first, second = np.triu_indices(len(parts), 1)
    own = np.diag(covariance)
    return _Trial(
        np.array([np.nan_to_num(part.values).mean() for part in parts]),
        own.copy(),
        np.maximum(own[first] + own[second] - 2 * covariance[first, second], 0.0),
        np.array([part.shares[2] + part.shares[3] for part in parts]),
        np.array([part.doubt for part in parts]),
    )


def _summary(setting: _Setting, trials: Sequence[_Trial]) -> dict[str, Any]:
    """Return bias, coverage, width, rank correlation and decided pairs over draws, by group of runs."""
    truth, new = setting.truth, setting.new
    values = np.array([one.values for one in trials])
    error = values - truth
    half = Z * np.sqrt(np.array([one.variances for one in trials]))
    doubt = np.array([one.doubt for one in trials])
    low, high = np.hypot(half, doubt[:, :, 0]), np.hypot(half, doubt[:, :, 1])
    given = np.array([one.guessed for one in trials]) <= MOST_GUESSED
    wide = half > 0
    held = (error <= low) & (error >= -high)
    first, second = np.triu_indices(len(truth), 1)
    gap, true_gap = values[:, first] - values[:, second], truth[first] - truth[second]
    pair = Z * np.sqrt(np.array([one.pairs for one in trials]))
    both = ~new[first] & ~new[second]
    decided = np.abs(gap) > pair
    wrong = decided & (np.sign(gap) != np.sign(true_gap))
    taus = [kendall(row, truth) for row in values]
    found: dict[str, Any] = {
        "tau": float(np.mean(taus)),
        "tau_low": float(np.quantile(taus, 0.05)),
        "decided": float(decided[:, both].mean()),
        "wrong": float(wrong[:, both].sum() / max(decided[:, both].sum(), 1)),
        "rmse_difference": float(np.sqrt(((gap - true_gap) ** 2).mean())),
        "coverage_pairs": _share(np.abs(gap - true_gap) <= pair, (pair > 0) & both),
        "spread_of_draws": float(error.mean(axis=1).std()),
    }
    for name, group in (("pooled", ~new), ("new", new)):
        if not group.any():
            continue
        chosen = given & wide & group
        found |= {
            f"bias_{name}": float(error[:, group].mean()),
            f"coverage_{name}": _share(held, chosen),
            f"half_width_{name}": float(low[:, group].mean()),
            f"withheld_{name}": float(1 - given[:, group].mean()),
        }
    return found


def _share(held: Any, chosen: Any) -> float | None:
    return float(held[chosen].mean()) if chosen.any() else None


COLUMNS = (
    "bias_pooled",
    "bias_new",
    "coverage_pooled",
    "coverage_new",
    "coverage_pairs",
    "half_width_pooled",
    "tau",
    "decided",
    "wrong",
    "withheld_new",
)


def _sheet(found: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        [one["measure"], str(one["budget"]), one["proxy"], *(one.get(name) for name in COLUMNS)]
        for one in found
    ]
    return Table(
        ["measure", "budget", "proxy", *(name.replace("_", " ") for name in COLUMNS)], rows, digits=3
    )


def lines_of(data: Mapping[str, Any]) -> list[str]:
    """Return conclusions on the coverage of the intervals."""
    good = [
        one
        for one in data["cells"]
        if one["coverage_pooled"] is not None and 0.93 <= one["coverage_pooled"] <= 0.97
    ]
    known = [one for one in data["cells"] if one["coverage_pooled"] is not None]
    line = (
        f"95 % intervals of pooled runs hold 93 to 97 % of the time in {len(good)} of "
        f"{counted(len(known), 'cell')} (measure, budget, proxy) that have any width, over "
        f"{counted(data['draws'], 'draw')}; fewer than {FEWEST_JUDGMENTS} judgments give none"
    )
    return [line]
