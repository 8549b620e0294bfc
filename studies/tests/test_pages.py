"""The pages of the studies hold the numbers that were kept, and name the module that writes them."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from leadline_studies import folders_with
from leadline_studies.common import pages
from leadline_studies.common.pages import PAGES

WRITERS = {
    folder: importlib.import_module(f"leadline_studies.{folder}.page") for folder in folders_with("page")
}
KEPT = sorted(path.stem for path in PAGES.glob("[!_]*.json"))


@pytest.mark.parametrize("folder", WRITERS)
def test_a_page_holds_the_numbers_that_were_kept(folder: str) -> None:
    writer = WRITERS[folder]
    kept = json.loads((PAGES / f"{writer.NAME}.json").read_text(encoding="utf-8"))
    assert writer.page(kept) == (PAGES / f"{writer.NAME}.md").read_text(encoding="utf-8")


def test_a_page_is_called_like_its_numbers_names_its_writer_and_is_in_the_index() -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    index = pages.pop("README")
    writers = {writer.NAME: folder for folder, writer in WRITERS.items()}
    assert writers.keys() == pages.keys() == set(KEPT)
    assert [name for name in pages if f"]({name}.md)" not in index] == []
    assert [name for name, text in pages.items() if f"_studies/{writers[name]}/page.py" not in text] == []


def test_pages_are_refused_outside_a_checkout_before_any_study_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def collect(*_: Path) -> pages.Json:
        raise AssertionError("no study is run")

    monkeypatch.setattr(pages, "PAGES", tmp_path / "docs")
    monkeypatch.setattr("sys.argv", ["page", "DATA"])
    with pytest.raises(SystemExit, match="in a checkout"):
        pages.update_page("components", str, collect)
    with pytest.raises(SystemExit, match="in a checkout"):
        pages.read_numbers("components")
