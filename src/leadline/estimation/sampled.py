"""Rank measures estimated from the relevant documents and a sample of scored others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.data.arrays import Flags, Floats, Hashes
from leadline.data.ids import to_bytes
from leadline.data.judged_run import JudgedRun
from leadline.data.qrels import Qrels
from leadline.data.reading import JudgedOptions, NegativeOptions, Reading
from leadline.data.validation import check_numbers, check_whole, check_word
from leadline.errors import UsageError
from leadline.estimation.rank_corrections import (
    MOST_DRAWN,
    Pairs,
    RankEstimator,
    corrected,
    rank_terms,
    sums_over_ranks,
)
from leadline.estimation.score_histograms.histogram_result import sampled_notices
from leadline.estimation.score_histograms.score_sets import (
    Scorer,
    certain_documents,
    pairs_to_score,
    scored_runs,
)
from leadline.estimation.score_histograms.subsampling import Estimates
from leadline.estimation.strata import POSITIVE, Population, Query, estimated, strata
from leadline.evaluation.join import judge_runs, listed_runs, named_sources
from leadline.evaluation.profiles import profile_of
from leadline.evaluation.run_warnings import levels_of
from leadline.io.pool_files import Pooled
from leadline.io.read import QrelsLike, RunLike, judgments_of
from leadline.measures import Measure

# Lists that a measure must value alike with and without their other judged documents.
PROBES: tuple[tuple[float | None, ...], ...] = (
    (1, 0, None, 2, 0, 1),
    (0, 0, 1, 1),
    (None, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    (0, None, 0, 0),
    (0, 0, 0, 0, 0, 1, 2),
    (1, 1, 0, 0),
    (-1, 0, 1, -1, 0, 0, 2, -1, 1),
)


def refuse_others(measures: Sequence[Measure]) -> None:
    """Refuse measures that depend on more than the ranks of documents of positive grade."""
    wrong = [str(measure) for measure in measures if not is_estimable(measure)]
    if wrong:
        raise UsageError(
            f"{', '.join(wrong)} cannot be estimated from a sample; expected measures of the ranks of "
            "relevant documents, such as AP, nDCG@10, RR, P@10, R@100"
        )


def is_estimable(measure: Measure) -> bool:
    """Try a measure: it must not see other judged documents, and bear ranks that are not whole.

    >>> from leadline.measures import MEASURES
    >>> [is_estimable(MEASURES.parse(name)) for name in ("AP", "nDCG@10", "Bpref", "Judged@10")]
    [True, True, False, False]
    """
    if measure.needs != "judgments" or getattr(measure, "rel", 1.0) <= 0 or measure.average != "mean":
        return False
    for probe in PROBES:
        whole = JudgedRun.of_grades(probe, [1, 1, 0, 3, *(one for one in probe if one is not None)])
        try:
            values = [measure.values(one)[0] for one in (whole, _thinned(whole, 0), _thinned(whole, 0.5))]
        except (UsageError, IndexError, TypeError, ValueError):
            return False
        if not np.isclose(values[0], values[1], equal_nan=True):
            return False
    return True


def _thinned(judged: JudgedRun, more: float) -> JudgedRun:
    """Give the same list without its judged documents of no positive grade, ranks moved by a part."""
    kept = judged.grade >= POSITIVE
    rank: Any = judged.rank[kept] + more  # not whole here
    return JudgedRun(
        judged.qrels,
        present=judged.present,
        length=judged.length,
        offsets=np.array([0, np.count_nonzero(kept)]),
        rank=rank,
        row=judged.row[kept],
        tie_first=rank,
        tie_last=rank,
        unjudged_ties=judged.unjudged_ties,
    )


DEFAULT_MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@100")
CORRECTIONS = ("log", "uniform", "none")
ROUNDING = 1e-12
# The rules of docs/sampled.md, from the simulation in docs/studies/sampled-intervals.md.
FEW_SAMPLED = 30  # documents per query
FEW_QUERIES = 10
# Documents for which a drawn one stands, for measures of the whole list: all drawn, and with certain ones.
MOST_WITHOUT_CUTOFF, MOST_BESIDE_CERTAIN = 20.0, 100.0
# Smallest and largest coverage of 95 % sampling intervals over all simulated cells that print one.
COVERAGE, COVERAGE_BESIDE_CERTAIN = (0.87, 1.0), (0.85, 1.0)
MOST_SIZE = 10**9  # documents in a population that samples can be simulated from


class SampledOptions(NamedTuple):
    """How ranks are corrected and intervals are made."""

    correction: str
    gamma: float | None
    exponent: float | None
    draws: int
    confidence: float
    seed: int
    offer_all: bool = False  # intervals whatever the rules say, for the study of the rules


class One(NamedTuple):
    """What one run came to: values by query and measure, intervals and their reasons, counts."""

    values: Floats
    known: Flags
    limits: Floats
    uncorrected: Floats
    withheld: list[str]
    samples: Hashes
    sampled: int
    weight: float
    lacking: int
    constant: int
    unscored: int


def sampled(
    qrels: QrelsLike,
    scores: RunLike | Scorer | Sequence[RunLike] | Mapping[str, RunLike | Scorer],
    measures: Iterable[str | Measure] | str | Measure | None = None,
    *,
    population: Population = None,
    sample: int | None = None,
    certain: tuple[RunLike, int] | str | None = None,
    correction: str = "log",
    gamma: float | None = None,
    rel: float | None = None,
    queries: str = "all",
    documents: Sequence[str] | None = None,
    draws: int = 40,
    confidence: float = 0.95,
    seed: int = 0,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[JudgedOptions],
) -> Estimates:
    """Estimate rank measures from scores of the relevant documents and of a sample of others.

    `scores` hold every document of positive grade and n others of each query. N is the number of documents
    in the collection (`population`) less those of positive grade, or given by query; without it all others
    that have scores. The rank of a relevant document is 1 + the relevant documents and the certain others
    above it + the number of the remaining others above it, of which the sample shows part; measures are
    estimated from these by the correction of Krichene and Rendle (2020). See docs/sampled.md.

    Parameters
    ----------
    qrels : qrels in any form that is read
        Judgments.
    scores : runs in any form that is read, or functions
        Python functions `(query, documents) -> scores` score the relevant and a sample of the `documents`.
    measures : measures or their names, optional
        AP, nDCG@10, RR, P@10, R@100 by default.
    population : int or mapping, optional
        Documents in the collection, or how many are not relevant, by query.
    sample : int, optional
        Others to keep per query, those of `certain` included; drawn by hash, the same for every run.
    certain : tuple of (run, int) or "RUN:K", optional
        The first K documents of this run were taken for certain: they weigh 1, drawn ones N/n of the rest.
    correction : {"log", "uniform", "none"}, default "log"
        Prior of the number of documents above: uniform on a log scale (with `certain`, a power of it that is
        fitted); uniform, as published; or no correction, each drawn document counting N/n times.
    gamma : float, optional
        Weight of the variance against the squared bias; 1 / number of queries by default.
    rel : float, optional
        Smallest relevant grade.
    queries : {"all", "with_relevant"}
        Queries of the mean.
    documents : sequence of str, optional
        Ids of the collection, for functions.
    draws : int, default 40
        Pseudo-populations that the sampling variance is estimated from; 0: no intervals.
    confidence : float, default 0.95
        Confidence level.
    seed : int, default 0
        Seed of the sample and of the pseudo-populations.
    on_run : callable, optional
        Called with (done, total) after each run.
    **options
        `negative`, `order`, `on_duplicate`, `on_nan` and `name_by` of `leadline.data.reading.Reading`.

    Returns
    -------
    Estimates
        `sampling_low` and `sampling_high` are for other samples of the same queries, `low` and `high` for
        other queries too. Both are NaN where the simulation did not confirm them, and `withheld` says why.

    Notes
    -----
    A full sample without ties gives the exact value, and a sampling interval of no width. A query with N > 0
    and no scored other has no estimate; it is left out and counted. Estimates of single queries may leave
    the range of the measure: their mean is nearly unbiased, not each of them.

    Examples
    --------
    >>> judgments = {"q1": {"d1": 1, "d2": 1}}
    >>> scores = {"q1": {"d1": 3.0, "x": 2.0, "d2": 1.0}}
    >>> plain = sampled(judgments, scores, "AP", population=12, correction="none")
    >>> round(plain.mean("run", "AP"), 4)  # x stands for 10: ranks 1 and 12, (1 + 2/12) / 2
    0.5833

    """
    reading = Reading.of(sampled, options, JudgedOptions)
    check_whole(1, sample=sample)
    check_whole(0, draws=draws, seed=seed)
    check_numbers(confidence=confidence)
    check_word(("all", "with_relevant"), queries=queries)
    check_word(CORRECTIONS, correction=correction)
    if gamma is not None and not 0 < gamma <= 1:
        raise UsageError(f"gamma={gamma}; expected above 0 and at most 1")
    wanted = _wanted(measures, rel)
    table = judgments_of(qrels, reading)
    if isinstance(population, (bool, float)):
        raise UsageError(f"population={population!r}; expected a whole number, or one by query")
    if documents is not None and population is None:
        population = len(set(documents) | _positive(table))
    fixed = certain_documents(certain, table, reading)
    sources = scored_runs(
        listed_runs(scores), table, documents=documents, sample=sample, seed=seed, rel=POSITIVE, certain=fixed
    )
    several = len(named_sources(sources)) > 1
    # With certain documents the first ranks are seen, and the exponent can be fitted; without, it cannot.
    exponent = 0.0 if correction == "uniform" else 1.0 if fixed is None else None
    recipe = SampledOptions(correction, gamma, exponent, draws, confidence, seed)

    def one(judged: JudgedRun) -> One:
        parts = strata(judged, population, sample, seed, certain=fixed, identify=several)
        return estimate_run(judged, parts, wanted, queries, recipe)

    infos, found = judge_runs(sources, table, one, reading=reading, keep=True, on_run=on_run)
    return Estimates(
        infos,
        table.queries,
        wanted,
        np.stack([each.values for each in found]),
        np.stack([_counted(each.known, table, queries) for each in found]),
        np.stack([each.limits for each in found]),
        uncorrected=np.stack([each.uncorrected for each in found]),
        withheld=[each.withheld for each in found],
        warnings=sampled_notices(
            infos, table, found, wanted, levels_of(wanted), queries, whole=population is None
        ),
        options={
            "measures": list(map(str, wanted)),
            "population": dict(population) if isinstance(population, Mapping) else population,
            "sample": sample,
            "certain": _shown(certain),
            "correction": correction,
            "gamma": gamma,
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
    """Draw the documents that every system has to score, so that `sampled` can estimate measures.

    Per query: every document of positive grade; with `certain`, the first K documents of a baseline run;
    and documents drawn at random from the rest of the collection, `sample` documents of no positive grade in
    all. Half for certain and half drawn estimates best in the simulation of docs/sampled.md.

    Parameters
    ----------
    qrels : qrels in any form that is read
        Judgments.
    documents : sequence of str
        Ids of the collection.
    sample : int
        Documents of no positive grade per query, K included.
    certain : tuple of (run, int) or "RUN:K", optional
        The baseline run and K.
    seed : int, default 0
        Seed of the draw, by hash: the same for every system.
    **options
        `negative` of `leadline.data.reading.Reading`.

    Returns
    -------
    Pooled
        Pairs of query and document with their inclusion probabilities.

    Examples
    --------
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
    fixed = certain_documents(certain, table, reading)
    pairs = pairs_to_score(table, documents, sample=sample, seed=seed, rel=POSITIVE, certain=fixed)
    collection = set(map(to_bytes, documents))
    queries: list[str] = []
    names: list[str] = []
    chances: list[float] = []
    for query, chosen in pairs.items():
        code = table.queries.code(query)
        assert code is not None
        low, high = int(table.begin[code]), int(table.end[code])
        grades = table.grades[low:high].tolist()
        known = {
            name
            for name, grade in zip(table.documents.take(np.arange(low, high)), grades, strict=True)
            if grade > 0
        }
        if fixed is not None:
            known |= fixed.documents[code]
        rest = len(collection - known)
        drawn = sum(to_bytes(name) not in known for name in chosen)
        queries += [query] * len(chosen)
        names += chosen
        chances += [1.0 if to_bytes(name) in known else drawn / rest for name in chosen]
    return Pooled(queries, names, np.array(chances), [{} for _ in names])


