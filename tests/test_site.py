"""The site: built strictly where MkDocs is installed; its figures and notebooks are those of its scripts."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import REPOSITORY

DOCS = REPOSITORY / "docs"
ELSEWHERE = re.compile(r"^(https?:)?//")


class Addresses(HTMLParser):
    """The addresses that a page loads or links to, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag in {"script", "img", "iframe", "source"} and "src" in found:
            self.loaded.append(found["src"])
        if tag == "link" and found.get("rel") in {"stylesheet", "icon", "preload"}:
            self.loaded.append(found["href"])
        if tag == "a" and "href" in found:
            self.linked.append(found["href"])


def addresses(page: Path) -> Addresses:
    """Read a page of the site."""
    found = Addresses()
    found.feed(page.read_text("utf-8"))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site."""
    pytest.importorskip("material", reason="mkdocs-material is not installed: make site")
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere_and_its_links_lead_somewhere(site: Path) -> None:
    pages = {page: addresses(page) for page in site.rglob("*.html")}
    assert len(pages) > 40
    wrong = []
    for page, found in pages.items():
        for address in [*found.loaded, *found.linked]:
            path, _, anchor = address.partition("#")
            if ELSEWHERE.match(address):
                wrong += [(page.name, address)] if address in found.loaded else []
                continue
            if re.match(r"(data|mailto|javascript):", address):
                continue
            target = Path(os.path.normpath(page.parent / path)) if path else page
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                wrong.append((page.name, address))
    assert wrong == []


@pytest.mark.slow
def test_search_works_without_a_server(site: Path) -> None:
    assert (site / "search" / "search_index.js").exists()


@pytest.mark.slow
def test_the_page_for_missing_pages_is_complete_when_opened_from_a_disk(site: Path) -> None:
    text = (site / "404.html").read_text("utf-8")
    assert not re.findall(r'(?:href=|src=|: |\()"/(?!/)[^"]*"', text)


@pytest.mark.slow
def test_tabs_replace_the_menu_button_on_a_screen_of_1200_pixels(site: Path) -> None:
    (style,) = (site / "assets" / "stylesheets").glob("main.*.css")
    (hidden,) = re.findall(
        r"@media screen and \(max-width:([\d.]+)em\)\{\.md-tabs\{display:none\}\}", style.read_text("utf-8")
    )
    assert float(hidden) * 16 < 1200  # an em of these limits is 16 pixels
    (script,) = (site / "assets" / "javascripts").glob("bundle.*.js")
    wide = {float(width) * 16 for width in re.findall(r"min-width: ([\d.]+)em", script.read_text("utf-8"))}
    assert max(wide) == pytest.approx(float(hidden) * 16, abs=1)


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r"[\w/-]+\.(?:md|ipynb)", (REPOSITORY / "mkdocs.yml").read_text("utf-8"))
    assert len(listed) == len(set(listed))
    settings = re.findall(r"^(\w+):", (REPOSITORY / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    assert {"validation", "theme", "plugins", "markdown_extensions", "nav"} <= set(settings)
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert pages - set(listed) == set()


def test_the_figures_are_those_of_the_script() -> None:
    module = runpy.run_path(str(DOCS / "figures.py"))
    names = {figure.file for figure in module["FIGURES"]} | {f"{name}.png" for name in module["PAGES"]}
    names.add("growth.svg")  # drawn by benchmarks/growth.py
    assert names == {path.name for path in (DOCS / "figures").iterdir()}
    assert sum(path.stat().st_size for path in (DOCS / "figures").iterdir()) < 1.5e6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_figure_of_the_gallery_is_drawn_by_its_command(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    module = runpy.run_path(str(DOCS / "figures.py"))
    chosen = [figure for figure in module["FIGURES"] if figure.name in {"agreement", "pairs"}]
    for path in module["draw"](chosen, str(tmp_path)):
        assert Path(path).read_text("utf-8").startswith("<?xml")
    shutil.rmtree(tmp_path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_cells_of_a_notebook_run_and_it_holds_their_outputs(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    names: dict[str, object] = {}
    for cell in cells:
        lines = ["" if line.startswith("%") else line for line in cell["source"]]  # magics of Jupyter
        exec(compile("".join(lines), path.name, "exec"), names)
    assert sum(bool(cell["outputs"]) for cell in cells) > len(cells) / 2
    assert "error" not in {output["output_type"] for cell in cells for output in cell["outputs"]}
