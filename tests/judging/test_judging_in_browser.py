"""Judging in a real browser: fast keys, two judges, crashes on both sides, odd documents, every screen."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Leadline
from judging_pages import GRADES, QUERIES, Files, Server, stored, write
from leadline.estimation.measured_pool import places_of_looks
from leadline.estimation.pool_designs import pool_for
from leadline.io.pool_files import write_drawn_pool
from leadline.io.texts import read_documents, read_queries

MARKED = "WHERE kind = 'judge' ORDER BY events.id"
EVENTS = "SELECT judges.name, grade FROM events JOIN judges ON judges.id = events.judge " + MARKED


class Visit:
    """The page of one judge in a browser profile of its own."""

    def __init__(self, browser: Any, server: Server, judge: str = "ann", **options: Any) -> None:
        self.server = server
        self.address = f"{server.address}/judge?name={judge}"
        self.context = browser.new_context(**options)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page = self.open()

    def open(self) -> Any:
        page = self.context.new_page()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", self.answer)
        page.goto(self.address)
        page.wait_for_selector("#card:not([hidden]), #message:not(:empty)")
        page.wait_for_function("() => document.getElementById('message').textContent.indexOf('...') < 0")
        self.page = page
        return page

    def answer(self, dialog: Any) -> None:
        self.said.append(dialog.message)
        dialog.accept()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def press_as_cards_come(self, number: int) -> None:
        """Judge as a person reads: a key for the next document is pressed when it is shown."""
        for _ in range(number):
            self.page.wait_for_selector("#card:not([hidden])")
            self.press("1")

    def wait(self, text: str = "saved") -> None:
        self.page.wait_for_function("text => document.getElementById('saved').textContent === text", arg=text)

    def finish(self) -> None:
        words = "() => document.getElementById('message').textContent.startsWith('All your')"
        self.page.wait_for_function(words)

    def text(self, name: str) -> str:
        found: str = self.page.inner_text(f"#{name}")
        return found

    @property
    def unused(self) -> int:
        return int(self.page.evaluate("document.body.dataset.unused"))

    @property
    def pressed(self) -> list[str]:
        """Return the grades that are marked as given."""
        buttons = self.page.locator('.grade[aria-pressed="true"]')
        found: list[str] = buttons.evaluate_all("all => all.map(one => one.dataset.grade)")
        return found


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Visit]]:
    made: list[Visit] = []

    def open_one(server: Server, judge: str = "ann", **options: Any) -> Visit:
        made.append(Visit(browser, server, judge, **options))
        return made[-1]

    yield open_one
    for one in made:
        one.context.close()


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write(tmp_path)


@pytest.fixture
def server(files: Files) -> Iterator[Server]:
    with Server(files, "--grades", GRADES) as found:
        yield found


@pytest.fixture
def cranfield(shared_data: Path, tmp_path: Path) -> Files:
    """Make a pool of ten queries of Cranfield, fifteen documents each."""
    folder = shared_data / "cranfield"
    documents = [row._asdict() for row in read_documents(str(folder / "docs.jsonl"))]
    queries = [row._asdict() for row in read_queries(str(folder / "queries.jsonl"))][:10]
    pairs = [
        (query["id"], documents[(place * 97 + step * 31) % len(documents)]["id"])
        for place, query in enumerate(queries)
        for step in range(15)
    ]
    rows = [{"doc_id": row["id"], "title": row["title"], "text": row["text"]} for row in documents]
    asked = [{"query_id": row["id"], "text": row["text"]} for row in queries]
    return write(tmp_path, rows, asked, pairs)


def test_two_judges_judge_at_once_by_fast_keys_and_every_key_counts(
    cranfield: Files, visit: Callable[..., Visit], leadline: Leadline, tmp_path: Path
) -> None:
    typed = {
        "ann": [str(place % 3) for place in range(150)],
        "bob": [str(place % 2 * 2) for place in range(150)],
    }
    with Server(cranfield, "--grades", GRADES) as server:
        judges = {name: visit(server, name) for name in typed}
        for ann, bob in zip(*typed.values(), strict=True):
            judges["ann"].press(ann)
            judges["bob"].press(bob)
        for one in judges.values():
            one.wait()
            one.finish()
            assert one.unused == 0
            assert one.text("message") == "All your documents are judged. Thank you."
            assert one.text("count") == "150 of 150"
        found = stored(cranfield.store, EVENTS)
        assert {name: [str(grade) for who, grade in found if who == name] for name in typed} == typed
        progress = judges["ann"].context.new_page()
        progress.goto(server.address + "/progress")
        progress.wait_for_selector("text=Cohen's kappa")
        assert (
            "150 of 150 documents judged by at least one judge, 10 of 10 queries complete"
            in progress.inner_text("main")
        )
        assert [one.said for one in judges.values()] == [[], []]
        assert all(url.startswith(server.address) for one in judges.values() for url in one.asked)
    qrels, run = tmp_path / "qrels.txt", tmp_path / "all.run"
    assert leadline("judge", "--store", cranfield.store, "--export", qrels).status == 0
    lines = [line.split() for line in Path(qrels).read_text().splitlines()]
    assert len(lines) == 150
    run.write_text(
        "".join(f"{query} Q0 {name} 1 {place} all\n" for place, (query, _, name, _) in enumerate(lines))
    )
    for judgments in (qrels, cranfield.store):
        result = leadline("evaluate", judgments, run, "-m", "P@5", "-m", "nDCG@10", "-f", "json")
        assert result.status == 0
        assert result.data["runs"][0]["counts"]["unjudged_documents"] == 0


def test_keys_that_come_within_one_blink_all_count(cranfield: Files, visit: Callable[..., Visit]) -> None:
    with Server(cranfield, "--grades", GRADES) as server:
        judge = visit(server)
        judge.page.wait_for_function("() => cards.length >= 40")
        judge.page.evaluate("""() => { for (let place = 0; place < 40; place++)
            document.dispatchEvent(new KeyboardEvent("keydown", {key: String(place % 3)})); }""")
        judge.wait()
        assert [grade for _, grade in stored(cranfield.store, EVENTS)] == [place % 3 for place in range(40)]


def test_a_key_held_down_judges_once(server: Server, files: Files, visit: Callable[..., Visit]) -> None:
    judge = visit(server)
    for _ in range(10):  # playwright repeats a key that is down already
        judge.page.keyboard.down("1")
    judge.page.keyboard.up("1")
    judge.wait()
    assert len(stored(files.store)) == 1


def test_undo_shows_the_document_again_with_its_grade_and_note(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    titles = [judge.text("title")]
    judge.press("1")
    titles.append(judge.text("title"))
    judge.press("n")
    judge.page.keyboard.type("u 2 s: keys are letters here")
    judge.press("Escape", "2", "u")
    assert judge.text("title") == titles[1]
    assert judge.pressed == ["2"]
    assert judge.page.input_value("#note") == "u 2 s: keys are letters here"
    judge.press("u")
    assert (judge.text("title"), judge.pressed) == (titles[0], ["1"])
    judge.press("u")
    assert judge.text("hint") == "There is nothing to undo."
    judge.press("0")
    judge.wait()
    assert [row[3] for row in stored(files.store)] == [0]
    assert [kind for (kind,) in stored(files.store, "SELECT kind FROM events")] == [
        "judge",
        "judge",
        "undo",
        "undo",
        "judge",
    ]


def test_a_judge_looks_back_and_a_grade_there_replaces_the_old_one(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    first = judge.text("title")
    judge.press("0", "1")
    third = judge.text("title")
    judge.press("n")
    judge.page.keyboard.type("begun")
    judge.press("Escape", "ArrowLeft", "ArrowLeft")
    assert judge.page.input_value("#note") == ""
    assert (judge.text("title"), judge.pressed, "judged before" in judge.text("flags")) == (
        first,
        ["0"],
        True,
    )
    judge.press("2")
    assert (judge.text("title"), judge.page.input_value("#note")) == (third, "begun")
    judge.wait()
    assert sorted(row[3] for row in stored(files.store)) == [1, 2]
    judge.press("u")  # takes the second grade back: the first one stands again
    assert (judge.text("title"), judge.pressed) == (first, ["0"])
    judge.wait()
    assert sorted(row[3] for row in stored(files.store)) == [0, 1]
    judge.press("ArrowRight", "ArrowRight", "ArrowRight")
    assert judge.text("title") == third
    assert judge.text("hint") == "S skips this document."


def test_the_mouse_does_what_keys_do(server: Server, files: Files, visit: Callable[..., Visit]) -> None:
    judge = visit(server)
    first = judge.text("title")
    judge.page.click('.grade[data-grade="2"]')
    judge.press(" ")  # scrolls; the button that was clicked does not judge again
    judge.page.click("#undo")
    assert judge.text("title") == first
    judge.page.click("#skip")
    judge.page.click("#write")
    judge.page.fill("#note", "by mouse")
    judge.page.click('.grade[data-grade="1"]')
    judge.page.click("#help")
    assert judge.page.is_visible("#keys")
    judge.press("1", "Escape")
    judge.wait()
    assert stored(files.store, "SELECT grade, note FROM judgments") == [(1, "by mouse")]


def test_what_was_skipped_comes_again_at_the_end(server: Server, visit: Callable[..., Visit]) -> None:
    judge = visit(server)
    skipped = (judge.text("query"), judge.text("title"))
    judge.press("s", "ArrowLeft")
    assert (judge.text("title"), "skipped before" in judge.text("flags")) == (skipped[1], True)
    judge.press("s")
    judge.press_as_cards_come(23)
    judge.page.wait_for_selector("#card:not([hidden])")
    assert (judge.text("query"), judge.text("title")) == skipped
    assert "skipped before" in judge.text("flags")
    judge.press("s")
    judge.page.wait_for_selector("#card:not([hidden])")
    judge.press("1")
    judge.wait()
    judge.finish()


def test_a_reload_goes_on_where_the_judge_was(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press("0", "1", "2", "s")
    here = judge.text("title")
    judge.wait()
    judge.page.reload()
    judge.page.wait_for_selector("#card:not([hidden])")
    assert (judge.text("title"), judge.text("count")) == (here, "3 of 24 (1 skipped)")
    judge.press("u", "u")
    assert judge.pressed == ["2"]
    judge.press("1")
    judge.wait()
    assert sorted(row[3] for row in stored(files.store)) == [0, 1, 1]


def test_a_page_outlives_the_server_and_sends_what_was_judged_meanwhile(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press("0", "1")
    judge.wait()
    server.stop(signal.SIGKILL)
    judge.press("2", "2", "1", "u", "0")
    judge.page.wait_for_function("() => document.getElementById('saved').textContent.includes('not saved')")
    assert judge.text("saved") == "5 not saved (the server does not answer), trying again"
    assert len(stored(files.store)) == 2
    with Server(files, port=server.port):
        judge.wait()
        assert [
            row[3]
            for row in stored(files.store, "SELECT judge, query, document, grade FROM judgments ORDER BY id")
        ] == [0, 1, 2, 2, 0]
        assert judge.text("count") == "5 of 24"


def test_a_crash_of_browser_and_server_loses_nothing(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    server.stop(signal.SIGKILL)
    judge.press("2", "1", "2")
    judge.page.close()  # as a crash does: nothing is asked
    assert stored(files.store) == []
    with Server(files, port=server.port):
        page = judge.open()
        judge.wait()
        assert sorted(row[3] for row in stored(files.store)) == [1, 2, 2]
        assert judge.text("count") == "3 of 24"
        judge.press("u")
        assert judge.pressed == ["2"]
        assert page.evaluate("localStorage.length") in (0, 1)


def test_a_tab_asks_before_it_closes_only_if_the_server_does_not_save(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    assert judge.text("saved") == ""
    judge.press("1", "n")
    judge.page.keyboard.type("half a thought")
    judge.page.reload()  # at once, while the judgment is on its way
    judge.wait()
    judge.page.wait_for_selector("#card:not([hidden])")  # the judgment may be saved before the cards come
    assert (judge.said, judge.page.input_value("#note")) == ([], "half a thought")
    assert len(stored(files.store)) == 1
    server.stop(signal.SIGKILL)
    judge.press("1")
    judge.page.wait_for_function("() => document.getElementById('saved').textContent.includes('not saved')")
    assert not judge.page.evaluate("window.dispatchEvent(new Event('beforeunload', {cancelable: true}))")


def test_what_was_judged_just_before_the_page_is_left_is_saved(
    cranfield: Files, visit: Callable[..., Visit]
) -> None:
    with Server(cranfield, "--grades", GRADES) as server:
        judge = visit(server)
        judge.page.wait_for_function("() => cards.length >= 40")
        judge.page.evaluate("""() => { for (let place = 0; place < 30; place++)
            document.dispatchEvent(new KeyboardEvent("keydown", {key: String(place % 3)}));
            location = "/progress"; }""")
        judge.page.wait_for_function("() => document.getElementById('whole').textContent.startsWith('30 of')")
        assert judge.said == []
        assert [grade for _, grade in stored(cranfield.store, EVENTS)] == [place % 3 for place in range(30)]


def test_a_key_without_a_document_is_told_and_judges_nothing(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press_as_cards_come(24)
    judge.wait()
    judge.finish()
    judge.press("1", "2")
    assert judge.unused == 2
    assert len(stored(files.store)) == 24
    seen = judge.page.locator("button:visible, main a:visible").evaluate_all(
        "all => all.map(one => one.id || one.href)"
    )
    assert seen == [f"{server.address}/progress", "undo", "back", "help"]
    judge.page.click("#undo")
    assert judge.page.is_visible(".grade")
    judge.wait()
    judge.page.goto(server.address)
    assert "Documents to judge: 24" in judge.page.inner_text("main")
    judge.open()
    judge.press("1")
    judge.wait()
    judge.page.goto(server.address)
    assert "All documents have been judged (24)." in judge.page.inner_text("main")


def test_a_second_window_takes_the_queue_over(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    first = judge.page
    judge.press("1")
    judge.open()
    assert "opened in another window" in first.inner_text("#message")
    first.keyboard.press("1")
    judge.press("2")
    judge.wait()
    assert sorted(row[3] for row in stored(files.store)) == [1, 2]


NASTY = [
    {"doc_id": "html", "title": "<img src=x onerror=alert(1)>", "text": "<script>alert(2)</script> wing"},
    {"doc_id": "rtl", "title": "כנף של מטוס", "text": "עילוי של כנף מטוס, wing"},
]


def test_markup_in_a_document_is_text(tmp_path: Path, visit: Callable[..., Visit]) -> None:
    query = "<u>wing</u><script>alert(3)</script>"
    files = write(tmp_path, NASTY[:1], [{"query_id": "q", "text": query, "description": "<i>why</i>"}])
    with Server(files) as server:
        judge = visit(server)
        judge.press("d")
        assert judge.text("title") == NASTY[0]["title"]
        assert judge.text("text") == NASTY[0]["text"]
        assert judge.text("query") == query
        assert judge.text("more").endswith("<i>why</i>")
        assert judge.page.locator("article img, article script, header i, header u").count() == 0
        assert judge.said == []


def test_text_from_right_to_left_runs_so(tmp_path: Path, visit: Callable[..., Visit]) -> None:
    files = write(tmp_path, NASTY[1:], [{"query_id": "q", "text": "כנף"}])
    with Server(files, "--language", "none") as server:
        judge = visit(server)
        for place in ("#query", "#title", "#text div"):
            way = f"getComputedStyle(document.querySelector('{place}')).direction"
            assert judge.page.evaluate(way) == "rtl"
        assert judge.page.locator("#title mark").inner_text() == "כנף"


def test_a_document_of_five_megabytes_is_as_quick_as_any(tmp_path: Path, visit: Callable[..., Visit]) -> None:
    long = {"doc_id": "long", "title": "Long", "text": "wing and tail of a long story " * 170_000 + "THE END"}
    files = write(
        tmp_path,
        [long, {"doc_id": "short", "title": "Short", "text": "wing"}],
        [{"query_id": "q", "text": "wing"}],
    )
    with Server(files) as server:
        judge = visit(server)
        if judge.text("title") == "Short":
            judge.press("1")
        assert judge.text("title") == "Long"
        size = "at('text').textContent.length"
        assert judge.page.evaluate(size) < 60_000
        assert "5,100,007 characters, of which the summary covers only the beginning" in judge.text("card")
        before = judge.page.evaluate(size)
        judge.page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        judge.page.wait_for_function(f"() => {size} > {before}")
        judge.press("1")
        judge.wait()
        assert {row[2] for row in stored(files.store)} >= {"long"}
        assert judge.said == []


def test_a_form_without_the_text_opens_it_on_request_and_that_is_kept(
    files: Files, visit: Callable[..., Visit]
) -> None:
    with Server(files, "--content", "title") as server:
        judge = visit(server)
        assert judge.page.is_hidden("#summary")
        assert judge.page.is_hidden("#full")
        judge.press("1")
        judge.press("t")
        judge.page.wait_for_selector("#text mark")
        judge.press("1")
        judge.wait()
    rows = stored(files.store, "SELECT shown, opened, seconds FROM judgments ORDER BY id")
    assert [row[:2] for row in rows] == [("title", 0), ("title", 1)]
    assert all(0 <= row[2] < 60 for row in rows)


def test_a_judge_comes_in_by_name_and_by_token(files: Files, browser: Any) -> None:
    with Server(files, "--token", "a long token", "--judges", "ann,bob") as server:
        judge = browser.new_context()
        page = judge.new_page()
        page.goto(server.address)
        page.fill("#token", "not the token")
        page.click("button")
        assert "That is not the token." in page.inner_text("main")
        page.goto(f"{server.address}/{server.entry}")
        page.click("text=ann")
        page.wait_for_selector("#card:not([hidden])")
        page.keyboard.press("1")
        page.wait_for_function("() => document.getElementById('saved').textContent === 'saved'")
        judge.close()
    assert [row[0] for row in stored(files.store)] == ["ann"]


def test_no_page_scrolls_sideways_and_the_grades_stay_in_view(
    tmp_path: Path, visit: Callable[..., Visit]
) -> None:
    word = "Donaudampfschifffahrtsgesellschaft" * 6
    document = {"doc_id": word, "title": word, "text": f"{word} wing\n" * 99, "url": word[:190]}
    files = write(tmp_path, [document], [{"query_id": "q", "text": word}])
    grades = "0=not relevant,1=on the subject,2=relevant,3=highly relevant,4=perfect"
    with Server(files, "--grades", grades) as server:
        judge = visit(server, "a" * 60)
        for width in (320, 768, 1920):
            judge.page.set_viewport_size({"width": width, "height": 700})
            judge.page.goto(judge.address)
            judge.page.wait_for_selector("#card:not([hidden])")
            assert judge.page.evaluate("document.documentElement.scrollWidth") == width
            assert judge.page.locator("nav a").last.bounding_box()["x"] < width - 20
            boxes = [button.bounding_box() for button in judge.page.locator(".grade").all()]
            assert len(boxes) == 5
            assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
            assert all(box["height"] >= 44 and box["y"] + box["height"] <= 700 for box in boxes)
            for path in ("/", "/progress"):
                judge.page.goto(server.address + path)
                judge.page.wait_for_load_state("networkidle")
                assert judge.page.evaluate("document.documentElement.scrollWidth") == width


LONG = [{"doc_id": "d-17", "text": "Lift of a wing in flow. " * 200}]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_query_is_cut_with_a_sign_and_all_of_it_can_be_read(
    tmp_path: Path, visit: Callable[..., Visit], width: int
) -> None:
    files = write(tmp_path, LONG, [{"query_id": "q-3", "text": "How does a wing lift? " * 40 + "END"}])
    with Server(files, "--grades", GRADES) as server:
        judge = visit(server, viewport={"width": width, "height": 800})
        cut = "at('query').scrollHeight - at('query').clientHeight"
        assert judge.page.evaluate(cut) > 100
        judge.press("d")
        assert judge.page.evaluate(cut) <= 0
        assert judge.page.evaluate("at('need').clientHeight") < 400
        judge.page.evaluate("at('asked').scrollTo(0, 9999)")
        ends = "name => at(name).getBoundingClientRect().bottom"
        assert judge.page.evaluate(ends, "query") <= judge.page.evaluate(ends, "need")
        judge.page.click("#about")
        assert judge.page.evaluate(cut) > 100
        assert judge.text("facts").split() == ["query", "q-3", "document", "d-17"]
        assert judge.page.locator("#title").bounding_box()["width"] == 1  # of an untitled document: not seen


@pytest.mark.parametrize("width", [390, 1280])
def test_a_note_moves_no_text_and_every_link_and_button_is_there(
    tmp_path: Path, visit: Callable[..., Visit], width: int
) -> None:
    files = write(tmp_path, LONG, QUERIES[:1])
    with Server(files, "--grades", GRADES) as server:
        judge = visit(server, viewport={"width": width, "height": 700}, has_touch=width < 500)
        judge.page.evaluate("window.scrollTo(0, 300)")
        judge.press("n")
        judge.page.keyboard.type("a note")
        assert judge.page.evaluate("window.scrollY") == 300
        judge.press("Enter")
        assert judge.page.inner_text("nav").split() == ["ann", "Home", "Progress"]
        judge.page.click("#help")
        assert judge.page.is_visible("#keys")
        judge.press("Escape", "1")
        judge.wait()
        judge.page.click("text=Progress of all judges")
        judge.page.wait_for_selector("table")
        tables = judge.page.locator(".table").evaluate_all(
            "all => all.map(one => one.scrollWidth - one.clientWidth)"
        )
        assert tables == [0, 0]


def test_nothing_jumps_from_one_document_to_the_next(server: Server, visit: Callable[..., Visit]) -> None:
    judge = visit(server)
    places = """() => [".grades", "#title", "#undo"].map(
        name => document.querySelector(name).getBoundingClientRect().top)"""
    queries, found = set(), []
    for _ in range(24):
        judge.page.wait_for_selector("#card:not([hidden])")
        queries.add(judge.text("query"))
        found.append(judge.page.evaluate(places))
        judge.press("1")
    judge.finish()
    assert len(queries) == 2
    assert found == [found[0]] * 24


CONTRASTS = """
() => {
  const light = color => color.match(/[\\d.]+/g).slice(0, 3).map(c => c / 255)
    .map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const ground = node => { for (; node; node = node.parentElement) {
      const color = getComputedStyle(node).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color; } return "rgb(255, 255, 255)"; };
  return [...document.querySelectorAll("p, h1, h2, span, small, button, kbd, mark, label, th, td, a")]
    .filter(node => node.textContent.trim() && node.checkVisibility()).map(node => {
      const [low, high] = [light(getComputedStyle(node).color), light(ground(node))].sort((a, b) => a - b);
      return [node.tagName + " " + node.textContent.trim().slice(0, 20), (high + .05) / (low + .05)]; });
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(server: Server, visit: Callable[..., Visit], scheme: str) -> None:
    judge = visit(server, color_scheme=scheme)
    judge.press("1", "2", "n", "Escape", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    found = judge.page.evaluate(CONTRASTS)
    for path in ("/", "/progress"):
        judge.page.goto(server.address + path)
        judge.page.wait_for_load_state("networkidle")
        found += judge.page.evaluate(CONTRASTS)
    assert len(found) > 60
    assert [entry for entry in found if entry[1] < 4.5] == []


def test_the_storage_of_the_page_holds_nothing_but_what_is_unsaved(
    server: Server, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press("1", "2", "u")
    judge.wait()
    assert judge.page.evaluate("localStorage.length") == 0
    server.stop(signal.SIGKILL)
    judge.press("2")
    kept = json.loads(judge.page.evaluate("Object.values(localStorage)[0]"))
    assert (kept["kind"], kept["grade"]) == ("judge", 2)


def test_a_judge_sends_nothing_of_a_judge_whose_name_begins_alike(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    lee = visit(server, "ann%20lee")
    server.stop(signal.SIGKILL)
    lee.press("1", "2")
    lee.page.close()
    with Server(files, port=server.port):
        lee.address = lee.address.replace("ann%20lee", "ann")
        lee.open()  # the same browser, another judge
        assert lee.text("saved") == ""
        lee.press("0")
        lee.wait()
        assert [row[0] for row in stored(files.store)] == ["ann"]
        lee.address = lee.address.replace("name=ann", "name=ann%20lee")
        lee.open()
        lee.wait()
        assert sorted(row[0] for row in stored(files.store)) == ["ann", "ann lee", "ann lee"]


def test_enter_ends_a_note_and_the_next_digit_is_a_grade(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press("n")
    judge.page.keyboard.type("about 2")
    judge.press("Shift+Enter")
    judge.page.keyboard.type("wings")
    judge.press("Enter")
    assert "press 0, 1 or 2" in judge.text("hint")
    assert stored(files.store) == []
    judge.press("2", "1")
    judge.wait()
    query = "SELECT grade, note FROM judgments ORDER BY id"
    assert stored(files.store, query) == [(2, "about 2\nwings"), (1, "")]
    assert judge.page.evaluate("localStorage.length") == 0
    judge.press("n", "2", "Enter")  # a grade that went into a note is told
    assert "not a grade" in judge.text("hint")
    assert len(stored(files.store)) == 2


def test_a_note_on_a_document_judged_before_is_saved_with_its_grade(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press("2", "1", "ArrowLeft", "ArrowLeft", "n")
    judge.page.keyboard.type("on second thought")
    judge.press("Enter")
    assert "saved" in judge.text("hint")
    assert (judge.pressed, judge.page.input_value("#note")) == (["2"], "on second thought")
    judge.wait()
    query = "SELECT grade, note FROM judgments ORDER BY pair = (SELECT min(pair) FROM events), grade"
    assert sorted(stored(files.store, query)) == [(1, ""), (2, "on second thought")]
    judge.press("n")
    judge.page.keyboard.type(", more")
    judge.page.click("#forward")  # leaving it saves it too
    judge.wait()
    assert sorted(stored(files.store, query))[1] == (2, "on second thought, more")
    judge.press("u", "u")
    judge.wait()
    assert sorted(stored(files.store, query)) == [(1, ""), (2, "")]


def test_a_note_without_a_grade_outlives_a_crash_of_the_browser(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press("n")
    judge.page.keyboard.type("half a thought")
    judge.press("Enter")
    judge.page.close()
    judge.open()
    assert judge.page.input_value("#note") == "half a thought"
    judge.press("1")
    judge.wait()
    assert stored(files.store, "SELECT grade, note FROM judgments") == [(1, "half a thought")]


def test_a_skipped_document_comes_back_with_its_note(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press("n")
    judge.page.keyboard.type("cannot be read")
    judge.press("Enter", "s")
    judge.wait()
    while "skipped before" not in judge.text("flags"):
        assert judge.page.input_value("#note") == ""
        judge.press_as_cards_come(1)
        judge.wait()
    assert judge.page.input_value("#note") == "cannot be read"
    judge.press("1")
    judge.finish()
    judge.wait()
    assert stored(files.store, "SELECT note FROM judgments WHERE note > ''") == [("cannot be read",)]


def test_a_note_on_a_skipped_document_waits_for_its_grade_also_after_a_reload(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press("s", "ArrowLeft", "n")
    judge.page.keyboard.type("a scan")
    judge.press("Enter")
    assert "press 0, 1 or 2" in judge.text("hint")
    judge.wait()
    judge.page.close()
    judge.open()
    judge.press("ArrowLeft")
    assert judge.page.input_value("#note") == "a scan"
    judge.press("ArrowRight")
    while "skipped before" not in judge.text("flags"):
        judge.press_as_cards_come(1)
        judge.wait()
    judge.press("1")
    judge.finish()
    judge.wait()
    assert stored(files.store, "SELECT note FROM judgments WHERE note > ''") == [("a scan",)]


def test_enter_that_chooses_a_word_of_an_input_method_does_not_end_the_note(
    server: Server, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press("n")
    pressed = """composing => at("note").dispatchEvent(new KeyboardEvent("keydown",
        { key: "Enter", isComposing: composing, bubbles: true, cancelable: true }))"""
    focused = "document.activeElement === at('note')"
    assert judge.page.evaluate(pressed, True)
    assert judge.page.evaluate(focused)
    assert not judge.page.evaluate(pressed, False)
    assert not judge.page.evaluate(focused)


def test_a_clock_that_is_put_back_does_not_change_the_order_of_what_is_sent(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    server.stop(signal.SIGKILL)
    judge.press("2")
    judge.page.close()
    judge.context.add_init_script("const plain = Date.now; Date.now = () => plain() - 86400e3;")
    judge.address += "&again"
    page = judge.context.new_page()
    with Server(files, port=server.port) as again:
        page.route("**/api/events", lambda route: route.abort())
        page.goto(judge.address)
        page.wait_for_selector("#card:not([hidden])")
        pair = page.evaluate("outbox.acts[0].pair")
        page.evaluate("outbox.add({ kind: 'judge', grade: 0, pair: outbox.acts[0].pair })")
        page.close()
        judge.open()
        judge.wait()
        assert again.process.poll() is None
    query = f"SELECT grade FROM events WHERE pair = {pair} ORDER BY id"
    assert stored(files.store, query) == [(2,), (0,)]


def test_a_browser_that_stores_nothing_judges_all_the_same(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.page.close()
    judge.context.add_init_script(
        "for (const name of ['setItem', 'getItem', 'removeItem', 'key'])"
        " Storage.prototype[name] = () => { throw new DOMException('', 'SecurityError'); };"
    )
    judge.open()
    judge.press("1", "2")
    judge.wait()
    assert len(stored(files.store)) == 2
    server.stop(signal.SIGKILL)
    judge.press("1")
    judge.page.wait_for_function("() => !at('hint').hidden")
    assert "keep this page open" in judge.text("hint")


def test_an_answer_that_is_not_of_the_judging_page_saves_nothing(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    answers = iter(["<h1>Sign in to the network</h1>", "{}", '{"saved": []}'])
    asked = []

    def portal(route: Any) -> None:
        asked.append(route.request.url)
        body = next(answers, None)
        if body is None:
            route.continue_()
        else:
            route.fulfill(status=200, body=body)

    judge.page.route("**/api/events", portal)
    judge.press("1")
    judge.page.wait_for_function("() => document.getElementById('saved').textContent.includes('not saved')")
    judge.wait()
    assert len(asked) == 4
    assert len(stored(files.store)) == 1


def test_what_the_server_says_ends_in_one_full_stop(server: Server, visit: Callable[..., Visit]) -> None:
    judge = visit(server)
    judge.page.route("**/api/*", lambda route: route.fulfill(status=503, body="disk full. Free space.\n"))
    judge.press("1")
    judge.page.wait_for_function("() => at('saved').textContent.includes('not saved')")
    assert judge.text("saved") == "1 not saved (disk full. Free space), trying again"
    judge.page.reload()
    judge.page.wait_for_function("() => at('message').textContent.startsWith('Not loaded')")
    assert judge.text("message") == "Not loaded: disk full. Free space. Trying again."


def test_what_is_refused_because_the_store_is_gone_stays_in_the_browser(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.press("1")
    judge.wait()
    Path(files.store).rename(f"{files.store}.away")
    judge.press("2")
    judge.page.wait_for_selector("#trouble:not([hidden])")
    assert "judgments are no longer being saved" in judge.text("trouble")
    assert judge.text("saved") == "1 not saved, trying again"
    Path(f"{files.store}.away").rename(files.store)
    judge.wait()
    assert judge.page.is_hidden("#trouble")
    assert sorted(row[3] for row in stored(files.store)) == [1, 2]


def test_a_document_whose_text_has_changed_is_shown_again(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    server.stop(signal.SIGKILL)
    judge.press("1", "2", "1")
    name = judge.page.evaluate("done[1].card.document")
    docs = Path(files.docs)
    rows = [json.loads(line) for line in docs.read_text().splitlines()]
    for row in rows:
        if row["doc_id"] == name:
            row["text"] = "Another text."
    docs.write_text("\n".join(map(json.dumps, rows)))
    with Server(files, port=server.port):
        judge.wait()
        assert f"the text of document '{name}' has changed" in judge.text("hint")
        assert sorted(row[3] for row in stored(files.store)) == [1, 1]
        assert judge.page.evaluate("localStorage.length") == 0
        judge.press("u", "u", "0", "0")
        judge.wait()
        while judge.text("message") == "":
            if judge.page.evaluate("stage.card.document") == name:
                assert "Another text." in judge.text("card")
            judge.press("2")
            judge.page.wait_for_function(
                "() => document.getElementById('message').textContent.indexOf('...') < 0"
            )
        judge.wait()
    assert len(stored(files.store)) == 24


def test_a_grade_that_the_server_refuses_is_told_and_the_saved_one_stays(
    server: Server, files: Files, visit: Callable[..., Visit]
) -> None:
    judge = visit(server)
    judge.page.evaluate("Outbox.key = () => 'ab'.repeat(16)")
    judge.press("1")
    judge.wait()
    judge.press("ArrowLeft", "2")
    judge.page.wait_for_function("() => at('hint').textContent.startsWith('Not saved')")
    judge.wait()
    judge.press("ArrowLeft")
    assert judge.pressed == ["1"]
    assert [row[3] for row in stored(files.store)] == [1]


def test_a_drawn_pool_is_judged_in_its_order_until_the_rule_stops_it(
    tmp_path: Path, visit: Callable[..., Visit]
) -> None:
    names = [f"d{place:02}" for place in range(24)]
    runs = {
        run: {f"q{query:02}": names[query % step :: step] for query in range(12)}
        for run, step in (("one", 2), ("two", 3))
    }
    pool = pool_for(runs, "P@5", budget=8).pool
    rows = sorted(np.flatnonzero(pool.drawn).tolist(), key=lambda row: float(pool.order[row]))
    pairs = [[pool.queries[row], pool.documents[row]] for row in rows]
    documents = [{"doc_id": name, "title": name, "text": f"text of {name}"} for name in names]
    files = write(tmp_path, documents, [{"query_id": name, "text": name} for name in runs["one"]])
    write_drawn_pool(pool, files.pool, [])
    with Server(files, "--stop-when", "P@5 half-width < 0.5", "-C", "judge.looks=5") as server:
        judge = visit(server)
        shown = []
        for number in range(len(pairs)):
            judge.page.wait_for_function(
                "() => stage.card || at('message').textContent.startsWith('You have judged enough')"
            )
            if judge.text("message"):
                break
            shown.append(judge.page.evaluate("[stage.card.query, stage.card.document]"))
            judge.press(str(number % 2))
        judge.wait()
        look = places_of_looks(len(pairs), 5)[0]
        assert shown == pairs[:look]
        assert look < len(pairs)
        assert f"after {look} of {len(pairs)} documents" in judge.text("message")
        assert len(stored(files.store)) == look
        judge.press("1")
        assert judge.unused == 1
        judge.page.goto(server.address + "/progress")
        judge.page.wait_for_selector("svg.curve")
        assert "Reached after" in judge.text("tables")
        assert judge.said == []


def test_a_second_judge_is_told_who_has_to_judge_first_and_goes_on_by_itself(
    tmp_path: Path, visit: Callable[..., Visit]
) -> None:
    names = [f"d{place:02}" for place in range(24)]
    runs = {"one": {f"q{query:02}": names[query:] + names[:query] for query in range(8)}}
    pool = pool_for(runs, "P@5", budget=4).pool
    documents = [{"doc_id": name, "title": name, "text": f"text of {name}"} for name in names]
    files = write(tmp_path, documents, [{"query_id": name, "text": name} for name in runs["one"]])
    write_drawn_pool(pool, files.pool, [])
    ready = "() => stage.card || at('message').textContent.indexOf('...') < 0"
    with Server(files, "--judges", "ann,bob", "--overlap", "0.5") as server:
        ann = visit(server)
        while not ann.text("message"):
            ann.press("1")
            ann.page.wait_for_function(ready)
        ann.wait()
        done, total = (int(number) for number in ann.text("count").split(" of "))
        assert done < total
        assert f"{total - done} from bob" in ann.text("message")
        ann.page.goto(server.address + "/progress")
        ann.page.wait_for_selector("table")
        rows = ann.page.locator("tr").all_inner_texts()
        assert f"ann\t{done} of {total}\t0\t{total - done}" in "".join(rows)
        ann.page.goto(ann.address)
        ann.page.wait_for_function("() => at('message').textContent.includes('from bob')")
        bob = visit(server, "bob")
        while not bob.text("message"):
            bob.press("0")
            bob.page.wait_for_function(ready)
        bob.finish()
        ended = "() => at('message').textContent.startsWith('All your')"
        while not ann.page.evaluate(ended):  # without a reload; what bob judges comes in several answers
            ann.page.wait_for_function(f"() => stage.card || ({ended})()")
            ann.press("1")
        ann.wait()
        ann.page.wait_for_function(f"() => at('count').textContent === '{total} of {total}'")
        assert ann.said == bob.said == []


RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1200, "dark")])
def test_every_page_passes_the_rules_of_accessibility(
    files: Files, browser: Any, width: int, scheme: str
) -> None:
    """axe-core finds no violation in any state of any page: labels, roles, contrast, headings, focus."""
    axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    script = next(Path(axe.__file__).parent.rglob("axe.min.js")).read_text("utf-8")

    def check(page: Any, state: str) -> None:
        found = page.evaluate("rules => axe.run(document, { runOnly: rules })", RULES)
        violations = [(one["id"], node["html"]) for one in found["violations"] for node in one["nodes"]]
        assert violations == [], state
        assert len(found["passes"]) > 10

    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        bypass_csp=True,
        reduced_motion="reduce",
    )
    context.add_init_script(script)
    with Server(files, "--grades", GRADES) as server:
        page = context.new_page()
        page.goto(server.address)
        check(page, "welcome")
        page.goto(f"{server.address}/nowhere")
        check(page, "error")
        page.goto(f"{server.address}/judge?name=ann")
        page.wait_for_selector("#card:not([hidden])")
        check(page, "card")
        page.keyboard.press("n")
        check(page, "note")
        page.keyboard.type("unsure")
        page.keyboard.press("Enter")
        check(page, "hint")
        page.keyboard.press("1")
        page.keyboard.press("ArrowLeft")
        check(page, "judged before")
        page.keyboard.press("?")
        check(page, "keys")
        page.keyboard.press("Escape")
        page.goto(f"{server.address}/judge?name=bob")
        page.wait_for_selector("#card:not([hidden])")
        page.keyboard.press("2")
        page.goto(f"{server.address}/progress")
        page.wait_for_selector("table")
        check(page, "progress")
    context.close()


def test_the_whole_page_can_be_used_by_keyboard_alone(files: Files, browser: Any) -> None:
    context = browser.new_context()
    with Server(files, "--grades", GRADES) as server:
        page = context.new_page()
        page.goto(server.address)
        # the focus comes after the page has loaded
        page.wait_for_function("() => document.activeElement.id === 'name'")
        page.keyboard.type("eva")
        page.keyboard.press("Enter")
        page.wait_for_selector("#card:not([hidden])")
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate("document.activeElement.id || document.activeElement.dataset.grade || ''")
            )
        shown = page.evaluate(
            "[...document.querySelectorAll('button, a, textarea')].filter(one => one.checkVisibility())"
            ".map(one => one.id || one.dataset.grade || '')"
        )
        assert set(shown) <= reached
        page.focus('.grade[data-grade="1"]')
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.getElementById('bar').value === 1")
        page.wait_for_function("() => document.getElementById('saved').textContent === 'saved'")
    context.close()
    assert [grade for _, grade in stored(files.store, EVENTS)] == [1]
