"""One reader of CSV and TSV for whatever is a table: comments, empty lines, quotes, numbers of lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leadline as ll
from leadline.comparison.pairing import read_query_groups
from leadline.errors import InputError
from leadline.io.id_lists import headed_rows, read_labels
from leadline.io.judges import read_judges
from leadline.io.result_files import read_column
from leadline.io.tables import split_place
from leadline.io.texts import read_queries

COMMENTED = "# made by hand\n\n{header}\n# first\n{rows}\n# the end\n"

# What a table is read as, its columns, one row, and what comes of it.
READERS: dict[str, tuple[Callable[[str], Any], str, str, Any]] = {
    "run": (lambda path: ll.read_run(path).to_dict(), "query,document,score", "q1,d1,2", {"q1": {"d1": 2.0}}),
    "qrels": (
        lambda path: ll.read_qrels(path).to_dict(),
        "query,document,grade",
        "q1,d1,1",
        {"q1": {"d1": 1}},
    ),
    "labels": (lambda path: read_labels(f"{path}:team"), "run,team", "a,one", {"a": "one"}),
    "groups": (lambda path: read_query_groups(f"{path}:set"), "query,set", "q1,x", {"q1": "x"}),
    "results": (lambda path: read_column(f"{path}:AP").values, "run,AP", "a,0.5", {"a": 0.5}),
    "rows": (lambda path: list(headed_rows(path)), "arm,click", "a,1", [(5, {"arm": "a", "click": "1"})]),
    "queries": (
        lambda path: [tuple(one)[:3] for one in read_queries(path)],
        "id,text",
        "q1,ships",
        [("q1", "", "ships")],
    ),
    "judges": (
        lambda path: [(one.name, one.qrels.to_dict()) for one in read_judges(f"{path}:ann")],
        "query,document,ann",
        "q1,d1,1",
        [("ann", {"q1": {"d1": 1}})],
    ),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_lines_that_begin_with_a_number_sign_are_comments(name: str, suffix: str, tmp_path: Path) -> None:
    read, header, rows, expected = READERS[name]
    path = tmp_path / f"a.{suffix}"
    text = COMMENTED.format(header=header, rows=rows)
    path.write_text(text.replace(",", "\t") if suffix == "tsv" else text)
    assert read(str(path)) == expected


@pytest.mark.parametrize("name", READERS)
def test_a_row_of_too_few_cells_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    read, header, rows, _ = READERS[name]
    path = tmp_path / "a.csv"
    path.write_text(COMMENTED.format(header=header, rows=rows) + rows.rpartition(",")[0] + "\n")
    with pytest.raises(InputError) as rejected:
        read(str(path))
    cells = header.count(",")
    assert str(rejected.value).startswith(f"{path}:7: {cells} cells; expected {cells + 1} as in the header")


def test_a_comment_inside_quotes_is_text(tmp_path: Path) -> None:
    path = tmp_path / "teams.csv"
    path.write_text('run,team\na,"one\n# two"\nb,three\n')
    assert read_labels(f"{path}:team") == {"a": "one\n# two", "b": "three"}


def test_a_table_of_comments_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "teams.csv"
    path.write_text("# run,team\n# a,one\n")
    with pytest.raises(InputError, match=r"teams\.csv"):
        read_labels(f"{path}:team")


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_query_that_begins_with_a_number_sign_is_written_so_that_it_is_read(
    suffix: str, tmp_path: Path
) -> None:
    run = {"#1": {"#d": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}}
    path = str(tmp_path / f"a{suffix}")
    ll.write_run(ll.read_run(run), path)
    assert ll.read_run(path).to_dict() == run


def test_file_and_column_are_split_where_a_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a:b.csv"
    path.write_text("run,AP\na,1\n")
    assert split_place(str(path)) == (str(path), "")
    assert split_place(f"{path}:AP") == (str(path), "AP")
    assert split_place(f"{path}:R(rel=1):x") == (str(path), "R(rel=1):x")
    assert split_place(f"{tmp_path}/none.csv:AP") == (f"{tmp_path}/none.csv", "AP")
