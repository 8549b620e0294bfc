"""Similarities of two ranked lists: overlap, Jaccard, Kendall's tau, rank-biased overlap."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np

from leadline import kernels
from leadline.comparison.information_difference.joint_tables import LEVELS, Orders, call_kernel, orders_of
from leadline.comparison.information_difference.tied_overlap import TiedList, tied_overlap
from leadline.data.arrays import Bytes, Codes, Flags, Floats, Hashes, Integers
from leadline.data.ids import Ids
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import Parametric, Registry, choice, cutoff, needed_cutoff, number
from leadline.errors import UsageError


class RankedLists(NamedTuple):
    """RankedLists lists of all systems for one query, with documents numbered over all systems.

    Attributes
    ----------
    orders : Orders
        The lists, in rank order.
    entry : ndarray of int32
        First rank of the group of tied documents of each document, in the order of `orders.order`.
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

        Examples
        --------
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


class DocumentNumbers:
    """Number the documents of several runs, in any thread."""

    def __init__(self) -> None:
        self._numbers: dict[bytes | int, int] = {}
        self._known = _NumberedDocuments.of_size(0, 0)
        self._lock = threading.Lock()

    def system(self, judged: JudgedRun) -> SystemLists:
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
        compiled = kernels.compiled
        with self._lock:
            if compiled is None or compiled.number_ids is None:
                document = self._plain_numbers(lists.ids, lists.bounds)
            else:
                hashes = np.empty(len(lists.ids), dtype=np.uint64)
                compiled.hash_ids(lists.ids.text, lists.ids.start, lists.ids.stop, hashes)
                self._known = self._known.with_capacity(lists.ids, compiled.number_ids)
                document = np.empty(len(lists.ids), dtype=np.int32)
                compiled.number_ids(
                    lists.ids.text,
                    lists.ids.start,
                    lists.ids.stop,
                    hashes,
                    lists.bounds,
                    *self._known,
                    document,
                )
        starts = np.ones(len(document), dtype=np.bool_)
        starts[1:] = lists.scores[1:] != lists.scores[:-1]
        starts[lists.bounds[:-1][lists.bounds[:-1] < len(document)]] = True
        first = np.maximum.accumulate(np.where(starts, np.arange(len(document)), 0))
        entry = first - np.repeat(lists.bounds[:-1], np.diff(lists.bounds)) + 1
        return SystemLists(np.stack([low, high], axis=1), document, entry.astype(np.int32))

    def _plain_numbers(self, ids: Ids, bounds: Integers) -> Codes:
        """Return the numbers of the documents of some lists."""
        document = np.fromiter(map(self._number, ids), dtype=np.int32, count=len(ids))
        owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        order = np.lexsort((document, owner))  # stable: of equal documents the first place comes first
        again = (np.diff(document[order]) == 0) & (np.diff(owner[order]) == 0)
        for row in order[1:][again].tolist():
            document[row] = self._number(None)
        return document

    def _number(self, name: bytes | None) -> int:
        """Return the number of a document; of None, a new one."""
        return self._numbers.setdefault(name or len(self._numbers), len(self._numbers))


