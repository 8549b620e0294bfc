"""Result: base of all results, with their conversions to text, data frames and files."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from leadline.data.optional import import_optional, require
from leadline.data.table import (
    Cell,
    Column,
    Preformatted,
    Table,
    by_name,
    columns_of,
    full_table,
    make_frame,
    printed_table,
)
from leadline.data.validation import check_arguments, name_keywords
from leadline.data.wording import type_of
from leadline.errors import (
    Answering,
    InputError,
    UnknownOptionError,
    UsageError,
    did_you_mean,
    either,
    sentences,
)
from leadline.io.opening import digest_of
from leadline.io.read_paths import refuse_sources, worded_here
from leadline.render import BY_SUFFIX, View, suffix_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from leadline.data.table import ResultWarning

Make: TypeAlias = "Callable[[float | None], Figure]"  # of the width in inches, None for the default


@dataclass(repr=False, eq=False)
class Result(Answering):
    """Base class of the results.

    A subclass defines `_columns`, from which tables, text, CSV and data frames are made, and `to_dict`, its
    part of the JSON of the command; `_notes` and `_tables` where the printed form has more than the columns
    and the warnings; `_figure` if it has a figure. `**options` are those of `_columns`, such as
    `per_query=True`. `sources` are the files read for the result; they are not overwritten.
    """

    warnings: list[ResultWarning] = field(default_factory=list, kw_only=True, repr=False)
    options: dict[str, Any] = field(default_factory=dict, kw_only=True, repr=False)
    sources: tuple[str, ...] = field(default=(), init=False, repr=False)
    _saved_inputs: Sequence[dict[str, Any]] = field(default=(), init=False, repr=False)  # of a restored one
    _made_by: str = field(default="", init=False, repr=False)  # name of the public function
    UNSAVED: ClassVar[tuple[str, ...]] = ("sources", "_saved_inputs")  # attributes that no saved result has
    _digits: ClassVar[int] = 4  # after the decimal point in the printed table
    _read_by = "from_json(text)"

    if TYPE_CHECKING:  # defined by every subclass

        def to_dict(self, *args: Any, **options: Any) -> dict[str, Any]:
            """Return the result as built-in types, with the keys of the command's JSON; None is undefined."""

    def _columns(self, *args: Any, **options: Any) -> list[Column]:
        """Return the columns of CSV and data frames, and of the printed table unless `_tables` makes it."""
        raise NotImplementedError

    def _notes(self, *args: Any, **options: Any) -> list[str]:  # noqa: ARG002  # subclasses have options
        """Return the sentences below the printed table."""
        return list(map(str, self.warnings))

    def _in_data(self, note: str) -> str:
        """Return a note beside CSV or JSON Lines, where columns have other names; empty if they lack it."""
        return note

    def _tables(self, *args: Any, **options: Any) -> list[Table]:  # noqa: ARG002  # subclasses have arguments
        """Return the printed tables, usually one."""
        columns, notes = self._columns(**options), self._notes(**options)
        return [printed_table(columns, notes=notes, digits=self._digits)]

    def _written(self, options: Mapping[str, Any], *, whole: bool = False) -> list[Table]:
        """Return the printed tables, or with `whole` that of CSV and data frames."""
        check_options(self, "table", options, self._columns, *([] if whole else [self._tables]))
        if whole:
            return [full_table(self._columns(**options))]
        tables = self._tables(**options)
        for table in tables:
            table.notes = self._worded(table.notes)
        return tables

    def _worded(self, notes: Sequence[str]) -> list[str]:
        """Return notes with the names that a command or Python has for what they name."""
        return worded_here(notes, self._made_by, type(self)._tables)  # noqa: SLF001  # of this class

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without those that are computed when asked for."""
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(type(self), name, None), cached_property)
        }

    def to_json(self) -> str:
        """Return the result as JSON that `from_json` and `leadline show` read."""
        return self._content("json", {}).decode()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return a result restored from its JSON.

        Parameters
        ----------
        text : str
            Output of `to_json`, or the content of a .json file that `write` or a command saved.

        Returns
        -------
        Result
            The result, exactly as it was.

        Raises
        ------
        InputError
            If the text is no saved result, is of another format, or was changed.
        UsageError
            If it is a result of another class.

        """
        from leadline.io.saved_results import restored

        try:
            result = restored(_parsed(cls.__name__, text)).view.result
        except InputError as error:
            raise error.at("", found=f"the JSON {error.found}") from None
        if not isinstance(result, cls):
            raise UsageError(
                f"the JSON contains a result of type {type(result).__name__}, not {cls.__name__}"
            )
        for each in (result, vars(result).get("results")):  # a command may have saved it
            if isinstance(each, Result):
                told = each._worded([one.message for one in each.warnings])  # noqa: SLF001  # same class
                each.warnings = [
                    replace(one, message=text) for one, text in zip(each.warnings, told, strict=True)
                ]
        return result

    def _about(self) -> dict[str, Any]:
        """Return the keys common to all saved results."""
        from leadline.io.saved_results import envelope

        inputs = self._saved_inputs or [
            {"path": one, "sha256": digest_of(one), "rows": None} for one in self.sources
        ]
        return envelope("", inputs, getattr(self, "options", {}), getattr(self, "warnings", []))

    def saved_columns(self) -> dict[str, Any]:
        """Return the columns of the result in Parquet."""
        return self.to_columns()

    def without_saved_columns(self) -> Self:
        """Return the result without the values that its rows in JSON and Parquet hold."""
        return self

    def take_saved_values(self, values: Any) -> None:
        """Put these values back."""

    def table(self, *, whole: bool = False, **options: Any) -> Table:
        """Return the table that the command prints, the first if there are several; `whole`: that of CSV."""
        return self._written(options, whole=whole)[0]

    def printed_tables(self, **options: Any) -> list[Table]:
        """Return the tables that the command prints, usually one."""
        return self._written(options)

    def text(self, form: str = "table", *, to_file: bool = True, **options: Any) -> str:
        """Return the result as text: all of it, or what fits the terminal that standard output is.

        Parameters
        ----------
        form : {"table", "csv", "tsv", "latex", "markdown", "html"}, default "table"
            Format.
        to_file : bool, default True
            Whether the text is for a file, which takes every row and column.
        **options
            Options of the table, such as `per_query=True`.
        """
        from leadline.render import render

        tables = self._written(options, whole=form in ("csv", "tsv"))
        return "\n".join(render(table, form, to_file=to_file) for table in tables)

    def __str__(self) -> str:
        """Return the table as text, without truncation, as the command writes it to a file."""
        return self.text().removesuffix("\n")

    def _repr_html_(self) -> str:
        return self.to_html()

    def _returned(self, form: str, path: Any, options: Mapping[str, Any]) -> str:
        """Return a text form; refuse the path that the same method of pandas takes."""
        if path is not None:
            target = "path"
            if isinstance(path, (str, os.PathLike)):
                name = os.fspath(path)
                if BY_SUFFIX.get(suffix_of(name)) != form:  # `write` goes by the suffix
                    own = next(suffix for suffix, one in BY_SUFFIX.items() if one == form)
                    name = os.path.splitext(name)[0] + own
                target = repr(name)
            raise UsageError(f"`to_{form}` returns text and does not write a file. Use `write({target})`")
        return self.text(form, **options)

    def to_html(self, path: None = None, /, **options: Any) -> str:
        """Return the table as HTML."""
        return self._returned("html", path, options)

    def to_latex(self, path: None = None, /, **options: Any) -> str:
        """Return the table as LaTeX (package booktabs)."""
        return self._returned("latex", path, options)

    def to_markdown(self, path: None = None, /, **options: Any) -> str:
        """Return the table as Markdown."""
        return self._returned("markdown", path, options)

    def to_csv(self, path: None = None, /, **options: Any) -> str:
        """Return the result as CSV, with numbers in full precision."""
        return self._returned("csv", path, options)

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
        from leadline.io.saved_results import arrow_table

        return make_frame(arrow_table, self.to_columns(*args, **options))

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        labels: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Figure:
        """Draw the figure of the command.

        Font size, colors and width are those of the user's matplotlibrc, where it sets them.

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
        from leadline.charts import form_of, labelled, picture, width_of_user
        from leadline.io.write import checked_path, write_bytes

        require("figures")
        check_arguments(Result.plot, (), {"labels": labels})
        make = figure_of(self, **options)
        path = None if path is None else checked_path(path, expected="a path")
        form = None if path is None else form_of(path)
        refuse_sources(path or "", self.sources)
        with labelled(checked_labels(self, dict(labels or {}))):
            try:
                figure = make(width_of_user())
            except UsageError as error:
                name_keywords(error, type(self)._figure)  # noqa: SLF001  # defined below
                raise
            if path is not None and form is not None:
                write_bytes(path, picture(figure, form))
        return figure

    def _figure(self, *_: Any, **__: Any) -> Make:
        """Return the function that draws the result."""
        raise UsageError("this result has no figure")

    def _labelled(self) -> Sequence[str]:
        """Return the names that the figure may show, usually of runs."""
        names: Sequence[str] = getattr(self, "names", ())
        return names

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the result to a file atomically.

        Parameters
        ----------
        path : path
            File whose suffix gives the format: .txt, .csv, .tsv, .tex, .md, .html, .json, .jsonl, .parquet,
            .svg, .pdf or .png. JSON and Parquet hold the whole result.
        **options
            Options of `table`, `to_columns` or `plot`, such as `per_query=True`.

        Raises
        ------
        UsageError
            If the suffix is unknown or the file cannot be written.

        """
        from leadline.io.write import checked_path, write_bytes

        name = checked_path(path, expected="a path")
        refuse_sources(name, self.sources)
        suffix = suffix_of(name)
        form = "table" if suffix == ".txt" else BY_SUFFIX.get(suffix)
        if form is None:
            given = f", not '{suffix}'" if suffix else ""
            raise UsageError(f"{name}: the suffix must be {either(['.txt', *BY_SUFFIX])}{given}")
        if form == "figure":
            self.plot(name, **options)
        else:
            write_bytes(name, self._content(form, options))

    def _content(self, form: str, options: Mapping[str, Any]) -> bytes:
        from leadline.io.saved_results import json_lines, saved_json, saved_parquet

        if form == "json":
            check_options(self, "to_dict", options, self.to_dict)
            return saved_json(View(self, lines=""), self._about())
        if form == "parquet":
            check_options(self, "to_columns", options, self.to_columns)
            return saved_parquet(View(self, lines=""), self._about())
        rows = form == "jsonl"
        text = (
            json_lines(self.to_rows(**options))
            if rows
            else View(self, dict(options)).text(form, to_file=True)
        )
        return text.encode("utf-8", "surrogateescape")


