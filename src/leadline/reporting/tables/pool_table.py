"""A pool as a table: what every run brought, or the expected intervals."""

from __future__ import annotations

from leadline.estimation.pool_designs import MeasuredPool
from leadline.judging.pool import Pool
from leadline.reporting.render import Cell, Table

FORECAST = ("half_width", "half_budget", "exact_budget")


def measured_pool_table(found: MeasuredPool, *, output: str = "") -> Table:
    """Lay out what to expect of a pool that was drawn for measures; `output` is the file it is written to."""
    rows: list[list[Cell]] = [
        [name, *(None if one[key] is None else float(one[key] or 0.0) for key in FORECAST)]
        for name, one in found.expected.items()
    ]
    heads = ["measure", "half-width", "for half of it", "exact"]
    return Table(heads, rows, notes=[*forecast(found, output), *map(str, found.warnings)])


def pool_table(found: Pool, *, output: str = "") -> Table:
    """Lay out what every run brought to a pool; `output` is the file that it is written to."""
    data = found.to_dict()
    rows: list[list[Cell]] = [
        [run["name"], f"{run['brought']:,}", f"{run['alone']:,}"] for run in data["runs"]
    ]
    if data["drawn"]:
        rows.append(["drawn", f"{data['drawn']:,}", None])
    queries = max(data["queries"], 1)
    said = (
        f"{_file(output)}{data['pairs']:,} new pairs of {data['pooled']:,}, in {data['queries']:,} queries, "
        f"{data['pairs'] / queries:.1f} a query"
    )
    return Table(["run", "brought", "it alone"], rows, notes=[said, *map(str, found.warnings)])


def _file(output: str) -> str:
    return f"{output}: " if output else ""


def forecast(found: MeasuredPool, output: str) -> list[str]:
    """Return the lines that say what was drawn and what to expect of it."""
    queries = max(found.queries, 1)
    lines = [
        (
            f"{_file(output)}{found.pairs:,} pairs of {found.queries:,} queries, "
            f"{found.pairs / queries:.1f} a query, drawn with known probabilities from "
            f"{len(found.pool.queries):,}"
        )
    ]
    if found.added != found.pairs:
        lines.append(f"new pairs: {found.added:,}; the others are judged or were drawn before")
    for name, one in found.expected.items():
        exact = f"exact for these runs: {one['exact_budget']:.1f} a query"
        if one["half_width"] is None:
            lines.append(f"{name}: no interval is forecast; {exact}")
        else:
            lines.append(
                f"expected half-width of {name}: {one['half_width']:.3f} a run; for half of it: "
                f"{one['half_budget']:.1f} a query; {exact}"
            )
    return lines