class _NumberedDocuments(NamedTuple):
    """The documents that have a number, as the kernel `number_ids` keeps them."""

    text: Bytes
    start: Integers
    hashes: Hashes
    slots: Codes
    lister: Codes
    tally: Integers

    @classmethod
    def of_size(cls, documents: int, size: int) -> _NumberedDocuments:
        """Return an empty table with capacity for some documents, whose ids have `size` bytes together."""
        return cls(
            np.empty(size, dtype=np.uint8),
            np.zeros(documents + 1, dtype=np.int64),
            np.empty(documents, dtype=np.uint64),
            np.zeros(1 << (2 * documents).bit_length(), dtype=np.int32),
            np.empty(documents, dtype=np.int32),
            np.zeros(2, dtype=np.int64),
        )

    def with_capacity(self, ids: Ids, number_ids: Callable[..., Any]) -> _NumberedDocuments:
        """Return the same documents with capacity for more; the capacity at least doubles if it grows."""
        many = int(self.tally[0])
        documents, size = many + len(ids), int(self.start[many] + (ids.stop - ids.start).sum())
        if documents <= len(self.hashes) and size <= len(self.text):
            return self
        larger = self.of_size(2 * documents, 2 * size)
        if many:  # in their order, as one list, all get the numbers that they have
            spare = np.empty(many, dtype=np.int32)
            bounds = np.array([0, many], dtype=np.int64)
            number_ids(self.text, self.start[:-1], self.start[1:], self.hashes, bounds, *larger, spare)
        return larger


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
    formula: ClassVar[str]
    source: ClassVar[str]
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

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

    def values(self, ranked: RankedLists) -> Floats:
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

    def values(self, ranked: RankedLists) -> Floats:
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

    def values(self, ranked: RankedLists) -> Floats:
        """Return similarities, systems x systems."""
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

    Without ties, agreement at depth d is X_d / d, where X_d is the number of documents in the first d of
    both lists. `ties` says what tied documents mean. `w`: they share their rank, as in sports; all enter at
    the first rank of their group, and agreement is 2 X_d / (|A:d| + |B:d|). `a`: their order is unknown; the
    value is the mean over all orders. `b`: as `a`, corrected for the information that ties lose, so that a
    list agrees completely with itself.

    `form=ext` extrapolates: beyond the end of the shorter list its last agreement is continued, and beyond
    the longer list agreement is constant. `min` and `max` are bounds over all continuations, `res` their
    difference. With p = 1 all depths of the longer list have the same weight (average overlap); there are no
    bounds then. Undefined for two empty lists.

    >>> RBO(p=0.5).of(["a", "b"], ["b", "a"])  # agreement 0 at depth 1, then 1
    0.5
    """

    title = "rank-biased overlap"
    formula = "(1 - p) sum of p^(d-1) A_d; beyond the lists extrapolated, or bounded"
    source = "Webber, Moffat and Zobel 2010, equations 11, 30 and 32; ties: Corsi and Urbano 2024"

    p: float = number(0.9, low=0.0, high=1.0)
    form: str = choice("ext", "min", "max", "res")
    ties: str = choice("w", "a", "b")

    def post_init(self) -> None:
        """Check that the weights of depths have a sum."""
        if self.p == 0:
            raise UsageError("p=0 in RBO; expected a number above 0")
        if self.p == 1 and self.form != "ext":
            raise UsageError(f"RBO(p=1,form={self.form}); expected p below 1, as with p=1 nothing is bounded")

    def values(self, ranked: RankedLists) -> Floats:
        """Return similarities, systems x systems."""
        values = self._untied(ranked)
        bounds = ranked.orders.bounds.tolist()
        tied: dict[int, TiedList] = {}
        for first, second in np.argwhere(np.triu(self._needs_ties(ranked))).tolist():
            for each in {first, second} - tied.keys():
                tied[each] = TiedList.of(ranked.entry[bounds[each] : bounds[each + 1]])
            value = self._of_ties(ranked, first, second, tied[first], tied[second])
            values[first, second] = values[second, first] = value
        return values

    def _needs_ties(self, ranked: RankedLists) -> Flags:
        """Return for pairs of lists whether they have ties that the kernel does not treat."""
        if self.form == "ext" and self.ties == "w":
            return np.zeros((ranked.size, ranked.size), dtype=np.bool_)
        bounds = ranked.orders.bounds
        rank = np.arange(len(ranked.entry)) - np.repeat(bounds[:-1], ranked.lengths) + 1
        tied = np.flatnonzero(ranked.entry < rank)  # with the document above
        last = np.searchsorted(tied, bounds[1:]) - 1
        latest = np.append(tied, -1)[last] - bounds[:-1]  # negative without a tie in the list
        shorter = np.minimum.outer(ranked.lengths, ranked.lengths)
        reached = np.maximum.outer(latest, latest)
        return (shorter > 0) & (reached >= 0)

    @property
    def _depth(self) -> int:
        """Depth beyond which all weights together are negligible."""
        return math.ceil(math.log(NOTHING) / math.log(self.p))

    def _of_ties(self, ranked: RankedLists, first: int, second: int, one: TiedList, other: TiedList) -> float:
        """Return the similarity of two lists with ties."""
        places = ranked.orders.position[[first, second]]
        if len(one.first) > len(other.first):
            one, other, places = other, one, places[::-1]
        common = places[:, (places >= 0).all(axis=0)].astype(np.int64)
        found = tied_overlap(
            one, other, (common[0], common[1]), p=self.p, ties=self.ties, bounded=self.form != "ext"
        )
        return {"ext": found.ext, "min": found.low, "max": found.high, "res": found.high - found.low}[
            self.form
        ]

    def _untied(self, ranked: RankedLists) -> Floats:
        """Return similarities in which tied documents enter together (`form=ext`), or in the run's order."""
        size, lengths = ranked.size, ranked.lengths
        depth = int(lengths.max(initial=0))
        if self.p < 1:
            depth = min(depth, self._depth)
        first, second = (index.astype(np.int32) for index in np.triu_indices(size))
        entry = ranked.entry
        if self.form != "ext":  # in the order of the run
            entry = (np.arange(len(entry)) - np.repeat(ranked.orders.bounds[:-1], lengths) + 1).astype(
                np.int32
            )
        value, last = np.empty((2, len(first)))
        call_kernel(
            "biased_overlaps",
            ranked.orders.position.shape[1],
            *ranked.orders[:2],
            ranked.orders.position.ravel(),
            first,
            second,
            entry,
            (1 - self.p) * self.p ** np.arange(depth) if self.p < 1 else np.ones(depth),
            self.form == "ext",
            np.empty(size * (depth + 1), dtype=np.int32),
            np.empty(depth + 1, dtype=np.int32),
            value,
            last,
        )
        lower, upper = (
            np.minimum(lengths[first], lengths[second]),
            np.maximum(lengths[first], lengths[second]),
        )
        if self.p == 1:
            value /= np.maximum(upper, 1)
        elif self.form == "ext":
            value += last * self.p**upper
        elif self.form == "res":
            value = self._residual(last, lower, upper)
        else:  # with final overlap X at all depths the sum is -ln(1-p) (1-p)/p X; observed depths have less
            value -= (1 - self.p) / self.p * math.log1p(-self.p) * last
        if self.form == "max":
            value += self._residual(last, lower, upper)
        values = np.empty((size, size))
        values[first, second] = values[second, first] = np.where(upper == 0, np.nan, value)
        return values

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
