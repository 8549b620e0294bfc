"""`-o FILE`: the suffix is the format, the screen still shows the table, and a file is whole or absent."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from conftest import Leadline

ASKED = ("evaluate", "qrels.txt", "bm25.run", "-m", "AP", "-m", "RR")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make judgments and a run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\nq2 Q0 d1 1 2 t\nq2 Q0 d2 2 1 t\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.csv", "csv"), ("a.tsv", "tsv"), ("a.tex", "latex"), ("a.md", "markdown"), ("a.html", "html")],
)
def test_a_file_holds_what_the_screen_would_show_in_its_format(
    name: str, form: str, leadline: Leadline
) -> None:
    table = leadline(*ASKED).out
    done = leadline(*ASKED, "-o", name)
    assert (done.status, done.out) == (0, table)
    assert f"wrote {name}\n" in done.err
    assert Path(name).read_text() == leadline(*ASKED, "-f", form).out


def test_several_files_of_several_formats_and_none_on_the_screen(leadline: Leadline) -> None:
    names = ("a.txt", "b.csv.gz", "c.json", "d.svg", "e")
    done = leadline(*ASKED, *(word for name in names for word in ("-o", name)), "-f", "none")
    assert (done.status, done.out) == (0, "")
    assert done.err.count("wrote ") == len(names)
    assert Path("a.txt").read_text() == Path("e").read_text() == leadline(*ASKED).out
    assert gzip.decompress(Path("b.csv.gz").read_bytes()).decode() == leadline(*ASKED, "-f", "csv").out
    assert "queries" in json.loads(Path("c.json").read_text())["runs"][0]
    assert Path("d.svg").read_bytes().startswith(b"<?xml")


def test_a_name_without_a_known_suffix_takes_the_format_of_the_screen(leadline: Leadline) -> None:
    done = leadline(*ASKED, "-f", "trec", "-o", "out.txt", "-o", "out.csv")
    assert Path("out.txt").read_text() == done.out
    assert Path("out.csv").read_text().startswith("run,")


def test_no_file_is_written_when_one_of_them_cannot_be_made(leadline: Leadline, folder: Path) -> None:
    (folder / "bm25.run").write_bytes(b"q1 Q0 d1 1 2 t\nq2 Q0 d2 1 2 t\n")
    (folder / "qrels.txt").write_bytes(b"q1 0 d1 1\nq\xff 0 d2 1\n")
    done = leadline(*ASKED, "-o", "a.csv", "-o", "b.parquet")
    assert (done.status, done.out) == (2, "")
    assert not Path("a.csv").exists()
    assert not Path("b.parquet").exists()


@pytest.mark.parametrize(
    "more",
    [
        ("-o", "a.csv", "-o", "./a.csv"),
        ("-o", "a.gif"),
        ("-o", ""),
        ("-o", "a.xlsx"),
        ("-o", "a.ndjson.gz"),
        ("--figure", "box"),
        ("-o", "bm25.run"),
        ("--plot", "a.svg"),
        ("--save", "a.parquet"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(more: tuple[str, ...], leadline: Leadline) -> None:
    done = leadline(*ASKED, *more)
    assert (done.status, done.err.count("\n"), done.out) == (2, 1, "")


def test_what_a_command_makes_is_its_first_file_and_its_result_the_next(leadline: Leadline) -> None:
    assert leadline("pool", "bm25.run", "--depth", "2", "-o", "pool.tsv", "-o", "facts.csv").status == 0
    assert Path("pool.tsv").read_text().startswith("query_id")
    assert "pool.tsv" not in leadline("pool", "bm25.run", "--depth", "2", "-o", "-").out
