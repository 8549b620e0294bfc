"""Write the page of the studies of histograms (HSA, DO) on submitted runs.

    python -m leadline_studies.histogram_ranks.page [FOLDER DATA]

Runs the studies whose output is not in FOLDER. DATA contains the run sets. `PAPER` has the values that the
paper prints.
Without arguments the page is written from the numbers kept in docs/studies.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import leadline as ll
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Reading
from leadline.errors import InputError
from leadline.estimation.score_histograms.histogram import measure_run
from leadline.estimation.score_histograms.histogram_options import HistogramOptions
from leadline.estimation.score_histograms.histogram_result import RunHistograms
from leadline.estimation.score_histograms.subsampling import compute_hsa
from leadline.evaluation.join import judge_runs
from leadline.io.read import read_qrels
from leadline_studies.common.markdown import number, table, value_range, with_interval, wrapped
from leadline_studies.common.pages import Json, cached, copy_figures, find_runs, run_study, update_page
from leadline_studies.histogram_ranks.other_runs import collect_others, consistency, others_table, others_text

NAME = "histograms"
SETS = {
    "trec-robust-2003": "Robust 2003",
    "trec-dl-2019-passage": "Passages 2019",
    "trec-covid-r1": "COVID 1",
    "trec-covid-r2-top100": "COVID 2",
}
LEVELS = {"trec-dl-2019-passage": 2}
DEPTHS = (1000, 100)
CUT = {"trec-covid-r2-top100": (100,)}  # lists were published cut
TRIED = (10, 30, 100, 300, 1000)  # depths, in one pass
LEVELS_KEPT = (100, 20, 5)  # steps of a list's scores, so that documents tie
FEWER = (5, 10, 20)  # queries
SUBSETS = 40
TURNED, FEW = "sign changes between 5 and 200 bins", "fewer than 6 of 10 bins hold both"
KINDS = ("HSA, scores", "HSA, ranks", "HSA, robust", "recall")
BINS = (5, 10, 20, 50, 100, 200)  # those that leadline.histogram tries each time
MEASURES = ("AP", "P@10", "nDCG")
RANKS, FOUND = "HSA, ranks", "HSA, ranks, found only"
CONTROL, ROBUST = "recall (control)", "HSA, robust"
ASKED_QUERIES = 50
NOTE = "<!-- Made by leadline_studies/histogram_ranks/page.py from the output of `leadline study`. -->"
FIGURES = {
    "trec-dl-2019-passage-ranks-100/sevens": "histograms-trec-dl-2019-passage-at-100-sevens.svg",
    "trec-covid-r1-ranks-1000/all": "histograms-trec-covid-r1-all.svg",
}
# Tables 5 and 6, HSA with MAP, P@10 and NDCG: Pearson, then Spearman.
PAPER = {
    "Microblog '13": (0.98, 0.95, 0.93, 0.82, 0.79, 0.86),
    "Medical '12": (0.90, 0.84, 0.94, 0.96, 0.82, 0.96),
    "Web '11": (0.75, 0.86, 0.79, 0.71, 0.86, 0.75),
    "Session '10": (0.82, 0.75, 0.84, 0.71, 0.86, 0.64),
    "Chemical '09": (0.85, 0.95, 0.82, 0.82, 0.86, 0.79),
    "Enterprise '08": (0.93, -0.14, 0.93, 0.86, -0.14, 0.75),
    "Million '07": (0.85, 0.93, 0.88, 0.86, 0.68, 0.86),
    "Terabyte '06": (0.97, 0.98, 1.00, 0.86, 0.43, 0.86),
    "Robust '05": (0.75, 0.60, 0.74, 0.78, 0.57, 0.79),
    "Web '04": (0.87, 0.63, 0.88, 0.68, 0.39, 0.71),
}


def collect(folder: Path, data: Path) -> Json:
    """Run the studies whose output is not in `folder`, and return their results."""
    collected: Json = {"ranks": {}, "probe": {}, "trial": {}}
    for name in SETS:
        folder_of_set = data / name
        runs = [f"runs/{run.name}" for run in find_runs(folder_of_set)]
        arguments = ["qrels.txt", *runs, "--team", "systems.tsv:team", "--level", str(LEVELS.get(name, 1))]
        for depth in depths(name):
            collected["ranks"][f"{name}-{depth}"] = run_study(
                "histogram-ranks",
                folder_of_set,
                folder / f"{name}-ranks-{depth}",
                [*arguments, "--depth", str(depth)],
            )
        collected["probe"][name] = cached(partial(sensitivity, folder_of_set), folder / f"{name}-probe.json")
        collected["trial"][name] = cached(partial(run_trial, folder_of_set), folder / f"{name}-trial.json")
    collected["others"] = collect_others(folder, data)
    copy_figures(folder, FIGURES)
    return collected


def sensitivity(folder: Path) -> Json:
    """Return the sensitivity of HSA on a set at every depth."""
    return {str(depth): probe(folder, depth) for depth in depths(folder.name)} | warning_counts(folder)


def depths(name: str) -> tuple[int, ...]:
    """Return the depths at which a set is tried."""
    return CUT.get(name, DEPTHS)


def sets_and_depths() -> list[tuple[str, str, int]]:
    """Return name, title and depth of every set at every depth."""
    return [(name, title, depth) for name, title in SETS.items() for depth in depths(name)]


def probe(folder: Path, depth: int) -> Json:
    """Correlate HSA with AP under one change of the options at a time."""
    runs = find_runs(folder)
    level = LEVELS.get(folder.name, 1)
    options: dict[str, Any] = {"rel": level, "depth": depth, "draws": 0}
    table = folder / "qrels.txt"
    quality = average_precision(folder)
    recipes: dict[str, dict[str, Any]] = {
        "scores": {},
        "ranks": {"from_ranks": True},
        "ranks, judged only": {"from_ranks": True, "nonrelevant": "judged"},
        "ranks, rank column": {"from_ranks": True, "order": "rank"},
    }
    result: Json = {}
    for name, changed in recipes.items():
        try:
            histograms = ll.histogram(table, runs, **options, **changed)
        except InputError:  # a rank column that is no order
            continue
        by_bins = np.array([histogram.by_bins for histogram in histograms.measured])
        lopsided = np.array([histogram.lopsided > 0.5 for histogram in histograms.measured])
        result[name] = {
            "R": pearson(quality, histograms.hsa),
            "bins": [pearson(quality, column) for column in by_bins.T],
            "lopsided": int(lopsided.sum()),
            "R_lopsided": pearson(quality[lopsided], histograms.hsa[lopsided]),
            "R_others": pearson(quality[~lopsided], histograms.hsa[~lopsided]),
            "notices": {warning.code: warning.count for warning in histograms.warnings},
        }
        if name == "ranks":
            robust = np.array([histogram.robust_by_bins for histogram in histograms.measured])
            result["robust"] = {"bins": [pearson(quality, column) for column in robust.T]}
    return result


def indicators(quality: Any, of_runs: list[RunHistograms]) -> Json:
    """Return R with AP of the runs that a warning names, and of the others."""
    hsa = np.array([histogram.hsa for histogram in of_runs])
    signs = np.sign(np.nan_to_num([histogram.by_bins for histogram in of_runs]))
    pooled = np.stack([histogram.counts.sum(axis=0) for histogram in of_runs])
    flags = {
        TURNED: (signs.min(axis=1) < 0) & (signs.max(axis=1) > 0),
        FEW: (pooled > 0).all(axis=1).sum(axis=1) < 6,
    }
    return {
        name: {
            "runs": int(flag.sum()),
            "R": pearson(quality[flag], hsa[flag]),
            "R_others": pearson(quality[~flag], hsa[~flag]),
        }
        for name, flag in flags.items()
    }


def run_trial(folder: Path) -> Json:
    """Correlate HSA with AP by depth, by ties made in the lists, and from fewer queries."""
    runs, level = find_runs(folder), float(LEVELS.get(folder.name, 1))
    table = read_qrels(folder / "qrels.txt")
    results = ll.evaluate(table, runs, "AP", rel=level, queries="with_relevant")
    by_query = np.nan_to_num(results.values[:, :, 0])
    counted = np.flatnonzero(table.relevant(level))
    rng = np.random.default_rng(0)
    subsets = {size: [rng.choice(counted, size, replace=False) for _ in range(SUBSETS)] for size in FEWER}
    _, of_runs = judge_runs(
        runs, table, lambda judged: of_run(judged, level, subsets), keep=True, reading=Reading()
    )
    quality = results.means[:, 0]
    result: Json = {
        part: {
            key: {
                kind: pearson(quality, np.array([entry[part][key][row] for entry in of_runs]))
                for row, kind in enumerate(KINDS)
            }
            for key in of_runs[0][part]
        }
        for part in ("depth", "levels")
    }
    result["doubts"] = {
        kind: indicators(quality, [entry["whole"][row] for entry in of_runs])
        for row, kind in enumerate(KINDS[:2])
    }
    result["queries"] = {}
    for size, chosen in subsets.items():
        columns = {
            kind: np.array([entry["queries"][str(size)][row] for entry in of_runs])
            for row, kind in enumerate(KINDS[:3])
        } | {"AP": np.array([[entry[part].mean() for part in chosen] for entry in by_query])}
        result["queries"][str(size)] = {
            kind: quantiles([pearson(quality, column) for column in values.T])
            for kind, values in columns.items()
        }
    return result


def of_run(judged: JudgedRun, level: float, subsets: dict[int, list[Any]]) -> Json:
    """Return HSA (of scores, of ranks, robust) and recall of one run under every change."""
    scores = HistogramOptions(rel=level)
    ranks = scores._replace(from_ranks=True)
    result: Json = {"depth": {}, "levels": {}, "queries": {}}
    for depth in TRIED:
        cut = measure_run(judged, scores._replace(depth=depth), 0)
        deep = measure_run(judged, ranks._replace(depth=depth), 0)
        result["depth"][str(depth)] = [cut.hsa, deep.hsa, cut.hsa_robust, cut.recall]
    for steps in LEVELS_KEPT:
        tied = coarsened(judged, steps)
        histogram = measure_run(tied, scores, 0)
        result["levels"][str(steps)] = [
            histogram.hsa,
            measure_run(tied, ranks, 0).hsa,
            histogram.hsa_robust,
            histogram.recall,
        ]
    result["whole"] = [measure_run(judged, options, 0) for options in (scores, ranks)]
    counts = [
        (measured.counts, options) for measured, options in zip(result["whole"], (scores, ranks), strict=True)
    ]
    counts.append((measure_run(judged, scores.robust, 0).counts, scores.robust))
    for size, chosen in subsets.items():
        result["queries"][str(size)] = [
            [compute_hsa(table[part], options) for part in chosen] for table, options in counts
        ]
    return result


def coarsened(judged: JudgedRun, steps: int) -> JudgedRun:
    """Round the scores of each list to equal steps; ties are in descending order of document ids."""
    lists = judged.lists
    assert lists is not None
    assert lists.ids is not None
    starts = lists.bounds[:-1]
    length = np.diff(lists.bounds)
    owner = np.repeat(np.arange(len(length)), length)
    low, high = (
        np.repeat(function.reduceat(lists.scores, starts), length) for function in (np.minimum, np.maximum)
    )
    level = np.floor((lists.scores - low) / np.where(high > low, high - low, 1) * steps)
    name = np.argsort(np.argsort(np.array(list(lists.ids)), kind="stable"))
    order = np.lexsort((-name, -level, owner))
    changed = lists._replace(rows=lists.rows[order], scores=level[order], ids=lists.ids.take(order))
    return JudgedRun.of_lists(judged.qrels, [changed], keep=True)


def quantiles(values: list[float | None]) -> Json:
    """Return the median and the 5 % and 95 % quantiles of the known values."""
    defined = [value for value in values if value is not None]
    low, middle, high = np.quantile(defined, [0.05, 0.5, 0.95]).tolist()
    return {"low": low, "value": middle, "high": high}


def warning_counts(folder: Path) -> Json:
    """Count runs, teams, queries, and how many retrieved documents are not judged."""
    runs = find_runs(folder)
    result = ll.histogram(
        folder / "qrels.txt", runs, rel=LEVELS.get(folder.name, 1), draws=0, from_ranks=True
    )
    counts = {warning.code: warning.count for warning in result.warnings}
    rows = sum(info.counts["documents_read"] for info in result.runs)
    queries = int(result.counts[0].sum(axis=(1, 2)).astype(bool).sum())
    lengths = [info.counts["documents_read"] / max(queries, 1) for info in result.runs]
    return {
        "queries": queries,
        "rows": rows,
        "unjudged": counts.get("unjudged_documents", 0),
        "tied": counts.get("tied_lists", 0),
        "lists": len(runs) * queries,
        "short": sum(length < 500 for length in lengths),
    }


def average_precision(folder: Path) -> Any:
    """Return AP of whole lists by run."""
    return ll.evaluate(
        folder / "qrels.txt", find_runs(folder), "AP", rel=LEVELS.get(folder.name, 1), queries="with_relevant"
    ).means[:, 0]


def pearson(first: Any, second: Any) -> float | None:
    """Return Pearson's R over the runs where both are known."""
    defined = ~(np.isnan(first) | np.isnan(second))
    if defined.sum() < 3:
        return None
    value = float(np.corrcoef(first[defined], second[defined])[0, 1])
    return None if np.isnan(value) else value


