"""The figure of every result that has one: what `Result.plot` and the --plot of commands draw."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leadline.data.result import check_options
from leadline.data.validation import check_word
from leadline.errors import UsageError
from leadline.reporting.plots import COLUMN, form_of, letters_of, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.comparison.comparison_result import Comparison
    from leadline.comparison.information_difference.difference_result import Difference
    from leadline.data.result import Result
    from leadline.data.results import Results
    from leadline.estimation.score_histograms.histogram_result import Histograms
    from leadline.evaluation.curves import Curves, SubtopicCurves
    from leadline.judging.agreement_result import Agreement
    from leadline.online.abtest_result import ABTest


Make = Callable[[float | None], "Figure"]  # of a width in inches; None: the figure's own


def draw(
    result: Result,
    path: str | os.PathLike[str] | None,
    *,
    size: float | tuple[float, float] | None,
    font_size: float | None,
    title: str,
    **options: Any,
) -> Figure:
    """Draw a result, and write the figure where a path is given."""
    from leadline.io.write import write_whole

    make = figure_of_result(result, **options)
    width, height = (size, None) if not isinstance(size, Sequence) else (size[0], size[1])
    if path is None and (title or height is not None):
        raise UsageError("a title and a height are for files; expected plot(path, ...)")
    form = None if path is None else form_of(os.fspath(path))
    with letters_of(font_size):
        figure = make(width)
        if path is not None and form is not None:
            write_whole(os.fspath(path), picture(figure, form, title=title, height=height))
    return figure


def figure_of_result(result: Result, **options: Any) -> Make:
    """Return what draws a result in a width, by its class or the nearest one that it is derived from."""
    for kind in type(result).__mro__:
        if kind.__name__ in FIGURES:
            check_options(result, "plot", FIGURES[kind.__name__], options)
            make: Make = FIGURES[kind.__name__](result, **options)
            return make
    raise UsageError(f"{type(result).__name__} has no figure; there is one of: {', '.join(FIGURES)}")


def curves_figure(found: Curves) -> Make:
    """Draw the interpolated recall-precision curves."""
    from leadline.reporting.plots.line_plots import recall_precision

    return lambda width: recall_precision(found.names, found.levels, found.precision, width=width or COLUMN)


def subtopic_figure(found: SubtopicCurves) -> Make:
    """Draw the share of subtopics covered by rank."""
    from leadline.reporting.plots.line_plots import covered_by_rank

    return lambda width: covered_by_rank(found.names, found.ranks, found.share, width=width or COLUMN)


def histogram_figure(found: Histograms, *, runs: Sequence[str] = ()) -> Make:
    """Draw the histograms of some runs; by default all, or if many those of highest and lowest HSA."""
    from leadline.reporting.plots.histogram_plots import MOST, histograms

    order = found.order()
    places = [found.place(name) for name in runs]
    places = places or (order if len(order) <= MOST else [order[0], order[-1]])
    return lambda width: histograms(
        [found.names[place] for place in places],
        found.counts[places].sum(axis=1),
        hsa=[float(found.hsa[place]) for place in places],
        do=[float(found.do[place]) for place in places],
        half_counts=found.recipe.half_counts,
        base=found.recipe.base,
        of="ranks" if found.recipe.from_ranks else "scores",
        width=width,
    )


def agreement_figure(found: Agreement) -> Make:
    """Draw Cohen's kappa of all judges, or of each with the reference."""
    from leadline.reporting.plots.agreement_plots import against_reference, between_judges

    label = str(found.options["weights"])
    label = "Cohen's kappa" if label == "none" else f"Cohen's kappa, {label} weights"

    def make(width: float | None) -> Figure:
        if found.reference:
            each = found.between["cohen"][1]
            return against_reference(
                found.judges[1:],
                *([one[end] for one in each] for end in range(3)),
                label=f"{label} with {found.judges[0]}",
                width=width or COLUMN,
            )
        return between_judges(found.judges, found.matrix("cohen"), label=label, width=width or COLUMN)

    return make


def abtest_figure(found: ABTest) -> Make:
    """Draw the clickthrough of both arms, and the interval for those who peek."""
    from leadline.reporting.plots.abtest_plots import two_arms

    steps = found.always.path
    return lambda width: two_arms(
        *([getattr(arm, part) for arm in found.arms] for part in ("name", "rate", "low", "high")),
        path=None if steps is None else (steps.users, steps.difference, steps.low, steps.high),
        unit=found.unit,
        confidence=found.options["confidence"],
        width=width or COLUMN,
    )


def comparison_figure(
    found: Comparison,
    *,
    figure: str | None = None,
    pair: tuple[str, str] | None = None,
    measure: object | None = None,
    per_pair: bool = False,
    pairs: str | int | None = None,
    chosen: Sequence[int] | None = None,
) -> Make:
    """Draw a comparison; by default the differences of the only pair, or a forest.

    `figure` is one of KINDS of `comparison_plots`; `pair` the runs of differences and scatter. The figure
    `pairs` draws those of `chosen_pairs(found, pairs)`, or of the places `chosen`.
    """
    from leadline.reporting.plots.comparison_plots import KINDS, figure_of, pair_of
    from leadline.reporting.tables.comparison_table import chosen_pairs

    kind = figure or ("differences" if pair or len(found.pairing) == 1 else "forest")
    check_word(KINDS, figure=kind)
    place = 0 if measure is None else found.results.place(measure)
    at = pair_of(found, *pair) if pair else 0
    shown = chosen_pairs(found, pairs)[place] if chosen is None else chosen
    return lambda width: figure_of(found, kind, place, pair=at, width=width, per_pair=per_pair, pairs=shown)


def difference_figure(
    found: Difference,
    *,
    figure: str = "map",
    groups: Mapping[str, str] | None = None,
    parameters: Mapping[str, str] | None = None,
) -> Make:
    """Draw a map or a tree of systems, a cumulative histogram of id, or RIC by a parameter."""
    from leadline.reporting.tables.difference_table import figure_of

    check_word(("map", "tree", "cumulative", "parameter"), figure=figure)
    return lambda width: figure_of(found, figure, dict(groups or {}), dict(parameters or {}), width)


def results_figure(found: Results, *, measure: object | None = None) -> Make:
    """Draw the values of a measure, by default the first: a run a row, a query a column."""
    from leadline.reporting.plots.query_plots import per_query

    shown = found.measures[0 if measure is None else found.place(measure)]
    return lambda width: per_query(found, shown, width=width or COLUMN)


FIGURES: dict[str, Callable[..., Make]] = {
    "ABTest": abtest_figure,
    "Agreement": agreement_figure,
    "Comparison": comparison_figure,
    "Curves": curves_figure,
    "Difference": difference_figure,
    "Histograms": histogram_figure,
    "Results": results_figure,
    "SubtopicCurves": subtopic_figure,
}
