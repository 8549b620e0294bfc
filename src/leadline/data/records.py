"""Parts of results: runs and warnings, and values in the form that JSON takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leadline.data.arrays import Flags

MACHINE_LABELS = "machine_labels"  # code of the warning that judgments are labels by an automatic judge


@dataclass(frozen=True)
class ResultWarning:
    """Warning about a result: code, message, and number of occurrences."""

    code: str
    message: str
    count: int

    def __str__(self) -> str:
        return self.message


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
