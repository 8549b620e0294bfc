"""Similarities of ranked lists, reported with the Information Difference: overlap, Jaccard, tau, RBO."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np

from leadline.comparison.joint_tables import LEVELS, Orders, call_kernel, orders_of
from leadline.data.arrays import Codes, Flags, Floats, Integers
from leadline.data.ids import DocumentNumbers
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import Parametric, Registry, cutoff, needed_cutoff, number
from leadline.errors import UsageError


class RankedLists(NamedTuple):
    """Ranked lists of all systems for one query, with documents numbered over all systems.

    `entry` is the first rank of the group of tied documents of each document, in the order of `orders.order`.
    """

    orders: Orders
    entry: Codes

    @property
    def size(self) -> int:
        """Number of systems."""
        return len(self.orders.bounds) - 1

    @property
    def lengths(self) -> Integers:
        """Length of each list."""
        return np.diff(self.orders.bounds)

    @classmethod
    def of(cls, lists: Sequence[Sequence[Any]], entry: Sequence[Sequence[int]] = ()) -> RankedLists:
        """Create ranked lists from document ids; without `entry` there are no ties.

        >>> RankedLists.of([["a", "b"], ["b", "c"]]).orders.position
        array([[ 0,  1, -1],
               [-1,  0,  1]], dtype=int32)
        """
        numbers: dict[Any, int] = {}
        coded = [
            np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int32)
            for names in lists
        ]
        ranks = entry or [range(1, len(codes) + 1) for codes in coded]
        return cls(orders_of(coded, len(numbers)), np.array(list(chain(*ranks)), dtype=np.int32))


class SystemLists(NamedTuple):
    """The lists of a run: the rows of every query, document numbers, and `entry` as in `RankedLists`."""

    bounds: Integers
    document: Codes
    entry: Codes


def system_lists(judged: JudgedRun, numbers: DocumentNumbers) -> SystemLists:
    """Return the lists of the judged queries of a run whose join kept them.

    A repeat of a document that was held is a document of its own, in no other run.
    """
    lists = judged.lists
    assert lists is not None
    assert lists.ids is not None
    low, high = np.zeros((2, len(judged.present)), dtype=np.int64)
    wanted = lists.queries >= 0
    low[lists.queries[wanted]], high[lists.queries[wanted]] = (
        lists.bounds[:-1][wanted],
        lists.bounds[1:][wanted],
    )
    document = numbers.of(lists.ids, lists.bounds)
    starts = np.ones(len(document), dtype=np.bool_)
    starts[1:] = lists.scores[1:] != lists.scores[:-1]
    starts[lists.bounds[:-1][lists.bounds[:-1] < len(document)]] = True
    first = np.maximum.accumulate(np.where(starts, np.arange(len(document)), 0))
    entry = first - np.repeat(lists.bounds[:-1], np.diff(lists.bounds)) + 1
    return SystemLists(np.stack([low, high], axis=1), document, entry.astype(np.int32))


def ranked_lists(systems: Sequence[SystemLists], queries: int) -> Iterator[RankedLists]:
    """Yield the ranked lists of each query."""
    nothing = np.empty(0, dtype=np.int32)
    most = max((int(system.document.max(initial=-1)) for system in systems), default=-1)
    place = np.empty(most + 1, dtype=np.int64)
    for query in range(queries):
        spans = [slice(*system.bounds[query].tolist()) for system in systems]
        lists = [system.document[span] for system, span in zip(systems, spans, strict=True)]
        entry = [system.entry[span] for system, span in zip(systems, spans, strict=True)]
        document = np.concatenate([*lists, nothing])
        rows = np.arange(len(document))
        place[document] = rows
        kept = place[document] == rows  # one row of each document
        place[document[kept]] = np.arange(np.count_nonzero(kept))
        ends = np.cumsum([len(ranked) for ranked in lists])[:-1]
        numbers = np.split(place[document].astype(np.int32), ends)
        yield RankedLists(orders_of(numbers, int(np.count_nonzero(kept))), np.concatenate([*entry, nothing]))


# Similarities depend on ranks only, not on judgments.


class Similarity(Parametric):
    """Similarity of two ranked lists of one query; larger values mean more similar."""

    title: ClassVar[str]

    def values(self, ranked: RankedLists) -> Floats:
        """Return similarities, systems x systems; NaN where undefined."""
        raise NotImplementedError

    def of(self, first: Sequence[str], second: Sequence[str]) -> float:
        """Return the similarity of two lists of documents in rank order."""
        return float(self.values(RankedLists.of([first, second]))[0, 1])


def common(ranked: RankedLists, cutoff: int | None) -> Floats:
    """Return the number of common documents at ranks up to the cutoff, systems x systems."""
    place = ranked.orders.position
    held = place >= 0
    if cutoff is not None:
        held &= place < cutoff
        held = held[:, held.any(axis=0)]
    held = held.astype(np.float32)  # counts are exact up to 2**24
    return np.asarray((held @ held.T).astype(np.float64))


SIMILARITIES: Registry[Similarity] = Registry(sys.modules[__name__], Similarity, "similarity measure")


class Overlap(Similarity):
    """Share of common documents among the first k; short lists are not extended.

    >>> Overlap(cutoff=2).of(["a", "b", "c"], ["b", "c", "a"])
    0.5
    """

    title = "overlap of the first k documents"

    cutoff: int = needed_cutoff()

    def values(self, ranked: RankedLists) -> Floats:
        return common(ranked, self.cutoff) / self.cutoff


class Jaccard(Similarity):
    """Jaccard similarity of the first k documents of two lists, or of all; undefined for two empty lists.

    Source: Jaccard (1912).

    >>> Jaccard(cutoff=2).of(["a", "b", "c"], ["b", "c", "a"])  # b, out of a, b, c
    0.3333333333333333
    """

    title = "Jaccard's coefficient"

    cutoff: int | None = cutoff()

    def values(self, ranked: RankedLists) -> Floats:
        both = common(ranked, self.cutoff)
        sizes = both.diagonal()
        either = sizes[:, None] + sizes - both
        return np.asarray(np.divide(both, either, out=np.full_like(both, np.nan), where=either > 0))


class Kendall(Similarity):
    """Kendall's tau of the common documents of two lists.

    Ties are ordered by document id, so that there are no ties. Undefined with fewer than two common
    documents. Time is O(n log n) per pair of lists.

    Source: Kendall (1938).

    >>> Kendall().of(["a", "b", "c", "x"], ["b", "a", "c"])  # 2 of 3 pairs agree
    0.33333333333333326
    """

    title = "Kendall's tau of common documents"

    def values(self, ranked: RankedLists) -> Floats:
        documents = ranked.orders.position.shape[1]
        ends = np.triu_indices(ranked.size)
        first, second = (index.astype(np.int32) for index in ends)
        words = (documents >> 6) + 1
        common = np.empty(len(first), dtype=np.int64)
        agreeing = np.empty(len(first), dtype=np.int64)
        call_kernel(
            "common_orders",
            documents,
            *ranked.orders[:2],
            ranked.orders.position.ravel(),
            first,
            second,
            np.empty(words, np.uint64),
            np.empty(2 * words + LEVELS, np.int32),
            common,
            agreeing,
        )
        pairs = common * (common - 1) / 2
        tau = np.full((ranked.size, ranked.size), np.nan)
        tau[ends] = 2 * np.divide(agreeing, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0) - 1
        tau.T[ends] = tau[ends]
        return tau


NOTHING = 1e-18  # weight of a depth that is negligible in double precision


class RBO(Similarity):
    """Rank-biased overlap: mean agreement over depths d with weight (1 - p) p^(d - 1).

    Agreement at depth d is 2 X_d / (|A:d| + |B:d|), where X_d is the number of documents in the first d of
    both lists. Tied documents share the first rank of their group (variant w of the source). Beyond the end
    of the shorter list its last agreement is continued, and beyond the longer list agreement is constant.
    With p = 1 all depths of the longer list have the same weight (average overlap). Undefined for two empty
    lists.

    Source: Webber, Moffat and Zobel (2010), equation 32; ties: Corsi and Urbano (2024).

    >>> RBO(p=0.5).of(["a", "b"], ["b", "a"])  # agreement 0 at depth 1, then 1
    0.5
    """

    title = "rank-biased overlap"

    p: float = number(0.9)

    def post_init(self) -> None:
        """Check that the weights of depths have a sum."""
        if not 0 < self.p <= 1:
            raise UsageError(f"p must be above 0 and at most 1, not {self.p:g}")

    def values(self, ranked: RankedLists) -> Floats:
        size, lengths = ranked.size, ranked.lengths
        depth = int(lengths.max(initial=0))
        if self.p < 1:  # deeper ranks have negligible weights
            depth = min(depth, math.ceil(math.log(NOTHING) / math.log(self.p)))
        first, second = (index.astype(np.int32) for index in np.triu_indices(size))
        value, last = np.empty((2, len(first)))
        call_kernel(
            "biased_overlaps",
            ranked.orders.position.shape[1],
            *ranked.orders[:2],
            ranked.orders.position.ravel(),
            first,
            second,
            ranked.entry,
            (1 - self.p) * self.p ** np.arange(depth) if self.p < 1 else np.ones(depth),
            np.empty(size * (depth + 1), dtype=np.int32),
            np.empty(depth + 1, dtype=np.int32),
            value,
            last,
        )
        longest = np.maximum(lengths[first], lengths[second])
        if self.p == 1:
            value /= np.maximum(longest, 1)
        else:
            value += last * self.p**longest
        values = np.empty((size, size))
        values[first, second] = values[second, first] = np.where(longest == 0, np.nan, value)
        return values


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
    return np.asarray(np.clip(coefficients, -1, 1))


def distances(values: Floats) -> Floats:
    """Return mean absolute differences of values over queries, systems x systems."""
    return np.asarray(np.stack([np.abs(values - row).mean(axis=1) for row in values]))
