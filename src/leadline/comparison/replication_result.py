"""Result of a reproduction or replication of an experiment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.table import Column, RunInfo, Table, named_columns, plain, printed_table
from leadline.data.validation import check_word
from leadline.data.wording import listed, percent, queries, queries_between
from leadline.errors import UsageError, either
from leadline.evaluation.results import Results
from leadline.result import Make, Result

RUNS = ("baseline", "advanced")
# Least and largest share of simulated 95 % intervals that contained the true value, by number of queries: the
# rows of docs/replication.md for a reproduction and for a replication, of which the effects are in both.
COVERAGE = {25: (0.827, 0.947), 50: (0.859, 0.970), 100: (0.935, 0.960)}
REPLICATION_COVERAGE = {25: (0.931, 0.955), 50: (0.941, 0.970), 100: (0.944, 0.956)}
# Statistics in the order of tables: key and name.
STATISTICS = {
    "tau_union": "Kendall's tau union",
    "rbo": "rank-biased overlap",
    "rmse": "RMSE",
    "nrmse": "normalized RMSE",
    "difference": "reproduced - original",
    "original_effect": "original effect",
    "reproduced_effect": "reproduced effect",
    "effect_ratio": "effect ratio",
    "delta_ri": "delta RI",
}


UNPAIRED = "a replication on different queries has no per-query differences"


class ReplicationValue(NamedTuple):
    """A measure of replication, a key of `STATISTICS`, with its confidence interval; NaN is undefined.

    `measure` is None for measures of document order, and `run` for what is of both runs. `p` is that of a t
    test of differences. `withheld` says why there is no interval.
    """

    statistic: str
    measure: str | None
    run: str | None
    value: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    queries: int = 0
    withheld: str = ""


@dataclass(repr=False, eq=False)
class Replication(Result):
    """Measures of how far an experiment was reproduced, or replicated on another collection.

    Attributes
    ----------
    original, reproduced : Results
        Values of the original and of the reproduced (or replicated) runs, each baseline and advanced run.
    values : list of ReplicationValue
        The measures, in the order of the table.
    orders : dict of str to ndarray, shape (2, queries)
        Kendall's tau union and RBO by query, of baseline and advanced run; empty for a replication.
    """

    original: Results
    reproduced: Results
    values: list[ReplicationValue]
    orders: dict[str, Floats]

    @property
    def paired(self) -> bool:
        """Whether both are of the same queries (reproduction)."""
        return bool(self.orders)

    @property
    def runs(self) -> list[RunInfo]:
        """The four runs: original baseline, original advanced, reproduced baseline, reproduced advanced."""
        return [*self.original.runs, *self.reproduced.runs]

    @property
    def measures(self) -> list[str]:
        """Names of the measures of effectiveness."""
        return [str(measure) for measure in self.original.measures]

    def value(
        self, statistic: str, *, measure: object | None = None, run: str | None = None
    ) -> ReplicationValue:
        """Return one value.

        Parameters
        ----------
        statistic : str
            Key such as "rmse" or "effect_ratio".
        measure : str or Measure, optional
            Measure of effectiveness; by default the first.
        run : {"baseline", "advanced"}, optional
            Run, for statistics of one run.
        """
        name = None if measure is None else self.measures[self.original.measure_index(measure)]
        for value in self.values:
            found = value.measure if value.measure in self.measures else None  # none of document order
            if value.statistic == statistic and value.run == run and (name is None or found in {None, name}):
                return value
        known = {
            value.run: [one.statistic for one in self.values if one.run == value.run] for value in self.values
        }
        choices = "; ".join(
            f"{either(dict.fromkeys(names))} with run={run!r}" for run, names in known.items()
        )
        raise UsageError(f"there is no statistic '{statistic}' with run={run!r}. Use {choices}.")

    def differences(self, index: int = 0) -> tuple[list[str], Floats]:
        """Return the queries, and reproduced minus original values of baseline and advanced run by query.

        Parameters
        ----------
        index : int, default 0
            Index of the measure.

        Raises
        ------
        UsageError
            If original and replicated runs have different queries.
        """
        if not self.paired:
            raise UsageError(UNPAIRED)
        values = np.concatenate([part.averaged_values(index) for part in (self.original, self.reproduced)])
        kept = np.flatnonzero(~np.isnan(values).any(axis=0))
        return [self.original.queries[query] for query in kept.tolist()], values[2:, kept] - values[:2, kept]

    def _columns(self) -> list[Column]:
        fields = dict(zip(ReplicationValue._fields, zip(*self.values, strict=True), strict=True))
        headings = {name: name for name in fields if name != "withheld"}
        return named_columns(fields, headings, dropped=["queries"])

    def _tables(self) -> list[Table]:
        shown = {
            "statistic": [self._named(one.statistic) for one in self.values],
            "measure": [one.measure or "documents" for one in self.values],
            "run": [one.run or "both" for one in self.values],
        }
        return [printed_table(self._columns(), shown=shown, notes=self._notes())]

    def _named(self, statistic: str) -> str:
        """Return the name of a statistic: of a reproduction or of a replication."""
        name = STATISTICS[statistic]
        return name if self.paired else name.replace("reproduced", "replicated")

    def _notes(self) -> list[str]:
        level = percent(self.options["confidence"])
        effects = ("original_effect", "reproduced_effect")
        counts = [[one.queries for one in self.values if one.statistic == effect] for effect in effects]
        fewest = min(map(max, counts))
        original, reproduced = map(queries_between, counts)
        coverage = COVERAGE if self.paired else REPLICATION_COVERAGE
        size = max((size for size in coverage if size <= fewest), default=min(coverage))
        low, high = coverage[size]
        number = queries(size) + " (the fewest simulated)" * (fewest < size)
        held = f"95 % intervals contained the true value in {100 * low:.0f} to {100 * high:.0f} %"
        test = (
            "paired t-tests" if self.paired else "Welch's t-tests for single runs, paired t-tests for effects"
        )
        notes = [
            (
                f"reproduction: {original} in the means of all four runs"
                if self.paired
                else f"replication: {original} in the original, {reproduced} in the replication"
            ),
            f"low, high: {level} confidence intervals over queries; p: {test}",
            f"intervals are approximate: with {number}, {held} of simulations (docs/replication.md)",
            "effect: advanced - baseline; an exact reproduction has effect ratio 1 and delta RI 0",
        ]
        reasons: dict[str, list[str]] = {}
        for value in self.values:
            if value.withheld:
                of = f" of {value.measure}" * (value.measure in self.measures)
                words = f"{self._named(value.statistic)}{of}" + f" ({value.run})" * bool(value.run)
                reasons.setdefault(value.withheld, []).append(words)
        notes += [f"no interval for {listed(names)}: {reason}" for reason, names in reasons.items()]
        return [*notes, *super()._notes()]

    @property
    def keeps_queries(self) -> bool:
        """Whether there are values of each query for all four runs."""
        return self.paired

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return a dictionary with the keys kind, measures, queries, runs and values; None is undefined.

        Parameters
        ----------
        per_query : bool, default False
            Add the per-query values, for a reproduction.
        """
        means = [*self.original.means.tolist(), *self.reproduced.means.tolist()]
        found: dict[str, Any] = {
            "kind": "reproduction" if self.paired else "replication",
            "measures": self.measures,
            "queries": self.original.averaged_queries(),
            "replicated_queries": None if self.paired else self.reproduced.averaged_queries(),
            "runs": [
                {
                    "role": info.name,
                    "path": info.path,
                    "tag": info.tag,
                    "mean": dict(zip(self.measures, map(plain, row), strict=True)),
                    "counts": info.counts,
                }
                for info, row in zip(self.runs, means, strict=True)
            ],
            "values": self.to_rows(),
        }
        return found | {"per_query": self._per_query()} if per_query else found

    def _per_query(self) -> dict[str, Any]:
        queries = list(self.original.queries)
        by_query: dict[str, Any] = {query: {"differences": {}} for query in queries}
        for index, measure in enumerate(self.measures):
            kept, differences = self.differences(index)
            for query, column in zip(kept, differences.T.tolist(), strict=True):
                by_query[query]["differences"][measure] = dict(zip(RUNS, map(plain, column), strict=True))
        for key, table in self.orders.items():
            for query, column in zip(queries, table.T.tolist(), strict=True):
                by_query[query][key] = dict(zip(RUNS, map(plain, column), strict=True))
        return by_query

    def _figure(self, *, figure: str | None = None, measure: object | None = None) -> Make:
        """Draw differences by query of a measure, by default the first, or the effects of all."""
        from leadline.charts import COLUMN
        from leadline.charts.interval_plots import by_query, effects

        kind = ("differences" if self.paired else "effects") if figure is None else figure
        check_word(("differences", "effects"), figure=kind)
        if kind == "differences" and not self.paired:
            raise UsageError(f"{UNPAIRED}. Plot the effects instead.")
        if kind == "differences":
            index = 0 if measure is None else self.original.measure_index(measure)
            _, values = self.differences(index)
            return lambda width: by_query(*values, measure=self.measures[index], width=width or COLUMN)
        names, points = [], []
        for name in self.measures:
            sides = [self.value(statistic, measure=name) for statistic in ("effect_ratio", "delta_ri")]
            undefined = not np.isfinite([side.value for side in sides]).all()
            reason = ": undefined" if undefined else ", no interval for the ratio" * bool(sides[0].withheld)
            names.append(name + reason)
            points.append([(side.value, side.low, side.high) for side in sides])
        ratios, changes = zip(*points, strict=True)
        return lambda width: effects(
            names, ratios, changes, confidence=self.options["confidence"], width=width or COLUMN
        )

    def __repr__(self) -> str:
        kind = "reproduction" if self.paired else "replication"
        ratio = self.value("effect_ratio")
        return f"Replication({kind}, {ratio.measure} effect ratio {ratio.value:.3f})"
