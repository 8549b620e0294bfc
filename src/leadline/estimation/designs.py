"""Designs: inclusion probabilities for the documents that a measure of some runs depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.hashing import keys_of

SMALLEST = 0.02  # inclusion probability; a frame that would need a smaller one is cut
NEW_RUNS = 0.15  # share of the budget for documents that no pooled run has above the cutoff
DEEPEST = 100  # ranks that count where a measure has no cutoff


class Frame(NamedTuple):
    """The pairs that may be drawn: documents at the first ranks of any pooled run.

    Attributes
    ----------
    queries : list of bytes
        Query ids.
    query : ndarray of int64, shape (n_pairs,)
        Place of the query of each pair, rising.
    documents : list of bytes
        Document id of each pair.
    importance : ndarray of float64, shape (n_pairs,)
        Root mean square over the pooled runs of the weight of the document; 0 where no measure sees it, and
        negative where it is not to be drawn at all.
    best : ndarray of int64, shape (n_pairs,)
        Best rank of the document in any pooled run, from 1.
    """

    queries: list[bytes]
    query: Integers
    documents: list[bytes]
    importance: Floats
    best: Integers


class Draw(NamedTuple):
    """A design and its draw.

    Attributes
    ----------
    probability : ndarray of float64, shape (n_pairs,)
        Inclusion probability; 0 for a pair that was cut from the frame.
    order : ndarray of float64, shape (n_pairs,)
        Permanent random number divided by the unscaled probability. The pairs of smallest order are those of
        a smaller draw.
    drawn : ndarray of bool, shape (n_pairs,)
        The pairs to be judged.
    scale : float
        The draw holds the pairs of order below it; p = min(1, scale x unscaled probability).
    cut : int
        Pairs that were cut from the frame, since their probability would be below 0.02.
    """

    probability: Floats
    order: Floats
    drawn: Flags
    scale: float
    cut: int


def scaled(weight: Floats, budget: float) -> tuple[Floats, float]:
    """Return min(1, c weight) with sum `budget`, and c; all 1 where the budget allows it.

    Parameters
    ----------
    weight : ndarray of float64, shape (n,)
        Positive unscaled probabilities.
    budget : float
        Expected number of draws.

    Returns
    -------
    probability : ndarray of float64, shape (n,)
    scale : float

    Examples
    --------
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
    scale = (budget - certain) / tail  # if so many were certain
    fits = np.flatnonzero((scale * order <= 1.0 + 1e-12) & (scale > 0))
    c = float(scale[fits[0]])
    return np.minimum(1.0, c * weight), c


def draw(frame: Frame, budget: float, *, new_runs: float = NEW_RUNS, seed: int = 0) -> Draw:
    """Draw pairs of a frame with probabilities proportional to their importance.

    Pairs that a measure sees (importance above 0) share the budget but `new_runs` of it, which is spent
    evenly on the rest of the frame. Where the budget covers all pairs that matter, these are certain.

    Parameters
    ----------
    frame : Frame
        Candidate pairs.
    budget : float
        Expected number of pairs, over all queries.
    new_runs : float, default 0.15
        Share of the budget for pairs that no pooled run has above the cutoff, 0 <= new_runs < 1.
    seed : int, default 0
        Seed of the permanent random numbers.

    References
    ----------
    Brewer, Early and Joyce (1972) on permanent random numbers; Horvitz and Thompson (1952).
    """
    seen = frame.importance > 0
    rest = frame.importance == 0
    probability = np.zeros(len(frame.query))
    matter = int(seen.sum())
    first = budget * (1.0 - new_runs) if rest.any() else budget
    if budget >= matter:
        first = float(matter)
    kept, cut = _large_enough(frame, np.flatnonzero(seen), frame.importance[seen], first)
    probability[kept], scale = scaled(frame.importance[kept], first)
    left = max(budget - float(probability.sum()), 0.0)
    if new_runs > 0 and left > 1e-9:
        others, more = _large_enough(frame, np.flatnonzero(rest), np.ones(int(rest.sum())), left)
        probability[others], _ = scaled(np.ones(len(others)), left)
        cut += more
    return _drawn(frame, probability, scale, seed, cut)


