"""Similarities of two ranked lists: overlap, Jaccard, Kendall's tau, rank-biased overlap."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from leadline.comparison.information_difference.joint_tables import Orders, call, orders_of
from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import Parametric, Registry, choice, cutoff, needed_cutoff, number


class Ranked(NamedTuple):
    """Ranked lists of all systems for one query, with documents numbered over all systems.

    Attributes
    ----------
    orders : Orders
        The lists, in rank order.
    entry : list of ndarray of int32
        First rank of the group of tied documents of each document, by list.
    """

    orders: Orders
    entry: list[Codes]

    @property
    def size(self) -> int:
        """Number of systems."""
        return len(self.orders.bounds) - 1

    @property
    def lengths(self) -> Integers:
        """Length of each list."""
        return np.diff(self.orders.bounds)

    @classmethod
    def of(cls, lists: Sequence[Sequence[Any]], entry: Sequence[Sequence[int]] = ()) -> Ranked:
        """Create ranked lists from document ids; without `entry` there are no ties.

        Examples
        --------
        >>> Ranked.of([["a", "b"], ["b", "c"]]).orders.place
        array([[ 0,  1, -1],
               [-1,  0,  1]], dtype=int32)
        """
        numbers: dict[Any, int] = {}
        coded = [
            np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int32)
            for names in lists
        ]
        ranks = [np.arange(1, len(codes) + 1, dtype=np.int32) for codes in coded]
        entries = [np.array(first, dtype=np.int32) for first in entry]
        return cls(orders_of(coded, len(numbers)), entries or ranks)


class System(NamedTuple):
    """The lists of a run: the rows of every query, document numbers, and `entry` as in `Ranked`."""

    bounds: Integers
    document: Codes
    entry: Codes


class DocumentNumbers:
    """Number the documents of several runs, in any thread."""

    def __init__(self) -> None:
        self._numbers: dict[bytes | int, int] = {}
        self._lock = threading.Lock()

    def system(self, judged: JudgedRun) -> System:
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
        with self._lock:
            document = np.fromiter(map(self._number, lists.ids), dtype=np.int32, count=len(lists.ids))
            owner = np.repeat(np.arange(len(wanted)), np.diff(lists.bounds))
            order = np.lexsort((document, owner))  # stable: of equal documents the first place comes first
            again = (np.diff(document[order]) == 0) & (np.diff(owner[order]) == 0)
            for row in order[1:][again].tolist():
                document[row] = self._number(None)
        starts = np.ones(len(document), dtype=np.bool_)
        starts[1:] = lists.scores[1:] != lists.scores[:-1]
        starts[lists.bounds[:-1][lists.bounds[:-1] < len(document)]] = True
        first = np.maximum.accumulate(np.where(starts, np.arange(len(document)), 0))
        entry = first - np.repeat(lists.bounds[:-1], np.diff(lists.bounds)) + 1
        return System(np.stack([low, high], axis=1), document, entry.astype(np.int32))

    def _number(self, name: bytes | None) -> int:
        """Return the number of a document; of None, a new one."""
        return self._numbers.setdefault(name or len(self._numbers), len(self._numbers))


def ranked_lists(systems: Sequence[System], queries: int) -> Iterator[Ranked]:
    """Yield the ranked lists of each query."""
    for query in range(queries):
        spans = [slice(*system.bounds[query].tolist()) for system in systems]
        lists = [system.document[span] for system, span in zip(systems, spans, strict=True)]
        entry = [system.entry[span] for system, span in zip(systems, spans, strict=True)]
        codes, coded = np.unique(np.concatenate(lists), return_inverse=True)
        ends = np.cumsum([len(ranked) for ranked in lists])[:-1]
        yield Ranked(orders_of(np.split(coded.astype(np.int32), ends), len(codes)), entry)


# Similarities depend on ranks only, not on judgments.


class Similarity(Parametric):
    """Similarity of two ranked lists of one query; larger values mean more similar."""

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

    def values(self, ranked: Ranked) -> Floats:
        """Return similarities, systems x systems; NaN where undefined."""
        raise NotImplementedError

    def of(self, first: Sequence[str], second: Sequence[str]) -> float:
        """Return the similarity of two lists of documents in rank order."""
        return float(self.values(Ranked.of([first, second]))[0, 1])


def common(ranked: Ranked, cutoff: int | None) -> Floats:
    """Return the number of common documents at ranks up to the cutoff, systems x systems."""
    place = ranked.orders.place
    held = place >= 0 if cutoff is None else (place >= 0) & (place < cutoff)
    held = held.astype(np.float32)  # counts are exact up to 2**24
    shared: Floats = (held @ held.T).astype(np.float64)
    return shared


SIMILARITIES: Registry[Similarity] = Registry(sys.modules[__name__], Similarity, "competitor")


class Overlap(Similarity):
    """Share of common documents among the first k; short lists are not extended.

    >>> Overlap(cutoff=2).of(["a", "b", "c"], ["b", "c", "a"])
    0.5
    """

    title = "overlap of the first k documents"
    formula = "|A@k and B@k| / k"
    source = "customary"

    cutoff: int = needed_cutoff()

    def values(self, ranked: Ranked) -> Floats:
        """Return similarities, systems x systems."""
        return common(ranked, self.cutoff) / self.cutoff


class Jaccard(Similarity):
    """Jaccard similarity of the documents of two lists; undefined for two empty lists.

    >>> Jaccard(cutoff=2).of(["a", "b", "c"], ["b", "c", "a"])  # b, out of a, b, c
    0.3333333333333333
    """

    title = "Jaccard's coefficient"
    formula = "|A and B| / |A or B|, of the first k documents or of all"
    source = "Jaccard 1912"

    cutoff: int | None = cutoff()

    def values(self, ranked: Ranked) -> Floats:
        """Return similarities, systems x systems."""
        both = common(ranked, self.cutoff)
        sizes = both.diagonal()
        either = sizes[:, None] + sizes - both
        shared: Floats = np.divide(both, either, out=np.full_like(both, np.nan), where=either > 0)
        return shared


class Kendall(Similarity):
    """Kendall's tau of the common documents of two lists.

    Ties are ordered by document id, so that there are no ties. Undefined with fewer than two common
    documents. Time is O(n log n) per pair of lists.

    >>> Kendall().of(["a", "b", "c", "x"], ["b", "a", "c"])  # 2 of 3 pairs agree
    0.33333333333333326
    """

    title = "Kendall's tau of common documents"
    formula = "(agreeing - disagreeing) / all pairs of common documents"
    source = "Kendall 1938"
    low: ClassVar[float] = -1.0

    def values(self, ranked: Ranked) -> Floats:
        """Return similarities, systems x systems."""
        documents = ranked.orders.place.shape[1]
        ends = np.triu_indices(ranked.size)
        first, second = (index.astype(np.int32) for index in ends)
        words = (documents >> 6) + 1
        common = np.empty(len(first), dtype=np.int64)
        agreeing = np.empty(len(first), dtype=np.int64)
        call(
            "common_orders",
            documents,
            *ranked.orders[:2],
            ranked.orders.place.ravel(),
            first,
            second,
            np.empty(words, np.uint64),
            np.empty(2 * words, np.int32),
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

    Agreement at depth d is 2 X_d / (|A:d| + |B:d|), where X_d is the number of documents in both prefixes A:d
    and B:d; tied documents enter at the first rank of their group. `form=ext` extrapolates: beyond the end of
    the shorter list, its agreement at its last depth is continued, and beyond the longer list agreement is
    constant. `min` and `max` are bounds over all continuations; ties are then ordered as in the run.
    Undefined for two empty lists.

    >>> RBO(p=0.5).of(["a", "b"], ["b", "a"])  # agreement 0 at depth 1, then 1
    0.5
    """

    title = "rank-biased overlap"
    formula = "(1 - p) sum of p^(d-1) A_d; beyond the lists extrapolated, or bounded"
    source = "Webber, Moffat and Zobel 2010, equations 11, 30 and 32, section 4.3 for ties"

    p: float = number(0.9, low=0.0, high=1.0, open_ends=True)
    form: str = choice("ext", "min", "max")

    def values(self, ranked: Ranked) -> Floats:
        """Return similarities, systems x systems."""
        size, lengths = ranked.size, ranked.lengths
        depth = min(int(lengths.max(initial=0)), math.ceil(math.log(NOTHING) / math.log(self.p)))
        entry = self._entries(ranked)
        held = _held(entry, depth)
        order, bounds = ranked.orders.order, ranked.orders.bounds
        values = np.full((size, size), np.nan)
        for s in range(size):
            documents = order[bounds[s] : bounds[s + 1]]
            documents = documents[entry[s, documents] <= depth]
            meet = np.minimum(np.maximum(entry[s:, documents], entry[s, documents]), depth + 1)
            rows = np.arange(size - s)[:, None] * (depth + 2)
            counts = np.bincount((rows + meet).ravel(), minlength=(size - s) * (depth + 2))
            common = counts.reshape(size - s, depth + 2)[:, 1 : depth + 1].cumsum(axis=1)
            lower = np.minimum(lengths[s:], lengths[s])
            upper = np.maximum(lengths[s:], lengths[s])
            value = self._value(common, held[s:] + held[s], lower, upper)
            values[s, s:] = values[s:, s] = np.where(upper == 0, np.nan, value)
        return values

    def _entries(self, ranked: Ranked) -> Codes:
        """Return the rank at which each document enters each list; the largest integer if it never does."""
        place = ranked.orders.place
        entry = np.where(place >= 0, place + 1, np.iinfo(np.int32).max).astype(np.int32)
        if self.form == "ext":
            owner = np.repeat(np.arange(ranked.size), ranked.lengths)
            entry[owner, ranked.orders.order] = np.concatenate([*ranked.entry, np.empty(0, np.int32)])
        return entry

    def _value(self, common: Floats, held: Floats, lower: Floats, upper: Floats) -> Floats:
        """Return the value of one list against others, from X_d, |A:d| + |B:d| and the list lengths."""
        depth = common.shape[1]
        d = np.arange(1, depth + 1)
        weight = (1 - self.p) * self.p ** (d - 1)
        if self.form == "ext":
            agreement = extrapolated(common, held, lower)
            last = np.clip(upper, 1, max(depth, 1)) - 1
            beyond = agreement[np.arange(len(upper)), last] if depth else np.zeros(len(upper))
            inside = d <= upper[:, None]
            value: Floats = (agreement * weight * inside).sum(axis=1) + beyond * self.p**upper
            return value
        ends = np.clip(upper, 1, max(depth, 1)) - 1
        seen = common[np.arange(len(upper)), ends] if depth else np.zeros(len(upper))
        # With final overlap X at all depths the sum is -ln(1-p) (1-p)/p X; observed depths have less overlap.
        least = -(1 - self.p) / self.p * math.log1p(-self.p) * seen
        least += (np.minimum(common - seen[:, None], 0) * weight / d).sum(axis=1)
        if self.form == "min":
            return np.asarray(least)
        return np.asarray(least + self._residual(seen, lower, upper))

    def _residual(self, seen: Floats, lower: Floats, upper: Floats) -> Floats:
        """Return the residual, the difference of upper and lower bound (equation 30)."""
        p = self.p
        whole = (lower + upper - seen).astype(np.int64)  # depth of complete agreement at best
        steps = np.arange(1, int(whole.max(initial=0)) + 1)
        sums = np.concatenate(([0.0], np.cumsum(p**steps / steps)))
        part = lower * (sums[whole] - sums[lower]) + upper * (sums[whole] - sums[upper])
        part += seen * (-math.log1p(-p) - sums[whole])
        residual: Floats = p**lower + p**upper - p**whole - (1 - p) / p * part
        return residual


def extrapolated(common: Floats, held: Floats, lower: Floats) -> Floats:
    """Return the agreement at each depth, extrapolated beyond the end of the shorter list."""
    depth = common.shape[1]
    d = np.arange(1, depth + 1)
    rows = np.arange(len(lower))
    agreement = np.divide(2.0 * common, held, out=np.zeros(common.shape), where=held > 0)
    ends = np.clip(lower, 1, max(depth, 1)) - 1
    rate = np.where(lower > 0, agreement[rows, ends], 0.0) if depth else np.zeros(len(lower))
    unseen = np.maximum(d - lower[:, None], 0)
    return np.where(unseen > 0, (common + rate[:, None] * unseen) / d, agreement)


def _held(entry: Codes, depth: int) -> Floats:
    """Return the number of documents that have entered each list, systems x depths."""
    capped = np.minimum(entry, depth + 1)
    rows = np.arange(len(entry))[:, None] * (depth + 2)
    counts = np.bincount((rows + capped).ravel(), minlength=len(entry) * (depth + 2))
    held: Floats = counts.reshape(len(entry), depth + 2)[:, 1 : depth + 1].cumsum(axis=1)
    return held.astype(np.float64)
