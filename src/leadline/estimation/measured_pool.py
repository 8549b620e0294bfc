"""A pool drawn for measures: the expected precision of estimates, and its looks.

Looks are the numbers of judgments after which a verdict may be asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats, Integers
from leadline.data.judgment_tables import DrawnPool
from leadline.data.table import Column, RunInfo, plain
from leadline.data.wording import counted, listed, queries
from leadline.errors import UsageError
from leadline.estimation.designs import at_scale, random_numbers_of
from leadline.estimation.estimators import Sample
from leadline.estimation.sampling_errors import FEWEST_JUDGMENTS
from leadline.evaluation.estimated_recall import RecallEstimate, RecallEstimates, relevant
from leadline.measures import Measure
from leadline.measures.precision import R
from leadline.result import Result

FORECAST = ("half_width", "half_budget", "exact_budget")


@dataclass
class MeasuredPool(Result):
    """A pool drawn to estimate measures, with the expected precision of the estimates.

    Attributes
    ----------
    pool : DrawnPool
        Sampling frame, inclusion probabilities and drawn pairs.
    runs : list of RunInfo
        The pooled runs.
    queries : int
        Number of queries.
    expected : dict
        By measure: half-width of a run's 95 % interval (of that of the difference, for a pair of runs) at
        this budget, the budget per query that would halve it (not for nDCG), and the number of judgments per
        query that make the measure exact for these runs. None where `evaluate` would give no interval, where
        no judgments of the frame make the measure exact, and for nDCG without labels or judgments that show
        how many documents are relevant; `warnings` have the reasons.
    added : int
        Number of drawn pairs that the earlier pool did not contain.
    """

    pool: DrawnPool
    runs: list[RunInfo]
    queries: int
    expected: dict[str, dict[str, float | None]]
    added: int

    @property
    def pairs(self) -> int:
        """Return the number of drawn pairs."""
        return int(self.pool.drawn.sum())

    @property
    def frame(self) -> int:
        """Return the number of pairs that could be drawn."""
        return int((self.pool.probability > 0).sum())

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys queries, pairs, added, frame and expected."""
        return {
            "queries": self.queries,
            "pairs": self.pairs,
            "added": self.added,
            "frame": self.frame,
            "expected": {
                measure: {key: None if value is None else plain(value) for key, value in entry.items()}
                for measure, entry in self.expected.items()
            },
        }

    def _columns(self) -> list[Column]:
        heads = ("half-width", "per query to halve", "per query to be exact")
        return [
            Column("measure", list(self.expected)),
            *(
                Column(
                    head,
                    [None if one[key] is None else float(one[key] or 0.0) for one in self.expected.values()],
                )
                for head, key in zip(heads, FORECAST, strict=True)
            ),
        ]

    def _notes(self) -> list[str]:
        return [*self.forecast(), *super()._notes()]

    def forecast(self) -> list[str]:
        """Return sentences on the size of the pool and the expected half-widths."""
        mean = self.pairs / max(self.queries, 1)
        size = f"{counted(self.pairs, 'pair')} for {queries(self.queries)}, {mean:.1f} per query"
        lines = [f"{size}, sampled with known probabilities from {self.frame:,} pairs"]
        if self.pairs == self.frame and mean < float(self.options.get("budget") or 0.0):
            lines = [
                (
                    f"{size} (all available pairs, fewer than the budget per query; `--total N` sets "
                    "one for all queries)"
                )
            ]
        if self.added != self.pairs:
            lines.append(f"new pairs: {self.added:,} (the rest were judged or sampled before)")
        places = places_of_looks(self.pairs, int(self.pool.design.get("looks", 1)))
        if len(places) > 1:
            lines.append(f"verdicts after {_numbers(places)} judgments, each at alpha / {len(places)}")
        of = "for the difference" if self.options.get("for_pair") else "per run"
        for name, expected in self.expected.items():
            half_width, half, exact = (expected[key] for key in FORECAST)
            first = (
                f"{name}: no interval forecast"
                if half_width is None
                else f"expected half-width of {name}: {half_width:.3f} {of}"
            )
            parts = []
            if half is not None:
                parts.append(f"{half:.1f} judgments per query would halve it")
            if exact is not None:
                noun = "" if parts else " judgments per query"
                parts.append(f"{exact:.1f}{noun} would make it exact for these runs")
            said = half_width is None and any(str(notice).startswith(f"{name}: ") for notice in self.warnings)
            if parts or not said:
                lines.append(f"{first} ({', and '.join(parts)})" if parts else first)
        return lines


