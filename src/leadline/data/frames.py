"""Columns of runs and qrels as frames of pandas and polars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.data.result import framed, optional


def pandas_frame(columns: Mapping[str, list[Any]]) -> Any:
    """Return a pandas frame of some columns."""
    return framed(optional("pandas").DataFrame, columns)


def polars_frame(columns: Mapping[str, list[Any]]) -> Any:
    """Return a polars frame of some columns; ids are text also where there are no rows."""
    polars = optional("polars")
    texts = {name: polars.String for name in columns if name in ("query_id", "doc_id", "subtopic")}
    return framed(polars.DataFrame, columns, schema_overrides=texts)
