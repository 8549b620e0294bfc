"""Try the recipes of HSA on run sets that the robust recipe was not chosen on, for the page on histograms."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import leadline as ll
from leadline_studies import study
from leadline_studies.common.markdown import extent, number, span, table, wrapped
from leadline_studies.common.pages import Found, docs_of, once, studied
from leadline_studies.histogram_models.study import SETTINGS

COLLECTIONS = ("cisi", "cacm", "npl", "nfcorpus-test")
DEPTHS = (1000, 100)
LATER = "trec-dl-2019-passage"
SCORES, RANKS, ROBUST, CONTROL = "HSA, scores", "HSA, ranks", "HSA, robust", "recall (control)"
RECIPES = {SCORES: "scores by query", RANKS: "ranks", ROBUST: "robust", CONTROL: "recall"}
CLOSE = 0.03


def collect_others(folder: Path, data: Path) -> Found:
    """Run the study of ranks on later runs of TREC 2019 passages and on runs of retrieval models."""
    found: Found = {}
    place = data / LATER
    runs = sorted((place / "extra-runs").iterdir())
    words = ["qrels.txt", *(f"extra-runs/{one.name}" for one in runs), "--level", "2", "--depth", "100"]
    found[f"{LATER}, later runs, 100"] = studied("histogram-ranks", place, folder / "later-ranks-100", words)
    for name in COLLECTIONS:
        by_depth = once(partial(over_models, data / name), folder / f"{name}-models-ranks.json")
        found |= {f"{name}, models, {depth}": one for depth, one in by_depth.items()}
    return found


def over_models(place: Path) -> Found:
    """Search with the models of `histogram-models`, to 10,000 documents, and conduct the study."""
    index = ll.build_index(str(docs_of(place)))
    runs = ll.search(index, str(place / "queries.jsonl"), SETTINGS, k=10_000)
    qrels = str(place / "qrels.txt")
    return {str(depth): study("histogram-ranks").run(qrels, runs, depth=depth).data for depth in DEPTHS}


def value(one: Found, recipe: str, what: str) -> Any:
    """Return R with AP over all runs, or the median over sevens."""
    found = one["recipes"][recipe]
    return found["AP"]["pearson"]["value"] if what == "all" else found["sevens_pearson"]["median"]


def others_table(others: Found) -> str:
    """Write R over all runs and over random sevens."""
    rows = [
        [
            title,
            str(one["runs"]),
            *(
                f"{number(value(one, recipe, 'all'))}; "
                + span(one["recipes"][recipe]["sevens_pearson"], middle="median")
                for recipe in RECIPES
            ),
        ]
        for title, one in others.items()
    ]
    return table(["runs, depth", "number", *RECIPES.values()], rows)


def others_words(others: Found) -> str:
    """Return what holds on these runs and what does not, as text."""
    total = len(others)
    medians = {recipe: [value(one, recipe, "sevens") for one in others.values()] for recipe in RECIPES}
    robust, ranks = medians[ROBUST], medians[RANKS]
    scores, recall = medians[SCORES], medians[CONTROL]
    words = (
        f"Median R of random sevens is {extent(robust)} for the robust recipe, {extent(ranks)} for plain "
        f"ranks, {extent(scores)} for scores by query and {extent(recall)} for recall. The robust recipe is "
        f"above plain ranks in {above(robust, ranks)} of {total} settings, above scores by query in "
        f"{above(robust, scores)}, above recall in {above(robust, recall)}. It is above "
        f"plain ranks in {by_depth(others)}. Where lists are cut at 1000, most of a small collection, "
        "recall says little."
    )
    return wrapped(words).rstrip()


def by_depth(others: Found) -> str:
    """Return, by depth, in how many settings the robust recipe is above plain ranks."""
    parts = []
    for depth in sorted({one["depth"] for one in others.values()}):
        some = [one for one in others.values() if one["depth"] == depth]
        more = sum(value(one, ROBUST, "sevens") > value(one, RANKS, "sevens") for one in some)
        parts.append(f"{more} of {len(some)} where lists are cut at {depth}")
    return " and ".join(parts)


def above(first: list[float], second: list[float]) -> int:
    """Count the settings where the first is the larger."""
    return sum(one > other for one, other in zip(first, second, strict=True))


def stable(chosen: Found, others: Found) -> dict[str, Any]:
    """Count what holds on the sets that the recipe was chosen on, and on the others."""

    def column(found: Found, recipe: str) -> list[float]:
        return [value(one, recipe, "sevens") for one in found.values()]

    every = {f"chosen {key}": one for key, one in chosen.items()} | others
    shallow = {key: one for key, one in every.items() if one["depth"] == DEPTHS[-1]}
    recall, robust = column(shallow, CONTROL), column(shallow, ROBUST)
    return {
        "settings": len(others),
        "chosen": len(chosen),
        "all_settings": len(every),
        "stable_ranks": above(column(every, RANKS), column(every, SCORES)),
        "shallow": len(shallow),
        "stable_recall": above([one + CLOSE for one in recall], robust),
        "shallow_recall": extent(recall),
        "robust_chosen": above(column(chosen, ROBUST), column(chosen, RANKS)),
        "robust_others": above(column(others, ROBUST), column(others, RANKS)),
    }
