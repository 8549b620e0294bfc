"""Sampling designs: inclusion probabilities of the documents on which measures of the runs depend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.hashing import sampling_keys
from leadline.data.ids import to_bytes, to_text

SMALLEST = 0.02  # minimum inclusion probability; pairs that would need a smaller one leave the frame
NEW_RUNS = 0.15  # share of the budget for documents that no pooled run has above the cutoff
DEEPEST = 100  # cutoff of measures without one


class Frame(NamedTuple):
    """Sampling frame: the query-document pairs at the top ranks of any pooled run."""

    queries: list[bytes]  # query ids
    query: Integers  # index of the query of each pair, in ascending order
    documents: list[bytes]  # document id of each pair
    # root mean square over the pooled runs of the weight of the document; 0 if no measure depends on it,
    # negative if it must not be drawn
    importance: Floats
    best: Integers  # best rank of the document in any pooled run, from 1
    # mean probability that is left to pairs of importance 0 before all others become certain
    least_rest: float = 0.0

    def names(self) -> list[tuple[str, str]]:
        """Return (query, document) of every pair."""
        queries = list(map(to_text, self.queries))
        return list(
            zip(map(queries.__getitem__, self.query.tolist()), map(to_text, self.documents), strict=True)
        )

    def without(self, judged: Flags) -> Frame:
        """Return the frame with judged pairs excluded from drawing."""
        return self._replace(importance=np.where(judged, -1.0, self.importance))


class Draw(NamedTuple):
    """Inclusion probabilities and the sample drawn with them."""

    probability: Floats  # inclusion probability; 0 for a pair removed from the frame
    # permanent random number divided by the unscaled probability; a smaller sample consists of the pairs of
    # smallest order
    order: Floats
    drawn: Flags  # the pairs to be judged
    # the sample consists of the pairs with order < scale; p = min(1, scale x unscaled probability)
    scale: float
    cut: int  # number of pairs removed from the frame because their probability would be below 0.02


def scaled(weight: Floats, budget: float) -> tuple[Floats, float]:
    """Scale weights to inclusion probabilities min(1, c weight) that sum to `budget`.

    >>> p, c = scaled(np.array([4.0, 1.0, 1.0]), 2.0)
    >>> p.tolist(), c
    ([1.0, 0.5, 0.5], 0.5)
    """
    if not len(weight) or budget <= 0:
        return np.zeros(len(weight)), 0.0
    if budget >= len(weight):
        return np.ones(len(weight)), float(1.0 / weight.min())
    order = np.sort(weight)[::-1]
    tail = np.cumsum(order[::-1])[::-1]  # the sum of each weight and those below it
    certain = np.arange(len(order))
    scale = (budget - certain) / tail  # if that many pairs were certain
    fits = np.flatnonzero((scale * order <= 1.0 + 1e-12) & (scale > 0))
    c = float(scale[fits[0]])
    return np.minimum(1.0, c * weight), c


def draw(frame: Frame, budget: float, *, new_runs: float = NEW_RUNS, seed: int = 0) -> Draw:
    """Draw pairs of a frame with the `probabilities` of a budget."""
    probability, scale, cut = probabilities(frame, budget, new_runs=new_runs)
    return _drawn(frame, probability, scale, seed, cut)


def probabilities(frame: Frame, budget: float, *, new_runs: float = NEW_RUNS) -> tuple[Floats, float, int]:
    """Return inclusion probabilities proportional to importance, their scale, and how many pairs are cut.

    A share `new_runs` of the budget is spread evenly over the pairs on which no measure depends
    (importance 0); the others share what is left, and are certain if the budget covers all of them and
    leaves enough for those of importance 0.

    References
    ----------
    Brewer, Early and Joyce (1972), Selecting several samples from a single population, Australian Journal of
    Statistics 14 (permanent random numbers); Horvitz and Thompson (1952), JASA 47.
    """
    seen = frame.importance > 0
    rest = frame.importance == 0
    probability = np.zeros(len(frame.query))
    matter = int(seen.sum())
    first = budget * (1.0 - new_runs) if rest.any() else budget
    if budget >= matter + frame.least_rest * int(rest.sum()):
        first = float(matter)
    kept, cut = _large_enough(frame, np.flatnonzero(seen), frame.importance[seen], first)
    probability[kept], scale = scaled(frame.importance[kept], first)
    left = max(budget - float(probability.sum()), 0.0)
    if new_runs > 0 and left > 1e-9:
        others, more = _large_enough(frame, np.flatnonzero(rest), np.ones(int(rest.sum())), left)
        probability[others], _ = scaled(np.ones(len(others)), left)
        cut += more
    return probability, scale, cut


def _large_enough(frame: Frame, rows: Integers, weight: Floats, budget: float) -> tuple[Integers, int]:
    """Return rows with probability of at least 0.02 once the least important, deepest ones are removed."""
    order = np.lexsort((frame.best[rows], -weight))
    ordered = weight[order]
    size = len(rows)
    while size:
        p, _ = scaled(ordered[:size], budget)
        small = int((p < SMALLEST - 1e-12).sum())
        if not small:
            break
        size -= max(1, small // 2)
    return np.sort(rows[order[:size]]), len(rows) - size


def _drawn(frame: Frame, probability: Floats, scale: float, seed: int, cut: int) -> Draw:
    """Draw the pairs whose permanent random number is below their inclusion probability."""
    scale = scale if scale > 0 else 1.0
    unscaled = probability / scale
    unscaled = np.where(probability >= 1, np.maximum(frame.importance, 1.0 / scale), unscaled)
    number = random_numbers(frame, seed)
    with np.errstate(divide="ignore"):
        order = np.where(probability > 0, number / np.where(probability > 0, unscaled, 1.0), np.inf)
    return Draw(probability, order, (probability > 0) & (order < scale), scale, cut)


def random_numbers(frame: Frame, seed: int) -> Floats:
    """Return the permanent random number of each pair: a hash of seed, query and document in [0, 1)."""
    bounds = np.searchsorted(frame.query, np.arange(len(frame.queries) + 1)).tolist()
    parts = [
        _numbers(name, frame.documents[low:high], seed)
        for name, low, high in zip(frame.queries, bounds[:-1], bounds[1:], strict=True)
    ]
    return np.concatenate([np.empty(0), *parts])


def random_numbers_of(pairs: Sequence[tuple[str, str]], seed: int) -> Floats:
    """Return the permanent random number of each query-document pair."""
    numbers = np.empty(len(pairs))
    rows: dict[str, list[int]] = {}
    for row, (query, _) in enumerate(pairs):
        rows.setdefault(query, []).append(row)
    for query, chosen in rows.items():
        numbers[chosen] = _numbers(to_bytes(query), [to_bytes(pairs[row][1]) for row in chosen], seed)
    return numbers


def _numbers(query: bytes, documents: Sequence[bytes], seed: int) -> Floats:
    return (sampling_keys(query, documents, seed) >> np.uint64(11)).astype(np.float64) / 2.0**53


def at_scale(probability: Floats, order: Floats, numbers: Floats, scale: float | Floats) -> Floats:
    """Return the inclusion probabilities of the smaller sample with order < `scale`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        unscaled = np.where(order > 0, numbers / order, np.inf)
    smaller = np.minimum(1.0, scale * unscaled)
    return np.where(probability > 0, np.minimum(smaller, 1.0), 0.0)


