"""Figures of results, as drawn by `Result.plot` and by `--plot`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.data.arrays import Floats
from leadline.data.optional import require
from leadline.data.result import Result, check_options
from leadline.data.validation import check_arguments, check_word
from leadline.data.wording import counted, percent
from leadline.errors import UsageError
from leadline.reporting.plots import COLUMN, form_of, labelled, picture, shortened, width_of_user

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.comparison.comparison_result import Comparison
    from leadline.comparison.correlate import Coefficients, Correlation
    from leadline.comparison.information_difference.difference_result import Difference
    from leadline.comparison.query_slices import Slices
    from leadline.comparison.rank import Ranking
    from leadline.comparison.replication_result import Replication
    from leadline.comparison.suite_result import Suite
    from leadline.data.results import Results
    from leadline.estimation.estimate import EstimatedResults
    from leadline.estimation.predict import Predictions
    from leadline.estimation.score_histograms.histogram_result import Histograms
    from leadline.estimation.score_histograms.subsampling import Estimates
    from leadline.estimation.unjudged_result import Unjudged
    from leadline.evaluation.curves import Curves, SubtopicCurves
    from leadline.judging.agreement_result import Agreement
    from leadline.judging.score_audit import ScoreAudit
    from leadline.online.abtest_result import ABTest


Make = Callable[[float | None], "Figure"]  # function of the width in inches, None for the default


def draw(
    result: Result, path: str | os.PathLike[str] | None, *, labels: Mapping[str, str] | None, **options: Any
) -> Figure:
    """Draw a result and return the figure; write it to a file if a path is given."""
    from leadline.io.read_paths import refuse_sources
    from leadline.io.write import checked_path, write_whole

    require("figures")
    check_arguments(Result.plot, (), {"labels": labels})
    make = figure_of_result(result, **options)
    path = None if path is None else checked_path(path)
    form = None if path is None else form_of(path)
    refuse_sources(path or "", result.sources)
    with labelled(checked_labels(result, dict(labels or {}))):
        figure = make(width_of_user())
        if path is not None and form is not None:
            write_whole(path, picture(figure, form))
    return figure


def checked_labels(
    result: Result, labels: Mapping[str, str], more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the labels of the runs of a result; raise UsageError for a label of another run."""
    names = _names(result)
    for name in labels:
        if name not in names:
            import difflib

            close = difflib.get_close_matches(name, names, n=3, cutoff=0.0)
            raise UsageError(f"a label of '{name}', which is no run here; nearest: " + ", ".join(close))
    return dict(more or {}) | dict(labels)


def _names(result: Any) -> list[str]:
    """Return the names that the figure of a result may show: of runs, assessors or arms."""
    if hasattr(result, "records") and not hasattr(result, "names"):  # slices
        sides = ("run", "a", "b")
        return list({getattr(one, side) for one in result.records for side in sides if hasattr(one, side)})
    arms = [arm.name for arm in getattr(result, "arms", ())]
    return list(getattr(result, "names", None) or getattr(result, "judges", None) or arms)


def figure_of_result(result: Result, **options: Any) -> Make:
    """Return the function that draws a result, by its class or the nearest base class with a figure."""
    for cls in type(result).__mro__:
        if cls.__name__ in FIGURES:
            check_options(result, "plot", options, FIGURES[cls.__name__])
            make: Make = FIGURES[cls.__name__](result, **options)
            return make
    raise UsageError(f"{type(result).__name__} has no figure; there is one of: {', '.join(FIGURES)}")


def curves_figure(result: Curves) -> Make:
    """Draw the interpolated recall-precision curves."""
    from leadline.reporting.plots.line_plots import recall_precision

    return lambda width: recall_precision(
        result.names, result.levels, result.precision, width=width or COLUMN
    )


def subtopic_figure(result: SubtopicCurves) -> Make:
    """Draw subtopic recall by rank."""
    from leadline.reporting.plots.line_plots import covered_by_rank

    return lambda width: covered_by_rank(result.names, result.ranks, result.share, width=width or COLUMN)


def histogram_figure(result: Histograms, *, runs: Sequence[str] = ()) -> Make:
    """Draw the histograms of runs; by default of all, or if they are many of highest and lowest HSA."""
    from leadline.reporting.plots.histogram_plots import MOST, histograms

    order = result.order()
    indices = [result.place(name) for name in runs]
    indices = indices or (order if len(order) <= MOST else [order[0], order[-1]])
    return lambda width: histograms(
        [result.names[run] for run in indices],
        result.counts[indices].sum(axis=1),
        hsa=[float(result.hsa[run]) for run in indices],
        do=[float(result.do[run]) for run in indices],
        of="ranks" if result.recipe.from_ranks else "scores",
        width=width,
    )


