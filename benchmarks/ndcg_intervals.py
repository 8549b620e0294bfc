"""Measure the coverage of intervals of nDCG@10 and P@10 from few judgments, and make the page.

    python benchmarks/ndcg_intervals.py run DATA OUTPUT.json [--draws N] [--only SET] [--budgets 5,10]
    python benchmarks/ndcg_intervals.py page [OUTPUT.json]

DATA holds the collections and runs. Each cell draws the judgments of a pool of `leadline pool --for nDCG@10`
from complete judgments, with new random numbers each time, and counts how often the intervals of `leadline
estimate` contain the values over the whole frame, for each run and for each difference of two runs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from leadline.data.judged_run import JudgedRun
from leadline.estimation.designs import kind_of
from leadline.estimation.estimators import Estimator, Sample
from leadline.estimation.pool_designs import pool_for
from leadline.estimation.samples import evidence_of
from leadline.estimation.sampling_errors import Design, half_width, not_simulated
from leadline.io.objects import Run, read_qrels, read_run
from leadline.measures import MEASURES, Measure

# Runs of own search: models; submitted runs: how many of them, spread over the names.
MODELS = ("BM25", "QLDirichlet", "TFIDF(cosine)")
SETS: dict[str, tuple[int, ...]] = {
    "cranfield": (2, 3),
    "cacm": (2, 3),
    "cisi": (2, 3),
    "npl": (2, 3),
    "nfcorpus-test": (2, 3),
    "trec-dl-2019-passage": (3, 6, 37),
    "trec-covid-r1": (3, 6, 20),
    "trec-covid-r2-top100": (3, 20),
    "trec-robust-2003": (3, 6, 17),
}
BINARY = ("cacm", "cisi", "npl")  # these have no other grades
RELEVANT = {"trec-dl-2019-passage": 2.0}  # smallest relevant grade, where it is not 1
BUDGETS = (5, 10, 20, 40)
DRAWS = 100
MOST_PAIRS = 45
DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, KEPT = DOCS / "ndcg-intervals.md", DOCS / "ndcg-intervals.json"
Json = dict[str, Any]


def searched(folder: Path, count: int) -> dict[str, Run]:
    """Return runs of own search."""
    from leadline.retrieval.index.builder import build_index
    from leadline.retrieval.search import search

    documents = next(folder.glob("docs.jsonl*"))
    runs = search(build_index(str(documents)), str(folder / "queries.jsonl"), list(MODELS[:count]))
    return {str(name): run for name, run in runs.items()}


def submitted(folder: Path, count: int) -> dict[str, Run]:
    """Return some submitted runs, spread over their names."""
    paths = sorted((folder / "runs").iterdir())
    chosen = [paths[int((number + 0.5) * len(paths) / count)] for number in range(count)]
    return {path.stem: read_run(path) for path in chosen}


class World:
    """One collection with its runs cut to the depth of a frame."""

    def __init__(self, data: Path, name: str, count: int, rel: float | None) -> None:
        folder = data / name
        own = (folder / "queries.jsonl").exists() and any(folder.glob("docs.jsonl*"))
        grades = read_qrels(folder / "qrels.txt").to_dict()
        self.grades = {
            query: {
                document: (float(grade >= rel) if rel is not None else max(float(grade), 0.0))
                for document, grade in documents.items()
            }
            for query, documents in grades.items()
        }
        found = searched(folder, count) if own else submitted(folder, count)
        self.runs = {
            name: {
                query: documents
                for query, documents in run.to_dict().items()
                if any(grade > 0 for grade in self.grades.get(query, {}).values())
            }
            for name, run in found.items()
        }


def template(world: World, measure: str, budget: float, share: float) -> tuple[Sample, list[JudgedRun], Any]:
    """Return the sample of all pairs of the frame, the runs joined with it, and the pool.

    The forecast of nDCG knows how many documents are relevant.
    """
    labels: dict[str, dict[str, float]] = {query: {} for run in world.runs.values() for query in run}
    for run in world.runs.values():
        for query, documents in run.items():
            labels[query].update({name: world.grades[query].get(name, 0.0) for name in documents})
    known = None if measure == "P@10" else labels
    pooled = pool_for(world.runs, measure, budget=budget, new_runs=share, machine=known)
    pool = pooled.pool
    judged: dict[str, dict[str, float]] = {}
    for query, document in zip(pool.queries, pool.documents, strict=True):
        judged.setdefault(query, {})[document] = world.grades[query].get(document, 0.0)
    full = replace(pool, drawn=np.ones(len(pool.drawn), dtype=np.bool_))
    sample = evidence_of(judged, full, None, "centred", skipped=False, seed=0).sample
    runs = [
        JudgedRun.of_run(
            Run.of(
                (query.encode(), document.encode(), score)
                for query, documents in run.items()
                for document, score in documents.items()
            ),
            sample.table,
        )
        for run in world.runs.values()
    ]
    return sample, runs, pooled


def trials(
    sample: Sample, runs: list[JudgedRun], measure: Measure, draws: Iterable[int]
) -> Iterator[tuple[list[tuple[float, float]], list[tuple[float, float]]]]:
    """Yield (error, half-width) of the runs, and of differences, for each draw."""
    truth = [float(np.nan_to_num(measure.values(run)).mean()) for run in runs]
    pairs = list(itertools.combinations(range(len(runs)), 2))
    if len(pairs) > MOST_PAIRS:
        pairs = [pairs[place] for place in np.random.default_rng(0).permutation(len(pairs))[:MOST_PAIRS]]
    kind = kind_of(measure)
    for number in draws:
        rng = np.random.default_rng([7, number])
        drawn = replace(sample, judged=rng.random(len(sample.probability)) < sample.probability, seed=number)
        p = drawn.probability[drawn.drawn]
        estimator = Estimator(drawn, kind)
        parts = [estimator.of(run) for run in runs]
        means = [float(np.nan_to_num(part.values).mean()) for part in parts]
        single = [
            (
                mean - true,
                math.hypot(
                    half_width(part.errors, part.replicates, p, 0.95, part.predicted[1]),
                    part.doubt[1 if mean < true else 0],
                ),
            )
            for mean, true, part in zip(means, truth, parts, strict=True)
        ]
        both = []
        for a, b in pairs:
            half = half_width(
                parts[a].errors - parts[b].errors,
                parts[a].replicates - parts[b].replicates,
                p,
                0.95,
                parts[a].predicted_difference(parts[b], len(sample.probability)),
            )
            doubt, _ = parts[a].doubt_of_difference(parts[b], len(sample.probability))
            gap = means[a] - means[b] - truth[a] + truth[b]
            both.append((gap, math.hypot(half, doubt[1 if gap < 0 else 0])))
        yield single, both


def summary(found: list[tuple[float, float]]) -> list[float]:
    """Return share held, mean error, mean squared error, median and largest half-width of one draw."""
    error, half = np.array(found).T
    held = np.abs(error) <= half + 1e-12
    return [
        float(held.mean()),
        float(error.mean()),
        float((error**2).mean()),
        float(np.median(half)),
        float(half.max()),
    ]


def shares(found: list[list[float]]) -> Json:
    """Return coverage with its standard error over draws, bias, error and half-width."""
    held, error, squares, half, widest = np.array(found).T
    rmse, root = math.sqrt(float(squares.mean())), math.sqrt(len(held))
    return {
        "coverage": float(held.mean()),
        "coverage_se": float(held.std(ddof=1) / root),
        "bias": float(error.mean()),
        "rmse": rmse,
        "rmse_se": float(squares.std(ddof=1) / root / 2 / rmse) if rmse > 0 else 0.0,
        "half_width": float(np.median(half)),
        "widest": float(np.median(widest)),
    }


def extend(one: Json, world: World, draws: int, share: float) -> Json:
    """Return a cell with more draws."""
    measure = MEASURES.parse(one["measure"])
    sample, runs, pooled = template(world, one["measure"], one["budget"], share)
    began = time.perf_counter()
    found = list(trials(sample, runs, measure, range(len(one.get("draws", {"run": []})["run"]), draws)))
    p, pairs = sample.probability, sample.pool_pairs
    top = pairs.best <= (kind_of(measure).cutoff or 1)
    before = one.get("draws", {"run": [], "difference": []})
    print(f"{time.perf_counter() - began:.0f} s", end=" ")
    return one | {
        "queries": len(pairs.number),
        "frame": len(p) / len(pairs.number),
        "relevant": float((sample.table.grades[pairs.place >= 0] > 0).mean()),
        "certain": float((pairs.probability[top] == 1).mean()),
        "least": float(p[p > 0].min()),
        "rest": float(pairs.probability[~top].mean()) if (~top).any() else 1.0,
        "forecast": pooled.expected[one["measure"]]["half_width"],
        "draws": {
            "run": before["run"] + [summary(single) for single, _ in found],
            "difference": before["difference"] + [summary(both) for _, both in found],
        },
    }


def line(one: Json) -> str:
    """Return a cell as a line of text."""
    text = (
        f"{one['set']:22} {one['grades']:6} {one['measure']:8} {one['runs']:2} runs {one['budget']:3.0f} "
        f"certain {one['certain']:.2f} rest {one['rest']:.3f} frame {one['frame']:.0f}"
    )
    for part in ("run", "difference"):
        found = shares(one["draws"][part])
        text += (
            f" | {found['coverage']:.3f}+-{found['coverage_se']:.3f} bias {found['bias']:+.4f} "
            f"rmse {found['rmse']:.4f} half {found['half_width']:.4f}"
        )
    return text


def main() -> None:
    """Run the cells, or write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--only", action="append")
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--measures", default="nDCG@10,P@10")
    parser.add_argument("--grades", default="binary,graded")
    parser.add_argument("--share", type=float, default=0.15)
    given = parser.parse_args()
    if given.what == "page":
        for output in given.paths:
            kept = figures(json.loads(output.read_text()))
            KEPT.write_text("\n".join(["[", ",\n".join(json.dumps(one) for one in kept), "]"]) + "\n")
        PAGE.write_text(page(json.loads(KEPT.read_text())))
        return
    data, output = given.paths
    cells = json.loads(output.read_text()) if output.exists() else []
    place = {key(one): number for number, one in enumerate(cells)}
    for asked in given.only or SETS:
        name, _, wanted = asked.partition(":")
        for count, grades in itertools.product(
            [int(wanted)] if wanted else SETS[name], given.grades.split(",")
        ):
            if grades == "graded" and name in BINARY:
                continue
            world = None
            for measure, budget in itertools.product(
                given.measures.split(","), map(float, given.budgets.split(","))
            ):
                one: Json = {
                    "set": name,
                    "runs": count,
                    "grades": grades,
                    "measure": measure,
                    "budget": budget,
                }
                if key(one) in place:
                    one = cells[place[key(one)]]
                if len(one.get("draws", {"run": []})["run"]) >= given.draws:
                    continue
                world = world or World(
                    data, name, count, RELEVANT.get(name, 1.0) if grades == "binary" else None
                )
                one = extend(one, world, given.draws, given.share)
                if key(one) in place:
                    cells[place[key(one)]] = one
                else:
                    place[key(one)] = len(cells)
                    cells.append(one)
                output.write_text(json.dumps(cells, separators=(",", ":")) + "\n")
                print(line(one), flush=True)


