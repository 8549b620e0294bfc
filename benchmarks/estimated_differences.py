"""Measure size and coverage of `compare` and `evaluate` on estimates from drawn judgments.

    python benchmarks/estimated_differences.py DATA KIND [--trials N] [--only SET] [--how NAME] [--measure M]
        [--table FILE] [--page PAGE]

KIND says what is drawn anew in each trial, and what is printed:

null     Two runs, neither of which is better: submitted runs that exchange their lists on a random half of
         the queries ("exchanged"), or one submitted run whose first documents are moved by independent noise,
         twice ("noise"; "noise, pair": the pool is drawn for the pair). Size: the share of p < 0.05, by
         estimates and by all judgments.
queries  Queries, with replacement, and a pool of four submitted runs ("pair": of two, for the pair). How
         often `low` to `high` contains the value over all queries by all judgments.
draws    The pool alone. How often `these_low` to `these_high` contains the value by all judgments.
slices   Queries, with replacement, and a pool of two submitted runs ("pair": for the pair), the queries in
         slices of 10, 15 and 25. How often `low` to `high` of the difference on a slice contains the value
         over all queries by all judgments, and size, of two runs that exchange their lists.
known    The pool alone, of two submitted runs for all measures, after the first ten documents of the first
         run, or of it and a third one, were judged. As "draws".

A line per set, measure and number of judgments per query, with the standard error of each share over trials,
then the mean over all lines. --table adds them to a table, in place of the same cells of before, and --page
writes the ranges of that table into a page. docs/estimated-differences.csv and docs/estimated-differences.md
have all that was measured. Values of nDCG are those over the documents of the pool. Intervals that are
exact, of width 0, are left out of the coverage.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import leadline as ll
from leadline.comparison.query_slices import slices_of
from leadline.data.wording import counted
from leadline.estimation.pool_designs import pool_for

SETS = {"trec-dl-2019-passage": 2.0, "trec-robust-2003": 1.0, "trec-covid-r1": 1.0}  # smallest relevant grade
RUNS = 4  # submitted runs, spread over the names
KEPT = 30  # documents of a list
BUDGETS = (5, 10, 20)
PAIR_BUDGETS = (1.5, 3)
MEASURES = ("P@10", "RR", "nDCG@10")
SIZE = 50  # queries drawn
KNOWN_BUDGETS = (2, 4, 8)
KNOWN = 10  # documents of a list that were judged before
SLICES = (10, 15, 25)  # number of queries in each slice; their sum is SIZE
NOISE = 3.0  # standard deviation, in ranks
SLACK = 1e-9

HEADER = ("kind", "set", "pool", "measure", "judgments_per_query", "of", "share", "error", "trials", "none")

BLOCK = re.compile(
    r"(<!-- Measured by benchmarks/estimated_differences.py -->\n).*(\n<!-- End of what it measured -->)",
    re.DOTALL,
)
COLUMNS = {  # of the table on the page: the heading, and the cells that it takes
    "p < 0.05 with neither better": "size",
    "the same, all judgments": "size by all judgments",
    "these queries, runs": "runs, these",
    "these queries, differences": "differences, these",
    "over queries, runs": "runs over queries",
    "over queries, differences": "differences over queries",
}

Nested = dict[str, dict[str, float]]
Counts = dict[str, list[float]]  # by heading: 1 held, 0 not, NaN withheld or exact
Cell = tuple[str, str, float]  # how runs and pool were made, measure, judgments per query


def read_set(data: Path, name: str) -> tuple[Nested, dict[str, Nested]]:
    """Read the judgments of a set as 0 and 1, and the first documents of some of its runs."""
    judged = ll.read_qrels(data / name / "qrels.txt").to_dict()
    grades = {
        query: {document: float(grade >= SETS[name]) for document, grade in documents.items()}
        for query, documents in judged.items()
    }
    paths = sorted((data / name / "runs").iterdir())
    chosen = [paths[int((number + 0.5) * len(paths) / RUNS)] for number in range(RUNS)]
    runs = {path.stem: ll.read_run(path).to_dict() for path in chosen}
    queries = [query for query in grades if all(query in run for run in runs.values())]
    cut = {
        name: {query: dict(sorted(run[query].items(), key=lambda one: -one[1])[:KEPT]) for query in queries}
        for name, run in runs.items()
    }
    return {query: grades[query] for query in queries}, cut


def judge(pool: Any, grades: Nested) -> Nested:
    """Judge the drawn pairs of a pool."""
    drawn: Nested = {}
    for query, document, taken in zip(pool.queries, pool.documents, pool.drawn.tolist(), strict=True):
        if taken:
            drawn.setdefault(query, {})[document] = grades[query].get(document, 0.0)
    return drawn


def target(pool: Any, grades: Nested, measure: str) -> Nested:
    """Return all judgments: of nDCG those of the documents of the pool."""
    if not measure.startswith("nDCG"):
        return grades
    pooled: Nested = {query: {} for query in grades}
    for query, document in zip(pool.queries, pool.documents, strict=True):
        pooled[query][document] = grades[query].get(document, 0.0)
    return pooled


def covered(limits: Sequence[float], truth: float) -> float:
    """Return whether an interval holds a value; NaN if it is withheld or exact."""
    low, high = limits
    if not high - low > SLACK:
        return np.nan
    return float(low - SLACK <= truth <= high + SLACK)


def exchanged(runs: dict[str, Nested], trial: int, rng: np.random.Generator) -> dict[str, Nested]:
    """Return two runs that exchange their lists on a random half of the queries."""
    pairs = list(itertools.combinations(runs.values(), 2))
    a, b = pairs[trial % len(pairs)]
    swapped = dict(zip(a, rng.random(len(a)) < 0.5, strict=True))
    return {
        "a": {query: (b if swapped[query] else a)[query] for query in a},
        "b": {query: (a if swapped[query] else b)[query] for query in a},
    }


def noisy(runs: dict[str, Nested], trial: int, rng: np.random.Generator) -> dict[str, Nested]:
    """Return a run twice, each time with noise added to the ranks of its documents."""
    run = list(runs.values())[trial % len(runs)]
    return {
        name: {
            query: {
                document: -rank - NOISE * float(rng.standard_normal())
                for rank, document in enumerate(documents)
            }
            for query, documents in run.items()
        }
        for name in ("a", "b")
    }


def null(
    grades: Nested, runs: dict[str, Nested], trials: int, measures: Sequence[str], chosen: list[str] | None
) -> Iterator[tuple[Cell, Counts]]:
    """Compare two runs of which neither is better."""
    makers: dict[str, Callable[[dict[str, Nested], int, np.random.Generator], dict[str, Nested]]]
    makers = {"exchanged": exchanged, "noise": noisy, "noise, pair": noisy}
    for (how, maker), measure in itertools.product(makers.items(), measures):
        paired = how.endswith("pair")
        if (paired and measure != "P@10") or (chosen and how not in chosen):
            continue
        for budget in PAIR_BUDGETS if paired else BUDGETS:
            found: Counts = defaultdict(list)
            for trial in range(trials):
                two = maker(runs, trial, np.random.default_rng([trial, int(10 * budget)]))
                pair = ("a", "b") if paired else None
                pool = pool_for(two, measure, budget=budget, pair=pair, seed=trial).pool
                whole = ll.compare(target(pool, grades, measure), two, measure).pairs[0]
                found["size by all judgments"].append(float(whole.p < 0.05))
                try:
                    estimated = ll.compare(judge(pool, grades), two, measure, pool=pool)
                except ll.UsageError:  # the interval is withheld
                    for heading in ("size", "these queries"):
                        found[heading].append(np.nan)
                    continue
                assert estimated.these is not None
                found["size"].append(float(estimated.pairs[0].p < 0.05))
                found["these queries"].append(
                    covered(estimated.these.limits[0, 0].tolist(), whole.difference)
                )
            yield (how, measure, budget), found


def intervals(
    grades: Nested, runs: dict[str, Nested], truth: dict[str, float], measure: str, pool: Any, found: Counts
) -> None:
    """Add whether the intervals of runs and differences hold: over queries, and for these."""
    judged = judge(pool, grades)
    estimates = ll.evaluate(judged, runs, measure, pool=pool)
    here = ll.evaluate(target(pool, grades, measure), runs, measure, intervals="Student")
    assert here.intervals is not None
    for place, name in enumerate(runs):
        one = estimates.estimate(name, measure)  # type: ignore[attr-defined]  # they are estimates
        value = here.mean(name, measure)
        found["runs over queries"].append(covered((one.low, one.high), truth[name]))
        found["runs, these"].append(covered((one.these_low, one.these_high), value))
        found["runs by all judgments"].append(covered(here.intervals.limits[place, 0].tolist(), truth[name]))
    try:
        compared = ll.compare(estimates, correction="none")
    except ll.UsageError:  # every interval is withheld
        missing = len(runs) * (len(runs) - 1) // 2
        for kind in ("differences over queries", "differences, these"):
            found[kind] += [np.nan] * missing
        return
    assert compared.these is not None
    for pair, limits in zip(compared.pairs, compared.these.limits[0].tolist(), strict=True):
        value = here.mean(pair.a, measure) - here.mean(pair.b, measure)
        found["differences over queries"].append(
            covered((pair.low, pair.high), truth[pair.a] - truth[pair.b])
        )
        found["differences, these"].append(covered(limits, value))


def redrawn(
    grades: Nested, runs: dict[str, Nested], trials: int, measures: Sequence[str], size: int
) -> Iterator[tuple[Cell, Counts]]:
    """Draw queries (a size of 0: all, once each) and pools."""
    queries = list(grades)
    for paired, measure in itertools.product((False, True), measures):
        if paired and measure != "P@10":
            continue
        pairs = list(itertools.combinations(runs, 2))
        frame = pool_for(runs, measure, budget=5).pool  # its documents are those of every pool of these runs
        truths = ll.evaluate(target(frame, grades, measure), runs, measure)
        truth = {name: truths.mean(name, measure) for name in runs}
        for budget in PAIR_BUDGETS if paired else BUDGETS:
            found: Counts = defaultdict(list)
            for trial in range(trials):
                rng = np.random.default_rng([trial, int(10 * budget), size])
                two = pairs[trial % len(pairs)]
                names = two if paired else tuple(runs)
                chosen = rng.integers(len(queries), size=size).tolist() if size else range(len(queries))
                drawn = {f"{place}": queries[one] for place, one in enumerate(chosen)}
                here = {name: {key: runs[name][query] for key, query in drawn.items()} for name in names}
                known = {key: grades[query] for key, query in drawn.items()}
                pool = pool_for(here, measure, budget=budget, pair=two if paired else None, seed=trial).pool
                intervals(known, here, truth, measure, pool, found)
            yield ("pair" if paired else "runs", measure, budget), found


def sliced(
    grades: Nested, runs: dict[str, Nested], trials: int, measures: Sequence[str]
) -> Iterator[tuple[Cell, Counts]]:
    """Draw queries and a pool, and compare two runs per slice."""
    queries, pairs = list(grades), list(itertools.combinations(runs, 2))
    slices = {f"{place}": f"{size}" for place, size in enumerate(np.repeat(SLICES, SLICES).tolist())}
    for paired, measure in itertools.product((False, True), measures):
        if paired and measure != "P@10":
            continue
        differences = {}  # of the documents of the pool of each pair
        for a, b in pairs:
            two = {name: runs[name] for name in (a, b)}
            frame = pool_for(two, measure, budget=5).pool
            truths = ll.evaluate(target(frame, grades, measure), two, measure)
            differences[a, b] = truths.mean(a, measure) - truths.mean(b, measure)
        for budget in PAIR_BUDGETS if paired else BUDGETS:
            found: Counts = defaultdict(list)
            for trial, heading in itertools.product(range(trials), ("slice", "null slice")):
                rng = np.random.default_rng([trial, int(10 * budget), SIZE, len(heading)])
                a, b = pairs[trial % len(pairs)]
                drawn = {
                    f"{place}": queries[one]
                    for place, one in enumerate(rng.integers(len(queries), size=SIZE))
                }
                here = {name: {key: runs[name][query] for key, query in drawn.items()} for name in (a, b)}
                truth = differences[a, b]
                if heading != "slice":
                    here, truth = exchanged(here, 0, rng), 0.0
                known = {key: grades[query] for key, query in drawn.items()}
                first, second = here
                pair = (first, second) if paired else None
                pool = pool_for(here, measure, budget=budget, pair=pair, seed=trial).pool
                try:
                    compared = ll.compare(judge(pool, known), here, measure, pool=pool)
                except ll.UsageError:  # every interval is withheld
                    for size in SLICES:
                        found[f"{heading} of {size}"].append(np.nan)
                    continue
                for one in slices_of(compared, slices).records:
                    if one.slice is not None:
                        sign = 1.0 if one.a == first else -1.0
                        limits = (np.nan, np.nan) if one.reason else (one.low, one.high)
                        found[f"{heading} of {one.slice}"].append(covered(limits, sign * truth))
            yield ("pair" if paired else "runs", measure, budget), found


def after_judgments(
    grades: Nested, runs: dict[str, Nested], trials: int, measures: Sequence[str]
) -> Iterator[tuple[Cell, Counts]]:
    """Draw a pool of two runs after judgments of the first of them, and of a third one."""
    orders = list(itertools.permutations(runs, 3))
    truth = dict.fromkeys(runs, np.nan)  # over other queries: not asked
    for judged_runs, budget in itertools.product((1, 2), KNOWN_BUDGETS):
        found: dict[str, Counts] = {measure: defaultdict(list) for measure in measures}
        for trial in range(trials):
            old, new, third = orders[trial % len(orders)]
            existing: Nested = {query: {} for query in grades}
            for query, name in itertools.product(grades, (old, third)[:judged_runs]):
                for document in list(runs[name][query])[:KNOWN]:
                    existing[query][document] = grades[query].get(document, 0.0)
            two = {name: runs[name] for name in (old, new)}
            pool = pool_for(two, measures, budget=budget, judged=existing, seed=trial).pool
            for measure in measures:
                intervals(grades, two, truth, measure, pool, found[measure])
        for measure in measures:
            yield (f"{counted(judged_runs, 'run')} judged", measure, budget), found[measure]


def summary(held: Sequence[float], trials: int) -> tuple[float, float, float]:
    """Return the share of intervals that hold, its standard error over trials, and the share without any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a mean of nothing
        by_trial = np.nanmean(np.reshape(held, (trials, -1)), axis=1)
        known = by_trial[np.isfinite(by_trial)]
        error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else np.nan
        return float(np.nanmean(held)), float(error), float(np.isnan(held).mean())


