"""HSA and DO: options that the paper leaves open, values of histograms over [0, 1], result and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers, freeze
from leadline.data.ids import Vocabulary
from leadline.data.table import Column, ResultWarning, RunInfo, plain, raised
from leadline.data.validation import check_flags, check_numbers, check_whole, check_word
from leadline.data.wording import counted
from leadline.errors import UsageError
from leadline.evaluation.lookups import place_of
from leadline.evaluation.run_warnings import runs_in_words, warnings_of
from leadline.io.objects import Qrels
from leadline.result import Make, Result


def edges(bins: int) -> Floats:
    """Return the bin edges k/bins; bin k contains k/bins <= x < (k+1)/bins, the last bin also 1.

    >>> edges(4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    limits: Floats = np.arange(bins + 1) / bins
    return limits


def bin_of(values: Floats, bins: int) -> Integers:
    """Return the bin of each value in [0, 1]; values i/bins are assigned as in exact arithmetic.

    >>> bin_of(np.array([0.0, 0.3, 29 / 50, 1.0]), 50).tolist()
    [0, 15, 29, 49]
    """
    limits = edges(bins)
    index = np.minimum((values * bins).astype(np.int64), bins - 1)  # right, or next to it
    index -= values < limits[index]
    index += (values >= limits[index + 1]) & (index < bins - 1)
    return index


def overlap(relevant: Floats, nonrelevant: Floats) -> Floats:
    """Return DO: the sum of log min(h_r, h_nr) over the bins that are non-empty in both histograms.

    References
    ----------
    Krstovski, Smith and Kurtz (2015), equation 1.

    >>> float(overlap(np.array([1.0, 2.0, 4.0]), np.array([9.0, 3.0, 0.0])).round(4))
    0.6931
    """
    low = np.minimum(relevant, nonrelevant)
    values: Floats = np.log(low, out=np.zeros_like(low), where=low > 0).sum(axis=-1)
    return values


def slope(
    relevant: Floats, nonrelevant: Floats, *, half_counts: bool = False, weighted: bool = False
) -> Floats:
    """Return HSA: the least-squares slope of log(h_r / h_nr) over the centres of bins non-empty in both.

    References
    ----------
    Krstovski, Smith and Kurtz (2015), equation 2.

    >>> float(slope(np.array([1.0, 2.0, 4.0]), np.array([4.0, 2.0, 1.0])).round(4))  # 2 ln 4 over 2/3
    4.1589
    """
    added = 0.5 if half_counts else 0.0
    used = (relevant + nonrelevant > 0) if half_counts else (relevant > 0) & (nonrelevant > 0)
    first, second = np.where(used, relevant + added, 1.0), np.where(used, nonrelevant + added, 1.0)
    ratio = np.log(first) - np.log(second)
    weight = first * second / (first + second) if weighted else np.ones_like(ratio)
    weight = np.where(used, weight, 0.0)
    size = relevant.shape[-1]
    centre = (np.arange(size) + 0.5) / size
    total = np.maximum(weight.sum(axis=-1, keepdims=True), 1e-300)
    centred = centre - (weight * centre).sum(axis=-1, keepdims=True) / total
    covariance = (weight * centred * ratio).sum(axis=-1)
    variance = (weight * centred**2).sum(axis=-1)
    enough = used.sum(axis=-1) >= 2
    slopes: Floats = np.divide(covariance, variance, out=np.full(np.shape(covariance), np.nan), where=enough)
    return slopes


def coarser(histogram: Floats, bins: int) -> Floats:
    """Return a histogram with fewer bins; their number must divide the number of bins.

    >>> coarser(np.array([1.0, 2.0, 3.0, 4.0]), 2).tolist()
    [3.0, 7.0]
    """
    merged: Floats = histogram.reshape(*histogram.shape[:-1], bins, -1).sum(axis=-1)
    return merged


MISSING = {"min": "at the lowest score", "skip": "left out"}
MOST_BINS = 10_000
NORMS = ("query", "model", "none")


class HistogramOptions(NamedTuple):
    """Options of histograms, HSA and DO; defaults differ from the paper (`as_printed`)."""

    bins: int = 10  # number of bins
    # lists over which scores are normalized to 0 to 1: "query", "model" (all lists of a run), or "none"
    norm: str = "query"
    from_ranks: bool = False  # whether ranks are used in place of scores
    depth: int | None = None  # rank at which lists are truncated; None for whole lists
    sample: int | None = None  # number of non-relevant documents sampled for each query; None for all
    # what they are sampled from: each "list", or the "union" of the lists of a query
    sample_from: str = "list"
    # score of relevant documents that are not in a list: "min", that of its end, or "skip"
    missing: str = "min"
    # documents that are not relevant: all others "retrieved", or those "judged"
    nonrelevant: str = "retrieved"
    aggregate: str = "pooled"  # HSA of histograms "pooled" over queries, or mean of those of each "query"
    half_counts: bool = False  # whether 1/2 is added to all counts
    weighted: bool = False  # whether bins are weighted by their counts
    rel: float = 1.0  # least relevant grade
    seed: int = 0  # seed of the samples

    def checked(self) -> HistogramOptions:
        """Return the options after checking them; raise UsageError if they are invalid."""
        check_whole(1, depth=self.depth, sample=self.sample)
        check_whole(2, bins=self.bins)  # a line needs two points
        check_whole(0, seed=self.seed)
        check_word(NORMS, norm=self.norm)
        check_word(("list", "union"), sample_from=self.sample_from)
        check_word(("min", "skip"), missing=self.missing)
        check_word(("retrieved", "judged"), nonrelevant=self.nonrelevant)
        check_flags(from_ranks=self.from_ranks)
        check_numbers(rel=self.rel)
        if self.bins > MOST_BINS:
            raise UsageError(f"bins must be at most {MOST_BINS:,}, not {self.bins:,}")
        if self.from_ranks and self.norm == "none":
            raise UsageError(
                "--norm none does not work with --from-ranks, because ranks are not between 0 and 1. Use "
                "--norm query."
            )
        if self.sample_from == "union" and self.sample is None:
            raise UsageError("--config histogram.sample_from=union needs --sample N")
        return self

    @property
    def as_printed(self) -> bool:
        """Whether HSA is defined as in the paper: pooled, normalized per model, with unmodified counts."""
        return (
            self.norm == "model"
            and self.aggregate == "pooled"
            and self.missing == "skip"
            and self.nonrelevant == "retrieved"
            and not (self.half_counts or self.weighted)
        )

    @property
    def robust(self) -> HistogramOptions:
        """Options of `hsa_robust`; bins, depth, non-relevant documents and sample are kept.

        Scores are ranks, unretrieved relevant documents are at the bottom, and HSA is the mean over queries
        of slopes with half counts.
        """
        return self._replace(
            norm="query", from_ranks=True, missing="min", aggregate="query", half_counts=True, weighted=False
        )

    @property
    def words(self) -> str:
        """Description of the definition of `hsa` and `do`."""
        parts = [
            "as printed in Krstovski et al. 2015" if self.as_printed and not self.from_ranks else "",
            f"{'ranks' if self.from_ranks else 'scores'} normalized per {self.norm}"
            if self.norm != "none"
            else "scores as they are",
            "pooled" if self.aggregate == "pooled" else "mean over queries",
            f"{self.bins} bins",
            f"depth {self.depth}" if self.depth else "",
            f"{counted(self.sample, 'non-relevant document')} per query, seed {self.seed}"
            if self.sample
            else "",
            f"unretrieved relevant documents {MISSING[self.missing]}",
            "judged non-relevant documents only" if self.nonrelevant == "judged" else "",
            "half counts" if self.half_counts else "",
            "weighted" if self.weighted else "",
        ]
        return ", ".join(text for text in parts if text)


def slopes(counts: Floats, recipe: HistogramOptions) -> Floats:
    """Return the slope of each pair of histograms (... x 2 x bins)."""
    return slope(
        counts[..., 0, :], counts[..., 1, :], half_counts=recipe.half_counts, weighted=recipe.weighted
    )


def compute_hsa(counts: Floats, recipe: HistogramOptions) -> float:
    """Return HSA of histograms (queries x 2 x bins), pooled or as the mean over queries."""
    if recipe.aggregate == "pooled":
        return float(slopes(counts.sum(axis=0), recipe))
    values = slopes(counts, recipe)
    return float(np.mean(values[~np.isnan(values)])) if (~np.isnan(values)).any() else float("nan")


SENSITIVITY = (5, 10, 20, 50, 100, 200)
FINEST = SENSITIVITY[-1]
VALUES = ("hsa", "hsa_robust", "do", "recall")
LIMITS = ("low", "high", "sampling_low", "sampling_high", "robust_low", "robust_high")


class RunHistograms(NamedTuple):
    """Histograms, HSA and DO of one run.

    Attributes
    ----------
    counts : ndarray of float64, shape (n_queries, 2, n_bins)
        Histograms of relevant and non-relevant documents.
    hsa : float
        Slope of the logarithm of relevant per other documents over the normalized score; NaN where undefined.
    do : float
        Overlap of both histograms: sum of the logarithms of the smaller count of each bin; grows with the
        number of documents.
    hsa_robust : float
        HSA with fixed options.
    recall : float
        Mean recall of the lists after the cut.
    low, high : float
        Limits of the 95 % interval of `hsa`.
    sampling_low, sampling_high : float
        Limits of the 95 % interval of `hsa` over samples alone; NaN without a sample.
    robust_low, robust_high : float
        Limits of the 95 % interval of `hsa_robust`.
    by_bins : ndarray of float64
        HSA with each of `SENSITIVITY` bins.
    lopsided : float
        Largest proportion of the scores in one bin.
    unretrieved : int
        Number of relevant documents that are not in the lists.
    constant : int
        Number of lists of equal scores.
    sampled : int
        Identifier of the set of sampled documents; 0 without a sample.
    """

    counts: Floats
    hsa: float
    do: float
    hsa_robust: float
    recall: float
    low: float
    high: float
    sampling_low: float
    sampling_high: float
    robust_low: float
    robust_high: float
    by_bins: Floats
    lopsided: float
    unretrieved: int
    constant: int
    sampled: int = 0


@dataclass(repr=False, eq=False)
class Histograms(Result):
    """HSA and DO of runs.

    Attributes
    ----------
    hsa, do : ndarray of float64, shape (n_runs,)
        Values as defined by the options; NaN where undefined.
    hsa_robust : ndarray of float64, shape (n_runs,)
        HSA with fixed options.
    recall : ndarray of float64, shape (n_runs,)
        Mean recall of the lists, as a control.
    counts : ndarray of float64, shape (n_runs, n_queries, 2, n_bins)
        Histograms of relevant and non-relevant documents.
    """

    runs: list[RunInfo]
    queries: Vocabulary
    measured: Sequence[RunHistograms]
    recipe: HistogramOptions

    def __post_init__(self) -> None:
        self.counts = np.stack([run_result.counts for run_result in self.measured])
        self.hsa, self.hsa_robust, self.do, self.recall = (
            np.array([getattr(run_result, name) for run_result in self.measured], dtype=np.float64)
            for name in VALUES
        )
        freeze(self.counts, self.hsa, self.do, self.hsa_robust, self.recall)

    @property
    def names(self) -> list[str]:
        """Names of the runs."""
        return [run.name for run in self.runs]

    def place(self, name: str) -> int:
        """Return the index of a run."""
        return place_of(self.names, name)

    def histograms(self, name: str) -> Floats:
        """Return the pooled histograms of a run: (relevant, non-relevant) x bins."""
        pooled: Floats = self.counts[self.place(name)].sum(axis=0)
        return pooled

    def order(self) -> list[int]:
        """Return the indices of the runs in descending order of HSA, undefined values last."""
        best: list[int] = np.argsort(-np.nan_to_num(self.hsa, nan=-np.inf), kind="stable").tolist()
        return best

    def _columns(self) -> list[Column]:
        order = self.order()
        measured = [self.measured[run] for run in order]
        relevant, nonrelevant = np.array([one.counts.sum(axis=0) for one in measured]).swapaxes(0, 1)
        numbers = {
            "HSA": "hsa",
            "low": "low",
            "high": "high",
            "sampling low": "sampling_low",
            "sampling high": "sampling_high",
            "robust": "hsa_robust",
            "DO": "do",
            "recall": "recall",
        }
        return [
            Column("run", [self.names[run] for run in order]),
            *(
                Column(head, [getattr(one, name) for one in measured])
                for head, name in numbers.items()
                if self.recipe.sample or not name.startswith("sampling")
            ),
            Column("relevant", relevant.sum(axis=1).astype(int)),
            Column("non-relevant", nonrelevant.sum(axis=1).astype(int)),
            Column("bins", ((relevant > 0) & (nonrelevant > 0)).sum(axis=1)),
        ]

    def _notes(self) -> list[str]:
        drawn = " and samples (sampling: over samples only)" if self.recipe.sample else ""
        credit = "" if self.recipe.as_printed else " (`-C as_printed` follows Krstovski et al. 2015)"
        resamples = f"{self.options['draws']:,} resamples"
        control = "HSA adds nothing unless it tells you more than recall"
        ours = "our variant of HSA (ranks, 0.5 added to each count, mean over queries)"
        return [
            f"HSA, DO: {self.recipe.words}{credit}",
            f"robust: {ours}, no better than HSA with --from-ranks at ordering runs it was not tuned on",
            f"recall: recall of these lists, a control ({control})",
            *[f"low, high: 95 % interval of HSA over queries{drawn}, {resamples}"]
            * any(not np.isnan([one.low, one.sampling_low]).all() for one in self.measured),
            *[OF_SAMPLES] * bool(self.recipe.sample),
            "bins: number of bins that contain both relevant and non-relevant documents",
            *super()._notes(),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys definition, as_printed and runs; None is undefined."""
        runs = []
        for info, run_result in zip(self.runs, self.measured, strict=True):
            counts = run_result.counts.sum(axis=0).astype(int)
            centres = (np.arange(counts.shape[1]) + 0.5) / counts.shape[1]
            names = ("center", "relevant", "nonrelevant")
            rows = zip(centres.tolist(), *counts.tolist(), strict=True)
            runs.append(
                {
                    "name": info.name,
                    **{name: plain(getattr(run_result, name)) for name in VALUES},
                    **dict(zip(names[1:], counts.sum(axis=1).tolist(), strict=True)),
                    "bins": [dict(zip(names, row, strict=True)) for row in rows],
                    **{f"hsa_{name}": plain(getattr(run_result, name)) for name in LIMITS},
                    "unretrieved": run_result.unretrieved,
                    "sensitivity": [
                        {"bins": bins, "hsa": plain(hsa)}
                        for bins, hsa in zip(SENSITIVITY, run_result.by_bins.tolist(), strict=True)
                    ],
                }
            )
        return {"definition": self.recipe.words, "as_printed": self.recipe.as_printed, "runs": runs}

    def _figure(self, *, runs: Sequence[str] = ()) -> Make:
        """Draw the histograms of runs; by default of all, or if they are many of highest and lowest HSA."""
        from leadline.charts.distribution_plots import MOST, histograms

        order = self.order()
        indices, title = [self.place(name) for name in runs], ""
        if not indices and len(order) <= MOST:
            indices = order
        elif not indices:
            defined = [run for run in order if not np.isnan(self.hsa[run])]
            ends = "highest and lowest HSA: " * (len(defined) > 1)
            indices = [defined[0], defined[-1]] if ends else order[:2]
            title = f"{ends}2 of {len(order)} runs"
        return lambda width: histograms(
            [self.names[run] for run in indices],
            self.counts[indices].sum(axis=1),
            hsa=[float(self.hsa[run]) for run in indices],
            do=[float(self.do[run]) for run in indices],
            title=title,
            of="ranks" if self.recipe.from_ranks else "scores",
            width=width,
        )

    def __repr__(self) -> str:
        return f"Histograms({counted(len(self.runs), 'run')}, {self.recipe.words})"


# Two runs of 100 documents per query on Cranfield: 3.32 and 1.80 for whole lists, 2.85 and 1.08 from samples.
OF_SAMPLES = (
    "HSA is lower with samples than with whole lists (by about 0.5 and 0.7 in two runs, with 20 of 100 "
    "documents per query). The intervals do not allow for this. Compare only runs with samples of the same "
    "size"
)
FEW_BINS = 4  # minimum number of bins that are non-empty in both histograms
FEW_RELEVANT = 30  # minimum number of scores of relevant documents
LOPSIDED = 0.5  # maximum proportion of the scores of a run in one bin


def histogram_warnings(
    infos: Sequence[RunInfo], qrels: Qrels, measured: Sequence[RunHistograms], recipe: HistogramOptions
) -> list[ResultWarning]:
    """Return the warnings about histograms of runs."""
    warnings = []
    for notice in warnings_of(infos, qrels, averaging="with_relevant", levels=[recipe.rel]):
        message = notice.message.replace("scored 0", "no scores, recall 0")
        if recipe.nonrelevant == "judged":
            message = message.replace("counted as not relevant", "left out")
        warnings.append(ResultWarning(notice.code, message, notice.count))
    return [*warnings, *_doubts(infos, measured, recipe), *_rules(infos, measured, recipe)]


def _doubts(
    infos: Sequence[RunInfo], measured: Sequence[RunHistograms], recipe: HistogramOptions
) -> list[ResultWarning]:
    """Return warnings of unreliable values of HSA."""
    more = "" if recipe.from_ranks else " (try ranks instead of scores)"
    pooled = np.stack([run.counts.sum(axis=0) for run in measured])
    supported = (pooled > 0).all(axis=1).sum(axis=1)
    relevant = pooled[:, 0].sum(axis=1)
    signs = [np.sign(run.by_bins[~np.isnan(run.by_bins)]) for run in measured]
    turned = np.array([len(run) > 0 and run.min() < run.max() for run in signs])
    lopsided = np.array([run.lopsided > LOPSIDED for run in measured])
    undefined = np.isnan([run.hsa for run in measured])
    classes = "both relevant and non-relevant documents"
    checks = {
        "undefined": (undefined, f"HSA is undefined for {{}}, because fewer than two bins contain {classes}"),
        "few_supported_bins": (
            ~undefined & (supported < FEW_BINS),
            f"fewer than {FEW_BINS} bins contain {classes} in {{}}, so HSA is unreliable",
        ),
        "few_relevant": (
            relevant < FEW_RELEVANT,
            f"fewer than {FEW_RELEVANT} scores of relevant documents in {{}}, too few for a reliable HSA",
        ),
        "unstable_sign": (
            turned,
            f"HSA changes sign between {SENSITIVITY[0]} and {SENSITIVITY[-1]} bins for {{}}",
        ),
        "lopsided_scores": (
            lopsided,
            "in {}, one bin contains more than half of the scores, too many for a meaningful HSA" + more,
        ),
    }
    return raised(
        *(
            (code, words.format(runs_in_words(infos, flags)), int(flags.sum()))
            for code, (flags, words) in checks.items()
        )
    )


PREPOSITIONS = ("in", "of", "from")


def over_runs(
    infos: Sequence[RunInfo], counts: Sequence[int] | Integers, nouns: tuple[str, str], rest: str
) -> str:
    """Return counts of runs in words, those of several runs as a range: they may count the same twice.

    >>> runs, nouns = [RunInfo("a"), RunInfo("b")], ("list of equal scores", "lists of equal scores")
    >>> over_runs(runs, [0, 1], nouns, "{in_runs} (skipped)")
    '1 list of equal scores in b (skipped)'
    >>> over_runs(runs, [2, 5], nouns, "{in_runs} (skipped)")
    'both runs: 2 to 5 lists of equal scores per run (skipped)'
    """
    given, runs = [int(one) for one in counts if one], runs_in_words(infos, counts)
    if len(given) < 2:
        where = {f"{word}_runs": f" {word} {runs}" for word in PREPOSITIONS}
        return counted(sum(given), *nouns) + rest.format(**where)
    low, high = min(given), max(given)
    words = (f"{low:,} to " if low < high else "") + counted(high, *nouns)
    return f"{runs}: {words} per run" + rest.format(**{f"{word}_runs": "" for word in PREPOSITIONS})


def _rules(
    infos: Sequence[RunInfo], measured: Sequence[RunHistograms], recipe: HistogramOptions
) -> list[ResultWarning]:
    missing = np.array([run_result.unretrieved for run_result in measured])
    constant = np.array([run_result.constant for run_result in measured])
    rule = "counted at the lowest score of the list" if recipe.missing == "min" else "excluded"
    drawn = recipe.sample_from == "list" and len({one.sampled for one in measured}) > 1
    left_out, alike = int(missing.sum()), int(constant.sum())
    documents, lists = (
        ("relevant document", "relevant documents"),
        ("list of equal scores", "lists of equal scores"),
    )
    lacking = over_runs(infos, missing, documents, f" not in the lists{{of_runs}} ({rule})")
    equal = over_runs(infos, constant, lists, "{in_runs} (normalized to 0.5)")
    own = f"{counted(len(infos), 'run')} were sampled separately, so their samples differ"
    one_sample = "`-C sample_from=union` draws one sample for all runs"
    return raised(
        ("unretrieved", lacking, left_out),
        ("constant_scores", equal, alike),
        ("samples_differ", f"{own} ({one_sample})", len(infos) if drawn else 0),
    )
