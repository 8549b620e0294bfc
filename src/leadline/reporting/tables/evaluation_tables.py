"""Tables of evaluation: means, values with intervals and bounds, curves, correlations, derivations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leadline.data.results import Results, plain
from leadline.data.table import Cell, Preformatted, RowLabel, Table
from leadline.data.wording import counted, percent, queries

if TYPE_CHECKING:  # a small `evaluate` loads none of these
    from leadline.comparison.correlate import Correlation
    from leadline.comparison.gate import Gate
    from leadline.evaluation.curves import Curves, SubtopicCurves
    from leadline.evaluation.estimated_recall import RecallEstimates
    from leadline.evaluation.explain import Explanation


def _recall_estimates(results: Results) -> RecallEstimates | None:
    """Return the estimates of recall, if judgments had inclusion probabilities."""
    if results.estimates is None:
        return None
    from leadline.evaluation.estimated_recall import RecallEstimates

    return results.estimates if isinstance(results.estimates, RecallEstimates) else None


def estimate_columns(results: Results) -> list[str]:
    """Return the headings of the columns of estimated recall."""
    estimates = _recall_estimates(results)
    if estimates is None:
        return []
    return [head for name in estimates.recall[0] for head in (f"{name} est.", "low", "high")]


def estimate_cells(results: Results, run: int) -> list[Cell]:
    """Return the cells of estimated recall of a run, with intervals."""
    estimates = _recall_estimates(results)
    if estimates is None:
        return []
    return [plain(value) for estimate in estimates.recall[run].values() for value in estimate]


def estimate_notes(results: Results) -> list[str]:
    """Return notes on the estimated numbers of relevant documents and on the intervals."""
    estimates = _recall_estimates(results)
    if estimates is None:
        return []
    notes = []
    for rel, (value, low, high) in estimates.relevant.items():
        grade = "" if rel == 1 else f" (grade {rel:g} or more)"
        notes.append(
            f"estimated relevant documents{grade}: {value:.4g} per query ({percent(estimates.confidence)} "
            f"interval over samples: {low:.4g} to {high:.4g})"
        )
    if estimates.recall[0]:
        notes.append(
            "est.: recall over all queries, estimated with inclusion probabilities; low, high: interval over "
            "samples"
        )
    return notes


NOTES = (
    "ties: the lowest, highest and expected value over all orders of documents with equal scores",
    "unjudged: all unjudged retrieved documents taken as non-relevant, or as of the highest grade",
    "(R and the ideal list are computed from the judgments)",
    "-: not available or undefined",
)


def interval_table(results: Results, *, per_query: bool = False) -> Table:
    """Return the table of values by measure with intervals and bounds, runs in descending order."""
    means = {"value": results.means} | results.limit_columns()
    values = {"value": results.values} | results.limit_columns(per_query=True) if per_query else {}
    rows: list[list[Cell]] = []
    for column, measure in enumerate(results.measures):
        for run in results.order(column):
            label: list[Cell] = [results.runs[run].name, str(measure)]
            for code, query in enumerate(results.queries if per_query else ()):
                rows.append([*label, query, *(plain(float(v[run, code, column])) for v in values.values())])
            label += [RowLabel("mean")] if per_query else []
            rows.append([*label, *(plain(float(v[run, column])) for v in means.values())])
    return Table(
        columns=["run", "measure", *(["query"] if per_query else []), *means],
        rows=rows,
        notes=_notes(results),
    )


def _notes(results: Results) -> list[str]:
    notes = [f"{counted(len(results.runs), 'run')}, mean over {queries(len(results.averaged_queries()))}"]
    if results.intervals is not None:
        _, by, confidence = results.intervals
        seed = f", seed {results.options['seed']}" if by != "Student" else ""
        notes.append(
            f"low, high: {percent(confidence)} confidence interval of the mean over queries ({by}{seed}); "
            "intervals may overlap although the difference of two runs is significant: use `leadline compare`"
        )
    if results.bounds is not None:
        notes += NOTES
    return [*notes, *estimate_notes(results), *map(str, results.warnings)]


def results_table(
    results: Results, *, per_query: bool = False, means: bool = True, conditions: Sequence[Gate] = ()
) -> Table:
    """Return the table that `evaluate` prints; with intervals or bounds it has one value per row.

    The outcomes of `conditions` are the first notes.
    """
    if results.bounds is None and results.intervals is None:
        table = means_table(results, per_query=per_query, means=means)
    else:
        table = interval_table(results, per_query=per_query)
    table.notes[:0] = map(str, conditions)
    return table


def means_table(results: Results, *, per_query: bool = False, means: bool = True) -> Table:
    """Return the table of means, runs (in descending order) x measures."""
    texts = [str(measure) for measure in results.measures]
    estimates = estimate_columns(results)
    order = results.order()
    rows: list[list[Cell]] = []
    best: set[tuple[int, int]] = set()
    for run in order:
        if per_query:
            rows += [
                [results.runs[run].name, query, *map(plain, values), *([None] * len(estimates))]
                for query, values in zip(results.queries, results.shown[run].tolist(), strict=True)
            ]
        if not means:
            continue
        first: list[Cell] = [results.runs[run].name, *([RowLabel("mean")] if per_query else [])]
        rows.append([*first, *map(plain, results.means[run].tolist()), *estimate_cells(results, run)])
        best |= {
            (len(rows) - 1, column + 1 + per_query)
            for column, winners in enumerate(results.best())
            if run in winners
        }
    averaged = queries(len(results.averaged_queries()))
    size = f"{counted(len(results.runs), 'run')}, mean over {averaged}"
    notes = [size, *estimate_notes(results), *map(str, results.warnings)]
    return Table(
        columns=["run", *(["query"] if per_query else []), *texts, *estimates],
        rows=rows,
        best=best,
        notes=notes,
    )


TICKS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 50, 100, 200, 500, 1000)


def curve_table(curves: Curves | SubtopicCurves) -> Table:
    """Return the table of curves, runs (in descending order of the mean) x levels of recall or ranks."""
    order = curves.order()
    from leadline.evaluation.curves import SubtopicCurves

    if isinstance(curves, SubtopicCurves):
        ranks = [rank for rank in TICKS if rank <= curves.ranks[-1]]
        heads, table = list(map(str, ranks)), curves.share[order][:, [rank - 1 for rank in ranks]]
        says = "mean subtopic recall by rank"
    else:
        heads, table = list(map(str, curves.levels)), curves.precision[order]
        says = f"mean interpolated precision ({curves.options['interpolation']}) by recall level"
    rows: list[list[Cell]] = [
        [curves.runs[run].name, *values] for run, values in zip(order, table.tolist(), strict=True)
    ]
    winners = (table == table.max(axis=0)).nonzero() if len(rows) > 1 else ()
    best = {(row, column + 1) for row, column in zip(*map(list, winners), strict=True)}
    notes = [says, f"{counted(len(rows), 'run')}, {queries(len(curves.queries))}", *map(str, curves.warnings)]
    return Table(["run", *heads], rows, best=best, notes=notes, digits=3)


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


def explanation_table(explanation: Explanation) -> Table:
    """Return the table of an explanation, one rank per row, with the formulas below."""
    from leadline.evaluation.explain import number

    steps = explanation.to_dict()["steps"]
    names = list(steps[0]) if steps else ["rank", "document", "score", "tie", "grade"]
    rows: list[list[Cell]] = [[_cell(name, value) for name, value in step.items()] for step in steps]
    hidden = len(explanation.listed.documents) - explanation.shown
    notes = [f"other ranks, which do not affect the value: {hidden} (--all shows them)"] if hidden else []
    return Table(
        names,
        rows,
        notes=[
            *notes,
            *explanation.steps.lines,
            *([""] if explanation.warnings else []),
            *map(str, explanation.warnings),
        ],
        title=f"{explanation.measure} of {explanation.run}, query {explanation.query}: "
        f"{number(explanation.value)}",
        whole=True,
    )


def _cell(name: str, value: Any) -> Cell:
    if name == "grade":
        return "unjudged" if value is None else Preformatted(f"{value:g}")
    if name == "score":
        return "-" if value is None else Preformatted(f"{value:.8g}")
    if name == "tie":
        return str(value or "")
    cell: Cell = value
    return cell
