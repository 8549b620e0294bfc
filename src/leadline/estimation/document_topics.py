"""Topic vectors of retrieved documents, and examples of a good and a bad list."""

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


def vectors_of(systems: Systems, vectors: str | os.PathLike[str] | Vectors) -> Topics:
    """Read vectors and find those of the retrieved documents."""
    found = checked_vectors(vectors)
    return systems.align(found.ids, found.theta)


def checked_vectors(vectors: str | os.PathLike[str] | Vectors) -> Vectors:
    """Read vectors; refuse those that are no distribution."""
    found = vectors if isinstance(vectors, Vectors) else read_vectors(vectors)
    fine = (found.theta >= 0).all(axis=1) & (np.abs(found.theta.sum(axis=1) - 1) < 1e-6)
    for row in np.flatnonzero(~fine)[:1].tolist():  # a file was looked at when it was read
        raise InputError(
            f"topics of '{found.ids[row]}' that are no distribution", expected="0 or more, adding up to 1"
        )
    return found


def fitted(
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
    """Fit LDA to the union of all retrieved documents, once per seed, and give the vectors of each fit.

    alpha is 50 / T per topic, beta 0.01, neither changed; a vector is the mean over 10 spaced samples.
    """
    wanted = set(systems.documents)
    texts = {
        one.id: one.content
        for one in read_documents(documents, id_column=id_column, encoding=encoding)
        if one.id.encode("utf-8", "surrogateescape") in wanted
    }
    if not texts:
        raise InputError(
            "holds no retrieved document", expected="ids as in the runs", path=name_of(documents)
        )
    for turn in range(fits):
        model = fit(texts, topics, sweeps=sweeps, seed=seed + turn)
        found = infer(model, texts, seed=seed + turn)
        if on_fit:
            on_fit(turn + 1, fits)
        yield systems.align(found.ids, found.theta)


def by_number(
    systems: Systems,
    *,
    documents: TextsLike | None,
    vectors: Sequence[str | Vectors],
    topics: Sequence[int],
    fits: int,
    sweeps: int,
    seed: int,
) -> dict[int, list[Topics]]:
    """Give the vectors of several fits by their number of topics, fewest first.

    They come from files of `vectors`, of which those of one width are fits of one number of topics, or from
    `fits` models of each number in `topics`, fitted to the texts of the retrieved `documents`.
    """
    if (documents is None) == (not vectors):
        raise one_source(documents is None)
    found: dict[int, list[Topics]] = {}
    if documents is None:
        for one in vectors:
            aligned = vectors_of(systems, one)
            found.setdefault(aligned.theta.shape[1], []).append(aligned)
        return dict(sorted(found.items()))
    DeShaTo().check_topics(min(topics, default=0))
    check_whole(1, fits=fits, sweeps=sweeps)
    check_whole(0, seed=seed)
    return {
        number: list(fitted(systems, documents, number, fits=fits, sweeps=sweeps, seed=seed))
        for number in sorted(set(topics))
    }


def one_source(none: bool) -> UsageError:
    """Say that topics come from texts or from vectors, where none or both were given."""
    found = "neither --docs nor --vectors" if none else "both --docs and --vectors"
    return UsageError(f"{found}; expected one of them")


DEPTH = 30


class Listed(NamedTuple):
    """A list: how many of its first documents are relevant, DeShaTo's score, its terms and vectors.

    `vectors` are the sum, the minimum and the product of its topic vectors, of any scale.
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
        """Give it as plain data, the vectors left out."""
        return {name: value for name, value in self._asdict().items() if name != "vectors"}


def good_and_bad(table: Qrels, systems: Systems, vectors: Vectors, *, level: float = 1.0) -> list[Listed]:
    """Give the lists of one query with most and fewest relevant documents among their first 30.

    It is the query where these are furthest apart, among lists with so many documents and vectors for all;
    nothing where no query has two such lists. DeShaTo has no part in the choice.
    """
    aligned = systems.align(vectors.ids, vectors.theta)
    alone = np.arange(len(systems.infos), dtype=np.int32)
    judged = table.to_dict()
    found: list[Listed] = []
    most = 0
    for place, query in enumerate(systems.queries):
        pool = systems.pool(place, alone, topics=aligned).first(DEPTH)
        assert pool.row is not None
        full = pool.total((pool.row[pool.document] >= 0).astype(np.float64)) == DEPTH
        grades = judged.get(query, {})
        names = systems.first_documents(place, DEPTH)  # in the order of the codes of the pool
        good = np.array([grades.get(name, 0) >= level for name in names], dtype=np.float64)
        hits = pool.total(good[np.unique(pool.document, return_inverse=True)[1]])
        counts = np.where(full, hits, np.nan)
        if full.any() and np.nanmax(counts) - np.nanmin(counts) > most:
            most = int(np.nanmax(counts) - np.nanmin(counts))
            ends = {"good": int(np.nanargmax(counts)), "bad": int(np.nanargmin(counts))}
            found = _listed(systems, query, pool, hits.astype(np.int64), ends)
    return found


def _listed(
    systems: Systems, query: str, pool: RankedPool, hits: Integers, ends: dict[str, int]
) -> list[Listed]:
    made, estimate = cumulate(pool), DeShaTo(depth=DEPTH).estimate(pool)
    return [
        Listed(
            kind,
            query,
            systems.infos[place].name,
            int(hits[place]),
            DEPTH,
            float(estimate.values[place]),
            {name: float(values[place]) for name, values in estimate.terms.items()},
            [made.total[place], made.least[place], made.product[place]],
        )
        for kind, place in ends.items()
    ]
