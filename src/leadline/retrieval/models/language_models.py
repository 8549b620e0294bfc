"""Query likelihood, sequential dependence and relevance models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.registry import Aliases, choice, number, whole
from leadline.errors import UsageError
from leadline.retrieval.index.reader import Index, Postings, windows
from leadline.retrieval.models import Gain, Model, Plan, PlanPart, Query, documents_to_learn, largest


class WeightedPostings(NamedTuple):
    """A term or window: its postings, collection frequency and weight."""

    postings: Postings
    occurrences: int
    weight: float


def smoothed(index: Index, weighted: Sequence[WeightedPostings], mu: float) -> Plan:
    """Return the plan of the sum of w ln (tf + mu cf/C)/(dl + mu) over terms or windows."""
    # A term adds w ln(1 + tf/(mu p)) where it occurs, and w ln(mu p) - w ln(dl + mu) to every document.
    parts: list[PlanPart] = []
    constant = total = 0.0
    for postings, occurrences, weight in weighted:
        if not occurrences or not weight:
            continue
        mass = mu * occurrences / index.tokens
        parts.append(PlanPart(postings, _seen(weight, mass)))
        constant += weight * math.log(mass)
        total += weight

    def base(documents: Integers) -> Floats:
        return constant - total * np.log(index.length[documents] + mu)

    return Plan(parts, base if parts else None)


def _seen(weight: float, mass: float) -> Gain:
    return lambda counts, _documents: weight * np.log1p(counts / mass)


def of_terms(index: Index, weights: Mapping[int, float], mu: float) -> Plan:
    """Return the weighted postings of the terms of a query."""
    return smoothed(index, [of_term(index, code, weight) for code, weight in weights.items()], mu)


def of_term(index: Index, code: int, weight: float) -> WeightedPostings:
    """Return a term with its postings and weight."""
    return WeightedPostings(index.postings(code), index.cf(code), weight)


def relevance_model(
    index: Index, query: Query, *, mu: float, docs: int, terms: int, learn: str, relevant: Integers | None
) -> dict[int, float]:
    """Return the `terms` most likely terms and their probabilities, normalized to 1.

    P(w) is proportional to the sum over documents d of P(q|d) tf/dl, with Dirichlet-smoothed P(q|d).
    """
    plan = of_terms(index, query.weights, mu)
    documents, scores = documents_to_learn(index, plan, learn, docs, relevant)
    filled = index.length[documents] > 0
    documents, scores = documents[filled], scores[filled]
    if not len(documents):
        return {}
    likelihood = np.exp(scores - scores.max())
    likelihood /= likelihood.sum()
    share: dict[int, float] = {}
    for document, weight in zip(documents.tolist(), likelihood.tolist(), strict=True):
        codes, counts = index.bag_of(document)
        for code, part in zip(codes.tolist(), (counts / counts.sum()).tolist(), strict=True):
            share[code] = share.get(code, 0.0) + weight * part
    codes = np.array(list(share), dtype=np.int64)
    values = np.array(list(share.values()))
    selected = largest(values, codes, terms)
    total = values[selected].sum()
    return {int(codes[row]): float(values[row] / total) for row in selected}


class QLDirichlet(Model):
    """Query likelihood with Dirichlet smoothing.

    All query terms count, whether the document contains them or not. Terms missing from the collection are
    ignored. Like Terrier, `form=terrier` adds ln(mu/(dl + mu)) only for terms that the document contains.
    This changes the ranking.
    """

    title: ClassVar[str] = "query likelihood, Dirichlet smoothing"
    formula: ClassVar[str] = "sum of qtf ln((tf + mu cf/C)/(dl + mu))"
    source: ClassVar[str] = "Zhai and Lafferty 2004"
    aliases: ClassVar[Aliases] = {
        "QL": {},
        "LM": {},
        "LMDirichlet": {},
        "DirichletLM": {},
        "Dirichlet": {},
        "QLD": {},
    }

    mu: float = number(1500, low=0.0, open_ends=True)
    form: str = choice("textbook", "terrier")

    def plan(self, index: Index, query: Query, relevant: Integers | None = None) -> Plan:
        if self.form == "textbook":
            return of_terms(index, query.weights, self.mu)
        return super().plan(index, query, relevant)

    def gain(self, index: Index, code: int, times: float) -> Gain:
        mass = self.mu * index.cf(code) / index.tokens

        def gain(counts: Floats, documents: Integers) -> Floats:
            long = np.log(self.mu / (index.length[documents] + self.mu))
            scores: Floats = times * (np.log1p(counts / mass) + long)
            return scores

        return gain


class QLJelinekMercer(Model):
    """Query likelihood with Jelinek-Mercer smoothing.

    `collection` is the weight of the collection model. Many authors call it lambda, some 1 - lambda. All
    query terms count. Terms missing from the collection are ignored. An empty document has only the
    collection model.
    """

    title: ClassVar[str] = "query likelihood, Jelinek-Mercer smoothing"
    formula: ClassVar[str] = "sum of qtf ln((1 - collection) tf/dl + collection cf/C)"
    source: ClassVar[str] = "Zhai and Lafferty 2004"
    aliases: ClassVar[Aliases] = {"QLJM": {}, "LMJelinekMercer": {}, "JM": {}}

    collection: float = number(0.1, low=0.0, high=1.0, open_ends=True)

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        parts, constant = super().plan(index, query).parts, 0.0
        for code, times in query.weights.items():
            constant += times * math.log(self.collection * index.cf(code) / index.tokens)
        return Plan(parts, (lambda documents: np.full(len(documents), constant)) if parts else None)

    def gain(self, index: Index, code: int, times: float) -> Gain:
        background = self.collection * index.cf(code) / index.tokens

        def gain(counts: Floats, documents: Integers) -> Floats:
            inside = (1 - self.collection) * counts / index.length[documents]
            scores: Floats = times * np.log1p(inside / background)
            return scores

        return gain


class QLHiemstra(Model):
    """Hiemstra's language model: mixture of document and collection, summed over matching terms only.

    `document` is the weight of the document, Hiemstra's lambda.
    """

    title: ClassVar[str] = "query likelihood, Hiemstra's weighting"
    formula: ClassVar[str] = "sum of qtf ln(1 + document tf C / ((1 - document) cf dl))"
    source: ClassVar[str] = "Hiemstra 2001"
    aliases: ClassVar[Aliases] = {"Hiemstra": {}, "Hiemstra_LM": {}}

    document: float = number(0.15, low=0.0, high=1.0, open_ends=True)

    def gain(self, index: Index, code: int, times: float) -> Gain:
        odds = self.document * index.tokens / ((1 - self.document) * index.cf(code))

        def gain(counts: Floats, documents: Integers) -> Floats:
            scores: Floats = times * np.log1p(odds * counts / index.length[documents])
            return scores

        return gain


class RM1(Model):
    """Relevance model RM1: the query is replaced by the expansion terms.

    The relevance model is estimated from the top `docs` documents by query likelihood and truncated to
    `terms` terms, all smoothed with `mu`. `learn=judged` uses judged relevant documents instead.
    """

    title: ClassVar[str] = "relevance model"
    formula: ClassVar[str] = (
        "sum of P(w) ln((tf + mu cf/C)/(dl + mu)), P(w) proportional to sum over d of P(q|d) tf/dl"
    )
    source: ClassVar[str] = "Lavrenko and Croft 2001"
    learns: ClassVar[bool] = True

    docs: int = whole(10)
    terms: int = whole(50)
    mu: float = number(1500, low=0.0, open_ends=True)
    learn: str = choice("top", "judged")

    def plan(self, index: Index, query: Query, relevant: Integers | None = None) -> Plan:
        weights = relevance_model(
            index, query, mu=self.mu, docs=self.docs, terms=self.terms, learn=self.learn, relevant=relevant
        )
        return of_terms(index, weights, self.mu)


class RM3(Model):
    """Relevance model RM3: RM1 interpolated with the query, which has weight `original`.

    The relevance model is estimated from the top `docs` documents by query likelihood and truncated to
    `terms` terms, all smoothed with `mu`. `learn=judged` uses judged relevant documents instead. Without any,
    the query is not expanded.
    """

    title: ClassVar[str] = "relevance model mixed with the query"
    formula: ClassVar[str] = (
        "sum of (original qtf/|q| + (1 - original) P(w)) ln((tf + mu cf/C)/(dl + mu)), P(w) as in RM1"
    )
    source: ClassVar[str] = "Abdul-Jaleel et al. 2004"
    learns: ClassVar[bool] = True
    aliases: ClassVar[Aliases] = {"RM": {}}

    docs: int = whole(10)
    terms: int = whole(50)
    original: float = number(0.5, low=0.0, high=1.0)
    mu: float = number(1500, low=0.0, open_ends=True)
    learn: str = choice("top", "judged")

    def plan(self, index: Index, query: Query, relevant: Integers | None = None) -> Plan:
        learned = relevance_model(
            index, query, mu=self.mu, docs=self.docs, terms=self.terms, learn=self.learn, relevant=relevant
        )
        original = self.original if learned else 1.0
        size = sum(query.weights.values())
        mixed = {code: original * times / size for code, times in query.weights.items()}
        for code, share in learned.items():
            mixed[code] = mixed.get(code, 0.0) + (1 - original) * share
        return of_terms(index, mixed, self.mu)


class SDM(Model):
    """Sequential dependence model: query likelihood of terms, ordered and unordered windows.

    Each of the three is the mean over those that occur in the collection, weighted by `terms`, `ordered` and
    `unordered`. `gap` is the maximum distance of the second term of an ordered window (1: adjacent), `window`
    the width of the unordered window. Windows are smoothed like terms, by their own collection frequency.
    """

    title: ClassVar[str] = "sequential dependence model"
    formula: ClassVar[str] = (
        "terms mean ln P(t|d) + ordered mean ln P(#gap(a b)|d) + unordered mean ln P(#uw window(a b)|d), "
        "P = (tf + mu cf/C)/(dl + mu)"
    )
    source: ClassVar[str] = "Metzler and Croft 2005"

    terms: float = number(0.85, low=0.0)
    ordered: float = number(0.1, low=0.0)
    unordered: float = number(0.05, low=0.0)
    gap: int = whole(1)
    window: int = whole(8, low=2)
    mu: float = number(1500, low=0.0, open_ends=True)

    def plan(self, index: Index, query: Query, _relevant: Integers | None = None) -> Plan:
        if not self.terms:
            raise UsageError("SDM finds documents by single terms, so the weight `terms` must be above 0")
        single = [of_term(index, code, times) for code, times in query.weights.items()]
        ordered = self._windows(index, query, ordered=True, width=self.gap)
        near = self._windows(index, query, ordered=False, width=self.window)
        parts = _mean(single, self.terms) + _mean(ordered, self.ordered)
        return smoothed(index, parts + _mean(near, self.unordered), self.mu)

    def _windows(self, index: Index, query: Query, *, ordered: bool, width: int) -> list[WeightedPostings]:
        """Return the windows of all pairs of adjacent terms."""
        matched = [windows(index, *pair, ordered=ordered, width=width) for pair in query.pairs]
        return [WeightedPostings(postings, int(postings.counts.sum()), 1.0) for postings in matched]


def _mean(parts: list[WeightedPostings], weight: float) -> list[WeightedPostings]:
    """Divide a weight among the parts that occur."""
    occurring = [part for part in parts if part.occurrences]
    size = sum(part.weight for part in occurring)
    return [part._replace(weight=weight * part.weight / size) for part in occurring]
