"""Histograms: what was found of each run, and how it is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.arrays import Floats, freeze
from leadline.errors import UsageError
from leadline.histograms.recipe import Recipe
from leadline.results import Notice, RunInfo, plain
from leadline.vocabulary import Vocabulary

SENSITIVITY = (5, 10, 20, 50, 100, 200)
FINEST = SENSITIVITY[-1]


class Measured(NamedTuple):
    """What one run came to.

    `counts` are queries x (relevant, non-relevant) x bins; `low` and `high` the 95 % interval of `hsa`,
    `sampling_low` and `sampling_high` the one over samples alone (NaN without a sample);
    `by_bins` and `robust_by_bins` HSA and `hsa_robust` with each of `SENSITIVITY` bins; `recall` the mean
    share of relevant documents in the lists as cut; `unretrieved` counts the relevant documents that are
    not in them; `lopsided` is the largest share of the scores in one bin, `constant` counts lists of equal
    scores.
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


class Histograms:
    """HSA, DO and their robust companion of some runs.

    `hsa`, `do` obey the recipe; `hsa_robust` is a fixed recipe; `recall` is the control: where it tracks
    quality as well, the histograms add nothing. All are arrays by run; NaN is undefined.

    `counts[r, q]` are the two histograms of a query, relevant above non-relevant.
    """

    def __init__(
        self,
        runs: Sequence[RunInfo],
        queries: Vocabulary,
        measured: Sequence[Measured],
        recipe: Recipe,
        *,
        notices: Sequence[Notice] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.runs = list(runs)
        self.queries = queries
        self.measured = list(measured)
        self.recipe = recipe
        self.notices = list(notices)
        self.options = dict(options or {})
        self.counts = np.stack([one.counts for one in measured])
        self.hsa = self._column("hsa")
        self.do = self._column("do")
        self.hsa_robust = self._column("hsa_robust")
        self.recall = self._column("recall")
        freeze(self.counts, self.hsa, self.do, self.hsa_robust, self.recall)

    def _column(self, name: str) -> Floats:
        return np.array([getattr(one, name) for one in self.measured], dtype=np.float64)

    @property
    def names(self) -> list[str]:
        """Give the names of the runs."""
        return [run.name for run in self.runs]

    def place(self, name: str) -> int:
        """Give the place of a run."""
        if name not in self.names:
            raise UsageError(f"no run '{name}' here; there are: " + ", ".join(self.names))
        return self.names.index(name)

    def histograms(self, name: str) -> Floats:
        """Give the pooled histograms of a run: relevant, non-relevant x bins."""
        pooled: Floats = self.counts[self.place(name)].sum(axis=0)
        return pooled

    def order(self) -> list[int]:
        """Give the runs by HSA, the largest first; undefined ones last."""
        best: list[int] = np.argsort(-np.nan_to_num(self.hsa, nan=-np.inf), kind="stable").tolist()
        return best

    def to_dict(self) -> dict[str, Any]:
        """Give the results as plain data: `definition` and `runs`; None is undefined."""
        runs = []
        for info, one in zip(self.runs, self.measured, strict=True):
            relevant, nonrelevant = one.counts.sum(axis=0)
            centres = (np.arange(len(relevant)) + 0.5) / len(relevant)
            runs.append({
                "name": info.name, "hsa": plain(one.hsa), "hsa_robust": plain(one.hsa_robust),
                "do": plain(one.do), "recall": plain(one.recall),
                "relevant": int(relevant.sum()), "nonrelevant": int(nonrelevant.sum()),
                "bins": [
                    {"center": center, "relevant": int(first), "nonrelevant": int(second)}
                    for center, first, second in zip(
                        centres.tolist(), relevant.tolist(), nonrelevant.tolist(), strict=True)
                ],
                "hsa_low": plain(one.low), "hsa_high": plain(one.high),
                "hsa_sampling_low": plain(one.sampling_low),
                "hsa_sampling_high": plain(one.sampling_high),
                "hsa_robust_low": plain(one.robust_low), "hsa_robust_high": plain(one.robust_high),
                "unretrieved": one.unretrieved, "largest_bin_share": one.lopsided,
                "sensitivity": [
                    {"bins": bins, "hsa": plain(hsa), "hsa_robust": plain(robust)}
                    for bins, hsa, robust in zip(
                        SENSITIVITY, one.by_bins.tolist(), one.robust_by_bins.tolist(), strict=True)
                ],
            })  # fmt: skip
        return {"definition": self.recipe.words, "as_printed": self.recipe.as_printed, "runs": runs}

    def __repr__(self) -> str:
        return f"Histograms({len(self.runs)} runs, {self.recipe.words})"
