"""The pages of the studies hold the numbers that were kept, and are found by the names of their runners."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

PLACE = Path(__file__).resolve().parents[2] / "docs" / "studies"
RUNNERS = {path.stem.replace("_", "-"): path for path in PLACE.glob("[!_]*.py")}
KEPT = sorted(path.stem for path in PLACE.glob("[!_]*.json"))


@pytest.mark.parametrize("name", KEPT)
def test_a_page_holds_the_numbers_that_were_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PLACE)
    spec = importlib.util.spec_from_file_location(f"runner_of_{name}", RUNNERS[name])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kept = json.loads((PLACE / f"{name}.json").read_text(encoding="utf-8"))
    assert module.page(kept) == (PLACE / f"{name}.md").read_text(encoding="utf-8")


def test_a_page_is_called_like_its_runner_and_numbers_says_so_and_is_in_the_index() -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in PLACE.glob("*.md")}
    index = pages.pop("README")
    assert RUNNERS.keys() == pages.keys() == set(KEPT)
    assert [name for name in pages if f"]({name}.md)" not in index] == []
    assert [name for name, text in pages.items() if f"docs/studies/{RUNNERS[name].name}" not in text] == []
