"""Precision, recall, and what is computed from them: F, E, R-precision, success, utility."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.registry import (
    Aliases,
    DefaultCutoffs,
    Parameter,
    choice,
    cutoff,
    needed_cutoff,
    number,
    whole,
)
from leadline.measures import CUTOFFS, Measure, found, over, relevant


class P(Measure):
    """Share of the first k documents that are relevant; without a cutoff, of the whole list.

    Divides by k even when the list is shorter. Without a cutoff, an empty list is undefined.

    >>> P(cutoff=4).of([1, 1, 0, 1, 0, 1])
    0.75
    """

    title = "precision"
    formula = "relevant documents at ranks 1..k / k; without k: / length of the list"
    source = "lecture, 'Precision and Recall'; trec_eval P"
    aliases: ClassVar[Aliases] = {"precision": {}, "set_P": {}, "SetP": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"set_p": (), "setp": ()}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        count = found(judged, judged.hits(self.rel), self.cutoff)
        return over(count, judged.length.astype(np.float64) if self.cutoff is None else self.cutoff)


class R(Measure):
    """Share of the relevant documents that are among the first k; without a cutoff, in the list.

    >>> R(cutoff=4).of([1, 1, 0, 1, 0, 1], judged=[1, 1, 1, 1, 1, 1, 0, 0])
    0.5
    """

    title = "recall"
    formula = "relevant documents at ranks 1..k / R"
    source = "lecture, 'Precision and Recall'; trec_eval recall"
    aliases: ClassVar[Aliases] = {"recall": {}, "set_recall": {}, "SetR": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"recall": CUTOFFS, "set_recall": (), "setr": ()}

    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        return over(found(judged, judged.hits(self.rel), self.cutoff), relevant(judged, self.rel))


class Rprec(Measure):
    """Precision at rank R, where R is the number of relevant documents of the query.

    >>> round(Rprec().of([1, 1, 0, 1, 0, 1], judged=[1] * 6 + [0, 0]), 4)
    0.6667
    """

    title = "R-precision"
    formula = "relevant documents at ranks 1..R / R"
    source = "lecture, 'R-Precision'; trec_eval Rprec"
    aliases: ClassVar[Aliases] = {"r-precision": {}, "r_precision": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        size = relevant(judged, self.rel)
        return over(judged.total(hits.query[hits.rank <= size[hits.query]]), size)


MULTIPLES = tuple(fifth / 5 for fifth in range(1, 11))


class RprecMult(Measure):
    """Precision at rank m R, where R is the number of relevant documents of the query.

    The rank is int(m R + 0.9), as trec_eval counts; where that is 0 the value is undefined.

    >>> RprecMult(multiple=0.5).of([1, 0, 1], judged=[1, 1, 1, 1, 0])
    0.5
    """

    title = "precision at a multiple of R"
    formula = "relevant documents at ranks 1..c / c, c = int(m R + 0.9)"
    source = "trec_eval Rprec_mult"
    aliases: ClassVar[Aliases] = {"Rprec_mult": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"rprec_mult": MULTIPLES}

    rel: float = number(1.0, low=0.0)
    multiple: float = Parameter(..., kind=float, low=0.0, high=1e6, at=True)  # type: ignore[assignment]

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        hits = judged.hits(self.rel)
        cutoff = np.floor(self.multiple * judged.qrels.relevant(self.rel) + 0.9)
        return over(judged.total(hits.query[hits.rank <= cutoff[hits.query]]), cutoff)


class RelP(Measure):
    """Precision at k divided by the best that any list could have there.

    It is precision while k is below R, and recall from there on. BEIR calls it capped recall, R_cap@k.

    >>> RelP(cutoff=4).of([1, 0, 0, 1], judged=[1, 1, 0, 0])
    1.0
    """

    title = "relative precision"
    formula = "relevant documents at ranks 1..k / min(k, R)"
    source = "trec_eval relative_P; Thakur et al. 2021 (BEIR), R_cap"
    aliases: ClassVar[Aliases] = {"relative_P": {}, "R_cap": {}, "recall_cap": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"relative_p": CUTOFFS}

    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        count = found(judged, judged.hits(self.rel), self.cutoff)
        return over(count, np.minimum(relevant(judged, self.rel), self.cutoff))


class SetRelP(Measure):
    """Precision of the whole list divided by the best that a list of its length could have.

    >>> SetRelP().of([1, 0, 1, 0], judged=[1, 1, 1, 0, 0])  # 2 of at most 3
    0.6666666666666666
    """

    title = "relative precision of the set"
    formula = "r / min(n, R), with r relevant among n retrieved"
    source = "trec_eval set_relative_P; ir_measures SetRelP"
    aliases: ClassVar[Aliases] = {"set_relative_P": {}}

    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        count = found(judged, judged.hits(self.rel), None)
        size = np.minimum(judged.length.astype(np.float64), relevant(judged, self.rel))
        return over(count, size)


class F(Measure):
    """Weighted harmonic mean of precision and recall; beta > 1 weights recall more.

    Written without P and R it is defined whenever anything is relevant or retrieved: (1 + beta^2) r
    / (beta^2 R + n) with r relevant among n retrieved (n = k with a cutoff). The lecture calls this
    E; here E is its complement. `form=linear` is set_F of trec_eval and SetF of ir_measures, which
    do not square beta; with beta = 1 the two are one, and `squared` is written.

    >>> round(F().of([1, 0, 1], judged=[1, 1, 1, 1, 0]), 4)  # P = 2/3, R = 2/4
    0.5714
    >>> F(beta=2, form="linear").of([1, None, 1, None], judged=[1] * 6)  # 3 P R / (2 P + R)
    0.375
    """

    title = "F measure"
    formula = "(1 + beta^2) P R / (beta^2 P + R); beta in place of beta^2 with form=linear"
    source = (
        "lecture, 'F-Measure' and 'E Measure (parameterized F Measure)'; van Rijsbergen 1979; "
        "form=linear: trec_eval set_F"
    )
    aliases: ClassVar[Aliases] = {"set_F": {"form": "linear"}, "SetF": {"form": "linear"}, "f1": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"set_f": (), "setf": ()}

    beta: float = number(1.0, low=0.0, high=1e12)
    form: str = choice("squared", "linear")
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def settle(self) -> None:
        """Set the form to the default where beta is 1: both forms are equal then."""
        if self.beta == 1:
            object.__setattr__(self, "form", "squared")

    def values(self, judged: JudgedRun) -> Floats:
        """Return the value of every query."""
        beta = self.beta if self.form == "squared" else math.sqrt(self.beta)
        return f_values(judged, beta=beta, rel=self.rel, cutoff=self.cutoff)


def f_values(judged: JudgedRun, *, beta: float, rel: float, cutoff: int | None) -> Floats:
    """Give F of every query."""
    count = found(judged, judged.hits(rel), cutoff)
    size = judged.length.astype(np.float64) if cutoff is None else float(cutoff)
    weight = beta * beta
    return over(weight * count + count, weight * relevant(judged, rel) + size)


class E(Measure):
    """Effectiveness measure of van Rijsbergen, 1 - F: the smaller the better.

    The lecture prints F under the name E; `form=lecture` gives that.

    >>> round(E(beta=2).of([1, 0, 1], judged=[1, 1, 1, 1, 0]), 4)
    0.4737
    >>> round(E(beta=2, form="lecture").of([1, 0, 1], judged=[1, 1, 1, 1, 0]), 4)
    0.5263
    """

    title = "E measure"
    formula = "1 - (1 + beta^2) P R / (beta^2 P + R)"
    source = "van Rijsbergen 1979; lecture, 'E Measure', prints F (form=lecture)"
    rising: ClassVar[bool] = False

    beta: float = number(1.0, low=0.0, high=1e6)
    form: str = choice("complement", "lecture")
    rel: float = number(1.0, low=0.0)
    cutoff: int | None = cutoff()

    def settle(self) -> None:
        """Set the direction: F, which the lecture prints as E, rises."""
        if self.form == "lecture":
            object.__setattr__(self, "rising", True)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        values = f_values(judged, beta=self.beta, rel=self.rel, cutoff=self.cutoff)
        return values if self.form == "lecture" else 1.0 - values


class Success(Measure):
    """1 when any of the first k documents is relevant, else 0.

    sentence-transformers and BEIR call it accuracy: `accuracy@k` and `cosine_accuracy@k` are read as
    Success@k, while `Accuracy` (with a capital letter, or without a cutoff) is that of pairs.

    >>> Success(cutoff=1).of([0, 1]), Success(cutoff=2).of([0, 1])
    (0.0, 1.0)
    """

    title = "success at k"
    formula = "1 if a relevant document is at ranks 1..k, else 0"
    source = "trec_eval success; also called hit rate"
    aliases: ClassVar[Aliases] = {"success": {}, "hit_rate": {}, "hit": {}}
    cutoff_aliases: ClassVar[Aliases] = {"accuracy": {}, "top_k_accuracy": {}}
    default_cutoffs: ClassVar[DefaultCutoffs] = {"success": (1, 5, 10)}

    rel: float = number(1.0, low=0.0)
    cutoff: int = needed_cutoff()

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        return (found(judged, judged.hits(self.rel), self.cutoff) > 0).astype(np.float64)


class Utility(Measure):
    """Weighted counts: a and c for relevant documents, b and d for others, retrieved or not.

    With r relevant among n retrieved: a r + b (n - r) + c (R - r) + d (N - n - R + r). N is the
    size of the collection, 0 unless `documents` says it; only d needs it.

    >>> Utility().of([1, 0, None, 1]), Utility(a=2.0, c=-1.0).of([1, 0], judged=[1, 0, 1])
    (0.0, 0.0)
    """

    title = "utility of the set"
    formula = "a r + b (n - r) + c (R - r) + d (N - n - R + r)"
    source = "trec_eval utility; TREC filtering track"
    low: ClassVar[float] = -math.inf
    high: ClassVar[float] = math.inf
    aliases: ClassVar[Aliases] = {"SetUtility": {}}

    a: float = number(1.0)
    b: float = number(-1.0)
    c: float = number(0.0)
    d: float = number(0.0)
    documents: int = whole(0, low=0)
    rel: float = number(1.0, low=0.0)

    def values(self, judged: JudgedRun) -> Floats:
        """Give the value of every query."""
        count = found(judged, judged.hits(self.rel), None)
        size = relevant(judged, self.rel)
        length = judged.length
        return (
            self.a * count
            + self.b * (length - count)
            + self.c * (size - count)
            + self.d * (self.documents + count - length - size)
        )
