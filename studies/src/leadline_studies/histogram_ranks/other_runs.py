"""Try the recipes of HSA on run sets that the robust recipe was not chosen on, for the page on histograms."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import leadline as ll
from leadline_studies import study
from leadline_studies.common.markdown import number, table, value_range, with_interval, wrapped
from leadline_studies.common.pages import Json, cached, find_documents, run_study
from leadline_studies.histogram_models.study import SETTINGS

COLLECTIONS = ("cisi", "cacm", "npl", "nfcorpus-test")
DEPTHS = (1000, 100)
LATER = "trec-dl-2019-passage"
SCORES, RANKS, ROBUST, CONTROL = "HSA, scores", "HSA, ranks", "HSA, robust", "recall (control)"
RECIPES = {SCORES: "scores by query", RANKS: "ranks", ROBUST: "robust", CONTROL: "recall"}
CLOSE = 0.03


def collect_others(folder: Path, data: Path) -> Json:
    """Run the study of ranks on later runs of TREC 2019 passages and on runs of retrieval models."""
    results: Json = {}
    folder_of_set = data / LATER
    runs = sorted((folder_of_set / "extra-runs").iterdir())
    arguments = ["qrels.txt", *(f"extra-runs/{run.name}" for run in runs), "--level", "2", "--depth", "100"]
    results[f"{LATER}, later runs, 100"] = run_study(
        "histogram-ranks", folder_of_set, folder / "later-ranks-100", arguments
    )
    for name in COLLECTIONS:
        by_depth = cached(partial(over_models, data / name), folder / f"{name}-models-ranks.json")
        results |= {f"{name}, models, {depth}": run for depth, run in by_depth.items()}
    return results


def over_models(folder: Path) -> Json:
    """Search with the models of `histogram-models`, to 10,000 documents, and conduct the study."""
    index = ll.build_index(str(find_documents(folder)))
    runs = ll.search(index, str(folder / "queries.jsonl"), SETTINGS, k=10_000)
    qrels = str(folder / "qrels.txt")
    return {str(depth): study("histogram-ranks").run(qrels, runs, depth=depth).data for depth in DEPTHS}


def value(result: Json, recipe: str, over: str) -> Any:
    """Return R with AP over all runs, or the median over sevens."""
    recipe_data = result["recipes"][recipe]
    return recipe_data["AP"]["pearson"]["value"] if over == "all" else recipe_data["sevens_pearson"]["median"]


def others_table(others: Json) -> str:
    """Write R over all runs and over random sevens."""
    rows = [
        [
            title,
            str(entry["runs"]),
            *(
                f"{number(value(entry, recipe, 'all'))}; "
                + with_interval(entry["recipes"][recipe]["sevens_pearson"], middle="median")
                for recipe in RECIPES
            ),
        ]
        for title, entry in others.items()
    ]
    return table(["runs, depth", "number", *RECIPES.values()], rows)


def others_text(others: Json) -> str:
    """Return the comparison of the recipes on these runs, as text."""
    total = len(others)
    medians = {recipe: [value(entry, recipe, "sevens") for entry in others.values()] for recipe in RECIPES}
    robust, ranks = medians[ROBUST], medians[RANKS]
    scores, recall = medians[SCORES], medians[CONTROL]
    text = (
        f"Median R of random sevens is {value_range(robust)} for the robust recipe, {value_range(ranks)} for "
        f"plain ranks, {value_range(scores)} for scores by query and {value_range(recall)} for recall. "
        f"The robust recipe is above plain ranks in {count_larger(robust, ranks)} of {total} settings, above "
        f"scores by query in "
        f"{count_larger(robust, scores)}, above recall in {count_larger(robust, recall)}. It is above "
        f"plain ranks in {larger_by_depth(others)}. At depth 1000, most of a small collection, recall is "
        "uninformative."
    )
    return wrapped(text).rstrip()


def larger_by_depth(others: Json) -> str:
    """Return, by depth, in how many settings the robust recipe is above plain ranks."""
    parts = []
    for depth in sorted({entry["depth"] for entry in others.values()}):
        same_depth = [entry for entry in others.values() if entry["depth"] == depth]
        larger = sum(value(entry, ROBUST, "sevens") > value(entry, RANKS, "sevens") for entry in same_depth)
        parts.append(f"{larger} of {len(same_depth)} at depth {depth}")
    return " and ".join(parts)


def count_larger(first: list[float], second: list[float]) -> int:
    """Count the settings where the first is the larger."""
    return sum(a > b for a, b in zip(first, second, strict=True))


def consistency(chosen: Json, others: Json) -> dict[str, Any]:
    """Count the settings that agree, on the sets that the recipe was chosen on and on the others."""

    def column(results: Json, recipe: str) -> list[float]:
        return [value(result, recipe, "sevens") for result in results.values()]

    every = {f"chosen {key}": result for key, result in chosen.items()} | others
    shallow = {key: result for key, result in every.items() if result["depth"] == DEPTHS[-1]}
    recall, robust = column(shallow, CONTROL), column(shallow, ROBUST)
    return {
        "settings": len(others),
        "chosen": len(chosen),
        "all_settings": len(every),
        "stable_ranks": count_larger(column(every, RANKS), column(every, SCORES)),
        "shallow": len(shallow),
        "stable_recall": count_larger([result + CLOSE for result in recall], robust),
        "shallow_recall": value_range(recall),
        "robust_chosen": count_larger(column(chosen, ROBUST), column(chosen, RANKS)),
        "robust_others": count_larger(column(others, ROBUST), column(others, RANKS)),
    }
