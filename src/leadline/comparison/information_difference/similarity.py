"""Other similarities of two systems beside Information Difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from leadline.comparison.information_difference.similarity_baselines import (
    SIMILARITIES,
    Similarity,
    System,
    ranked_lists,
)
from leadline.data.arrays import Flags, Floats
from leadline.errors import UsageError

AP_CORRELATION = "correlation(AP)"
RIC_DISTANCE = "distance(RIC)"


def chosen_competitors(wanted: Sequence[str | Similarity] | None, cutoff: int | None) -> list[Similarity]:
    """Read names of competitors; None means Jaccard, overlap, RBO and Kendall's tau at the cutoff."""
    if wanted is None:
        at = "" if cutoff is None else f"@{cutoff}"
        wanted = [f"Jaccard{at}", f"Overlap{at or '@10'}", "RBO", "Kendall"]
    if isinstance(wanted, (str, Similarity)):
        raise UsageError(f"competitors={wanted!r}; expected a list of names")
    return [one if isinstance(one, Similarity) else SIMILARITIES.parse(one) for one in dict.fromkeys(wanted)]


def means_over_queries(
    systems: Sequence[System],
    counted: Flags,
    competitors: Sequence[Similarity],
    on_query: Callable[[int, int], None] | None = None,
) -> dict[str, Floats]:
    """Give, per competitor, systems x systems: the mean over the queries where it is defined."""
    size = len(systems)
    sums = np.zeros((len(competitors), size, size))
    sizes = np.zeros_like(sums)
    for query, ranked in enumerate(ranked_lists(systems, len(counted))):
        if counted[query]:
            for place, competitor in enumerate(competitors):
                values = competitor.values(ranked)
                sums[place] += np.nan_to_num(values)
                sizes[place] += ~np.isnan(values)
        if on_query:
            on_query(query + 1, len(counted))
    means = np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)
    return {str(one): mean for one, mean in zip(competitors, means, strict=True)}


def correlations(values: Floats) -> Floats:
    """Give systems x systems: Pearson's correlation of the values (systems x queries) of queries.

    NaN where a system has the same value for all queries, or there is only one.

    >>> correlations(np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])).round(12)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    centred = values - values.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    norms = np.outer(length, length)
    flat = length <= 1e-12 * np.abs(values).max(initial=0.0)
    products = centred @ centred.T
    found = np.divide(products, norms, out=np.full_like(norms, np.nan), where=norms > 0)
    found[flat] = found[:, flat] = np.nan
    clipped: Floats = np.clip(found, -1, 1)
    return clipped


def distances(values: Floats) -> Floats:
    """Give systems x systems: the mean over queries of the absolute difference of values."""
    found: Floats = np.stack([np.abs(values - row).mean(axis=1) for row in values])
    return found
