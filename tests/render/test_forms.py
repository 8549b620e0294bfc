"""Every form in which a table is written, on odd letters and odd sizes."""

from __future__ import annotations

import csv
import io
import re
import sys

import pytest

from leadline.data.table import Cell, Limit, Preformatted, Probability, RowLabel, Table
from leadline.render import render
from leadline.render.text_formats import shown

# `-f trec` takes results in place of a table; test_trec.py is about it.
FORMS = ("csv", "html", "latex", "markdown", "table", "terminal")
ODD = ["a|b", "a_b", "a&b", "100%", "[red]x[/]", "Grüße-文", "back\\slash", "{x}~^$#", "x*y", "-"]


def odd_sheet() -> Table:
    """Make a sheet whose names hold every letter that means something to some form."""
    return Table(
        columns=["run", "nDCG_1|2"],
        rows=[[name, place / 8] for place, name in enumerate(ODD)],
        best={(len(ODD) - 1, 1)},
        notes=["", "50% of a_b & [c]"],
    )


def small_sheet() -> Table:
    """Make a sheet with an undefined value and one to mark."""
    return Table(
        columns=["run", "AP", "n"],
        rows=[["first", 0.5, 3], ["second run", None, 12]],
        best={(0, 1)},
        notes=["2 runs"],
    )


def seen(sheet: Table) -> str:
    """Return what a person sees of a table on a terminal: the text without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", render(sheet, "table"))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard output a terminal of eighty columns."""
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _stream: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_plain_table_is_aligned_and_marks_the_best_with_a_star() -> None:
    assert render(small_sheet(), "table") == (
        "run             AP    n\nfirst       0.5000*   3\nsecond run       -   12\n\n* best\n\n2 runs\n"
    )


def test_a_title_stands_above_a_plain_table() -> None:
    assert render(Table(columns=["a"], rows=[["b"]], title="what it is"), "table") == ("what it is\n\na\nb\n")


def test_digits_can_be_chosen() -> None:
    sheet = Table(columns=["run", "AP"], rows=[["a", 2 / 3]], digits=2)
    assert "0.67\n" in render(sheet, "table")
    assert repr(2 / 3) in render(sheet, "csv")


def test_a_cell_for_people_is_a_dash_when_undefined_and_text_as_it_is() -> None:
    assert [shown(cell, 2) for cell in (None, 0.125, 3, "x")] == ["-", "0.12", "3", "x"]


def test_small_numbers_are_told_from_zero() -> None:
    found = [shown(Probability(p), 4) for p in (0.000_086, 0.000_1, 0.0)]
    assert found == ["<0.0001", "0.0001", "0.0000"]
    assert [shown(Limit(end), 4) for end in (-0.000_02, 0.5, 0.0)] == ["-0.00002", "0.5000", "0.0000"]
    probabilities = render(Table(["p"], [[Probability(0.000_086)]]), "csv")
    assert probabilities.split() == ["p", "8.6e-05"]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_ends_in_one_newline_and_has_every_row(form: str) -> None:
    text = render(odd_sheet(), form)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert "Grüße-文" in text
    assert len(text.splitlines()) >= len(ODD) + 1


def test_csv_comes_back_as_it_was() -> None:
    rows = list(csv.reader(io.StringIO(render(odd_sheet(), "csv"))))
    assert rows[0] == ["run", "nDCG_1|2"]
    assert [row[0] for row in rows[1:]] == ODD
    assert [float(row[1]) for row in rows[1:]] == [place / 8 for place in range(len(ODD))]


def test_csv_leaves_undefined_empty_and_writes_no_notes() -> None:
    assert render(small_sheet(), "csv") == "run,AP,n\nfirst,0.5,3\nsecond run,,12\n"


def test_csv_quotes_what_holds_a_comma_a_quote_or_a_newline() -> None:
    names = ["a,b", 'say "x"', "two\nlines"]
    text = render(Table(columns=["run"], rows=[[name] for name in names]), "csv")
    assert [row[0] for row in csv.reader(io.StringIO(text))] == ["run", *names]


def test_markdown_keeps_its_columns_whatever_a_name_holds() -> None:
    lines = render(odd_sheet(), "markdown").splitlines()
    table = lines[: len(ODD) + 2]
    assert {line.replace("\\|", "").count("|") for line in table} == {3}
    assert lines[2].startswith("| a\\|b |")
    assert "a\\_b" in lines[3]
    assert "x\\*y" in lines[10]
    assert lines[len(ODD) + 1].endswith("| **1.1250** |")


