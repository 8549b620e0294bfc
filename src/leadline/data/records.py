"""Parts of results: runs and warnings, means and summaries of values, values in the form that JSON takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from leadline.data.arrays import Flags, Floats
from leadline.errors import punctuated

DRAWN_POOL = "drawn_pool"  # code of the remark on judgments from the store of a drawn pool
MACHINE_LABELS = "machine_labels"  # code of the warning that judgments are labels by an automatic judge


@dataclass(frozen=True)
class ResultWarning:
    """Warning about a result: code, message, and number of occurrences."""

    code: str
    message: str
    count: int

    def __str__(self) -> str:
        return punctuated(self.message)


def raised(*found: tuple[str, str, int]) -> list[ResultWarning]:
    """Return the warnings of codes, messages and counts whose counts are not 0.

    >>> raised(("few_runs", "only 2 runs", 2), ("few_queries", "only 0 queries", 0))
    [ResultWarning(code='few_runs', message='only 2 runs', count=2)]
    """
    return [ResultWarning(*one) for one in found if one[2]]


@dataclass(frozen=True)
class RunInfo:
    """Name, tag, path and counts of a run."""

    name: str
    tag: str = ""
    path: str = ""
    counts: dict[str, int] = field(default_factory=dict)


def plain(value: float) -> float | None:
    """Return a number; None if it is NaN or infinite."""
    return value if math.isfinite(value) else None


def keyed(record: Any) -> dict[str, Any]:
    """Return the fields of a NamedTuple as JSON holds them: None for an undefined number."""

    def shown(value: Any) -> Any:
        if isinstance(value, float):
            return plain(value)
        return keyed(value) if hasattr(value, "_asdict") else value

    return {name: shown(value) for name, value in record._asdict().items()}


def flagged(names: Sequence[str], flags: Flags) -> list[str]:
    """Return the queries that are flagged."""
    return [names[code] for code in np.flatnonzero(flags).tolist()]


GEOMETRIC_FLOOR = 0.00001  # minimum value in a geometric mean, as in trec_eval


class Averaged(Protocol):
    """Attributes of a measure that results require."""

    @property
    def average(self) -> str:
        """Average over queries: mean, defined, geometric or sum."""

    @property
    def rising(self) -> bool:
        """Whether larger values are better."""


@dataclass(frozen=True)
class NamedMeasure:
    """Measure of a table of scores that is known by its name alone; its range is unknown.

    >>> str(NamedMeasure("latency", rising=False))
    'latency'
    """

    name: str
    rising: bool = True
    low: float = -math.inf
    high: float = math.inf
    average: str = "mean"
    quality: bool = True
    assumed: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def direction(self) -> str:
        """What is better: "higher", "lower", or "unknown" where higher is only assumed."""
        return "unknown" if self.assumed else "higher" if self.rising else "lower"


def summary(values: Floats, averaged: Flags, average: str, weights: Floats | None = None) -> Floats:
    """Return the average of each run (row) over the included queries (columns), added in order.

    >>> summary(np.array([[0.5, 0.1]]), np.array([[True, True]]), "mean", np.array([3.0, 1.0])).tolist()
    [0.4]
    """
    if average == "geometric":
        floored = np.log(np.maximum(np.nan_to_num(values), GEOMETRIC_FLOOR))
        return np.exp(summary(floored, averaged, "mean", weights))
    addends = np.where(averaged & ~np.isnan(values), values, 0.0)
    addends = addends if weights is None else addends * weights
    # A cumulative sum adds in order; np.sum adds pairwise, with other rounding errors than trec_eval.
    total: Floats = addends.cumsum(axis=1)[:, -1] if addends.size else addends.sum(axis=1)
    if average == "sum":
        return total
    included = averaged & ~np.isnan(values) if average == "defined" else averaged
    size = included.sum(axis=1) if weights is None else (included * weights).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size == 0, np.nan, total / size)
