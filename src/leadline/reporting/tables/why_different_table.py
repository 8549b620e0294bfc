"""Tables of why two tables of a measure differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leadline.comparison.why_different import summary_of
from leadline.data.table import Cell, Table
from leadline.data.wording import counted, queries

if TYPE_CHECKING:
    from leadline.comparison.why_different import WhyDifferent
    from leadline.comparison.why_different_search import Cause

MOST = 8  # causes shown
NAMED = 10  # unexplained queries named


def why_different_tables(result: WhyDifferent, *, per_query: bool = False) -> list[Table]:
    """Return the table of causes, and with `per_query` that of the queries."""
    tables = [why_different_table(result)]
    if per_query:
        rows: list[list[Cell]] = [
            [query, row["a"], row["b"], _apart(row["a"], row["b"]), row["explained_by"] or "not explained"]
            for query, row in result.rows().items()
        ]
        tables.append(Table(["query", "A", "B", "B - A", "explained by"], rows, digits=6))
    return tables


def why_different_table(result: WhyDifferent) -> Table:
    """Return the table of causes with the number of queries that each explains."""
    rows = [*result.numbers, *result.causes[:MOST]]
    notes = [summary_of(result), _sides(result), _counts(result)]
    if result.causes:
        notes.append(
            "explains: differing queries of which A and B are both reproduced, under the two settings; "
            "contradicts: equal queries that are not reproduced"
        )
    if result.pair is not None:
        first, second = result.pair.causes
        notes.append(
            f"{first.says} (A: {first.a_says}; B: {first.b_says}) with {second.says} (A: {second.a_says}; "
            f"B: {second.b_says}) explains {len(result.pair.explained)}"
        )
    notes += [
        one.message + ("" if one.code.startswith("mean_") else f": {queries(one.count)}")
        for one in result.findings
    ]
    left = result.not_explained
    if left and result.tried:
        shown = ", ".join(left[:NAMED]) + (", ..." if len(left) > NAMED else "")
        notes.append(f"not explained: {queries(len(left))} ({shown})")
    return Table(
        ["cause", "A", "B", "explains", "contradicts"],
        [_row(cause) for cause in rows],
        notes=[*notes, *map(str, result.warnings)],
        wrapped=frozenset({"cause", "A", "B"}),
        optional=("contradicts",),
    )


def _row(cause: Cause) -> list[Cell]:
    says = cause.says + (f" (both: {cause.common})" if cause.common else "")
    return [says, cause.a_says, cause.b_says, len(cause.explained), cause.contradicted]


def _sides(result: WhyDifferent) -> str:
    shown = [
        f"{name}: {side.measure} of {side.path}" + (f", run {side.run}" if side.run else "")
        for name, side in (("A", result.a), ("B", result.b))
    ]
    return "; ".join(shown)


def _counts(result: WhyDifferent) -> str:
    groups = {name: len(found) for name, found in result.groups.items()}
    texts = [f"{counted(groups['equal'], 'query', 'queries')} equal"]
    for name, says in (
        ("rounding", "differ by rounding only"),
        ("arithmetic", "differ by less than 1e-6"),
        ("different", "differ"),
        ("only_a", "only in A"),
        ("only_b", "only in B"),
    ):
        texts += [f"{groups[name]} {says}"] if groups[name] or name == "different" else []
    return ", ".join(texts)


def _apart(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else b - a
