"""HSA and DO: evaluation by histograms of scores of relevant and non-relevant documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Unpack

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Cut, JudgedOptions, Reading
from leadline.data.validation import check_flags, check_whole
from leadline.errors import UsageError
from leadline.estimation.score_histograms.bins import coarser, overlap
from leadline.estimation.score_histograms.histogram_options import HistogramOptions
from leadline.estimation.score_histograms.histogram_result import (
    FINEST,
    SENSITIVITY,
    Histograms,
    RunHistograms,
    histogram_warnings,
)
from leadline.estimation.score_histograms.hsa_intervals import hsa_intervals
from leadline.estimation.score_histograms.score_sets import (
    Scorer,
    Values,
    counts_of,
    score_ranges,
    scored,
    scored_runs,
    select_rows,
    values_of,
)
from leadline.estimation.score_histograms.subsampling import compute_hsa, shared_sample
from leadline.evaluation.estimated_recall import refuse_sample
from leadline.evaluation.join import judge_runs
from leadline.evaluation.run_warnings import check_level
from leadline.io.objects import judgments_of
from leadline.io.read import QrelsLike, RunLike
from leadline.io.read_paths import public


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
    return RunHistograms(
        counts,
        compute_hsa(counts, recipe),
        compute_do(counts, recipe),
        compute_hsa(robust_counts, recipe.robust),
        float((values.found[with_relevant] / relevant[with_relevant]).mean())
        if with_relevant.any()
        else float("nan"),
        *limits,
        robust_limits.low,
        robust_limits.high,
        by_bins,
        robust_by_bins,
        _largest_share(counts),
        int((relevant - values.found)[with_relevant & judged.present].sum()),
        _constant(values, spans),
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


def _largest_share(counts: Floats) -> float:
    totals = counts.sum(axis=(0, 1))
    return float(totals.max() / totals.sum()) if totals.sum() else 0.0


def _constant(values: Values, spans: tuple[Floats, Floats]) -> int:
    """Return the number of queries with several scores that are all equal."""
    low, high = spans
    several = np.bincount(values.query, minlength=len(low)) > 1
    return int(np.count_nonzero(several & (low == high)))


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
            f"as_printed with other options ({recipe.words}); expected none of norm, missing, "
            "nonrelevant beside it"
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
        lambda judged: measure_run(judged, recipe, draws, shared),
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
