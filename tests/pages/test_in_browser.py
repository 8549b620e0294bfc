"""Every page in a real browser, from a file: sorting, phone, dark, no network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from leadline.comparison.compare import compare
from leadline.demo import demo_page
from leadline.evaluation.curves import Curves, curve
from leadline.evaluation.evaluate import evaluate
from leadline.evaluation.results import Results
from leadline.pages import report as report_page

JUDGMENTS = {str(query): {"a": 1, "b": 1, "c": 0} for query in range(1, 9)}


def lists(quality: int) -> dict[str, dict[str, float]]:
    """Make lists in which so many queries of eight have the relevant documents on top."""
    good, bad = {"a": 3.0, "b": 2.0, "c": 1.0}, {"c": 3.0, "x": 2.0, "a": 1.0}
    return {str(query): good if query <= quality else bad for query in range(1, 9)}


def demo(results: Results, curves: Curves) -> str:
    """Make the page of the demo."""
    return demo_page(results, curves, collection="eight queries", judgments=24)


def report(results: Results, curves: Curves) -> str:
    """Make the page of a report."""
    inputs = [{"path": "qrels.txt", "rows": 24, "sha256": "0" * 64}]
    return report_page.page(
        compare(results),
        curves.precision,
        judgments=24,
        inputs=inputs,
        again="leadline report",
        latex="\\begin{tabular}",
    )


PICTURES = {demo: 2, report: 1 + 5 * 5}  # report: curves, then five of every measure


@pytest.fixture(scope="module", params=list(PICTURES), ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Callable[[Results, Curves], str]:
    """Return what makes a page."""
    found: Callable[[Results, Curves], str] = request.param
    return found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, make: Callable[[Results, Curves], str]) -> str:
    """Write a page with nine runs, one of a very long name, and give its address."""
    runs = {f"run{quality}": lists(quality) for quality in range(8)}
    runs["a_name_as_long_as_names_of_runs_can_be_" * 3] = lists(8)
    results = evaluate(JUDGMENTS, runs, ["AP", "nDCG@10", "P@2", "R@2", "Judged@10"])
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(make(results, curve(JUDGMENTS, runs)), encoding="utf-8")
    return path.as_uri()


class Visit:
    """One look at the page, and everything that it asked for or complained about."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(address)

    def column(self, place: int) -> list[str]:
        """Return the cells of a column of the first table from the top."""
        cells = self.page.locator("table").first.locator(f"tbody tr > :nth-child({place + 1})")
        found: list[str] = cells.evaluate_all("cells => cells.map(cell => cell.dataset.value)")
        return found


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Visit]:
    """Open the page on a wide screen in the light."""
    found = Visit(browser, address, viewport={"width": 1280, "height": 900})
    yield found
    found.context.close()


def test_it_asks_for_nothing_but_itself_and_complains_of_nothing(visit: Visit, address: str) -> None:
    visit.page.wait_for_load_state("networkidle")
    asked = [url for url in visit.asked if not url.startswith("data:")]
    assert (asked, visit.said) == ([address], [])


def test_a_click_on_a_head_sorts_and_a_second_click_turns_round(visit: Visit) -> None:
    assert visit.column(1) == sorted(visit.column(1), reverse=True)
    head = visit.page.get_by_role("button", name="AP", exact=True)
    head.click()
    assert visit.column(1) == sorted(visit.column(1))
    assert head.locator("..").get_attribute("aria-sort") == "ascending"
    head.click()
    assert visit.column(1) == sorted(visit.column(1), reverse=True)
    assert visit.page.locator("table").first.locator("th[aria-sort]").count() == 1


def test_the_keyboard_sorts_too(visit: Visit) -> None:
    visit.page.get_by_role("button", name="run", exact=True).focus()
    visit.page.keyboard.press("Enter")
    names = visit.column(0)
    assert names == sorted(names)
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Space")
    assert visit.column(1) == sorted(visit.column(1), reverse=True)


@pytest.mark.parametrize("width", [320, 360, 768, 1920])
def test_the_page_never_scrolls_sideways(browser: Any, address: str, width: int) -> None:
    visit = Visit(browser, address, viewport={"width": width, "height": 700})
    scrolled = visit.page.evaluate("document.documentElement.scrollWidth")
    visit.context.close()
    assert scrolled == width


def test_pictures_fit_a_phone(browser: Any, address: str, make: Callable[[Results, Curves], str]) -> None:
    visit = Visit(browser, address, viewport={"width": 360, "height": 700})
    visit.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    boxes = [picture.bounding_box() for picture in visit.page.locator("figure svg").all()]
    visit.context.close()
    assert len(boxes) == PICTURES[make]  # type: ignore[index]  # they are its keys
    assert all(box["x"] >= 0 and 250 < box["width"] <= 360 for box in boxes)


# Every colour that stands on the page's ground, by the rule of WCAG; pictures' text counts as text.
CONTRASTS = """
() => {
  const canvas = document.createElement("canvas").getContext("2d");
  const channels = color => { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const light = color => channels(color).map(c => c / 255)
    .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const ground = node => { for (; node; node = node.parentElement) {
      const color = getComputedStyle(node).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color; } return "white"; };
  const ratio = (node, color) => { const [low, high] = [light(color), light(ground(node))].sort(
      (a, b) => a - b); return (high + .05) / (low + .05); };
  const texts = [...document.querySelectorAll("h1, h2, p, li, th, td, button, caption, code, figcaption")]
    .map(node => [node.tagName, ratio(node, getComputedStyle(node).color)]);
  const labels = [...document.querySelectorAll("svg text")]
    .map(node => ["text", ratio(node, getComputedStyle(node).fill)]);
  const lines = [...document.querySelectorAll("svg g[id*=line2d] path")]
    .map(node => getComputedStyle(node)).filter(style => style.stroke !== "none")
    .filter(style => parseFloat(style.strokeWidth) > 1)
    .map(style => ["line", ratio(document.body, style.stroke)]);
  return {texts: [...texts, ...labels], lines};
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_lines_can_be_read(browser: Any, address: str, scheme: str) -> None:
    visit = Visit(browser, address, color_scheme=scheme)
    found = visit.page.evaluate(CONTRASTS)
    ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    visit.context.close()
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(21, 24, 27)")
    assert len(found["texts"]) > 100
    assert len(found["lines"]) >= 5
    assert [entry for entry in found["texts"] if entry[1] < 4.5] == []
    assert [entry for entry in found["lines"] if entry[1] < 2] == []


def test_text_of_table_and_pictures_can_be_selected(visit: Visit) -> None:
    visit.page.keyboard.press("Control+A")
    selected = visit.page.evaluate("String(getSelection())")
    assert "nDCG@10" in selected
    assert "recall" in selected
