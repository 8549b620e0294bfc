"""Similarities of two ranked lists: overlap, Jaccard, Kendall, rank-biased overlap."""

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
    """The lists of one query: documents numbered over all systems, best first.

    `entry[s]` is the rank at which each document of list s comes in: the first rank of its group of equal
    scores.
    """

    orders: Orders
    entry: list[Codes]

    @property
    def size(self) -> int:
        """Give the number of systems."""
        return len(self.orders.bounds) - 1

    @property
    def lengths(self) -> Integers:
        """Give the length of every list."""
        return np.diff(self.orders.bounds)

    @classmethod
    def of(cls, lists: Sequence[Sequence[Any]], entry: Sequence[Sequence[int]] = ()) -> Ranked:
        """Make it from lists of anything; without `entry` nothing is tied.

        >>> Ranked.of([["a", "b"], ["b", "c"]]).orders.place
        array([[ 0,  1, -1],
               [-1,  0,  1]], dtype=int32)
        """
        numbers: dict[Any, int] = {}
        coded = [
            np.array([numbers.setdefault(name, len(numbers)) for name in one], dtype=np.int32)
            for one in lists
        ]
        ranks = [np.arange(1, len(one) + 1, dtype=np.int32) for one in coded]
        given = [np.array(one, dtype=np.int32) for one in entry]
        return cls(orders_of(coded, len(numbers)), given or ranks)


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
    """Give the lists of every query, one query after the other."""
    for query in range(queries):
        spans = [slice(*system.bounds[query].tolist()) for system in systems]
        lists = [system.document[span] for system, span in zip(systems, spans, strict=True)]
        entry = [system.entry[span] for system, span in zip(systems, spans, strict=True)]
        known, coded = np.unique(np.concatenate(lists), return_inverse=True)
        ends = np.cumsum([len(one) for one in lists])[:-1]
        yield Ranked(orders_of(np.split(coded.astype(np.int32), ends), len(known)), entry)


# They look at ranks (`Ranked`) and not at judgments, and are shown beside id.


class Similarity(Parametric):
    """A likeness of two lists of one query; larger is more alike."""

    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = 1.0

    def values(self, ranked: Ranked) -> Floats:
        """Give systems x systems; NaN where it is undefined."""
        raise NotImplementedError

    def of(self, first: Sequence[str], second: Sequence[str]) -> float:
        """Give the value of two lists of documents, best first."""
        return float(self.values(Ranked.of([first, second]))[0, 1])


def common(ranked: Ranked, cutoff: int | None) -> Floats:
    """Give systems x systems: how many documents two lists share at ranks up to the cutoff."""
    place = ranked.orders.place
    held = place >= 0 if cutoff is None else (place >= 0) & (place < cutoff)
    held = held.astype(np.float32)  # counts are exact up to 2**24
    shared: Floats = (held @ held.T).astype(np.float64)
    return shared


SIMILARITIES: Registry[Similarity] = Registry(sys.modules[__name__], Similarity, "competitor")


class Overlap(Similarity):
    """Share of the first k documents that two lists have in common; a short list is not filled up.

    >>> Overlap(cutoff=2).of(["a", "b", "c"], ["b", "c", "a"])
    0.5
    """

    title = "overlap of the first k documents"
    formula = "|A@k and B@k| / k"
    source = "customary"

    cutoff: int = needed_cutoff()

    def values(self, ranked: Ranked) -> Floats:
        """Give systems x systems."""
        return common(ranked, self.cutoff) / self.cutoff


class Jaccard(Similarity):
    """Share of the documents of two lists that both hold; undefined when both are empty.

    >>> Jaccard(cutoff=2).of(["a", "b", "c"], ["b", "c", "a"])  # b of a, b, c
    0.3333333333333333
    """

    title = "Jaccard's coefficient"
    formula = "|A and B| / |A or B|, of the first k documents or of all"
    source = "Jaccard 1912"

    cutoff: int | None = cutoff()

    def values(self, ranked: Ranked) -> Floats:
        """Give systems x systems."""
        both = common(ranked, self.cutoff)
        sizes = both.diagonal()
        either = sizes[:, None] + sizes - both
        shared: Floats = np.divide(both, either, out=np.full_like(both, np.nan), where=either > 0)
        return shared


class Kendall(Similarity):
    """Pairs of common documents in the same order less those in different order, over all such pairs.

    Both lists are in the order of a run (ties by document id), so no two documents are tied. Undefined with
    fewer than two common documents. O(n log n) per pair of lists.

    >>> Kendall().of(["a", "b", "c", "x"], ["b", "a", "c"])  # 2 of 3 pairs agree
    0.33333333333333326
    """

    title = "Kendall's tau of common documents"
    formula = "(agreeing - disagreeing) / all pairs of common documents"
    source = "Kendall 1938"
    low: ClassVar[float] = -1.0

    def values(self, ranked: Ranked) -> Floats:
        """Give systems x systems."""
        documents = ranked.orders.place.shape[1]
        ends = np.triu_indices(ranked.size)
        first, second = (one.astype(np.int32) for one in ends)
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


