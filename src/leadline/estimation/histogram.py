"""HSA and DO: evaluation by histograms of scores of relevant and non-relevant documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Unpack

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Cut, JudgedOptions, Reading
from leadline.data.validation import check_flags, check_whole
from leadline.errors import UsageError
from leadline.estimation.histogram_result import (
    FINEST,
    SENSITIVITY,
    HistogramOptions,
    Histograms,
    RunHistograms,
    coarser,
    compute_hsa,
    histogram_warnings,
    overlap,
    slopes,
)
from leadline.estimation.score_sets import (
    Scorer,
    Values,
    counts_of,
    score_ranges,
    scored,
    scored_runs,
    select_rows,
    shared_sample,
    values_of,
)
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.join import judge_runs
from leadline.evaluation.run_warnings import check_level
from leadline.io.objects import judgments_of
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import public
from leadline.stats.moments import drawn_rows, interval, weights


def measure_run(
    judged: JudgedRun, recipe: HistogramOptions, draws: int, drawn: list[set[int]] | None = None
) -> RunHistograms:
    """Compute histograms, HSA and DO of one run; `drawn` is the shared sample, if any."""
    selection = select_rows(judged, recipe, drawn)
    values, robust = (values_of(judged, selection, definition) for definition in (recipe, recipe.robust))
    spans = score_ranges(values)
    counts, by_bins = _counted(values, recipe, spans)
    robust_counts, robust_by_bins = _counted(robust, recipe.robust, score_ranges(robust))
    limits = hsa_intervals(counts, recipe, draws)
    robust_limits = hsa_intervals(robust_counts, recipe.robust, draws)
    relevant = judged.qrels.relevant(recipe.rel)
    with_relevant = relevant > 0
    recall = values.found[with_relevant] / relevant[with_relevant]
    totals = counts.sum(axis=(0, 1))
    several = np.bincount(values.query, minlength=len(relevant)) > 1
    return RunHistograms(
        counts,
        compute_hsa(counts, recipe),
        compute_do(counts, recipe),
        compute_hsa(robust_counts, recipe.robust),
        float(recall.mean()) if len(recall) else math.nan,
        *limits,
        robust_limits.low,
        robust_limits.high,
        by_bins,
        robust_by_bins,
        float(totals.max() / totals.sum()) if totals.sum() else 0.0,
        int((relevant - values.found)[with_relevant & judged.present].sum()),
        int(np.count_nonzero(several & (spans[0] == spans[1]))),
        selection.sampled,
    )


def compute_do(counts: Floats, recipe: HistogramOptions) -> float:
    """Return DO of the pooled histograms, or the mean over the queries that have scores."""
    if recipe.aggregate == "pooled":
        pooled = counts.sum(axis=0)
        return float(overlap(pooled[0], pooled[1]))
    used = counts[counts.sum(axis=(1, 2)) > 0]
    values = overlap(used[:, 0], used[:, 1])
    return float(values.mean()) if len(used) else float("nan")


def _counted(values: Values, recipe: HistogramOptions, spans: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the histograms, and HSA with other numbers of bins."""
    finest = counts_of(values, recipe.norm, FINEST, spans)
    hsa = [compute_hsa(coarser(finest, bins), recipe) for bins in SENSITIVITY]
    if FINEST % recipe.bins == 0:
        return coarser(finest, recipe.bins), np.array(hsa)
    return counts_of(values, recipe.norm, recipe.bins, spans), np.array(hsa)


__all__ = ["HistogramOptions", "Histograms", "histogram", "scored"]


