"""A pool drawn for measures, with the expected precision of the estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leadline.data.result import Result
from leadline.data.results import RunInfo, plain
from leadline.data.table import Column
from leadline.io.pool_files import DrawnPool

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
        heads = ("half-width", "per query for half", "per query for exact")
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
        size = f"{self.pairs:,} pairs of {self.queries:,} queries, {mean:.1f} per query"
        lines = [f"{size}, sampled with known probabilities from {self.frame:,}"]
        if self.added != self.pairs:
            lines.append(f"new pairs: {self.added:,}; the others are judged or were sampled before")
        of = "of the difference" if self.options.get("for_pair") else "per run"
        for name, expected in self.expected.items():
            half_width, half, exact = (expected[key] for key in FORECAST)
            parts = [
                f"{name}: no forecast of an interval"
                if half_width is None
                else f"expected half-width of {name}: {half_width:.3f} {of}"
            ]
            if half is not None:
                parts.append(f"half of it needs {half:.1f} judgments per query")
            if exact is not None:
                parts.append(f"exact for these runs with {exact:.1f} judgments per query")
            said = half_width is None and any(str(notice).startswith(f"{name}: ") for notice in self.warnings)
            if len(parts) > 1 or not said:
                lines.append("; ".join(parts))
        return lines
