"""Tables of all results, for the terminal, files and data frames."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from leadline.errors import UsageError
from leadline.reporting.render import Cell, Preformatted, RowLabel, Table, render

if TYPE_CHECKING:
    from leadline.data.result import Result


class Layout(NamedTuple):
    """Functions that make the tables of a result.

    Attributes
    ----------
    module : str
        Module of this package.
    table : str
        Function of the printed table.
    rows : str
        Function of the table for CSV and data frames; by default the printed one.
    text : str
        Function of the printed text, for results that are not printed as a table.
    columns : str
        Function of the columns for data frames; by default those of `rows`.
    """

    module: str
    table: str
    rows: str = ""
    text: str = ""
    columns: str = ""


LAYOUTS = {
    "ABTest": Layout("abtest_table", "abtest_table"),
    "Agreement": Layout("agreement_table", "agreement_tables", "agreement_rows"),
    "CheckResult": Layout("collection_tables", "check_table", text="check_text"),
    "Collection": Layout("collection_tables", "collection_table"),
    "Comparison": Layout(
        "comparison_table", "comparison_table", "comparison_rows", columns="comparison_columns"
    ),
    "Correlation": Layout("evaluation_tables", "correlation_table"),
    "Curves": Layout("evaluation_tables", "curve_table"),
    "Difference": Layout("difference_table", "difference_table", "pairs_table"),
    "EstimatedResults": Layout("estimation_tables", "estimate_table"),
    "Estimates": Layout("estimation_tables", "sampled_table"),
    "Explanation": Layout("evaluation_tables", "explanation_table"),
    "Histograms": Layout("estimation_tables", "histogram_table"),
    "MeasuredPool": Layout("estimation_tables", "measured_pool_table"),
    "Pool": Layout("estimation_tables", "pool_table"),
    "Predictions": Layout("estimation_tables", "prediction_table"),
    "Ranking": Layout("rank_table", "rank_table", "rank_rows"),
    "Replication": Layout("replication_table", "replication_table", "replication_rows"),
    "Results": Layout("evaluation_tables", "results_table"),
    "ScoreAudit": Layout("agreement_table", "score_audit_tables", "score_audit_rows"),
    "Slices": Layout("slice_table", "slice_table", "slice_rows"),
    "SubtopicCurves": Layout("evaluation_tables", "curve_table"),
    "Suite": Layout("suite_table", "suite_tables", "suite_rows"),
    "Unjudged": Layout("estimation_tables", "unjudged_table"),
    "Verification": Layout("collection_tables", "verification_table"),
    "WhyDifferent": Layout("why_different_table", "why_different_tables"),
}
FORMATS = {".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown", ".html": "html"}
PAGE = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>leadline</title>\n{}</html>\n'


def layout_of(result: Result) -> Layout:
    """Return the layout of a result, by its class or the nearest base class with a layout."""
    for cls in type(result).__mro__:
        if cls.__name__ in LAYOUTS:
            return LAYOUTS[cls.__name__]
    raise UsageError(f"{type(result).__name__} has no table; there is one of: {', '.join(LAYOUTS)}")


def tables_of(result: Result, **options: Any) -> list[Table]:
    """Return the tables of a result that its command prints, usually one."""
    layout = layout_of(result)
    tables = _call(layout, layout.table, result, options)
    return tables if isinstance(tables, list) else [tables]


def rows_of(result: Result, **options: Any) -> Table:
    """Return the table of a result for CSV and data frames, with unclipped values."""
    layout = layout_of(result)
    if not layout.rows:
        return tables_of(result, **options)[0]
    table: Table = _call(layout, layout.rows, result, options)
    return table


def _call(layout: Layout, name: str, result: Result, options: dict[str, Any]) -> Any:
    from leadline.data.result import check_options

    function = getattr(importlib.import_module(f"{__name__}.{layout.module}"), name)
    check_options(result, "table", function, options)
    return function(result, **options)


def text_of(result: Result, form: str = "table", **options: Any) -> str:
    """Return a result as text in a format of `render`, with all rows and columns."""
    layout = layout_of(result)
    if form == "csv":
        return render(rows_of(result, **options), form, to_file=True)
    if form == "table" and layout.text:
        text: str = _call(layout, layout.text, result, options)
        return text
    return "\n".join(render(table, form, to_file=True) for table in tables_of(result, **options))


def columns_of(result: Result, **options: Any) -> dict[str, list[Any]]:
    """Return the rows of a result as columns by name; repeated names are numbered."""
    layout = layout_of(result)
    if layout.columns:
        made: dict[str, list[Any]] = _call(layout, layout.columns, result, options)
        return made
    table = rows_of(result, **options)
    columns: dict[str, list[Any]] = {}
    for index, name in enumerate(table.columns):
        named, number = name, 1
        while named in columns:
            number += 1
            named = f"{name} {number}"
        columns[named] = _values([row[index] for row in table.rows])
    return columns


def _values(cells: list[Cell]) -> list[Any]:
    """Return the cells of a column as numbers or texts; undefined floats are NaN."""
    values = [None if isinstance(cell, RowLabel) else cell for cell in cells]
    if all(value is None or isinstance(value, float) for value in values):
        return [float("nan") if value is None else float(value) for value in values]
    return [str(value) if isinstance(value, Preformatted) else value for value in values]


def write_result(result: Result, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a result to a file in the format given by its suffix."""
    from leadline.io.read_paths import refuse_sources
    from leadline.io.write import checked_path, write_whole

    name = checked_path(path)
    refuse_sources(name, result.sources)
    suffix = os.path.splitext(name)[1].lower()
    if suffix == ".parquet":
        content = _parquet(result, options)
    elif suffix in FORMATS:
        content = _text(result, FORMATS[suffix], options).encode("utf-8", "surrogateescape")
    else:
        choices = ", ".join([*FORMATS, ".parquet"])
        raise UsageError(f"{name}: results are not written as '{suffix}'; expected one of {choices}")
    write_whole(name, content)


def _text(result: Result, form: str, options: dict[str, Any]) -> str:
    if form == "json":
        return result.to_json(**options) + "\n"
    text = text_of(result, form, **options)
    return PAGE.format(text) if form == "html" else text


def _parquet(result: Result, options: dict[str, Any]) -> bytes:
    import io

    from leadline.data.optional import import_optional

    table = result.to_arrow(**options)  # raises an error that names the missing package
    target = io.BytesIO()
    import_optional("pyarrow.parquet").write_table(table, target, compression="zstd")
    return target.getvalue()
