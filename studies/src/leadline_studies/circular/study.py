"""Build a run that an LLM judge favors, and score it by the judge's labels and by a few human judgments.

QRELS are the truth. A document without a judgment counts as not relevant. The circular run fuses the first
documents of RUNS by reciprocal rank fusion and re-ranks the result by the labels in `--machine`. Documents
are then drawn from the pool of RUNS and the circular run and judged as in QRELS. The measure of each run is
estimated from these judgments with the help of the labels. This is repeated `--draws` times. Runs given with
`--new` are not pooled.
Sources: Horvitz and Thompson 1952; Cormack, Clarke and Buettcher 2009.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from leadline import InputError, Run, UsageError, read_qrels
from leadline.charts.interval_plots import against_truth
from leadline.data.arrays import Floats
from leadline.data.reading import Reading
from leadline.data.table import Preformatted, Table, raised
from leadline.data.wording import counted
from leadline.demo import Lists, circular_lists, places
from leadline.estimation.estimate import estimate
from leadline.estimation.pool_designs import pool_for
from leadline.estimation.system_lists import read_systems
from leadline.evaluation.evaluate import evaluate
from leadline_studies import LEVEL, Claim, Given, Option, Outcome, of_judged, one_measure, with_options
from leadline_studies.common.tables import columns, sheet
from leadline_studies.estimate.study import judged_pool, listed, lists_of

CLAIM = Claim(
    "LLM labels overrate a run that was built from them, and a few human judgments correct the error."
)
OPTIONS = (
    Option("machine", str, "File of LLM labels.", required=True, metavar="LABELS"),
    Option("new", str, "Run that is not pooled (repeatable).", (), metavar="RUN"),
    Option("measure", str, "Measure to estimate for each run.", "P@10"),
    LEVEL,
    Option("depth", int, "Number of documents that the circular run re-ranks.", 100),
    Option("budget", float, "Mean number of judgments per query.", 20.0, metavar="B"),
    Option("draws", int, "Number of samples to draw, each with --budget judgments per query.", 200, least=2),
    Option("seed", int, "Random seed of the first sample.", 0, least=0),
)
NAME = "circular"
SHOWN = 10  # runs in the figure and on the page: the circular one and the best other pooled ones by the truth


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the study."""
    one_measure(given.measure)  # refused before any work
    truth, labels = read_qrels(qrels), read_qrels(given.machine)
    pooled = listed(runs)
    systems = read_systems([*pooled, *given.new], Reading(), depth=given.depth)
    lists_by_run = lists_of(of_judged(systems, truth))
    if NAME in lists_by_run:
        raise UsageError(f"this study builds a run named '{NAME}'. Rename your run of that name.")
    voters = list(lists_by_run.values())[: len(pooled)]
    all_lists: dict[str, Lists] = {
        name: {query: dict(zip(ranked, count(0.0, -1.0), strict=False)) for query, ranked in lists.items()}
        for name, lists in lists_by_run.items()
    }
    all_lists[NAME] = circular_lists(voters, labels.to_dict(), depth=given.depth)
    names = list(all_lists)
    objects = [Run(lists, name=name) for name, lists in all_lists.items()]
    in_pool = [*objects[: len(pooled)], objects[-1]]
    by_truth = evaluate(truth, objects, given.measure, rel=given.level)
    try:
        by_machine = evaluate(labels, objects, given.measure, rel=given.level)
    except InputError as error:
        raise error.at(given.machine) from None
    (text,) = map(str, by_truth.measures)
    values = np.zeros((given.draws, len(names)))
    limits = np.full((given.draws, len(names), 2), np.nan)
    for number in given.each(range(given.draws)):
        pool = pool_for(in_pool, text, budget=given.budget, seed=given.seed + number).pool
        estimates = estimate(judged_pool(pool, truth, drawn=True), objects, text, pool=pool, machine=labels)
        for column, name in enumerate(names):
            lists = estimates.estimate(name, text)
            values[number, column] = lists.value
            limits[number, column] = lists.these_low, lists.these_high
    kept = ~np.isnan(values).any(axis=1)
    if not kept.any():
        raise UsageError(
            f"no sample gives every run an estimate of {text}. Use a --budget above {given.budget:g}."
        )
    left = int((~kept).sum())
    without = f"left out {counted(left, 'sample')} in which a run has no estimate of {text}"
    values, limits = values[kept], limits[kept]
    data = {"measure": text} | {name: getattr(given, name) for name in ("level", "depth", "budget")}
    data |= {
        "draws": len(values),
        "pooled": len(in_pool),
        "queries": len(by_truth.queries),
        "runs": _rows(names, in_pool, by_truth.means[:, 0], by_machine.means[:, 0], values, limits),
    }
    return Outcome(data, warnings=raised(("no_estimate", without, left)), options={"measure": text})


