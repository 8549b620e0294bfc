"""Table of trained weights of a fusion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leadline.reporting.render import Cell, Table

if TYPE_CHECKING:
    from leadline.comparison.fusion_training import FusionTraining


def fusion_table(result: FusionTraining) -> Table:
    """Return the weight of each run, its range over folds, and the value of the run alone."""
    weights = [fold["weights"] for fold in result.folds]
    rows: list[list[Cell]] = [
        [name, f"{weight:g}", f"{min(found):g} to {max(found):g}", result.alone[name]]
        for (name, weight), found in zip(result.weights.items(), zip(*weights, strict=True), strict=True)
    ]
    training = (
        f"{result.measure} of {result.run.options['method']} with these weights: {result.training:.4f} on "
        f"the {result.queries} queries that chose them, {result.cross_validated:.4f} cross-validated in "
        f"{len(result.folds)} folds; optimism {result.optimism:.4f}"
    )
    notes = [training, f"with equal weights: {result.equal:.4f}"]
    return Table(
        ["run", "weight", "weights in folds", f"{result.measure} alone"],
        rows,
        notes=[*notes, *map(str, result.warnings)],
        optional=("weights in folds",),
    )
