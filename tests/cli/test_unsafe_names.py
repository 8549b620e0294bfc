"""Names that terminals, spreadsheets, Markdown and LaTeX would obey are shown, not obeyed."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Leadline
from leadline.data.table import Table
from leadline.data.wording import cells, folded, shortened, visible
from leadline.io.id_lists import read_labels
from leadline.io.result_files import read_column
from leadline.io.small_tables import unguarded
from leadline.render import render

NAMES = [
    "\x1b[2Jred",
    "up\x9b1A",
    "left\u202efthgir",
    "one\ntwo",
    "bell\x07",
    "\u2066iso",
    "a|b",
    "back\\|slash",
]
SAFE = [visible(name) for name in NAMES]
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FORMULAS = ["=1+1", "+x", "-1", "@sum", "'=quoted", "''-twice", "\tTab", "-", "plain", "'plain'"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make runs with names that a terminal or a table would obey, and stand beside them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\nq2 0 d3 0\nq3 0 d2 1\nq3 0 d1 0\n")
    for place, name in enumerate(NAMES):
        rows = [f"q{query} Q0 d{1 + (query * place) % 3} 1 2 t\n" for query in (1, 2, 3)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    return tmp_path


def runs() -> list[str]:
    return [f"{name}.run" for name in NAMES]


@pytest.mark.parametrize(
    ("command", "form"),
    [
        *product(
            ("evaluate", "compare", "difference", "curve"), ("table", "markdown", "latex", "json", "jsonl")
        ),
        ("report", "latex"),  # its table is that of evaluate; the page is the same in every format
    ],
)
def test_no_result_holds_a_control_character(
    command: str, form: str, folder: Path, leadline: Leadline
) -> None:
    page = ("-m", "AP", "-o", folder / "page.html") if command == "report" else ()
    done = leadline(command, "qrels.txt", *runs(), "-f", form, *page)
    assert done.status == 0
    assert not UNSAFE.search(done.out + done.err)
    if command == "report":
        assert not UNSAFE.search((folder / "page.html").read_text())


@pytest.mark.usefixtures("folder")
def test_json_still_holds_the_names(leadline: Leadline) -> None:
    data = leadline("evaluate", "qrels.txt", *runs(), "-f", "json").data
    assert [run["name"] for run in data["runs"]] == NAMES


@pytest.mark.usefixtures("folder")
def test_errors_and_warnings_show_escapes(leadline: Leadline) -> None:
    done = leadline("evaluate", "qrels.txt", "\x1b[2Jno\u202e\nsuch.run")
    assert done.status == 2
    assert (done.err.count("\n"), "\\x1b[2Jno\\u202e\\nsuch.run" in done.err) == (1, True)
    (Path.cwd() / "x\x1b[31m.run").write_text("q9 Q0 d1 1 2 t\n")
    done = leadline("evaluate", "qrels.txt", "x\x1b[31m.run", "-f", "csv")
    assert "x\\x1b[31m" in done.err
    assert "\x1b" not in done.err


@pytest.mark.usefixtures("folder")
def test_figures_show_escapes(leadline: Leadline) -> None:
    for kind in ("forest", "scatter"):
        done = leadline("compare", "qrels.txt", *runs(), "-o", "p.svg", "--figure", kind)
        assert done.status == 0
        assert not UNSAFE.search(Path("p.svg").read_text())


@pytest.mark.usefixtures("folder")
def test_tables_of_markdown_and_latex_keep_a_row_a_run(leadline: Leadline) -> None:
    lines = leadline("evaluate", "qrels.txt", *runs(), "-m", "AP", "-f", "markdown").out.splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 + len(NAMES)
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table} == {3}
    lines = leadline("evaluate", "qrels.txt", *runs(), "-m", "AP", "-f", "latex").out.splitlines()
    body = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(body) == len(NAMES)
    assert all(line.count("&") == 1 and line.endswith(r"\\") for line in body)


@pytest.mark.parametrize(
    "name", ["a\\|b", "a\\\\|b", "`x`", "[a](b)", "&amp;", "~~gone~~", "$x$", "<b>", "*a*"]
)
def test_markdown_shows_a_name_as_it_is(name: str) -> None:
    if shutil.which("cmark-gfm") is None:
        pytest.skip("cmark-gfm is not installed")
    text = render(Table(["run", "AP"], [[name, 0.5]]), "markdown")
    done = subprocess.run(
        ["cmark-gfm", "-e", "table", "-e", "strikethrough"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )

    found = re.findall(r"<td[^>]*>(.*?)</td>", done.stdout)[0]
    assert "<" not in found
    assert html.unescape(found).replace("\\$", "$") == name


def test_csv_is_written_so_that_no_cell_is_a_formula_and_reads_back(tmp_path: Path) -> None:
    sheet = Table(["run", "AP", "+head"], [[name, -0.5, None] for name in FORMULAS])
    rows = list(csv.reader(io.StringIO(render(sheet, "csv"), newline="")))
    texts = [cell for row in rows for cell in (row[0], row[2])]
    assert not [text for text in texts if len(text) > 1 and text[0] in "=+-@\t\r"]
    assert {row[1] for row in rows[1:]} == {"-0.5"}, "numbers stay numbers"
    path = tmp_path / "result.csv"
    path.write_text(render(sheet, "csv"), newline="")
    assert list(read_column(f"{path}:AP").values) == FORMULAS
    assert list(read_labels(f"{path}:AP")) == FORMULAS


@given(st.text(alphabet="=+-@'\t\r\nab1", max_size=6))
def test_a_cell_of_csv_reads_back_exactly(name: str) -> None:
    text = render(Table(["run"], [[name]]), "csv")
    cell = next(iter(list(csv.reader(io.StringIO(text, newline="")))[1:]), [""])
    assert unguarded(cell[0] if cell else "") == name
    assert not re.match(r"[=+\-@\t\r].", cell[0] if cell else "", re.DOTALL)


def test_commands_read_what_they_wrote(tmp_path: Path, leadline: Leadline) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\nq2 0 d1 1\n")
    for place, name in enumerate(("=a", "-b", "'+c", "d")):
        top = "d1" if place % 2 else "d2"
        (tmp_path / f"{name}.run").write_text(f"q1 Q0 {top} 1 2 t\nq2 Q0 d1 2 {place} t\n")
    files = sorted(tmp_path.glob("*.run"))
    for form in ("csv", "json"):
        leadline("evaluate", qrels, *files, "-m", "AP", "-f", form, "-o", tmp_path / f"r.{form}")
    done = leadline("correlate", tmp_path / "r.csv:AP", tmp_path / "r.json:AP", "-f", "json")
    assert (done.data["n"], done.data["pearson"]["value"]) == (4, pytest.approx(1.0))
    assert "\n'=a," in leadline("evaluate", qrels, *files, "-m", "AP", "-f", "csv").out


def test_only_measures_of_quality_have_a_best_value(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    (tmp_path / "a").write_text("q1 Q0 d1 1 2 t\n")
    (tmp_path / "b").write_text("q1 Q0 d2 1 2 t\n")
    words = [word for name in ("AP", "Judged@10", "Unj@5", "RBPResidual(p=0.8)") for word in ("-m", name)]
    table = leadline("evaluate", tmp_path / "q", tmp_path / "a", tmp_path / "b", *words).out
    assert table.partition("\n\n")[0].count("*") == 1
    assert "1.0000*" in table


@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=12), st.integers(8, 20))
def test_shortened_names_fit_and_stay_different(names: list[str], most: int) -> None:
    names = [visible(name) for name in names]
    found = shortened(names, most)
    assert all(cells(text) <= most for text in found)
    assert len(set(found)) == len(set(names))


@given(st.text(max_size=120), st.integers(4, 40))
def test_folded_text_fits_and_loses_only_blanks(text: str, most: int) -> None:
    text = visible(text)
    lines = folded(text, most)
    assert all(cells(line) <= most for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_visible_text_is_safe_for_every_character() -> None:
    whole = "".join(map(chr, range(0x3000)))
    assert not UNSAFE.search(visible(whole))
    assert json.loads(json.dumps(visible(whole)))
