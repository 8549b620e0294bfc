"""Result of HSA and DO: histograms, values and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, freeze
from leadline.data.ids import Vocabulary
from leadline.data.table import Column, ResultWarning, RunInfo, plain
from leadline.data.wording import counted
from leadline.estimation.score_histograms.histogram_options import HistogramOptions
from leadline.evaluation.lookups import place_of
from leadline.evaluation.run_warnings import runs_in_words, warnings_of
from leadline.io.objects import Qrels
from leadline.result import Make, Result

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
    by_bins, robust_by_bins : ndarray of float64
        HSA and `hsa_robust` with each of `SENSITIVITY` bins.
    lopsided : float
        Largest proportion of the scores in one bin.
    unretrieved : int
        Number of relevant documents that are not in the lists.
    constant : int
        Number of lists of equal scores.
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
    robust_by_bins: Floats
    lopsided: float
    unretrieved: int
    constant: int


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
            Column("steady", [_is_steady(one.by_bins) for one in measured]),
        ]

    def _notes(self) -> list[str]:
        drawn = " and samples (sampling: over samples only)" if self.recipe.sample else ""
        credit = "" if self.recipe.as_printed else " (`-C as_printed` follows the paper)"
        resamples = f"{self.options['draws']} resamples"
        bins = f"{SENSITIVITY[0]} to {SENSITIVITY[-1]} bins"
        ours = "our own variant (ranks, half counts, mean over queries)"
        return [
            f"HSA, DO: {self.recipe.words}{credit}",
            f"robust: {ours}, no better than ranks on other runs",
            "recall: recall of these lists as a control (where it is as informative, histograms add nothing)",
            f"low, high: 95 % interval of HSA over queries{drawn}, {resamples}",
            "bins: number of bins that contain both classes",
            f"steady: HSA keeps its sign with {bins} (JSON has the values)",
            *super()._notes(),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys definition, as_printed and runs; None is undefined."""
        runs = []
        for info, run_result in zip(self.runs, self.measured, strict=True):
            relevant, nonrelevant = run_result.counts.sum(axis=0)
            centres = (np.arange(len(relevant)) + 0.5) / len(relevant)
            runs.append(
                {
                    "name": info.name,
                    **{name: plain(getattr(run_result, name)) for name in VALUES},
                    "relevant": int(relevant.sum()),
                    "nonrelevant": int(nonrelevant.sum()),
                    "bins": [
                        {"center": center, "relevant": int(first), "nonrelevant": int(second)}
                        for center, first, second in zip(
                            centres.tolist(), relevant.tolist(), nonrelevant.tolist(), strict=True
                        )
                    ],
                    **{f"hsa_{name}": plain(getattr(run_result, name)) for name in LIMITS},
                    "unretrieved": run_result.unretrieved,
                    "largest_bin_share": run_result.lopsided,
                    "sensitivity": [
                        {"bins": bins, "hsa": plain(hsa), "hsa_robust": plain(robust)}
                        for bins, hsa, robust in zip(
                            SENSITIVITY,
                            run_result.by_bins.tolist(),
                            run_result.robust_by_bins.tolist(),
                            strict=True,
                        )
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
            defined = [run for run in order if not np.isnan(self.hsa[run])] or order
            indices, title = [defined[0], defined[-1]], f"highest and lowest HSA: 2 of {len(order)} runs"
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
        return f"Histograms({len(self.runs)} runs, {self.recipe.words})"


def _is_steady(by_bins: Floats) -> str:
    """Return whether HSA keeps its sign with every number of bins: yes, no, or a dash."""
    signs = np.sign(by_bins[~np.isnan(by_bins)])
    return "-" if not len(signs) else "yes" if signs.min() == signs.max() else "no"


FEW_BINS = 4  # minimum number of bins that are non-empty in both histograms
FEW_RELEVANT = 30  # minimum number of scores of relevant documents
LOPSIDED = 0.5  # maximum proportion of the scores of a run in one bin


def histogram_warnings(
    infos: Sequence[RunInfo], qrels: Qrels, measured: Sequence[RunHistograms], recipe: HistogramOptions
) -> list[ResultWarning]:
    """Return the warnings about histograms of runs."""
    warnings = [
        ResultWarning(run_result.code, _our_rule(run_result.message, recipe), run_result.count)
        for run_result in warnings_of(infos, qrels, averaging="with_relevant", levels=[recipe.rel])
    ]
    warnings += [*_doubts(infos, measured, recipe), *_rules(infos, measured, recipe)]
    return [notice for notice in warnings if notice.count]


def _our_rule(message: str, recipe: HistogramOptions) -> str:
    message = message.replace("scored 0", "no scores, recall 0")
    if recipe.nonrelevant == "judged":
        message = message.replace("counted as not relevant", "left out")
    return message


def _doubts(
    infos: Sequence[RunInfo], measured: Sequence[RunHistograms], recipe: HistogramOptions
) -> list[ResultWarning]:
    """Return warnings of unreliable values of HSA."""
    more = "" if recipe.from_ranks else " (try `leadline histogram --from-ranks`)"
    pooled = np.stack([run.counts.sum(axis=0) for run in measured])
    supported = (pooled > 0).all(axis=1).sum(axis=1)
    relevant = pooled[:, 0].sum(axis=1)
    signs = [np.sign(run.by_bins[~np.isnan(run.by_bins)]) for run in measured]
    turned = np.array([len(run) > 0 and run.min() < run.max() for run in signs])
    lopsided = np.array([run.lopsided > LOPSIDED for run in measured])
    undefined = np.isnan([run.hsa for run in measured])
    checks = {
        "undefined": (undefined, "HSA is undefined for {}, because fewer than two bins contain both classes"),
        "few_supported_bins": (
            ~undefined & (supported < FEW_BINS),
            f"fewer than {FEW_BINS} bins contain both classes in {{}}, so the slope is unreliable",
        ),
        "few_relevant": (relevant < FEW_RELEVANT, f"fewer than {FEW_RELEVANT} relevant scores in {{}}"),
        "unstable_sign": (
            turned,
            f"HSA changes its sign between {SENSITIVITY[0]} and {SENSITIVITY[-1]} bins for {{}}",
        ),
        "lopsided_scores": (
            lopsided,
            "one bin contains more than half of the scores of {}, so HSA is misleading" + more,
        ),
    }
    return [
        ResultWarning(code, words.format(runs_in_words(infos, flags)), int(flags.sum()))
        for code, (flags, words) in checks.items()
    ]


def _rules(
    infos: Sequence[RunInfo], measured: Sequence[RunHistograms], recipe: HistogramOptions
) -> list[ResultWarning]:
    missing = np.array([run_result.unretrieved for run_result in measured])
    constant = np.array([run_result.constant for run_result in measured])
    rule = "counted at the lowest score of the list" if recipe.missing == "min" else "excluded"
    drawn = recipe.sample is not None and recipe.sample_from == "list" and len(infos) > 1
    return [
        ResultWarning(
            "unretrieved",
            f"{counted(int(missing.sum()), 'relevant document')} not in the lists of "
            f"{runs_in_words(infos, missing)} ({rule})",
            int(missing.sum()),
        ),
        ResultWarning(
            "constant_scores",
            f"{counted(int(constant.sum()), 'list')} of equal scores in {runs_in_words(infos, constant)} "
            "(normalized to 0.5)",
            int(constant.sum()),
        ),
        ResultWarning(
            "samples_differ",
            f"{counted(len(infos), 'run')} sampled from their own lists, so the samples differ "
            "(`-C sample_from=union` draws one sample for all runs)",
            len(infos) if drawn else 0,
        ),
    ]
