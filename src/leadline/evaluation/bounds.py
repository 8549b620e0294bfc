"""Bounds of measures over the orders of tied documents, and over the grades of unjudged ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property

import numpy as np

from leadline.data.arrays import Codes, Floats, freeze
from leadline.data.judged_run import JudgedRun
from leadline.data.run import TieGroups
from leadline.evaluation.limits import Bounds
from leadline.evaluation.tie_expectations import Rule, group_bounds, last_ranks
from leadline.measures import Measure


def sorted_ties(judged: JudgedRun, *, best: bool) -> JudgedRun:
    """Return the lists with the documents of each tie sorted by grade.

    Unjudged documents are ordered between grade 0 and negative grades. Where a list was cut inside a tie,
    only the remaining documents are reordered.
    """
    if not (judged.tie_last > judged.tie_first).any():
        return judged
    query, first = judged.query, judged.tie_first.astype(np.int64)
    last = last_ranks(judged)
    sign = -1.0 if best else 1.0
    order = np.lexsort((sign * judged.grade, first, query))
    start, stop = group_bounds(query, first)
    position = np.arange(len(order)) - start
    front = (judged.grade[order] >= 0) == best
    rank = np.where(front, first + position, last - (stop - start - 1 - position))
    return JudgedRun(
        judged.qrels,
        present=judged.present,
        length=judged.length,
        offsets=judged.offsets,
        rank=rank.astype(np.int32),
        row=judged.row[order],
        tie_first=judged.tie_first,
        tie_last=judged.tie_last,
        unjudged_ties=judged.unjudged_ties,
    )


class AllJudged(JudgedRun):
    """Judged run in which unjudged documents have a grade; R and the ideal list are those of the qrels."""

    def __init__(self, judged: JudgedRun, grade: float) -> None:
        offsets = np.concatenate(([0], np.cumsum(judged.length))).astype(np.int64)
        query = np.repeat(np.arange(len(judged.length)), judged.length)
        rank = (np.arange(len(query)) - offsets[query] + 1).astype(np.int32)
        position = offsets[judged.query] + judged.rank - 1
        row = np.full(len(query), -1, dtype=np.int32)
        row[position] = judged.row
        grades = np.full(len(query), grade)
        grades[position] = judged.grade
        freeze(grades)
        self._grades = grades
        empty: Codes = np.empty(0, dtype=np.int32)
        super().__init__(
            judged.qrels,
            present=judged.present,
            length=judged.length,
            offsets=offsets,
            rank=rank,
            row=row,
            tie_first=rank,
            tie_last=rank,
            unjudged_ties=TieGroups(empty, empty, empty),
        )

    @cached_property
    def levels(self) -> Floats:
        """Return the grade of every row."""
        return self._grades


def all_judged(judged: JudgedRun) -> JudgedRun:
    """Return the lists with every unjudged document at the highest grade of the qrels."""
    return AllJudged(judged, judged.qrels.highest_grade)


@cache
def rules() -> dict[str, Rule]:
    """Return the rules by name of measure."""
    by_measure: dict[str, Rule] = {}
    for rule in _rules():
        for name in rule.measures:
            if name in by_measure:
                raise TypeError(f"two rules of bounds for {name}")
            by_measure[name] = rule
    return by_measure


def _rules() -> Iterator[Rule]:
    from leadline.evaluation import tie_expectations

    for value in vars(tie_expectations).values():
        if isinstance(value, type) and issubclass(value, Rule) and value is not Rule:
            yield value()


def bounds_of(measures: Sequence[Measure], judged: JudgedRun) -> Bounds:
    """Return the bounds of one run by query and measure.

    >>> from leadline.measures import MEASURES
    >>> from leadline.io.objects import Qrels
    >>> from leadline.io.objects import Run
    >>> tied = JudgedRun.of_run(Run.of([(b"1", b"a", 0.5), (b"1", b"b", 0.5)]), Qrels.of([(b"1", b"a", 1)]))
    >>> bounds_of([MEASURES.parse("RR")], tied).limits[0, 0]
    array([0.5 , 1.  , 0.75, 0.5 , 1.  ])
    """
    size = (len(judged.present), len(measures), 5)
    values = np.full(size, np.nan)
    available = np.zeros(size[1:], dtype=np.bool_)
    extremes = [sorted_ties(judged, best=best) for best in (False, True)]
    judged_high = all_judged(judged)
    for index, measure in enumerate(measures):
        rule = rules().get(type(measure).__name__)
        if rule is None:
            continue
        bounds = [
            *_over_ties(rule, measure, judged, extremes=extremes),
            *_over_grades(rule, measure, judged, judged_high=judged_high),
        ]
        for bound, values_of_bound in enumerate(bounds):
            if values_of_bound is not None:
                values[:, index, bound] = values_of_bound
                available[index, bound] = True
    return Bounds(values, available)


def _over_ties(
    rule: Rule, measure: Measure, judged: JudgedRun, *, extremes: Sequence[JudgedRun]
) -> tuple[Floats | None, ...]:
    """Return the lowest, highest and expected value over the orders of tied documents."""
    ascending, descending = (measure.values(lists) for lists in extremes)
    low, high = np.minimum(ascending, descending), np.maximum(ascending, descending)
    expected = rule.expected(measure, judged, low=ascending, high=descending)
    # By rounding, the mean may exceed the extremes.
    return low, high, None if expected is None else np.clip(expected, low, high)


def _over_grades(
    rule: Rule, measure: Measure, judged: JudgedRun, *, judged_high: JudgedRun
) -> tuple[Floats | None, ...]:
    """Return the values with all unjudged documents non-relevant, and with all at the highest grade."""
    if not rule.monotone(measure):
        return None, None
    lower = measure.values(judged)
    upper = np.clip(measure.values(judged_high), measure.low, measure.high)
    return np.minimum(lower, upper), np.maximum(lower, upper)
