"""Tables of all results, for the terminal, files and data frames."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from leadline.data.table import Table, by_name
from leadline.data.table import columns_of as of_rows
from leadline.errors import UsageError

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
    columns : str
        Function of the columns for data frames; by default those of `rows`.
    """

    module: str
    table: str
    rows: str = ""
    columns: str = ""


LAYOUTS = {
    "Correlation": Layout("evaluation_tables", "correlation_table"),
    "Difference": Layout("difference_table", "difference_table", "pairs_table"),
}
FORMATS = {".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown", ".html": "html"}
PAGE = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>leadline</title>\n{}</html>\n'


def layout_of(result: Result) -> Layout | None:
    """Return the layout of a result, by its class or the nearest base class with a layout, if it has one."""
    for cls in type(result).__mro__:
        if cls.__name__ in LAYOUTS:
            return LAYOUTS[cls.__name__]
    return None


def tables_of(result: Result, **options: Any) -> list[Table]:
    """Return the tables of a result that its command prints, usually one."""
    layout = layout_of(result)
    assert layout is not None
    tables = _call(layout, layout.table, result, options)
    return tables if isinstance(tables, list) else [tables]


def rows_of(result: Result, **options: Any) -> Table:
    """Return the table of a result for CSV and data frames, with unclipped values."""
    layout = layout_of(result)
    assert layout is not None
    if not layout.rows:
        return tables_of(result, **options)[0]
    table: Table = _call(layout, layout.rows, result, options)
    return table


def columns_of(result: Result, **options: Any) -> dict[str, list[Any]]:
    """Return the columns of a result for data frames, by name."""
    layout = layout_of(result)
    assert layout is not None
    if not layout.columns:
        table = rows_of(result, **options)
        return by_name(of_rows(table.columns, table.rows))
    columns: dict[str, list[Any]] = _call(layout, layout.columns, result, options)
    return columns


def _call(layout: Layout, name: str, result: Result, options: dict[str, Any]) -> Any:
    from leadline.data.result import check_options

    function = getattr(importlib.import_module(f"{__name__}.{layout.module}"), name)
    check_options(result, "table", options, function)
    return function(result, **options)


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
    text = result.text(form, **options)
    return PAGE.format(text) if form == "html" else text


def _parquet(result: Result, options: dict[str, Any]) -> bytes:
    import io

    from leadline.data.optional import import_optional

    table = result.to_arrow(**options)  # raises an error that names the missing package
    target = io.BytesIO()
    import_optional("pyarrow.parquet").write_table(table, target, compression="zstd")
    return target.getvalue()
