"""Options of HSA and DO that the paper leaves open, and the histograms over [0, 1] that they make."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.validation import check_flags, check_numbers, check_whole, check_word
from leadline.errors import UsageError


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
            "as printed in the paper" if self.as_printed else "",
            f"{'ranks' if self.from_ranks else 'scores'} normalized per {self.norm}"
            if self.norm != "none"
            else "scores as they are",
            "pooled" if self.aggregate == "pooled" else "mean over queries",
            f"{self.bins} bins",
            f"depth {self.depth}" if self.depth else "",
            f"{self.sample} non-relevant per query, seed {self.seed}" if self.sample else "",
            f"unretrieved relevant documents {MISSING[self.missing]}",
            "judged non-relevant documents only" if self.nonrelevant == "judged" else "",
            "half counts" if self.half_counts else "",
            "weighted" if self.weighted else "",
        ]
        return ", ".join(text for text in parts if text)