def settings(contents: Json) -> list[tuple[str, Json]]:
    """Return the results of each set at each depth, with a title."""
    return [
        (f"{title}, {depth}", contents["ranks"][f"{name}-{depth}"])
        for name, title, depth in sets_and_depths()
    ]


def counts(contents: Json) -> str:
    """Write the table of the data used."""
    rows = []
    for name, title in SETS.items():
        entry, runs = contents["probe"][name], contents["ranks"][f"{name}-{depths(name)[0]}"]["runs"]
        rows.append(
            [
                title,
                str(runs),
                str(entry["queries"]),
                str(LEVELS.get(name, 1)),
                f"{entry['unjudged'] / entry['rows']:.0%}",
                f"{entry['tied']:,} of {entry['lists']:,}",
                str(entry["short"]),
            ]
        )
    return table(
        [
            "set",
            "runs",
            "queries",
            "relevant from grade",
            "retrieved documents not judged",
            "lists in which judged documents tie",
            "runs of fewer than 500 documents a query",
        ],
        rows,
    )


def paper_table(contents: Json) -> str:
    """Write the correlations beside those of the paper's Tables 5 and 6."""
    rows = [[f"paper, {len(PAPER)} tracks", "runs", *map(value_range, zip(*PAPER.values(), strict=True))]]
    for title, of_set in settings(contents):
        for recipe in (FOUND, RANKS):
            entry = of_set["recipes"][recipe]
            rows.append(
                [
                    title,
                    recipe.removeprefix("HSA, "),
                    *(
                        number(entry[measure][kind]["value"])
                        for kind in ("pearson", "spearman")
                        for measure in MEASURES
                    ),
                ]
            )
    heads = [f"{kind} {measure}" for kind in ("R", "rho") for measure in ("MAP", "P@10", "nDCG")]
    return table(["runs, depth", "ranks of", *heads], rows)