def design(one: Json) -> Design:
    """Return the design of a cell of nDCG@10."""
    share = one["budget"] / one["frame"]
    return Design(one["queries"], one["budget"], one["runs"], 20, max(one["least"], 0.02), share, 10)


def figures(cells: list[Json]) -> list[Json]:
    """Return the cells with their figures in place of the draws; those that are exact are left out."""
    names = list(SETS)
    known = ("set", "runs", "grades", "measure", "budget", "queries", "frame", "certain", "least")
    found = [
        {name: one[name] if isinstance(one[name], (str, int)) else round(one[name], 4) for name in known}
        | {
            "draws": len(one["draws"]["run"]),
            "given": one["measure"] == "P@10" or not not_simulated(design(one)),
            "forecast": None if one["forecast"] is None else round(one["forecast"], 4),
        }
        | {
            part: {name: round(value, 4) for name, value in shares(one["draws"][part]).items()}
            for part in ("run", "difference")
        }
        for one in cells
        if shares(one["draws"]["run"])["widest"] > 0
    ]
    return sorted(
        found,
        key=lambda one: (one["measure"], names.index(one["set"]), one["runs"], one["grades"], one["budget"]),
    )


def grows(cells: list[Json]) -> list[str]:
    """Return where the error of a larger budget is larger by more than two standard errors."""
    worse = []
    for one, more in itertools.pairwise(cells):
        same = all(one[name] == more[name] for name in ("set", "runs", "grades", "measure"))
        for part in ("run", "difference"):
            a, b = one[part], more[part]
            if same and b["rmse"] - a["rmse"] > 2 * math.hypot(a["rmse_se"], b["rmse_se"]):
                worse.append(f"{one['set']} {one['measure']} {more['budget']:g}")
    return worse


