"""Measure the bias and coverage of estimates from sampled candidates, and how well estimates order systems.

Every model scores the whole collection, so the truth is known. Samples of n non-relevant documents per query
are drawn repeatedly, the same for all models, in two ways: from all documents, and with the first n/2
documents of the first model always in the sample. Measures are estimated as in `leadline sampled`. Source:
Krichene and Rendle 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from leadline import MODELS, Qrels, UsageError, build_index, read_qrels, read_queries, score
from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.ids import to_bytes
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Reading
from leadline.data.table import Table, plain, raised
from leadline.data.wording import counted
from leadline.estimation.sampled import DEFAULT_MEASURES, SampledOptions, SampledRun, estimate_run
from leadline.estimation.strata import Strata
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.join import judge
from leadline.evaluation.profiles import profile_of
from leadline.io.read_paths import path_of
from leadline.io.texts import TextsLike
from leadline.retrieval.index.reader import Index
from leadline.stats.correlation import kendall
from leadline_studies import (
    SAMPLES,
    SEED,
    Claim,
    Given,
    Option,
    Outcome,
    at_least,
    parse_integers,
    with_options,
)
from leadline_studies.common.coverage import coverage, covers
from leadline_studies.common.tables import sheet

CLAIM = Claim(
    "Corrections reduce the bias of sampled metrics. Uncorrected metrics do not preserve the order of "
    "systems."
)
ARGUMENTS = ("docs", "queries", "qrels")
TRIED = ("BM25", "QLDirichlet", "TFIDF(cosine)", "TF(dot)")  # the first is the baseline
OPTIONS = (
    Option("model", str, "Retrieval model to try (repeatable). The first is the baseline.", TRIED),
    SAMPLES,
    Option("draws", int, "Number of samples to draw per size.", 200, least=2),
    Option("most", int, "Maximum number of queries, taken from the start of the file.", 100, least=2),
    SEED,
)
FEWEST_FOR_INTERVALS = 31  # smaller samples have none, so their variance is not computed
PUBLISHED = 0.1  # gamma of the correction with the uniform prior
ESTIMATES = ("none", "uniform", "log")
AGAIN = 12  # pseudo-populations an interval
NEVER = 1e-9  # intervals that are narrower have no width
Json = dict[str, Any]


class Scored(NamedTuple):
    """One query of one model: rows of its relevant documents, their scores and those of all others."""

    row: Integers
    relevant: Floats
    others: Floats


class System(NamedTuple):
    """A model's scores of the whole collection by query, and the joined run."""

    judged: JudgedRun
    queries: dict[int, Scored]


class Task(NamedTuple):
    """Input of the simulation: systems, and by query the top others of the baseline, in order."""

    systems: list[System]
    first: dict[int, Integers]
    names: list[str]


