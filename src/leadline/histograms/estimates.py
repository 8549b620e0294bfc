"""Estimates: means with intervals from queries and from the sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.arrays import Flags, Floats, freeze
from leadline.errors import UsageError
from leadline.measures import Measure
from leadline.profiles import profile_of
from leadline.results import Notice, RunInfo, plain
from leadline.vocabulary import Vocabulary

LIMITS = ("low", "high", "sampling_low", "sampling_high", "bias")


class Estimates:
    """Estimated measures: `values` are runs x queries x measures, `means` runs x measures.

    `counted` (runs x queries) says which queries take part in a mean; a measure that is undefined there
    counts 0. `limits` are runs x measures x (low, high, sampling_low, sampling_high, bias), NaN where no
    interval is offered; `withheld` has the reason (runs x measures, empty where there is an interval).
    `uncorrected` (runs x measures) are the means from ranks that count each drawn document N/n times. The
    bias is what remains by the estimate of `leadline.histograms.rank_correction`.
    """

    def __init__(
        self,
        runs: Sequence[RunInfo],
        queries: Vocabulary,
        measures: Sequence[Measure],
        values: Floats,
        counted: Flags,
        limits: Floats,
        *,
        uncorrected: Floats,
        withheld: Sequence[Sequence[str]],
        notices: Sequence[Notice] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.runs = list(runs)
        self.queries = queries
        self.measures = list(measures)
        self.values = values
        self.counted = counted
        self.limits = limits
        self.uncorrected = uncorrected
        self.withheld = [list(row) for row in withheld]
        self.notices = list(notices)
        self.options = dict(options or {})
        total = np.where(counted[:, :, None], np.nan_to_num(values), 0.0).sum(axis=1)
        size = counted.sum(axis=1)[:, None]
        self.means: Floats = np.divide(total, size, out=np.full_like(total, np.nan), where=size > 0)
        freeze(self.values, self.counted, self.limits, self.means, self.uncorrected)

    @property
    def names(self) -> list[str]:
        """Give the names of the runs."""
        return [run.name for run in self.runs]

    def mean(self, run: str, measure: str | Measure) -> float:
        """Give the estimated mean of a measure for a run."""
        texts = list(map(str, self.measures))
        name = str(profile_of("leadline").measures([measure])[0])
        if run not in self.names:
            raise UsageError(f"no run '{run}' here; there are: " + ", ".join(self.names))
        if str(measure) not in texts and name not in texts:
            raise UsageError(f"no measure '{measure}' here; there are: " + ", ".join(texts))
        place = texts.index(str(measure) if str(measure) in texts else name)
        return float(self.means[self.names.index(run), place])

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Give the estimates as plain data: `measures` and `runs`; None is undefined."""
        texts = list(map(str, self.measures))
        runs: list[dict[str, Any]] = [
            {
                "name": info.name,
                "mean": {
                    text: {
                        "value": plain(value),
                        **dict(zip(LIMITS, map(plain, row), strict=True)),
                        "uncorrected": plain(plug),
                        "withheld": reason or None,
                    }
                    for text, value, row, plug, reason in zip(
                        texts,
                        self.means[place].tolist(),
                        self.limits[place].tolist(),
                        self.uncorrected[place].tolist(),
                        self.withheld[place],
                        strict=True,
                    )
                },
                "counts": info.counts,
            }
            for place, info in enumerate(self.runs)
        ]
        for place, run in enumerate(runs if per_query else ()):
            run["queries"] = {
                query: dict(zip(texts, map(plain, row), strict=True))
                for query, row in zip(self.queries, self.values[place].tolist(), strict=True)
            }
        return {"measures": texts, "runs": runs}

    def __repr__(self) -> str:
        return f"Estimates({len(self.runs)} runs, {', '.join(map(str, self.measures))})"