def _rows(
    names: Sequence[str],
    pooled: Sequence[Run],
    truth: Floats,
    machine: Floats,
    values: Floats,
    limits: Floats,
) -> list[dict[str, Any]]:
    """Return what is known of every run, the best by the truth first."""
    drawn = np.array([places(row) for row in values])
    by_truth, by_machine = places(truth), places(machine)
    defined = ~np.isnan(limits[:, :, 0])
    covered = (limits[:, :, 0] <= truth) & (truth <= limits[:, :, 1])
    half = (limits[:, :, 1] - limits[:, :, 0]) / 2
    contributors = {run_in_pool.name for run_in_pool in pooled}
    rows = []
    for run in np.argsort(-truth, kind="stable").tolist():
        with_interval = defined[:, run]
        rows.append(
            {
                "name": names[run],
                "pooled": names[run] in contributors,
                "machine": float(machine[run]),
                "machine_place": int(by_machine[run]),
                "estimate": float(values[:, run].mean()),
                "half_width": float(half[with_interval, run].mean()) if with_interval.any() else None,
                "covered": float(covered[with_interval, run].mean()) if with_interval.any() else None,
                "withheld": float(1 - with_interval.mean()),
                "place": float(drawn[:, run].mean()),
                "place_low": int(np.quantile(drawn[:, run], 0.05)),
                "place_high": int(np.quantile(drawn[:, run], 0.95)),
                "truth": float(truth[run]),
                "truth_place": int(by_truth[run]),
            }
        )
    return rows


def shown(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the circular run and the best other pooled runs by the truth, by the truth."""
    others = [row for row in data["runs"] if row["pooled"] and row["name"] != NAME][: SHOWN - 1]
    return [row for row in data["runs"] if row["name"] == NAME or row in others]


def tables(data: Mapping[str, Any]) -> dict[str, Table]:
    """Return the table of all runs."""
    rows = [
        row
        | {name: str(row[name]) for name in ("machine_place", "truth_place")}
        | {"place": Preformatted(f"{row['place']:.1f}")}
        for row in data["runs"]
    ]
    heads = ["run=name", "labels alone=machine", "rank=machine_place", "estimate", "half-width=half_width"]
    heads += ["mean rank=place", "truth", "true rank=truth_place", "coverage=covered"]
    budget = f"{data['budget']:g} judgments per query"
    note = f"{data['measure']}. Estimates use {budget} and are means of {data['draws']} samples."
    return {NAME: sheet(rows, heads, digits=3, notes=[note])}


def figures(data: Mapping[str, Any]) -> dict[str, Any]:
    """Draw the circular run and the best others: by the machine, estimated, and by the truth."""
    rows = shown(data)
    machine, truth, *drawn = columns(rows, "machine", "truth", "estimate", "half_width")
    values, half = map(np.array, drawn)
    drawn_runs = against_truth(
        [row["name"] for row in rows],
        machine,
        values,
        values - half,
        values + half,
        truth,
        label=data["measure"].replace(f"(rel={data['level']:g})", ""),
        estimated=f"{data['budget']:g} judgments per query",
        marked=NAME,
    )
    return {NAME: drawn_runs}


def lines(data: Mapping[str, Any]) -> list[str]:
    """Return what was found of the circular run."""
    (row,) = (row for row in data["runs"] if row["name"] == NAME)
    half = "" if row["half_width"] is None else f" +- {row['half_width']:.3f}"
    line = (
        f"By the labels alone, the circular run has {data['measure']} {row['machine']:.3f} and rank "
        f"{row['machine_place']} of {len(data['runs'])}. With {data['budget']:g} judgments per query, its "
        f"mean estimate over {counted(data['draws'], 'sample')} is {row['estimate']:.3f}{half} and its mean "
        f"rank {row['place']:.1f} (90 % of samples: {row['place_low']} to {row['place_high']}). The truth "
        f"is {row['truth']:.3f} and rank {row['truth_place']}."
    )
    return [line]