def over_all(contents: Json) -> str:
    """Write R with MAP over all runs by recipe."""
    columns = settings(contents)
    rows = [
        [name, *(with_interval(of_set["recipes"][name]["AP"]["pearson"]) for _, of_set in columns)]
        for name in columns[0][1]["recipes"]
    ]
    gain = [with_interval(of_set["robust_over_recall"]) for _, of_set in columns]
    return table(["recipe", *(title for title, _ in columns)], [*rows, ["robust less recall", *gain]])


def sevens(contents: Json, kind: str = "pearson") -> str:
    """Write the medians of random sevens with their 5 % and 95 % quantiles."""
    columns = settings(contents)
    rows = [
        [
            name,
            *(
                with_interval(of_set["recipes"][name][f"sevens_{kind}"], middle="median")
                for _, of_set in columns
            ),
        ]
        for name in columns[0][1]["recipes"]
    ]
    return table(["recipe", *(title for title, _ in columns)], rows)


def passes(of_set: Json, recipe: str) -> bool:
    """Decide by the rule: median above 0.5, 5 % quantile above 0."""
    entry = of_set["recipes"][recipe]["sevens_pearson"]
    return bool(entry["median"] > 0.5 and entry["low"] > 0)


def held_by(contents: Json, recipe: str) -> list[str]:
    """Return the settings in which a recipe passes the rule."""
    return [title for title, of_set in settings(contents) if passes(of_set, recipe)]


