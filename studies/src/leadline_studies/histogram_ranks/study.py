"""Test whether HSA and DO, from ranks or from scores, track rank measures across submitted runs.

Each variant of HSA and DO (see `leadline histogram`) is correlated with AP, P@10 and nDCG over all runs, with
bootstrap intervals over runs or teams, and over random sets of seven runs, as in the paper. Recall of the
same lists is the control.
Source: Krstovski, Smith and Kurtz 2015, section 5.3, tables 5 and 6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline import InputError
from leadline.data.arrays import Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Reading
from leadline.data.table import Table
from leadline.data.wording import rounded
from leadline.estimation.histogram import measure_run
from leadline.estimation.histogram_result import HistogramOptions, RunHistograms
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.join import judge_runs
from leadline.io.id_lists import read_labels
from leadline.io.objects import read_qrels
from leadline.stats.correlation import pearson
from leadline.stats.moments import resamples
from leadline_studies import LEVEL, OF_TEAMS, SEED, Claim, Given, Option, Outcome, at_least, with_options
from leadline_studies.common.tables import estimated
from leadline_studies.common.tracking import (
    ASKED_COLLECTIONS,
    ASKED_QUERIES,
    MEASURES,
    correlate_column,
    tracking_figure,
    tracking_tables,
)

CLAIM = Claim("HSA from ranks follows MAP over submitted runs.", "R of 0.75 to 0.98 with MAP.")
OPTIONS = (
    LEVEL,
    Option(
        "depth",
        int,
        "Number of documents to keep per list. Lists are cut before anything else is done.",
        1000,
        metavar="K",
    ),
    Option("bins", int, "Number of histogram bins.", 10, least=2),
    Option(
        "draws", int, "Number of random sets of seven runs, and number of bootstrap resamples.", 200, least=0
    ),
    SEED,
    OF_TEAMS,
)
LEAST = 15  # runs, for random sevens to differ
ASKED_SEVENS = 200
RANKS, FOUND = "HSA, ranks", "HSA, ranks, found only"
JUDGED = {FOUND: "as in the paper", RANKS: "repaired (relevant documents that were not retrieved come last)"}


def recipes(level: float, depth: int | None, bins: int) -> dict[str, HistogramOptions]:
    """Return the recipes compared, by name."""
    plain = HistogramOptions(bins=bins, depth=depth, rel=level)
    return {
        "HSA, scores, as printed": plain._replace(norm="model", missing="skip"),
        "HSA, scores": plain,
        FOUND: plain._replace(from_ranks=True, missing="skip"),
        RANKS: plain._replace(from_ranks=True),
        "HSA, ranks, weighted": plain._replace(from_ranks=True, weighted=True, half_counts=True),
    }


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the study on runs; `team` is FILE:COLUMN."""
    table = read_qrels(qrels)
    if not table.relevant(given.level).any():
        raise InputError(
            f"no query has a relevant document (grade {given.level:g} or more)", path=table.source
        )
    recipes_used = {
        name: of_run.checked() for name, of_run in recipes(given.level, given.depth, given.bins).items()
    }

    def measured(judged: JudgedRun) -> list[RunHistograms]:
        return [measure_run(judged, of_run, 0) for of_run in recipes_used.values()]

    infos, of_runs = judge_runs(runs, table, measured, reading=Reading(), keep=True, on_run=given.on_run)
    names = [info.name for info in infos]
    at_least(LEAST, len(names), "runs for random sevens")
    quality = evaluate(table, runs, MEASURES, rel=given.level, queries="with_relevant").means
    columns = {
        name: np.array([of_run[index].hsa for of_run in of_runs]) for index, name in enumerate(recipes_used)
    }
    more = {"HSA, robust": (0, "hsa_robust"), "DO, scores": (1, "do"), "DO, ranks": (3, "do")}
    for name, (index, key) in (more | {"recall (control)": (0, "recall")}).items():
        columns[name] = np.array([getattr(of_run[index], key) for of_run in of_runs])
    teams = read_labels(given.team) if given.team else None
    data = {
        name: correlate_column(names, values, quality, teams=teams, draws=given.draws, seed=given.seed)
        for name, values in columns.items()
    }
    queries = int(np.count_nonzero(table.relevant(given.level)))
    groups = [teams.get(name, name) for name in names] if teams else names
    gain = _gain(
        columns["HSA, robust"], columns["recall (control)"], quality[:, 0], groups, given.draws, given.seed
    )
    found = {"depth": given.depth, "bins": given.bins, "runs": len(names), "queries": queries}
    found |= {"recipes": data, "robust_over_recall": gain}
    return Outcome(found, infos, lines=summary_lines(data, gain, queries, given.draws))


