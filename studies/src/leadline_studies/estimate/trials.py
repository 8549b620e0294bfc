"""Estimates of one measure for all runs from one draw, and the intervals of their differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.estimation.designs import Kind
from leadline.estimation.estimators import Estimator, Sample
from leadline.estimation.sampling_errors import MOST_GUESSED, RunEstimate, half_width


class Trial(NamedTuple):
    """Estimates of all runs from a sample, inclusion probabilities of drawn pairs, and number of pairs."""

    parts: list[RunEstimate]
    probability: Floats
    pairs: int

    @classmethod
    def of(cls, sample: Sample, kind: Kind, joined: Sequence[JudgedRun]) -> Trial:
        """Estimate the measure of all runs from one sample."""
        estimator = Estimator(sample, kind)
        p = sample.probability
        return cls([estimator.of(one) for one in joined], p[sample.drawn], len(p))

    @property
    def values(self) -> Floats:
        """Estimated means of the runs."""
        return np.array([np.nan_to_num(part.values).mean() for part in self.parts])

    @property
    def guessed(self) -> Floats:
        """Weight of guessed and unknown pairs in each run."""
        return np.array([part.shares[2] + part.shares[3] for part in self.parts])

    @property
    def doubt(self) -> Floats:
        """Largest decrease and increase of each run by pairs outside the frame."""
        return np.array([part.doubt for part in self.parts])

    @property
    def half(self) -> Floats:
        """Half-widths of the intervals of the runs."""
        ends = (part.predicted[1] for part in self.parts)
        return np.array([self._half(part.errors, end) for part, end in zip(self.parts, ends, strict=True)])

    def _half(self, errors: Floats, predicted: Floats) -> float:
        return half_width(errors, np.zeros(0), self.probability, 0.95, predicted)

    def pair_limits(
        self, first: Integers, second: Integers, most: Floats | float = MOST_GUESSED
    ) -> tuple[Floats, Floats]:
        """Return how far below and above the estimated difference of each pair its interval reaches.

        `most` is the largest guessed weight of each run with which an interval is given.
        """
        excess = self.guessed / most
        limits = np.full((len(first), 2), np.nan)
        for place, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            one, two = self.parts[a], self.parts[b]
            doubt, proportion = one.doubt_of_difference(two, self.pairs)
            half = self._half(one.errors - two.errors, one.predicted_difference(two, self.pairs))
            if half > 0 and max(excess[a], excess[b]) * proportion <= 1.0:
                limits[place] = np.hypot(half, doubt)
        return limits[:, 0], limits[:, 1]
