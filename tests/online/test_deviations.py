"""Deviations of clicks from the clickthrough of positions; they are not judgments."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from leadline.errors import InputError
from leadline.io.objects import read_qrels
from leadline.online.logs import click_deviations

LOG = "query,doc,rank,click\n" + "q1,d1,1,1\nq1,d2,2,0\nq1,d2,1,1\nq1,d1,2,0\nq2,d3,1,0\nq2,d4,2,1\n"
COLUMNS = {"document": "doc", "position": "rank", "click": "click"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a log: position 1 is clicked 2 of 3 times, position 2 once of 3."""
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def test_deviations_are_worked_by_hand(log: Path) -> None:
    found = {(one.query, one.document): one for one in click_deviations(log, query="query", **COLUMNS)[0]}
    assert found["q1", "d1"].expected == pytest.approx(2 / 3 + 1 / 3)
    assert found["q1", "d1"].deviation == pytest.approx(0)
    assert found["q2", "d3"].deviation == pytest.approx(-2 / 3)
    assert found["q2", "d4"].deviation == pytest.approx(2 / 3)
    assert found["q2", "d4"].z == pytest.approx((1 - 1 / 3) / math.sqrt(2 / 9))
    assert (found["q1", "d2"].shown, found["q1", "d2"].clicks) == (2, 1)


def test_over_all_rows_the_deviations_cancel(log: Path) -> None:
    for query in (None, "query"):
        found, _ = click_deviations(log, query=query, **COLUMNS)
        assert sum(one.deviation * one.shown for one in found) == pytest.approx(0)
        assert [one.query for one in found] == sorted(one.query for one in found)


def test_what_is_always_clicked_has_no_spread(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("doc,rank,click\nd1,1,3\nd2,1,1\n")
    found, repeated = click_deviations(path, **COLUMNS)
    assert repeated == 1
    assert [one.deviation for one in found] == [0, 0]
    assert all(math.isnan(one.z) for one in found)


def test_a_row_without_a_position_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("doc,rank,click\nd1,1,1\nd2,,0\n")
    with pytest.raises(InputError, match=r"log\.csv:3: the position is missing"):
        click_deviations(path, **COLUMNS)


def test_no_position_may_be_left_empty(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("doc,rank,click\nd1,1,1\nd2,0,0\n")
    with pytest.raises(InputError, match="whole number of at least 1") as error:
        click_deviations(path, **COLUMNS)
    assert "empty" not in str(error.value)


def test_a_missing_column_is_said_with_a_setting_of_this_command(log: Path) -> None:
    with pytest.raises(InputError, match=r"no column 'item'.*--config abtest\.document=COLUMN"):
        click_deviations(log, **COLUMNS | {"document": "item"})
    with pytest.raises(InputError, match=r"no column 'topic'.*--config abtest\.query=COLUMN"):
        click_deviations(log, query="topic", **COLUMNS)


def test_a_record_that_lacks_what_others_have_needs_no_other_column(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"doc": "d1", "rank": 1, "click": 1}\n{"doc": "d2", "rank": 1}\n')
    with pytest.raises(InputError, match=r"log\.jsonl:2: no column 'click'") as refused:
        click_deviations(path, **COLUMNS)
    assert "Choose" not in str(refused.value)


def test_no_reader_of_judgments_takes_them_for_grades(tmp_path: Path) -> None:
    path = tmp_path / "deviations.csv"
    path.write_text("query_id,doc_id,click_deviation,shown,clicks,expected,z\nq1,d1,0.5,2,1,0.5,1.0\n")
    with pytest.raises(
        InputError, match="no grades were found among the columns query_id, doc_id, click_deviation"
    ):
        read_qrels(str(path))