def test_latex_escapes_every_letter_that_means_something_to_it() -> None:
    lines = render(odd_sheet(), "latex").splitlines()
    body = lines[4 : 4 + len(ODD)]
    assert lines[2] == r"System & nDCG\_1\textbar{}2 \\"
    assert body[1] == r"a\_b & 0.1250 \\"
    assert body[2] == r"a\&b & 0.2500 \\"
    assert body[3] == r"100\% & 0.3750 \\"
    assert body[6] == r"back\textbackslash{}slash & 0.7500 \\"
    assert body[7] == r"\{x\}\textasciitilde{}\textasciicircum{}\$\# & 0.8750 \\"
    assert body[9] == r"- & \textbf{1.1250} \\"
    assert lines[-1] == "% 50% of a_b & [c]"
    assert "%" not in map(str.strip, lines)


@pytest.mark.usefixtures("terminal")
def test_a_terminal_shows_names_as_they_are_not_as_markup() -> None:
    text = seen(odd_sheet())
    assert all(name in text for name in ODD)
    assert "50% of a_b & [c]" in text


@pytest.mark.usefixtures("terminal")
def test_a_head_of_a_column_is_shown_as_it_is() -> None:
    sheet = Table(columns=["run", "P(rel)[@k]", "[bold]"], rows=[["a", 0.5, 0.5]])
    text = seen(sheet)
    assert "P(rel)[@k]" in text
    assert "[bold]" in text


@pytest.mark.usefixtures("terminal")
def test_very_long_names_are_shortened_on_a_terminal_and_the_numbers_stay() -> None:
    text = seen(Table(columns=["run", "AP"], rows=[["x" * 300, 0.5], ["y", 0.25]]))
    assert max(map(len, text.splitlines())) <= 80
    assert "0.5000" in text
    assert "…" in text


def test_very_long_names_stay_whole_in_text_that_is_kept() -> None:
    assert "x" * 300 in render(Table(columns=["run", "AP"], rows=[["x" * 300, 0.5]]), "table")


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("size", "hidden"), [(26, 0), (27, 2), (143, 118)])
def test_a_terminal_shows_head_and_tail_of_a_long_table(size: int, hidden: int) -> None:
    rows: list[list[Cell]] = [[f"run{place:03d}", place / 200] for place in range(size)]
    text = seen(Table(columns=["run", "AP"], rows=rows))
    shown_rows = [line for line in text.splitlines() if "run0" in line or "run1" in line]
    assert len(shown_rows) == size - hidden
    assert f"run{size - 1:03d}" in text
    assert (f"rows hidden: {hidden}" in text) == bool(hidden)


def test_a_table_without_rows_still_has_its_head() -> None:
    for form in FORMS:
        assert "AP" in render(Table(columns=["run", "AP"], rows=[]), form)


def test_notes_in_markdown_are_paragraphs_and_no_lists() -> None:
    escaped = {"- is better": r"\- is better", "# is worse": r"\# is worse", "> is not": r"\> is not"}
    escaped |= {"1. is better": r"1\. is better", "12) is": r"12\) is", "1.5 is": "1.5 is", "last": "last\n"}
    text = render(Table(columns=["run"], rows=[["a"]], notes=list(escaped)), "markdown")
    assert text.split("\n\n")[1:] == list(escaped.values())


def test_columns_of_text_stand_to_the_left_and_numbers_to_the_right() -> None:
    sheet = Table(
        columns=["run", "query", "score", "AP", "none"],
        rows=[["a", "301", Preformatted("7.5"), 0.5, None], ["a", RowLabel("mean"), "-", None, None]],
    )
    assert render(sheet, "markdown").splitlines()[1] == "| --- | --- | ---: | ---: | ---: |"
    assert render(sheet, "latex").splitlines()[0] == r"\begin{tabular}{llrrr}"


def test_a_label_is_for_people_only() -> None:
    sheet = Table(columns=["query", "AP"], rows=[["mean", 0.5], [RowLabel("mean"), 0.25]])
    assert render(sheet, "csv") == "query,AP\nmean,0.5\n,0.25\n"
    assert render(sheet, "markdown").count("mean") == 2
