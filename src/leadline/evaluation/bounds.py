"""Bounds of measures over the orders of tied documents, and over the grades of unjudged ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import ClassVar

import numpy as np

from leadline.data.arrays import Codes, Floats, Integers, freeze
from leadline.data.judged_run import JudgedRun, Ties
from leadline.data.results import Bounds
from leadline.measures import Measure


def sorted_ties(judged: JudgedRun, *, best: bool) -> JudgedRun:
    """Return the same lists with every group of equal scores sorted by grade, the best first or last.

    Documents without a judgment stand between grade 0 and negative grades. Where a list was cut inside a
    group, the documents that are left of it change places.
    """
    if not (judged.tie_last > judged.tie_first).any():
        return judged
    query, first = judged.query, judged.tie_first.astype(np.int64)
    last = last_places(judged)
    sign = -1.0 if best else 1.0
    order = np.lexsort((sign * judged.grade, first, query))
    start, stop = group_bounds(query, first)
    place = np.arange(len(order)) - start
    front = (judged.grade[order] >= 0) == best
    rank = np.where(front, first + place, last - (stop - start - 1 - place))
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


def last_places(judged: JudgedRun) -> Integers:
    """Return the last rank of every row's tie group that the list still has."""
    last: Integers = np.minimum(judged.tie_last, judged.length[judged.query]).astype(np.int64)
    return last


def group_bounds(query: Codes, first: Codes | Integers) -> tuple[Integers, Integers]:
    """Give, for rows in order of rank, the first row of each row's tie group and the row after the last."""
    new = np.ones(len(first), dtype=np.bool_)
    new[1:] = (query[1:] != query[:-1]) | (first[1:] != first[:-1])
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    return starts[group], np.append(starts[1:], len(first))[group]


class AllJudged(JudgedRun):
    """A join in which unjudged documents have a grade; the qrels stay, and with them R and the ideal."""

    def __init__(self, judged: JudgedRun, grade: float) -> None:
        offsets = np.concatenate(([0], np.cumsum(judged.length))).astype(np.int64)
        query = np.repeat(np.arange(len(judged.length)), judged.length)
        rank = (np.arange(len(query)) - offsets[query] + 1).astype(np.int32)
        place = offsets[judged.query] + judged.rank - 1
        row = np.full(len(query), -1, dtype=np.int32)
        row[place] = judged.row
        grades = np.full(len(query), grade)
        grades[place] = judged.grade
        freeze(grades)
        self._grades = grades
        none: Codes = np.empty(0, dtype=np.int32)
        super().__init__(
            judged.qrels,
            present=judged.present,
            length=judged.length,
            offsets=offsets,
            rank=rank,
            row=row,
            tie_first=rank,
            tie_last=rank,
            unjudged_ties=Ties(none, none, none),
        )

    @cached_property
    def grade(self) -> Floats:
        """Return the grade of every row."""
        return self._grades


def all_judged(judged: JudgedRun) -> JudgedRun:
    """Return the same lists with the largest grade of the qrels for every unjudged document."""
    return AllJudged(judged, float(judged.qrels.grades.max(initial=0.0)))


# A file holds what is proved of a family of measures; what no file claims is not available.


class Rule:
    """What is proved of the measures whose classes it names.

    To name a measure claims that it never falls (or never rises) when, in one group of equal scores, a
    document of higher grade moves up in exchange for one of lower grade; one without a judgment stands
    between grade 0 and negative grades. So its lowest and highest values are those of the two sorted orders.
    `tests/bounds` tries every claim on all orders and all grades of small lists.
    """

    measures: ClassVar[tuple[str, ...]] = ()

    def expected(self, measure: Measure, judged: JudgedRun, *, low: Floats, high: Floats) -> Floats | None:
        """Return the mean over all orders of equal scores; None where that is not known.

        `low` and `high` are the values of the two sorted orders.
        """
        del self, measure, judged, low, high
        return None

    def monotone(self, measure: Measure) -> bool:
        """Return whether a higher grade of a retrieved document never makes the value worse."""
        del self, measure
        return True


@cache
def rules() -> dict[str, Rule]:
    """Return the rule of every measure that has one, as classes of `tie_expectations`."""
    found: dict[str, Rule] = {}
    for rule in _rules():
        for name in rule.measures:
            if name in found:
                raise TypeError(f"two rules of bounds for {name}")
            found[name] = rule
    return found


def _rules() -> Iterator[Rule]:
    from leadline.evaluation import tie_expectations

    for value in vars(tie_expectations).values():
        if isinstance(value, type) and issubclass(value, Rule) and value is not Rule:
            yield value()


def bounds_of(measures: Sequence[Measure], judged: JudgedRun) -> Bounds:
    """Return the bounds of every query and measure, for one run.

    >>> from leadline.measures import MEASURES
    >>> from leadline.data.qrels import Qrels
    >>> from leadline.data.run import Run
    >>> tied = JudgedRun.of_run(Run.of([(b"1", b"a", 0.5), (b"1", b"b", 0.5)]), Qrels.of([(b"1", b"a", 1)]))
    >>> bounds_of([MEASURES.parse("RR")], tied).limits[0, 0]
    array([0.5 , 1.  , 0.75, 0.5 , 1.  ])
    """
    size = (len(judged.present), len(measures), 5)
    values = np.full(size, np.nan)
    available = np.zeros(size[1:], dtype=np.bool_)
    ends = [sorted_ties(judged, best=best) for best in (False, True)]
    supposed = all_judged(judged)
    for place, measure in enumerate(measures):
        rule = rules().get(type(measure).__name__)
        if rule is None:
            continue
        columns = [
            *_over_ties(rule, measure, judged, ends=ends),
            *_over_grades(rule, measure, judged, supposed=supposed),
        ]
        for bound, column in enumerate(columns):
            if column is not None:
                values[:, place, bound] = column
                available[place, bound] = True
    return Bounds(values, available)


def _over_ties(
    rule: Rule, measure: Measure, judged: JudgedRun, *, ends: Sequence[JudgedRun]
) -> tuple[Floats | None, ...]:
    """Return the lowest, highest and expected value over the orders of equal scores."""
    one, other = (measure.values(end) for end in ends)
    low, high = np.minimum(one, other), np.maximum(one, other)
    expected = rule.expected(measure, judged, low=one, high=other)
    # Rounding alone could carry the mean over an end.
    return low, high, None if expected is None else np.clip(expected, low, high)


def _over_grades(
    rule: Rule, measure: Measure, judged: JudgedRun, *, supposed: JudgedRun
) -> tuple[Floats | None, ...]:
    """Return the values with all unjudged documents non-relevant, and with all at the largest grade."""
    if not rule.monotone(measure):
        return None, None
    one = measure.values(judged)
    other = np.clip(measure.values(supposed), measure.low, measure.high)
    return np.minimum(one, other), np.maximum(one, other)