def _shown(certain: Any) -> str | None:
    """Return the baseline run and K as text, a run in memory without its name."""
    if certain is None or isinstance(certain, str):
        return certain
    return f"{certain[0] if isinstance(certain[0], str) else 'run'}:{certain[1]}"


def _wanted(measures: Any, rel: float | None) -> list[Measure]:
    if rel is not None:
        check_numbers(rel=rel)
    given = DEFAULT_MEASURES if measures is None else measures
    listed = [given] if isinstance(given, (str, Measure)) else list(given)
    wanted = profile_of("leadline").measures(listed, rel=rel)
    refuse_others(wanted)
    return wanted


def _positive(qrels: Qrels) -> set[str]:
    return {name for grades in qrels.to_dict().values() for name, grade in grades.items() if grade > 0}


def _counted(known: Flags, qrels: Qrels, queries: str) -> Flags:
    """Say which queries take part in the mean."""
    return known & (qrels.relevant(POSITIVE) > 0) if queries == "with_relevant" else known


def estimate_run(
    judged: JudgedRun,
    parts: dict[int, Query],
    measures: Sequence[Measure],
    queries: str,
    recipe: SampledOptions,
) -> One:
    """Estimate the measures of one run from its strata."""
    ranks = {code: one.ranks(one.above(one.cells)) for code, one in parts.items()}
    join = estimated(judged, parts, ranks)
    plain_values = np.stack([measure.values(join) for measure in measures], axis=1)
    known = np.ones(len(judged.present), dtype=np.bool_)
    known[[code for code, one in parts.items() if one.size and not one.sampled]] = False
    plain_values[~known] = np.nan
    counted = _counted(known, judged.qrels, queries)
    values, variance, bias = _estimated(join, parts, measures, plain_values, recipe)
    reasons = withheld(parts, measures, recipe, int(counted.sum()))
    offered = [""] * len(measures) if recipe.offer_all else reasons
    limits = _limits(values[counted], variance[counted], bias[counted], recipe, offered)
    lacking = judged.qrels.relevant(POSITIVE).sum() - sum(len(one.row) for one in parts.values())
    samples = np.zeros(len(known), dtype=np.uint64)
    for code, one in parts.items():
        samples[code] = one.sample
    means = np.full(len(measures), np.nan)
    if counted.any():
        means = np.nan_to_num(plain_values[counted]).mean(axis=0)
    return One(
        values,
        known,
        limits,
        means,
        reasons,
        samples,
        sum(one.sampled for one in parts.values()),
        _largest_weight(parts),
        int(lacking),
        sum(one.constant for one in parts.values()),
        sum(one.unscored for one in parts.values()),
    )


