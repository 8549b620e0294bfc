"""Results as a command shows them: printed, exported and saved; and tables in their formats."""

from __future__ import annotations

import inspect
import os
import sys
from dataclasses import dataclass, field, replace
from typing import Any

from leadline.data.table import Table
from leadline.data.validation import check_word
from leadline.data.wording import visible
from leadline.errors import UsageError

BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
    ".json": "json",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
    **dict.fromkeys((".svg", ".pdf", ".png"), "figure"),
}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
DATA = ("csv", "tsv")  # tables for programs: every column, and no notes
PAGE = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>leadline</title>\n{}</html>\n'


def render(table: Table, form: str, *, to_file: bool = False) -> str:
    """Return a table in a format; a terminal gets the rows and columns that fit, a file all of them.

    Parameters
    ----------
    table : Table
        Table to write.
    form : {"table", "terminal", "csv", "tsv", "latex", "markdown", "html"}
        Format.
    to_file : bool, default False
        Whether the text goes to a file rather than to standard output.
    """
    on_terminal = not to_file and sys.stdout.isatty()
    from leadline.render import text_formats

    if form == "terminal" or (form == "table" and on_terminal):
        return text_formats.write_terminal(table)
    if form in ("csv", "tsv"):
        text = text_formats.write_csv(table, "," if form == "csv" else "\t")
        return visible(text, lines=True) if on_terminal else text
    writers = {
        "table": text_formats.write_plain,
        "latex": text_formats.write_latex,
        "markdown": text_formats.write_markdown,
        "html": text_formats.write_html,
    }
    check_word(("table", "csv", "tsv", *list(writers)[1:]), form=form)
    return writers[form](table)


def suffix_of(path: str) -> str:
    """Return the suffix that gives the format of a result, before one of compression.

    >>> suffix_of("Means.CSV.gz"), suffix_of("means")
    ('.csv', '')
    """
    stem, suffix = os.path.splitext(path.lower())
    inner = os.path.splitext(stem)[1] if suffix in COMPRESSED else suffix
    if inner == ".parquet" != suffix:
        raise UsageError(
            f"{path}: results in Parquet cannot be compressed. Use a file name that ends in .parquet."
        )
    return inner


@dataclass(repr=False, eq=False)
class View:
    """A result and how a command shows it.

    `more` is a second result below the first; it is what CSV and JSON Lines hold. `lines` are keys of the
    JSON, with + between them, whose entries are the lines of JSON Lines, if the result has no `lines`; * is
    all of the JSON, and empty the rows of the CSV.
    """

    result: Any
    shown: dict[str, Any] = field(default_factory=dict)  # options of its columns and tables
    printed: dict[str, Any] = field(default_factory=dict)  # of the printed tables, where they differ
    json: dict[str, Any] = field(default_factory=dict)  # of its `to_dict`
    extra: dict[str, Any] = field(default_factory=dict)  # further keys of the JSON
    notes: list[str] = field(default_factory=list)  # sentences above those of the table
    tables: dict[str, Table] = field(default_factory=dict)  # instead, by format; "" for others but data
    texts: dict[str, str] = field(default_factory=dict)  # in place of tables, by format
    formats: dict[str, dict[str, Any]] = field(default_factory=dict)  # options of tables in one format
    more: Any = None
    lines: str = "runs"
    figure: dict[str, Any] = field(default_factory=dict)  # options of the figure
    digits: int | None = None  # of printed tables, in place of those of the result

    def data(self, *, whole: bool = False) -> dict[str, Any]:
        """Return the command's own keys of the JSON; with `whole` those that options left out, too."""
        options = self.json
        if whole:
            kept = "per_query" in inspect.signature(self.result.to_dict).parameters
            options = {"per_query": True} if kept and getattr(self.result, "keeps_queries", True) else {}
        data: dict[str, Any] = self.result.to_dict(**options) | self.extra
        return data if self.more is None else data | self.more.to_dict()

    def records(self) -> list[Any]:
        """Return the lines of JSON Lines."""
        own = getattr(self.result if self.more is None else self.more, "lines", None)
        if own is not None:
            return list(own())
        if not self.lines:
            return list(self.result.to_rows(**self.shown))
        data = self.data()
        return [data] if self.lines == "*" else [one for key in self.lines.split("+") for one in data[key]]

    def text(self, form: str, *, to_file: bool) -> str:
        """Return the view in a format that is a table."""
        if form in self.texts:
            return self.texts[form]
        if form in DATA:
            table = self.tables.get(form) or (
                self.result.table(whole=True, **self.shown)
                if self.more is None
                else self.more.table(whole=True)
            )
            return render(table, form, to_file=to_file)
        own = self.tables.get(form) or self.tables.get("")
        options = self.shown | self.printed | self.formats.get(form, {})
        if own is None and not self.notes and self.digits is None:
            text = self.result.text(form, to_file=to_file, **options)
        else:
            tables = [own] if own is not None else self.result.printed_tables(**options)
            if self.digits is not None:
                tables = [replace(table, digits=self.digits) for table in tables]
            first = replace(tables[0], notes=[*self.notes, *tables[0].notes])
            text = "\n".join(render(table, form, to_file=to_file) for table in [first, *tables[1:]])
        if self.more is not None:
            text += "\n" + self.more.text(form, to_file=to_file)
        return PAGE.format(text) if form == "html" else text

    def below(self) -> list[str]:
        """Return the sentences below the printed tables, which data formats lack."""
        own = self.tables.get("")
        tables = [own] if own is not None else self.result.printed_tables(**(self.shown | self.printed))
        parts = [(self.result, tables)]
        parts += [] if self.more is None else [(self.more, self.more.printed_tables())]
        notes = [
            result._in_data(note)  # noqa: SLF001  # as the tables of a result
            for result, made in parts
            for table in made
            for note in table.notes
        ]
        return list(dict.fromkeys([*self.notes, *notes]))