def page(kept: list[Json]) -> str:
    """Return docs/ndcg-intervals.md from the figures of the cells."""
    ndcg = [one for one in kept if one["measure"] == "nDCG@10" and one["given"]]
    words = {}
    for part in ("run", "difference"):
        held = [one[part]["coverage"] for one in ndcg]
        words[part] = f"{min(held):.3f} to {max(held):.3f} (median {np.median(held):.3f})"
    worse = grows(kept)
    rows = [
        f"| {name} | {', '.join(map(str, SETS[name]))} | " + " | ".join(_held(kept, name)) for name in SETS
    ]
    return TEXT.format(
        cells=len(ndcg),
        **words,
        worse=", ".join(worse) if worse else "none",
        withheld=sum(one["measure"] == "nDCG@10" and not one["given"] for one in kept),
        rows="\n".join(f"{row} |" for row in rows),
    )


def _held(kept: list[Json], name: str) -> Iterator[str]:
    """Yield the columns of a set: cells, ranges of coverage of runs and differences, error, forecast."""
    cells = [one for one in kept if (one["set"], one["measure"]) == (name, "nDCG@10") and one["given"]]
    yield str(len(cells))
    for part in ("run", "difference"):
        yield _range([one[part]["coverage"] for one in cells], 3)
    yield _range([one["run"]["half_width"] for one in cells], 3)
    yield _range([one["forecast"] / one["run"]["half_width"] for one in cells if one["forecast"]], 2)