@public
def histogram(
    qrels: QrelsLike,
    runs: RunLike | Scorer | Sequence[RunLike] | Mapping[str, RunLike | Scorer],
    *,
    bins: int = 10,
    norm: str | None = None,
    from_ranks: bool = False,
    depth: int | None = None,
    sample: int | None = None,
    sample_from: str = "list",
    missing: str | None = None,
    nonrelevant: str = "retrieved",
    as_printed: bool = False,
    rel: float = 1.0,
    seed: int = 0,
    draws: int = 1000,
    documents: Sequence[str] | None = None,
    on_run: Callable[[int, int], None] | None = None,
    **options: Unpack[JudgedOptions],
) -> Histograms:
    """Compare systems by the score distributions of relevant and non-relevant documents: HSA and DO.

    Scores are scaled to [0, 1], pooled over queries, and counted in equal bins: h_r(b) relevant and h_nr(b)
    non-relevant documents. Over the bins that are non-empty in both histograms,

        HSA = least-squares slope of ln(h_r / h_nr) on the centre of the bin,  DO = sum of ln min(h_r, h_nr).

    HSA increases with quality; DO has no stable sign.

    Parameters
    ----------
    qrels : path, mapping or frame
        Relevance judgments.
    runs : path, mapping, frame, callable, or several of these
        Runs, or functions of a query id and a list of document ids that return scores. A function scores the
        relevant documents and the non-relevant ones among `documents`, or the judged ones; it ranks nothing.
    bins : int, default 10
        Number of bins.
    norm : {"query", "model", "none"}, optional
        Scaling of scores; by default per query.
    from_ranks : bool, default False
        Whether to use ranks in place of scores.
    depth : int, optional
        Depth at which each list is cut first.
    sample : int, optional
        Number of non-relevant documents of each query, those with the smallest SHA-256 of seed, query and
        document.
    sample_from : {"list", "union"}
        Whether to sample the lists of each run or the union of all runs.
    missing : {"min", "skip"}, optional
        Whether unretrieved relevant documents have the lowest score of the list (default) or are excluded.
    nonrelevant : {"retrieved", "judged"}
        Non-relevant documents: all retrieved documents not judged relevant, or only judged ones.
    as_printed : bool, default False
        Definition of the paper: scaled per model, without unretrieved documents.
    rel : float, default 1
        Minimum grade that counts as relevant.
    seed : int, default 0
        Seed of samples and resamples.
    draws : int, default 1000
        Number of resamples of the intervals.
    documents : sequence of str, optional
        Ids of the collection, for runs that are functions.
    on_run : callable, optional
        Called with the numbers of finished runs and of all runs after each run.
    **options
        How runs and judgments are read: `order`, `on_duplicate`, `on_nan`, `name_by` and `negative` (see
        `leadline.data.reading.Reading`).

    Returns
    -------
    Histograms
        Histograms, HSA, DO, `hsa_robust` and recall of each run, with intervals.

    Notes
    -----
    `hsa_robust` is a variant of our own: ranks as scores, unretrieved relevant documents at the bottom, the
    mean over queries of slopes with half counts. On runs that it was not developed on, its correlation with
    MAP is no higher than that of plain ranks (`from_ranks`). `recall` of the same lists is a control: at a
    depth of 100 its correlation with MAP is as high.

    References
    ----------
    Krstovski, Smith and Kurtz (2015), section 3, equations 1 and 2.

    Examples
    --------
    >>> judgments = {"q1": {"d1": 1, "d2": 1, "d3": 1}}
    >>> run = {"q1": {"d1": 4.0, "d2": 4.0, "d3": 0.0, "d4": 4.0, "d5": 0.0, "d6": 0.0}}
    >>> found = histogram(judgments, run, bins=2)  # 1 : 2 below, 2 : 1 above, 0.5 apart
    >>> found.hsa.round(4).tolist(), found.do.tolist()
    ([2.7726], [0.0])

    A model as a function, on a collection that it does not rank:

    >>> texts = {"d1": "ships and sails", "d2": "sails", "d3": "ropes and ships", "d4": "tea", "d5": "a ship"}
    >>> def common_letters(query, documents):
    ...     return [len(set(texts[document]) & set("ships")) for document in documents]
    >>> found = histogram({"q1": {"d1": 1, "d3": 1, "d4": 0}}, common_letters, documents=list(texts), bins=2)
    >>> found.names, found.counts[0].sum(axis=0).tolist()  # relevant, others: low, high scores
    (['common_letters'], [[0.0, 2.0], [1.0, 2.0]])
    """
    reading = Reading.of(histogram, options, JudgedOptions)
    check_flags(as_printed=as_printed)
    check_whole(0, draws=draws)
    recipe = HistogramOptions(
        bins,
        norm or ("model" if as_printed else "query"),
        from_ranks,
        depth,
        sample,
        sample_from,
        missing or ("skip" if as_printed else "min"),
        nonrelevant,
        rel=rel,
        seed=seed,
    ).checked()
    if as_printed and not recipe.as_printed:
        raise UsageError(
            "--config histogram.as_printed needs --norm model, --config histogram.missing=skip and --config "
            "histogram.nonrelevant=retrieved. These are its defaults, so leave out all three."
        )
    table = judgments_of(qrels, reading)
    refuse_sample(table)
    check_level(rel, table)
    sources = scored_runs(
        runs, table, documents=documents, sample=sample, seed=seed, rel=rel, negative=reading.negative
    )
    shared = None
    if sample_from == "union":
        sources, shared = shared_sample(sources, table, recipe, reading)
    infos, histograms = judge_runs(
        sources,
        table,
        lambda judged: measure_run(judged, recipe, 0 if table.by_machine else draws, shared),
        reading=reading,
        cut=Cut(depth),
        keep=True,
        on_run=on_run,
    )
    return Histograms(
        infos,
        table.queries,
        histograms,
        recipe,
        warnings=histogram_warnings(infos, table, histograms, recipe),
        options={
            name: value
            for name, value in recipe._asdict().items()
            if name not in ("aggregate", "half_counts", "weighted")
        }
        | {"as_printed": recipe.as_printed, "draws": draws, **reading.options(JudgedOptions)},
    )


