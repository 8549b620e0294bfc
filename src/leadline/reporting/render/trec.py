"""What trec_eval prints: for every query and for all a line of name, query and value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from leadline.data.results import Results
from leadline.evaluation.trec_names import BY_LEVEL, BY_RANK, NAMES, ONLY_MEAN, Request, name_of
from leadline.measures import Measure


class Line(NamedTuple):
    """One line of a block: where it stands, its name and family, and the column of its values."""

    order: tuple[int, float]
    name: str
    family: str
    column: int | None
    whole: bool


def write(
    results: Results,
    asked: Sequence[Request],
    *,
    rel: float = 1.0,
    per_query: bool = False,
    means: bool = True,
    prints_missing: bool = True,
) -> str:
    """Write results as trec_eval does, one run after the other; undefined is 0.0000.

    `rel` is the level of all measures, which names do not show. `prints_missing`: a query that the
    run lacks has lines too where it is averaged.
    """
    lines = lines_of(results, asked, rel=rel)
    written: list[str] = []
    for run in range(len(results.runs)):
        if per_query:
            shown = results.present[run]
            if prints_missing and not results.without_mean[run]:
                shown = shown | results.averaged[run].all(axis=1)
            written += _of_queries(results, lines, run, np.flatnonzero(shown).tolist())
        if means and not results.without_mean[run] and results.averaged[run].any():
            written.append(_of_all(results, lines, run))
    return "".join(written)


def lines_of(results: Results, asked: Sequence[Request], *, rel: float = 1.0) -> list[Line]:
    """Return the lines of a block in trec_eval's order; measures that it lacks come last."""
    given = {one.family for one in asked if one.given}
    columns = {measure: place for place, measure in enumerate(results.measures)}
    found: dict[str, Line] = {}
    for place, one in enumerate(asked):
        if one.family in given and not one.given:
            continue  # parameters that were written replace those of a group
        name, family = one.name, one.family
        if one.measure is not None and not family:
            name, family = name_of(one.measure, rel=rel) or (str(one.measure), "")
        column = None if one.measure is None else columns[one.measure]
        whole = one.measure is not None and one.measure.average == "sum"
        order = (len(NAMES), float(place))
        if family:
            order = (NAMES.index(family), _within(family, one.measure))
        found.setdefault(name, Line(order, name, family, column, whole))
    return sorted(found.values(), key=lambda line: line.order)


def _within(family: str, measure: Measure | None) -> float:
    """Return the cutoff or level that orders a family."""
    if measure is None or family not in BY_RANK | BY_LEVEL:
        return 0.0
    return float(getattr(measure, measure.cutoff_name() or ""))


def _block(lines: Sequence[Line]) -> str:
    """Make the text of a block, with `%` for each value and a zero byte for the query."""
    return "".join(f"{line.name:<22}\t\0\t{_form(line)}\n" for line in lines)


def _form(line: Line) -> str:
    if line.column is None:
        return "'%s'" if line.family == "relstring" else "%s"
    return "%.0f" if line.whole else "%6.4f"


def _of_queries(results: Results, lines: Sequence[Line], run: int, queries: Sequence[int]) -> Iterator[str]:
    """Write the block of every query."""
    lines = [line for line in lines if line.family not in {*ONLY_MEAN, "runid"}]
    columns = [line.column for line in lines]
    block = _block(lines)
    values = np.nan_to_num(results.values[run])
    for query in queries:
        row = values[query].tolist()
        text = results.relevance_strings[run][query] if results.relevance_strings else ""
        cells = (text if column is None else row[column] for column in columns)
        yield block.replace("\0", results.queries[query].replace("%", "%%")) % tuple(cells)


def _of_all(results: Results, lines: Sequence[Line], run: int) -> str:
    """Write the block of all queries."""
    lines = [line for line in lines if line.family != "relstring"]
    values = np.nan_to_num(results.means[run]).tolist()
    tag = results.runs[run].tag or results.runs[run].name
    cells = (tag if line.column is None else values[line.column] for line in lines)
    return _block(lines).replace("\0", "all") % tuple(cells)
