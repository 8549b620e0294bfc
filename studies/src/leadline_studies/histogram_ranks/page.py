"""Numbers of the page on histograms (HSA, DO) of submitted runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import leadline as ll
from leadline_studies import study
from leadline_studies.common.pages import RUN_SETS, Json, cached, find_documents, run_study
from leadline_studies.common.tracking import ASKED_QUERIES
from leadline_studies.histogram_models.study import SETTINGS
from leadline_studies.histogram_ranks.study import FOUND, RANKS

NAME = "histograms"
SETS = ("trec-robust-2003", "trec-dl-2019-passage", "trec-covid-r1", "trec-covid-r2-top100")
LATER = "trec-dl-2019-passage"
LEVELS = {LATER: " --level 2"}
DEPTHS = (1000, 100)
CUT = {"trec-covid-r2-top100": (100,)}  # lists were published cut
COLLECTIONS = ("cisi", "cacm", "npl", "nfcorpus-test")
ROBUST = "HSA, robust"
CONTROL = "recall (control)"
RECIPES = ("HSA, scores, as printed", "HSA, scores", FOUND, RANKS, ROBUST, CONTROL)
FIGURES = {
    f"{LATER}-ranks-100/sevens": f"{NAME}-{LATER}-at-100-sevens.svg",
    "trec-covid-r1-ranks-1000/all": f"{NAME}-trec-covid-r1-all.svg",
}


def collect(out: Path, data: Path) -> Json:
    """Run the study on every set, on later runs, and on runs of retrieval models."""
    command = "histogram-ranks qrels.txt "
    ranks = {
        f"{name}-{depth}": run_study(
            f"{command}runs/* --team systems.tsv:team{LEVELS.get(name, '')} --depth {depth}",
            data / name,
            out / f"{name}-ranks-{depth}",
        )
        for name in SETS
        for depth in CUT.get(name, DEPTHS)
    }
    later = run_study(f"{command}extra-runs/* --level 2 --depth 100", data / LATER, out / "later-ranks-100")
    others = {f"{LATER}, later runs, 100": later}
    for name in COLLECTIONS:
        by_depth = cached(partial(_over_models, data / name), out / f"{name}-models-ranks.json")
        others |= {f"{name}, models, {depth}": found for depth, found in by_depth.items()}
    return {"ranks": ranks, "others": others}


def _over_models(folder: Path) -> Json:
    """Search with the models of `histogram-models`, to 10,000 documents, and run the study."""
    index = ll.build_index(str(find_documents(folder)))
    runs = ll.search(index, str(folder / "queries.jsonl"), SETTINGS, k=10_000)
    qrels = str(folder / "qrels.txt")
    return {str(depth): study("histogram-ranks").run(qrels, runs, depth=depth).data for depth in DEPTHS}


def passes(result: Json, recipe: str) -> bool:
    """Decide by the rule: median above 0.5, 5 % quantile above 0."""
    entry = result["recipes"][recipe]["sevens_pearson"]
    return bool(entry["median"] > 0.5 and entry["low"] > 0)


def verdict(results: Json, recipe: str) -> str:
    """Return the verdict of the rule on a recipe: one large set refutes it, two may reproduce it."""
    large: dict[str, list[bool]] = {key.rpartition("-")[0]: [] for key in results}
    for key, result in results.items():
        if result["queries"] >= ASKED_QUERIES:
            large[key.rpartition("-")[0]].append(passes(result, recipe))
    asked = {name: held for name, held in large.items() if held}
    if not all(all(held) for held in asked.values()):
        return "not reproduced"
    if len(asked) < 2:
        found = f"{len(asked)} of {len(large)} has"
        return f"open: it asks for two sets of {ASKED_QUERIES} or more queries, which {found}"
    return "reproduced in kind"


def facts(kept: Json) -> Json:
    """Return R by recipe and setting, and where the rule holds."""
    ranks, others = kept["ranks"], kept["others"]
    titles = {key: f"{RUN_SETS[name]}, {depth}" for key in ranks for name, _, depth in [key.rpartition("-")]}
    return {
        "titles": titles,
        "recipes": RECIPES,
        "held": {name: sum(passes(result, name) for result in ranks.values()) for name in RECIPES},
        "held_others": {name: sum(passes(result, name) for result in others.values()) for name in RECIPES},
        "verdicts": {name: verdict(ranks, name) for name in (FOUND, RANKS)},
        "recall_above": sum(
            result["recipes"][RANKS]["AP"]["pearson"]["value"]
            <= result["recipes"][CONTROL]["AP"]["pearson"]["value"]
            for result in ranks.values()
        ),
    }
