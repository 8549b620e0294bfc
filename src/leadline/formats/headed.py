"""Rows of a table with a header, each as a dictionary: CSV, TSV, JSON, JSON Lines, Parquet."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from leadline.errors import InputError
from leadline.formats import text_tables
from leadline.formats.opening import BOM, PARQUET, first_bytes


def headed_rows(path: str, *, encoding: str = "utf-8") -> text_tables.Rows:
    """Give the rows of a table with their lines (or places) from 1; standard input is CSV or TSV."""
    head = first_bytes(path, 1 << 16)
    start = b"" if head is None else head.removeprefix(BOM).lstrip()
    if start.startswith(PARQUET):
        return text_tables.parquet(path)
    if start.startswith(b"{"):
        return text_tables.json_lines(path, encoding=encoding)
    if start.startswith(b"["):
        return text_tables.json_list(path, encoding=encoding)
    return text_tables.table(path, encoding=encoding, headed=True)


def need_columns(present: Iterable[object], wanted: Sequence[str], path: str, line: int) -> None:
    """Refuse a table that lacks a column; the nearest names are said.

    >>> need_columns(["arm", "clicks"], ["click"], "log.csv", 1)
    Traceback (most recent call last):
        ...
    leadline.errors.InputError: log.csv:1: no column 'click'; expected one of arm, clicks (nearest: clicks)
    """
    names = list(map(str, present))
    for name in wanted:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=2, cutoff=0.5)
            near = f" (nearest: {', '.join(close)})" if close else ""
            raise InputError(
                f"no column '{name}'", expected=f"one of {', '.join(names)}{near}", path=path, line=line
            )  # fmt: skip