def agreement_figure(result: Agreement) -> Make:
    """Draw Cohen's kappa of all pairs of judges, or of each judge with the reference."""
    from leadline.reporting.plots.agreement_plots import against_reference, between_judges

    label = str(result.options["weights"])
    label = "Cohen's kappa" if label == "none" else f"Cohen's kappa, {label} weights"

    def make(width: float | None) -> Figure:
        if result.reference:
            estimates = result.between["cohen"][1]
            return against_reference(
                result.judges[1:],
                *([estimate[field] for estimate in estimates] for field in range(3)),
                label=f"{label} with {shortened(result.judges[:1], 24)[0]}",
                width=width or COLUMN,
            )
        return between_judges(result.judges, result.matrix("cohen"), label=label, width=width)

    return make


def abtest_figure(result: ABTest) -> Make:
    """Draw the clickthrough of both arms, and the anytime-valid interval of their difference."""
    from leadline.reporting.plots.abtest_plots import two_arms

    steps = result.always.path
    return lambda width: two_arms(
        *([getattr(arm, field) for arm in result.arms] for field in ("name", "rate", "low", "high")),
        path=None if steps is None else (steps.users, steps.difference, steps.low, steps.high),
        unit=result.unit,
        confidence=result.options["confidence"],
        width=width or COLUMN,
    )


def comparison_figure(
    result: Comparison,
    *,
    figure: str | None = None,
    pair: tuple[str, str] | None = None,
    measure: object | None = None,
    per_pair: bool = False,
    pairs: str | int | None = None,
    chosen: Sequence[int] | None = None,
) -> Make:
    """Draw a comparison; by default the differences of the only pair (estimates: `pairs`), or a forest plot.

    Parameters
    ----------
    result : Comparison
        Compared runs.
    figure : str, optional
        One of `comparison_plots.KINDS`, or of `query_plots.SHAPES`: values of queries by run.
    pair : (str, str), optional
        Runs in the figures `differences` and `scatter`.
    measure : str or Measure, optional
        Measure to draw; by default the first.
    per_pair : bool, default False
        Whether intervals are those of each pair alone, even if there are simultaneous ones.
    pairs : {"significant", "all"} or int, optional
        Pairs in the figure `pairs`, as for `Comparison.printed_pairs`.
    chosen : sequence of int, optional
        Indices of these pairs, in place of `pairs`.
    """
    from leadline.reporting.plots.comparison_plots import KINDS, figure_of, pair_of
    from leadline.reporting.plots.query_plots import SHAPES

    by_query = "differences" if result.results.withheld is None or pair else "pairs"
    name = figure or (by_query if pair or len(result.pairing) == 1 else "forest")
    check_word((*KINDS, *SHAPES), figure=name)
    index = 0 if measure is None else result.results.measure_index(measure)
    if name in SHAPES:
        return results_figure(result.results, figure=name, measure=result.results.measures[index])
    pair_index = pair_of(result, *pair) if pair else 0
    drawn = result.printed_pairs(pairs)[index] if chosen is None else chosen
    return lambda width: figure_of(
        result, name, index, pair=pair_index, width=width, per_pair=per_pair, pairs=drawn
    )


def difference_figure(
    result: Difference,
    *,
    figure: str = "map",
    groups: Mapping[str, str] | None = None,
    parameters: Mapping[str, str] | None = None,
) -> Make:
    """Draw a map or a tree of systems, a cumulative histogram of id, or RIC by a parameter."""
    from leadline.reporting.plots.distance_map import figure_of

    check_word(("map", "tree", "cumulative", "parameter"), figure=figure)
    return lambda width: figure_of(result, figure, dict(groups or {}), dict(parameters or {}), width)


def ranking_figure(result: Ranking, *, measure: object | None = None) -> Make:
    """Draw the ranks of the runs with their intervals by a measure, by default the first."""
    from leadline.reporting.plots.rank_plots import ranks

    index = 0 if measure is None else result.results.measure_index(measure)
    runs = result.runs_of(index)
    return lambda width: ranks(
        [run.name for run in runs],
        [run.rank for run in runs],
        [(run.rank_low, run.rank_high) for run in runs],
        [(run.bootstrap_low, run.bootstrap_high) for run in runs],
        [run.group for run in runs],
        measure=str(result.results.measures[index]),
        confidence=result.rules.confidence,
        width=width or COLUMN,
    )


