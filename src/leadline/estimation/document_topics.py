"""Topic vectors of retrieved documents, and examples of lists with many and few relevant documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.qrels import Qrels
from leadline.data.validation import check_whole
from leadline.errors import InputError, UsageError
from leadline.estimation.system_lists import RankedPool, Systems, Topics
from leadline.estimation.unjudged_methods import DeShaTo, cumulate
from leadline.io.texts import TextsLike, name_of, read_documents
from leadline.topics.fit import fit
from leadline.topics.infer import Vectors, infer, read_vectors


def document_vectors(systems: Systems, vectors: str | os.PathLike[str] | Vectors) -> Topics:
    """Read topic vectors and return those of the retrieved documents."""
    checked = checked_vectors(vectors)
    return systems.align(checked.ids, checked.theta)


def checked_vectors(vectors: str | os.PathLike[str] | Vectors) -> Vectors:
    """Read topic vectors and check that each is a probability distribution."""
    checked = vectors if isinstance(vectors, Vectors) else read_vectors(vectors)
    fine = (checked.theta >= 0).all(axis=1) & (np.abs(checked.theta.sum(axis=1) - 1) < 1e-6)
    for row in np.flatnonzero(~fine)[:1].tolist():  # files were checked when read
        raise InputError(
            f"topics of '{checked.ids[row]}' that are no distribution", expected="values >= 0 with sum 1"
        )
    return checked


def fit_topics(
    systems: Systems,
    documents: TextsLike,
    topics: int,
    *,
    fits: int = 5,
    sweeps: int = 500,
    seed: int = 0,
    id_column: str | None = None,
    encoding: str = "utf-8",
    on_fit: Callable[[int, int], None] | None = None,
) -> Iterator[Topics]:
    """Fit LDA to all retrieved documents several times and yield the topic vectors of each fit.

    Hyperparameters are fixed at alpha = 50 / T and beta = 0.01; vectors are means of 10 spaced samples.
    """
    wanted = set(systems.documents)
    texts = {
        text.id: text.content
        for text in read_documents(documents, id_column=id_column, encoding=encoding)
        if text.id.encode("utf-8", "surrogateescape") in wanted
    }
    if not texts:
        raise InputError(
            "contains no retrieved document", expected="ids as in the runs", path=name_of(documents)
        )
    for turn in range(fits):
        model = fit(texts, topics, sweeps=sweeps, seed=seed + turn)
        vectors = infer(model, texts, seed=seed + turn)
        if on_fit:
            on_fit(turn + 1, fits)
        yield systems.align(vectors.ids, vectors.theta)


def topics_by_number(
    systems: Systems,
    *,
    documents: TextsLike | None,
    vectors: Sequence[str | Vectors],
    topics: Sequence[int],
    fits: int,
    sweeps: int,
    seed: int,
) -> dict[int, list[Topics]]:
    """Return topic vectors by number of topics, in ascending order.

    Vectors are read from files (`vectors`; files of the same width are fits with the same number of topics),
    or from `fits` LDA models for each number in `topics`, fitted to the texts of the retrieved `documents`.
    """
    if (documents is None) == (not vectors):
        raise topic_source_error(documents is None)
    by_number: dict[int, list[Topics]] = {}
    if documents is None:
        for source in vectors:
            aligned = document_vectors(systems, source)
            by_number.setdefault(aligned.theta.shape[1], []).append(aligned)
        return dict(sorted(by_number.items()))
    DeShaTo().check_topics(min(topics, default=0))
    check_whole(1, fits=fits, sweeps=sweeps)
    check_whole(0, seed=seed)
    return {
        number: list(fit_topics(systems, documents, number, fits=fits, sweeps=sweeps, seed=seed))
        for number in sorted(set(topics))
    }


def topic_source_error(none: bool) -> UsageError:
    """Return the error for topics from both texts and vectors, or from neither (`none`)."""
    message = "neither --docs nor --vectors" if none else "both --docs and --vectors"
    return UsageError(f"{message}; expected one of them")


DEPTH = 30


class ExampleList(NamedTuple):
    """A ranked list with its number of relevant documents and DeShaTo's score.

    Attributes
    ----------
    kind : {"good", "bad"}
        Most or fewest relevant documents.
    query, run : str
        Names of query and run.
    relevant, documents : int
        Number of relevant documents among the first `documents`.
    score : float
        DeShaTo's score.
    terms : dict of str to float
        Terms of the score.
    vectors : list of ndarray
        Sum, minimum and product of the topic vectors, not normalised.
    """

    kind: str
    query: str
    run: str
    relevant: int
    documents: int
    score: float
    terms: dict[str, float]
    vectors: list[Floats]

    def __str__(self) -> str:
        return (
            f"{self.kind} list ({self.run}): {self.relevant} of {self.documents} relevant, "
            f"score {self.score:.0f}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of the fields without the vectors."""
        return {name: value for name, value in self._asdict().items() if name != "vectors"}


def best_and_worst_lists(
    table: Qrels, systems: Systems, vectors: Vectors, *, level: float = 1.0
) -> list[ExampleList]:
    """Return the lists of one query with most and fewest relevant documents at ranks 1 to 30.

    The query is the one with the largest difference, among lists of at least 30 documents that all have a
    topic vector. The result is empty if no query has two such lists. Scores of DeShaTo are not used.
    """
    aligned = systems.align(vectors.ids, vectors.theta)
    alone = np.arange(len(systems.infos), dtype=np.int32)
    judged = table.to_dict()
    examples: list[ExampleList] = []
    most = 0
    for index, query in enumerate(systems.queries):
        pool = systems.pool(index, alone, topics=aligned).first(DEPTH)
        assert pool.row is not None
        full = pool.total((pool.row[pool.document] >= 0).astype(np.float64)) == DEPTH
        grades = judged.get(query, {})
        names = systems.first_documents(index, DEPTH)  # in the order of the codes of the pool
        good = np.array([grades.get(name, 0) >= level for name in names], dtype=np.float64)
        hits = pool.total(good[np.unique(pool.document, return_inverse=True)[1]])
        counts = np.where(full, hits, np.nan)
        if full.any() and np.nanmax(counts) - np.nanmin(counts) > most:
            most = int(np.nanmax(counts) - np.nanmin(counts))
            ends = {"good": int(np.nanargmax(counts)), "bad": int(np.nanargmin(counts))}
            examples = _listed(systems, query, pool, hits.astype(np.int64), ends)
    return examples


def _listed(
    systems: Systems, query: str, pool: RankedPool, hits: Integers, ends: dict[str, int]
) -> list[ExampleList]:
    made, estimate = cumulate(pool), DeShaTo(depth=DEPTH).estimate(pool)
    return [
        ExampleList(
            kind,
            query,
            systems.infos[index].name,
            int(hits[index]),
            DEPTH,
            float(estimate.values[index]),
            {name: float(values[index]) for name, values in estimate.terms.items()},
            [made.total[index], made.least[index], made.product[index]],
        )
        for kind, index in ends.items()
    ]