def verdict(contents: Json, recipe: str) -> str:
    """Return the verdict of the rule on a recipe, as text: one large set refutes it, two may reproduce it."""
    large = [name for name in SETS if contents["probe"][name]["queries"] >= ASKED_QUERIES]
    held = all(
        passes(contents["ranks"][f"{name}-{depth}"], recipe) for name in large for depth in depths(name)
    )
    if not held:
        return "not reproduced"
    if len(large) < 2:  # collections
        return (
            f"open: it asks for two collections of {ASKED_QUERIES} or more queries, which {len(large)} of "
            f"{len(SETS)} has"
        )
    return "reproduced in kind"


def ranks_verdict(contents: Json) -> str:
    """Return where the rule holds, by recipe, as text."""
    columns = settings(contents)
    lines = []
    for recipe in (FOUND, RANKS, ROBUST):
        good = held_by(contents, recipe)
        bad = [title for title, _ in columns if title not in good]
        part = f"`{recipe}` in {len(good)} of {len(columns)} settings"
        lines.append(part + (f" (not {'; '.join(bad)})" if bad else ""))
    return "Median R above 0.5 and 5 % quantile above 0: " + "; ".join(lines) + "."


def signs(contents: Json) -> str:
    """Return the signs of the correlations of DO, as text."""
    parts = []
    for recipe in ("DO, scores", "DO, ranks"):
        values = [f["recipes"][recipe]["AP"]["pearson"]["value"] for _, f in settings(contents)]
        below = sum(value < 0 for value in values)
        ends = value_range(values)
        parts.append(f"`{recipe}` {ends}, negative in {below} of {len(values)}")
    return "; ".join(parts)