class Look(NamedTuple):
    """One of the looks of a pool: `number` of `looks`, after `pairs` of the `drawn` pairs in order.

    The number is 0 if all judgments were taken, whichever look they reach.
    """

    number: int
    looks: int
    pairs: int
    drawn: int

    @property
    def message(self) -> str:
        """Return a note on the look and the level of its verdict."""
        where = f"look {self.number} of {self.looks}, after {self.pairs:,} of {self.drawn:,} judgments"
        return f"{where} (the verdict at each look uses alpha / {self.looks}, Bonferroni)"


def places_of_looks(pairs: int, looks: int, judged: int = 0) -> list[int]:
    """Return the numbers of judgments of the looks, at equal steps of the pool.

    Those with fewer than 50 judgments, or with no more than `judged`, are left out.

    >>> places_of_looks(200, 5)
    [80, 120, 160, 200]
    """
    positions = {math.ceil(pairs * number / looks) for number in range(1, looks + 1)}
    return sorted(position for position in positions if position >= FEWEST_JUDGMENTS and position > judged)


def _numbers(places: Sequence[int]) -> str:
    return listed([f"{place:,}" for place in places])


def in_order(pool: DrawnPool) -> Integers:
    """Return the rows of the drawn pairs in the order in which they are judged."""
    rows = np.flatnonzero(pool.drawn)
    return rows[np.argsort(pool.order[rows], kind="stable")]


def probabilities_after(pool: DrawnPool, end: float, numbers: Floats | None = None) -> Floats:
    """Return the inclusion probabilities of the smaller draw of the pairs with an order below `end`."""
    if numbers is None:
        numbers = random_numbers_of(pool.names(), int(pool.design["seed"]))
    return at_scale(pool.probability, pool.order, numbers, end)


def first_pairs(pool: DrawnPool, count: int, numbers: Floats | None = None) -> DrawnPool:
    """Return the smaller draw of the first pairs in order; `numbers` are the random numbers of the pairs."""
    rows = in_order(pool)
    if count >= len(rows):
        return pool
    end = float(pool.order[rows[count]])
    return replace(
        pool, probability=probabilities_after(pool, end, numbers), drawn=pool.drawn & (pool.order < end)
    )


def at_look(pool: DrawnPool, grades: Mapping[str, Mapping[str, float]]) -> tuple[DrawnPool, Look | None]:
    """Return the part of a pool that was judged up to its last look, and that look.

    The pool itself and None if the only look is the end.

    Raises
    ------
    UsageError
        If fewer pairs were judged than the first look needs.
    """
    rows = in_order(pool).tolist()
    places = places_of_looks(len(rows), int(pool.design.get("looks", 1)))
    if len(places) < 2:
        return pool, None
    judged = (grades.get(pool.queries[row], {}).get(pool.documents[row], -1) >= 0 for row in rows)
    front = next((place for place, one in enumerate(judged) if not one), len(rows))
    reached = sum(place <= front for place in places)
    if not reached:
        raise UsageError(
            f"there is no verdict yet. Verdicts come when the first {_numbers(places)} pairs in judging "
            "order (column `order` of the pool) are judged. So far, "
            f"{counted(front, 'pair is', 'pairs are')} judged without a gap. `leadline evaluate` "
            "shows the values so far."
        )
    look = Look(reached, len(places), places[reached - 1], len(rows))
    return first_pairs(pool, look.pairs), look


def recall_estimates(
    sample: Sample, measures: Sequence[Measure], recalls: list[dict[str, RecallEstimate]], confidence: float
) -> RecallEstimates | None:
    """Return recall over all queries and numbers of relevant documents; None without R or a draw."""
    levels = sorted({one.rel for one in measures if isinstance(one, R)})
    if not levels or not len(sample.drawn):
        return None
    counts = {rel: relevant(sample.table, rel, confidence=confidence) for rel in levels}
    return RecallEstimates(counts, recalls, confidence)
