"""Correlation of system-level statistics with rank measures, shared by the histogram studies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.comparison.correlate import correlate
from leadline.data.arrays import Floats
from leadline.data.table import Table
from leadline.stats.correlation import pearson, spearman
from leadline_studies.common.tables import columns, quantiles, sheet

MEASURES = ("AP", "P@10", "nDCG")
COEFFICIENTS = {"pearson": pearson, "spearman": spearman}  # the paper's
WITH_KENDALL = (*COEFFICIENTS, "kendall")
WORDS = {"R": "pearson", "rho": "spearman"}
ENDS = ("value", "low", "high", "p", "queries_low", "queries_high")
SEVEN = 7  # systems, as the paper takes
ASKED_QUERIES = 50  # of a collection, for a claim to count as reproduced
ASKED_COLLECTIONS = 2
Correlations = dict[str, Any]


def correlate_column(
    names: Sequence[str],
    values: Floats,
    quality: Floats,
    *,
    teams: dict[str, str] | None = None,
    draws: int,
    seed: int,
) -> Correlations:
    """Correlate a column with every measure over all systems, and with AP over random sets of seven."""
    entry: Correlations = {"undefined": int(np.isnan(values).sum())}
    with_value = np.flatnonzero(~np.isnan(values))
    for index, measure in enumerate(MEASURES):
        if len(with_value) < 2:
            entry[measure] = {name: dict.fromkeys(ENDS) for name in WITH_KENDALL}
            continue
        correlation = correlate(
            dict(zip(names, quality[:, index].tolist(), strict=True)),
            dict(zip(names, values.tolist(), strict=True)),
            teams=teams,
            draws=draws,
            seed=seed,
        )
        entry[measure] = {name: correlation.to_dict()[name] for name in WITH_KENDALL}
    rng = np.random.default_rng([seed, 4])
    enough = len(with_value) > SEVEN
    sevens = [rng.choice(with_value, SEVEN, replace=False) for _ in range(enough * max(draws, 1))]
    for name, coefficient in COEFFICIENTS.items():
        of_sevens = [coefficient(quality[chosen, 0], values[chosen]) for chosen in sevens]
        ends = quantiles(of_sevens, 0.05, 0.5, 0.95)
        entry[f"sevens_{name}"] = dict(zip(("low", "median", "high"), ends, strict=True))
    return entry


def six(end: str = "") -> list[str]:
    """Return the columns of both coefficients with every measure."""
    return [f"{word} {measure}={measure}.{kind}{end}" for word, kind in WORDS.items() for measure in MEASURES]


def tracking_tables(data: dict[str, Correlations]) -> dict[str, Table]:
    """Return tables of the correlations of every column, and of those of random sevens."""
    rows = [{"recipe": name} | entry for name, entry in data.items()]
    heads = [*six(".value"), "R with AP, low=AP.pearson.low", "high=AP.pearson.high", "undefined"]
    sevens = [
        f"{word} {end}=sevens_{kind}.{key}"
        for word, kind in WORDS.items()
        for end, key in (("5 %", "low"), ("median", "median"), ("95 %", "high"))
    ]
    return {
        "correlations": sheet(rows, ["recipe", *heads], digits=2),
        "sevens": sheet(rows, ["recipe", *sevens], digits=2),
    }


def tracking_figure(data: dict[str, Correlations], which: str, *, systems: str = "runs") -> Any:
    """Plot Pearson's r with AP of every column, over random `sevens` or `all` systems."""
    from leadline.charts.interval_plots import forest

    if which == "sevens":
        keys = [f"sevens_pearson.{key}" for key in ("median", "low", "high")]
        label = f"Pearson with AP, random sevens of {systems}: median, 5 to 95 %"
    else:
        keys = [f"AP.pearson.{key}" for key in ("value", "low", "high")]
        label = f"Pearson with AP over all {systems}, 95 % interval"
    return forest(list(data), *columns(data.values(), *keys), label=label)
