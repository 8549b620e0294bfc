"""How far values may move: over the orders of tied documents, and over the grades of unjudged ones.

A file holds what is proved of a family of measures; what no file claims is not available.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from functools import cache
from typing import ClassVar

import numpy as np

from leadline.arrays import Floats
from leadline.judged import Judged
from leadline.measures import Measure
from leadline.results import Bounds


class Rule:
    """What is proved of the measures whose classes it names.

    To name a measure claims that it never falls (or never rises) when, in one group of equal scores, a
    document of higher grade moves up in exchange for one of lower grade; one without a judgment stands
    between grade 0 and negative grades. So its lowest and highest values are those of the two sorted orders.
    `tests/bounds` tries every claim on all orders and all grades of small lists.
    """

    measures: ClassVar[tuple[str, ...]] = ()

    def expected(
        self, measure: Measure, judged: Judged, *, low: Floats, high: Floats
    ) -> Floats | None:
        """Give the mean over all orders of equal scores; None where that is not known.

        `low` and `high` are the values of the two sorted orders.
        """
        del self, measure, judged, low, high
        return None

    def monotone(self, measure: Measure) -> bool:
        """Say whether a higher grade of a retrieved document never makes the value worse."""
        del self, measure
        return True


@cache
def rules() -> dict[str, Rule]:
    """Give the rule of every measure that has one, by looking into the files of this room."""
    found: dict[str, Rule] = {}
    for rule in _rules():
        for name in rule.measures:
            if name in found:
                raise TypeError(f"two rules of bounds for {name}")
            found[name] = rule
    return found


def _rules() -> Iterator[Rule]:
    for entry in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{entry.name}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Rule) and value is not Rule:
                yield value()


def bounds_of(measures: Sequence[Measure], judged: Judged) -> Bounds:
    """Give the bounds of every query and measure, for one run.

    >>> from leadline.measures import MEASURES
    >>> from leadline.qrels import Qrels
    >>> from leadline.run import Run
    >>> tied = Judged.of_run(Run.of([(b"1", b"a", 0.5), (b"1", b"b", 0.5)]), Qrels.of([(b"1", b"a", 1)]))
    >>> bounds_of([MEASURES.parse("RR")], tied).limits[0, 0]
    array([0.5 , 1.  , 0.75, 0.5 , 1.  ])
    """
    from leadline.bounds.orders import sorted_ties
    from leadline.bounds.unjudged import all_judged

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
    rule: Rule, measure: Measure, judged: Judged, *, ends: Sequence[Judged]
) -> tuple[Floats | None, ...]:
    """Give the lowest, highest and expected value over the orders of equal scores."""
    one, other = (measure.values(end) for end in ends)
    low, high = np.minimum(one, other), np.maximum(one, other)
    expected = rule.expected(measure, judged, low=one, high=other)
    # Rounding alone could carry the mean over an end.
    return low, high, None if expected is None else np.clip(expected, low, high)


def _over_grades(
    rule: Rule, measure: Measure, judged: Judged, *, supposed: Judged
) -> tuple[Floats | None, ...]:
    """Give the value with all unjudged documents non-relevant, and with all of them at the largest grade."""
    if not rule.monotone(measure):
        return None, None
    one = measure.values(judged)
    other = np.clip(measure.values(supposed), measure.low, measure.high)
    return np.minimum(one, other), np.maximum(one, other)
