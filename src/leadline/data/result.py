"""Result: base of all results, with their conversions to text, data frames and files."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from leadline.data.optional import import_optional
from leadline.data.table import Column, Table, by_name, full_table, printed_table
from leadline.errors import InputError, UnknownOptionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.data.results import ResultWarning


@dataclass(repr=False, eq=False)
class Result:
    """Base class of the results.

    A subclass defines `_columns`, from which tables, text, CSV and data frames are made, and `to_dict`, its
    part of the JSON of the command; `_notes` and `_tables` where the printed form has more than the columns
    and the warnings. `**options` are those of `_columns`, such as `per_query=True`. The figure is defined in
    `leadline.reporting.plots` by the name of the class. `sources` are the files read for the result; they are
    not overwritten.
    """

    warnings: list[ResultWarning] = field(default_factory=list, kw_only=True, repr=False)
    options: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False)
    sources: tuple[str, ...] = field(default=(), init=False, repr=False)
    _digits: ClassVar[int] = 4  # after the decimal point in the printed table

    if TYPE_CHECKING:  # defined by every subclass

        def to_dict(self, *args: Any, **options: Any) -> dict[str, Any]:
            """Return the result as built-in types, with the keys of the command's JSON; None is undefined."""

    def _columns(self, *args: Any, **options: Any) -> list[Column]:
        """Return the columns of CSV and data frames, and of the printed table unless `_tables` makes it."""
        raise NotImplementedError

    def _notes(self, *args: Any, **options: Any) -> list[str]:  # noqa: ARG002  # subclasses have options
        """Return the sentences below the printed table."""
        return list(map(str, self.warnings))

    def _tables(self, *args: Any, **options: Any) -> list[Table]:  # noqa: ARG002  # subclasses have arguments
        """Return the printed tables, usually one."""
        columns, notes = self._columns(**options), self._notes(**options)
        return [printed_table(columns, notes=notes, digits=self._digits)]

    def _written(self, options: Mapping[str, Any], *, whole: bool = False) -> list[Table]:
        """Return the printed tables, or with `whole` that of CSV and data frames."""
        check_options(self, "table", options, self._columns, *([] if whole else [self._tables]))
        return [full_table(self._columns(**options))] if whole else self._tables(**options)

    def to_json(self, **options: Any) -> str:
        """Return the result as JSON."""
        import json

        check_options(self, "to_dict", options, self.to_dict)
        return json.dumps(self.to_dict(**options), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return a result restored from its JSON.

        Parameters
        ----------
        text : str
            Output of `to_json(per_query=True)`, or of a command with `-f json --per-query`.

        Returns
        -------
        Results or Comparison
            Result with the same `to_dict`; a comparison is recomputed from the values in the JSON.

        Raises
        ------
        UsageError
            If the JSON lacks a part of the result; the message names it.

        """
        from leadline.reporting.restore import restored

        result = restored(cls, text)
        assert isinstance(result, cls)
        return result

    def table(self, *, whole: bool = False, **options: Any) -> Table:
        """Return the table that the command prints, the first if there are several; `whole`: that of CSV."""
        return self._written(options, whole=whole)[0]

    def text(self, form: str = "table", *, to_file: bool = True, **options: Any) -> str:
        """Return the result as text: all of it, or what fits the terminal that standard output is.

        Parameters
        ----------
        form : {"table", "csv", "latex", "markdown", "html"}, default "table"
            Format.
        to_file : bool, default True
            Whether the text is for a file, which takes every row and column.
        **options
            Options of the table, such as `per_query=True`.
        """
        from leadline.reporting.render import render

        tables = self._written(options, whole=form == "csv")
        return "\n".join(render(table, form, to_file=to_file) for table in tables)

    def __str__(self) -> str:
        """Return the table as text, without truncation, as the command writes it to a file."""
        return self.text().removesuffix("\n")

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self, **options: Any) -> str:
        """Return the table as HTML."""
        return self.text("html", **options)

    def to_latex(self, **options: Any) -> str:
        """Return the table as LaTeX (package booktabs)."""
        return self.text("latex", **options)

    def to_markdown(self, **options: Any) -> str:
        """Return the table as Markdown."""
        return self.text("markdown", **options)

    def to_csv(self, **options: Any) -> str:
        """Return the result as CSV, with numbers in full precision."""
        return self.text("csv", **options)

    def to_rows(self, **options: Any) -> list[dict[str, Any]]:
        """Return the rows of the CSV as dictionaries; None is undefined."""
        check_options(self, "table", options, self._columns)
        listed = [column for column in self._columns(**options) if not column.printed_only]
        columns = {column.name: column.plain() for column in listed}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_columns(self, *args: Any, **options: Any) -> dict[str, list[Any]]:  # noqa: ARG002  # as _tables
        """Return the columns of the CSV by name; None or NaN is undefined."""
        check_options(self, "table", options, self._columns)
        return by_name(self._columns(**options))

    def to_pandas(self, *args: Any, **options: Any) -> Any:
        """Return the columns as a pandas data frame."""
        return make_frame(import_optional("pandas").DataFrame, self.to_columns(*args, **options))

    def to_polars(self, *args: Any, **options: Any) -> Any:
        """Return the columns as a polars data frame."""
        return make_frame(
            import_optional("polars").DataFrame, self.to_columns(*args, **options), strict=False
        )

    def to_arrow(self, *args: Any, **options: Any) -> Any:
        """Return the columns as an Arrow table."""
        return make_frame(import_optional("pyarrow").table, self.to_columns(*args, **options))

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        labels: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Figure:
        """Draw the figure of the command's option --plot.

        Font size, colours and width are those of the user's matplotlibrc, where it sets them.

        Parameters
        ----------
        path : path, optional
            File to write: .svg, .pdf or .png.
        labels : mapping of str to str, optional
            Labels of runs in place of their names.
        **options
            Options of the figure, such as `figure="scatter"` of a comparison.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        UsageError
            If results of this class have no figure.

        """
        from leadline.reporting.plots.result_plots import draw

        return draw(self, path, labels=labels, **options)

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the result to a file atomically.

        Parameters
        ----------
        path : path
            File whose suffix gives the format: .csv, .json, .tex, .md, .html or .parquet.
        **options
            Options of `table`, `to_json` or `to_columns`, such as `per_query=True`.

        Raises
        ------
        UsageError
            If the suffix is unknown or the file cannot be written.

        """
        from leadline.reporting.tables import write_result

        write_result(self, path, **options)


def check_options(
    result: Result, method: str, options: Mapping[str, Any], *functions: Callable[..., Any]
) -> None:
    """Raise UnknownOptionError for an option that none of the functions behind a method has."""
    allowed = [
        parameter.name
        for function in functions
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    for name in options:
        if name not in allowed:
            expected = f"expected one of {', '.join(allowed)}" if allowed else "it takes no option here"
            raise UnknownOptionError(
                f"{method} of {type(result).__name__} has no option '{name}'; {expected}"
            )


def make_frame(constructor: Callable[..., Any], columns: Mapping[str, list[Any]], **options: Any) -> Any:
    """Return a data frame of columns; raise InputError for ids that are not valid Unicode."""
    try:
        return constructor(dict(columns), **options)
    except UnicodeEncodeError:
        raise InputError(
            "an id that is not Unicode", expected="ids of valid UTF-8; `to_dict` keeps any"
        ) from None
