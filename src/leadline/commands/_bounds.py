"""Bounds as a table: one mean or value a row, with how far it may move."""

from __future__ import annotations

from leadline.render import Cell, Label, Sheet
from leadline.results import Results, plain
from leadline.wording import counted, queries

COLUMNS = ["value", "ties low", "ties high", "ties expected", "unjudged low", "unjudged high"]
NOTES = (
    "ties: the lowest, highest and expected value over all orders of documents with equal scores",
    "unjudged: retrieved documents without a judgment, all non-relevant or all of the largest grade",
    "(R and the ideal stay as judged)",
    "- not available or undefined",
)


def bounds_sheet(results: Results, *, per_query: bool = False) -> Sheet:
    """Lay results out with their bounds: runs (the best first) and measures down."""
    rows: list[list[Cell]] = []
    for place in results.order():
        for column, measure in enumerate(results.measures):
            label: list[Cell] = [results.runs[place].name, str(measure)]
            if per_query:
                rows += [
                    [*label, query, *_numbers(results, place, column, code)]
                    for code, query in enumerate(results.queries)
                ]
                label.append(Label("mean"))
            rows.append([*label, *_numbers(results, place, column)])
    averaged = len(results.averaged_queries())
    return Sheet(
        columns=["run", "measure", *(["query"] if per_query else []), *COLUMNS],
        rows=rows,
        notes=[
            f"{counted(len(results.runs), 'run')}, mean over {queries(averaged)}",
            *NOTES,
            *map(str, results.notices),
        ],
    )


def _numbers(results: Results, run: int, measure: int, query: int | None = None) -> list[Cell]:
    """Give a mean, or the value of one query, and its bounds."""
    assert results.bounds is not None
    if query is None:
        value = float(results.means[run, measure])
        found = results.mean_bounds[run, measure]
    else:
        value = float(results.values[run, query, measure])
        found = results.bounds.limits[run, query, measure]
    return list(map(plain, [value, *found.tolist()]))
