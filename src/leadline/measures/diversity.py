"""Measures of the subtopics that a list covers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Integers
from leadline.data.judged_run import JudgedRun, Lists
from leadline.data.qrels import Qrels
from leadline.data.registry import Aliases, cutoff, needed_cutoff, number
from leadline.data.subtopics import Subtopics
from leadline.errors import UsageError
from leadline.measures import Evidence, Measure, finite, over
from leadline.measures.user_models import added_to


class Covered(NamedTuple):
    """Relevant documents, once for each subtopic that they cover, in order of query and rank.

    `nth` counts the documents of a subtopic within the query from 1.
    """

    query: Codes
    rank: Codes | Integers
    code: Codes
    nth: Integers

    def first(self, cutoff: int | None) -> Covered:
        """Give those at ranks up to the cutoff."""
        if cutoff is None:
            return self
        kept = self.rank <= cutoff
        return Covered(self.query[kept], self.rank[kept], self.code[kept], self.nth[kept])

    def gain(self, alpha: float) -> Floats:
        """Give what each adds: less by a share alpha for each earlier one of its subtopic."""
        return np.asarray(np.power(1.0 - alpha, self.nth - 1.0), dtype=np.float64)


class _Diversity(Measure):
    """A measure of how many subtopics of a query a list covers, and how soon."""

    needs: ClassVar[Evidence] = "subtopics"

    def of_subtopics(self, documents: Sequence[Iterable[str]], others: Sequence[Iterable[str]] = ()) -> float:
        """Give the value of one list from the subtopics that each document covers.

        `others` are the subtopics of judged documents that the list lacks.
        """
        listed = enumerate([*documents, *others])
        found = {(b"1", str(row).encode()): {name.encode(): 1.0 for name in names} for row, names in listed}
        rows = np.arange(len(documents), dtype=np.int32)
        bounds = np.array([0, len(documents)], dtype=np.int64)
        part = Lists(np.zeros(1, np.int64), bounds, rows, -rows.astype(np.float64))
        return float(self.values(JudgedRun.of_lists(Qrels.of_subtopics(found), [part]))[0])

    def table(self, judged: JudgedRun) -> Subtopics:
        """Give the judgments by subtopic; an error when the qrels were read without."""
        if judged.qrels.subtopics is None:
            raise UsageError(f"{self} needs judgments by subtopic: --subtopics")
        return judged.qrels.subtopics

    def covered(self, judged: JudgedRun, rel: float) -> Covered:
        """Give the retrieved documents that cover subtopics with grade `rel` or more."""
        table = self.table(judged)
        place, owner = table.of_rows(judged.row)
        good = table.grades[place] >= rel
        query, code = judged.query[owner[good]], table.code[place[good]]
        return Covered(query, judged.rank[owner[good]], code, _nth(query, code, table))

    def pairs(self, judged: JudgedRun, rel: float) -> tuple[Integers, Integers]:
        """Give every query and subtopic that can be covered, as one number, and by how many."""
        table = self.table(judged)
        good = table.grades >= rel
        keys = table.keys(judged.qrels.query[table.row[good]], table.code[good])
        found, count = np.unique(keys, return_counts=True)
        return found, count.astype(np.int64)

    def size(self, judged: JudgedRun, rel: float) -> Floats:
        """Count, per query, the subtopics that some judged document covers."""
        table = self.table(judged)
        return judged.total(table.queries_of(self.pairs(judged, rel)[0]))

    def ideal(self, judged: JudgedRun, rel: float, alpha: float) -> Covered:
        """Give the ideal list, greedily: each rank takes the document that adds most.

        Among equals the largest id goes first, as in ndeval. It is made once for all runs.
        """
        table = self.table(judged)
        if (rel, alpha) not in table.ideals:
            table.ideals[rel, alpha] = _ideal(judged.qrels, table, rel, alpha)
        found: Covered = table.ideals[rel, alpha]
        return found


def _nth(query: Codes, code: Codes, table: Subtopics) -> Integers:
    """Count the rows of each query and subtopic from 1, in their order."""
    keys = table.keys(query, code)
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    nth = np.empty(len(keys), dtype=np.int64)
    nth[order] = np.arange(1, len(keys) + 1) - np.searchsorted(sorted_keys, sorted_keys)
    return nth


def _ideal(qrels: Qrels, table: Subtopics, rel: float, alpha: float) -> Covered:
    good = np.flatnonzero(table.grades >= rel)
    row, code = table.row[good], table.code[good]
    ranks = np.zeros(len(qrels.grades), dtype=np.int64)
    for begin, end in zip(qrels.begin.tolist(), qrels.end.tolist(), strict=True):
        part = slice(*np.searchsorted(row, [begin, end]))
        rows, document = np.unique(row[part], return_inverse=True)
        names, subtopic = np.unique(code[part], return_inverse=True)
        covers = np.zeros((len(rows), len(names)), dtype=np.bool_)
        covers[document, subtopic] = True
        by_id = sorted(range(len(rows)), key=lambda at: qrels.documents[int(rows[at])], reverse=True)
        ranks[rows[by_id]] = _greedy(covers[by_id], alpha)
    query, rank = qrels.query[row], ranks[row]
    order = np.lexsort((code, rank, query))
    query, code = query[order], code[order]
    return Covered(query, rank[order], code, _nth(query, code, table))


def _greedy(covers: Flags, alpha: float) -> Integers:
    """Give each document its rank; sums of gains that differ by rounding only are equal."""
    left = np.ones(covers.shape[1])
    waiting = np.ones(len(covers), dtype=np.bool_)
    ranks = np.empty(len(covers), dtype=np.int64)
    for rank in range(1, len(covers) + 1):
        adds = np.where(waiting, np.round(covers @ left, 12), -1.0)
        best = int(np.argmax(adds))
        ranks[best] = rank
        waiting[best] = False
        left[covers[best]] *= 1.0 - alpha
    return ranks


class StRecall(_Diversity):
    """Share of the subtopics of the query that the first k documents cover.

    A subtopic that no judged document covers does not count. Needs `--subtopics`. Undefined when
    no document is relevant to a subtopic.

    >>> StRecall(cutoff=2).of_subtopics(["a", "ab", "c", "d"])  # a and b of a, b, c, d
    0.5
    """

    title = "subtopic recall"
    formula = "subtopics of the documents at ranks 1..k / subtopics of the judged documents"
    source = "Zhai et al. 2003; ndeval strec; NTCIREVAL I-rec"
    aliases: ClassVar[Aliases] = {"strec": {}, "I-rec": {}, "subtopic_recall": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        return over(judged.total(found.query[found.nth == 1]), self.size(judged, self.rel))


class P_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Precision for each subtopic alone, averaged over the subtopics of the query.

    Divides by k even when the list is shorter; without a cutoff, by the length of the list. A
    subtopic that no judged document covers does not count. Needs `--subtopics`. Undefined when no
    document is relevant to a subtopic.

    >>> P_IA(cutoff=2).of_subtopics(["a", "ab", "b"])  # a: 2/2, b: 1/2
    0.75
    """

    title = "intent-aware precision"
    formula = "mean over subtopics of the documents of the subtopic at ranks 1..k, / k"
    source = "Agrawal et al. 2009; ndeval"
    aliases: ClassVar[Aliases] = {"P-IA": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        depth = judged.length.astype(np.float64) if self.cutoff is None else self.cutoff
        return over(judged.total(found.query), self.size(judged, self.rel) * depth)


class AP_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Average precision for each subtopic alone, averaged over the subtopics of the query.

    A subtopic that no judged document covers does not count. Needs `--subtopics`. Undefined when
    no document is relevant to a subtopic.

    >>> AP_IA().of_subtopics(["a", "ab", "b"])  # a: 1; b: (1/2 + 2/3) / 2
    0.7916666666666666
    """

    title = "intent-aware average precision"
    formula = "mean over subtopics of AP with the documents of the subtopic as the relevant ones"
    source = "Agrawal et al. 2009; ndeval MAP-IA"
    aliases: ClassVar[Aliases] = {"MAP_IA": {}, "MAP-IA": {}, "AP-IA": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        table = self.table(judged)
        found = self.covered(judged, self.rel)
        keys, count = self.pairs(judged, self.rel)
        place = np.searchsorted(keys, table.keys(found.query, found.code))
        query = table.queries_of(keys)
        added = np.bincount(place, found.nth / found.rank, minlength=len(keys))
        value = over(judged.total(query, added / count), judged.total(query))
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


STOP = 0.5  # of users stop at a document of their subtopic


class ERR_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Expected reciprocal rank, averaged over subtopics; half the users stop at a relevant document.

    Divided by what k documents would have that all cover every subtopic. Needs `--subtopics`.
    Undefined when no document is relevant to a subtopic.

    >>> ERR_IA(cutoff=2).of_subtopics(["ab", "a"])  # 2 + 0.5/2 of 2 + 1/2
    0.9
    """

    title = "intent-aware expected reciprocal rank"
    formula = "sum over ranks r <= k and subtopics of r of 2^-(earlier documents of the subtopic) / r, "
    formula += "/ the same if all k documents cover all subtopics"
    source = "Chapelle et al. 2009; ndeval"
    aliases: ClassVar[Aliases] = {"ERR-IA": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        best = added_to(self.cutoff, lambda rank: np.power(1 - STOP, rank - 1) / rank)
        value = over(by_rank(judged, found), self.size(judged, self.rel) * best)
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


def by_rank(judged: JudgedRun, found: Covered) -> Floats:
    """Add up, per query, the gains that are left, divided by the rank."""
    return judged.total(found.query, found.gain(STOP) / found.rank)


class nERR_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Intent-aware expected reciprocal rank divided by that of an ideal list of the judged documents.

    The ideal list is made greedily, as ndeval does; a list may beat it and pass 1. Needs
    `--subtopics`. Undefined when no document is relevant to a subtopic.

    >>> nERR_IA(cutoff=2).of_subtopics(["ab", "a", "c"])  # 2 + 0.5/2 of 2 + 1/2
    0.9
    """

    title = "normalised intent-aware expected reciprocal rank"
    formula = "sum over ranks r <= k and subtopics of r of 2^-(earlier documents of the subtopic) / r, "
    formula += "/ that of the greedy ideal"
    source = "Chapelle et al. 2009; ndeval"
    high: ClassVar[float] = math.inf
    aliases: ClassVar[Aliases] = {"nERR-IA": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        ideal = self.ideal(judged, self.rel, STOP).first(self.cutoff)
        found = self.covered(judged, self.rel).first(self.cutoff)
        return over(by_rank(judged, found), by_rank(judged, ideal))


class alpha_DCG(_Diversity):  # noqa: N801  # the field's spelling
    """DCG in which a document gains for each subtopic, the less the more came before it.

    Each earlier document of a subtopic takes the share alpha off its gain. Divided by what k
    documents would have that all cover every subtopic. Needs `--subtopics`. Undefined when no
    document is relevant to a subtopic.

    >>> round(alpha_DCG(cutoff=2).of_subtopics(["ab", "a"]), 4)  # 2 + 0.5/1.585 of 2 + 1/1.585
    0.8801
    """

    title = "alpha-DCG"
    formula = "sum over ranks r <= k and subtopics of r of (1 - alpha)^(earlier documents of the "
    formula += "subtopic) / log2(r + 1), / the same if all k documents cover all subtopics"
    source = "Clarke et al. 2008; ndeval"
    aliases: ClassVar[Aliases] = {"alpha-DCG": {}, "α_DCG": {}}  # noqa: RUF001

    alpha: float = number(0.5, low=0.0, high=1.0)
    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        best = added_to(self.cutoff, lambda r: np.power(1 - self.alpha, r - 1) / np.log2(r + 1))
        value = over(discounted(judged, found, self.alpha), self.size(judged, self.rel) * best)
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


def discounted(judged: JudgedRun, found: Covered, alpha: float) -> Floats:
    """Add up, per query, the gains that novelty leaves, by the logarithm of the rank."""
    return judged.total(found.query, found.gain(alpha) / np.log2(found.rank + 1.0))


class alpha_nDCG(_Diversity):  # noqa: N801  # the field's spelling
    """DCG that values novelty, divided by that of an ideal list of the judged documents.

    Each earlier document of a subtopic takes the share alpha off its gain. The ideal list is made
    greedily, as ndeval does; a list may beat it and pass 1. Needs `--subtopics`. Undefined when no
    document is relevant to a subtopic.

    >>> round(alpha_nDCG(cutoff=2).of_subtopics(["ab", "a", "c"]), 4)  # 2 + 0.5/1.585 of 2 + 1/1.585
    0.8801
    """

    title = "alpha-nDCG"
    formula = "DCG@k / DCG@k of the greedy ideal, DCG = sum over ranks r <= k and subtopics of r of "
    formula += "(1 - alpha)^(earlier documents of the subtopic) / log2(r + 1)"
    source = "Clarke et al. 2008; ndeval"
    high: ClassVar[float] = math.inf
    aliases: ClassVar[Aliases] = {"alpha-nDCG": {}, "α_nDCG": {}}  # noqa: RUF001

    alpha: float = number(0.5, low=0.0, high=1.0)
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        ideal = self.ideal(judged, self.rel, self.alpha).first(self.cutoff)
        return over(discounted(judged, found, self.alpha), discounted(judged, ideal, self.alpha))


class NRBP(_Diversity):
    """Rank-biased precision in which a document gains for each subtopic, the less the more before it.

    Each earlier document of a subtopic takes the share alpha off its gain; the user goes on with
    probability beta. A list without end that always covers every subtopic has 1. Needs
    `--subtopics`. Undefined when no document is relevant to a subtopic.

    >>> NRBP().of_subtopics(["ab", "a"])  # (1 - 0.25) / 2 * (2 + 0.5 * 0.5)
    0.84375
    """

    title = "novelty- and rank-biased precision"
    formula = "(1 - (1 - alpha) * beta) / subtopics * sum over ranks r and subtopics of r of "
    formula += "(1 - alpha)^(earlier documents of the subtopic) * beta^(r - 1)"
    source = "Clarke et al. 2009; ndeval"

    alpha: float = number(0.5, low=0.0, high=1.0)
    beta: float = number(0.5, low=0.0, high=1.0, open_ends=True)
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        found = patient(judged, self.covered(judged, self.rel), self.alpha, self.beta)
        value = over(found * (1 - (1 - self.alpha) * self.beta), self.size(judged, self.rel))
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


def patient(judged: JudgedRun, found: Covered, alpha: float, beta: float) -> Floats:
    """Add up, per query, the gains that novelty leaves, by the patience to reach the rank."""
    return judged.total(found.query, found.gain(alpha) * np.power(beta, found.rank - 1.0))


class nNRBP(_Diversity):  # noqa: N801  # the field's spelling
    """Novelty- and rank-biased precision divided by that of an ideal list of the judged documents.

    The ideal list is made greedily, as ndeval does; a list may beat it and pass 1. Needs
    `--subtopics`. Undefined when no document is relevant to a subtopic.

    >>> nNRBP().of_subtopics(["ab", "a", "c"])  # 2 + 0.25 + 0.25 of 2 + 0.5 + 0.125
    0.9523809523809523
    """

    title = "normalised novelty- and rank-biased precision"
    formula = "NRBP / NRBP of the greedy ideal"
    source = "Clarke et al. 2009; ndeval"
    high: ClassVar[float] = math.inf

    alpha: float = number(0.5, low=0.0, high=1.0)
    beta: float = number(0.5, low=0.0, high=1.0, open_ends=True)
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        ideal = self.ideal(judged, self.rel, self.alpha)
        found = self.covered(judged, self.rel)
        return over(
            patient(judged, found, self.alpha, self.beta), patient(judged, ideal, self.alpha, self.beta)
        )


class D_nDCG(_Diversity):  # noqa: N801  # the field's spelling
    """nDCG in which the gain of a document is the mean of its grades over the subtopics.

    All subtopics weigh the same; negative grades give 0. The ideal list is ordered by that gain.
    Needs `--subtopics`. Undefined when no document has a gain.

    >>> round(D_nDCG(cutoff=2).of_subtopics(["a", "ab", "b"]), 4)  # 1 + 2/1.585 of 2 + 1/1.585
    0.8597
    """

    title = "D-nDCG"
    formula = "DCG@k / DCG@k of the documents ordered by gain, gain = sum of the grades over subtopics"
    source = "Sakai and Song 2011; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"D-nDCG": {}}

    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        return over(*global_gains(self, judged, self.cutoff))


def global_gains(measure: _Diversity, judged: JudgedRun, cutoff: int | None) -> tuple[Floats, Floats]:
    """Give the DCG of the list and of the ideal list, from the grades over all subtopics."""
    table, qrels = measure.table(judged), judged.qrels
    with np.errstate(over="ignore"):
        gain: Floats = np.bincount(
            table.row, np.maximum(table.grades, 0.0), minlength=len(qrels.grades)
        ).astype(np.float64)
    rows = np.lexsort((-gain, qrels.query))
    query = qrels.query[rows]
    ranks = np.arange(1, len(rows) + 1) - np.searchsorted(query, query)
    return (
        finite(measure, _added(judged, judged.query, judged.rank, gain[judged.row], cutoff)),
        finite(measure, _added(judged, query, ranks, gain[rows], cutoff)),
    )


def _added(
    judged: JudgedRun, query: Codes, rank: Codes | Integers, gain: Floats, cutoff: int | None
) -> Floats:
    kept = gain > 0
    if cutoff is not None:
        kept &= rank <= cutoff
    return judged.total(query[kept], gain[kept] / np.log2(rank[kept] + 1.0))


class Dsharp_nDCG(_Diversity):  # noqa: N801  # the field's spelling, but for the sign
    """Mean of subtopic recall (I-rec), which weighs gamma, and D-nDCG.

    All subtopics weigh the same. For I-rec a document covers a subtopic with grade `rel` or more.
    Needs `--subtopics`. Undefined where one of the two is.

    >>> round(Dsharp_nDCG(cutoff=2).of_subtopics(["a", "ab", "c"]), 4)  # 2/3 and 0.8597
    0.7632
    """

    title = "D#-nDCG"
    formula = "gamma * StRecall@k + (1 - gamma) * D_nDCG@k"
    source = "Sakai and Song 2011; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"D#-nDCG": {}, "Dsharp-nDCG": {}}

    gamma: float = number(0.5, low=0.0, high=1.0)
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        found = self.covered(judged, self.rel).first(self.cutoff)
        recall = over(judged.total(found.query[found.nth == 1]), self.size(judged, self.rel))
        gain = over(*global_gains(self, judged, self.cutoff))
        return np.asarray(self.gamma * recall + (1 - self.gamma) * gain, dtype=np.float64)
