"""Tables of evaluation: means, values with intervals and bounds, curves, correlations, derivations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leadline.data.results import plain
from leadline.data.table import Table

if TYPE_CHECKING:  # a small `evaluate` loads none of these
    from leadline.comparison.correlate import Correlation


TITLES = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall tau-b",
    "tau_ap": "tau-AP",
    "tau_ap_b": "tau-AP,b",
}


def correlation_table(correlation: Correlation) -> Table:
    """Return the table of correlation coefficients."""
    from leadline.comparison.correlate import QUERIES_COVERED

    truth, estimate = correlation.sides
    unit = "teams" if correlation.options.get("team") else "runs"
    what = (
        f"{estimate.measure} ({estimate.path}) against {truth.measure} ({truth.path}) over "
        f"{len(correlation.names)} runs"
    )
    covered = "{} to {} %".format(*QUERIES_COVERED)
    how = (
        f"low, high: approximate {100 * correlation.options['confidence']:g} % confidence interval, {unit} "
        f"resampled ({correlation.options['draws']} draws); queries low, high: over a population of queries, "
        f"approximate (in simulations {covered} of 95 % intervals contain the true value)"
    )
    heads = ["coefficient", "value", "low", "high", "p", "queries low", "queries high"]
    return Table(
        heads,
        [[TITLES[name], *map(plain, coefficient)] for name, coefficient in correlation.found.items()],
        notes=[what, how, *map(str, correlation.warnings)],
    )
