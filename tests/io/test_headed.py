"""Rows of tables with a header, in every form, and columns that are not there."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from leadline.errors import InputError
from leadline.io.small_tables import column_of, need_columns, records

TEXTS = {
    "log.csv": "arm,click\na,0\nb,1\n",
    "log.tsv": "arm\tclick\na\t0\nb\t1\n",
    "log.jsonl": '{"arm": "a", "click": 0}\n{"arm": "b", "click": 1}\n',
    "log.json": '[{"arm": "a", "click": 0}, {"arm": "b", "click": 1}]',
}


@pytest.mark.parametrize("name", TEXTS)
def test_two_columns_are_a_table_with_a_header_in_every_form(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(TEXTS[name])
    rows = [(row["arm"], int(row["click"])) for _, row in records(str(path))]
    assert rows == [("a", 0), ("b", 1)]


def test_parquet_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame({"arm": ["a", "b"], "click": [0, 1]}).write_parquet(path)
    assert [row for _, row in records(str(path))] == [{"arm": "a", "click": 0}, {"arm": "b", "click": 1}]


def test_a_missing_column_is_named_with_the_nearest() -> None:
    need_columns(["arm", "click"], ["click"], "log.csv", 1)
    with pytest.raises(InputError, match=r"log\.csv:1: no column 'clik'\. Did you mean 'click'"):
        need_columns(["arm", "click"], ["arm", "clik"], "log.csv", 1)
    with pytest.raises(InputError) as found:
        need_columns([], ["click"], "log.json", None)
    assert not found.value.hint, "there is no column to name"


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.jsonl", "log.json", "log.parquet"])
def test_a_column_of_a_table_is_the_same_in_every_form(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name in TEXTS:
        path.write_text(TEXTS[name])
    else:
        pl.DataFrame({"arm": ["a", "b"], "click": [0, 1]}).write_parquet(path)
    found, rows = column_of(f"{path}:click", ("arm",), example="log.csv:click")
    assert found == str(path)
    assert [(key, int(cell)) for _, key, cell in rows] == [("a", 0), ("b", 1)]
    with pytest.raises(InputError, match="arm, click"):
        column_of(f"{path}:clicks", example="log.csv:click")
