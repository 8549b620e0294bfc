"""Tables of values and differences by slice of the queries."""

from __future__ import annotations

from leadline.comparison.engine import FEWEST
from leadline.comparison.query_slices import SliceDifference, SliceMean, Slices
from leadline.comparison.sentences import clipped, p_text, signed
from leadline.data.results import plain
from leadline.data.table import Cell, Probability, RowLabel, Table
from leadline.data.wording import counted, percent
from leadline.stats.intervals import SMALLEST

ALL = "all"


def slice_rows(slices: Slices) -> Table:
    """Return the table for programs: every field of every value, nothing clipped."""
    kind = SliceMean if slices.rules is None else SliceDifference
    rows: list[list[Cell]] = []
    for record in slices.records:
        cells: list[Cell] = []
        for name, value in record._asdict().items():
            number = plain(value) if isinstance(value, float) else value
            probable = name in ("p", "p_corrected") and isinstance(number, float)
            cells.append(Probability(number) if probable else number)  # type: ignore[arg-type]
        rows.append(cells)
    return Table(columns=list(kind._fields), rows=rows)


def slice_table(slices: Slices, *, rows: bool = False) -> Table:
    """Return the table that the commands print, with the slices that moved as notes.

    With `rows` it is the table for programs.
    """
    if rows:
        return slice_rows(slices)
    several = len(slices.without_slice) > 1
    by = ["by"] * several
    if slices.rules is None:
        cells = [
            [*([record.by] * several), *_mean_cells(slices, record)]
            for record in slices.records
            if isinstance(record, SliceMean)
        ]
        columns = [*by, "slice", "run", "measure", "queries", "mean", "low", "high"]
    else:
        cells = [
            [*([record.by] * several), *_difference_cells(slices, record)]
            for record in slices.records
            if isinstance(record, SliceDifference)
        ]
        columns = [
            *by,
            "slice",
            "a",
            "b",
            "measure",
            "queries",
            "a - b",
            "low",
            "high",
            "p",
            "p Holm",
            "a is",
        ]
    return Table(
        columns=columns,
        rows=cells,
        title="slices: " + ", ".join(slices.without_slice),
        notes=[*_moved(slices), *_methods(slices), *map(str, slices.warnings)],
        optional=("p",) if slices.rules is not None else (),
    )


def _mean_cells(slices: Slices, record: SliceMean) -> list[Cell]:
    low, high = slices.ranges[record.measure]
    return [
        RowLabel(ALL) if record.slice is None else record.slice,
        record.run,
        record.measure,
        record.queries,
        plain(record.mean),
        plain(clipped(record.low, low, high)),
        plain(clipped(record.high, low, high)),
    ]


def _difference_cells(slices: Slices, record: SliceDifference) -> list[Cell]:
    low, high = record.simultaneous_low, record.simultaneous_high
    if record.slice is None:  # no part of the family of slices
        low, high = record.low, record.high
    lowest, highest = slices.ranges[record.measure]
    reach = highest - lowest
    p, p_corrected = plain(record.p), plain(record.p_corrected)
    return [
        RowLabel(ALL) if record.slice is None else record.slice,
        record.a,
        record.b,
        record.measure,
        record.queries,
        plain(record.difference),
        plain(clipped(low, -reach, reach)),
        plain(clipped(high, -reach, reach)),
        None if p is None else Probability(p),
        None if p_corrected is None or record.slice is None else Probability(p_corrected),
        record.verdict,
    ]


def _moved(slices: Slices) -> list[str]:
    """Return a note for each slice with a significant difference, or that there is none."""
    if slices.rules is None:
        return []
    notes = [
        f"{record.by}, {record.slice}: {record.a} is significantly {record.verdict} than {record.b} on "
        f"{record.measure}: {signed(record.difference)}, Holm {p_text(record.p_corrected)}, "
        f"n = {record.queries:,}"
        for record in slices.moved
    ]
    return [*(notes or ["no slice with a significant difference"]), ""]


def _methods(slices: Slices) -> list[str]:
    level = percent(slices.confidence)
    few = sum(record.queries < FEWEST for record in slices.records if record.slice is not None)
    notes = [f"values of slices of fewer than {FEWEST} queries, without interval and test: {few}"] * bool(few)
    if slices.rules is None:
        return [f"low, high: {level} interval of each mean alone ({slices.interval})", *notes]
    tests = [
        record
        for record in slices.records
        if isinstance(record, SliceDifference) and record.slice is not None and record.p == record.p
    ]
    many = len(tests) if slices.rules.family == "all" else len(tests) // max(len(slices.measures), 1)
    ends = [limit for record in tests for limit in (record.simultaneous_low, record.simultaneous_high)]
    moved = ", approximate: some limits are moved to 0 by later steps of Holm"
    moved = moved if any(abs(limit) == SMALLEST for limit in ends) else ""
    over = "all measures" if slices.rules.family == "all" else "each measure"
    if not tests:
        return [f"no slice with the {FEWEST} queries that a test needs"]
    return [
        f"p: {slices.rules.test}, two-sided; corrected: Holm over {counted(many, 'slice')} of {over}",
        f"{ALL}: p is not corrected, and the interval is that of the pair alone",
        f"low, high: {level} simultaneous intervals over slices (Bonferroni; {slices.interval}){moved}",
        *notes,
    ]
