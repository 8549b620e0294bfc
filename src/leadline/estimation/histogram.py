"""HSA and DO: evaluation by histograms of scores of relevant and non-relevant documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Unpack

import numpy as np

from leadline.data.arrays import Floats
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
from leadline.stats.moments import drawn_rows, interval, mean_of_defined, weights


def measure_run(
    judged: JudgedRun, recipe: HistogramOptions, draws: int, drawn: list[set[int]] | None = None
) -> RunHistograms:
    """Compute histograms, HSA and DO of one run; `drawn` is the shared sample, if any."""
    selection = select_rows(judged, recipe, drawn)
    values, robust = (values_of(judged, selection, definition) for definition in (recipe, recipe.robust))
    spans = score_ranges(values)
    finest = counts_of(values, recipe.norm, FINEST, spans)
    if FINEST % recipe.bins == 0:
        counts = coarser(finest, recipe.bins)
    else:
        counts = counts_of(values, recipe.norm, recipe.bins, spans)
    robust_counts = counts_of(robust, recipe.robust.norm, recipe.bins)
    relevant = judged.qrels.relevant(recipe.rel)
    with_relevant = relevant > 0
    recall = values.found[with_relevant] / relevant[with_relevant]
    totals = counts.sum(axis=(0, 1))
    several = np.bincount(values.query, minlength=len(relevant)) > 1
    return RunHistograms(
        counts,
        compute_hsa(counts, recipe),
        float(overlap(*counts.sum(axis=0))),
        compute_hsa(robust_counts, recipe.robust),
        float(recall.mean()) if len(recall) else math.nan,
        *hsa_interval(counts, recipe, draws),
        *sampling_interval(counts, recipe, draws),
        *hsa_interval(robust_counts, recipe.robust, draws),
        np.array([compute_hsa(coarser(finest, bins), recipe) for bins in SENSITIVITY]),
        float(totals.max() / totals.sum()) if totals.sum() else 0.0,
        int((relevant - values.found)[with_relevant & judged.present].sum()),
        int(np.count_nonzero(several & (spans[0] == spans[1]))),
        selection.sampled,
    )


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
    if documents is not None and sources is runs:
        raise UsageError("documents applies only to runs that are functions. Leave it out.")
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


def hsa_interval(counts: Floats, recipe: HistogramOptions, draws: int) -> tuple[float, float]:
    """Return the 95 % bootstrap percentile interval of HSA; NaN if undefined.

    Histograms of whole queries are resampled. Each holds a sample of its own, if any, so that the interval is
    over queries and samples. The range used for normalisation is kept.
    """
    used = counts[counts.sum(axis=(1, 2)) > 0]
    if len(used) < 2 or not draws:
        return math.nan, math.nan
    rng = np.random.default_rng([recipe.seed, 1])
    size = max(1, CELLS // used.size)
    return interval(
        np.concatenate(
            [_resampled(used, recipe, min(size, draws - start), rng) for start in range(0, draws, size)]
        )
    )


def _resampled(counts: Floats, recipe: HistogramOptions, draws: int, rng: np.random.Generator) -> Floats:
    """Return HSA of resamples of queries."""
    if recipe.aggregate == "query":
        return mean_of_defined(slopes(counts, recipe)[drawn_rows(rng, draws, len(counts))])
    return slopes(np.tensordot(weights(rng, draws, len(counts)), counts, axes=1), recipe)


def sampling_interval(counts: Floats, recipe: HistogramOptions, draws: int) -> tuple[float, float]:
    """Return the 95 % bootstrap percentile interval of HSA over samples alone; NaN without a sample.

    Documents are resampled from the samples of all queries together, which ignores that each query has as
    many as before: if queries differ much, the interval is a little too wide.
    """
    relevant, others = counts.sum(axis=0)
    total = int(others.sum())
    if recipe.sample is None or not total or not draws:
        return math.nan, math.nan
    drawn = np.random.default_rng([recipe.seed, 2]).multinomial(total, others / total, draws)
    return interval(slopes(np.stack([np.broadcast_to(relevant, drawn.shape), drawn], axis=1), recipe))
