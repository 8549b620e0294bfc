"""Test whether HSA and DO follow rank measures over submitted runs, from ranks and from scores.

Every recipe is correlated with AP, P@10 and nDCG over all runs, with bootstrap intervals over runs (or
teams), and over random sets of seven of them, as in the paper. Recall of the same lists is the control.
Source: Krstovski, Smith and Kurtz 2015, section 5.3, tables 5 and 6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.reading import Reading
from leadline.data.records import plain
from leadline.data.wording import rounded
from leadline.errors import UsageError
from leadline.estimation.score_histograms.histogram import measure_run
from leadline.estimation.score_histograms.histogram_options import HistogramOptions
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.join import judge_runs
from leadline.io.id_lists import read_labels
from leadline.io.objects import read_qrels
from leadline.io.read import QrelsLike
from leadline.stats.correlation import pearson
from leadline.stats.resampling import bootstrap_interval
from leadline_studies import Claim, Given, Option, Outcome, Progress, with_options
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
    Option("level", float, "Minimum relevant grade.", 1.0, metavar="GRADE"),
    Option("depth", int, "Number of documents kept per query, before anything else.", 1000, metavar="K"),
    Option("bins", int, "Number of bins.", 10, metavar="N"),
    Option(
        "draws",
        int,
        "Number of random sets of seven runs, and of bootstrap resamples of runs.",
        200,
        metavar="N",
    ),
    Option("seed", int, "Seed of the random number generator.", 0, metavar="N"),
    Option("team", str, "Team of every run; the bootstrap resamples whole teams.", metavar="FILE:COLUMN"),
)
LEAST = 15  # runs, for random sevens to differ
ASKED_SEVENS = 200
RANKS, FOUND = "HSA, ranks", "HSA, ranks, found only"
JUDGED = {FOUND: "as in the paper", RANKS: "ours (relevant documents that were not retrieved come last)"}


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
def run(qrels: QrelsLike, runs: Any, given: Given, on_run: Progress | None) -> Outcome:
    """Run the study on runs; `team` is FILE:COLUMN."""
    table = read_qrels(qrels)
    recipes_used = {
        name: of_run.checked() for name, of_run in recipes(given.level, given.depth, given.bins).items()
    }
    infos, of_runs = judge_runs(
        runs,
        table,
        lambda judged: [measure_run(judged, of_run, 0) for of_run in recipes_used.values()],
        reading=Reading(),
        keep=True,
        on_run=on_run,
    )
    names = [info.name for info in infos]
    if len(names) < LEAST:
        raise UsageError(f"{len(names)} runs; expected {LEAST} or more for random sevens")
    quality = evaluate(table, runs, MEASURES, rel=given.level, queries="with_relevant").means
    columns = {
        name: np.array([of_run[index].hsa for of_run in of_runs]) for index, name in enumerate(recipes_used)
    }
    columns["HSA, robust"] = np.array([of_run[0].hsa_robust for of_run in of_runs])
    columns["DO, scores"] = np.array([of_run[1].do for of_run in of_runs])
    columns["DO, ranks"] = np.array([of_run[3].do for of_run in of_runs])
    columns["recall (control)"] = np.array([of_run[0].recall for of_run in of_runs])
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
    read = [(info.path, info.counts["documents_read"]) for info in infos]
    return Outcome(
        {
            "depth": given.depth,
            "bins": given.bins,
            "runs": len(names),
            "queries": queries,
            "recipes": data,
            "robust_over_recall": gain,
        },
        tracking_tables(data),
        {which: tracking_figure(data, which) for which in ("sevens", "all")},
        summary_lines(data, gain, queries, given.draws),
        (),
        read,
        {},
    )


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

    low, high = bootstrap_interval(better, teams, draws=max(draws, 1), seed=seed)
    return {"value": plain(better(None)), "low": plain(low), "high": plain(high)}


def summary_lines(data: dict[str, Any], gain: dict[str, float | None], queries: int, draws: int) -> list[str]:
    """Return whether HSA from ranks, as in the paper and repaired, tracks AP over random sevens."""
    whole = {name: entry["AP"]["pearson"]["value"] for name, entry in data.items()}
    printed, ranks, robust, control, scores, overlaps = (
        rounded(whole[name])
        for name in (
            "HSA, scores, as printed",
            RANKS,
            "HSA, robust",
            "recall (control)",
            "DO, scores",
            "DO, ranks",
        )
    )
    low, high = gain["low"] or 0.0, gain["high"] or 0.0
    beats = "more" if low > 0 else "less" if high < 0 else "not clearly more or less"
    over_all = (
        f"over all runs R with AP: as printed from scores {printed}, from ranks {ranks}, robust {robust}; "
        f"recall alone {control}: the robust variant says {beats} than recall (95 % interval of the "
        f"difference {low:+.2f} to {high:+.2f})"
    )
    overlap = f"DO with AP: R {scores} from scores, {overlaps} from ranks; no claim"
    verdicts = [
        _line(title, data[recipe]["sevens_pearson"], queries, draws) for recipe, title in JUDGED.items()
    ]
    return [*verdicts, over_all, overlap]


def _line(title: str, sevens: dict[str, Any], queries: int, draws: int) -> str:
    """Return whether one recipe passes the rule, and what follows."""
    good = (sevens["median"] or 0.0) > 0.5 and (sevens["low"] or 0.0) > 0
    return (
        f"HSA from ranks, {title}, with AP over random sevens: median R {rounded(sevens['median'])}, 5 % "
        f"{rounded(sevens['low'])} (asked: above 0.5 and above 0): the relation "
        f"{'holds' if good else 'does not hold'} here; {_verdict(good, queries, draws)}"
    )


def _verdict(good: bool, queries: int, draws: int) -> str:
    """Return the verdict: a single set can refute the claim, not reproduce it."""
    missing = [f"{ASKED_QUERIES} queries or more, here {queries:,}"] * (queries < ASKED_QUERIES)
    missing += [f"{ASKED_SEVENS} sevens or more, here {draws:,}"] * (draws < ASKED_SEVENS)
    if missing:
        return f"no verdict: the rule asks for {ASKED_COLLECTIONS} sets with {', and '.join(missing)}"
    if not good:
        return "not reproduced"
    return (
        f"reproduced in kind when a second set of {ASKED_QUERIES} queries or more agrees, and both do at "
        "depths 1000 and 100"
    )
