"""When HSA and DO should not be trusted, and what was left out: in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from leadline.arrays import Flags, Hashes
from leadline.histograms.found import SENSITIVITY, Measured
from leadline.histograms.recipe import Recipe
from leadline.measures import Measure
from leadline.notices import notices_of
from leadline.qrels import Qrels
from leadline.results import Notice, RunInfo

FEW_BINS = 4  # bins that both histograms reach, below which a slope is one or two counts
FEW_RELEVANT = 30  # scores of relevant documents
LOPSIDED = 0.5  # the share of a run's scores in one bin


def histogram_notices(
    infos: Sequence[RunInfo], qrels: Qrels, found: Sequence[Measured], recipe: Recipe
) -> list[Notice]:
    """Say what to know of the histograms of some runs; nothing is said of what did not happen."""
    notices = [
        Notice(one.code, _our_rule(one.message, recipe), one.count)
        for one in notices_of(infos, qrels, averaging="with_relevant", levels=[recipe.rel])
    ]
    notices += [*_doubts(infos, found, recipe), *_rules(infos, found, recipe)]
    return [notice for notice in notices if notice.count]


def _our_rule(words: str, recipe: Recipe) -> str:
    words = words.replace(
        "each counts as an empty list", "they have no scores here and count 0 in recall"
    )
    if recipe.nonrelevant == "judged":
        words = words.replace("they count as not relevant", "they are left out")
    return words


def _doubts(infos: Sequence[RunInfo], found: Sequence[Measured], recipe: Recipe) -> list[Notice]:
    """Give the signs that an HSA should not be trusted."""
    more = "" if recipe.from_ranks else " (try --from-ranks)"
    pooled = np.stack([one.counts.sum(axis=0) for one in found])
    supported = (pooled > 0).all(axis=1).sum(axis=1)
    relevant = pooled[:, 0].sum(axis=1)
    signs = [np.sign(one.by_bins[~np.isnan(one.by_bins)]) for one in found]
    turned = np.array([len(one) > 0 and one.min() < one.max() for one in signs])
    lopsided = np.array([one.lopsided > LOPSIDED for one in found])
    undefined = np.isnan([one.hsa for one in found])
    checks = {
        "undefined": (undefined, "HSA is undefined, fewer than two bins hold both"),
        "few_supported_bins": (
            ~undefined & (supported < FEW_BINS),
            f"fewer than {FEW_BINS} bins hold both; a line through so few points says little"),
        "few_relevant": (
            relevant < FEW_RELEVANT, f"fewer than {FEW_RELEVANT} relevant scores"),
        "unstable_sign": (
            turned, f"HSA changes its sign between {SENSITIVITY[0]} and {SENSITIVITY[-1]} bins"),
        "lopsided_scores": (
            lopsided, "one bin holds more than half of the scores, where HSA misleads" + more),
    }  # fmt: skip
    return [
        Notice(code, f"{words}: {_names(infos, flags)}", int(flags.sum()))
        for code, (flags, words) in checks.items()
    ]


def _rules(infos: Sequence[RunInfo], found: Sequence[Measured], recipe: Recipe) -> list[Notice]:
    lost = np.array([one.unretrieved for one in found])
    constant = np.array([one.constant for one in found])
    rule = "counted at the lowest score of the list" if recipe.missing == "min" else "left out"
    drawn = recipe.sample is not None and recipe.sample_from == "list" and len(infos) > 1
    return [
        Notice(
            "unretrieved", f"relevant documents not in the lists: {lost.sum():,} in "
            f"{_names(infos, lost > 0)}; {rule}", int(lost.sum()),
        ),
        Notice(
            "constant_scores", f"lists of equal scores: {constant.sum():,} in "
            f"{_names(infos, constant > 0)}; normalised to 0.5", int(constant.sum()),
        ),
        Notice(
            "samples_differ", f"samples drawn from each run's own lists: {len(infos)}; only documents "
            "that runs share are the same (--sample-from union)", len(infos) if drawn else 0,
        ),
    ]  # fmt: skip


def _names(infos: Sequence[RunInfo], chosen: Flags) -> str:
    places = np.flatnonzero(chosen).tolist()
    if len(places) == len(infos) > 2:
        return f"all {len(infos)} runs"
    first = ", ".join(infos[place].name for place in places[:3])
    return f"{len(places)} runs ({first}, ...)" if len(places) > 3 else first


class Sampled(Protocol):
    """What is counted of a run with a sample of scores."""

    @property
    def known(self) -> Flags:
        """Say which queries have an estimate."""

    @property
    def weight(self) -> float:
        """Give the most documents that a sampled one stands for."""

    @property
    def lacking(self) -> int:
        """Count the relevant documents without a score."""

    @property
    def constant(self) -> int:
        """Count the queries whose scores are all equal."""

    @property
    def unscored(self) -> int:
        """Count the certain documents without a score."""

    @property
    def withheld(self) -> list[str]:
        """Return why a measure has no interval, by measure; empty where it has one."""

    @property
    def samples(self) -> Hashes:
        """Return a number by query that identifies its scored others; 0 where there are none."""


def sampled_notices(
    infos: Sequence[RunInfo], qrels: Qrels, found: Sequence[Sampled], measures: Sequence[Measure],
    levels: Sequence[float], queries: str, whole: bool,
) -> list[Notice]:  # fmt: skip
    """Say what to know of estimates from samples; `whole`: no population was given."""
    notices = [
        one for one in notices_of(infos, qrels, averaging=queries, levels=levels)
        if one.code not in ("unjudged_documents", "tied_lists")
    ]  # fmt: skip
    lacking = np.array([one.lacking for one in found])
    without = np.array([int((~one.known).sum()) for one in found])
    constant = np.array([one.constant for one in found])
    unscored = np.array([one.unscored for one in found])
    samples = np.stack([one.samples for one in found])
    shared = (samples != 0).all(axis=0)
    differ = int((shared & (samples != samples[0]).any(axis=0)).sum())
    return notices + [
        notice for notice in (
            Notice(
                "different_samples", "queries for which the runs have scores of different non-relevant "
                f"documents: {differ:,}; differences between runs are differences between samples too",
                differ,
            ),
            Notice(
                "no_score", f"relevant documents without a score: {lacking.sum():,} in "
                f"{_names(infos, lacking > 0)}; they count as never found", int(lacking.sum()),
            ),
            Notice(
                "certain_without_score", f"certain documents without a score: {unscored.sum():,} in "
                f"{_names(infos, unscored > 0)}; they count as ranked last", int(unscored.sum()),
            ),
            Notice(
                "no_sample", f"queries without a scored document that is not relevant: {without.sum():,} "
                f"in {_names(infos, without > 0)}; left out of the means", int(without.sum()),
            ),
            Notice(
                "constant_scores", f"lists of equal scores: {constant.sum():,} in "
                f"{_names(infos, constant > 0)}; each document stands in the middle", int(constant.sum()),
            ),
            Notice(
                "no_population", "no population given: the documents that have scores are taken for the "
                "whole collection", int(whole),
            ),
            *_withheld(infos, found, measures),
        ) if notice.count
    ]  # fmt: skip


def _withheld(
    infos: Sequence[RunInfo], found: Sequence[Sampled], measures: Sequence[Measure]
) -> list[Notice]:
    """Say which measures have no interval, and why, each reason once."""
    cells: dict[str, tuple[dict[str, None], Flags]] = {}
    for row, one in enumerate(found):
        for measure, reason in zip(measures, one.withheld, strict=True):
            if reason:
                named, flags = cells.setdefault(reason, ({}, np.zeros(len(infos), dtype=np.bool_)))
                named[str(measure)] = None
                flags[row] = True
    return [
        Notice(
            "no_interval",
            f"no interval for {', '.join(named)} of {_names(infos, flags)}: {reason}",
            len(named) * int(flags.sum()),
        )
        for reason, (named, flags) in cells.items()
    ]
