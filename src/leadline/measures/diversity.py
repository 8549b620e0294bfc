"""Diversity and novelty: measures by subtopic, and of documents known to the user before the search."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.data.arrays import Codes, Flags, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.data.judgment_tables import Subtopics
from leadline.data.qrels import QrelsColumns
from leadline.data.registry import Aliases, cutoff, needed_cutoff, number
from leadline.data.run import MatchedLists
from leadline.errors import UsageError
from leadline.measures import Evidence, Measure, check_finite, ratio, up_to
from leadline.measures.cumulated_gain import dcg
from leadline.measures.user_models import sum_to_cutoff


class Covered(NamedTuple):
    """Pairs of a relevant document and a subtopic that it covers, ordered by query and rank.

    `nth` numbers the documents of a subtopic within the query from 1.
    """

    query: Codes
    rank: Codes | Integers
    code: Codes
    nth: Integers

    def first(self, cutoff: int | None) -> Covered:
        """Return the pairs at ranks up to the cutoff."""
        if cutoff is None:
            return self
        within = self.rank <= cutoff
        return Covered(self.query[within], self.rank[within], self.code[within], self.nth[within])

    def gain(self, alpha: float) -> Floats:
        """Return the gain of each pair, (1 - alpha) ** (nth - 1)."""
        return np.asarray(np.power(1.0 - alpha, self.nth - 1.0), dtype=np.float64)


class _Diversity(Measure):
    """Base class of the measures that need judgments by subtopic."""

    needs: ClassVar[Evidence] = "subtopics"

    def of_subtopics(self, documents: Sequence[Iterable[str]], others: Sequence[Iterable[str]] = ()) -> float:
        """Return the value of a single ranked list."""
        listed = enumerate([*documents, *others])
        grades = {(b"1", str(row).encode()): {name.encode(): 1.0 for name in names} for row, names in listed}
        rows = np.arange(len(documents), dtype=np.int32)
        bounds = np.array([0, len(documents)], dtype=np.int64)
        part = MatchedLists(np.zeros(1, np.int64), bounds, rows, -rows.astype(np.float64))
        return float(self.values(JudgedRun.of_lists(QrelsColumns.of_subtopics(grades), [part]))[0])

    def table(self, judged: JudgedRun) -> Subtopics:
        """Return the judgments by subtopic; raise UsageError if the qrels have none."""
        if judged.qrels.subtopics is None:
            raise UsageError(f"{self} needs judgments by subtopic. Use --config read.subtopics.")
        return judged.qrels.subtopics

    def covered(self, judged: JudgedRun, rel: float) -> Covered:
        """Return the retrieved documents that cover subtopics with grade `rel` or more."""
        table = self.table(judged)
        index, retrieved = table.of_rows(judged.row)
        good = table.grades[index] >= rel
        query, code = judged.query[retrieved[good]], table.code[index[good]]
        return Covered(query, judged.rank[retrieved[good]], code, _nth(query, code, table))

    def pairs(self, judged: JudgedRun, rel: float) -> tuple[Integers, Integers]:
        """Return the keys of all (query, subtopic) pairs with a relevant document, and their counts."""
        table = self.table(judged)
        good = table.grades >= rel
        keys = table.keys(judged.qrels.query[table.row[good]], table.code[good])
        unique_keys, count = np.unique(keys, return_counts=True)
        return unique_keys, count.astype(np.int64)

    def size(self, judged: JudgedRun, rel: float) -> Floats:
        """Return the number of subtopics with a relevant judged document, per query."""
        table = self.table(judged)
        return judged.total(table.queries_of(self.pairs(judged, rel)[0]))

    def ideal(self, judged: JudgedRun, rel: float, alpha: float) -> Covered:
        """Return the greedy ideal list: each rank takes the document with the largest gain."""
        table = self.table(judged)
        if (rel, alpha) not in table.ideals:
            table.ideals[rel, alpha] = _ideal(judged.qrels, table, rel, alpha)
        ideal: Covered = table.ideals[rel, alpha]
        return ideal


def _nth(query: Codes, code: Codes, table: Subtopics) -> Integers:
    """Return the number of each row within its query and subtopic, from 1."""
    keys = table.keys(query, code)
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    nth = np.empty(len(keys), dtype=np.int64)
    nth[order] = np.arange(1, len(keys) + 1) - np.searchsorted(sorted_keys, sorted_keys)
    return nth


def _ideal(qrels: QrelsColumns, table: Subtopics, rel: float, alpha: float) -> Covered:
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
    """Return the rank of each document; gains that differ by rounding only count as ties."""
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
    """Subtopic recall: fraction of the query's subtopics covered by the top k documents.

    Subtopics without a relevant document do not count. Needs `--config read.subtopics`. Undefined for queries
    without a relevant document.

    >>> StRecall(cutoff=2).of_subtopics(["a", "ab", "c", "d"])  # a and b of a, b, c, d
    0.5
    """

    title = "subtopic recall"
    formula = "subtopics covered by the documents at ranks 1..k / subtopics with a relevant document"
    source = "Zhai et al. 2003; ndeval strec; NTCIREVAL I-rec"
    aliases: ClassVar[Aliases] = {"strec": {}, "I-rec": {}, "subtopic_recall": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        covered = self.covered(judged, self.rel).first(self.cutoff)
        return ratio(judged.total(covered.query[covered.nth == 1]), self.size(judged, self.rel))


class P_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Intent-aware precision: mean over subtopics of the precision with respect to each.

    Divides by k even if the list is shorter; without a cutoff, by the length of the list.
    Subtopics without a relevant document do not count. Needs `--config read.subtopics`. Undefined for queries
    without a relevant document.

    >>> P_IA(cutoff=2).of_subtopics(["a", "ab", "b"])  # a: 2/2, b: 1/2
    0.75
    """

    title = "intent-aware precision"
    formula = "mean over subtopics of (documents at ranks 1..k relevant to the subtopic / k)"
    source = "Agrawal et al. 2009; ndeval"
    aliases: ClassVar[Aliases] = {"P-IA": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        covered = self.covered(judged, self.rel).first(self.cutoff)
        depth = judged.length.astype(np.float64) if self.cutoff is None else self.cutoff
        return ratio(judged.total(covered.query), self.size(judged, self.rel) * depth)


class AP_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Intent-aware average precision: mean over subtopics of the AP with respect to each.

    Subtopics without a relevant document do not count. Needs `--config read.subtopics`. Undefined for queries
    without a relevant document.

    >>> AP_IA().of_subtopics(["a", "ab", "b"])  # a: 1; b: (1/2 + 2/3) / 2
    0.7916666666666666
    """

    title = "intent-aware average precision"
    formula = "mean over subtopics of AP, counting only documents relevant to the subtopic as relevant"
    source = "Agrawal et al. 2009; ndeval MAP-IA"
    aliases: ClassVar[Aliases] = {"MAP_IA": {}, "MAP-IA": {}, "AP-IA": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        table = self.table(judged)
        covered = self.covered(judged, self.rel)
        keys, count = self.pairs(judged, self.rel)
        index = np.searchsorted(keys, table.keys(covered.query, covered.code))
        query = table.queries_of(keys)
        added = np.bincount(index, covered.nth / covered.rank, minlength=len(keys))
        value = ratio(judged.total(query, added / count), judged.total(query))
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


STOP = 0.5  # of users stop at a document of their subtopic


class ERR_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Intent-aware expected reciprocal rank, with stopping probability 1/2 at a relevant document.

    Normalized by the value of k documents that all cover every subtopic, as in ndeval. Needs
    `--config read.subtopics`. Undefined for queries without a relevant document.

    >>> ERR_IA(cutoff=2).of_subtopics(["ab", "a"])  # 2 + 0.5/2 of 2 + 1/2
    0.9
    """

    title = "intent-aware expected reciprocal rank"
    formula = "sum over ranks r <= k and subtopics covered at r of 2^-(earlier documents of the subtopic) / r"
    formula += ", / the same sum if all k documents covered all subtopics"
    source = "Chapelle et al. 2009; ndeval"
    aliases: ClassVar[Aliases] = {"ERR-IA": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        covered = self.covered(judged, self.rel).first(self.cutoff)
        best = sum_to_cutoff(self.cutoff, lambda rank: np.power(1 - STOP, rank - 1) / rank)
        value = ratio(by_rank(judged, covered), self.size(judged, self.rel) * best)
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


def by_rank(judged: JudgedRun, covered: Covered) -> Floats:
    """Return the sum per query of the gains divided by the rank."""
    return judged.total(covered.query, covered.gain(STOP) / covered.rank)


class nERR_IA(_Diversity):  # noqa: N801  # the field's spelling
    """Intent-aware expected reciprocal rank divided by that of the greedy ideal list.

    The greedy list, as in ndeval, is not always optimal: values above 1 are possible. Needs
    `--config read.subtopics`. Undefined for queries without a relevant document.

    >>> nERR_IA(cutoff=2).of_subtopics(["ab", "a", "c"])  # 2 + 0.5/2 of 2 + 1/2
    0.9
    """

    title = "normalized intent-aware expected reciprocal rank"
    formula = "sum over ranks r <= k and subtopics covered at r of 2^-(earlier documents of the subtopic) / r"
    formula += ", / the same sum for the greedy ideal list"
    source = "Chapelle et al. 2009; ndeval"
    high: ClassVar[float] = math.inf
    aliases: ClassVar[Aliases] = {"nERR-IA": {}}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        ideal = self.ideal(judged, self.rel, STOP).first(self.cutoff)
        covered = self.covered(judged, self.rel).first(self.cutoff)
        return ratio(by_rank(judged, covered), by_rank(judged, ideal))


class alpha_DCG(_Diversity):  # noqa: N801  # the field's spelling
    """Novelty-biased DCG: a document gains for each subtopic, less for repeated subtopics.

    Each earlier document of a subtopic multiplies the gain by 1 - alpha. Normalized by the value of
    k documents that all cover every subtopic, as in ndeval. Needs `--config read.subtopics`. Undefined for
    queries without a relevant document.

    >>> round(alpha_DCG(cutoff=2).of_subtopics(["ab", "a"]), 4)  # 2 + 0.5/1.585 of 2 + 1/1.585
    0.8801
    """

    title = "alpha-DCG"
    formula = "sum over ranks r <= k and subtopics covered at r of (1 - alpha)^(earlier documents of the "
    formula += "subtopic) / log2(r + 1), / the same sum if all k documents covered all subtopics"
    source = "Clarke et al. 2008; ndeval"
    aliases: ClassVar[Aliases] = {"alpha-DCG": {}, "α_DCG": {}}  # noqa: RUF001

    alpha: float = number(0.5, low=0.0, high=1.0)
    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        covered = self.covered(judged, self.rel).first(self.cutoff)
        best = sum_to_cutoff(self.cutoff, lambda r: np.power(1 - self.alpha, r - 1) / np.log2(r + 1))
        value = ratio(discounted(judged, covered, self.alpha), self.size(judged, self.rel) * best)
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


def discounted(judged: JudgedRun, covered: Covered, alpha: float) -> Floats:
    """Return the sum per query of the novelty gains divided by log2(rank + 1)."""
    return judged.total(covered.query, covered.gain(alpha) / np.log2(covered.rank + 1.0))


class alpha_nDCG(_Diversity):  # noqa: N801  # the field's spelling
    """Novelty-biased DCG divided by that of the greedy ideal list.

    Each earlier document of a subtopic multiplies the gain by 1 - alpha. The greedy list, as in
    ndeval, is not always optimal: values above 1 are possible. Needs `--config read.subtopics`. Undefined for
    queries without a relevant document.

    >>> round(alpha_nDCG(cutoff=2).of_subtopics(["ab", "a", "c"]), 4)  # 2 + 0.5/1.585 of 2 + 1/1.585
    0.8801
    """

    title = "alpha-nDCG"
    formula = "DCG@k / DCG@k of the greedy ideal list, DCG = sum over ranks r <= k and subtopics covered at "
    formula += "r of (1 - alpha)^(earlier documents of the subtopic) / log2(r + 1)"
    source = "Clarke et al. 2008; ndeval"
    high: ClassVar[float] = math.inf
    aliases: ClassVar[Aliases] = {"alpha-nDCG": {}, "α_nDCG": {}}  # noqa: RUF001

    alpha: float = number(0.5, low=0.0, high=1.0)
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        covered = self.covered(judged, self.rel).first(self.cutoff)
        ideal = self.ideal(judged, self.rel, self.alpha).first(self.cutoff)
        return ratio(discounted(judged, covered, self.alpha), discounted(judged, ideal, self.alpha))


class NRBP(_Diversity):
    """Novelty- and rank-biased precision: RBP with a gain for each subtopic, less for repeated ones.

    Each earlier document of a subtopic multiplies the gain by 1 - alpha; the user continues with
    probability beta. An infinite list of documents that cover every subtopic has the value 1. Needs
    `--config read.subtopics`. Undefined for queries without a relevant document.

    >>> NRBP().of_subtopics(["ab", "a"])  # (1 - 0.25) / 2 * (2 + 0.5 * 0.5)
    0.84375
    """

    title = "novelty- and rank-biased precision"
    formula = "(1 - (1 - alpha) * beta) / subtopics * sum over ranks r and subtopics covered at r of "
    formula += "(1 - alpha)^(earlier documents of the subtopic) * beta^(r - 1)"
    source = "Clarke et al. 2009; ndeval"

    alpha: float = number(0.5, low=0.0, high=1.0)
    beta: float = number(0.5, low=0.0, high=1.0, open_ends=True)
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        total = persistence_weighted(judged, self.covered(judged, self.rel), self.alpha, self.beta)
        value = ratio(total * (1 - (1 - self.alpha) * self.beta), self.size(judged, self.rel))
        return np.asarray(np.minimum(value, 1.0), dtype=np.float64)  # above 1 by rounding only


def persistence_weighted(judged: JudgedRun, covered: Covered, alpha: float, beta: float) -> Floats:
    """Return the sum per query of the novelty gains times beta ** (rank - 1)."""
    return judged.total(covered.query, covered.gain(alpha) * np.power(beta, covered.rank - 1.0))


class nNRBP(_Diversity):  # noqa: N801  # the field's spelling
    """Novelty- and rank-biased precision divided by that of the greedy ideal list.

    The greedy list, as in ndeval, is not always optimal: values above 1 are possible. Needs
    `--config read.subtopics`. Undefined for queries without a relevant document.

    >>> nNRBP().of_subtopics(["ab", "a", "c"])  # 2 + 0.25 + 0.25 of 2 + 0.5 + 0.125
    0.9523809523809523
    """

    title = "normalized novelty- and rank-biased precision"
    formula = "NRBP / NRBP of the greedy ideal list"
    source = "Clarke et al. 2009; ndeval"
    high: ClassVar[float] = math.inf

    alpha: float = number(0.5, low=0.0, high=1.0)
    beta: float = number(0.5, low=0.0, high=1.0, open_ends=True)
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        ideal = self.ideal(judged, self.rel, self.alpha)
        covered = self.covered(judged, self.rel)
        return ratio(
            persistence_weighted(judged, covered, self.alpha, self.beta),
            persistence_weighted(judged, ideal, self.alpha, self.beta),
        )


class D_nDCG(_Diversity):  # noqa: N801  # the field's spelling
    """nDCG whose gain is the mean of the document's grades over the subtopics (global gain).

    All subtopics have equal probability; negative grades count as 0. Needs `--config read.subtopics`.
    Undefined for queries without a document of positive gain.

    >>> round(D_nDCG(cutoff=2).of_subtopics(["a", "ab", "b"]), 4)  # 1 + 2/1.585 of 2 + 1/1.585
    0.8597
    """

    title = "D-nDCG"
    formula = "DCG@k / DCG@k of the documents ordered by gain, gain = sum of the grades over subtopics"
    source = "Sakai and Song 2011; NTCIREVAL"
    aliases: ClassVar[Aliases] = {"D-nDCG": {}}

    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        return ratio(*global_gains(self, judged, self.cutoff))


def global_gains(measure: _Diversity, judged: JudgedRun, cutoff: int | None) -> tuple[Floats, Floats]:
    """Return the DCG of the list and of the ideal list, computed from global gains."""
    table, qrels = measure.table(judged), judged.qrels
    with np.errstate(over="ignore"):
        gain: Floats = np.bincount(
            table.row, np.maximum(table.grades, 0.0), minlength=len(qrels.grades)
        ).astype(np.float64)
    rows = np.lexsort((-gain, qrels.query))
    query = qrels.query[rows]
    ranks = np.arange(1, len(rows) + 1) - np.searchsorted(query, query)
    return (
        check_finite(measure, dcg(judged, *up_to(cutoff, judged.query, judged.rank, gain[judged.row]))),
        check_finite(measure, dcg(judged, *up_to(cutoff, query, ranks, gain[rows]))),
    )


class Dsharp_nDCG(_Diversity):  # noqa: N801  # the field's spelling, but for the sign
    """Weighted mean of subtopic recall (I-rec, weight gamma) and D-nDCG (weight 1 - gamma).

    All subtopics have equal probability. For I-rec a document covers a subtopic with grade `rel` or
    more. Needs `--config read.subtopics`. Undefined where either of the two is.

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
        covered = self.covered(judged, self.rel).first(self.cutoff)
        recall = ratio(judged.total(covered.query[covered.nth == 1]), self.size(judged, self.rel))
        gain = ratio(*global_gains(self, judged, self.cutoff))
        return np.asarray(self.gamma * recall + (1 - self.gamma) * gain, dtype=np.float64)


class Coverage(Measure):
    """Coverage ratio: fraction of the relevant documents known to the user that were retrieved.

    Needs the known documents (`--config read.known=FILE`). Undefined if the user knew no relevant document.
    """

    title = "coverage ratio"
    formula = "relevant known documents at ranks 1..k / relevant known documents"
    source = "Korfhage 1997; Baeza-Yates and Ribeiro-Neto 1999, section 3.2"
    needs: ClassVar[Evidence] = "known"

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        known = known_rows(judged, self)
        known_relevant = known & (judged.qrels.grades >= self.rel)
        chosen = known_relevant[judged.row]
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
        total = judged.qrels.count(known_relevant).astype(np.float64)
        return ratio(judged.total(judged.query[chosen]), total)


def known_rows(judged: JudgedRun, measure: Measure) -> Flags:
    """Return flags of the judged documents known to the user; raise UsageError if none were read."""
    if judged.qrels.known is None:
        raise UsageError(f"{measure} needs the documents that the user knew. Use --config read.known=FILE.")
    return judged.qrels.known


class Novelty(Measure):
    """Novelty ratio: fraction of the relevant documents retrieved that the user did not know.

    Needs the known documents (`--config read.known=FILE`). Undefined if no relevant document was retrieved.
    """

    title = "novelty ratio"
    formula = "relevant unknown documents at ranks 1..k / relevant documents at ranks 1..k"
    source = "Korfhage 1997; Baeza-Yates and Ribeiro-Neto 1999, section 3.2"
    needs: ClassVar[Evidence] = "known"

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        unknown = ~known_rows(judged, self)[judged.row]
        chosen = judged.grade >= self.rel
        if self.cutoff is not None:
            chosen &= judged.rank <= self.cutoff
        return ratio(judged.total(judged.query[chosen & unknown]), judged.total(judged.query[chosen]))
