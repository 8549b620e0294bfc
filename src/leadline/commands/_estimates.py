"""Estimates beside the measures: columns of recall, and a note on the number of relevant documents."""

from __future__ import annotations

from leadline.render import Cell
from leadline.results import Results, plain
from leadline.sampling.recall import Estimates
from leadline.wording import percent


def estimate_columns(results: Results) -> list[str]:
    """Give the heads of the columns of estimated recall."""
    found = results.estimates
    if not isinstance(found, Estimates):
        return []
    return [head for name in found.recall[0] for head in (f"{name} est.", "low", "high")]


def estimate_cells(results: Results, place: int) -> list[Cell]:
    """Give the estimated recall of a run, with its intervals."""
    found = results.estimates
    if not isinstance(found, Estimates):
        return []
    return [plain(value) for estimate in found.recall[place].values() for value in estimate]


def estimate_notes(results: Results) -> list[str]:
    """Say how many relevant documents there are by estimate, and what the intervals are of."""
    found = results.estimates
    if not isinstance(found, Estimates):
        return []
    notes = []
    for rel, (value, low, high) in found.relevant.items():
        grade = "" if rel == 1 else f" (grade {rel:g} or more)"
        notes.append(
            f"estimated relevant documents{grade}: {value:.4g} a query ({percent(found.confidence)} of "
            f"draws: {low:.4g} to {high:.4g})"
        )
    if found.recall[0]:
        notes.append(
            "est.: recall over all queries, from inclusion probabilities; low, high: over draws"
        )
    return notes
