"""One sample for all runs: drawn from the union of their lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.formats import Repair, judge
from leadline.histograms.recipe import Recipe
from leadline.histograms.values import candidates, row_keys, rows_of
from leadline.judged_runs import named_sources, readable_twice
from leadline.qrels import Qrels


def shared_sample(
    runs: Any, qrels: Qrels, recipe: Recipe, repair: Repair
) -> tuple[Any, list[set[int]]]:
    """Give the runs, readable again, and by query the keys of the documents sampled from all of them.

    A sample of the union is the smallest keys of the smallest of each run, so that runs pass by one by one.
    """
    assert recipe.sample is not None
    drawn: list[set[int]] = [set() for _ in qrels.queries]
    runs = readable_twice(runs, repair)
    for name, source in named_sources(runs):
        _, judged, _ = judge(source, qrels, name=name, repair=repair, keep=True)
        rows = rows_of(judged, recipe)
        chosen = candidates(rows, recipe)
        keys, query = row_keys(judged, rows, chosen, recipe.seed), rows.query[chosen]
        for code in np.unique(query).tolist():
            both = drawn[code].union(keys[query == code].tolist())
            drawn[code] = set(sorted(both)[: recipe.sample])
    return runs, drawn
