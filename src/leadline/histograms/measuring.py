"""What one run comes to under a recipe: histograms, slope, overlap, companions."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Floats
from leadline.histograms.bins import coarser, overlap
from leadline.histograms.found import FINEST, SENSITIVITY, Measured
from leadline.histograms.recipe import Recipe
from leadline.histograms.resampling import hsa_interval, hsa_of
from leadline.histograms.values import Values, counts_of, spans_of, taken, values_of
from leadline.judged import Judged


def measured(
    judged: Judged, recipe: Recipe, draws: int, drawn: list[set[int]] | None = None
) -> Measured:
    """Measure one run; `drawn` is the sample that runs share, if they do."""
    part = taken(judged, recipe, drawn)
    values, robust = (values_of(judged, part, one) for one in (recipe, recipe.robust))
    spans = spans_of(values)
    counts, by_bins = _counted(values, recipe, spans)
    again, robust_by_bins = _counted(robust, recipe.robust, spans_of(robust))
    low, high = hsa_interval(counts, recipe, draws)
    robust_low, robust_high = hsa_interval(again, recipe.robust, draws)
    sampling_low, sampling_high = hsa_interval(counts, recipe, draws, queries=False)
    relevant = judged.qrels.relevant(recipe.rel)
    some = relevant > 0
    return Measured(
        counts, hsa_of(counts, recipe), do_of(counts, recipe), hsa_of(again, recipe.robust),
        float((values.found[some] / relevant[some]).mean()) if some.any() else float("nan"),
        low, high, sampling_low, sampling_high, robust_low, robust_high, by_bins, robust_by_bins,
        _largest_share(counts), int((relevant - values.found)[some & judged.present].sum()),
        _constant(values, spans),
    )  # fmt: skip


def do_of(counts: Floats, recipe: Recipe) -> float:
    """Give DO of the pooled histograms, or the mean over the queries that have scores."""
    if recipe.aggregate == "pooled":
        pooled = counts.sum(axis=0)
        return float(overlap(pooled[0], pooled[1], base=recipe.base))
    used = counts[counts.sum(axis=(1, 2)) > 0]
    found = overlap(used[:, 0], used[:, 1], base=recipe.base)
    return float(found.mean()) if len(used) else float("nan")


def _counted(values: Values, recipe: Recipe, spans: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Give the histograms, and HSA with other numbers of bins; coarser bins are sums of finer ones."""
    finest = counts_of(values, recipe.norm, FINEST, spans)
    hsa = [hsa_of(coarser(finest, bins), recipe) for bins in SENSITIVITY]
    if FINEST % recipe.bins == 0:
        return coarser(finest, recipe.bins), np.array(hsa)
    return counts_of(values, recipe.norm, recipe.bins, spans), np.array(hsa)


def _largest_share(counts: Floats) -> float:
    held = counts.sum(axis=(0, 1))
    return float(held.max() / held.sum()) if held.sum() else 0.0


def _constant(values: Values, spans: tuple[Floats, Floats]) -> int:
    """Count the queries whose scores in use are all equal, and more than one."""
    low, high = spans
    several = np.bincount(values.query, minlength=len(low)) > 1
    return int(np.count_nonzero(several & (low == high)))
