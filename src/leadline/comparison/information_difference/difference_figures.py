"""Figures of the Information Difference of systems, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leadline.charts import COLUMN
from leadline.charts.distance_map import distance_map, distance_tree
from leadline.charts.line_plots import by_parameter, cumulative
from leadline.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.comparison.information_difference.difference_result import Difference


def drawn_difference(
    result: Difference,
    figure: str,
    groups: dict[str, str],
    parameters: dict[str, str],
    width: float | None = None,
) -> Figure:
    """Draw a figure of differences; `width` is in inches, by default that of the figure."""
    unit = "share of the ideal" if result.options["normalise"] else "bits"
    label = f"Information Difference{result.at} ({unit})"
    teams = [groups.get(name, "") for name in result.names] if groups else []
    if figure == "map":
        return distance_map(result.names, result.mean_id, groups=teams, label=label, width=width)
    if figure == "tree":
        return distance_tree(result.names, result.mean_id, groups=teams, label=label, width=width)
    if figure == "parameter":
        points = families(result, groups, parameters)
        return by_parameter(points, label=f"RIC{result.at} ({unit})", width=width or COLUMN)
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