def recall_above(contents: Json) -> int:
    """Return in how many settings recall correlates with MAP at least as well as HSA from ranks."""
    return sum(
        of_set["recipes"][RANKS]["AP"]["pearson"]["value"]
        <= of_set["recipes"][CONTROL]["AP"]["pearson"]["value"]
        for _, of_set in settings(contents)
    )


def control_verdict(contents: Json) -> str:
    """Return where the robust variant tracks MAP better than recall does, as text."""
    gains = {title: of_set["robust_over_recall"] for title, of_set in settings(contents)}
    larger = [title for title, value in gains.items() if value["low"] > 0]
    less = [title for title, value in gains.items() if value["high"] < 0]
    return (
        f"HSA from ranks correlates with MAP better than recall in {len(gains) - recall_above(contents)} of "
        f"{len(gains)} settings. The robust variant is significantly better than recall in {len(larger)} "
        f"({'; '.join(larger) or 'none'}), significantly worse in {len(less)} ({'; '.join(less) or 'none'})"
    )


def few_bins(contents: Json) -> str:
    """Count the settings in which few bins are best, as text."""
    rows = [
        entry[str(depth)][recipe]["bins"]
        for name, _, depth in sets_and_depths()
        for entry in [contents["probe"][name]]
        for recipe in ("scores", "ranks", "robust")
    ]
    few = sum(int(np.argmax(row)) <= BINS.index(20) for row in rows)
    return f"R is highest with 5 to 20 bins in {few} of {len(rows)} rows"


