"""Pairs of a query and a document that are drawn once and scored by many models: nothing is ranked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leadline.arguments import check_whole
from leadline.arrays import Flags, Floats, Integers
from leadline.histograms.values import Values, counts_of
from leadline.sampling.hashed import sampled_documents
from leadline.vocabulary import to_bytes


class Pairs(NamedTuple):
    """Rows of queries and of documents, and which pairs are relevant; those of a query stand together."""

    query: Integers
    document: Integers
    relevant: Flags

    def histograms(self, scores: Floats, *, norm: str = "query", bins: int = 10) -> Floats:
        """Count the scores of the pairs: queries x (relevant, non-relevant) x bins.

        `norm` brings them to [0, 1] per `query` or per `model`.

        >>> pairs = Pairs(np.array([0, 0, 0]), np.array([3, 1, 2]), np.array([True, False, False]))
        >>> pairs.histograms(np.array([-0.1, -0.9, -0.8]), bins=2).tolist()
        [[[0.0, 1.0], [2.0, 0.0]]]
        """
        queries = int(self.query[-1]) + 1
        found = np.bincount(self.query[self.relevant], minlength=queries).astype(np.int64)
        return counts_of(Values(self.query, self.relevant, scores, found), norm, bins)


def draw_pairs(
    relevant: Mapping[str, Collection[str]],
    documents: Sequence[str],
    *,
    sample: int,
    seed: int = 0,
    own: bool = True,
) -> Pairs:
    """Give the relevant documents of every query and `sample` others, of smallest hash.

    Rows of queries are their places in `relevant`, rows of documents those in `documents`. Without `own` a
    query's own id is never among the others. A query with no more others than `sample` has all of them.

    >>> pairs = draw_pairs({"a": ["b"]}, ["a", "b", "c"], sample=5, own=False)
    >>> pairs.document.tolist(), pairs.relevant.tolist()
    ([1, 2], [True, False])
    """
    check_whole(1, sample=sample)
    check_whole(0, seed=seed)
    row = {to_bytes(name): place for place, name in enumerate(documents)}
    names = sorted(row)
    query, document, flags = [], [], []
    for place, (asked, wanted) in enumerate(relevant.items()):
        key, known = to_bytes(asked), {to_bytes(one) for one in wanted}
        left_out = known if own else known | {key}
        others = [name for name in names if name not in left_out]
        chosen = sorted(known) + sampled_documents(key, others, sample, seed)
        query += [place] * len(chosen)
        document += [row[name] for name in chosen]
        flags += [True] * len(known) + [False] * (len(chosen) - len(known))
    return Pairs(
        np.array(query, dtype=np.int64), np.array(document, dtype=np.int64), np.array(flags, dtype=np.bool_)
    )  # fmt: skip
