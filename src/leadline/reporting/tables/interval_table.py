"""Means and values with their intervals and bounds as a table."""

from __future__ import annotations

import numpy as np

from leadline.data.results import Results, plain
from leadline.data.wording import counted, percent, queries
from leadline.evaluation.sampled_recall import RecallEstimates
from leadline.reporting.render import Cell, RowLabel, Table


def estimate_columns(results: Results) -> list[str]:
    """Give the heads of the columns of estimated recall."""
    found = results.estimates
    if not isinstance(found, RecallEstimates):
        return []
    return [head for name in found.recall[0] for head in (f"{name} est.", "low", "high")]


def estimate_cells(results: Results, place: int) -> list[Cell]:
    """Give the estimated recall of a run, with its intervals."""
    found = results.estimates
    if not isinstance(found, RecallEstimates):
        return []
    return [plain(value) for estimate in found.recall[place].values() for value in estimate]


def estimate_notes(results: Results) -> list[str]:
    """Say how many relevant documents there are by estimate, and what the intervals are of."""
    found = results.estimates
    if not isinstance(found, RecallEstimates):
        return []
    notes = []
    for rel, (value, low, high) in found.relevant.items():
        grade = "" if rel == 1 else f" (grade {rel:g} or more)"
        notes.append(
            f"estimated relevant documents{grade}: {value:.4g} a query ({percent(found.confidence)} of "
            f"draws: {low:.4g} to {high:.4g})"
        )
    if found.recall[0]:
        notes.append("est.: recall over all queries, from inclusion probabilities; low, high: over draws")
    return notes


BOUNDS = ["ties low", "ties high", "ties expected", "unjudged low", "unjudged high"]
NOTES = (
    "ties: the lowest, highest and expected value over all orders of documents with equal scores",
    "unjudged: retrieved documents without a judgment, all non-relevant or all of the largest grade",
    "(R and the ideal stay as judged)",
    "- not available or undefined",
)


def around_sheet(results: Results, *, per_query: bool = False) -> Table:
    """Lay results out measure by measure, the best run first, with intervals and bounds if there are any."""
    rows: list[list[Cell]] = []
    for column, measure in enumerate(results.measures):
        for place in results.order(column):
            label: list[Cell] = [results.runs[place].name, str(measure)]
            if per_query:
                rows += [
                    [*label, query, *_numbers(results, place, column, code)]
                    for code, query in enumerate(results.queries)
                ]
                label.append(RowLabel("mean"))
            rows.append([*label, *_numbers(results, place, column)])
    around = ["low", "high"] if results.intervals is not None else []
    around += BOUNDS if results.bounds is not None else []
    return Table(
        columns=["run", "measure", *(["query"] if per_query else []), "value", *around],
        rows=rows,
        notes=_notes(results),
    )


def _notes(results: Results) -> list[str]:
    notes = [f"{counted(len(results.runs), 'run')}, mean over {queries(len(results.averaged_queries()))}"]
    if results.intervals is not None:
        _, by, confidence = results.intervals
        seed = f", seed {results.options['seed']}" if by != "Student" else ""
        notes.append(
            f"low, high: {percent(confidence)} interval of the mean over such queries ({by}{seed}); "
            "two runs may differ surely though theirs overlap: `leadline compare`"
        )
    if results.bounds is not None:
        notes += NOTES
    return [*notes, *estimate_notes(results), *map(str, results.warnings)]


def _numbers(results: Results, run: int, measure: int, query: int | None = None) -> list[Cell]:
    """Give a mean, or the value of one query, its interval and its bounds."""
    if query is None:
        numbers = [float(results.means[run, measure])]
    else:
        numbers = [float(results.values[run, query, measure])]
    if results.intervals is not None:
        limits = _clipped(results, run, measure)
        numbers += limits if query is None else [float("nan")] * 2
    if results.bounds is not None and query is None:
        numbers += results.mean_bounds[run, measure].tolist()
    elif results.bounds is not None:
        numbers += results.bounds.limits[run, query, measure].tolist()
    return list(map(plain, numbers))


def _clipped(results: Results, run: int, measure: int) -> list[float]:
    """Return the limits of a mean, clipped to the range of the measure."""
    assert results.intervals is not None
    kind = results.measures[measure]
    limits = results.intervals.limits[run, measure]
    return [
        float(limit)
        for limit in np.clip(limits, getattr(kind, "low", -np.inf), getattr(kind, "high", np.inf))
    ]
