"""The derivation of one value as a table of ranks."""

from __future__ import annotations

from typing import Any

from leadline.evaluation.explain import Explanation, number
from leadline.reporting.render import Cell, Preformatted, Table


def explanation_table(found: Explanation) -> Table:
    """Lay an explanation out: a rank a row, the sums below."""
    steps = found.to_dict()["steps"]
    names = list(steps[0]) if steps else ["rank", "document", "score", "tie", "grade"]
    rows: list[list[Cell]] = [[_cell(name, value) for name, value in step.items()] for step in steps]
    rest = len(found.listed.documents) - found.shown
    notes = [f"ranks that do not matter: {rest} more (--all shows them)"] if rest else []
    return Table(
        names,
        rows,
        notes=[*notes, *found.steps.lines, *([""] if found.warnings else []), *map(str, found.warnings)],
        title=f"{found.measure} of {found.run}, query {found.query}: {number(found.value)}",
        whole=True,
    )


def _cell(name: str, value: Any) -> Cell:
    if name == "grade":
        return "unjudged" if value is None else Preformatted(f"{value:g}")
    if name == "score":
        return "-" if value is None else Preformatted(f"{value:.8g}")
    if name == "tie":
        return str(value or "")
    cell: Cell = value
    return cell
