"""The pages of the studies hold the numbers that were kept, and name the module that writes them."""

from __future__ import annotations

import importlib
import json

import pytest

from leadline_studies import folders_with
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
