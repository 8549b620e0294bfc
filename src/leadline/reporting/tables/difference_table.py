"""Tables and figures of Information Difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.comparison.information_difference.difference_result import Difference, DifferencePair
from leadline.data.results import plain
from leadline.data.table import Cell, Table
from leadline.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MATRIX = 6  # maximum number of systems whose whole matrix is shown
LISTED = (
    ("nearest", "nearest pairs (id, difference in RIC)"),
    ("farthest", "farthest pairs"),
    ("same_score_far_apart", "similar RIC, large id"),
    ("near_but_unequal", "small id, different RIC"),
)


def _at(result: Difference) -> str:
    return "" if result.cutoff is None else f"@{result.cutoff}"


def difference_table(result: Difference) -> Table:
    """Return the table of systems in descending order of RIC, with id to the others or to the nearest."""
    order = result.order()
    small = len(order) <= MATRIX
    at = _at(result)
    heads = ["system", f"RIC{at}", "concordance", "reversed"]
    heads += (
        [f"to {system}" for system in range(1, len(order) + 1)]
        if small
        else ["nearest", f"id{at}", "mean id"]
    )
    rows: list[list[Cell]] = []
    for row, system in enumerate(order, start=1):
        name = result.names[system]
        cells: list[Cell] = [
            f"{row} {name}" if small else name,
            float(result.mean_ric[system]),
            float(result.mean_concordance[system]),
            int(result.wrong_way[system].sum()),
        ]
        cells += result.mean_id[system, order].tolist() if small else _near(result, system)
        rows.append(cells)
    shares = result.mean_ric[order]
    best = {(row, 1) for row in np.flatnonzero(shares == shares[0]).tolist() if len(rows) > 1}
    notes = [
        f"{len(rows)} systems, mean over {int(result.counted.sum())} queries; in bits"
        + (", relative to those of the ideal list" if result.options["normalise"] else ""),
        *([f"to 1, to 2, ...: id{at}, the Information Difference to that system"] if small else []),
        "reversed: lists that rank most of their pairs in the wrong order",
        *_lists(result),
        *map(str, result.warnings),
    ]
    return Table(heads, rows, best=best, notes=notes, optional=("concordance", "reversed"))


def _near(result: Difference, system: int) -> list[Cell]:
    others = [other for other in range(len(result.names)) if other != system]
    far = result.mean_id[system, others]
    nearest = int(np.argmin(far))
    return [result.names[others[nearest]], float(far[nearest]), float(far.mean())]


def _beside(result: Difference) -> list[str]:
    """Return the values of other similarity measures, pair by pair for up to three systems."""
    if not result.competitors or len(result.names) < 2:
        return []
    if len(result.names) > 3:
        return [", ".join(result.competitors) + ": see CSV or JSON, for all pairs"]
    lines = []
    for i, j in zip(*map(list, np.triu_indices(len(result.names), 1)), strict=True):
        values = ", ".join(
            f"{name} {table[i, j]:.4f}" if np.isfinite(table[i, j]) else f"{name} -"
            for name, table in result.competitors.items()
        )
        lines.append(f"{result.names[i]} and {result.names[j]}: {values}")
    return lines


def _lists(result: Difference) -> list[str]:
    lines = _beside(result)
    if len(result.names) <= 2:
        return lines
    for method, title in LISTED:
        pairs: list[DifferencePair] = getattr(result, method)(3)
        if pairs:
            listed = "; ".join(
                f"{pair.a} - {pair.b} {pair.id:.4f}, {pair.ric_difference:.4f}" for pair in pairs
            )
            lines.append(f"{title}: {listed}")
    return lines


def pairs_table(result: Difference) -> Table:
    """Return the table of all pairs: id, information of either alone, RIC of both, other similarities."""
    at = _at(result)
    heads = ["a", "b", f"id{at}", "only_a", "only_b", f"RIC{at}_a", f"RIC{at}_b", *result.competitors]
    first, second = np.triu_indices(len(result.names), 1)
    rows: list[list[Cell]] = [
        [
            result.names[i],
            result.names[j],
            float(result.mean_id[i, j]),
            float(result.mean_only[i, j]),
            float(result.mean_only[j, i]),
            float(result.mean_ric[i]),
            float(result.mean_ric[j]),
            *(plain(float(table[i, j])) for table in result.competitors.values()),
        ]
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
    ]
    return Table(heads, rows)


def lines_of(result: Difference) -> list[dict[str, Any]]:
    """Return one record per system."""
    return [
        {
            "name": name,
            "ric": float(result.mean_ric[index]),
            "concordance": float(result.mean_concordance[index]),
            "wrong_way": int(result.wrong_way[index].sum()),
            "id": dict(zip(result.names, result.mean_id[index].tolist(), strict=True)),
        }
        for index, name in enumerate(result.names)
    ]


def figure_of(
    result: Difference,
    figure: str,
    groups: dict[str, str],
    parameters: dict[str, str],
    width: float | None = None,
) -> Figure:
    """Draw a figure of differences; `width` is in inches, by default that of the figure."""
    from leadline.reporting.plots import COLUMN
    from leadline.reporting.plots.distance_map import distance_map, distance_tree
    from leadline.reporting.plots.line_plots import by_parameter, cumulative

    unit = "share of the ideal" if result.options["normalise"] else "bits"
    label = f"Information Difference{_at(result)} ({unit})"
    teams = [groups.get(name, "") for name in result.names] if groups else []
    if figure == "map":
        return distance_map(result.names, result.mean_id, groups=teams, label=label, width=width)
    if figure == "tree":
        return distance_tree(result.names, result.mean_id, groups=teams, label=label, width=width)
    if figure == "parameter":
        points = families(result, groups, parameters)
        return by_parameter(points, label=f"RIC{_at(result)} ({unit})", width=width or COLUMN)
    first, second = np.triu_indices(len(result.names), 1)
    distances = result.mean_id[first, second]
    values = {"all pairs": distances.tolist()}
    if teams:
        same = np.array([bool(teams[i]) and teams[i] == teams[j] for i, j in zip(first, second, strict=True)])
        values |= {"of one group": distances[same].tolist(), "of two groups": distances[~same].tolist()}
    return cumulative(values, label=label, width=width or COLUMN)


def families(
    result: Difference, groups: dict[str, str], parameters: dict[str, str]
) -> dict[str, list[tuple[float, float]]]:
    """Return pairs of parameter and RIC of the systems of every family."""
    families: dict[str, list[tuple[float, float]]] = {}
    for index, name in enumerate(result.names):
        if name in groups and name in parameters:
            try:
                value = float(parameters[name])
            except ValueError:
                raise UsageError(
                    f"parameter '{parameters[name]}' of run '{name}'; expected a number"
                ) from None
            families.setdefault(groups[name], []).append((value, float(result.mean_ric[index])))
    if not families:
        raise UsageError("no run has both a group and a parameter; do the names match?")
    return families