def lopsided_text(contents: Json) -> str:
    """Return whether lopsided runs are those where HSA misleads."""
    pairs = [contents["probe"][name][str(depth)]["scores"] for name, _, depth in sets_and_depths()]
    defined = [entry for entry in pairs if None not in (entry["R_lopsided"], entry["R_others"])]
    lower = sum(entry["R_lopsided"] < entry["R_others"] for entry in defined)
    return (
        f"Where both groups have three or more runs, R among lopsided runs is the lower one in {lower} of "
        f"{len(defined)} settings; each group has fewer runs and another range of MAP than all runs"
    )


def sets_without_ranks(contents: Json) -> str:
    """Return the names of the sets whose rank columns are not a permutation."""
    names = [
        title
        for name, title in SETS.items()
        if "ranks, rank column" not in contents["probe"][name][str(depths(name)[0])]
    ]
    return "; ".join(names) or "none"


def trial_table(contents: Json, part: str) -> str:
    """Write R with MAP by depth or by ties, one row a set and a kind."""
    keys = list(next(iter(contents["trial"].values()))[part])
    rows = [
        [
            SETS[name],
            kind,
            *(
                "" if part == "depth" and int(key) > max(depths(name)) else number(entry[part][key][kind])
                for key in keys
            ),
        ]
        for name, entry in contents["trial"].items()
        for kind in KINDS
    ]
    heads = keys if part == "depth" else [f"{key} steps" for key in keys]
    return table(["set", "estimate", *heads], rows)


def queries_table(contents: Json) -> str:
    """Write R with MAP from fewer queries."""
    rows = [
        [
            SETS[name],
            kind,
            *(with_interval(entry["queries"][str(size)][kind]) for size in (FEWER[0], FEWER[-1])),
        ]
        for name, entry in contents["trial"].items()
        for kind in (*KINDS[:3], "AP")
    ]
    return table(["set", "estimate", *(f"{size} queries" for size in (FEWER[0], FEWER[-1]))], rows)


def sign_text(contents: Json) -> str:
    """Return where changes of the sign of HSA indicate poor runs, and how many runs have few bins."""
    pairs = [of_set[TURNED] for entry in contents["trial"].values() for of_set in entry["doubts"].values()]
    defined = [entry for entry in pairs if None not in (entry["R"], entry["R_others"])]
    lower = sum(entry["R"] < entry["R_others"] for entry in defined)
    few = max(
        of_set[FEW]["runs"] for entry in contents["trial"].values() for of_set in entry["doubts"].values()
    )
    return (
        f"R is lower among unsteady runs in {lower} of the {len(defined)} rows in which both are defined. In "
        f"whole lists at most {few} run of a set has fewer than 6 of 10 bins with both kinds of documents"
    )


def trial_text(contents: Json) -> str:
    """Return the effect of depth and ties on each estimate, from its best value to its worst, as text."""
    text = []
    for kind in KINDS:
        spans = []
        for part in ("depth", "levels"):
            rows = [
                [value for correlations in entry[part].values() if (value := correlations[kind]) is not None]
                for entry in contents["trial"].values()
            ]
            spans.append(max(max(row) - min(row) for row in rows))
        text.append(f"{kind} {spans[0]:.2f} and {spans[1]:.2f}")
    return ", ".join(text)


def largest_change(contents: Json, recipe: str, control_value: str) -> str:
    """Return the largest difference of R between two recipes, as text."""
    moved = [
        entry[str(depth)][control_value]["R"] - entry[str(depth)][recipe]["R"]
        for name, _, depth in sets_and_depths()
        for entry in [contents["probe"][name]]
        if control_value in entry[str(depth)]
    ]
    return value_range(moved, "+.3f")


def best_bins(contents: Json) -> str:
    """Return the change of R from 10 bins to 100, as text."""
    parts = []
    for recipe in ("scores", "ranks", "robust"):
        rows = [contents["probe"][name][str(depth)][recipe]["bins"] for name, _, depth in sets_and_depths()]
        moved = [row[BINS.index(100)] - row[BINS.index(10)] for row in rows]
        parts.append(f"{recipe} {value_range(moved, '+.2f')}")
    return ", ".join(parts)