@with_options(OPTIONS)
def run(docs: Any, queries: Any, qrels: Any, given: Given) -> Outcome:
    """Run the simulation on a collection; `samples` are comma-separated numbers."""
    sizes = parse_integers(given.samples, "samples")
    index = build_index(docs)
    table, texts = _judged_queries(read_qrels(qrels), index, queries, given.most)
    task = _scored(index, texts, table, [str(text) for text in MODELS.expand_all(list(given.model))])
    small = [size for size in sizes if size < index.documents // 2]
    if not small:
        half = f"below {index.documents // 2}, half of the documents"
        raise UsageError(f"--samples needs a number {half}, not {given.samples}")
    rows: list[Json] = []
    for certain, size in given.each(product((False, True), small)):
        rows += cell(task, size, given.draws, certain=certain, seed=given.seed)
    data: Json = {
        "documents": index.documents,
        "queries": len(texts),
        "models": task.names,
        "samples": small,
        "draws": given.draws,
        "cells": rows,
    }
    inputs = [(path_of(docs), index.documents), (path_of(queries), len(texts))]
    left = len(sizes) - len(small)
    without = f"left out {counted(left, 'sample size')} (half of the documents or more)"
    return Outcome(data, inputs, raised(("large_samples", without, left)), {"model": task.names})


def _judged_queries(
    table: Qrels, index: Index, queries: TextsLike, most: int
) -> tuple[Qrels, dict[str, str]]:
    """Return the first queries with relevant documents, and those of them in the index."""
    refuse_sample(table)
    known = set(index.ids)
    grades = {
        query: {name: grade for name, grade in entry.items() if grade > 0 and to_bytes(name) in known}
        for query, entry in table.to_dict().items()
    }
    texts = {entry.id: entry.content for entry in read_queries(queries) if grades.get(entry.id)}
    texts = dict(list(texts.items())[:most])
    at_least(2, len(texts), "queries with relevant documents")
    return read_qrels({query: grades[query] for query in texts}), texts


def _scored(index: Index, texts: dict[str, str], table: Qrels, models: list[str]) -> Task:
    """Score every document for every query by every model."""
    names = [document_id.decode("utf-8", "surrogateescape") for document_id in index.ids]
    reading = Reading()
    systems = []
    first: dict[int, Integers] = {}
    for number, name in enumerate(models):
        (run,) = score(index, texts, dict.fromkeys(texts, names), name).values()
        _, judged, _ = judge(run, table, name=name, reading=reading, keep=True)
        lists = judged.lists
        assert lists is not None
        assert lists.ids is not None
        scored = {}
        for position, code in enumerate(lists.queries.tolist()):
            span = slice(int(lists.bounds[position]), int(lists.bounds[position + 1]))
            row, scores = lists.rows[span], lists.scores[span]
            codes = index.document_codes(lists.ids.take(np.arange(span.start, span.stop)))
            other = row < 0
            by_document = np.empty(len(names))
            by_document[codes] = scores
            left = np.sort(codes[other])
            scored[code] = Scored(row[~other].astype(np.int64), scores[~other], by_document[left])
            if number == 0:
                order = np.full(len(names), -1)
                order[codes] = np.arange(len(codes))
                first[code] = order[left]
        systems.append(System(judged, scored))
    return Task(systems, first, models)


def parts_of(system: System, chosen: dict[int, Flags], fixed: dict[int, Flags]) -> Strata:
    """Return the strata of a system: of the others, `fixed` are certain and `chosen` of the rest drawn."""
    size = len(system.judged.present)
    sampled, population, certain = np.zeros((3, size), dtype=np.int64)
    columns = []
    for code, scored in sorted(system.queries.items()):
        drawn, sure = scored.others[chosen[code]], scored.others[fixed[code]]
        sampled[code], population[code], certain[code] = len(drawn), (~fixed[code]).sum(), len(sure)
        start = np.arange(1.0, len(scored.row) + 1) + _above(scored.relevant, sure)
        owner = np.full(len(scored.row), code)
        columns.append((owner, scored.row.astype(np.int32), start, _above(scored.relevant, drawn)))
    none = np.zeros(size, dtype=np.int64)
    query, row, start_ranks, above = map(np.concatenate, zip(*columns, strict=True))
    return Strata(
        query,
        row,
        start_ranks,
        above,
        np.isin(np.arange(size), list(system.queries)),
        sampled,
        population,
        certain,
        none,
        none > 0,
        none.astype(np.uint64),
    )


def _above(relevant: Floats, others: Floats) -> Floats:
    """Count the other documents above each relevant one; ties count a half."""
    ordered = np.sort(others)
    first, last = (np.searchsorted(ordered, relevant, side=side) for side in ("left", "right"))
    return len(ordered) - (first + last) / 2


def cell(task: Task, size: int, draws: int, *, certain: bool, seed: int) -> list[Json]:
    """Simulate one sample size: one row of numbers per measure."""
    measures = profile_of("leadline").measures(DEFAULT_MEASURES)
    rng = np.random.default_rng([seed, size, int(certain)])
    depth = size // 2 if certain else 0
    fixed = {code: order < depth for code, order in task.first.items()}
    everything = {code: ~flags for code, flags in fixed.items()}
    interval = SampledOptions("log", None, None if certain else 1.0, AGAIN, 0.95, seed, offer_all=True)
    plug = interval._replace(correction="none", draws=0)
    ways = {
        "none": plug,
        "log": interval._replace(draws=0),
        "uniform": interval._replace(gamma=PUBLISHED, exponent=0.0, draws=0),
    }
    exact = [
        estimate_run(system.judged, parts_of(system, everything, fixed), measures, "all", plug).values
        for system in task.systems
    ]
    truth = np.nan_to_num(np.stack(exact))
    with_intervals = size >= FEWEST_FOR_INTERVALS
    means: dict[str, list[Floats]] = {name: [] for name in ESTIMATES}
    turns: list[SampledRun] = []
    for draw in range(draws):
        chosen = {code: _drawn(flags, size - depth, rng) for code, flags in everything.items()}
        if with_intervals:
            system = task.systems[draw % len(task.systems)]
            parts = parts_of(system, chosen, fixed)
            turns.append(estimate_run(system.judged, parts, measures, "all", interval._replace(seed=draw)))
        if draw % len(task.systems) == 0:
            systems = [(other.judged, parts_of(other, chosen, fixed)) for other in task.systems]
            for name, way in ways.items():
                estimates = [
                    estimate_run(judged, strata, measures, "all", way).values for judged, strata in systems
                ]
                means[name].append(np.nan_to_num(np.stack(estimates)).mean(axis=1))
    reasons = turns[0].withheld if turns else [f"{size} sampled documents per query"] * len(measures)
    return [
        {"n": size, "certain": certain, "measure": str(measure), "withheld": reasons[column]}
        | estimates_of(
            truth[:, :, column], {name: np.stack(of_way)[:, :, column] for name, of_way in means.items()}
        )
        | intervals_of(
            truth[:, :, column],
            [estimate.values[:, column] for estimate in turns],
            [estimate.limits[column] for estimate in turns],
            rng,
        )
        for column, measure in enumerate(measures)
    ]


def _drawn(candidates: Flags, count: int, rng: np.random.Generator) -> Flags:
    """Draw some of the flagged positions without replacement."""
    positions = np.flatnonzero(candidates)
    flags = np.zeros(len(candidates), dtype=np.bool_)
    flags[rng.choice(positions, min(count, len(positions)), replace=False, shuffle=False)] = True
    return flags


@np.errstate(divide="ignore", invalid="ignore")  # where a model has the value 0
def estimates_of(truth: Floats, means: dict[str, Floats]) -> Json:
    """Return bias, error and rank correlation of the estimates of one measure in one cell."""
    exact = truth.mean(axis=1)
    result: Json = {"truth": plain(float(exact.mean()))}
    for name, estimated in means.items():
        relative = estimated / exact - 1
        result[name] = {
            "bias": plain(float(relative.mean())),
            "rmse": plain(float(np.sqrt((relative**2).mean()))),
            "tau": _mean_tau(exact, estimated),
        }
    log = means["log"]
    result["sd"] = plain(float((log.std(axis=0, ddof=1) / exact).mean())) if len(log) > 1 else None
    return result


def _mean_tau(exact: Floats, means: Floats) -> float | None:
    """Return the mean of Kendall's tau over draws, None if all systems are equal."""
    taus = np.array([kendall(exact, row) for row in means])
    defined = taus[~np.isnan(taus)]
    return float(defined.mean()) if len(defined) else None


def intervals_of(
    truth: Floats, values: Sequence[Floats], limits: Sequence[Floats], rng: np.random.Generator
) -> Json:
    """Return the coverage of the intervals; draw i is of system i modulo their number."""
    systems = len(truth)
    low, high = np.array(limits).reshape(-1, 5)[:, 2:4].T
    system_of_draw = np.arange(len(low)) % systems
    exact = truth.mean(axis=1)[system_of_draw]
    wide = high - low > NEVER
    covered = covers(low, high, exact)
    half_width = (high - low)[wide] / 2 / exact[wide]
    estimates = np.nan_to_num(np.array(values))
    return {
        "sampling": _share(covered[wide])
        | {"half_width": plain(float(half_width.mean())) if len(half_width) else None},
        "queries": _share(_query_hits(truth, estimates, rng) if wide.any() else wide[:0]),
    }


def _query_hits(truth: Floats, values: Floats, rng: np.random.Generator) -> Flags:
    """Return which Student intervals cover the mean, with queries and their samples redrawn."""
    from scipy.special import stdtrit

    systems, queries = truth.shape
    quantile = -float(stdtrit(queries - 1, 0.025))
    hits = np.empty(len(values), dtype=np.bool_)
    for draw in range(len(values)):
        own = values[draw % systems :: systems]
        asked = np.sort(rng.integers(0, queries, queries))
        repeat = np.arange(queries) - np.searchsorted(asked, asked)
        drawn = own[(draw // systems + repeat) % len(own), asked]
        half = quantile * drawn.std(ddof=1) / np.sqrt(queries)
        hits[draw] = covers(drawn.mean() - half, drawn.mean() + half, truth[draw % systems].mean())
    return hits


def _share(hits: Flags) -> Json:
    """Return a proportion, and its denominator."""
    return {"coverage": coverage(hits), "intervals": len(hits)}


def tables(data: Json) -> dict[str, Table]:
    """Return the table of all cells."""
    shown = [row | {"part": "half" if row["certain"] else "none"} for row in data["cells"]]
    columns = ["certain=part", "n", "measure", "bias, none=none.bias", "bias, uniform=uniform.bias"]
    columns += ["bias=log.bias", "sd", "coverage=sampling.coverage", "half-width=sampling.half_width"]
    columns += ["queries=queries.coverage", "tau, none=none.tau", "tau=log.tau", "withheld"]
    return {"cells": sheet(shown, columns, digits=3)}


def figures(data: Json) -> dict[str, Any]:
    """Plot the bias of AP by n, uncorrected and corrected, without and with certain documents."""
    from leadline_studies.common.figures import SAMPLED, by_size

    names = {"none": "uncorrected", "uniform": "uniform prior", "log": "default"}
    lines = {
        f"{text}{', half certain' if certain else ''}": [
            (row["n"], 100 * row[name]["bias"])
            for row in data["cells"]
            if row["measure"] == "AP" and row["certain"] == certain
        ]
        for certain in (False, True)
        for name, text in names.items()
        if not (certain and name == "uniform")
    }
    return {"coverage": by_size(lines, label="bias of AP (%)", sizes=SAMPLED, zero=False)}


def lines(data: Json) -> list[str]:
    """Return conclusions on the coverage of the intervals and the ranking of systems."""
    conclusions = []
    for certain in (False, True):
        offered = [row for row in data["cells"] if row["certain"] == certain and not row["withheld"]]
        shares = [row["sampling"]["coverage"] for row in offered if row["sampling"]["intervals"]]
        label = "With half of the sample fixed" if certain else "With all of the sample drawn"
        if shares:
            conclusions.append(
                f"{label}, {counted(len(offered), 'cell')} had intervals. They contained the truth in "
                f"{min(shares):.1%} to {max(shares):.1%} of the samples."
            )
    return conclusions
