"""Similarity baselines of systems, reported with the Information Difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from leadline.comparison.information_difference.similarity_baselines import (
    SIMILARITIES,
    Similarity,
    SystemLists,
    ranked_lists,
)
from leadline.data.arrays import Flags, Floats
from leadline.errors import UsageError

MOST_COMPARED = (
    20  # systems of which all default similarities are computed: each pair costs RBO and Kendall more
)
ON_REQUEST = ("RBO", "Kendall")
AP_CORRELATION = "correlation(AP)"
RIC_DISTANCE = "distance(RIC)"


def parse_competitors(wanted: Sequence[str | Similarity] | None, cutoff: int | None) -> list[Similarity]:
    """Parse names of similarity baselines; None: Jaccard, overlap, RBO and Kendall's tau at the cutoff."""
    if wanted is None:
        at = "" if cutoff is None else f"@{cutoff}"
        wanted = [f"Jaccard{at}", f"Overlap{at or '@10'}", *ON_REQUEST]
    if isinstance(wanted, (str, Similarity)):
        raise UsageError(f"competitors must be a list of names, not {wanted!r}")
    return [
        name if isinstance(name, Similarity) else SIMILARITIES.parse(name) for name in dict.fromkeys(wanted)
    ]


def means_over_queries(
    systems: Sequence[SystemLists],
    counted: Flags,
    competitors: Sequence[Similarity],
    on_query: Callable[[int, int], None] | None = None,
) -> dict[str, Floats]:
    """Return, for each similarity, its means over queries where it is defined (systems x systems)."""
    size = len(systems)
    sums = np.zeros((len(competitors), size, size))
    sizes = np.zeros_like(sums)
    for query, ranked in enumerate(ranked_lists(systems, len(counted))):
        if counted[query]:
            for index, competitor in enumerate(competitors):
                values = competitor.values(ranked)
                sums[index] += np.nan_to_num(values)
                sizes[index] += ~np.isnan(values)
        if on_query:
            on_query(query + 1, len(counted))
    means = np.divide(sums, sizes, out=np.full_like(sums, np.nan), where=sizes > 0)
    return {str(similarity): mean for similarity, mean in zip(competitors, means, strict=True)}


def correlations(values: Floats) -> Floats:
    """Return Pearson correlations over queries of values (systems x queries) of all pairs of systems.

    NaN for systems with constant values, or if there is only one query.

    >>> correlations(np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])).round(12)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    centred = values - values.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    norms = np.outer(length, length)
    flat = length <= 1e-12 * np.abs(values).max(initial=0.0)
    products = centred @ centred.T
    coefficients = np.divide(products, norms, out=np.full_like(norms, np.nan), where=norms > 0)
    coefficients[flat] = coefficients[:, flat] = np.nan
    clipped: Floats = np.clip(coefficients, -1, 1)
    return clipped


def distances(values: Floats) -> Floats:
    """Return mean absolute differences of values over queries, systems x systems."""
    means: Floats = np.stack([np.abs(values - row).mean(axis=1) for row in values])
    return means
