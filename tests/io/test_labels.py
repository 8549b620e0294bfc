"""Tables about runs and documents: labels, ids, results; the line of whatever is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import InputError, UsageError
from leadline.io.id_lists import read_labels, teams_of
from leadline.io.result_files import read_column
from leadline.io.selection import read_document_ids

READERS: dict[str, Callable[[str], Any]] = {
    "labels": lambda path: read_labels(f"{path}:team"),
    "results": lambda path: read_column(f"{path}:team"),
    "documents": read_document_ids,
}


def written(folder: Path, text: str, name: str = "table.tsv") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_the_column_called_run_names_the_run(tmp_path: Path) -> None:
    path = written(tmp_path, "team\trun\none\ta\ntwo\tb\n")
    assert read_labels(f"{path}:team") == {"a": "one", "b": "two"}


def test_cells_in_quotes_may_hold_the_delimiter(tmp_path: Path) -> None:
    path = written(tmp_path, 'run,team\na,"one, and more"\n', "table.csv")
    assert read_labels(f"{path}:team") == {"a": "one, and more"}


@pytest.mark.parametrize("blanks", ["", "\n", "\n\n\n", "\r\n"])
@pytest.mark.parametrize("reader", READERS)
def test_an_error_names_its_line_whatever_blank_lines_stand_before_it(
    reader: str, blanks: str, tmp_path: Path
) -> None:
    path = written(tmp_path, f"{blanks}doc_id\tteam\n{blanks}a\t1\n{blanks}b\n")
    with pytest.raises(InputError, match="the row has 1 cell, but the header has 2") as caught:
        READERS[reader](path)
    assert caught.value.line == 3 + 3 * blanks.count("\n")


def test_a_run_that_comes_again_is_refused_at_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "run\tteam\n\na\t1\n\na\t2\n")
    for reader, words in (
        ("labels", "run 'a' has both '1' and '2' in column 'team'"),
        ("results", "run 'a' appears twice"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            READERS[reader](path)
        assert caught.value.line == 5


def test_a_run_may_be_labelled_twice_alike(tmp_path: Path) -> None:
    path = written(tmp_path, "run\tteam\na\t1\na\t1\n")
    assert read_labels(f"{path}:team") == {"a": "1"}


@pytest.mark.parametrize("text", ["", "\n\n", "run\tteam\n"])
def test_a_table_without_rows_is_refused(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    for reader in ("labels", "results"):
        with pytest.raises(InputError, match=r"contains no rows\. Use a table with a header"):
            READERS[reader](path)


def test_a_quote_that_does_not_end_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, 'run,team\na,"1\nb,2\n', "table.csv")
    with pytest.raises(InputError, match=r"invalid CSV \(unexpected end of data\)\. Quote each cell that"):
        read_labels(f"{path}:team")


def test_a_column_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    path = written(tmp_path, "run\tteam\na\t1\n")
    with pytest.raises(InputError, match=r"no column 'group'\. The columns are run, team"):
        read_labels(f"{path}:group")
    with pytest.raises(UsageError, match="FILE:COLUMN"):
        read_labels("team")


def test_a_run_without_a_team_is_named() -> None:
    with pytest.raises(UsageError, match=r"^1 of 2 runs has no team in t:c \(b\)\."):
        teams_of({"a": "one"}, ["a", "b"], "t:c")
    with pytest.raises(UsageError, match=r"^2 of 3 runs have no team in t:c \(b, c\)\."):
        teams_of({"a": "one", "b": ""}, ["a", "b", "c"], "t:c")


@pytest.mark.parametrize(
    "text", ["d1\n\nd2\n", "doc_id\ttext\nd1\tone\n\nd2\ttwo\n", '{"doc_id": "d1"}\n\n{"id": "d2"}\n']
)
def test_ids_are_read_from_lines_tables_and_json(text: str, tmp_path: Path) -> None:
    assert read_document_ids(written(tmp_path, text)) == ["d1", "d2"]


@pytest.mark.parametrize(("text", "line"), [('{"id": "d1"}\n\n{"id"\n', 3), ("d1\n\n\nd2 d3\n", 4)])
def test_ids_that_are_wrong_are_refused_at_their_line(text: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_document_ids(written(tmp_path, text))
    assert caught.value.line == line


def test_a_file_without_ids_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no document ids"):
        read_document_ids(written(tmp_path, "\n"))
