"""What measures share whose gains are parts of a largest grade."""

from __future__ import annotations

import numpy as np

from leadline.arrays import Codes, Floats
from leadline.errors import UsageError
from leadline.judged import Gains, Judged
from leadline.measures import Measure
from leadline.naming import Refused, show

OTHER_NAMES: Refused = {
    "max_rel": "write max_grade",
    "min_rel": "the smallest grade is 0: smaller ones give gain 0",
}


def gains_below(measure: Measure, judged: Judged, max_grade: float) -> Gains:
    """Give the retrieved documents with a gain; an error when a judgment is above the largest grade."""
    largest = float(judged.qrels.grades.max(initial=0.0))
    if largest > max_grade:
        raise UsageError(
            f"{measure}: a grade of {show(largest)} is above max_grade={show(max_grade)}; expected "
            f"smaller grades, or max_grade={show(largest)}"
        )
    return judged.gains


def running(query: Codes, values: Floats, step: np.ufunc) -> Floats:
    """Add up or multiply values row by row within each query; no query changes another's last bit.

    The rows of a query stand together, and query codes rise.
    """
    nth = np.arange(len(query)) - np.searchsorted(query, query)
    order = np.argsort(nth, kind="stable")
    found = values.astype(np.float64)
    for rows in np.split(order, np.cumsum(np.bincount(nth)))[1:-1]:  # the second of each query, ...
        found[rows] = step(found[rows - 1], values[rows])
    return found


def left_before(query: Codes, factor: Floats) -> Floats:
    """Give, per row, the product of the factors of the rows before it in its query."""
    shifted = np.ones(len(query))
    inner = np.flatnonzero(query[1:] == query[:-1]) + 1
    shifted[inner] = factor[inner - 1]
    return running(query, shifted, np.multiply)