def replication_figure(
    result: Replication, *, figure: str | None = None, measure: object | None = None
) -> Make:
    """Draw differences by query of a measure, by default the first, or effect ratio by delta RI of all."""
    from leadline.reporting.plots.replication_plots import by_query, effects

    kind = ("differences" if result.paired else "effects") if figure is None else figure
    check_word(("differences", "effects"), figure=kind)
    if kind == "effects":
        return lambda width: effects(result, width=width or COLUMN)
    index = 0 if measure is None else result.original.measure_index(measure)
    _, values = result.differences(index)
    return lambda width: by_query(*values, measure=result.measures[index], width=width or COLUMN)


def results_figure(result: Results, *, figure: str = "heat-map", measure: object | None = None) -> Make:
    """Draw the values of queries by a measure, or its means."""
    from leadline.reporting.plots.query_plots import KINDS, figure_of

    check_word(KINDS, figure=figure)
    index = 0 if measure is None else result.measure_index(measure)
    return lambda width: figure_of(result, figure, index, width=width)


def slices_figure(
    result: Slices, *, measure: object | None = None, pair: tuple[str, str] | None = None
) -> Make:
    """Draw values by slice with intervals: of the first measure, and of one pair of runs if named."""
    from leadline.reporting.plots.slice_plots import by_slice

    return lambda width: by_slice(result, measure=measure, pair=pair, width=width or COLUMN)


def suite_figure(result: Suite, *, measure: object | None = None) -> Make:
    """Draw the means by run and collection of a measure."""
    from leadline.reporting.plots.suite_plots import heat_map

    place = 0 if measure is None else result.measure_index(measure)
    return lambda width: heat_map(result, place, width=width)


def estimates_figure(result: EstimatedResults, *, measure: object | None = None) -> Make:
    """Draw the estimates of a measure, by default the first, with intervals for these and other queries."""
    from leadline.reporting.plots.interval_plots import nested_intervals

    place = 0 if measure is None else result.measure_index(measure)
    drawn, order = result.measures[place], result.order(place)
    found = [result.estimate(result.names[run], drawn) for run in order]
    level = percent(result.confidence)
    words = ["estimate", f"{level} interval for these queries", f"{level} interval for other queries"]
    words += ["estimate of a new run, which did not contribute", ""]
    return lambda width: nested_intervals(
        [result.names[run] for run in order],
        [one.value for one in found],
        _clipped([(one.these_low, one.these_high) for one in found], drawn),
        _clipped([(one.low, one.high) for one in found], drawn),
        new=result.new[order].tolist(),
        label=f"{drawn}, estimated",
        words=words,
        width=width or COLUMN,
    )


def _clipped(limits: Sequence[tuple[float, float]], measure: object) -> Floats:
    """Return limits within the range of a measure."""
    low, high = (float(getattr(measure, name, end)) for name, end in (("low", -math.inf), ("high", math.inf)))
    return np.clip(np.array(limits, dtype=np.float64).reshape(-1, 2), low, high)


def sampled_figure(result: Estimates, *, measure: object | None = None) -> Make:
    """Draw the estimates of a measure, by default the first, with intervals over samples and over queries."""
    from leadline.reporting.plots.interval_plots import nested_intervals

    place = 0 if measure is None else result.measure_index(measure)
    drawn = result.measures[place]
    means = result.means[:, place]
    order = np.argsort(np.where(np.isnan(means), np.inf, -means if drawn.rising else means), kind="stable")
    limits = result.limits[order, place]
    level = percent(float(result.options["confidence"]))
    words = ["estimate", f"{level} interval over samples", f"{level} interval over samples and queries", ""]
    words.append("without correction (each sampled document N/n times)")
    uncorrected = None if result.options.get("correction") == "none" else result.uncorrected[order, place]
    label = f"{drawn}, estimated"
    withheld = sum(bool(result.withheld[run][place]) for run in order.tolist())
    if withheld:
        label += f"; no interval for {withheld} of {counted(len(order), 'run')}"
    return lambda width: nested_intervals(
        [result.names[run] for run in order.tolist()],
        means[order],
        _clipped(limits[:, 2:4].tolist(), drawn),
        _clipped(limits[:, :2].tolist(), drawn),
        others=uncorrected,
        label=label,
        words=words,
        width=width or COLUMN,
    )


