"""Topic vectors of retrieved documents: from a file, or from models fitted to their texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import numpy as np

from leadline.errors import InputError
from leadline.estimators.systems import Systems, Topics
from leadline.formats.texts import TextsLike, name_of, read_documents
from leadline.topics import Vectors, fit, infer, read_vectors


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
            f"topics of '{found.ids[row]}' that are no distribution",
            expected="0 or more, adding up to 1",
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