def _correctable(one: Query) -> bool:
    return 0 < one.sampled <= MOST_DRAWN and not one.exact and one.size < MOST_SIZE


def _largest_weight(parts: Mapping[int, Query]) -> float:
    """Return the most documents that a drawn one stands for."""
    return max((one.size / one.sampled for one in parts.values() if one.sampled), default=1.0)


def _estimated(
    join: JudgedRun,
    parts: dict[int, Query],
    measures: Sequence[Measure],
    values: Floats,
    recipe: SampledOptions,
) -> tuple[Floats, Floats, Floats]:
    """Return values, variance over samples, and bias, queries x measures."""
    values, variance, bias = values.copy(), np.zeros(values.shape), np.zeros(values.shape)
    codes = [code for code in sorted(parts) if _correctable(parts[code])]
    if recipe.correction == "none" or not codes:
        return values, variance, bias
    chosen = [
        (place, terms)
        for place, measure in enumerate(measures)
        if (terms := rank_terms(measure, join)) is not None
    ]
    if not chosen:
        return values, variance, bias
    counts = np.array([len(parts[code].row) for code in codes])
    every = [parts[code] for code in codes]
    pairs = Pairs(
        np.repeat(np.arange(len(codes)), counts),
        np.concatenate([one.start for one in every]),
        np.concatenate([one.above(one.cells) for one in every]),
        np.repeat([one.size for one in every], counts),
        np.repeat([one.sampled for one in every], counts),
    )
    rows = np.flatnonzero(np.isin(join.query, codes))
    estimator = RankEstimator(pairs, recipe.gamma or 1 / len(parts), recipe.exponent)
    made = corrected(
        estimator,
        [terms.weight[rows] for _, terms in chosen],
        [terms.of_rank for _, terms in chosen],
        recipe.draws,
        np.random.default_rng([recipe.seed, 2]),
    )
    for column, (place, _) in enumerate(chosen):
        defined = ~np.isnan(values[codes, place])
        at = np.array(codes)[defined]
        values[at, place] = made.values[defined, column]
        variance[at, place] = made.variance[defined, column]
        bias[at, place] = made.bias[defined, column]
    return values, variance, bias


