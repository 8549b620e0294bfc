"""What a model learns of documents: those it finds first, or those that judgments call relevant."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from leadline.arrays import Floats, Integers
from leadline.errors import UsageError
from leadline.index import Index
from leadline.models._plan import Plan, best, given, matching


def documents_to_learn(
    index: Index, plan: Plan, learn: str, docs: int, relevant: Integers | None
) -> tuple[Integers, Floats]:
    """Give the documents to learn from, and their scores by the plan.

    `learn` is `top`: the first `docs` of the plan's own ranking; or `judged`: the relevant ones.
    """
    if learn == "top":
        found = best(matching(plan, index), index, docs)
        return found.document, found.score
    if relevant is None:
        raise UsageError("learn=judged; expected judgments to learn from: --feedback QRELS")
    return relevant, given(plan, relevant)


def term_counts(index: Index, document: int) -> tuple[Integers, Integers]:
    """Give the terms of a document by code, and how often it has each."""
    return np.unique(index.terms_of(document).astype(np.int64), return_counts=True)


def largest(values: Floats, codes: Integers, count: int) -> list[int]:
    """Give the places of the largest values; among equal ones the term that sorts first."""
    order: Iterable[int] = np.lexsort((codes, -values))[:count].tolist()
    return list(order)