def printed(kind: str, pool: str, heading: str) -> bool:
    """Return whether a kind of trial is about the intervals of a heading."""
    if pool == "pair" and not {"differences", "slice"} & set(heading.split()):
        return False  # a pool for a pair is of their difference alone
    return kind in ("null", "slices") or (kind in ("draws", "known")) == ("these" in heading)


def keep(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Put cells into a table, in place of those of the same name."""
    names = len(HEADER) - 4
    cells = {tuple(row[:names]): row for row in read_table(path)}
    cells |= {tuple(map(str, row[:names])): list(map(str, row)) for row in rows}
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *(cells[key] for key in sorted(cells))])


def read_table(path: Path) -> list[list[str]]:
    """Return the rows of a table without its header; none if it does not exist."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.reader(file))[1:]


def page_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the ranges of the shares over numbers of judgments, a line per set and measure."""
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for _, name, pool, measure, _, heading, share, *_ in rows:
        label = f"{measure}, pools for the pair" if pool == "pair" else measure
        if share != "nan":
            found[name, label][heading].append(float(share))
    lines = ["| set | measure | " + " | ".join(COLUMNS) + " |", "| --- | --- |" + " --- |" * len(COLUMNS)]
    for (name, label), cells in sorted(found.items()):
        shown = []
        for heading in COLUMNS.values():
            ends = (min(cells[heading]), max(cells[heading])) if cells[heading] else ()
            shown.append(" to ".join(dict.fromkeys(f"{end:.3f}".lstrip("0") for end in ends)))
        lines.append(f"| {name} | {label} | {' | '.join(shown)} |")
    return lines


def main() -> None:
    """Run the trials and print a line per cell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("kind", choices=("null", "queries", "draws", "slices", "known"))
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--only", action="append")
    parser.add_argument("--measure", action="append")
    parser.add_argument("--how", action="append", help="of null: exchanged, noise, or noise, pair")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--page", type=Path, help="needs --table")
    given = parser.parse_args()
    whole: Counts = defaultdict(list)
    for name in given.only or SETS:
        grades, runs = read_set(given.data, name)
        measures, trials = given.measure or MEASURES, given.trials
        if given.kind == "null":
            cells = null(grades, runs, trials, measures, given.how)
        elif given.kind == "slices":
            cells = sliced(grades, runs, trials, measures)
        elif given.kind == "known":
            cells = after_judgments(grades, runs, trials, measures)
        else:
            cells = redrawn(grades, runs, trials, measures, SIZE if given.kind == "queries" else 0)
        for (how, measure, budget), found in cells:
            words, rows = [], []
            for heading, held in found.items():
                if not printed(given.kind, how, heading):
                    continue
                share, error, none = summary(held, trials)
                whole[heading].append(share)
                words.append(f"{heading} {share:.3f} +- {error:.3f}" + (f" (none: {none:.2f})" * (none > 0)))
                shares = [f"{number:.4f}" for number in (share, error)]
                rows.append((given.kind, name, how, measure, budget, heading, *shares, trials, f"{none:.3f}"))
            print(f"{name:22} {how:12} {measure:8} {budget:4g} per query: {'; '.join(words)}", flush=True)
            if given.table is not None:
                keep(given.table, rows)
    if given.page is not None:
        lines = "\n".join(page_table(read_table(given.table)))
        given.page.write_text(BLOCK.sub(rf"\g<1>{lines}\g<2>", given.page.read_text()))
    for heading, each in whole.items():
        print(
            f"{heading}: {np.nanmean(each):.3f} over all, {np.nanmin(each):.3f} to "
            f"{np.nanmax(each):.3f}; {given.trials} trials each"
        )


if __name__ == "__main__":
    main()