def correlation_figure(result: Correlation) -> Make:
    """Draw one score over the other, one point per run, with the coefficients and the runs that swap."""
    from leadline.reporting.plots.association_plots import association

    level = percent(float(result.options["confidence"]))
    truth, estimate = result.sides
    paths = truth.measure == estimate.measure
    return lambda width: association(
        result.truth,
        result.estimate,
        result.names,
        across=f"{truth.measure} ({os.path.basename(truth.path)})" if paths else truth.measure,
        up=f"{estimate.measure} ({os.path.basename(estimate.path)})" if paths else estimate.measure,
        coefficients={
            words: _coefficient(result[name], level)
            for name, words in (("kendall", "Kendall's tau-b"), ("tau_ap", "tau-AP"))
        },
        width=width or COLUMN,
    )


def score_audit_figure(result: ScoreAudit) -> Make:
    """Draw the means of the runs by the labels over those by the reference, and the runs that swap."""
    from leadline.reporting.plots.association_plots import association, with_limits

    if len(result.audits) > 1:
        several = ", ".join(f"{one.measure} by {one.judge}" for one in result.audits[:3])
        raise UsageError(
            f"{len(result.audits)} audits ({several}); a figure expects one judge and one measure"
        )
    (found,) = result.audits
    level = percent(float(result.options["confidence"]))
    words = (("Kendall's tau-b", found.taus.kendall), ("tau-AP", found.taus.tau_ap))
    return lambda width: association(
        [run.reference for run in found.runs],
        [run.labels for run in found.runs],
        result.names,
        across=f"{found.measure} ({found.reference})",
        up=f"{found.measure} ({found.judge})",
        coefficients={
            name: with_limits(value, [("queries", low, high)], level) for name, (value, low, high) in words
        },
        width=width or COLUMN,
    )


def _coefficient(found: Coefficients, level: str) -> str:
    """Return a coefficient with its intervals as text."""
    from leadline.reporting.plots.association_plots import with_limits

    limits = [("runs", found.low, found.high), ("queries", found.queries_low, found.queries_high)]
    return with_limits(found.value, limits, level)


def unjudged_figure(result: Unjudged) -> Make:
    """Draw the distribution over queries of the score of every system, the highest mean at the top."""
    from leadline.reporting.plots.distribution_plots import distributions

    order = result.order()
    queries = counted(result.values.shape[1], "query", "queries")
    return lambda width: distributions(
        [result.names[run] for run in order],
        list(result.values[order]),
        result.scores[order],
        label=f"{result.method}, score without judgments ({queries})",
        rows="systems",
        width=width or COLUMN,
    )


def predictions_figure(
    result: Predictions,
    *,
    figure: str | None = None,
    truth: Mapping[str, Mapping[str, float]] | None = None,
    run: str | None = None,
    predictor: object | None = None,
    truth_measure: str = "measure",
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Make:
    """Draw predictions, or their correlation with a measure."""
    from leadline.reporting.plots.prediction_plots import (
        KINDS,
        correlations,
        predicted_and_measured,
        ranked_predictions,
    )

    if figure is None:
        figure = (
            "heat-map" if truth is None else "scatter" if run or len(result.runs) == 1 else "correlations"
        )
    check_word(KINDS, figure=figure)
    index = 0 if predictor is None else result.measure_index(predictor)
    if figure == "heat-map":
        return lambda width: ranked_predictions(result, index, width=width or COLUMN)
    if truth is None:
        raise UsageError(
            f"figure {figure} without a measure; expected truth={{run: {{query: value}}}} (--truth)"
        )
    rules: dict[str, Any] = {"draws": draws, "confidence": confidence, "seed": seed}
    rules["measure"] = truth_measure
    if figure == "scatter":
        return lambda width: predicted_and_measured(
            result, truth, run or result.names[0], index, width=width or COLUMN, **rules
        )
    return lambda width: correlations(result, truth, index, width=width or COLUMN, **rules)


FIGURES: dict[str, Callable[..., Make]] = {
    "ABTest": abtest_figure,
    "Agreement": agreement_figure,
    "Comparison": comparison_figure,
    "Correlation": correlation_figure,
    "Curves": curves_figure,
    "Difference": difference_figure,
    "EstimatedResults": estimates_figure,
    "Estimates": sampled_figure,
    "Histograms": histogram_figure,
    "Predictions": predictions_figure,
    "Ranking": ranking_figure,
    "Replication": replication_figure,
    "Results": results_figure,
    "ScoreAudit": score_audit_figure,
    "Slices": slices_figure,
    "SubtopicCurves": subtopic_figure,
    "Suite": suite_figure,
    "Unjudged": unjudged_figure,
}
