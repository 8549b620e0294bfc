"""Rank systems without judgments: votes between systems, and the shape of topic distributions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

import numpy as np

from leadline.data.arrays import Codes, Floats
from leadline.data.reading import Reading, RunsOptions
from leadline.data.results import ResultWarning
from leadline.data.validation import check_whole
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.estimation.system_lists import RankedPool, Systems, Topics, read_systems, team_codes
from leadline.estimation.unjudged_methods import METHODS, UnjudgedEstimate, UnjudgedEstimator, saturation
from leadline.estimation.unjudged_result import Unjudged, mean_of_defined
from leadline.io.read import RunLike
from leadline.io.texts import shown

if TYPE_CHECKING:
    from leadline.io.texts import TextsLike
    from leadline.topics.infer import Vectors


FEW = 10  # systems or teams, below which votes are few
SHORT = 0.5  # of the documents that could be used, or of the median system's
SATURATED = 0.95  # of the largest kurtosis there can be


def notices_of_estimates(
    method: UnjudgedEstimator, systems: Systems, used: Floats, voters: int, *, teams: bool = False
) -> list[ResultWarning]:
    """Say what speaks against the numbers: few votes, short lists, missing queries."""
    few = voters if method.voting and voters < FEW else 0
    missing = int(np.count_nonzero(~systems.present))
    without = [info.name for info, row in zip(systems.infos, systems.present, strict=True) if not row.all()]
    mean = used.mean(axis=1)
    full = float(method.depth or np.median(mean))
    short = [
        info.name
        for info, size in zip(systems.infos, mean.tolist(), strict=True)
        if size < SHORT * min(full, float(np.median(mean)))
    ]
    noun = "teams" if teams else "systems"
    found = [
        ResultWarning(
            "few_systems", f"{noun} that vote: {few}; with under {FEW}, {method.called} is unsteady", few
        ),
        ResultWarning(
            "missing_queries",
            f"lists that runs lack: {missing} ({', '.join(without[:3])}); each counts as an empty one",
            missing,
        ),
        ResultWarning(
            "short_lists",
            f"systems with less than half of the usual documents: {len(short)} ({', '.join(short[:3])}); "
            "their estimates are not comparable",
            len(short),
        ),
    ]
    return [notice for notice in found if notice.count]


def notices_of_topics(
    systems: Systems, topics: Topics, terms: dict[str, Floats], used: Floats
) -> list[ResultWarning]:
    """Say what speaks against DeShaTo: documents without a vector, a product that is one topic alone."""
    absent = int(np.count_nonzero(topics.row < 0))
    most = saturation(topics.theta.shape[1])
    peaks = terms.get("k(P)", np.zeros((0, 0)))[used > 0] if "k(P)" in terms else np.zeros(0)
    share = float(peaks.mean()) / most if len(peaks) and most else 0.0
    empty = int(np.count_nonzero((used == 0) & systems.present))
    single = int(np.count_nonzero(used == 1))
    found = [
        ResultWarning(
            "single_documents",
            f"{counted(single, 'list')} with one document that has a vector: its shape alone, and so a large "
            "score",
            single,
        ),
        ResultWarning(
            "without_vectors",
            f"retrieved documents without a topic vector: {absent} of {len(systems.documents)}; passed over",
            absent,
        ),
        ResultWarning("no_vectors", f"{counted(empty, 'list')} without any topic vector", empty),
        ResultWarning(
            "saturated_product",
            f"k(P) is {share:.0%} of the largest there can be: products hold one topic and say little",
            int(share >= SATURATED),
        ),
    ]
    return [notice for notice in found if notice.count]


# Named `estimators` because `leadline.unjudged` is a function.

__all__ = ["METHODS", "Systems", "Unjudged", "UnjudgedEstimator", "estimated", "read_systems", "unjudged"]

Tell = Callable[[int, int], None]


def unjudged(
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    *,
    method: str | UnjudgedEstimator = "nruns",
    depth: int | None = None,
    one_vote_per: str | Mapping[str, str] | None = None,
    vectors: str | os.PathLike[str] | Vectors | None = None,
    documents: TextsLike | None = None,
    topics: int = 50,
    fits: int = 5,
    sweeps: int = 500,
    seed: int = 0,
    id_column: str | None = None,
    encoding: str = "utf-8",
    on_run: Tell | None = None,
    on_query: Tell | None = None,
    on_fit: Tell | None = None,
    **options: Unpack[RunsOptions],
) -> Unjudged:
    """Estimate how good systems are without any judgments; the larger the better.

    `method` names an estimator: "nruns", "soboroff", "aslam-savell", "reference-count" and "spoerri" let
    systems vote on each other's documents; "deshato" looks at the topics of a system's own documents, which
    come from `vectors` or from LDA with `topics` topics, fitted `fits` times to the texts of the retrieved
    `documents` (the scores are the mean over fits, the spread is reported). Parameters stand in brackets, as
    in "NRuns(pseudo=10)"; `depth` is short for theirs. `one_vote_per` gives the team of every run
    (`FILE:COLUMN`, or a mapping): the runs of a team share one vote, and do not vote for each other where a
    method compares a run with the others.

    Queries are those that any run has; a run without one has an empty list there. Scores are means over
    queries; they order systems and are no estimate of the value of any measure. `options` say how runs are
    read: `order`, `on_duplicate`, `on_nan` and `name_by` of `leadline.data.reading.Reading`.

    Source: each method names its own.

    >>> runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d1", "d3"]}, "c": {"q": ["d4", "d1"]}}
    >>> found = unjudged(runs, method="reference-count")
    >>> found.to_dict()["scores"]  # each has d1, which two others have
    {'a': 2.0, 'b': 2.0, 'c': 2.0}
    """
    reading = Reading.of(unjudged, options, RunsOptions)
    chosen = METHODS.parse(method) if isinstance(method, str) else method
    chosen = chosen if depth is None else chosen.replace(depth=depth)
    check_whole(1, topics=topics, fits=fits, sweeps=sweeps)
    check_whole(0, seed=seed)
    _check_topics(chosen, vectors, documents)
    if documents is not None:
        chosen.check_topics(topics)
    systems = read_systems(runs, reading, on_run=on_run)
    given: Iterable[Topics | None] = [None]
    if vectors is not None:
        from leadline.estimation.document_topics import vectors_of

        given = [vectors_of(systems, vectors)]
    elif documents is not None:
        from leadline.estimation.document_topics import fitted

        given = fitted(
            systems,
            documents,
            topics,
            fits=fits,
            sweeps=sweeps,
            seed=seed,
            id_column=id_column,
            encoding=encoding,
            on_fit=on_fit,
        )
    found = estimated(systems, chosen, one_vote_per=one_vote_per, topics=given, seed=seed, on_query=on_query)
    found.options |= {"vectors": shown(vectors), "documents": shown(documents)}
    if documents is not None:
        found.options |= {"topics": topics, "fits": fits, "sweeps": sweeps}
    found.options |= reading.options(RunsOptions)
    return found


def estimated(
    systems: Systems,
    method: UnjudgedEstimator,
    *,
    one_vote_per: str | Mapping[str, str] | None = None,
    topics: Iterable[Topics | None] = (None,),
    seed: int = 0,
    on_query: Tell | None = None,
) -> Unjudged:
    """Estimate systems that were read already; with several sets of topic vectors, the mean over them."""
    team = _teams(systems, one_vote_per)
    voters = len(np.unique(team))
    method.check(voters)
    fits = []
    warnings: list[ResultWarning] = []
    for vectors in topics:
        pools = systems.pools(team, seed=seed, topics=vectors)
        fits.append(_stacked(method, pools, len(systems.queries), on_query))
        if vectors is not None and not warnings:
            warnings = notices_of_topics(systems, vectors, fits[0].terms, fits[0].used)
    values = np.mean([fit.values for fit in fits], axis=0)
    terms = {name: np.mean([fit.terms[name] for fit in fits], axis=0) for name in fits[0].terms}
    found = Unjudged(
        method,
        systems.infos,
        systems.queries,
        values,
        fits[0].used,
        terms,
        by_fit=np.stack([mean_of_defined(fit.values) for fit in fits]),
        options={
            "method": str(method),
            "seed": seed,
            "one_vote_per": one_vote_per if isinstance(one_vote_per, str) else one_vote_per is not None,
        },
    )
    found.warnings = warnings + notices_of_estimates(
        method, systems, found.used, voters, teams=one_vote_per is not None
    )
    return found


def _stacked(
    method: UnjudgedEstimator, pools: Iterable[RankedPool], total: int, on_query: Tell | None
) -> UnjudgedEstimate:
    """Put the estimates of all queries together: systems x queries."""
    found = []
    for done, pool in enumerate(pools, start=1):
        found.append(method.estimate(pool))
        if on_query:
            on_query(done, total)

    def together(columns: list[Floats]) -> Floats:
        return np.stack(columns, axis=1)

    return UnjudgedEstimate(
        together([one.values for one in found]),
        together([one.used for one in found]),
        {name: together([one.terms[name] for one in found]) for name in found[0].terms},
    )


def _teams(systems: Systems, given: str | Mapping[str, str] | None) -> Codes:
    names = [info.name for info in systems.infos]
    if given is None:
        return team_codes(names)
    from leadline.io.id_lists import read_labels, teams_of

    if isinstance(given, str):
        return team_codes(teams_of(read_labels(given), names, given))
    return team_codes(teams_of(given, names))


def _check_topics(method: UnjudgedEstimator, vectors: object, documents: object) -> None:
    """Refuse topics where none are used, and none where they are needed."""
    if vectors is not None and documents is not None:
        raise UsageError("topic vectors and documents; expected one of them")
    given = vectors is not None or documents is not None
    if method.voting and given:
        raise UsageError(f"topics for {method.called}, which looks at none; expected deshato")
    if not method.voting and not given:
        raise UsageError(f"{method.called} without topic vectors; expected --topics VECTORS or --docs DOCS")
