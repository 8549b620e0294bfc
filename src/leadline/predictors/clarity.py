"""Clarity: how far the language of the first documents is from that of the collection."""

from __future__ import annotations

import math

import numpy as np

from leadline.arrays import Codes, Floats, Integers
from leadline.errors import UsageError
from leadline.index import Index
from leadline.naming import choice, number, whole
from leadline.predictors import INDEX, Answer, Predictor


class Clarity(Predictor):
    """The Kullback-Leibler divergence of the relevance model of the first documents from the collection.

    P(w|q) is the mean over the first `docs` documents of P(w|d) = own tf/dl + (1 - own) cf/C, weighed by
    P(q|d), the product of P(w|d) over the terms of the query (`weigh=equal`: all alike). The sum runs over
    all terms of the index. In bits, from 0. Documents that the index lacks or that are empty are passed
    over; a list without any other, and a query without a known term (but for `weigh=equal`), are
    undefined. The documents are those of the list, whatever model ranked it; the paper's list is by query
    likelihood.

    >>> from leadline.index import build_index
    >>> from leadline.models._plan import Query
    >>> index = build_index({"d1": "wing", "d2": "heat"})
    >>> answer = Answer(np.ones(1), index, np.array([0]), Query.of(index, "wing"))
    >>> round(Clarity().value(answer), 4)  # 0.8 and 0.2 against a half each
    0.2781
    """

    title = "clarity score"
    formula = "sum of P(w|q) log2 (P(w|q) / (cf/C))"
    source = "Cronen-Townsend, Zhou and Croft 2002; 500 and 0.6 from memory of it"

    docs: int = whole(500)
    own: float = number(0.6, low=0.0, high=1.0, open_ends=True)
    weigh: str = choice("likelihood", "equal")

    def value(self, answer: Answer) -> float:
        """Give the divergence of one list."""
        index, document = answer.collection, answer.document
        if index is None or document is None:
            raise UsageError(
                "Clarity without an index; expected --index INDEX and --queries QUERIES"
            )
        document = document[: self.docs]
        document = document[document >= 0]
        document = document[index.length[document] > 0]
        words = {} if answer.query is None else answer.query.weights
        if not len(document) or not (words or self.weigh == "equal"):
            return math.nan
        terms = [index.terms_of(code) for code in document.tolist()]
        size = index.length[document]
        place = np.repeat(np.arange(len(document)), [len(one) for one in terms])
        term = np.concatenate(terms)
        chance = np.full(len(document), 1 / len(document))
        if self.weigh == "likelihood":
            chance = self._likelihood(index, words, place, term, size)
        return self._divergence(index, term, (chance / size)[place])

    def _likelihood(
        self, index: Index, words: dict[int, float], place: Integers, term: Codes, size: Floats
    ) -> Floats:
        """Give P(q|d) of every document, made to add up to 1."""
        logs = np.zeros(len(size))
        for code, times in words.items():
            counts = np.bincount(place[term == code], minlength=len(size))
            rest = (1 - self.own) * index.cf(code) / index.tokens
            logs += times * np.log(self.own * counts / size + rest)
        chance = np.exp(logs - logs.max())
        found: Floats = chance / chance.sum()
        return found

    def _divergence(self, index: Index, term: Codes, weight: Floats) -> float:
        """Give the divergence; a term that no document has adds (1 - own) p log2 (1 - own)."""
        share = np.bincount(term, weight, minlength=index.terms)
        seen = np.flatnonzero(share)
        common = index.collection_frequencies[seen] / index.tokens
        mixed = self.own * share[seen] + (1 - self.own) * common
        rest = (1 - self.own) * math.log2(1 - self.own) * max(0.0, 1 - common.sum())
        return max(0.0, float((mixed * np.log2(mixed / common)).sum() + rest))

    def needs(self) -> frozenset[str]:
        """Say what it looks at beside the scores."""
        return frozenset([INDEX])
