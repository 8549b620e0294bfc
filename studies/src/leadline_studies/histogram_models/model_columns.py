"""HSA, DO and related statistics of retrieval models, and their correlation with rank measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline import Qrels, Results, Run, sampled
from leadline.data.arrays import Floats, Integers
from leadline.data.reading import Reading
from leadline.data.table import ResultWarning, plain
from leadline.estimation.histogram import measure_run
from leadline.estimation.histogram_result import (
    SENSITIVITY,
    HistogramOptions,
    RunHistograms,
    histogram_warnings,
    overlap,
    slopes,
)
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.join import judge_runs
from leadline.stats.moments import interval, weights
from leadline_studies.common.tables import correlated, known
from leadline_studies.common.tracking import COEFFICIENTS, MEASURES, SEVEN, Correlations, correlate_column

BY_QUERY, BY_MODEL, ROBUST = "HSA by query", "HSA by model", "HSA robust"
PRINTED = "HSA by model, found only"
CONTROL, PLAIN_AP, WEIGHTED_AP = "recall (control)", "AP as sampled", "AP weighted"
NAMED = ("BM25", "BM25RF", "RM3", "SDM", "QLDirichlet", "QLJelinekMercer", "QLHiemstra")
# The rule, fixed before looking: with AP and nDCG; and the least of these with 10 to 100 bins.
WITH = ("AP", "nDCG")
ASKED = {"pearson": 0.8, "spearman": 0.7, "least_over_bins": 0.6}
RULED = [place for place, bins in enumerate(SENSITIVITY) if 10 <= bins <= 100]
Columns = dict[str, "Column"]


class Column(NamedTuple):
    """One value per model: `again` returns draws x models from draws x queries, the query frequencies."""

    values: Floats
    again: Callable[[Floats], Floats]
    by_bins: Floats | None = None


class Truth(NamedTuple):
    """Rank measures of whole lists: models x queries x measures; `codes` are those of the queries."""

    names: list[str]
    by_query: Floats
    codes: Integers

    @property
    def quality(self) -> Floats:
        """Return models x measures."""
        return _round_means(self.by_query.mean(axis=1))


def truth_of(qrels: Qrels, runs: Mapping[str, Run], level: float) -> tuple[Truth, list[ResultWarning]]:
    """Evaluate whole lists over the queries with relevant documents."""
    results = evaluate(qrels, dict(runs), MEASURES, rel=level, queries="with_relevant")
    codes = np.flatnonzero(qrels.relevant(level) > 0)
    by_query = np.nan_to_num(results.values[:, codes])
    return Truth(list(runs), by_query, codes), results.warnings


def from_lists(
    qrels: Qrels, runs: Mapping[str, Run], recipe: HistogramOptions, truth: Truth, depth: int
) -> tuple[Columns, list[ResultWarning]]:
    """Return the columns of whole lists, and warnings about the first one."""
    recipes = {
        BY_QUERY: recipe,
        "HSA by query, found only": recipe._replace(missing="skip"),
        BY_MODEL: recipe._replace(norm="model"),
        PRINTED: recipe._replace(norm="model", missing="skip"),
        "HSA from ranks": recipe._replace(from_ranks=True),
        ROBUST: recipe.robust,
    }
    columns, warnings = _histograms(qrels, runs, recipes, truth)
    recall = evaluate(qrels, dict(runs), f"R@{depth}", rel=recipe.rel, queries="with_relevant")
    return columns | {CONTROL: _of_queries(recall, truth)}, warnings


def from_pairs(
    qrels: Qrels, runs: Mapping[str, Run], recipe: HistogramOptions, truth: Truth, documents: Sequence[str]
) -> Columns:
    """Return the columns of completely scored pairs, and AP of the same pairs."""
    recipes = {BY_QUERY: recipe, BY_MODEL: recipe._replace(norm="model"), ROBUST: recipe.robust}
    columns, _ = _histograms(qrels, runs, recipes, truth)
    plain_ap = evaluate(qrels, dict(runs), "AP", rel=recipe.rel, queries="with_relevant")
    relevant = {
        query: {document: int(grade >= recipe.rel) for document, grade in grades.items()}
        for query, grades in qrels.to_dict().items()
    }
    indexed = set(documents)
    others = {
        query: len(indexed) - sum(grade for name, grade in grades.items() if name in indexed)
        for query, grades in relevant.items()
    }
    estimates = sampled(relevant, dict(runs), "AP", population=others, draws=0, correction="none")
    names = [qrels.queries[code] for code in truth.codes.tolist()]
    positions = np.array([estimates.queries.code(name) for name in names])
    weighted = np.nan_to_num(estimates.values[:, positions, 0])
    return columns | {PLAIN_AP: _of_queries(plain_ap, truth), WEIGHTED_AP: _mean(weighted)}


def _histograms(
    qrels: Qrels, runs: Mapping[str, Run], recipes: Mapping[str, HistogramOptions], truth: Truth
) -> tuple[Columns, list[ResultWarning]]:
    """Compute all runs by all recipes: HSA of each, DO of those by query and by model."""
    infos, histograms = judge_runs(
        dict(runs),
        qrels,
        lambda judged: [measure_run(judged, option, 0) for option in recipes.values()],
        reading=Reading(),
        keep=True,
    )
    columns, overlaps = {}, {}
    for index, (name, recipe) in enumerate(recipes.items()):
        histograms_of_recipe = [of_run[index] for of_run in histograms]
        columns[name] = _column(histograms_of_recipe, recipe, truth, "hsa")
        if name in (BY_QUERY, PRINTED, BY_MODEL):
            overlaps[name.replace("HSA", "DO")] = _column(histograms_of_recipe, recipe, truth, "do")
    first = [of_run[0] for of_run in histograms]
    return columns | overlaps, histogram_warnings(infos, qrels, first, next(iter(recipes.values())))


def _column(of_models: Sequence[RunHistograms], recipe: HistogramOptions, truth: Truth, which: str) -> Column:
    counts = np.stack([histograms.counts[truth.codes] for histograms in of_models])

    def read(tables: Floats) -> Floats:
        if which == "hsa":
            return slopes(tables, recipe)
        return overlap(tables[..., 0, :], tables[..., 1, :])

    def pooled(times: Floats) -> Floats:
        return read(np.tensordot(times, counts, axes=(1, 1)))

    values = np.array([getattr(histograms, which) for histograms in of_models], dtype=np.float64)
    again = pooled if recipe.aggregate == "pooled" else _mean(read(counts)).again
    return Column(
        values, again, np.stack([histograms.by_bins for histograms in of_models]) if which == "hsa" else None
    )


def _of_queries(results: Results, truth: Truth) -> Column:
    return _mean(np.nan_to_num(results.values[:, truth.codes, 0]))


def _mean(table: Floats) -> Column:
    """Return the means of models x queries over the defined queries."""
    defined = (~np.isnan(table)).astype(np.float64)
    filled = np.nan_to_num(table)

    def again(times: Floats) -> Floats:
        total, size = times @ filled.T, times @ defined.T
        return _round_means(np.divide(total, size, out=np.full_like(total, np.nan), where=size > 0))

    return Column(again(np.ones((1, table.shape[1])))[0], again)


def _round_means(means: Floats) -> Floats:
    """Round means, so that equal ones are ties whatever the order of summation."""
    rounded: Floats = np.round(means, 12)
    return rounded


def entries(columns: Columns, truth: Truth, draws: int, seed: int) -> dict[str, Correlations]:
    """Return the correlations of every column with the measures, and the verdict of the rule."""
    times = weights(np.random.default_rng([seed, 5]), draws, len(truth.codes))
    result = {}
    for name, column in columns.items():
        entry = correlate_column(truth.names, column.values, truth.quality, draws=draws, seed=seed)
        _add_query_intervals(entry, column, truth, times)
        if column.by_bins is not None:
            entry["bins"] = [
                {"bins": bins} | _all_coefficients(column.by_bins[:, index], truth.quality)
                for index, bins in enumerate(SENSITIVITY)
            ]
        if set(NAMED) <= set(truth.names) and len(truth.names) > SEVEN:
            chosen = [truth.names.index(model) for model in NAMED]
            entry["named_seven"] = _all_coefficients(column.values[chosen], truth.quality[chosen])
        result[name] = entry | {"rule": check_rule(entry)}
    return result


def _add_query_intervals(entry: Correlations, column: Column, truth: Truth, times: Floats) -> None:
    """Add bootstrap intervals over queries, with fixed models."""
    values = column.again(times)
    for index, measure in enumerate(MEASURES):
        quality = _mean(truth.by_query[:, :, index]).again(times)
        for name, coefficient in COEFFICIENTS.items():
            resampled = [correlated(coefficient, *pair) for pair in zip(quality, values, strict=True)]
            low, high = interval(resampled)
            entry[measure][name] |= {"queries_low": plain(low), "queries_high": plain(high)}


def _all_coefficients(values: Floats, quality: Floats) -> dict[str, Any]:
    return {
        measure: {
            name: plain(correlated(coefficient, quality[:, index], values))
            for name, coefficient in COEFFICIENTS.items()
        }
        for index, measure in enumerate(MEASURES)
    }


def check_rule(entry: Correlations) -> dict[str, Any]:
    """Return whether a column tracks AP and nDCG as required: the smallest of each kind, and `holds`."""
    found = {kind: [entry[measure][kind]["value"] for measure in WITH] for kind in COEFFICIENTS}
    if "bins" in entry:
        found["least_over_bins"] = [
            entry["bins"][index][measure][kind]
            for index in RULED
            for measure in WITH
            for kind in COEFFICIENTS
        ]
    smallest = {kind: None if None in values else min(values) for kind, values in found.items()}
    holds = entry["undefined"] == 0 and all(known(value) >= ASKED[kind] for kind, value in smallest.items())
    return {"least_over_bins": None} | smallest | {"holds": holds}