def enlarged(probability: Floats, scale: float, old: Floats, frame: Frame, seed: int) -> Draw:
    """Return the sample with p = max(p, p_old), which contains every pair drawn for the earlier pool."""
    return _drawn(frame, np.maximum(probability, old), scale, seed, 0)


class Listed(NamedTuple):
    """The rows of the lists of the pooled runs: pair of the frame, run and rank (from 1), in their order."""

    pair: Integers
    run: Integers
    rank: Integers


def frame_of(
    queries: Sequence[bytes],
    lists: Sequence[Sequence[Sequence[bytes]]],
    weights: Sequence[Floats],
    depth: int,
) -> Frame:
    """Return the sampling frame of the pooled runs: their documents at ranks up to `depth`."""
    return listed_frame(queries, lists, weights, depth)[0]


def listed_frame(
    queries: Sequence[bytes],
    lists: Sequence[Sequence[Sequence[bytes]]],
    weights: Sequence[Floats],
    depth: int,
) -> tuple[Frame, Listed, list[Floats]]:
    """Return the frame, where its pairs are listed, and the mean over runs of squared weights by measure."""
    names: list[bytes] = []
    pairs: list[int] = []
    lengths: list[int] = []
    counts: list[int] = []
    for runs in lists:
        rows: dict[bytes, int] = {}
        for run in runs:
            pairs += [rows.setdefault(name, len(names) + len(rows)) for name in run[:depth]]
            lengths.append(min(len(run), depth))
        names += rows
        counts.append(len(rows))
    sizes = np.array(lengths, dtype=np.int64)
    number = np.concatenate([np.empty(0, dtype=np.int64), *(np.arange(len(runs)) for runs in lists)])
    rank = np.arange(1, len(pairs) + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    listed = Listed(np.array(pairs, dtype=np.int64), np.repeat(number, sizes), rank)
    best = np.full(len(names), np.iinfo(np.int64).max)
    np.minimum.at(best, listed.pair, listed.rank)
    importance = np.zeros(len(names))
    squares = []
    for weight in weights:
        kept = listed.rank <= len(weight)
        square = (weight * weight)[listed.rank[kept] - 1]
        column = np.bincount(listed.pair[kept], square, minlength=len(names))
        squares.append(column / max(1, max(map(len, lists), default=1)))
        root = np.sqrt(squares[-1])
        total = float(root.sum())
        importance += root / total if total > 0 else 0.0
    query = np.repeat(np.arange(len(counts)), counts)
    return Frame(list(queries), query, names, importance, best), listed, squares
