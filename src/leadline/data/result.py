"""Result: what every result of leadline can do - print, become a frame, be written to a file."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from leadline.errors import InputError, MissingPackageError, UnknownOptionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.reporting.render import Table


class Result:
    """Base of every result.

    A subclass has `to_dict`, the command's own part of the JSON. How its table is laid out stands in
    `leadline.reporting.tables`, how it is drawn in `leadline.reporting.plots`; both are found by the name of
    the class. `**options` are those of the layout, such as `per_query=True` of means.
    """

    if TYPE_CHECKING:  # every result has its own

        def to_dict(self, *args: Any, **options: Any) -> dict[str, Any]:
            """Return the result as plain data, with the keys of the command's JSON; None is undefined."""

    def to_json(self, **options: Any) -> str:
        """Return what `to_dict` returns as JSON."""
        import json

        check_options(self, "to_dict", self.to_dict, options)
        return json.dumps(self.to_dict(**options), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Restore a result from its JSON; refuse what the JSON does not hold.

        Parameters
        ----------
        text : str
            What `to_json(per_query=True)` gives, or a command with `-f json --per-query`.

        Returns
        -------
        Results or Comparison
            One with the same `to_dict`. A comparison is computed again from the values in the JSON.

        Raises
        ------
        UsageError
            If something that the result is made of is not in the JSON; the message says what.

        """
        from leadline.reporting.restore import restored

        found = restored(cls, text)
        assert isinstance(found, cls)
        return found

    def table(self, **options: Any) -> Table:
        """Return the table that the command prints; the first, where there are several."""
        from leadline.reporting.tables import tables_of

        return tables_of(self, **options)[0]

    def __str__(self) -> str:
        """Return the table as text, whole: what the command writes into a file."""
        from leadline.reporting.tables import text_of

        return text_of(self).removesuffix("\n")

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self, **options: Any) -> str:
        """Return the table as HTML, as notebooks show it."""
        from leadline.reporting.tables import text_of

        return text_of(self, "html", **options)

    def to_latex(self, **options: Any) -> str:
        """Return the table as LaTeX; it needs the package booktabs."""
        from leadline.reporting.tables import text_of

        return text_of(self, "latex", **options)

    def to_markdown(self, **options: Any) -> str:
        """Return the table as Markdown."""
        from leadline.reporting.tables import text_of

        return text_of(self, "markdown", **options)

    def to_csv(self, **options: Any) -> str:
        """Return the result as CSV, numbers to full precision."""
        from leadline.reporting.tables import text_of

        return text_of(self, "csv", **options)

    def to_columns(self, *args: Any, **options: Any) -> dict[str, list[Any]]:
        """Return the columns of the CSV by name; NaN or None is undefined."""
        from leadline.reporting.tables import columns_of

        return columns_of(self, *args, **options)

    def to_pandas(self, *args: Any, **options: Any) -> Any:
        """Return `to_columns` as a pandas frame."""
        return framed(optional("pandas").DataFrame, self.to_columns(*args, **options))

    def to_polars(self, *args: Any, **options: Any) -> Any:
        """Return `to_columns` as a polars frame."""
        return framed(optional("polars").DataFrame, self.to_columns(*args, **options), strict=False)

    def to_arrow(self, *args: Any, **options: Any) -> Any:
        """Return `to_columns` as an Arrow table."""
        return framed(optional("pyarrow").table, self.to_columns(*args, **options))

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        size: float | tuple[float, float] | None = None,
        font_size: float | None = None,
        title: str = "",
        **options: Any,
    ) -> Figure:
        """Draw the figure that the command draws with --plot.

        Parameters
        ----------
        path : path, optional
            A file to write: .svg, .pdf or .png. A title and a height are for files.
        size : float or (float, float), optional
            Width, or width and height, in inches; by default one column of a paper.
        font_size : float, optional
            Size of the letters in points.
        title : str, optional
            Title above the figure.
        **options
            What to draw, such as `figure="scatter"` of a comparison.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        UsageError
            If a result of this class has no figure.

        """
        from leadline.reporting.plots.result_plots import draw

        return draw(self, path, size=size, font_size=font_size, title=title, **options)

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the result to a file, complete or not at all.

        Parameters
        ----------
        path : path
            The suffix says the format: .csv, .json, .tex, .md, .html or .parquet.
        **options
            Those of `table`, `to_json` or `to_columns`, such as `per_query=True`.

        Raises
        ------
        UsageError
            If the suffix is another one, or the file cannot be written.

        """
        from leadline.reporting.tables import write_result

        write_result(self, path, **options)


def check_options(
    result: Result, called: str, function: Callable[..., Any], given: Mapping[str, Any]
) -> None:
    """Refuse an option that a form of a result does not take, with those that it takes."""
    allowed = [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind is each.KEYWORD_ONLY
    ]
    for name in given:
        if name not in allowed:
            expected = f"expected one of {', '.join(allowed)}" if allowed else "it takes no option here"
            raise UnknownOptionError(
                f"{called} of {type(result).__name__} has no option '{name}'; {expected}"
            )


def framed(make: Callable[..., Any], columns: Mapping[str, list[Any]], **options: Any) -> Any:
    """Return the frame that a library makes of columns; it holds no text that is not Unicode."""
    try:
        return make(dict(columns), **options)
    except UnicodeEncodeError:
        raise InputError(
            "an id that is not Unicode", expected="ids of valid UTF-8; `to_dict` keeps any"
        ) from None


def optional(package: str) -> Any:
    """Import a package that need not be there."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingPackageError(f"{package} is not installed: pip install {package}") from None


def pandas_frame(columns: Mapping[str, list[Any]]) -> Any:
    """Return a pandas frame of some columns."""
    return framed(optional("pandas").DataFrame, columns)


def polars_frame(columns: Mapping[str, list[Any]]) -> Any:
    """Return a polars frame of some columns; ids are text also where there are no rows."""
    polars = optional("polars")
    texts = {name: polars.String for name in columns if name in ("query_id", "doc_id", "subtopic")}
    return framed(polars.DataFrame, columns, schema_overrides=texts)
