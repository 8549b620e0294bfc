"""Rank measures estimated from scores of the relevant documents and of a sample of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.data.arrays import Flags, Floats, Hashes
from leadline.data.ids import to_text
from leadline.data.judged_run import JudgedRun
from leadline.data.judgment_tables import Pooled
from leadline.data.qrels import QrelsColumns
from leadline.data.reading import JudgedOptions, NegativeOptions, Reading
from leadline.data.table import ResultWarning, RunInfo, raised
from leadline.data.validation import check_arguments, check_numbers, check_whole, check_word
from leadline.data.wording import beyond, counted, listed
from leadline.data.wording import queries as queries_of
from leadline.estimation.histogram_result import over_runs
from leadline.estimation.rank_corrections import (
    MOST_DRAWN,
    Pairs,
    RankEstimator,
    check_estimable,
    corrected,
    rank_terms,
    sums_over_ranks,
)
from leadline.estimation.sampling_errors import NoInterval
from leadline.estimation.score_sets import POSITIVE, Scorer, certain_documents, drawn_to_score, scored_runs
from leadline.estimation.strata import (
    Estimates,
    Population,
    Strata,
    check_population,
    strata,
    with_estimated_ranks,
)
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.join import judge_runs, listed_runs, named_sources
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.run_warnings import check_level, levels_of, runs_in_words, warnings_of
from leadline.io.objects import Qrels, judgments_of
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import public
from leadline.measures import Measure
from leadline.stats import INTERVALS, checked_level

DEFAULT_MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@100")
CORRECTIONS = ("log", "none")
ROUNDING = 1e-12
# The rules of docs/unjudged.md, from the simulation in docs/studies/sampled-intervals.md.
FEW_SAMPLED = 30  # documents per query
FEW_QUERIES = 10
# Largest weight N/n for measures without a cutoff: without and with documents included with certainty.
MOST_WITHOUT_CUTOFF, MOST_BESIDE_CERTAIN = 20.0, 100.0
MOST_SIZE = 10**9  # largest population for which samples can be simulated


class SampledOptions(NamedTuple):
    """Options of rank correction and interval estimation."""

    correction: str  # {"log", "none"}: whether ranks are corrected
    gamma: float | None  # weight of the variance against the squared bias; 1 / number of queries if None
    exponent: float | None  # exponent of the prior; estimated by maximum likelihood if None
    draws: int  # number of pseudo-populations
    confidence: float  # confidence level
    seed: int  # seed of the pseudo-populations
    # whether intervals are given even where they would be withheld (for simulation studies)
    offer_all: bool = False


class SampledRun(NamedTuple):
    """Estimates of one run."""

    values: Floats  # corrected estimates (n_queries x n_measures)
    known: Flags  # queries that have an estimate
    limits: Floats  # low, high, sampling_low, sampling_high and bias (n_measures x 5)
    uncorrected: Floats  # means without correction
    withheld: list[str]  # reason for withholding the interval, by measure; empty if it is given
    samples: Hashes  # identifier of the set of scored documents of each query
    # relevant documents, and documents included with certainty, that have no score
    lacking: int
    constant: int  # queries whose scores are all equal
    unscored: int


@public
def sampled(
    qrels: QrelsLike,
    scores: RunLike | Scorer | Sequence[RunLike] | Mapping[str, RunLike | Scorer],
    measures: Iterable[str | Measure] | str | Measure | None = None,
    *,
    population: Population = None,
    sample: int | None = None,
    certain: tuple[RunLike, int] | str | None = None,
    correction: str = "log",
    rel: float | None = None,
    queries: str = "all",
    documents: Sequence[str] | None = None,
    draws: int = 40,
    confidence: float = 0.95,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[JudgedOptions],
) -> Estimates:
    """Estimate rank measures from scores of the relevant documents and of a sample of the others.

    `scores` contain all documents of positive grade and n other documents of each query, drawn from N. N is
    the number of documents in the collection (`population`) minus those of positive grade, or specified by
    query, or the number of scored documents. The rank of a relevant document is 1 + the number of relevant
    and certain documents above it + the number of the other documents above it. The last number is known
    for the sample only; measures are estimated from it with the correction of Krichene and Rendle (2020).
    See docs/unjudged.md.

    Parameters
    ----------
    qrels : qrels in any form that is read
        Judgments.
    scores : runs in any form that is read, or functions
        Functions `(query, documents) -> scores` are called with the relevant documents and a sample of
        `documents`.
    measures : measures or their names, optional
        AP, nDCG@10, RR, P@10, R@100 by default.
    population : int or mapping, optional
        Number of documents in the collection, or number of non-relevant documents by query.
    sample : int, optional
        Non-relevant documents per query: at most K that are `certain`, and `sample` - K drawn by hash, the
        same for every run. A query whose first K include relevant documents has fewer than `sample`.
    certain : tuple of (run, int) or "RUN:K", optional
        The first K documents of this run were included with certainty (weight 1); the others have weight N/n.
    correction : {"log", "none"}, default "log"
        Prior of the number of documents above: uniform on a logarithmic scale (with `certain`, a power of it
        estimated by maximum likelihood); or no correction, with weight N/n for each sampled document.
    rel : float, optional
        Minimum relevant grade.
    queries : {"all", "with_relevant"}
        Queries over which means are taken.
    documents : sequence of str, optional
        Document ids of the collection, if `scores` contains functions.
    draws : int, default 40
        Number of pseudo-populations from which the sampling variance is estimated; 0: no intervals.
    confidence : float, default 0.95
        Confidence level of the intervals.
    seed : int, default 0
        Random seed for drawing the sample and for its intervals.
    on_run : callable, optional
        Called with (done, total) after each run.
    **options
        `negative`, `order`, `on_duplicate`, `on_nan` and `name_by` of `leadline.data.reading.Reading`.

    Returns
    -------
    Estimates
        Intervals `sampling_low`, `sampling_high` are over samples with the queries fixed; `low`, `high` are
        over samples and queries. Both are NaN where their coverage is not confirmed by simulation; `withheld`
        contains the reason.

    Notes
    -----
    A complete sample without ties gives the exact value and a sampling interval of zero width. A query with
    N > 0 and without a scored non-relevant document has no estimate; such queries are excluded and counted.
    Estimates of single queries may lie outside the range of the measure; their mean is nearly unbiased.

    References
    ----------
    Krichene and Rendle (2020), On sampled metrics for item recommendation, KDD.

    Examples
    --------
    >>> judgments = {"q1": {"d1": 1, "d2": 1}}
    >>> scores = {"q1": {"d1": 3.0, "x": 2.0, "d2": 1.0}}
    >>> plain = sampled(judgments, scores, "AP", population=12, correction="none")
    >>> round(plain.mean("run", "AP"), 4)  # weight of x is 10: ranks 1 and 12, (1 + 2/12) / 2
    0.5833
    """
    reading = Reading.of(sampled, options, JudgedOptions)
    check_whole(1, sample=sample)
    check_whole(0, draws=draws, seed=seed)
    confidence = checked_level(confidence)
    check_word(("all", "with_relevant"), queries=queries)
    check_word(CORRECTIONS, correction=correction)
    check_arguments(sampled, (), {"documents": documents})
    if rel is not None:
        check_numbers(rel=rel)
    wanted = profile_of("leadline").measures(DEFAULT_MEASURES if measures is None else measures, rel=rel)
    check_estimable(wanted)
    table = judgments_of(qrels, reading)
    refuse_sample(table)
    check_level(rel, table)
    check_population(population, table)
    if documents is not None and population is None:
        grades = table.to_dict().values()
        population = len({*documents, *(name for one in grades for name, grade in one.items() if grade > 0)})
    fixed = certain_documents(certain, table, reading)
    sources = scored_runs(
        listed_runs(scores), table, documents=documents, sample=sample, seed=seed, rel=POSITIVE, certain=fixed
    )
    several = len(named_sources(sources)) > 1
    # The exponent can be estimated only if the top ranks are observed, as with certain documents.
    exponent = 1.0 if fixed is None else None
    settings = SampledOptions(correction, None, exponent, draws, confidence, seed)

    def measure_run(judged: JudgedRun) -> SampledRun:
        parts = strata(judged, population, sample, seed, certain=fixed, identify=several)
        return estimate_run(judged, parts, wanted, queries, settings)

    infos, estimates = judge_runs(sources, table, measure_run, reading=reading, keep=True, on_run=on_run)
    return Estimates(
        infos,
        table.queries,
        wanted,
        np.stack([run.values for run in estimates]),
        np.stack([_counted(run.known, table, queries) for run in estimates]),
        np.stack([run.limits for run in estimates]),
        uncorrected=np.stack([run.uncorrected for run in estimates]),
        withheld=[run.withheld for run in estimates],
        warnings=_warnings(infos, table, estimates, wanted, queries, whole_collection=population is None),
        options={
            "measures": list(map(str, wanted)),
            "population": dict(population) if isinstance(population, Mapping) else population,
            "sample": sample,
            "certain": _shown(certain),
            "correction": correction,
            "rel": rel,
            "queries": queries,
            "draws": draws,
            "confidence": confidence,
            "seed": seed,
            **reading.options(JudgedOptions),
        },
    )


def sample_to_score(
    qrels: QrelsLike,
    documents: Sequence[str],
    *,
    sample: int,
    certain: tuple[RunLike, int] | str | None = None,
    seed: int = 0,
    **options: Unpack[NegativeOptions],
) -> Pooled:
    """Draw the documents that systems must score for an estimate with `sampled`.

    For each query: all documents of positive grade, the first K documents of a baseline run (`certain`), and
    documents drawn at random from the rest of the collection, so that `sample` documents do not have a
    positive grade. In the simulation of docs/unjudged.md, K = `sample` / 2 has the smallest error.

    >>> drawn = sample_to_score(
    ...     {"q1": {"d1": 1}}, ["d1", "d2", "d3", "d4"], sample=2, certain=({"q1": {"d4": 1.0}}, 1)
    ... )
    >>> list(zip(drawn.documents, drawn.probability.tolist()))
    [('d1', 1.0), ('d4', 1.0), ('d3', 0.5)]
    """
    check_whole(1, sample=sample)
    reading = Reading.of(sample_to_score, options, NegativeOptions)
    check_whole(0, seed=seed)
    table = judgments_of(qrels, reading)
    refuse_sample(table)
    fixed = certain_documents(certain, table, reading)
    queries: list[str] = []
    names: list[str] = []
    chances: list[float] = []
    drawn = drawn_to_score(table, documents, sample=sample, seed=seed, rel=POSITIVE, certain=fixed)
    for query, one in drawn.items():
        chosen = [*one.sure, *one.drawn]
        queries += [query] * len(chosen)
        names += map(to_text, chosen)
        chances += [1.0] * len(one.sure) + [len(one.drawn) / max(one.others, 1)] * len(one.drawn)
    return Pooled(queries, names, np.array(chances), [{} for _ in names])


def _shown(certain: Any) -> str | None:
    """Return the baseline run and K as text."""
    if certain is None or isinstance(certain, str):
        return certain
    return f"{certain[0] if isinstance(certain[0], str) else 'run'}:{certain[1]}"


def _counted(estimable: Flags, qrels: QrelsColumns, queries: str) -> Flags:
    """Return flags of the queries over which means are taken."""
    return estimable & (qrels.relevant(POSITIVE) > 0) if queries == "with_relevant" else estimable


def estimate_run(
    judged: JudgedRun, parts: Strata, measures: Sequence[Measure], queries: str, settings: SampledOptions
) -> SampledRun:
    """Estimate the measures of one run from its strata."""
    join = with_estimated_ranks(judged, parts)
    plain_values = np.stack([measure.values(join) for measure in measures], axis=1)
    estimable = (parts.size == 0) | (parts.sampled > 0)
    plain_values[~estimable] = np.nan
    counted = _counted(estimable, judged.qrels, queries)
    values, variance, bias = _estimated(join, parts, measures, plain_values, settings)
    reasons = withheld(parts, measures, settings, int(counted.sum()))
    if judged.qrels.by_machine:
        reasons = [NoInterval.MACHINE.value] * len(measures)
    offered = [""] * len(measures) if settings.offer_all else reasons
    limits = _limits(values[counted], variance[counted], bias[counted], settings, offered)
    means = np.full(len(measures), np.nan)
    if counted.any():
        means = np.nan_to_num(plain_values[counted]).mean(axis=0)
    return SampledRun(
        values,
        estimable,
        limits,
        means,
        reasons,
        parts.sample,
        int(judged.qrels.relevant(POSITIVE).sum()) - len(parts.row),
        int(parts.constant.sum()),
        int(parts.unscored.sum()),
    )


def _correctable(parts: Strata) -> Flags:
    """Return flags of the queries whose ranks can be corrected."""
    few = (parts.sampled > 0) & (parts.sampled <= MOST_DRAWN)
    return few & parts.open & (parts.size < MOST_SIZE)


def _estimated(
    join: JudgedRun, parts: Strata, measures: Sequence[Measure], values: Floats, settings: SampledOptions
) -> tuple[Floats, Floats, Floats]:
    """Return values, variance over samples, and bias (queries x measures)."""
    values, variance, bias = values.copy(), np.zeros(values.shape), np.zeros(values.shape)
    kept = np.flatnonzero(_correctable(parts)[parts.query])
    chosen = [
        (index, terms)
        for index, measure in enumerate(measures)
        if (terms := rank_terms(measure, join)) is not None
    ]
    if settings.correction == "none" or not len(kept) or not chosen:
        return values, variance, bias
    query = parts.query[kept]
    codes, number = np.unique(query, return_inverse=True)
    pairs = Pairs(number, parts.start[kept], parts.above[kept], parts.size[query], parts.sampled[query])
    gamma = settings.gamma or 1 / int(parts.listed.sum())
    estimator = RankEstimator(pairs, gamma, settings.exponent)
    made = corrected(
        estimator,
        [terms.weight[kept] for _, terms in chosen],
        [terms.of_rank for _, terms in chosen],
        settings.draws,
        np.random.default_rng([settings.seed, 2]),
    )
    for column, (index, _) in enumerate(chosen):
        defined = ~np.isnan(values[codes, index])
        at = codes[defined]
        values[at, index] = made.values[defined, column]
        variance[at, index] = made.variance[defined, column]
        bias[at, index] = made.bias[defined, column]
    return values, variance, bias


def withheld(parts: Strata, measures: Sequence[Measure], settings: SampledOptions, queries: int) -> list[str]:
    """Return the reason for withholding the interval of each measure; empty if it is given.

    Intervals are given where their coverage in the simulation of docs/studies/sampled-intervals.md was as
    nominal.
    """
    if not parts.open.any():
        return [""] * len(measures)
    weight = float(parts.weight.max(initial=1.0))
    fewest = int((parts.sampled + parts.fixed - parts.unscored)[parts.open].min())
    if not settings.draws:
        same = "intervals are turned off (0 draws)"
    elif settings.correction != "log":
        same = f"intervals are available only with correction 'log', not '{settings.correction}'"
    elif not _correctable(parts)[parts.open & (parts.sampled > 0)].all():
        drawn = int(parts.sampled[parts.open].max())
        same = f"more than {MOST_DRAWN:,} documents were sampled for a query, too many for the correction"
        if drawn <= MOST_DRAWN:
            same = f"a query has a population of {MOST_SIZE:,} documents or more, too many to simulate"
    elif queries < FEW_QUERIES:
        same = f"intervals need at least {FEW_QUERIES} queries, not {queries}"
    elif fewest <= FEW_SAMPLED:
        same = f"intervals need at least {FEW_SAMPLED + 1} sampled documents per query, not {fewest}"
    else:
        same = ""
    most_of_all = MOST_WITHOUT_CUTOFF if settings.exponent is not None else MOST_BESIDE_CERTAIN
    reasons = []
    for measure, correctable in zip(measures, sums_over_ranks(measures), strict=True):
        cutoff = getattr(measure, "cutoff", None)
        most = most_of_all if cutoff is None else cutoff
        limit = "the limit for measures without a cutoff" if cutoff is None else "the cutoff"
        if same:
            reasons.append(same)
        elif not correctable:
            reasons.append("no correction is available")
        elif weight > most:
            shown = f"{weight:,.1f}" if round(weight, 1) > most else beyond(weight, most)
            reasons.append(f"a sampled document has weight {shown}, more than {most:g} ({limit})")
        else:
            reasons.append("")
    return reasons


def _limits(
    values: Floats, variance: Floats, bias: Floats, settings: SampledOptions, reasons: Sequence[str]
) -> Floats:
    """Return low, high, sampling_low, sampling_high and bias, by measure."""
    size, columns = values.shape
    limits = np.full((columns, 5), np.nan)
    if not size:
        return limits
    values = np.nan_to_num(values)
    mean, level = values.mean(axis=0), settings.confidence
    limits[:, 0], limits[:, 1] = INTERVALS.parse("Student").limits(values, level=level)
    half = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(np.nan_to_num(variance).sum(axis=0)) / size
    limits[:, 2], limits[:, 3] = mean - half, mean + half
    left_out = np.array([bool(reason) for reason in reasons])
    limits[left_out, :4] = np.nan
    total = bias.mean(axis=0)
    limits[:, 4] = np.where(np.abs(total) > ROUNDING, total, np.where(np.isnan(total), np.nan, 0.0))
    if settings.correction == "none" and left_out.any():
        limits[left_out, 4] = np.nan
    return limits


def _warnings(
    infos: Sequence[RunInfo],
    qrels: Qrels,
    measured: Sequence[SampledRun],
    measures: Sequence[Measure],
    queries: str,
    whole_collection: bool,
) -> list[ResultWarning]:
    """Return the warnings about estimates from samples; `whole_collection`: no population was given."""
    warnings = [
        notice
        for notice in warnings_of(infos, qrels, averaging=queries, levels=levels_of(measures))
        if notice.code not in ("unjudged_documents", "tied_lists")
    ]
    samples = np.stack([run.samples for run in measured])
    shared = (samples != 0).all(axis=0)
    differ = int((shared & (samples != samples[0]).any(axis=0)).sum())
    different = f"for {queries_of(differ)}, the runs score different non-relevant documents, so "
    different += "differences between runs include differences between samples"

    without = " without a score{in_runs} ("
    nouns = ("list of equal scores", "lists of equal scores")
    sums = {
        "no_score": (
            [run.lacking for run in measured],
            ("relevant document", "relevant documents"),
            f"{without}counted as not retrieved)",
        ),
        "certain_without_score": (
            [run.unscored for run in measured],
            ("certain document", "certain documents"),
            f"{without}treated as ranked last)",
        ),
        "no_sample": (
            [int((~run.known).sum()) for run in measured],
            ("query", "queries"),
            " without a scored non-relevant document{in_runs} (excluded from the means)",
        ),
        "constant_scores": (
            [run.constant for run in measured],
            nouns,
            "{in_runs} (every document has the middle rank)",
        ),
    }
    unjudged = int((qrels.grades < 0).sum())
    negative = (
        f"ignored {counted(unjudged, 'negative grade')} (pooled but unjudged). To estimate from a sample "
        "of a pool, use `leadline evaluate QRELS RUN -m infAP`"
    )
    words = (
        "no population was given, so the scored documents count as the whole collection. To estimate from a "
        "sample of judgments, use `leadline evaluate JUDGMENTS RUN... --pool POOL`"
    )
    return [
        *warnings,
        *raised(("negative_grades", negative, unjudged), ("different_samples", different, differ)),
        *raised(*((code, over_runs(infos, *words), sum(words[0])) for code, words in sums.items())),
        *raised(("no_population", words, int(whole_collection))),
        *_withheld_warnings(infos, measured, measures),
    ]


def _withheld_warnings(
    infos: Sequence[RunInfo], measured: Sequence[SampledRun], measures: Sequence[Measure]
) -> list[ResultWarning]:
    """Return warnings of withheld intervals, one for each reason."""
    cells: dict[str, tuple[dict[str, None], Flags]] = {}
    for row, run_result in enumerate(measured):
        for measure, reason in zip(measures, run_result.withheld, strict=True):
            if reason:
                named, flags = cells.setdefault(reason, ({}, np.zeros(len(infos), dtype=np.bool_)))
                named[str(measure)] = None
                flags[row] = True
    return [
        ResultWarning(
            "no_interval",
            f"no interval for {listed(list(named))} of {runs_in_words(infos, flags)}: {reason}",
            len(named) * int(flags.sum()),
        )
        for reason, (named, flags) in cells.items()
    ]
