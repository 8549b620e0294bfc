"""Test whether HSA of a sample tracks MAP better than AP of the same sample does, across submitted runs.

A sample of a list has a share of its relevant documents and n of its N other documents, chosen by hash and
the same for all estimates. The estimates are HSA (see `leadline histogram`) from scores and from ranks, its
robust variant, AP of the sample, and AP that counts each sampled non-relevant document N/n times. Each is
correlated over runs with AP of the whole lists. Source: Krstovski, Smith and Kurtz 2015, sections 1
and 6.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from leadline import Qrels, UsageError, read_qrels
from leadline.data.arrays import Flags, Floats, Integers
from leadline.data.judged_run import JudgedRun
from leadline.data.reading import Reading
from leadline.data.table import Table, plain
from leadline.data.wording import counted, percent
from leadline.estimation.histogram_result import HistogramOptions, slopes
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.join import judge_runs
from leadline.stats.correlation import pearson
from leadline.stats.moments import mean_of_defined, weights
from leadline_studies import (
    LEVEL,
    SAMPLES,
    SEED,
    Claim,
    Given,
    Option,
    Outcome,
    at_least,
    parse_integers,
    with_options,
)
from leadline_studies.common.tables import correlated, estimated, known, sheet
from leadline_studies.histogram_sample.run_subsampler import RunSubsampler, SubsampledRun, shares

CLAIM = Claim("HSA from a sample of scores follows MAP of whole lists better than MAP of the same sample.")
OPTIONS = (
    LEVEL,
    SAMPLES,
    Option("shares", str, "Percentages of the relevant documents to keep.", "25,50,75,100", metavar="P,P"),
    Option("bins", int, "Number of histogram bins.", 10, least=2),
    Option("repeats", int, "Number of samples to draw per query, sample size and share.", 10),
    Option("draws", int, "Number of bootstrap resamples of queries.", 200, least=0),
    SEED,
)
PLAIN, WEIGHTED = "AP as sampled", "AP weighted"
ESTIMATES = ("HSA, scores", "HSA, ranks", "HSA, robust", PLAIN, WEIGHTED)
AS_PUBLISHED = ESTIMATES[:2]
LEAST = 3  # runs
ASKED_RUNS = 15  # for a verdict
Json = dict[str, Any]


class Grid(NamedTuple):
    """Factors: proportions, sizes, seeds; `times` (seeds x draws x queries) are query frequencies."""

    recipe: HistogramOptions
    shares: list[float]
    sizes: list[int]
    kept: list[list[Flags]]
    times: Floats

    @classmethod
    def of(
        cls, table: Qrels, recipe: HistogramOptions, samples: str, percentages: str, repeats: int, draws: int
    ) -> Grid:
        """Return a grid; `shares` are percentages."""
        parts = [percentage / 100 for percentage in parse_integers(percentages, "shares")]
        if max(parts) > 1:
            raise UsageError(f"--shares '{percentages}' is not valid. Give percentages from 1 to 100.")
        with_relevant = np.flatnonzero(table.relevant(recipe.rel))
        at_least(2, len(with_relevant), "queries with relevant documents")
        rng = np.random.default_rng([recipe.seed, 5])
        times = np.zeros((repeats, 1 + -(-draws // repeats), len(table.queries)))
        every = times.reshape(-1, len(table.queries))
        every[:, with_relevant] = weights(rng, len(every), len(with_relevant))
        times[:, 0] = table.relevant(recipe.rel) > 0
        flags = [
            [shares(table, recipe.rel, part, recipe.seed + repeat) for part in parts]
            for repeat in range(repeats)
        ]
        return cls(recipe, parts, parse_integers(samples, "samples"), flags, times)

    def means(self, values: Floats) -> Floats:
        """Return the mean over ... x queries in every draw of every seed: ... x seeds x draws."""
        totals: Floats = np.tensordot(values, self.times, axes=(-1, 2))
        result: Floats = totals / self.times.sum(axis=2)
        return result

    def estimates(self, subsampler: RunSubsampler, orders: Integers | None = None) -> Floats:
        """Return every estimate of one run: shares x sizes x estimates x seeds x draws."""
        shape = len(self.shares), len(self.sizes), len(ESTIMATES), *self.times.shape[:2]
        table = np.empty(shape)
        for repeat, times in enumerate(self.times):
            order = subsampler.sample_order(self.recipe.seed + repeat) if orders is None else orders[repeat]
            for row, kept in enumerate(self.kept[repeat]):
                for column, size in enumerate(self.sizes):
                    sample = subsampler.part(kept, order, size)
                    table[row, column, :, repeat] = _estimates_of_sample(sample, times, self.recipe)
        return table


def _estimates_of_sample(sample: SubsampledRun, times: Floats, recipe: HistogramOptions) -> list[Floats]:
    """Return every estimate in the order of `ESTIMATES`, in each draw of queries."""
    weight = times.sum(axis=1)
    defined = times @ ~np.isnan(sample.robust)
    robust = np.divide(
        times @ np.nan_to_num(sample.robust), defined, out=np.full(len(times), np.nan), where=defined > 0
    )
    return [
        *(slopes(np.tensordot(times, counts, axes=1), recipe) for counts in (sample.scores, sample.ranks)),
        robust,
        times @ sample.plain / weight,
        times @ sample.weighted / weight,
    ]


@with_options(OPTIONS)
def run(qrels: Any, runs: Any, given: Given) -> Outcome:
    """Run the study on runs; `samples` and `shares` are comma-separated numbers."""
    table = read_qrels(qrels)
    recipe = HistogramOptions(bins=given.bins, rel=given.level, seed=given.seed).checked()
    grid = Grid.of(table, recipe, given.samples, given.shares, given.repeats, given.draws)

    def estimates(judged: JudgedRun) -> Floats:
        return grid.estimates(RunSubsampler(judged, recipe))

    infos, of_runs = judge_runs(runs, table, estimates, reading=Reading(), keep=True, on_run=given.on_run)
    at_least(LEAST, len(infos), "runs")
    results = evaluate(table, runs, "AP", rel=given.level, queries="with_relevant")
    exact = grid.means(np.nan_to_num(results.values[:, :, 0]))
    found = correlations_by_cell(grid, exact, np.stack(of_runs))
    data = {"samples": grid.sizes, "shares": grid.shares, "bins": given.bins, "repeats": given.repeats}
    data |= {"runs": len(infos), "estimates": found, "mean_exact": float(exact[:, 0, 0].mean())}
    return Outcome(data, infos)


def correlations_by_cell(grid: Grid, exact: Floats, values: Floats) -> dict[str, list[Json]]:
    """Return the correlation with AP by estimate, proportion and size; `exact` is systems x seeds x draws."""
    entries: dict[str, list[Json]] = {name: [] for name in ESTIMATES}
    for (row, share), (column, size) in product(enumerate(grid.shares), enumerate(grid.sizes)):
        cell = values[:, row, column]
        rivals = coefficients(exact, cell[:, ESTIMATES.index(PLAIN)])
        for index, name in enumerate(ESTIMATES):
            entry = correlation_with_ap(exact, cell[:, index], rivals)
            entries[name].append({"share": share, "sample": size} | entry)
    return entries


def correlation_with_ap(exact: Floats, values: Floats, rivals: Floats) -> Json:
    """Return the correlation of an estimate (systems x seeds x draws) with AP, and its lead over another."""
    of_draws = coefficients(exact, values)
    first = values[:, :, 0]
    return {
        "pearson": spread(of_draws),
        "over_ap": spread(of_draws - rivals),
        "mean": plain(_median(mean_of_defined(first.T))),
        "undefined": int(np.isnan(first).any(axis=1).sum()),
    }


def coefficients(exact: Floats, values: Floats) -> Floats:
    """Return Pearson's r over the systems with a value, for every seed and draw."""
    result = np.full(values.shape[1:], np.nan)
    for cell in np.ndindex(*result.shape):
        result[cell] = correlated(pearson, exact[:, *cell], values[:, *cell], LEAST)
    return result