NOTHING = 1e-18  # of the weight of a depth: deeper ranks change no digit of a sum near 1


class RBO(Similarity):
    """Agreement averaged over depths, depth d weighing (1 - p) p^(d - 1); undefined for two empty lists.

    Agreement at depth d is 2 X_d / (|A:d| + |B:d|), X_d the number of documents in both beginnings A:d and
    B:d; documents of equal score all come in at the first rank of their group. `form=ext` takes the lists
    to go on as they ended: from the end of the shorter one its documents go on to be found in the longer at
    the rate of its last depth, and after the longer one agreement stays. `min` and `max` are the bounds
    over all ways to go on, for which ties are ordered as the run is.

    >>> RBO(p=0.5).of(["a", "b"], ["b", "a"])  # agreement 0 at depth 1, then 1
    0.5
    """

    title = "rank-biased overlap"
    formula = "(1 - p) sum of p^(d-1) A_d; beyond the lists extrapolated, or bounded"
    source = "Webber, Moffat and Zobel 2010, equations 11, 30 and 32, section 4.3 for ties"

    p: float = number(0.9, low=0.0, high=1.0, open_ends=True)
    form: str = choice("ext", "min", "max")

    def values(self, ranked: Ranked) -> Floats:
        """Give systems x systems."""
        size, lengths = ranked.size, ranked.lengths
        depth = min(int(lengths.max(initial=0)), math.ceil(math.log(NOTHING) / math.log(self.p)))
        entry = self._entries(ranked)
        held = _held(entry, depth)
        order, bounds = ranked.orders.order, ranked.orders.bounds
        found = np.full((size, size), np.nan)
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
            found[s, s:] = found[s:, s] = np.where(upper == 0, np.nan, value)
        return found

    def _entries(self, ranked: Ranked) -> Codes:
        """Give systems x documents: the rank at which each comes in, beyond any depth where it does not."""
        place = ranked.orders.place
        entry = np.where(place >= 0, place + 1, np.iinfo(np.int32).max).astype(np.int32)
        if self.form == "ext":
            owner = np.repeat(np.arange(ranked.size), ranked.lengths)
            entry[owner, ranked.orders.order] = np.concatenate([*ranked.entry, np.empty(0, np.int32)])
        return entry

    def _value(self, common: Floats, held: Floats, lower: Floats, upper: Floats) -> Floats:
        """Give the value of one list against many: X_d and |A:d| + |B:d| at every depth, and both lengths."""
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
        # All of depth 1 to infinity at the final overlap is -ln(1-p) (1-p)/p X; the depths seen have less.
        least = -(1 - self.p) / self.p * math.log1p(-self.p) * seen
        least += (np.minimum(common - seen[:, None], 0) * weight / d).sum(axis=1)
        if self.form == "min":
            return np.asarray(least)
        return np.asarray(least + self._residual(seen, lower, upper))

    def _residual(self, seen: Floats, lower: Floats, upper: Floats) -> Floats:
        """Give how far the largest possible value is above the least: equation 30."""
        p = self.p
        whole = (lower + upper - seen).astype(np.int64)  # the depth at which all could agree
        steps = np.arange(1, int(whole.max(initial=0)) + 1)
        sums = np.concatenate(([0.0], np.cumsum(p**steps / steps)))
        part = lower * (sums[whole] - sums[lower]) + upper * (sums[whole] - sums[upper])
        part += seen * (-math.log1p(-p) - sums[whole])
        residual: Floats = p**lower + p**upper - p**whole - (1 - p) / p * part
        return residual


def extrapolated(common: Floats, held: Floats, lower: Floats) -> Floats:
    """Give the agreement at every depth; beyond the shorter list documents are found at its last rate."""
    depth = common.shape[1]
    d = np.arange(1, depth + 1)
    rows = np.arange(len(lower))
    agreement = np.divide(2.0 * common, held, out=np.zeros(common.shape), where=held > 0)
    ends = np.clip(lower, 1, max(depth, 1)) - 1
    rate = np.where(lower > 0, agreement[rows, ends], 0.0) if depth else np.zeros(len(lower))
    unseen = np.maximum(d - lower[:, None], 0)
    return np.where(unseen > 0, (common + rate[:, None] * unseen) / d, agreement)


def _held(entry: Codes, depth: int) -> Floats:
    """Give systems x depths: how many documents have come in."""
    capped = np.minimum(entry, depth + 1)
    rows = np.arange(len(entry))[:, None] * (depth + 2)
    counts = np.bincount((rows + capped).ravel(), minlength=len(entry) * (depth + 2))
    held: Floats = counts.reshape(len(entry), depth + 2)[:, 1 : depth + 1].cumsum(axis=1)
    return held.astype(np.float64)
