"""How `leadline difference` lays out and draws what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.comparison.information_difference.difference_result import Difference, DifferencePair
from leadline.data.results import plain
from leadline.errors import UsageError
from leadline.reporting.render import Cell, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MATRIX = 6  # up to so many systems the table holds the whole matrix
LISTED = (
    ("nearest", "nearest pairs (id, difference in RIC)"),
    ("farthest", "farthest pairs"),
    ("same_score_far_apart", "similar RIC, large id"),
    ("near_but_unequal", "small id, different RIC"),
)


def _at(found: Difference) -> str:
    return "" if found.cutoff is None else f"@{found.cutoff}"


def difference_sheet(found: Difference) -> Table:
    """Lay systems down, the best RIC first; across RIC, direction, and id to the others or the nearest."""
    order = found.order()
    small = len(order) <= MATRIX
    at = _at(found)
    heads = ["system", f"RIC{at}", "concordance", "reversed"]
    heads += (
        [f"id{at} to {place}" for place in range(1, len(order) + 1)]
        if small
        else ["nearest", f"id{at}", "mean id"]
    )
    rows: list[list[Cell]] = []
    for row, place in enumerate(order, start=1):
        name = found.names[place]
        cells: list[Cell] = [
            f"{row} {name}" if small else name,
            float(found.mean_ric[place]),
            float(found.mean_concordance[place]),
            int(found.wrong_way[place].sum()),
        ]
        cells += found.mean_id[place, order].tolist() if small else _near(found, place)
        rows.append(cells)
    shares = found.mean_ric[order]
    best = {(row, 1) for row in np.flatnonzero(shares == shares[0]).tolist() if len(rows) > 1}
    notes = [
        f"{len(rows)} systems, mean over {int(found.counted.sum())} queries; in bits"
        + (", relative to those of the ideal list" if found.options["normalise"] else ""),
        "reversed: lists that rank most of their pairs in the wrong order",
        *_lists(found),
        *map(str, found.warnings),
    ]
    return Table(heads, rows, best=best, notes=notes)


def _near(found: Difference, place: int) -> list[Cell]:
    others = [other for other in range(len(found.names)) if other != place]
    far = found.mean_id[place, others]
    nearest = int(np.argmin(far))
    return [found.names[others[nearest]], float(far[nearest]), float(far.mean())]


def _beside(found: Difference) -> list[str]:
    """Describe what the competitors say, pair by pair where there are few."""
    if not found.competitors or len(found.names) < 2:
        return []
    if len(found.names) > 3:
        return [", ".join(found.competitors) + ": see CSV or JSON, for all pairs"]
    lines = []
    for i, j in zip(*map(list, np.triu_indices(len(found.names), 1)), strict=True):
        values = ", ".join(
            f"{name} {table[i, j]:.4f}" if np.isfinite(table[i, j]) else f"{name} -"
            for name, table in found.competitors.items()
        )
        lines.append(f"{found.names[i]} and {found.names[j]}: {values}")
    return lines


def _lists(found: Difference) -> list[str]:
    lines = _beside(found)
    if len(found.names) <= 2:
        return lines
    for method, title in LISTED:
        pairs: list[DifferencePair] = getattr(found, method)(3)
        if pairs:
            shown = "; ".join(
                f"{pair.a} - {pair.b} {pair.id:.4f}, {pair.ric_difference:.4f}" for pair in pairs
            )
            lines.append(f"{title}: {shown}")
    return lines


def pairs_sheet(found: Difference) -> Table:
    """Lay all pairs out, one a row: id, what either says alone, RIC of both, competitors."""
    at = _at(found)
    heads = ["a", "b", f"id{at}", "only_a", "only_b", f"RIC{at}_a", f"RIC{at}_b", *found.competitors]
    first, second = np.triu_indices(len(found.names), 1)
    rows: list[list[Cell]] = [
        [
            found.names[i],
            found.names[j],
            float(found.mean_id[i, j]),
            float(found.mean_only[i, j]),
            float(found.mean_only[j, i]),
            float(found.mean_ric[i]),
            float(found.mean_ric[j]),
            *(plain(float(table[i, j])) for table in found.competitors.values()),
        ]
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
    ]
    return Table(heads, rows)


def lines_of(found: Difference) -> list[dict[str, Any]]:
    """Return one record a system."""
    return [
        {
            "name": name,
            "ric": float(found.mean_ric[place]),
            "concordance": float(found.mean_concordance[place]),
            "wrong_way": int(found.wrong_way[place].sum()),
            "id": dict(zip(found.names, found.mean_id[place].tolist(), strict=True)),
        }
        for place, name in enumerate(found.names)
    ]


def figure_of(
    found: Difference,
    figure: str,
    groups: dict[str, str],
    parameters: dict[str, str],
    width: float | None = None,
) -> Figure:
    """Draw one of the figures of differences, in a width in inches or in its own."""
    from leadline.reporting.plots import COLUMN
    from leadline.reporting.plots.distance_map import likeness_map, likeness_tree
    from leadline.reporting.plots.line_plots import by_parameter, cumulative

    unit = "share of the ideal" if found.options["normalise"] else "bits"
    label = f"Information Difference{_at(found)} ({unit})"
    teams = [groups.get(name, "") for name in found.names] if groups else []
    if figure == "map":
        return likeness_map(found.names, found.mean_id, groups=teams, label=label, width=width)
    if figure == "tree":
        return likeness_tree(found.names, found.mean_id, groups=teams, label=label, width=width)
    if figure == "parameter":
        points = families(found, groups, parameters)
        return by_parameter(points, label=f"RIC{_at(found)} ({unit})", width=width or COLUMN)
    first, second = np.triu_indices(len(found.names), 1)
    far = found.mean_id[first, second]
    values = {"all pairs": far.tolist()}
    if teams:
        same = np.array([bool(teams[i]) and teams[i] == teams[j] for i, j in zip(first, second, strict=True)])
        values |= {"of one group": far[same].tolist(), "of two groups": far[~same].tolist()}
    return cumulative(values, label=label, width=width or COLUMN)


def families(
    found: Difference, groups: dict[str, str], parameters: dict[str, str]
) -> dict[str, list[tuple[float, float]]]:
    """Return (parameter, RIC) of the systems of every family."""
    families: dict[str, list[tuple[float, float]]] = {}
    for place, name in enumerate(found.names):
        if name in groups and name in parameters:
            try:
                value = float(parameters[name])
            except ValueError:
                raise UsageError(
                    f"parameter '{parameters[name]}' of run '{name}'; expected a number"
                ) from None
            families.setdefault(groups[name], []).append((value, float(found.mean_ric[place])))
    if not families:
        raise UsageError("no run has both a group and a parameter; do the names match?")
    return families