def spread(values: Floats) -> Json:
    """Return the median of the first draws, and the bootstrap interval over queries of the others."""
    return estimated(_median(values[:, :1]), values[:, 1:].ravel())


def _median(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(np.median(defined)) if len(defined) else float("nan")


def tables(data: Json) -> dict[str, Table]:
    """Return the table of all estimates, proportions and sizes."""
    rows = ({"estimate": name} | entry for name, entries in data["estimates"].items() for entry in entries)
    columns = ["estimate", "share", "n=sample", "R=pearson.value", "low=pearson.low", "high=pearson.high"]
    columns += ["R less AP as sampled=over_ap.value", "less_low=over_ap.low", "less_high=over_ap.high"]
    return {"tracking": sheet(rows, [*columns, "mean", "undefined"], digits=3)}


def figures(data: Json) -> dict[str, Any]:
    """Plot Pearson's r by n with the largest proportion, and by proportion with the middle n."""
    from leadline_studies.common.figures import SAMPLED, by_size

    middle, most = data["samples"][len(data["samples"]) // 2], max(data["shares"])

    def drawn(fixed: str, value: float, along: str, factor: float, sizes: str) -> Any:
        lines = {
            name: [
                (round(factor * entry[along]), known(entry["pearson"]["value"]))
                for entry in entries
                if entry[fixed] == value
            ]
            for name, entries in data["estimates"].items()
        }
        return by_size(lines, label="Pearson with AP of whole lists", sizes=sizes, zero=False)

    by_share = f"percentage of relevant documents kept ({middle} other documents per query)"
    return {
        "tracking": drawn("share", most, "sample", 1, SAMPLED),
        "shares": drawn("sample", middle, "share", 100, by_share),
    }


def r_of(entry: Json) -> float:
    """Return R of a cell, below all others where it is undefined."""
    value = entry["pearson"]["value"]
    return -2.0 if value is None else float(value)


def best_slope(data: dict[str, list[Json]], index: int) -> tuple[str, Json]:
    """Return the better of HSA from scores and from ranks in a cell, a choice in its favor."""
    name = max(AS_PUBLISHED, key=lambda estimate: r_of(data[estimate][index]))
    return name, data[name][index]


def verdict(gain: Json, systems: int) -> str:
    """Return whether a gain over AP of the sample is above 0, or below, with its interval over queries."""
    if systems < ASKED_RUNS:
        return f"no verdict, because at least {ASKED_RUNS} runs are needed"
    low, high = (known(gain[end]) for end in ("low", "high"))
    if low > 0:
        return "the claim holds"
    if high < 0:
        return "the claim does not hold, because HSA is worse than AP of the sample"
    return f"the claim is not confirmed (95 % interval of the difference {low:+.3f} to {high:+.3f})"


def lines(data: Json) -> list[str]:
    """Return whether HSA tracks better than AP of a sample, by n and over all cells."""
    conclusions, most, estimates = [], max(data["shares"]), data["estimates"]
    systems = len(data["models"]) if "models" in data else data["runs"]
    for index, entry in enumerate(estimates[PLAIN]):
        if entry["share"] == most:
            name, best = best_slope(estimates, index)
            weighted = estimates[WEIGHTED][index]["pearson"]["value"]
            conclusions.append(
                f"With {percent(most)} of the relevant documents and n = {entry['sample']}, R with AP of the "
                f"whole lists is {_text(best['pearson']['value'])} for {name} (the better HSA), "
                f"{_text(entry['pearson']['value'])} for AP of the same sample and {_text(weighted)} for "
                f"weighted AP: {verdict(best['over_ap'], systems)}"
            )
    return [*conclusions, summary(estimates)]


def _text(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def summary(data: dict[str, list[Json]]) -> str:
    """Count the cells in which HSA tracks better than AP of the same sample."""
    cells = range(len(data[PLAIN]))
    over = [best_slope(data, index)[1]["over_ap"] for index in cells]
    above, clear = (sum((entry[end] or 0) > 0 for entry in over) for end in ("value", "low"))
    below = sum((entry["high"] or 0) < 0 for entry in over)
    tops = [max(ESTIMATES, key=lambda name: r_of(data[name][index])) for index in cells]
    return (
        f"Over all shares and n, the better HSA tracks AP better than AP of the same sample does in {above} "
        f"of {counted(len(cells), 'cell')}, significantly in {clear}, and significantly worse in {below}. "
        f"Weighted AP is the best estimate in {tops.count(WEIGHTED)}."
    )