def _large_enough(frame: Frame, rows: Integers, weight: Floats, budget: float) -> tuple[Integers, int]:
    """Return the rows whose probability is at least 0.02, after cutting the least important, deepest ones."""
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
    """Draw by permanent random numbers: a pair is drawn when its number is below its probability."""
    scale = scale if scale > 0 else 1.0
    unscaled = probability / scale
    unscaled = np.where(probability >= 1, np.maximum(frame.importance, 1.0 / scale), unscaled)
    number = random_numbers(frame, seed)
    with np.errstate(divide="ignore"):
        order = np.where(probability > 0, number / np.where(probability > 0, unscaled, 1.0), np.inf)
    return Draw(probability, order, (probability > 0) & (order < scale), scale, cut)


def random_numbers(frame: Frame, seed: int) -> Floats:
    """Return the permanent random number of each pair: uniform in [0, 1), from seed, query and document."""
    found = np.empty(len(frame.query))
    bounds = np.searchsorted(frame.query, np.arange(len(frame.queries) + 1)).tolist()
    for name, low, high in zip(frame.queries, bounds[:-1], bounds[1:], strict=True):
        keys = keys_of(name, frame.documents[low:high], seed)
        found[low:high] = (keys >> np.uint64(11)).astype(np.float64) / 2.0**53
    return found


def random_number(query: bytes, document: bytes, seed: int) -> float:
    """Return the permanent random number of one pair."""
    return float(int(keys_of(query, [document], seed)[0]) >> 11) / 2.0**53


def at_scale(probability: Floats, order: Floats, numbers: Floats, scale: float) -> Floats:
    """Return the probabilities of the smaller draw that holds the pairs of order below `scale`.

    Parameters
    ----------
    probability, order, numbers : ndarray of float64
        Those of the whole draw, and its permanent random numbers.
    scale : float
        The order at which the smaller draw ends.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        unscaled = np.where(order > 0, numbers / order, np.inf)
    found = np.minimum(1.0, scale * unscaled)
    return np.where(probability > 0, np.minimum(found, 1.0), 0.0)


def enlarged(probability: Floats, scale: float, old: Floats, frame: Frame, seed: int) -> Draw:
    """Return the draw with p = max(p, p_old): what an earlier pool drew stays drawn."""
    return _drawn(frame, np.maximum(probability, old), scale, seed, 0)


def frame_of(
    queries: Sequence[bytes],
    lists: Sequence[Sequence[Sequence[bytes]]],
    weights: Sequence[Floats],
    depth: int,
) -> Frame:
    """Return the frame of the pooled runs: the documents at ranks up to `depth`.

    Parameters
    ----------
    queries : sequence of bytes, length n_queries
        Query ids.
    lists : sequence (n_queries) of sequence (n_runs) of sequence of bytes
        The ranked documents of each run for each query; empty where a run lacks it.
    weights : sequence of ndarray of float64
        For each measure the weight of ranks 1 to its cutoff; the importances of several measures are divided
        by their sum over the frame and added.
    depth : int
        Deepest rank in the frame.
    """
    query: list[int] = []
    names: list[bytes] = []
    best: list[int] = []
    squares: list[list[float]] = [[] for _ in weights]
    for number, (_, runs) in enumerate(zip(queries, lists, strict=True)):
        place: dict[bytes, int] = {}
        start = len(names)
        for run in runs:
            for rank, name in enumerate(run[:depth]):
                row = place.setdefault(name, len(place))
                if row == len(names) - start:
                    names.append(name)
                    query.append(number)
                    best.append(rank + 1)
                    for column in squares:
                        column.append(0.0)
                best[start + row] = min(best[start + row], rank + 1)
                for column, weight in zip(squares, weights, strict=True):
                    if rank < len(weight):
                        column[start + row] += float(weight[rank]) ** 2
    count = max((len(runs) for runs in lists), default=1)
    importance = np.zeros(len(names))
    for column in squares:
        root = np.sqrt(np.array(column) / max(count, 1))
        total = float(root.sum())
        importance += root / total if total > 0 else 0.0
    return Frame(
        list(queries), np.array(query, dtype=np.int64), names, importance, np.array(best, dtype=np.int64)
    )