PAGE = """# Do histograms of ranks (HSA, DO) order submitted runs as MAP does?

{note}

**Answer: not as described, partly as repaired.** Krstovski, Smith and Kurtz 2015 (section 5.3, tables 5 and
6) report R of 0.75 to 0.98 with MAP for HSA from ranks (Histogram Slope Analysis,
[glossary](../glossary.md)). The rule fixed in advance asks, over random sets of seven runs as in the paper,
for a median R above 0.5 with a 5 % quantile above 0. As the paper describes it (`found only`) this holds in
{literal} of {total} settings, and in {literal_others} of {others_total} on runs that took no part in its
making: {literal_word}. Ours, where relevant documents that were not retrieved come last (`ranks`), holds in
{held} of {total} and in {held_others} of {others_total}; its verdict is {word}. But recall of the same lists
correlates as well or better in {recall_above} of {total}. For submitted runs use ranks instead of scores, 5
to 20 bins, and consult recall of the same lists first, which needs no histogram.

![R with MAP over all runs, TREC-COVID round 1, depth 1000](histograms-trec-covid-r1-all.svg)

R with MAP over all runs of TREC-COVID round 1, depth 1000, with 95 % intervals; the axis does not begin at 0.

## How to repeat it

    cd SET
    leadline study histogram-ranks qrels.txt runs/* --team systems.tsv:team --depth 1000 -o OUT/SET-ranks-1000
    python -m leadline_studies.histogram_ranks.page OUT DATA    # in a checkout: everything, and this page

On the passages with `--level 2`; depths {depths}. Processor time: 7 s on TREC 2003 Robust at depth 100.
[Data](README.md#data) below; leadline {version}, seed {seed}; all numbers in
[histograms.json](histograms.json).

HSA and DO are computed from histograms of the scores, or ranks, of relevant documents and of others: {bins}
bins, lists cut after {depths} documents. Truth is AP, P@10 and nDCG of the whole lists. Brackets are 95 %
bootstrap intervals over whole teams ({draws} resamples) or, for {draws} random sets of seven runs, the 5 %
and 95 % quantiles. R is Pearson, rho Spearman. Recall of the same lists is the control: where it correlates
with MAP as well, a histogram adds nothing. The lists of TREC-COVID round 2 were published cut at 100; its AP
is that of these lists.

{counts}

## Random sets of seven runs, as in the paper

Median R with MAP, with the 5 % and 95 % quantiles:

{sevens}

Recipes: `as printed` normalises scores by run, the others by query; `found only` leaves out relevant
documents that were not retrieved, `ranks` puts them at the last rank. `weighted` and `robust` are ours; the
robust variant was chosen on sets that include these, so that its values here are optimistic.

{ranks_words}

R with MAP of DO, for which the paper makes no claim: {do_words}.

![Random sevens, TREC 2019 passages, depth 100](histograms-trec-dl-2019-passage-at-100-sevens.svg)

The passages at depth 100: seven runs are too few for a stable R.

## All runs: R with MAP

Runs with undefined HSA are excluded: at most {undefined} of a set, by any recipe.

{over_all}

{control_words}.

## Beside the paper's Tables 5 and 6

The paper has seven random runs of each of ten tracks, of which the ranges are shown; our rows have all runs.
`found only` is closest to the paper's description.

{beside}

## On runs that the robust recipe was not chosen on

The 24 later runs of TREC 2019 passages that were not pooled (re-rankings of 100 documents), and the 15 models
of [the study of models](histogram-models.md), cut at 1000 and 100. R with MAP over all runs; then the median
of random sevens with the 5 % and 95 % quantiles.

{others_table}

{others_words}

Over these {settings} settings and the {chosen} above, ranks are above scores normalised by query in
{stable_ranks} of {all_settings} (median R of sevens), and recall of lists cut at 100 is less than 0.03 below
the robust recipe, or above it, in {stable_recall} of {shallow} (median R {shallow_recall}). The robust recipe
is above plain ranks in {robust_chosen} of {chosen} settings of the sets that it was chosen on, and in
{robust_others} of {settings} others.

## Details: when HSA misleads

**Depth.** R with MAP of the whole lists, by depth of the lists:

{depth_table}

**Bins.** Change of R from 10 to 100 bins: {best_bins}. {few_bins} (sets, depths and recipes).

**Ties.** Ordering lists by the rank column instead of the score changes R of HSA from ranks by {moved_ties}
where this is possible (not where a rank column repeats a rank: {untold}). With scores rounded to 100, 20 or 5
equal steps R varies more. Largest range of R on one set, over the depths and over these steps: {trials}.

**Few queries.** HSA from a sample of the queries (40 samples) against MAP over all of them, and AP of the
same queries. Median R, with 5 % and 95 % quantiles:

{queries_table}

**Unjudged documents.** They count as not relevant, and they are many (first table). Excluding them, with the
ranks of the others unchanged, changes R of HSA from ranks by {moved_judged}.

**Submitted scores.** A run is lopsided if one bin holds more than half of its scores, normalised by query.
{lopsided_words}. R from ranks is above R from scores normalised by query in {ranks_better} of {total}
settings, and the latter is above R from scores normalised by run in {query_better}.

**Warnings.** `leadline histogram` warns of runs whose HSA changes its sign between 5 and 200 bins.
{doubts_words}.

**Other claims of the paper**: [over models](histogram-models.md), [of topic models](histogram-topics.md),
[from a sample](histogram-samples.md).
"""


