"""The scripts of docs/studies/seeds.md and docs/time-size-quality.md."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"
SEEDS: dict[str, Any] = runpy.run_path(str(DOCS / "seeds.py"))
KAPPA = ("leadline agreement --table 300,20,10,70",)


@pytest.mark.parametrize(
    ("printed", "out", "expected"),
    [
        ("0.38 0.667", "x 0.3846 0.6667", []),
        ("0.633", "AP = 0.633547", ["0.633"]),
        ("211 6", "6 of 211", []),
        ("5", "nDCG@5 0.3", ["5"]),
    ],
)
def test_a_number_comes_out_if_it_rounds_to_what_is_printed(
    printed: str, out: str, expected: list[str]
) -> None:
    assert SEEDS["missing"](printed, out) == expected


def test_a_row_whose_number_does_not_come_out_is_an_error() -> None:
    row, table = SEEDS["Row"], SEEDS["_table"]
    scott = r"^Scott's pi +[\d.]+"
    assert "0.7759" in table((row("kappa", "0.776", KAPPA, scott),))
    for wrong in (
        row("kappa", "0.777", KAPPA, scott),
        row("kappa", "0.776", KAPPA, scott, "said to differ"),
        row("kappa", "", KAPPA, "^nothing"),
        row("kappa", "", ("leadline agreement --table 1,2",), ".*"),
    ):
        with pytest.raises(LookupError):
            table((wrong,))


def test_the_page_on_time_and_quality_has_the_qualities_that_come_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = runpy.run_path(str(DOCS / "time_size_quality.py"))
    page = (DOCS / "time-size-quality.md").read_text(encoding="utf-8")
    assert all(f"    {command}\n" in page for command in script["COMMANDS"])
    monkeypatch.chdir(tmp_path)
    sizes, qualities = script["indexed"](), script["qualities"]()
    assert all(f"| `{name}` | {size} | " in page for name, size, _ in sizes)
    assert len(qualities) == 5
    for model, value in qualities.items():
        assert f"| `{model}` | {value:.4f} | " in page