def tables(data: dict[str, Any]) -> dict[str, Table]:
    """Return the correlations by recipe."""
    return tracking_tables(data["recipes"])


def figures(data: dict[str, Any]) -> dict[str, Any]:
    """Draw the correlations by recipe."""
    return {which: tracking_figure(data["recipes"], which) for which in ("sevens", "all")}


def _gain(
    robust: Floats, control: Floats, quality: Floats, teams: list[str], draws: int, seed: int
) -> dict[str, float | None]:
    """Return the gain in Pearson's r with AP of the robust variant over recall, with an interval."""
    defined = ~np.isnan(robust)

    def better(times: Integers | None) -> float:
        part = None if times is None else times[defined]
        return pearson(quality[defined], robust[defined], part) - pearson(
            quality[defined], control[defined], part
        )

    drawn = resamples(teams, draws=max(draws, 1), seed=seed)
    return estimated(better(None), [better(times) for times in drawn])


def summary_lines(data: dict[str, Any], gain: dict[str, float | None], queries: int, draws: int) -> list[str]:
    """Return whether HSA from ranks, as in the paper and repaired, tracks AP over random sevens."""
    whole = {name: rounded(entry["AP"]["pearson"]["value"]) for name, entry in data.items()}
    low, high = gain["low"] or 0.0, gain["high"] or 0.0
    beats = "better" if low > 0 else "worse" if high < 0 else "neither clearly better nor worse"
    over_all = (
        f"Over all runs, R with AP is {whole['HSA, scores, as printed']} from scores as printed, "
        f"{whole[RANKS]} from ranks, {whole['HSA, robust']} for the robust variant and "
        f"{whole['recall (control)']} for recall alone. The robust variant tracks AP {beats} than recall "
        f"(95 % interval of the difference {low:+.2f} to {high:+.2f})."
    )
    overlap = (
        f"R of DO with AP is {whole['DO, scores']} from scores and {whole['DO, ranks']} from ranks. The "
        "paper makes no claim."
    )
    verdicts = [
        _line(title, data[recipe]["sevens_pearson"], queries, draws) for recipe, title in JUDGED.items()
    ]
    return [*verdicts, over_all, overlap]


def _line(title: str, sevens: dict[str, Any], queries: int, draws: int) -> str:
    """Return whether one recipe passes the rule, and what follows."""
    good = (sevens["median"] or 0.0) > 0.5 and (sevens["low"] or 0.0) > 0
    return (
        f"HSA from ranks, {title}, with AP over random sevens: the median R is {rounded(sevens['median'])}, "
        f"the 5 % quantile {rounded(sevens['low'])} (required: above 0.5 and above 0). The relation "
        f"{'holds' if good else 'does not hold'} here: {_verdict(good, queries, draws)}"
    )


def _verdict(good: bool, queries: int, draws: int) -> str:
    """Return the verdict: a single set can refute the claim, not reproduce it."""
    missing = [f"{ASKED_QUERIES} queries ({queries:,} here)"] * (queries < ASKED_QUERIES)
    missing += [f"{ASKED_SEVENS} sevens ({draws:,} here)"] * (draws < ASKED_SEVENS)
    if missing:
        return f"no verdict, because the rule requires {ASKED_COLLECTIONS} sets with {' and '.join(missing)}"
    if not good:
        return "not reproduced"
    return (
        f"reproduced in kind if a second set of at least {ASKED_QUERIES} queries agrees, both at depths 1000 "
        "and 100"
    )
