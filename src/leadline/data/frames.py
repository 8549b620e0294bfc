"""Columns of runs and qrels as frames of pandas and polars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.data.result import optional
from leadline.errors import InputError


def pandas_frame(columns: Mapping[str, list[Any]]) -> Any:
    """Return a pandas frame of some columns."""
    make = optional("pandas").DataFrame
    try:
        return make(dict(columns))
    except UnicodeEncodeError:
        raise _not_unicode() from None


def polars_frame(columns: Mapping[str, list[Any]]) -> Any:
    """Return a polars frame of some columns; ids are text also where there are no rows."""
    polars = optional("polars")
    texts = {name: polars.String for name in columns if name in ("query_id", "doc_id", "subtopic")}
    try:
        return polars.DataFrame(dict(columns), schema_overrides=texts)
    except UnicodeEncodeError:
        raise _not_unicode() from None


def _not_unicode() -> InputError:
    return InputError("an id that is not Unicode", expected="ids of valid UTF-8; `to_dict` keeps any")