def withheld(
    parts: Mapping[int, Query], measures: Sequence[Measure], recipe: SampledOptions, queries: int
) -> list[str]:
    """Return why a measure has no interval, empty where it has one.

    The rules come from the simulation: the intervals of the cells that they leave held the truth as often as
    they should.
    """
    open_parts = [one for one in parts.values() if not one.exact]
    if not open_parts:
        return [""] * len(measures)
    weight = _largest_weight(parts)
    fewest = min(one.sampled + one.fixed - one.unscored for one in open_parts)
    if not recipe.draws:
        same = "draws=0"
    elif recipe.correction != "log":
        same = f"intervals are offered with correction 'log' only, this is '{recipe.correction}'"
    elif not all(map(_correctable, (one for one in open_parts if one.sampled))):
        same = f"more than {MOST_DRAWN:,} documents were drawn for a query: not corrected"
    elif queries < FEW_QUERIES:
        same = f"{queries} queries, fewer than {FEW_QUERIES}"
    elif fewest <= FEW_SAMPLED:
        same = f"{fewest} sampled documents for a query, not more than {FEW_SAMPLED}"
    else:
        same = ""
    most_of_all = MOST_WITHOUT_CUTOFF if recipe.exponent is not None else MOST_BESIDE_CERTAIN
    reasons = []
    for measure, known in zip(measures, sums_over_ranks(measures), strict=True):
        cutoff = getattr(measure, "cutoff", None)
        most = most_of_all if cutoff is None else cutoff
        limit = "the most without a cutoff" if cutoff is None else "the cutoff"
        if same:
            reasons.append(same)
        elif not known:
            reasons.append("no correction is known for this measure")
        elif weight > most:
            reasons.append(f"a drawn document stands for {weight:,.1f} others, more than {most:g}, {limit}")
        else:
            reasons.append("")
    return reasons