def page(contents: Json) -> str:
    """Write the page."""
    first = next(iter(contents["ranks"].values()))
    pairs = [contents["probe"][name][str(depth)] for name, _, depth in sets_and_depths()]
    printed = [
        f["recipes"]["HSA, scores, as printed"]["AP"]["pearson"]["value"] for _, f in settings(contents)
    ]
    return wrapped(
        PAGE.format(
            note=NOTE,
            version=first["leadline"],
            seed=first["options"]["seed"],
            bins=first["bins"],
            draws=first["options"]["draws"],
            depths=" or ".join(map(str, DEPTHS)),
            counts=counts(contents),
            held=len(held_by(contents, RANKS)),
            word=verdict(contents, RANKS),
            literal=len(held_by(contents, FOUND)),
            literal_word=verdict(contents, FOUND),
            literal_others=sum(passes(of_set, FOUND) for of_set in contents["others"].values()),
            held_others=sum(passes(of_set, RANKS) for of_set in contents["others"].values()),
            others_total=len(contents["others"]),
            recall_above=recall_above(contents),
            control_words=control_verdict(contents),
            ranks_words=ranks_verdict(contents),
            do_words=signs(contents),
            beside=paper_table(contents),
            over_all=over_all(contents),
            sevens=sevens(contents),
            depth_table=trial_table(contents, "depth"),
            queries_table=queries_table(contents),
            doubts_words=sign_text(contents),
            trials=trial_text(contents),
            best_bins=best_bins(contents),
            few_bins=few_bins(contents),
            undefined=max(
                entry["undefined"] for _, f in settings(contents) for entry in f["recipes"].values()
            ),
            others_table=others_table(contents["others"]),
            others_words=others_text(contents["others"]),
            **consistency(dict(contents["ranks"]), contents["others"]),
            lopsided_words=lopsided_text(contents),
            untold=sets_without_ranks(contents),
            moved_ties=largest_change(contents, "ranks", "ranks, rank column"),
            moved_judged=largest_change(contents, "ranks", "ranks, judged only"),
            total=len(pairs),
            ranks_better=sum(entry["ranks"]["R"] > entry["scores"]["R"] for entry in pairs),
            query_better=sum(
                entry["scores"]["R"] > value for entry, value in zip(pairs, printed, strict=True)
            ),
        )
    )


if __name__ == "__main__":
    update_page(NAME, page, collect)
