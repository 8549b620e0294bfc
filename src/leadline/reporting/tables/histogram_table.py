"""HSA, DO and recall of every run as a table."""

from __future__ import annotations

import numpy as np

from leadline.data.results import plain
from leadline.estimation.score_histograms.histogram_result import SENSITIVITY, Histograms
from leadline.reporting.render import Cell, Table


def histogram_table(found: Histograms) -> Table:
    """Lay runs down, the largest HSA first."""
    heads = [
        "run",
        "HSA",
        "low",
        "high",
        "robust",
        "DO",
        "recall",
        "relevant",
        "non-relevant",
        "bins",
        "steady",
    ]
    sampling = ["sampling low", "sampling high"] if found.recipe.sample else []
    heads[4:4] = sampling
    rows: list[list[Cell]] = []
    for place in found.order():
        one = found.measured[place]
        relevant, other = one.counts.sum(axis=0)
        signs = np.sign(one.by_bins[~np.isnan(one.by_bins)])
        steady = "-" if not len(signs) else "yes" if signs.min() == signs.max() else "no"
        rows.append(
            [
                found.names[place],
                *map(plain, (one.hsa, one.low, one.high)),
                *map(plain, (one.sampling_low, one.sampling_high) if sampling else ()),
                *map(plain, (one.hsa_robust, one.do, one.recall)),
                int(relevant.sum()),
                int(other.sum()),
                int(((relevant > 0) & (other > 0)).sum()),
                steady,
            ]
        )
    drawn = " and samples (sampling: samples alone)" if sampling else ""
    credit = "" if found.recipe.as_printed else " (not the paper's letter: --as-printed)"
    notes = [
        f"HSA, DO: {found.recipe.words}{credit}",
        "robust: our own recipe, ranks with half counts, mean of queries; no better than ranks on other runs",
        "recall: of the same lists, as a control; where it tells as much, the histograms add nothing",
        f"low, high: 95 % interval of HSA over queries{drawn}, {found.options['draws']} draws",
        "bins: those that both histograms reach",
        f"steady: HSA keeps its sign with {SENSITIVITY[0]} to {SENSITIVITY[-1]} bins (JSON has the values)",
        *map(str, found.warnings),
    ]
    return Table(heads, rows, notes=notes)
