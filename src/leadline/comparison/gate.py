"""Conditions that a pipeline sets: no run may be worse than the baseline, or not by more than a margin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leadline.comparison.pairing import differences_of, pairs_of
from leadline.comparison.table import Rules
from leadline.comparison.wording import p_text, signed
from leadline.errors import UsageError
from leadline.results import Results
from leadline.statistics import CORRECTIONS
from leadline.statistics.moments import moments


class Condition(NamedTuple):
    """What must not be: a run worse than the baseline by a measure, by more than a margin."""

    measure: str
    margin: float = 0.0


class Gate(NamedTuple):
    """What became of a condition for one run.

    `failed` says that the run is worse by more than the margin, corrected p below 1 - confidence; `low` is
    how much worse it could be: the lower limit of the interval, in the direction in which larger is better.
    """

    run: str
    baseline: str
    condition: Condition
    difference: float
    low: float
    p: float
    failed: bool

    def __str__(self) -> str:
        measure, margin = self.condition
        bound = f" by more than {margin:g}" if margin else ""
        word = "FAILED" if self.failed else "passed"
        verb = "is worse" if self.failed else "is not shown to be worse"
        return (
            f"{word}: {self.run} {verb} than {self.baseline}{bound} by {measure}: {signed(self.difference)} "
            f"(could be as low as {signed(self.low)}), {p_text(self.p)}"
        )


def condition_of(text: str) -> Condition:
    """Read MEASURE or MEASURE:MARGIN.

    >>> condition_of("nDCG@10:0.01")
    Condition(measure='nDCG@10', margin=0.01)
    """
    measure, colon, written = text.rpartition(":")
    if not colon:
        return Condition(text)
    try:
        margin = float(written)
    except ValueError:
        margin = -1.0
    if not 0 <= margin < float("inf"):
        raise UsageError(
            f"'{text}': margin '{written}'; expected a number, 0 or more, as in AP:0.01"
        )
    return Condition(measure, margin)


def gates(
    results: Results,
    conditions: Sequence[tuple[int, Condition]],
    baseline: str | Sequence[str],
    rules: Rules,
) -> list[Gate]:
    """Try conditions, each with the place of its measure, on every run against every baseline.

    The test is that of the rules, on the differences moved by the margin; p values are corrected over all
    conditions and runs, by Holm where the rules say Tukey.
    """
    pairs = pairs_of(results, baseline)
    columns, lows, means = [], [], []
    for place, condition in conditions:
        sign = 1.0 if results.measures[place].rising else -1.0
        differences = sign * differences_of(results, place, pairs)
        columns.append(differences + condition.margin)
        means.append(moments(differences).mean)
        low, _ = rules.interval.limits(differences, level=rules.confidence, seed=rules.seed)
        lows.append(low)
    p = np.stack([rules.test.p_values(column, seed=rules.seed) for column in columns])
    correction = rules.correction or CORRECTIONS.parse("Holm")
    corrected = correction.corrected(p.ravel()).reshape(p.shape)
    found = []
    for row, (_, condition) in enumerate(conditions):
        for pair in range(len(pairs)):
            mean = float(means[row][pair])
            # where every difference is the same there is no p, and no doubt either
            sure = bool(corrected[row, pair] < 1 - rules.confidence) or bool(
                np.isnan(corrected[row, pair]) and (~np.isnan(columns[row][:, pair])).sum() > 1
            )
            found.append(Gate(
                results.names[int(pairs.first[pair])], results.names[int(pairs.second[pair])],
                condition, mean, float(lows[row][pair]), float(corrected[row, pair]),
                failed=sure and mean < -condition.margin,
            ))  # fmt: skip
    return found
