"""Ranking of systems without relevance judgments: voting methods, and the shape of topic distributions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.ids import Vocabulary
from leadline.data.reading import Reading, RunsOptions
from leadline.data.table import Column, ResultWarning, RunInfo, plain, raised
from leadline.data.validation import check_whole
from leadline.data.wording import counted, first_few, percent, queries
from leadline.errors import InputError, UsageError, both, one_of
from leadline.estimation.system_lists import RankedPool, Systems, Topics, number_teams, read_systems
from leadline.estimation.unjudged_methods import (
    METHODS,
    NO_VECTORS,
    UnjudgedEstimate,
    UnjudgedEstimator,
    saturation,
)
from leadline.evaluation.run_warnings import selection_warnings
from leadline.io.read import RunLike
from leadline.io.read_paths import path_of, public, shown
from leadline.io.texts import TextsLike, read_documents
from leadline.result import Make, Result
from leadline.stats.moments import mean_of_defined

if TYPE_CHECKING:
    from leadline.topics.infer import Vectors


FEW = 10  # warn of fewer voting systems or teams
SHORT = 0.5  # warn of lists below this share of the depth and of the median length
SATURATED = 0.95  # warn above this share of the largest possible kurtosis


def estimate_warnings(
    method: UnjudgedEstimator, systems: Systems, used: Floats, voters: int, *, teams: bool = False
) -> list[ResultWarning]:
    """Return warnings of few voting systems, short lists and missing queries."""
    few = voters if method.voting and voters < FEW else 0
    missing = int(np.count_nonzero(~systems.present.all(axis=0)))
    without = [info.name for info, row in zip(systems.infos, systems.present, strict=True) if not row.all()]
    mean = used.mean(axis=1)
    full = float(method.depth or np.median(mean))
    short = [
        info.name
        for info, size in zip(systems.infos, mean.tolist(), strict=True)
        if size < SHORT * min(full, float(np.median(mean)))
    ]
    noun = "teams" if teams else "systems"
    votes = f"only {few} voting {noun} ({method.called} is unreliable with fewer than {FEW})"
    some = f"one or more of {first_few(without)}" if len(without) > 1 else first_few(without)
    lacking = f"{queries(missing)} missing from {some} (missing lists count as empty)"
    brief = (
        f"{counted(len(short), 'system has', 'systems have')} less than half the usual number of documents "
        f"({first_few(short)}), so scores are not comparable"
    )
    return raised(
        ("few_systems", votes, few), ("missing_queries", lacking, missing), ("short_lists", brief, len(short))
    )


def topic_warnings(
    method: UnjudgedEstimator, systems: Systems, topics: Topics, terms: dict[str, Floats], used: Floats
) -> list[ResultWarning]:
    """Return warnings of documents without a topic vector and of products dominated by one topic."""
    absent = int(np.count_nonzero(topics.row < 0))
    most = saturation(topics.theta.shape[1])
    peaks = terms.get("k(P)", np.zeros((0, 0)))[used > 0] if "k(P)" in terms else np.zeros(0)
    share = float(peaks.mean()) / most if len(peaks) and most else 0.0
    empty = int(np.count_nonzero((used == 0) & systems.present))
    single = int(np.count_nonzero(used == 1))
    documents = counted(len(systems.documents), "retrieved document")
    score = "left out of the mean" if getattr(method, "empty", "") == "skip" else "score 0"
    alone = f"{counted(single, 'list')} with a topic vector for only one document (this inflates scores)"
    saturated = (
        f"k(P) is on average {percent(round(share, 2))} of its maximum, so one topic dominates the products "
        "of topic vectors, and k(P) and s(P) are not informative"
    )
    return raised(
        ("single_documents", alone, single),
        ("without_vectors", f"{absent:,} of {documents} without a topic vector (skipped)", absent),
        ("no_vectors", f"{counted(empty, 'list')} without any topic vector ({score})", empty),
        ("saturated_product", saturated, int(share >= SATURATED)),
    )


Progress = Callable[[int, int], None]
TOPICS, FITS, SWEEPS = 50, 5, 500  # of LDA, where the texts of documents are given


@public
def unjudged(
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    *,
    method: str | UnjudgedEstimator = "nruns",
    depth: int | None = None,
    one_vote_per: str | Mapping[str, str] | None = None,
    vectors: str | os.PathLike[str] | Vectors | None = None,
    documents: TextsLike | None = None,
    topics: int = TOPICS,
    fits: int = FITS,
    sweeps: int = SWEEPS,
    seed: int = 0,
    id_column: str | None = None,
    encoding: str = "utf-8",
    on_run: Progress | None = None,
    on_query: Progress | None = None,
    on_fit: Progress | None = None,
    **options: Unpack[RunsOptions],
) -> Unjudged:
    """Rank systems without relevance judgments; larger scores are better.

    Queries are those of any run; a run without a query has an empty list for it. Scores are means over
    queries. They rank systems and do not estimate the value of any measure.

    Parameters
    ----------
    runs : run, sequence of runs or mapping
        The systems.
    method : str or UnjudgedEstimator, default "nruns"
        "nruns", "soboroff", "aslam-savell", "reference-count" and "spoerri" are based on the agreement
        between systems, "deshato" on the topics of a system's own documents. Parameters are given in
        parentheses, as in "NRuns(pseudo=10)"; the literature is cited at each method.
    depth : int, optional
        Number of documents used from each list; the default depends on the method.
    one_vote_per : str or mapping, optional
        Team of each run, as FILE:COLUMN or `{run: team}`. The runs of a team share one vote, and are not
        compared with each other.
    vectors : path or Vectors, optional
        Topic vectors of documents, for "deshato".
    documents : texts, optional
        Texts of the retrieved documents, to which LDA is fitted if there are no `vectors`.
    topics, fits, sweeps : int
        Number of topics, of LDA fits (scores are means over fits) and of Gibbs sweeps.
    seed : int, default 0
        Seed of random draws and of LDA.
    id_column, encoding : str
        Column of the document ids, and encoding of `documents`.
    on_run, on_query, on_fit : callable, optional
        Called with (done, total) after each run, query or fit.
    **options
        `order`, `on_duplicate`, `on_nan` and `name_by` of `leadline.data.reading.Reading`.

    Returns
    -------
    Unjudged

    Raises
    ------
    UsageError
        If there are too few systems, or topics are missing or superfluous.

    Examples
    --------
    >>> runs = {"a": {"q": ["d1", "d2"]}, "b": {"q": ["d1", "d3"]}, "c": {"q": ["d4", "d1"]}}
    >>> result = unjudged(runs, method="reference-count")
    >>> result.to_dict()["scores"]  # all retrieve d1, as do two others
    {'a': 2.0, 'b': 2.0, 'c': 2.0}
    """
    reading = Reading.of(unjudged, options, RunsOptions)
    chosen = METHODS.parse(method) if isinstance(method, str) else method
    chosen = chosen if depth is None else chosen.replace(depth=depth)
    check_whole(1, topics=topics, fits=fits, sweeps=sweeps)
    check_whole(0, seed=seed)
    _check_topics(chosen, vectors, documents)
    of_fits = {"topics": topics != TOPICS, "fits": fits != FITS, "sweeps": sweeps != SWEEPS}
    both(of_fits | {"id_column": id_column, "encoding": encoding != "utf-8"}, {"documents": documents})
    if documents is not None:
        chosen.check_topics(topics)
    systems = read_systems(runs, reading, on_run=on_run)
    vector_sets: Iterable[Topics | None] = [None]
    if vectors is not None:
        from leadline.topics.infer import vectors_of

        known = vectors_of(vectors)
        vector_sets = [systems.align(known.ids, known.theta, path_of(vectors))]
    elif documents is not None:
        vector_sets = fit_topics(
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
    result = estimate_systems(
        systems, chosen, one_vote_per=one_vote_per, topics=vector_sets, seed=seed, on_query=on_query
    )
    result.options |= {"vectors": shown(vectors), "documents": shown(documents)}
    if documents is not None:
        result.options |= {"topics": topics, "fits": fits, "sweeps": sweeps}
    result.options |= reading.options(RunsOptions)
    return result


def estimate_systems(
    systems: Systems,
    method: UnjudgedEstimator,
    *,
    one_vote_per: str | Mapping[str, str] | None = None,
    topics: Iterable[Topics | None] = (None,),
    seed: int = 0,
    on_query: Progress | None = None,
) -> Unjudged:
    """Rank systems that were read before, as `unjudged`."""
    names = [info.name for info in systems.infos]
    if one_vote_per is not None:
        from leadline.io.id_lists import teams_of

        names = teams_of(one_vote_per, names)
    team = number_teams(names)
    voters = len(np.unique(team))
    method.check(voters, "systems" if one_vote_per is None else "teams")
    fits = []
    warnings: list[ResultWarning] = []
    for vectors in topics:
        pools = systems.pools(team, seed=seed, topics=vectors)
        fits.append(_stacked(method, pools, len(systems.queries), on_query))
        if vectors is not None and not warnings:
            warnings = topic_warnings(method, systems, vectors, fits[0].terms, fits[0].used)
    values = np.mean([fit.values for fit in fits], axis=0)
    terms = {name: np.mean([fit.terms[name] for fit in fits], axis=0) for name in fits[0].terms}
    result = Unjudged(
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
    result.warnings = (
        selection_warnings(systems.infos)
        + warnings
        + estimate_warnings(method, systems, result.used, voters, teams=one_vote_per is not None)
    )
    return result


def fit_topics(
    systems: Systems,
    documents: TextsLike,
    topics: int,
    *,
    fits: int = FITS,
    sweeps: int = SWEEPS,
    seed: int = 0,
    id_column: str | None = None,
    encoding: str = "utf-8",
    on_fit: Progress | None = None,
) -> Iterator[Topics]:
    """Fit LDA to all retrieved documents several times and yield the topic vectors of each fit.

    Hyperparameters are fixed at alpha = 50 / T and beta = 0.01; vectors are means of 10 spaced samples.
    """
    from leadline.topics.infer import infer
    from leadline.topics.model import fit

    wanted = set(systems.documents)
    texts = {
        text.id: text.content
        for text in read_documents(documents, id_column=id_column, encoding=encoding)
        if text.id.encode("utf-8", "surrogateescape") in wanted
    }
    if not texts:
        raise InputError(
            "none of the retrieved documents is in the collection",
            path=path_of(documents),
            hint="Use the same document ids as in the runs.",
        )
    for turn in range(fits):
        vectors = infer(fit(texts, topics, sweeps=sweeps, seed=seed + turn), texts, seed=seed + turn)
        if on_fit:
            on_fit(turn + 1, fits)
        yield systems.align(vectors.ids, vectors.theta)


def _stacked(
    method: UnjudgedEstimator, pools: Iterable[RankedPool], total: int, on_query: Progress | None
) -> UnjudgedEstimate:
    """Return the estimates of all queries as arrays of systems x queries."""
    found = []
    for done, pool in enumerate(pools, start=1):
        found.append(method.estimate(pool))
        if on_query:
            on_query(done, total)
    return UnjudgedEstimate(
        np.stack([one.values for one in found], axis=1),
        np.stack([one.used for one in found], axis=1),
        {name: np.stack([one.terms[name] for one in found], axis=1) for name in found[0].terms},
    )


def _check_topics(method: UnjudgedEstimator, vectors: object, documents: object) -> None:
    """Raise UsageError if topics are given but not used, or needed but not given."""
    one_of({"--topics VECTORS": vectors, "--docs DOCUMENTS": documents})
    has_topics = vectors is not None or documents is not None
    if method.voting and has_topics:
        unused = "--docs DOCUMENTS" if vectors is None else "--topics VECTORS"
        raise UsageError(
            f"method {method.called} does not use topics. Leave out `{unused}`, or use `--method deshato`."
        )
    if not method.voting and not has_topics:
        raise UsageError(NO_VECTORS)


PRINTED = ("depth", "pseudo", "draws", "share_mean", "share_sd")  # parameters with their defaults too


@dataclass(repr=False, eq=False)
class Unjudged(Result):
    """Scores of systems without relevance judgments.

    Attributes
    ----------
    values : ndarray of float64, shape (n_systems, n_queries)
        Scores by query; NaN where undefined.
    used : ndarray of float64, shape (n_systems, n_queries)
        Number of documents from which each score is computed.
    terms : dict of str to ndarray of float64
        Terms of the scores, if any, shaped like `values`.
    by_fit : ndarray of float64, shape (n_fits, n_systems)
        Scores of each fitted topic model; one row without topic models.
    """

    method: UnjudgedEstimator
    runs: list[RunInfo]
    queries: Vocabulary
    values: Floats
    used: Floats
    terms: dict[str, Floats]
    by_fit: Floats

    @property
    def names(self) -> list[str]:
        """Names of the systems."""
        return [run.name for run in self.runs]

    @property
    def scores(self) -> Floats:
        """Mean of each system over the queries with a defined value."""
        return mean_of_defined(self.values)

    @property
    def spread(self) -> Floats | None:
        """Standard deviation of each score over fits; None with fewer than two fits."""
        return self.by_fit.std(axis=0, ddof=1) if len(self.by_fit) > 1 else None

    def order(self) -> list[int]:
        """Return the indices of the systems in descending order of score; ties are ordered by name."""
        scores = np.nan_to_num(self.scores, nan=-np.inf)
        return sorted(range(len(self.runs)), key=lambda index: (-scores[index], self.names[index]))

    def _columns(self) -> list[Column]:
        order = self.order()
        return [
            Column("system", [self.names[run] for run in order]),
            Column(self.method.called, self.scores[order]),
            Column("documents", self.used.mean(axis=1)[order]),
            *(Column(name, mean_of_defined(values)[order]) for name, values in self.terms.items()),
            *([] if self.spread is None else [Column("spread", self.spread[order])]),
        ]

    def _notes(self) -> list[str]:
        votes = ", one vote per team" * bool(self.method.voting and self.options.get("one_vote_per"))
        size = f"{counted(len(self.runs), 'system')}{votes}, mean over {queries(len(self.queries))}"
        method, drawn = self.method, hasattr(self.method, "draws") or self.spread is not None
        seed = f", seed {self.options['seed']}" if drawn else ""
        used = method.text_with([name for name in PRINTED if getattr(method, name, None)])
        notes = [
            f"{used}{seed}: {size}, without judgments",
            f"{self.method.called}: {self.method.formula}",
            "documents: mean number of documents per query used for the score",
            "scores rank systems but do not estimate any measure",
        ]
        if self.spread is not None:
            notes.append(f"spread: standard deviation of the score over {len(self.by_fit)} LDA fits")
        return [*notes, *super()._notes()]

    def lines(self) -> list[dict[str, Any]]:
        """Return one record per system."""
        names = ("name", "score", "used", *self.terms)
        return [dict(zip(names, row, strict=False)) for row in self.table().rows]

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return a dictionary with the keys method, estimator, scores and used.

        Parameters
        ----------
        per_query : bool, default False
            Add the scores of each query.
        """
        data: dict[str, Any] = {
            "method": self.method.called,
            "estimator": str(self.method),
            "scores": self._by_name(self.scores),
            "used": dict(zip(self.names, self.used.sum(axis=1).astype(int).tolist(), strict=True)),
        }
        if self.terms:
            data["terms"] = {
                name: self._by_name(mean_of_defined(values)) for name, values in self.terms.items()
            }
        if self.spread is not None:
            data["spread"] = self._by_name(self.spread)
            data["by_fit"] = [self._by_name(scores) for scores in self.by_fit]
        if per_query:
            data["queries"] = {
                query: {
                    "scores": self._by_name(self.values[:, column]),
                    "used": dict(zip(self.names, self.used[:, column].astype(int).tolist(), strict=True)),
                }
                for column, query in enumerate(self.queries)
            }
        return data

    def _by_name(self, values: Floats) -> dict[str, float | None]:
        return dict(zip(self.names, map(plain, values.tolist()), strict=True))

    def _figure(self) -> Make:
        """Draw the distribution over queries of the score of every system, the highest mean at the top."""
        from leadline.charts import COLUMN
        from leadline.charts.distribution_plots import distributions

        order = self.order()
        over = queries(self.values.shape[1])
        return lambda width: distributions(
            [self.names[run] for run in order],
            list(self.values[order]),
            self.scores[order],
            label=f"{self.method}, score without judgments ({over})",
            rows="systems",
            width=width or COLUMN,
        )

    def __repr__(self) -> str:
        return f"Unjudged({self.method}, {counted(len(self.runs), 'system')}, {queries(len(self.queries))})"