def _range(values: list[float], digits: int) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}" if values else "-"


TEXT = """# Intervals of nDCG from few judgments

<!-- Made by benchmarks/ndcg_intervals.py from ndcg-intervals.json. -->

**Do they hold? Yes, and most are wider than necessary.** nDCG needs the ideal list, which a sample of
judgments does not show. In {cells} cells of nine collections, 95 % intervals of nDCG@10 contained the true
value in {run} of the draws for pooled runs, and in {difference} for differences between runs. `evaluate`
calls these intervals approximate and prints the range.

A cell is a collection, a number of pooled runs, binary or graded judgments, and 5, 10, 20 or 40 judgments
per query on average. A draw is a pool of `leadline pool --for nDCG@10`, judged with the official judgments.
The ranges in this table are over the cells of a collection; [ndcg-intervals.json](ndcg-intervals.json) has
every cell, P@10 too, with bias, error and standard errors.

| data | pooled runs | cells | coverage, runs | coverage, differences | half-width | forecast ratio |
| --- | --- | ---: | --- | --- | --- | --- |
{rows}

The forecast ratio divides the half-width forecast of `leadline pool` by the median half-width that came out.

## What the truth is

Values are relative to the pool: the documents at ranks 1 to 20 of any pooled run. Documents without an
official judgment count as not relevant. Where many relevant documents are outside the pool, an interval
need not contain the value against all judgments. Runs of Cranfield, CACM, CISI, NPL and NFCorpus come from
`leadline search`; the rest are submitted runs. Cells in which every pair is judged are left out.

## What was chosen on these data

CISI, NPL, NFCorpus and Robust 2003 took no part in any choice. The grade model was chosen on Cranfield,
CACM and other sets. The correction of the ideal list was chosen on TREC-COVID round 2, TREC 2019 DL,
Cranfield and simulated runs. The limit on the judged share of the pool was chosen on TREC-COVID round 1. In
a simulated world in which documents below rank 8 are relevant seven times less often, intervals of runs
held about .87 at 14 judgments per query.

Cells whose error is larger than with fewer judgments, by more than two standard errors: {worse}.

## When leadline gives an interval

Only for designs within these limits: cutoff 10, at least 30 queries, 5 to 40 judgments per query and at
most 80 % of the pool, up to 37 pooled runs, probabilities of at least .02, and a pool of ranks 1 to 20
drawn for nDCG@10. {withheld} cells fall outside and are not in the table. Other gains and discounts,
automatic labels and runs outside the pool were not simulated. R, F and AP have no interval.

    python benchmarks/ndcg_intervals.py run DATA OUTPUT.json
    python benchmarks/ndcg_intervals.py page OUTPUT.json     # without OUTPUT.json: the page alone
"""


def key(one: Json) -> tuple[Any, ...]:
    """Return what a cell is of."""
    return one["set"], one["runs"], one["grades"], one["measure"], one["budget"]


if __name__ == "__main__":
    main()