def _limits(
    values: Floats, variance: Floats, bias: Floats, recipe: SampledOptions, reasons: Sequence[str]
) -> Floats:
    """Return low, high for other queries, sampling_low, sampling_high, and the bias, by measure.

    Other queries: Student's t over the estimates of single queries, which vary by query and by sample.
    Other samples: the normal quantile and the summed variance of all queries.
    """
    from scipy.special import ndtri, stdtrit

    size, columns = values.shape
    found = np.full((columns, 5), np.nan)
    if not size:
        return found
    values = np.nan_to_num(values)
    mean, left = values.mean(axis=0), (1 - recipe.confidence) / 2
    if size > 1:
        half = -float(stdtrit(size - 1, left)) * values.std(axis=0, ddof=1) / math.sqrt(size)
        found[:, 0], found[:, 1] = mean - half, mean + half
    half = -float(ndtri(left)) * np.sqrt(np.nan_to_num(variance).sum(axis=0)) / size
    found[:, 2], found[:, 3] = mean - half, mean + half
    left_out = np.array([bool(reason) for reason in reasons])
    found[left_out, :4] = np.nan
    total = bias.mean(axis=0)
    found[:, 4] = np.where(np.abs(total) > ROUNDING, total, np.where(np.isnan(total), np.nan, 0.0))
    if recipe.correction == "none" and left_out.any():
        found[left_out, 4] = np.nan
    return found
