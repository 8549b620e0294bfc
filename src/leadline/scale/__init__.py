"""Runs in parts, on one process or many: partial results, how they merge, and what is saved of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leadline.evaluation.evaluate import Evaluation
from leadline.scale.evaluate_parts import PartsFailedError, evaluate_parts, evaluate_runs
from leadline.scale.merging import merge_results
from leadline.scale.partial import Partial, evaluate_batches, evaluate_part, merge_partials
from leadline.scale.run_parts import RunParts

if TYPE_CHECKING:
    from leadline.scale.suite_evaluation import suite

__all__ = [
    "Evaluation",
    "Partial",
    "PartsFailedError",
    "RunParts",
    "evaluate_batches",
    "evaluate_part",
    "evaluate_parts",
    "evaluate_runs",
    "merge_partials",
    "merge_results",
    "suite",
]


def __getattr__(name: str) -> object:
    """Import suites when they are used: they compare runs, which workers do not."""
    if name == "suite":
        from leadline.scale.suite_evaluation import suite

        return suite
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
