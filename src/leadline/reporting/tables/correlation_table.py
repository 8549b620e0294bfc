"""Correlation coefficients as a table."""

from __future__ import annotations

from leadline.comparison.correlate import Correlation
from leadline.data.results import plain
from leadline.reporting.render import Table

TITLES = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall tau-b", "tau_ap": "tau-AP"}


def correlation_table(found: Correlation) -> Table:
    """Lay the coefficients down."""
    truth, estimate = found.sides
    unit = "teams" if found.options.get("team") else "runs"
    what = (
        f"{estimate.measure} ({estimate.path}) against {truth.measure} ({truth.path}) over "
        f"{len(found.names)} runs"
    )
    how = (
        f"low, high: approximate {100 * found.options['confidence']:g} % confidence interval, {unit} "
        f"resampled ({found.options['draws']} draws); queries low, high: approximate, over a population of "
        "queries"
    )
    heads = ["coefficient", "value", "low", "high", "p", "queries low", "queries high"]
    return Table(
        heads,
        [[TITLES[name], *map(plain, one)] for name, one in found.found.items()],
        notes=[what, how, *map(str, found.warnings)],
    )
