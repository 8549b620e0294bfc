"""Predictors that need the texts: Clarity, and the number of query terms as a control."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from leadline import Results, Run, read_queries
from leadline.data.arrays import Codes, Floats, Integers
from leadline.data.ids import to_bytes
from leadline.data.reading import Reading
from leadline.data.registry import number, whole
from leadline.estimation.predictors import Predictor
from leadline.evaluation.join import each_run
from leadline.io.texts import TextsLike
from leadline.retrieval.index.reader import Index
from leadline.retrieval.models import Query


class TextPredictor(Predictor):
    """A predictor that needs the documents of the list, as codes of the index, and the query."""

    def of_texts(self, index: Index, document: Integers, query: Query | None) -> float:
        """Return the prediction for one list; NaN where undefined."""
        raise NotImplementedError


class QueryLength(TextPredictor):
    """The number of terms of the query, known to the index or not, stop words left out.

    It is the same for every system: sums over query terms grow with it.
    """

    title = "number of query terms"
    formula = "|q|"
    source = "a control of ours"

    def of_texts(self, index: Index, document: Integers, query: Query | None) -> float:  # noqa: ARG002
        return math.nan if query is None else float(len(query.sequence))


class Clarity(TextPredictor):
    """The Kullback-Leibler divergence of the relevance model of the first documents from the collection.

    P(w|q) is the mean over the first `docs` documents of P(w|d) = own tf/dl + (1 - own) cf/C, weighted by
    P(q|d), the product of P(w|d) over the terms of the query. The sum is over all terms of the index, in
    bits. Documents that are empty or not in the index are skipped; a list without any other, and a query
    without a known term, are undefined.

    >>> from leadline.retrieval.index import build_index
    >>> index = build_index({"d1": "wing", "d2": "heat"})
    >>> round(Clarity().of_texts(index, np.array([0]), Query.of(index, "wing")), 4)  # 0.8, 0.2; a half each
    0.2781
    """

    title = "clarity score"
    formula = "sum of P(w|q) log2 (P(w|q) / (cf/C))"
    source = "Cronen-Townsend, Zhou and Croft 2002; 500 and 0.6 from memory of it"

    docs: int = whole(500)
    own: float = number(0.6, low=0.0, high=1.0, open_ends=True)

    def of_texts(self, index: Index, document: Integers, query: Query | None) -> float:
        document = document[: self.docs]
        document = document[document >= 0]
        document = document[index.length[document] > 0]
        words = {} if query is None else query.weights
        if not len(document) or not words:
            return math.nan
        terms = [index.terms_of(code) for code in document.tolist()]
        size = index.length[document]
        row = np.repeat(np.arange(len(document)), [len(codes) for codes in terms])
        term = np.concatenate(terms)
        chance = self._likelihood(index, words, row, term, size)
        return self._divergence(index, term, (chance / size)[row])

    def _likelihood(
        self, index: Index, words: dict[int, float], row: Integers, term: Codes, size: Floats
    ) -> Floats:
        """Return P(q|d) of each document, normalised to sum 1."""
        logs = np.zeros(len(size))
        for code, times in words.items():
            counts = np.bincount(row[term == code], minlength=len(size))
            rest = (1 - self.own) * index.cf(code) / index.tokens
            logs += times * np.log(self.own * counts / size + rest)
        chance = np.exp(logs - logs.max())
        likelihood: Floats = chance / chance.sum()
        return likelihood

    def _divergence(self, index: Index, term: Codes, weight: Floats) -> float:
        """Return the divergence; terms of no document contribute (1 - own) p log2 (1 - own)."""
        share = np.bincount(term, weight, minlength=index.terms)
        seen = np.flatnonzero(share)
        common = index.collection_frequencies[seen] / index.tokens
        mixed = self.own * share[seen] + (1 - self.own) * common
        rest = (1 - self.own) * math.log2(1 - self.own) * max(0.0, 1 - common.sum())
        return max(0.0, float((mixed * np.log2(mixed / common)).sum() + rest))


def with_text_predictors(
    predictions: Results, runs: Mapping[str, Run], index: Index, queries: TextsLike
) -> Results:
    """Return predictions of the same runs and queries with those that need texts, by name."""
    added: list[TextPredictor] = [Clarity(), QueryLength()]
    parsed = {to_bytes(query.id): Query.of(index, query.content) for query in read_queries(queries)}
    values = np.full((*predictions.values.shape[:2], len(added)), np.nan)
    for place, (_, run) in enumerate(each_run(runs, Reading())):
        code = index.document_codes(run.documents.names)
        for name, (low, high) in zip(run.queries.names, pairwise(run.offsets.tolist()), strict=True):
            at = predictions.queries.names.index(name)
            document = code[run.document[low:high]]
            values[place, at] = [one.of_texts(index, document, parsed.get(name)) for one in added]
    measures: list[Any] = [*predictions.measures, *added]
    order = sorted(range(len(measures)), key=lambda column: type(measures[column]).__name__)
    values = np.concatenate([predictions.values, values], axis=2)[:, :, order]
    return with_values(predictions, [measures[column] for column in order], values)


def with_values(predictions: Results, measures: list[Any], values: Floats) -> Results:
    """Return other predictions of the same runs and queries."""
    return Results(
        predictions.runs,
        predictions.queries,
        measures,
        values,
        np.ones(values.shape, dtype=np.bool_),
        present=predictions.present,
        warnings=predictions.warnings,
    )
