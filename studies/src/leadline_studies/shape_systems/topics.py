"""Topic vectors of retrieved documents, by number of topics."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.data.validation import check_whole
from leadline.errors import UsageError
from leadline.estimation.document_topics import document_vectors, fit_topics
from leadline.estimation.system_lists import Systems, Topics
from leadline.estimation.unjudged_methods import DeShaTo
from leadline.io.texts import TextsLike
from leadline.topics.infer import Vectors


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
    check_topic_source(documents, vectors)
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


def check_topic_source(documents: object, vectors: Sequence[object]) -> None:
    """Refuse topics from both texts and vectors, or from neither."""
    if documents is not None and vectors:
        raise UsageError("use only one of --docs and --vectors")
    if documents is None and not vectors:
        raise UsageError("need --docs or --vectors")
