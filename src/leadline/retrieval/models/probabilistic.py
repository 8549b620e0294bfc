"""BM25 with and without relevance feedback, divergence from randomness, and vector space models."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.registry import Aliases, Parameter, choice, number, whole
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import Gain, Model, Plan, PlanPart, Query, documents_to_learn, largest

STRETCH = 1 << 22  # postings that are looked at together for the lengths of vectors


def plan_of(index: Index, query: Query, idf: Callable[[Integers], Floats], form: str, key: str) -> Plan:
    """Return the plan of weights (1 + ln tf) idf of query and document; `cosine` divides by both norms."""
    codes = np.array(list(query.weights), dtype=np.int64)
    times = np.array(list(query.weights.values()))
    rarity = idf(index.document_frequencies[codes])
    weights = (1 + np.log(times)) * rarity
    size = math.sqrt(float((weights**2).sum()))
    if form == "cosine" and size:
        weights /= size
    norms = _norms(index, idf, key) if form == "cosine" else None
    return Plan(
        [
            PlanPart(index.postings(code), _dot(weight * rare, norms))
            for code, weight, rare in zip(codes.tolist(), weights.tolist(), rarity.tolist(), strict=True)
        ]
    )


def _dot(weight: float, norms: Floats | None) -> Gain:
    def gain(counts: Floats, documents: Integers) -> Floats:
        values = weight * (1 + np.log(counts))
        return values if norms is None else values / norms[documents]

    return gain


def _norms(index: Index, idf: Callable[[Integers], Floats], key: str) -> Floats:
    """Return the norm of every document vector, 1 for zero vectors; cached."""
    if key not in index.made:
        squares = np.zeros(index.documents)
        rarity = idf(index.document_frequencies)
        cumulated = np.cumsum(index.document_frequencies)
        begin = 0
        while begin < index.terms:
            done = int(cumulated[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(cumulated, done + STRETCH)))
            document, counts = index.postings_between(begin, end)
            weight = np.repeat(rarity[begin:end], index.document_frequencies[begin:end])
            values = (1 + np.log(counts)) * weight
            squares += np.bincount(document, weights=values**2, minlength=index.documents)
            begin = end
        norms = np.sqrt(squares)
        norms[norms == 0] = 1.0
        index.made[key] = norms
    lengths: Floats = index.made[key]
    return lengths


class TF(Model):
    """Vector space model with weights 1 + ln tf: dot product `TF(dot)` or cosine `TF(cosine)`."""

    title: ClassVar[str] = "term frequency, dot product or cosine"
    formula: ClassVar[str] = "sum of (1 + ln qtf)(1 + ln tf); cosine: divided by the lengths of both vectors"
    source: ClassVar[str] = "Salton and Buckley 1988"
    positional: ClassVar[str] = "form"

    form: str = choice("dot", "cosine")

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        return plan_of(index, query, lambda df: np.ones(len(df)), self.form, "tf norms")


class TFIDF(Model):
    """Vector space model with weights (1 + ln tf) ln(N/df): dot product or cosine, `TFIDF(cosine)`."""

    title: ClassVar[str] = "tf-idf, dot product or cosine"
    formula: ClassVar[str] = (
        "sum of (1 + ln qtf)(1 + ln tf) ln(N/df)^2; cosine: divided by the lengths of both vectors"
    )
    source: ClassVar[str] = "Salton and Buckley 1988"
    aliases: ClassVar[Aliases] = {"TF-IDF": {}, "TF_IDF": {}}
    positional: ClassVar[str] = "form"

    form: str = choice("dot", "cosine")

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        return plan_of(index, query, lambda df: np.log(index.documents / df), self.form, "tfidf norms")


IDF = {
    "plus": lambda n, df: math.log(1 + (n - df + 0.5) / (df + 0.5)),
    "rsj": lambda n, df: math.log((n - df + 0.5) / (df + 0.5)),
    "galago": lambda n, df: math.log(n / (df + 0.5)),
}


class BM25(Model):
    """BM25: saturated, length-normalized term frequency times inverse document frequency.

    `idf=rsj`, the Robertson/Sparck Jones weight, is negative for terms in more than half of the documents.
    `galago` is the weight that Galago uses. Terrier uses `rsj` with base 2 and k3=8. With `k3=none`, the
    weight of a query term is its frequency in the query.

    >>> from leadline.retrieval.index import build_index
    >>> from leadline.retrieval.search import score
    >>> index = build_index({"d1": "wing tail", "d2": "heat"})
    >>> found = score(index, {"q": "wing"}, [("q", "d1")], "BM25(k1=1,b=0)")
    >>> found["BM25(k1=1,b=0)"].to_dict()["q"]["d1"]  # ln(1 + 1.5/1.5) * 1 * 2 / (1 + 1)
    0.6931471805599453
    """

    title: ClassVar[str] = "BM25"
    formula: ClassVar[str] = (
        "sum of idf (k1 + 1) tf / (tf + k1 (1 - b + b dl/avdl)) qtf, idf = ln(1 + (N - df + 0.5)/(df + 0.5))"
    )
    source: ClassVar[str] = "Robertson and Zaragoza 2009"
    aliases: ClassVar[Aliases] = {"okapi": {}}

    k1: float = number(1.2, low=0.0)
    b: float = number(0.75, low=0.0, high=1.0)
    idf: str = choice("plus", "rsj", "galago")
    k3: Any = Parameter("none", type_=float, low=0.0, words=("none",))

    def gain(self, index: Index, code: int, times: float) -> Gain:
        repeated = times if self.k3 == "none" else (self.k3 + 1) * times / (self.k3 + times)
        return saturated(index, self.k1, self.b, IDF[self.idf](index.documents, index.df(code)) * repeated)


def saturated(index: Index, k1: float, b: float, weight: float) -> Gain:
    """Return the contribution of a term of the given weight as a function of its frequency."""
    key = ("bm25", k1, b)
    if key not in index.made:
        relative = index.length / index.average_length if index.tokens else index.length
        index.made[key] = k1 * (1 - b + b * relative)
    norm: Floats = index.made[key]

    def gain(counts: Floats, documents: Integers) -> Floats:
        return np.divide(weight * (k1 + 1) * counts, counts + norm[documents])

    return gain


class BM25RF(Model):
    """BM25 with relevance feedback: Robertson/Sparck Jones relevance weights and query expansion.

    The feedback documents are the top `docs` of BM25 (`learn=top`) or the judged relevant ones
    (`learn=judged`). With r of the R feedback documents containing a term of relevance weight w, the `terms`
    terms with the largest r w are added with `weight` as their query frequency. Implementations differ in
    these details.
    """

    title: ClassVar[str] = "BM25 with relevance feedback"
    formula: ClassVar[str] = (
        "BM25 with w = ln [((r + 0.5)/(R - r + 0.5)) / ((df - r + 0.5)/(N - df - R + r + 0.5))] for idf"
    )
    source: ClassVar[str] = "Robertson and Sparck Jones 1976; terms: Robertson 1990"
    learns: ClassVar[bool] = True

    k1: float = number(1.2, low=0.0)
    b: float = number(0.75, low=0.0, high=1.0)
    docs: int = whole(10)
    terms: int = whole(20, low=0)
    weight: float = number(0.33, low=0.0)
    learn: str = choice("top", "judged")

    def plan(self, index: Index, query: Query, relevant: Integers | None = None) -> Plan:
        first = BM25(k1=self.k1, b=self.b).plan(index, query)
        documents, _ = documents_to_learn(index, first, self.learn, self.docs, relevant)
        terms_of_documents = [index.bag_of(document)[0] for document in documents.tolist()]
        codes, r = np.unique(
            np.concatenate(terms_of_documents or [np.empty(0, np.int64)]), return_counts=True
        )
        counts_of = dict(zip(codes.tolist(), r.tolist(), strict=True))
        weights = dict(query.weights) | self._added(index, query, counts_of, len(documents))
        parts = []
        for code, times in weights.items():
            weight = relevance_weight(index, code, counts_of.get(code, 0), len(documents)) * times
            parts.append(PlanPart(index.postings(code), saturated(index, self.k1, self.b, weight)))
        return Plan(parts)

    def _added(self, index: Index, query: Query, counts_of: dict[int, int], size: int) -> dict[int, float]:
        """Return the expansion terms."""
        new = [code for code in counts_of if code not in query.weights]
        offers = [counts_of[code] * relevance_weight(index, code, counts_of[code], size) for code in new]
        selected = largest(np.array(offers), np.array(new, dtype=np.int64), self.terms)
        return {new[row]: self.weight for row in selected if offers[row] > 0 and self.weight}


def relevance_weight(index: Index, code: int, r: int, size: int) -> float:
    """Return the relevance weight of a term that r of `size` relevant documents contain."""
    df = index.df(code)
    others = index.documents - df - size + r
    return math.log(((r + 0.5) / (size - r + 0.5)) / ((df - r + 0.5) / (others + 0.5)))


class PL2(Model):
    """PL2: Poisson model, Laplace after-effect, normalization 2.

    With `stirling=true`, Stirling's formula includes the term 1/(12 tfn). Some engines omit it (`false`).
    This changes scores by up to 13 %.
    """

    title: ClassVar[str] = "divergence from randomness, PL2"
    formula: ClassVar[str] = (
        "sum of qtf/(tfn + 1) (tfn log2(tfn/lambda) + (lambda + 1/(12 tfn) - tfn) log2 e "
        "+ 0.5 log2(2 pi tfn)), lambda = cf/N, tfn = tf log2(1 + c avdl/dl)"
    )
    source: ClassVar[str] = "Amati and van Rijsbergen 2002"

    c: float = number(1, low=0.0, open_ends=True)
    stirling: str = choice("true", "false")

    def gain(self, index: Index, code: int, times: float) -> Gain:
        rate = index.cf(code) / index.documents
        more = 1 / 12 if self.stirling == "true" else 0.0

        def gain(counts: Floats, documents: Integers) -> Floats:
            tfn = normalised(counts, index, documents, self.c)
            information: Floats = (
                tfn * np.log2(tfn / rate)
                + (rate + more / tfn - tfn) * math.log2(math.e)
                + 0.5 * np.log2(2 * math.pi * tfn)
            )
            return times * information / (tfn + 1)

        return gain


def normalised(counts: Floats, index: Index, documents: Integers, c: float) -> Floats:
    """Return term frequencies by normalization 2: tf log2(1 + c avdl/dl)."""
    key = ("normalisation 2", c)
    if key not in index.made:
        with np.errstate(divide="ignore"):  # an empty document has no term to normalize
            index.made[key] = np.log2(1 + c * index.average_length / index.length)
    factor: Floats = index.made[key]
    return counts * factor[documents]


class In_expB2(Model):  # noqa: N801  # the field's spelling
    """In_expB2: inverse expected document frequency, Bernoulli after-effect, normalization 2.

    InB2, with df in place of n_exp, is a different model.
    """

    title: ClassVar[str] = "divergence from randomness, In_expB2"
    formula: ClassVar[str] = (
        "sum of qtf tfn (cf + 1)/(df (tfn + 1)) log2((N + 1)/(n_exp + 0.5)), n_exp = N (1 - exp(-cf/N)), "
        "tfn = tf log2(1 + c avdl/dl)"
    )
    source: ClassVar[str] = "Amati and van Rijsbergen 2002; the name is Terrier's"
    aliases: ClassVar[Aliases] = {"IneB2": {}, "In_eB2": {}, "InexpB2": {}, "DFR": {}}

    c: float = number(1, low=0.0, open_ends=True)

    def gain(self, index: Index, code: int, times: float) -> Gain:
        size, cf, df = index.documents, index.cf(code), index.df(code)
        expected = size * -math.expm1(-cf / size)
        weight = times * (cf + 1) / df * math.log2((size + 1) / (expected + 0.5))

        def gain(counts: Floats, documents: Integers) -> Floats:
            tfn = normalised(counts, index, documents, self.c)
            return weight * tfn / (tfn + 1)

        return gain
