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
from leadline_studies.common.markdown import extent, number, span, table
from leadline_studies.common.pages import Found, copy_figures, once, page_again, runs_of, studied
from leadline_studies.histogram_ranks.other_runs import collect_others, others_table, others_words, stable

NAME = "histograms"
SETS = {
    "trec-robust-2003": "TREC 2003 Robust",
    "trec-dl-2019-passage": "TREC 2019 Deep Learning, passages",
    "trec-covid-r1": "TREC-COVID round 1",
    "trec-covid-r2-top100": "TREC-COVID round 2",
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
NOTE = "<!-- Made by src/leadline_studies/histogram_ranks/page.py from the output of `leadline study`. -->"
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


def collect(folder: Path, data: Path) -> Found:
    """Run the studies that `folder` lacks and read what they found."""
    found: Found = {"ranks": {}, "probe": {}, "trial": {}}
    for name in SETS:
        place = data / name
        runs = [f"runs/{one.name}" for one in runs_of(place)]
        words = ["qrels.txt", *runs, "--team", "systems.tsv:team", "--level", str(LEVELS.get(name, 1))]
        for depth in depths(name):
            found["ranks"][f"{name}-{depth}"] = studied(
                "histogram-ranks", place, folder / f"{name}-ranks-{depth}", [*words, "--depth", str(depth)]
            )
        found["probe"][name] = once(partial(probed, place), folder / f"{name}-probe.json")
        found["trial"][name] = once(partial(tried, place), folder / f"{name}-trial.json")
    found["others"] = collect_others(folder, data)
    copy_figures(folder, FIGURES)
    return found


def probed(place: Path) -> Found:
    """Probe a set at every depth."""
    return {str(depth): probe(place, depth) for depth in depths(place.name)} | seen(place)


def depths(name: str) -> tuple[int, ...]:
    """Return the depths at which a set is tried."""
    return CUT.get(name, DEPTHS)


def both() -> list[tuple[str, str, int]]:
    """Return name, title and depth of every set at every depth."""
    return [(name, title, depth) for name, title in SETS.items() for depth in depths(name)]


def probe(place: Path, depth: int) -> Found:
    """Correlate HSA with AP while one thing at a time is changed."""
    runs = runs_of(place)
    level = LEVELS.get(place.name, 1)
    options: dict[str, Any] = {"rel": level, "depth": depth, "draws": 0}
    table = place / "qrels.txt"
    quality = average_precision(place)
    recipes: dict[str, dict[str, Any]] = {
        "scores": {},
        "ranks": {"from_ranks": True},
        "ranks, judged only": {"from_ranks": True, "nonrelevant": "judged"},
        "ranks, rank column": {"from_ranks": True, "order": "rank"},
    }
    kept: Found = {}
    for name, changed in recipes.items():
        try:
            found = ll.histogram(table, runs, **options, **changed)
        except InputError:  # a rank column that is no order
            continue
        by_bins = np.array([one.by_bins for one in found.measured])
        lopsided = np.array([one.lopsided > 0.5 for one in found.measured])
        kept[name] = {
            "R": pearson(quality, found.hsa),
            "bins": [pearson(quality, column) for column in by_bins.T],
            "lopsided": int(lopsided.sum()),
            "R_lopsided": pearson(quality[lopsided], found.hsa[lopsided]),
            "R_others": pearson(quality[~lopsided], found.hsa[~lopsided]),
            "notices": {one.code: one.count for one in found.warnings},
        }
        if name == "ranks":
            robust = np.array([one.robust_by_bins for one in found.measured])
            kept["robust"] = {"bins": [pearson(quality, column) for column in robust.T]}
    return kept


def doubts(quality: Any, found: list[RunHistograms]) -> Found:
    """Return R with AP of the runs that a warning names, and of the others."""
    hsa = np.array([one.hsa for one in found])
    signs = np.sign(np.nan_to_num([one.by_bins for one in found]))
    pooled = np.stack([one.counts.sum(axis=0) for one in found])
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


def tried(place: Path) -> Found:
    """Correlate HSA with AP by depth, by ties made in the lists, and from fewer queries."""
    runs, level = runs_of(place), float(LEVELS.get(place.name, 1))
    table = read_qrels(place / "qrels.txt")
    results = ll.evaluate(table, runs, "AP", rel=level, queries="with_relevant")
    by_query = np.nan_to_num(results.values[:, :, 0])
    counted = np.flatnonzero(table.relevant(level))
    rng = np.random.default_rng(0)
    subsets = {size: [rng.choice(counted, size, replace=False) for _ in range(SUBSETS)] for size in FEWER}
    _, found = judge_runs(
        runs, table, lambda judged: of_run(judged, level, subsets), keep=True, reading=Reading()
    )
    quality = results.means[:, 0]
    kept: Found = {
        part: {
            key: {
                kind: pearson(quality, np.array([one[part][key][row] for one in found]))
                for row, kind in enumerate(KINDS)
            }
            for key in found[0][part]
        }
        for part in ("depth", "levels")
    }
    kept["doubts"] = {
        kind: doubts(quality, [one["whole"][row] for one in found]) for row, kind in enumerate(KINDS[:2])
    }
    kept["queries"] = {}
    for size, chosen in subsets.items():
        columns = {
            kind: np.array([one["queries"][str(size)][row] for one in found])
            for row, kind in enumerate(KINDS[:3])
        } | {"AP": np.array([[one[part].mean() for part in chosen] for one in by_query])}
        kept["queries"][str(size)] = {
            kind: quantiles([pearson(quality, column) for column in values.T])
            for kind, values in columns.items()
        }
    return kept


def of_run(judged: JudgedRun, level: float, subsets: dict[int, list[Any]]) -> Found:
    """Return HSA of scores, of ranks, the robust one and recall of one run, changed in every way tried."""
    scores = HistogramOptions(rel=level)
    ranks = scores._replace(from_ranks=True)
    found: Found = {"depth": {}, "levels": {}, "queries": {}}
    for depth in TRIED:
        cut = measure_run(judged, scores._replace(depth=depth), 0)
        deep = measure_run(judged, ranks._replace(depth=depth), 0)
        found["depth"][str(depth)] = [cut.hsa, deep.hsa, cut.hsa_robust, cut.recall]
    for steps in LEVELS_KEPT:
        tied = coarsened(judged, steps)
        one = measure_run(tied, scores, 0)
        found["levels"][str(steps)] = [one.hsa, measure_run(tied, ranks, 0).hsa, one.hsa_robust, one.recall]
    found["whole"] = [measure_run(judged, one, 0) for one in (scores, ranks)]
    counts = [(one.counts, recipe) for one, recipe in zip(found["whole"], (scores, ranks), strict=True)]
    counts.append((measure_run(judged, scores.robust, 0).counts, scores.robust))
    for size, chosen in subsets.items():
        found["queries"][str(size)] = [
            [compute_hsa(table[part], one) for part in chosen] for table, one in counts
        ]
    return found


def coarsened(judged: JudgedRun, steps: int) -> JudgedRun:
    """Let scores of each list fall into equal steps, so that documents tie; ties by document id falling."""
    lists = judged.lists
    assert lists is not None
    assert lists.ids is not None
    starts = lists.bounds[:-1]
    length = np.diff(lists.bounds)
    owner = np.repeat(np.arange(len(length)), length)
    low, high = (np.repeat(one.reduceat(lists.scores, starts), length) for one in (np.minimum, np.maximum))
    level = np.floor((lists.scores - low) / np.where(high > low, high - low, 1) * steps)
    name = np.argsort(np.argsort(np.array(list(lists.ids)), kind="stable"))
    order = np.lexsort((-name, -level, owner))
    changed = lists._replace(rows=lists.rows[order], scores=level[order], ids=lists.ids.take(order))
    return JudgedRun.of_lists(judged.qrels, [changed], keep=True)


def quantiles(values: list[float | None]) -> Found:
    """Return the median and the 5 % and 95 % quantiles of the known values."""
    known = [value for value in values if value is not None]
    low, middle, high = np.quantile(known, [0.05, 0.5, 0.95]).tolist()
    return {"low": low, "value": middle, "high": high}


def seen(place: Path) -> Found:
    """Count runs, teams, queries, and how many retrieved documents are not judged."""
    runs = runs_of(place)
    found = ll.histogram(place / "qrels.txt", runs, rel=LEVELS.get(place.name, 1), draws=0, from_ranks=True)
    counts = {one.code: one.count for one in found.warnings}
    rows = sum(one.counts["documents_read"] for one in found.runs)
    queries = int(found.counts[0].sum(axis=(1, 2)).astype(bool).sum())
    lengths = [one.counts["documents_read"] / max(queries, 1) for one in found.runs]
    return {
        "queries": queries,
        "rows": rows,
        "unjudged": counts.get("unjudged_documents", 0),
        "tied": counts.get("tied_lists", 0),
        "lists": len(runs) * queries,
        "short": sum(length < 500 for length in lengths),
    }


def average_precision(place: Path) -> Any:
    """Return AP of whole lists by run."""
    return ll.evaluate(
        place / "qrels.txt", runs_of(place), "AP", rel=LEVELS.get(place.name, 1), queries="with_relevant"
    ).means[:, 0]


def pearson(first: Any, second: Any) -> float | None:
    """Return Pearson's R over the runs where both are known."""
    known = ~(np.isnan(first) | np.isnan(second))
    if known.sum() < 3:
        return None
    value = float(np.corrcoef(first[known], second[known])[0, 1])
    return None if np.isnan(value) else value


def settings(kept: Found) -> list[tuple[str, Found]]:
    """Return the sets at each depth: a title, and what was found."""
    return [(f"{title}, {depth}", kept["ranks"][f"{name}-{depth}"]) for name, title, depth in both()]


def counts(kept: Found) -> str:
    """Write how much there was to look at."""
    rows = []
    for name, title in SETS.items():
        one, runs = kept["probe"][name], kept["ranks"][f"{name}-{depths(name)[0]}"]["runs"]
        rows.append(
            [
                title,
                str(runs),
                str(one["queries"]),
                str(LEVELS.get(name, 1)),
                f"{one['unjudged'] / one['rows']:.0%}",
                f"{one['tied']:,} of {one['lists']:,}",
                str(one["short"]),
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


def beside(kept: Found) -> str:
    """Write the correlations beside those of the paper's Tables 5 and 6."""
    rows = [[name, "paper", *map(number, values)] for name, values in PAPER.items()]
    for title, found in settings(kept):
        for recipe in (FOUND, RANKS):
            one = found["recipes"][recipe]
            rows.append(
                [
                    title,
                    recipe.removeprefix("HSA, "),
                    *(
                        number(one[measure][kind]["value"])
                        for kind in ("pearson", "spearman")
                        for measure in MEASURES
                    ),
                ]
            )
    heads = [f"{kind} {measure}" for kind in ("R", "rho") for measure in ("MAP", "P@10", "nDCG")]
    return table(["runs, depth", "ranks of", *heads], rows)


def over_all(kept: Found) -> str:
    """Write R with MAP over all runs by recipe."""
    columns = settings(kept)
    rows = [
        [name, *(span(found["recipes"][name]["AP"]["pearson"]) for _, found in columns)]
        for name in columns[0][1]["recipes"]
    ]
    gain = [span(found["robust_over_recall"]) for _, found in columns]
    return table(["recipe", *(title for title, _ in columns)], [*rows, ["robust less recall", *gain]])


def sevens(kept: Found, kind: str = "pearson") -> str:
    """Write the medians of random sevens with their 5 % and 95 % quantiles."""
    columns = settings(kept)
    rows = [
        [name, *(span(found["recipes"][name][f"sevens_{kind}"], middle="median") for _, found in columns)]
        for name in columns[0][1]["recipes"]
    ]
    return table(["recipe", *(title for title, _ in columns)], rows)


def passes(found: Found, recipe: str) -> bool:
    """Decide by the rule: median above 0.5, 5 % quantile above 0."""
    one = found["recipes"][recipe]["sevens_pearson"]
    return bool(one["median"] > 0.5 and one["low"] > 0)


def ranks_verdict(kept: Found) -> str:
    """Describe what the rule says of HSA from ranks."""
    large = [name for name in SETS if kept["probe"][name]["queries"] >= ASKED_QUERIES]
    columns = settings(kept)
    lines = []
    for recipe in (RANKS, FOUND, ROBUST):
        good = [title for title, found in columns if passes(found, recipe)]
        bad = [title for title, _ in columns if title not in good]
        part = f"{recipe}: the relation holds in {len(good)} of {len(columns)} settings"
        lines.append(part + (f", not on {'; '.join(bad)}" if bad else ""))
    enough = len(large) >= 2
    aside = all(passes(found, RANKS) for _, found in columns)
    holds = enough and all(
        passes(kept["ranks"][f"{name}-{depth}"], RANKS) for name in large for depth in depths(name)
    )
    word = "reproduced in kind" if holds else "not reproduced" if enough else "open by the letter"
    return (
        f"**{word}**: the rule asks for two collections of {ASKED_QUERIES} or more queries; sets that have "
        f"them: {len(large)} of {len(SETS)}; leaving that aside, it would be "
        f"{'reproduced in kind' if aside else 'not reproduced'} (random sevens: median R with MAP above 0.5, "
        "5 % quantile above 0). " + ". ".join(lines)
    )


def signs(kept: Found) -> str:
    """Describe where DO has which sign."""
    parts = []
    for recipe in ("DO, scores", "DO, ranks"):
        values = [f["recipes"][recipe]["AP"]["pearson"]["value"] for _, f in settings(kept)]
        below = sum(value < 0 for value in values)
        ends = extent(values)
        parts.append(f"{recipe}: R {ends}, negative in {below} of {len(values)}")
    return "; ".join(parts)


def control_verdict(kept: Found) -> str:
    """Describe where the robust variant tracks MAP better than recall does."""
    gains = {title: found["robust_over_recall"] for title, found in settings(kept)}
    more = [title for title, one in gains.items() if one["low"] > 0]
    less = [title for title, one in gains.items() if one["high"] < 0]
    whole = {
        name: [found["recipes"][name]["AP"]["pearson"]["value"] for _, found in settings(kept)]
        for name in (RANKS, CONTROL)
    }
    above = sum(one > other for one, other in zip(*whole.values(), strict=True))
    return (
        f"The control matters: HSA from ranks tracks MAP better than plain recall in {above} of {len(gains)} "
        "settings (R over all runs). "
        f"The robust variant tracks MAP clearly better than recall in {len(more)} of {len(gains)} settings "
        f"({'; '.join(more) or 'none'}), clearly worse in {len(less)} ({'; '.join(less) or 'none'}); "
        "elsewhere the interval of the difference holds 0"
    )


def verdicts(kept: Found) -> str:
    """Write the verdict on each claim."""
    pending = "not tested on this page: it asks for "
    rows = [
        [
            "HSA tracks MAP and NDCG (Tables 3, 4)",
            "tested on [its own page](histogram-models.md); submitted runs are another case, shown below",
        ],
        ["works on ranks (Tables 5, 6)", ranks_verdict(kept)],
        ["better than perplexity (Table 1)", pending + "topic models and known pairs"],
        ["cheaper than MAP (Table 2)", pending + "times of one machine"],
        ["beats MAP of the same sample (introduction)", "tested on [its own page](histogram-samples.md)"],
        ["DO", "no claim. R with MAP: " + signs(kept)],
    ]
    return table(["claim", "verdict"], rows)


def bins_table(kept: Found) -> str:
    """Write R with MAP by the number of bins."""
    rows = [
        [f"{title}, {depth}", recipe, *map(number, kept["probe"][name][str(depth)][recipe]["bins"])]
        for name, title, depth in both()
        for recipe in ("scores", "ranks", "robust")
    ]
    return table(["runs, depth", "HSA of", *map(str, BINS)], rows)


def changed_table(kept: Found) -> str:
    """Write what changes when ties fall otherwise, or unjudged documents are left out."""
    rows = []
    for name, title in SETS.items():
        for depth in depths(name):
            one = kept["probe"][name][str(depth)]
            turned = [
                str(one[key]["notices"].get("unstable_sign", 0))
                for key in ("scores", "ranks", "ranks, judged only")
            ]
            rows.append(
                [
                    f"{title}, {depth}",
                    number(one["ranks"]["R"]),
                    number(one.get("ranks, rank column", {}).get("R")),
                    number(one["ranks, judged only"]["R"]),
                    *turned,
                ]
            )
    return table(
        [
            "runs, depth",
            "R, ranks",
            "by rank column",
            "judged only",
            "unsteady runs, scores",
            "ranks",
            "judged only (ranks)",
        ],
        rows,
    )


def lopsided_table(kept: Found) -> str:
    """Write R with MAP for runs with and without half of the scores in one bin."""
    rows = []
    for name, title in SETS.items():
        for depth in depths(name):
            one = kept["probe"][name][str(depth)]["scores"]
            found = kept["ranks"][f"{name}-{depth}"]["recipes"]
            rows.append(
                [
                    f"{title}, {depth}",
                    number(found["HSA, scores, as printed"]["AP"]["pearson"]["value"]),
                    number(one["R"]),
                    number(kept["probe"][name][str(depth)]["ranks"]["R"]),
                    str(one["lopsided"]),
                    number(one["R_lopsided"]),
                    number(one["R_others"]),
                ]
            )
    return table(
        [
            "runs, depth",
            "scores, by run",
            "scores, by query",
            "ranks",
            "lopsided runs",
            "R among them, by query",
            "R among the others",
        ],
        rows,
    )


def few_bins(kept: Found) -> str:
    """Describe how often few bins are best."""
    rows = [
        one[str(depth)][recipe]["bins"]
        for name, _, depth in both()
        for one in [kept["probe"][name]]
        for recipe in ("scores", "ranks", "robust")
    ]
    few = sum(int(np.argmax(row)) <= BINS.index(20) for row in rows)
    return f"R is highest with 5 to 20 bins in {few} of {len(rows)} rows"


def lopsided_words(kept: Found) -> str:
    """Return whether lopsided runs are those where HSA misleads."""
    pairs = [kept["probe"][name][str(depth)]["scores"] for name, _, depth in both()]
    told = [one for one in pairs if None not in (one["R_lopsided"], one["R_others"])]
    lower = sum(one["R_lopsided"] < one["R_others"] for one in told)
    return (
        f"Where three or more runs are on either side, R among lopsided runs is the lower one in {lower} of "
        f"{len(told)} settings; each side has fewer runs and another range of MAP than all have"
    )


def untold(kept: Found) -> str:
    """Name the sets whose rank columns are no order."""
    names = [
        title
        for name, title in SETS.items()
        if "ranks, rank column" not in kept["probe"][name][str(depths(name)[0])]
    ]
    return "; ".join(names) or "none"


def trial_table(kept: Found, part: str) -> str:
    """Write R with MAP by depth or by ties, one row a set and a kind."""
    keys = list(next(iter(kept["trial"].values()))[part])
    rows = [
        [
            SETS[name],
            kind,
            *(
                "" if part == "depth" and int(key) > max(depths(name)) else number(one[part][key][kind])
                for key in keys
            ),
        ]
        for name, one in kept["trial"].items()
        for kind in KINDS
    ]
    heads = keys if part == "depth" else [f"{key} steps" for key in keys]
    return table(["set", "estimate", *heads], rows)


def queries_table(kept: Found) -> str:
    """Write R with MAP from fewer queries."""
    rows = [
        [SETS[name], kind, *(span(one["queries"][str(size)][kind]) for size in FEWER)]
        for name, one in kept["trial"].items()
        for kind in (*KINDS[:3], "AP")
    ]
    return table(["set", "estimate", *(f"{size} queries" for size in FEWER)], rows)


def doubts_table(kept: Found) -> str:
    """Write R of runs whose HSA changes its sign with the number of bins, and of the others."""
    rows = [
        [SETS[place], kind, str(one["runs"]), number(one["R"]), number(one["R_others"])]
        for place, trial in kept["trial"].items()
        for kind, found in trial["doubts"].items()
        for one in [found[TURNED]]
    ]
    return table(["set", "estimate", "unsteady runs", "R among them", "R among the others"], rows)


def doubts_words(kept: Found) -> str:
    """Describe where the sign of HSA warns, and how many runs have few bins."""
    pairs = [found[TURNED] for one in kept["trial"].values() for found in one["doubts"].values()]
    told = [one for one in pairs if None not in (one["R"], one["R_others"])]
    lower = sum(one["R"] < one["R_others"] for one in told)
    few = max(found[FEW]["runs"] for one in kept["trial"].values() for found in one["doubts"].values())
    return (
        f"R is lower among unsteady runs in {lower} of the {len(told)} rows that can tell. Few bins are "
        f"rare in whole lists: at most {few} run of a set has fewer than 6 of 10 that hold both kinds"
    )


def trials(kept: Found) -> str:
    """Describe what depth and ties do to each estimate, from its best to its worst."""
    words = []
    for kind in KINDS:
        spans = []
        for part in ("depth", "levels"):
            rows = [
                [value for each in one[part].values() if (value := each[kind]) is not None]
                for one in kept["trial"].values()
            ]
            spans.append(max(max(row) - min(row) for row in rows))
        words.append(f"{kind} {spans[0]:.2f} and {spans[1]:.2f}")
    return ", ".join(words)


def most(kept: Found, recipe: str, other: str) -> str:
    """Describe by how much R moves at most between two recipes of the probe."""
    moved = [
        one[str(depth)][other]["R"] - one[str(depth)][recipe]["R"]
        for name, _, depth in both()
        for one in [kept["probe"][name]]
        if other in one[str(depth)]
    ]
    return extent(moved, "+.3f")


def best_bins(kept: Found) -> str:
    """Describe how R moves from 10 bins to 100."""
    parts = []
    for recipe in ("scores", "ranks", "robust"):
        rows = [kept["probe"][name][str(depth)][recipe]["bins"] for name, _, depth in both()]
        moved = [row[BINS.index(100)] - row[BINS.index(10)] for row in rows]
        parts.append(f"{recipe} {extent(moved, '+.2f')}")
    return ", ".join(parts)


PAGE = """# Study: histograms on submitted runs (HSA, DO)

{note}

Krstovski, Smith and Kurtz 2015 evaluate from histograms of the scores, or ranks, of relevant documents and
of others. Here: runs that teams submitted to four campaigns; leadline {version}, seed {seed}, {bins} bins,
lists cut after {depths} documents. Truth is AP, P@10 and nDCG of the whole lists. Brackets are 95 %
intervals from drawing whole teams again {draws} times, or, of random sevens ({draws} of them), the 5 % and
95 % quantiles. R is Pearson, rho Spearman. Recall of the same cut lists is the control: where it tracks MAP
as well, a histogram adds nothing. The lists of TREC-COVID round 2 were published cut at 100: their AP is AP
of those, and depth 1000 cannot be tried.

{counts}

## Verdicts

{verdicts}

{control}. The robust variant and the weighted slope are not in the paper, and the robust one was chosen on
sets that include these: its figures here are optimistic. On runs that it was not chosen on it is above plain
ranks in {robust_others} of {settings} settings
([below](#on-runs-that-the-robust-recipe-was-not-chosen-on)).

## From ranks, beside the paper's Tables 5 and 6

The paper took seven runs of a track at random; our rows take all runs. `ranks, found only` leaves out
relevant documents that a list lacks, the nearest to the paper's words; `ranks` puts them at the last rank.

{beside}

## All recipes, all runs: R with MAP

`as printed` normalises scores per run, the others per query. A run whose HSA is undefined is left out: at
most {undefined} of a set, by any recipe.

{over_all}

![R with MAP over all runs, TREC-COVID round 1, depth 1000](histograms-trec-covid-r1-all.svg)

R with MAP over all runs, TREC-COVID round 1, depth 1000.

## Random sevens, as the paper took

Median R with MAP, with the 5 % and 95 % quantiles:

{sevens}

![Random sevens, TREC 2019 passages, depth 100](histograms-trec-dl-2019-passage-at-100-sevens.svg)

Random sevens of the passages, depth 100: how far one draw of seven runs can lie from another.

Median rho:

{sevens_rho}

## On runs that the robust recipe was not chosen on

The 24 runs of TREC 2019 passages that came later and were not pooled (re-rankings of 100 documents), and
the 15 models of [the study of models](histogram-models.md), first 10,000 documents, cut at 1000 and 100.
R with MAP over all runs; then of random sevens the median with the 5 % and 95 % quantiles.

{others_table}

{others_words}

What is stable over these {settings} settings and the {chosen} above: ranks are above scores normalised by
query in {stable_ranks} of {all_settings} (median R of sevens), and recall of lists cut at 100 is as good
as the robust recipe (less than 0.03 below it) in {stable_recall} of {shallow}, with a median R of
{shallow_recall}. The robust recipe is above plain ranks in {robust_chosen} of the {chosen} settings of
the sets that it was chosen on, and in {robust_others} of the {settings} others.

## When HSA misleads

**Depth.** All lists are cut first. R with MAP of the whole lists:

{depth_table}

**Number of bins.** From 10 to 100 bins R moves by: {best_bins}. {few_bins}. R with MAP by the number of bins:

{bins_table}

**Ties.** Ordering lists by the rank column and not by score, where ties fall otherwise, moves R of HSA from
ranks by {moved_ties} over the sets and depths where it can be done (left out, because a rank column
repeats a rank: {untold}). More ties: scores of each list fall into 100, 20 or 5 equal steps, and documents
of one step are ordered by id. R with MAP of the lists as they were:

{ties_table}

Over the depths and over these steps R moves, on the set where it moves most, by: {trials}.

**Few queries.** HSA from some of the queries, drawn 40 times, against MAP over all of them; AP of the same
queries beside it. Median R, with 5 % and 95 % quantiles:

{queries_table}

**Unjudged documents.** They count as not relevant, and they are many (first table). Leaving them out, with
the ranks of the others as they were, moves R of HSA from ranks by {moved_judged}. The runs whose HSA changes
its sign between 5 and 200 bins are called unsteady:

{changed_table}

**Submitted scores against ranks.** A run is lopsided where one bin holds more than half of its scores
(normalised by query). R with MAP:

{lopsided_table}

{lopsided_words}. R from ranks is above R from scores normalised by query in {ranks_better} of {total}
settings, and that above R from scores normalised by run in {query_better}.

**The warnings.** `leadline histogram` says when an estimate should not be trusted. R with MAP among
unsteady runs (whole lists), and among the others (- where there are fewer than three):

{doubts_table}

{doubts_words}.

**Over retrieval models.** With 15 models under one roof on cisi, cacm, npl and nfcorpus-test ([the
study](histogram-models.md)) HSA of scores misleads too: over nearly whole lists R with MAP is 0.40 to
0.95 normalised by query, -0.35 to 0.52 by the paper's letter, and from scored pairs (relevant documents
and 10 to 1,000 others) -0.59 to 0.81. Bending the scores of one run, its order kept, moves HSA by 41 % to
77 % of its range over models. Where nothing is ranked, let each sampled document stand for N/n others
(`leadline sampled`: R 0.63 to 1.00); where lists are ranked, cut them after 50 or 100 documents and look
at recall of the same lists (0.90 to 0.98; the robust recipe 0.90 to 0.99). Over nearly whole lists random
sevens of the models have a median R of 0.00 to 0.94 with the robust recipe, its 5 % quantile as low as
-0.75.

**So:** for submitted runs take ranks, not scores, with 5 to 20 bins, and put relevant documents that a list
lacks at its bottom; read the warnings; look at recall of the same lists first, which needs no histogram. To
work with a sample, see [evaluating from a sample](histogram-samples.md).

## To repeat it

    cd SET
    leadline study histogram-ranks qrels.txt runs/* --team systems.tsv:team --depth 1000 -o OUT/SET-ranks-1000
    python -m leadline_studies.histogram_ranks.page OUT DATA

The last line alone runs all of it (on the passages with `--level 2`; depths 1000 and 100). The numbers of
"When HSA misleads" are kept in `histograms.json` beside those of the studies."""


def page(kept: Found) -> str:
    """Write the page."""
    first = next(iter(kept["ranks"].values()))
    pairs = [kept["probe"][name][str(depth)] for name, _, depth in both()]
    printed = [f["recipes"]["HSA, scores, as printed"]["AP"]["pearson"]["value"] for _, f in settings(kept)]
    return PAGE.format(
        note=NOTE,
        version=first["leadline"],
        seed=first["options"]["seed"],
        bins=first["bins"],
        draws=first["options"]["draws"],
        depths=" or ".join(map(str, DEPTHS)),
        deep=DEPTHS[0],
        cut=DEPTHS[1],
        counts=counts(kept),
        verdicts=verdicts(kept),
        control=control_verdict(kept),
        beside=beside(kept),
        over_all=over_all(kept),
        sevens=sevens(kept),
        sevens_rho=sevens(kept, "spearman"),
        depth_table=trial_table(kept, "depth"),
        ties_table=trial_table(kept, "levels"),
        queries_table=queries_table(kept),
        doubts_table=doubts_table(kept),
        doubts_words=doubts_words(kept),
        trials=trials(kept),
        best_bins=best_bins(kept),
        bins_table=bins_table(kept),
        few_bins=few_bins(kept),
        undefined=max(one["undefined"] for _, f in settings(kept) for one in f["recipes"].values()),
        others_table=others_table(kept["others"]),
        others_words=others_words(kept["others"]),
        **stable(dict(kept["ranks"]), kept["others"]),
        lopsided_words=lopsided_words(kept),
        untold=untold(kept),
        moved_ties=most(kept, "ranks", "ranks, rank column"),
        moved_judged=most(kept, "ranks", "ranks, judged only"),
        changed_table=changed_table(kept),
        lopsided_table=lopsided_table(kept),
        total=len(pairs),
        ranks_better=sum(one["ranks"]["R"] > one["scores"]["R"] for one in pairs),
        query_better=sum(one["scores"]["R"] > value for one, value in zip(pairs, printed, strict=True)),
    )


if __name__ == "__main__":
    page_again(NAME, page, collect)
