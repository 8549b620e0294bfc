"""Diverse ranked lists: maximal marginal relevance."""

from __future__ import annotations

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.ids import to_bytes
from leadline.data.validation import check_numbers, check_whole
from leadline.errors import InputError, UsageError
from leadline.io.objects import Run, read_run
from leadline.io.read import RunLike
from leadline.io.read_paths import public
from leadline.retrieval.index import open_index
from leadline.retrieval.index.reader import Index
from leadline.retrieval.search import IndexLike


@public
def mmr(
    index: IndexLike, run: RunLike, *, share: float = 0.5, depth: int = 100, name: str | None = None
) -> Run:
    """Reorder a run by maximal marginal relevance, so that documents near the top differ from each other.

    The next document is the one with the largest share * relevance - (1 - share) * similarity. Relevance is
    its score, scaled to 0 to 1 within the first `depth` documents. Similarity is the largest cosine with a
    document above it, of vectors (1 + ln tf) ln(1 + N / df). Scores of the result only count places.

    Source: Carbonell and Goldstein 1998.

    Parameters
    ----------
    index : Index or path
        Index of the documents.
    run : run
        The run to reorder, as for `read_run`.
    share : float, default 0.5
        Weight of relevance, 0 to 1; 1 keeps the order.
    depth : int, default 100
        Number of documents that are reordered per query; the others follow in their order.
    name : str, optional
        Name of the result; by default that of the run with "MMR(share)".

    Examples
    --------
    >>> from leadline.retrieval.index import build_index
    >>> index = build_index({"a": "jaguar cat", "b": "jaguar cat", "c": "jaguar car"})
    >>> list(mmr(index, {"q": {"a": 3.0, "b": 2.6, "c": 2.5}}).to_dict()["q"])
    ['a', 'c', 'b']
    """
    check_numbers(share=share)
    check_whole(1, depth=depth)
    if not 0 <= share <= 1:
        raise UsageError(f"share must be a number from 0 to 1, not {share}")
    opened = index if isinstance(index, Index) else open_index(index)
    given = read_run(run)
    rows = []
    for query, scores in given.to_dict().items():
        documents = list(scores)
        codes = opened.document_codes(map(to_bytes, documents[:depth]))
        if (codes < 0).any():
            lost = documents[int(np.argmin(codes))]
            raise InputError(
                f"document '{lost}' for query '{query}' is not in the index",
                hint="Pass an index that contains the run's documents.",
            )
        order = _order(_cosines(opened, codes), np.array(list(scores.values())[:depth]), share)
        places = [*(documents[place] for place in order), *documents[depth:]]
        rows += [(query, document, len(places) - rank) for rank, document in enumerate(places)]
    return Run.of(rows, name=name or f"{given.name} MMR({share:g})")


def _order(similarity: Floats, scores: Floats, share: float) -> list[int]:
    """Return the places of documents in the order in which they are chosen."""
    width = scores.max() - scores.min()
    relevance = (scores - scores.min()) / (width or 1.0)
    nearest, order = np.zeros(len(scores)), list[int]()
    for _ in scores:
        gain = np.round(share * relevance - (1 - share) * nearest, 12)  # what is equal but for rounding ties
        gain[order] = -np.inf
        order.append(int(gain.argmax()))
        nearest = np.maximum(nearest, similarity[order[-1]])
    return order


def _cosines(index: Index, codes: Integers) -> Floats:
    """Return the cosine of every two documents; 0 for one without a term."""
    bags = [index.bag_of(code) for code in codes.tolist()]
    terms, column = np.unique(np.concatenate([terms for terms, _ in bags]), return_inverse=True)
    counts = np.concatenate([counts for _, counts in bags])
    weights = np.zeros((len(bags), len(terms)))
    idf = np.log1p(index.documents / index.document_frequencies[terms])
    row = np.repeat(np.arange(len(bags)), [len(terms) for terms, _ in bags])
    weights[row, column] = (1 + np.log(counts)) * idf[column]
    norms = np.linalg.norm(weights, axis=1)
    unit = weights / np.where(norms > 0, norms, 1.0)[:, None]
    return unit @ unit.T
