"""Runs in parts, on one process or many: partial results, how they merge, and what is saved of them."""

from __future__ import annotations

from leadline.evaluation.evaluate import Evaluation
from leadline.scale.evaluate_parts import PartsFailedError, evaluate_parts, evaluate_runs
from leadline.scale.run_parts import Partial, RunParts, evaluate_batches, evaluate_part, merge_partials

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
]
