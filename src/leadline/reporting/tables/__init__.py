"""One file per kind of result: how it is laid out as a table. Here is which result has which layout."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from leadline.errors import UsageError
from leadline.reporting.render import Cell, Preformatted, RowLabel, Table, render

if TYPE_CHECKING:
    from leadline.data.result import Result


class Layout(NamedTuple):
    """Where the layout of a result stands: a module of this package and its functions.

    `table` is for people, `rows` for CSV and frames (by default the same), `text` what is printed where
    that is no table.
    """

    module: str
    table: str
    rows: str = ""
    text: str = ""


LAYOUTS = {
    "ABTest": Layout("abtest_table", "sheet_of"),
    "Agreement": Layout("agreement_table", "sheets_of", "agreement_rows"),
    "CheckResult": Layout("collection_tables", "check_table", text="check_text"),
    "Collection": Layout("collection_tables", "collection_table"),
    "Comparison": Layout("comparison_table", "comparison_table", "comparison_rows"),
    "Correlation": Layout("evaluation_tables", "correlation_table"),
    "Curves": Layout("evaluation_tables", "curve_table"),
    "Difference": Layout("difference_table", "difference_sheet", "pairs_sheet"),
    "EstimatedResults": Layout("estimation_tables", "estimate_table"),
    "Estimates": Layout("estimation_tables", "sampled_table"),
    "Explanation": Layout("evaluation_tables", "explanation_table"),
    "Histograms": Layout("estimation_tables", "histogram_table"),
    "MeasuredPool": Layout("estimation_tables", "measured_pool_table"),
    "Pool": Layout("estimation_tables", "pool_table"),
    "Predictions": Layout("estimation_tables", "prediction_table"),
    "Results": Layout("evaluation_tables", "results_table"),
    "SubtopicCurves": Layout("evaluation_tables", "curve_table"),
    "Unjudged": Layout("estimation_tables", "unjudged_table"),
}
FORMATS = {".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown", ".html": "html"}
PAGE = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>leadline</title>\n{}</html>\n'


def layout_of(result: Result) -> Layout:
    """Return the layout of a result, or of the nearest class that it is derived from."""
    for kind in type(result).__mro__:
        if kind.__name__ in LAYOUTS:
            return LAYOUTS[kind.__name__]
    raise UsageError(f"{type(result).__name__} has no table; there is one of: {', '.join(LAYOUTS)}")


def tables_of(result: Result, **options: Any) -> list[Table]:
    """Return the tables that a command prints of a result; nearly always one."""
    layout = layout_of(result)
    found = _call(layout, layout.table, result, options)
    return found if isinstance(found, list) else [found]


def rows_of(result: Result, **options: Any) -> Table:
    """Return the table of a result for programs: nothing clipped or merged."""
    layout = layout_of(result)
    if not layout.rows:
        return tables_of(result, **options)[0]
    found: Table = _call(layout, layout.rows, result, options)
    return found


def _call(layout: Layout, name: str, result: Result, options: dict[str, Any]) -> Any:
    from leadline.data.result import check_options

    function = getattr(importlib.import_module(f"{__name__}.{layout.module}"), name)
    check_options(result, "table", function, options)
    return function(result, **options)


def text_of(result: Result, form: str = "table", **options: Any) -> str:
    """Return a result in a form of `render`, whole, as for a file."""
    layout = layout_of(result)
    if form == "csv":
        return render(rows_of(result, **options), form, to_file=True)
    if form == "table" and layout.text:
        text: str = _call(layout, layout.text, result, options)
        return text
    return "\n".join(render(each, form, to_file=True) for each in tables_of(result, **options))


def columns_of(result: Result, **options: Any) -> dict[str, list[Any]]:
    """Return the rows of a result as columns by name; a name that comes again gets a number."""
    sheet = rows_of(result, **options)
    columns: dict[str, list[Any]] = {}
    for place, name in enumerate(sheet.columns):
        named, number = name, 1
        while named in columns:
            number += 1
            named = f"{name} {number}"
        columns[named] = _values([row[place] for row in sheet.rows])
    return columns


def _values(cells: list[Cell]) -> list[Any]:
    """Return the cells of a column as numbers or texts; in a column of floats NaN is undefined."""
    values = [None if isinstance(cell, RowLabel) else cell for cell in cells]
    if all(value is None or isinstance(value, float) for value in values):
        return [float("nan") if value is None else float(value) for value in values]
    return [str(value) if isinstance(value, Preformatted) else value for value in values]


def write_result(result: Result, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a result to a file in the format that its suffix says."""
    from leadline.io.write import write_whole

    name = os.fspath(path)
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

    from leadline.data.result import import_optional

    table = result.to_arrow(**options)  # says what is missing
    target = io.BytesIO()
    import_optional("pyarrow.parquet").write_table(table, target)
    return target.getvalue()