def options_of_figure(result: Result) -> frozenset[str]:
    """Return the names of the options of the figure of a result."""
    return frozenset(inspect.signature(result._figure).parameters)  # noqa: SLF001  # defined above


def figure_of(result: Result, **options: Any) -> Make:
    """Return the function that draws a result; raise UsageError if it has no figure or no such option."""
    if type(result)._figure is not Result._figure:  # noqa: SLF001  # defined above
        check_options(result, "plot", options, result._figure)  # noqa: SLF001
    return result._figure(**options)  # noqa: SLF001


def checked_labels(
    result: Result, labels: Mapping[str, str], more: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the labels of the runs of a result; raise UsageError for a label of another run."""
    names = result._labelled()  # noqa: SLF001  # defined above
    for name in labels:
        if name not in names:
            meant = did_you_mean(name, names, cutoff=0.0)
            found = f"there is a label for '{name}', but nothing in the result has that name"
            raise UsageError(sentences(found, *filter(None, [meant])))
    return dict(more or {}) | dict(labels)


def check_options(
    result: Result, method: str, options: Mapping[str, Any], *functions: Callable[..., Any]
) -> None:
    """Raise UnknownOptionError for an option that none of the functions behind a method has."""
    allowed = dict.fromkeys(
        parameter.name
        for function in functions
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    )
    for name in options:
        if name not in allowed:
            choice = f"Use {either(allowed)}." if allowed else "It takes no options."
            raise UnknownOptionError(f"{type(result).__name__}.{method} has no option '{name}'. {choice}")


def _parsed(name: str, text: str) -> dict[str, Any]:
    """Return the JSON object that `to_json` of a class gave."""
    import json

    needed = f"Pass what {name}.to_json returned."
    if not isinstance(text, (str, bytes)):
        raise UsageError(f"from_json needs the JSON as text, not an object of type {type(text).__name__}")
    try:
        data = json.loads(text)
    except (RecursionError, ValueError) as error:
        raise UsageError(f"invalid JSON ({error}). {needed}") from None
    if not isinstance(data, dict):
        raise UsageError(f"the JSON must be an object, but its type is {type_of(data)}. {needed}")
    return data


@dataclass(repr=False, eq=False)
class Facts(Result):
    """What a command did or found, as one table and the keys of its JSON.

    Attributes
    ----------
    sheet : Table
        The table; warnings are added to its notes.
    found : dict
        The keys.
    """

    sheet: Table
    found: dict[str, Any] = field(default_factory=dict)

    def _columns(self) -> list[Column]:
        return columns_of(self.sheet.columns, self.sheet.rows)

    def _tables(self) -> list[Table]:
        rows: list[list[Cell]] = [
            [Preformatted(f"{cell:,}") if type(cell) is int else cell for cell in row]
            for row in self.sheet.rows
        ]
        return [
            replace(self.sheet, rows=rows, notes=list(dict.fromkeys([*self.sheet.notes, *self._notes()])))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the keys of the JSON."""
        return self.found