CELLS = 2_000_000  # maximum number of values of a block of resamples
ROWS = 1024  # redrawn samples in a table, and the maximum number of resamples that share it
PRODUCTS = 250_000  # of a product of matrices, few enough that libraries use no further thread
SMALL = 255  # largest sample whose redraws are shared by several queries


class HsaIntervals(NamedTuple):
    """Percentile intervals of HSA over queries and samples, and over samples alone; NaN if undefined."""

    low: float
    high: float
    sampling_low: float
    sampling_high: float


def hsa_intervals(counts: Floats, recipe: HistogramOptions, draws: int) -> HsaIntervals:
    """Return the 95 % bootstrap percentile intervals of HSA.

    Histograms of whole queries are resampled; with a sample, the scores of non-relevant documents are
    resampled as well. The range used for normalisation is kept.
    """
    used = counts[counts.sum(axis=(1, 2)) > 0]
    if not len(used) or not draws:
        return HsaIntervals(*[math.nan] * 4)
    if recipe.sample is None:
        if len(used) < 2:
            return HsaIntervals(*[math.nan] * 4)
        rng = np.random.default_rng([recipe.seed, 1])
        size = max(1, CELLS // used.size)
        over_queries = np.concatenate(
            [_resampled(used, recipe, min(size, draws - start), rng) for start in range(0, draws, size)]
        )
        return HsaIntervals(*interval(over_queries), math.nan, math.nan)
    size = max(1, min(ROWS, CELLS // len(used)))
    blocks = [
        redrawn(used, recipe, min(size, draws - start), block)
        for block, start in enumerate(range(0, draws, size))
    ]
    over_both, over_samples = map(np.concatenate, zip(*blocks, strict=True))
    both = interval(over_both) if len(used) > 1 else (math.nan, math.nan)
    return HsaIntervals(*both, *interval(over_samples))


def _resampled(counts: Floats, recipe: HistogramOptions, draws: int, rng: np.random.Generator) -> Floats:
    """Return HSA of resamples of queries."""
    if recipe.aggregate == "query":
        return _means(slopes(counts, recipe)[drawn_rows(rng, draws, len(counts))])
    return slopes(np.tensordot(weights(rng, draws, len(counts)), counts, axes=1), recipe)


def _means(values: Floats) -> Floats:
    """Return the mean of the defined values of each row; NaN without any."""
    defined = ~np.isnan(values)
    return _divided(np.where(defined, values, 0.0).sum(axis=1), defined.sum(axis=1))


def _divided(total: Floats, count: Any) -> Floats:
    means: Floats = np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0)
    return means


class ResampledQueries(NamedTuple):
    """Queries drawn with replacement, one entry for each query of each resample, ordered by both."""

    # number of the resample and of the query
    draw: Integers
    query: Integers
    turn: Integers  # number of earlier occurrences of the query in the resample

    @classmethod
    def drawn(cls, size: int, draws: int, rng: np.random.Generator) -> ResampledQueries:
        """Draw queries.

        >>> few = ResampledQueries.drawn(3, 2, np.random.default_rng(1))
        >>> few.query.tolist(), few.turn.tolist()
        ([1, 1, 2, 0, 0, 2], [0, 1, 0, 0, 1, 0])
        """
        query = np.sort(drawn_rows(rng, draws, size), axis=1).ravel()
        draw = np.repeat(np.arange(draws), size)
        code = draw * size + query
        first = np.diff(code, prepend=-1) > 0
        place = np.arange(len(code))
        return cls(draw, query, place - np.maximum.accumulate(np.where(first, place, 0)))


def redrawn(counts: Floats, recipe: HistogramOptions, draws: int, block: int = 0) -> tuple[Floats, Floats]:
    """Return HSA of resamples of queries and of their samples, and of resamples of the samples alone.

    In each resample, the sample of every query is drawn again with replacement, independently of those of
    other queries and of further occurrences of the query. A sample of n documents is redrawn `ROWS` times by
    the numbers of times that the first, second, ..., nth document is drawn. Queries with the same n take
    these numbers from one table, the documents of each query in a random order. Resample d takes row
    (d + s) mod `ROWS`, where the s are random and different for all queries and occurrences, so that the
    samples of one resample are independent.
    """
    rng = np.random.default_rng([recipe.seed, 1, block])
    size, bins = len(counts), counts.shape[2]
    chosen = ResampledQueries.drawn(size, draws, rng)
    most = int(chosen.turn.max()) + 1
    pooled = recipe.aggregate == "pooled"
    both, samples = np.zeros((2, draws, bins if pooled else 2))
    step = max(1, min(ROWS // most, CELLS // (ROWS * bins)))
    for low in range(0, size, step):
        part = counts[low : low + step]
        table = redrawn_counts(part[:, 1], rng, (recipe.seed, block, low))
        shift = np.resize(rng.permutation(ROWS), (len(part), most))
        if not pooled:
            values = np.stack(
                [slopes_of_redraws(row, drawn, recipe) for row, drawn in zip(part[:, 0], table, strict=True)]
            )
            table = np.stack([np.nan_to_num(values), ~np.isnan(values)], axis=2)
        inside = slice(None) if step >= size else (chosen.query >= low) & (chosen.query < low + step)
        draw, query, turn = (column[inside] for column in chosen)
        rows = (query - low) * ROWS + (draw + shift[query - low, turn]) % ROWS
        taken = table.reshape(-1, table.shape[2]).take(rows, axis=0)
        both += np.stack([np.bincount(draw, column, draws) for column in taken.T], axis=1)
        for drawn, begin in zip(table, shift[:, 0].tolist(), strict=True):
            end = min(draws, ROWS - begin)
            samples[:end] += drawn[begin : begin + end]
            samples[end:] += drawn[: draws - end]
    if not pooled:
        return _divided(*both.T), _divided(*samples.T)
    times = np.bincount(chosen.draw * size + chosen.query, minlength=draws * size).reshape(draws, size)
    relevant = times @ counts[:, 0], np.broadcast_to(counts[:, 0].sum(axis=0), (draws, bins))
    over_both, over_samples = (
        slopes(np.stack(pair, axis=1), recipe) for pair in zip(relevant, (both, samples), strict=True)
    )
    return over_both, over_samples


def redrawn_counts(counts: Floats, rng: np.random.Generator, key: tuple[int, ...]) -> Any:
    """Return multinomial resamples of histograms, of the same size."""
    queries, bins = counts.shape
    table = np.zeros((queries, ROWS, bins), dtype=np.float32)
    totals = counts.sum(axis=1).astype(np.int64)
    for total in np.unique(totals[totals > 0]).tolist():
        chosen = np.flatnonzero(totals == total)
        if total > SMALL:
            for query in chosen.tolist():
                table[query] = rng.multinomial(total, counts[query] / total, ROWS)
            continue
        bin_of = np.repeat(np.tile(np.arange(bins), len(chosen)), counts[chosen].astype(np.int64).ravel())
        bin_of = rng.permuted(bin_of.reshape(len(chosen), total), axis=1)
        times = times_drawn(total, key).astype(np.float32)
        step = max(1, PRODUCTS // (total * bins))
        for query, order in zip(chosen.tolist(), bin_of, strict=True):
            inside = np.zeros((total, bins), dtype=np.float32)
            inside[np.arange(total), order] = 1.0
            for low in range(0, ROWS, step):
                np.matmul(times[low : low + step], inside, out=table[query, low : low + step])
    return table


@lru_cache(maxsize=128)  # at most 33 MB; the same for all runs
def times_drawn(total: int, key: tuple[int, ...]) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Return how often each of `total` documents, at most `SMALL`, is drawn in `ROWS` resamples.

    >>> few = times_drawn(5, (0,))
    >>> few.shape, set(few.sum(axis=1).tolist())
    ((1024, 5), {5})
    """
    times = weights(np.random.default_rng([2, *key, total]), ROWS, total).astype(np.uint8)
    times.setflags(write=False)
    return times


def slopes_of_redraws(relevant: Floats, nonrelevant: Any, recipe: HistogramOptions) -> Floats:
    """Return the slopes of redrawn histograms of a query, as `slopes` does, with logarithms from a table."""
    if recipe.weighted:
        pairs = np.broadcast_arrays(relevant, nonrelevant.astype(np.float64))
        return slopes(np.stack(pairs, axis=-2), recipe)
    added = 0.5 if recipe.half_counts else 0.0
    drawn = nonrelevant.astype(np.intp)
    logs = np.log(np.maximum(np.arange(int(drawn.max(initial=0)) + 1) + added, 0.5))
    used = (relevant > 0) | (drawn > 0) if recipe.half_counts else (relevant > 0) & (drawn > 0)
    ratio = (np.log(np.maximum(relevant + added, 0.5)) - logs.take(drawn)) * used
    bins = len(relevant)
    centre = (np.arange(bins) + 0.5) / bins - 0.5
    size, moment, square = np.stack([np.ones(bins), centre, centre**2]) @ used.T.astype(np.float64)
    total, cross = np.stack([np.ones(bins), centre]) @ ratio.T
    values = np.divide(
        size * cross - moment * total,
        size * square - moment**2,
        out=np.full(len(size), np.nan),
        where=size >= 2,
    )
    return np.asarray(values)
