"""Conditions that a pipeline sets: no run may be worse than the baseline, or not by more than a margin."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import NamedTuple

import numpy as np

from leadline.comparison.pairing import differences_of, pairs_of
from leadline.comparison.table import Rules
from leadline.comparison.wording import no_query, p_text, signed
from leadline.errors import UsageError
from leadline.results import Results
from leadline.statistics import CORRECTIONS
from leadline.statistics.effects import EQUAL
from leadline.statistics.moments import moments
from leadline.wording import queries


class Condition(NamedTuple):
    """What must not be: a run worse than the baseline by a measure, by more than a margin."""

    measure: str
    margin: float = 0.0


class Gate(NamedTuple):
    """What became of a condition for one run.

    `difference` is the run's mean minus the baseline's. `failed` says that the run is worse by more than the
    margin, corrected p below 1 - confidence, or that the two share no query. `worst` is how bad the
    difference could be: the lower limit of its interval, or the upper one where less is better.
    """

    run: str
    baseline: str
    condition: Condition
    difference: float
    worst: float
    p: float
    queries: int
    failed: bool

    def __str__(self) -> str:
        measure, margin = self.condition
        if self.queries == 0:
            return f"FAILED: {no_query(self.run, self.baseline, measure)}"
        if self.failed and isnan(self.p):
            return (
                f"FAILED: {self.run} differs from {self.baseline} by {signed(self.difference)} in {measure} "
                f"on each of {queries(self.queries)}: no spread to test by, so the condition fails"
            )
        bound = f" by more than {margin:g}" if margin else ""
        word = "FAILED" if self.failed else "passed"
        verb = "is worse" if self.failed else "is not shown to be worse"
        worst = "" if isnan(self.worst) else f" (could be as bad as {signed(self.worst)})"
        return (
            f"{word}: {self.run} {verb} than {self.baseline}{bound} by {measure}: "
            f"{signed(self.difference)}{worst}, {p_text(self.p)}"
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
    signs, columns, worst, seen = [], [], [], []
    for place, condition in conditions:
        rising = results.measures[place].rising
        differences = differences_of(results, place, pairs)
        signs.append(1.0 if rising else -1.0)
        columns.append(signs[-1] * differences + condition.margin)
        seen.append(moments(differences))
        limits = rules.interval.limits(differences, level=rules.confidence, seed=rules.seed)
        worst.append(limits[0 if rising else 1])
    p = np.stack([rules.test.p_values(column, seed=rules.seed) for column in columns])
    correction = rules.correction or CORRECTIONS.parse("Holm")
    corrected = correction.corrected(p.ravel()).reshape(p.shape)
    found = []
    for row, (_, condition) in enumerate(conditions):
        for pair in range(len(pairs)):
            mean, number = float(seen[row].mean[pair]), int(seen[row].number[pair])
            # where every difference is the same there is no p; a condition fails on the safe side
            sure = corrected[row, pair] < 1 - rules.confidence or (
                np.isnan(corrected[row, pair]) and number > 1
            )
            failed = bool(sure) and signs[row] * mean < -condition.margin - EQUAL
            found.append(Gate(
                results.names[int(pairs.first[pair])], results.names[int(pairs.second[pair])],
                condition, mean, float(worst[row][pair]), float(corrected[row, pair]), number,
                failed=failed or number == 0,
            ))  # fmt: skip
    return found
