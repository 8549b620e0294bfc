"""Rows of tables with a header, in every form, and columns that are not there."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from leadline.errors import InputError
from leadline.io.id_lists import headed_rows, need_columns

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
    rows = [(row["arm"], int(row["click"])) for _, row in headed_rows(str(path))]
    assert rows == [("a", 0), ("b", 1)]


def test_parquet_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame({"arm": ["a", "b"], "click": [0, 1]}).write_parquet(path)
    assert [row for _, row in headed_rows(str(path))] == [{"arm": "a", "click": 0}, {"arm": "b", "click": 1}]


def test_a_missing_column_is_named_with_the_nearest() -> None:
    need_columns(["arm", "click"], ["click"], "log.csv", 1)
    with pytest.raises(InputError, match=r"log\.csv:1: no column 'clik'; .*nearest: click"):
        need_columns(["arm", "click"], ["arm", "clik"], "log.csv", 1)
