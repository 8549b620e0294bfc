"""Topic vectors of retrieved documents, and examples of lists with many and few relevant documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from leadline.errors import InputError
from leadline.estimation.system_lists import Systems, Topics
from leadline.io.texts import TextsLike, name_of, read_documents
from leadline.topics.fit import fit
from leadline.topics.infer import Vectors, check_distributions, infer, read_vectors


def document_vectors(systems: Systems, vectors: str | os.PathLike[str] | Vectors) -> Topics:
    """Read topic vectors and return those of the retrieved documents."""
    checked = checked_vectors(vectors)
    return systems.align(checked.ids, checked.theta)


def checked_vectors(vectors: str | os.PathLike[str] | Vectors) -> Vectors:
    """Read topic vectors and check that each is a probability distribution."""
    if not isinstance(vectors, Vectors):
        return read_vectors(vectors)
    check_distributions(vectors.ids, vectors.theta)
    return vectors


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
            "the file contains none of the retrieved documents",
            path=name_of(documents),
            hint="Use the document ids of the runs.",
        )
    for turn in range(fits):
        model = fit(texts, topics, sweeps=sweeps, seed=seed + turn)
        vectors = infer(model, texts, seed=seed + turn)
        if on_fit:
            on_fit(turn + 1, fits)
        yield systems.align(vectors.ids, vectors.theta)
