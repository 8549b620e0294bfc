"""The relevance model of Lavrenko and Croft: terms weighted by the documents to learn from."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Integers
from leadline.index import Index
from leadline.models._feedback import documents_to_learn, largest, term_counts
from leadline.models._plan import Query
from leadline.models._smoothing import of_terms


def relevance_model(
    index: Index, query: Query, *, mu: float, docs: int, terms: int, learn: str,
    relevant: Integers | None,
) -> dict[int, float]:  # fmt: skip
    """Give the `terms` most likely terms and their shares, which add up to 1.

    P(w) is proportional to the sum over documents d of P(q|d) tf/dl; P(q|d) by Dirichlet smoothing.
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
        codes, counts = term_counts(index, document)
        for code, part in zip(codes.tolist(), (counts / counts.sum()).tolist(), strict=True):
            share[code] = share.get(code, 0.0) + weight * part
    codes = np.array(list(share), dtype=np.int64)
    values = np.array(list(share.values()))
    chosen = largest(values, codes, terms)
    total = values[chosen].sum()
    return {int(codes[place]): float(values[place] / total) for place in chosen}
