"""The page answers its own judges and nobody else, and shows documents as text only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judging_pages import DOCUMENTS, GRADES, QUERIES, Answer, ask, event, stored, write
from leadline.errors import InputError, UsageError
from leadline.io.write import write_whole
from leadline.judging import app as app_module
from leadline.judging.events import parse_event
from leadline.judging.serving import AccessControl
from leadline.judging.startup import JudgingPage, check_forms, check_judges, opened
from leadline.retrieval.index.builder import build_index

NASTY = [
    {"doc_id": "html", "title": "<b>Wing</b>", "text": "<script>alert(1)</script> & a wing \x00\x07 lifts"},
    {"doc_id": "rtl", "title": "כנף", "text": "\u202eכנף wing"},
    {"doc_id": "none", "title": "", "text": ""},
    {"doc_id": "long", "title": "A long one", "text": "wing and tail " * 400_000},
    {"doc_id": "half", "title": "half \ud800", "text": "wing \udfff"},
]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[JudgingPage]:
    files = write(tmp_path)
    with opened(files.pool, files.docs, files.queries, files.store, grades=GRADES) as found:
        yield found


class Judge:
    """What the page of one judge asks."""

    def __init__(self, page: JudgingPage, name: str = "ann", app: Any = None) -> None:
        self.app = app or page.app()
        self.name = name
        self.secret = page.store.secret

    def post(self, path: str, **body: Any) -> Answer:
        body = {"judge": self.name} | body
        return ask(self.app, path, body=body, origin="http://localhost", x_leadline=self.secret)


def test_cards_come_in_the_order_of_the_queue_with_their_queries(
    page: JudgingPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leadline.judging.app.AHEAD", 20)
    judge = Judge(page)
    answer = judge.post("/api/cards", count=30, holding=[], opening=True).data
    cards = answer["cards"]
    assert (len(cards), answer["more"]) == (20, True)
    cards += judge.post("/api/cards", count=30, holding=[card["pair"] for card in cards]).data["cards"]
    assert [card["pair"] for card in cards] == [pair.id for pair in page.queues.upcoming("ann", 24)]
    assert answer["queries"]["q1"] == {
        "id": "q1",
        "text": "wing lift",
        "more": [["description", "How much a wing lifts."]],
    }
    assert answer["acts"] == []
    assert answer["count"] == {"done": 0, "total": 24, "skipped": 0, "version": page.queues.version}


def test_a_card_tells_neither_system_nor_rank(tmp_path: Path) -> None:
    rows = [row | {"rank": "1", "system": "bm25", "score": "7.5", "url": "a.example"} for row in DOCUMENTS]
    files = write(tmp_path, rows)
    with opened(files.pool, files.docs, files.queries, files.store) as found:
        cards = Judge(found).post("/api/cards", count=30).data["cards"]
    assert {tuple(map(tuple, card["facts"])) for card in cards} == {(("url", "a.example"),)}
    assert "probability" not in cards[0]


def test_what_a_judge_did_is_kept_and_comes_back_on_opening(page: JudgingPage) -> None:
    judge = Judge(page)
    acts = [event(1, grade=2, note="sure"), event(2, kind="skip"), event(3)]
    acts.append(event(3, 1, "undo", undoes=acts[2]["key"]))
    answer = judge.post("/api/events", events=acts).data
    assert answer["saved"] == [act["key"] for act in acts]
    assert answer["count"] == {"done": 1, "total": 24, "skipped": 1, "version": page.queues.version}
    assert stored(page.store.path) == [("ann", "q1", "d0", 2)]
    back = judge.post("/api/cards", opening=True).data["acts"]
    assert [(act["kind"], act["grade"], act["note"], act["card"]["document"]) for act in back] == [
        ("judge", 2, "sure", "d0"),
        ("skip", None, "", "d1"),
    ]


def test_a_key_sent_again_with_another_judgment_is_refused_and_the_first_stays(page: JudgingPage) -> None:
    judge = Judge(page)
    first = event(3, grade=1, note="once")
    assert judge.post("/api/events", events=[first]).data["saved"] == [first["key"]]
    assert judge.post("/api/events", events=[first]).data["saved"] == [first["key"]]
    for change in ({"grade": 2}, {"note": "twice"}, {"pair": 4}):
        assert judge.post("/api/events", events=[first | change]).status == 409
    assert [(act.pair, act.grade, act.note) for act in page.store.acts()] == [(3, 1, "once")]


def test_pages_of_words_name_the_judges_and_escape_them(page: JudgingPage) -> None:
    assert ask(page.app(), "/judge?name=eve").status == 200
    assert page.store.judges() == []  # to look is not to judge
    page.queues.join("<i>Ann</i> & Co")
    text = ask(page.app(), "/").text
    assert "&lt;i&gt;Ann&lt;/i&gt; &amp; Co" in text
    assert "<i>" not in text
    shown = ask(page.app(), "/judge?name=%3Ci%3EAnn%3C/i%3E%20%26%20Co").text
    assert 'data-judge="&lt;i&gt;Ann&lt;/i&gt; &amp; Co"' in shown
    assert all(f'data-grade="{grade}"' in shown for grade in (0, 1, 2))


def test_the_first_page_offers_no_name_that_is_not_on_the_list(tmp_path: Path) -> None:
    files = write(tmp_path)
    with opened(*files) as found:
        found.queues.join("eve")
        found.queues.append("eve", [parse_event(event(1))])
    with opened(*files, judges="ann,bob") as found:
        text = ask(found.app(), "/").text
        rows = ask(found.app(), "/api/progress").data["judges"]
    assert ("name=ann" in text, "name=eve" in text) == (True, False)
    assert [(row["done"], row["total"]) for row in rows if row["judge"] == "eve"] == [(1, 1)]


def test_no_page_has_a_script_or_a_style_of_its_own(page: JudgingPage) -> None:
    app = page.app(token="a long token")
    cookie = f"{app.cookie}={app.proof()}"
    for path in ("/", "/judge?name=ann", "/progress", "/enter", "/enter?token=no", "/nowhere"):
        answer = ask(app, path, cookie=cookie)
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "<script>" not in answer.text
        assert "<style" not in answer.text
        assert " style=" not in answer.text
        assert "http" not in answer.text.replace("http-equiv", "")


@pytest.mark.parametrize("name", ["style.css", "judge.js", "outbox.js", "show.js", "progress.js", "icon.svg"])
def test_static_files_come_from_the_package(page: JudgingPage, name: str) -> None:
    answer = ask(page.app(), f"/static/{name}")
    assert answer.status == 200
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert ask(page.app(), "/static/../app.py").status == 404
    assert ask(page.app(), "/static/%2e%2e/app.py").status == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "localhost.evil.example", "", "[::1"])
def test_a_local_page_answers_to_no_foreign_name(page: JudgingPage, host: str) -> None:
    assert ask(page.app(), "/", host=host).status == 421


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8765", "LOCALHOST"])
def test_a_local_page_answers_to_names_of_this_machine(page: JudgingPage, host: str) -> None:
    assert ask(page.app(), "/", host=host).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://localhost"},
        {"origin": "http://localhost", "x_leadline": "wrong"},
        {"origin": "http://evil.example", "x_leadline": "SECRET"},
        {"origin": "https://localhost", "x_leadline": "SECRET"},
        {"origin": "http://localhost:81", "x_leadline": "SECRET"},
        {"origin": "null", "x_leadline": "SECRET"},
        {"x_leadline": "SECRET"},
    ],
)
def test_a_post_from_elsewhere_changes_nothing(page: JudgingPage, headers: dict[str, str]) -> None:
    sent = {k: v.replace("SECRET", page.store.secret) for k, v in headers.items()}
    body = {"judge": "ann", "events": [event(1)]}
    assert ask(page.app(), "/api/events", body=body, **sent).status == 403
    assert stored(page.store.path, "SELECT count(*) FROM events") == [(0,)]


def test_a_get_changes_no_judgment(page: JudgingPage) -> None:
    assert ask(page.app(), "/api/events").status == 405
    assert ask(page.app(), "/api/cards").status == 405


@pytest.fixture
def guarded(page: JudgingPage) -> AccessControl:
    found: AccessControl = page.app(token="a long token", local=False)
    return found


def test_with_a_token_nobody_comes_in_without(page: JudgingPage, guarded: AccessControl) -> None:
    answer = ask(guarded, "/", host="judging.example")
    assert (answer.status, answer.headers["location"]) == (303, "/enter")
    for path in ("/api/progress", "/api/text?pair=1&part=0"):
        assert ask(guarded, path).status == 401
    assert Judge(page, app=guarded).post("/api/events", events=[event(1)]).status == 401
    assert ask(guarded, "/", cookie=f"{guarded.cookie}=wrong").status == 303
    assert ask(guarded, "/", cookie="=;;; broken").status == 303


def test_the_token_is_turned_into_a_strict_cookie(guarded: AccessControl) -> None:
    answer = ask(guarded, "/enter?token=a+long+token", host="judging.example")
    cookie = answer.headers["set-cookie"]
    assert answer.status == 200
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "a long token" not in cookie
    assert ask(guarded, "/", cookie=cookie.split(";")[0]).status == 200
    wrong = ask(guarded, "/enter?token=other")
    assert wrong.status == 401
    assert "set-cookie" not in wrong.headers


def test_the_token_can_be_typed_in(guarded: AccessControl) -> None:
    form = {"origin": "http://localhost", "content_type": "application/x-www-form-urlencoded"}
    assert "set-cookie" in ask(guarded, "/enter", body=b"token=a+long+token", **form).headers
    assert ask(guarded, "/enter", body=b"token=%ff%00", **form).status == 401
    assert ask(guarded, "/enter", body=b"token=a+long+token").status == 403


def test_without_a_token_an_old_link_leads_to_the_page(page: JudgingPage) -> None:
    answer = ask(page.app(), "/enter?token=an+old+token")
    assert (answer.status, answer.headers["location"]) == (303, "/")


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/api/events", {"judge": "ann", "events": []}, "1 to 200"),
        ("/api/events", {"judge": "ann", "events": [1]}, "invalid value '1' for 'events'"),
        ("/api/events", {"judge": "ann", "events": [event(999)]}, "pair 999"),
        ("/api/events", {"judge": "ann", "events": [event(1, grade=5)]}, "grade 5"),
        ("/api/events", {"events": [event(1)]}, "'judge' is missing or is not text"),
        ("/api/events", [1], "not a JSON object"),
        ("/api/events", b"{", "not a JSON object"),
        ("/api/events", b"[" * 100_000, "not a JSON object"),
        ("/api/events", {"judge": "ann", "events": [event(1) | {"key": "\ud800"}]}, "key"),
        ("/api/cards", {"judge": "a,b"}, "a judge"),
        ("/api/cards", {"judge": "ann", "holding": 5}, "'holding' is not a list"),
    ],
)
def test_what_no_page_sends_is_refused_in_a_line(page: JudgingPage, path: str, body: Any, words: str) -> None:
    answer = ask(page.app(), path, body=body, origin="http://localhost", x_leadline=page.store.secret)
    assert answer.status == 400
    assert words in answer.text
    assert answer.text.count("\n") == 1
    assert stored(page.store.path, "SELECT count(*) FROM events") == [(0,)]


def test_too_much_is_refused(page: JudgingPage) -> None:
    body = b" " * 3_000_000
    assert ask(page.app(), "/api/events", body=body).status == 413
    sent = {"origin": "http://localhost", "x_leadline": page.store.secret, "content-length": "0"}
    answer = ask(page.app(), "/api/events", body=body, **sent)
    assert (answer.status, "longer than" in answer.text) == (400, True)


def test_a_store_that_cannot_be_written_is_said_and_tried_again(
    page: JudgingPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise InputError("cannot be used (database or disk is full)", path="judged.sqlite")

    judge = Judge(page)
    with monkeypatch.context() as patch:
        patch.setattr(page.store, "append_all", full)
        answer = judge.post("/api/events", events=[event(1)])
    assert (answer.status, answer.text) == (503, "judged.sqlite: cannot be used (database or disk is full)\n")
    assert judge.post("/api/events", events=[event(1)]).status == 200


def nasty(folder: Path, **options: Any) -> Any:
    rows = [row for row in NASTY if row["doc_id"] != "half"]
    files = write(folder, rows, QUERIES[:1])
    return opened(files.pool, files.docs, files.queries, files.store, **options)


def test_text_of_documents_comes_as_text_without_control_characters(tmp_path: Path) -> None:
    with nasty(tmp_path) as found:
        cards = {c["document"]: c for c in Judge(found).post("/api/cards", count=9).data["cards"]}
    assert cards["html"]["title"] == ["<b>", "Wing", "</b>"]
    assert "".join(cards["html"]["text"]) == NASTY[0]["text"].replace("\x00", "\ufffd").replace(
        "\x07", "\ufffd"
    )
    assert cards["html"]["text"][1::2] == ["wing \ufffd\ufffd lifts"]  # a phrase of the query
    assert "wing" in cards["rtl"]["text"][1::2]
    assert (cards["none"]["length"], cards["none"]["title"], cards["none"]["text"]) == (0, [""], [])


def test_a_long_document_comes_in_parts_that_make_the_whole(tmp_path: Path) -> None:
    with nasty(tmp_path) as found:
        app = found.app()
        cards = {c["document"]: c for c in Judge(found).post("/api/cards", count=9).data["cards"]}
        card = cards["long"]
        assert card["length"] == 5_600_000
        assert sum(map(len, card["text"])) < 6_300
        assert card["cut"]
        parts = [
            ask(app, f"/api/text?pair={card['pair']}&part={part}").data["text"]
            for part in (*range(3), card["parts"] - 1)
        ]
        assert parts[0] == card["text"]
        assert all(piece == "wing" for part in parts for piece in part[1::2])
        whole = "".join("".join(part) for part in parts[:3])
        assert whole == NASTY[3]["text"][: len(whole)]
        assert "".join(parts[3]) == NASTY[3]["text"][-len("".join(parts[3])) :]
        assert ask(app, f"/api/text?pair={card['pair']}&part={card['parts']}").data["text"] == []
        for query in ("pair=99&part=0", "pair=x&part=0", "part=0"):
            assert ask(app, f"/api/text?{query}").status == 400


@pytest.mark.parametrize("form", ["title", "static", "dynamic", "full"])
def test_each_form_shows_what_it_says(tmp_path: Path, form: str) -> None:
    text = " ".join(f"word{place}." for place in range(800)) + " The wing lifts."
    files = write(tmp_path, [{"doc_id": "d", "title": "A wing", "text": text}], QUERIES[:1])
    with opened(files.pool, files.docs, files.queries, files.store, forms=form) as found:
        card = Judge(found).post("/api/cards").data["cards"][0]
    assert card["form"] == form
    assert card["title"] == ["A ", "wing", ""]
    summary = "".join(card["summary"] or ())
    assert (card["summary"] is None) == (form == "title")
    assert summary.startswith("word0. word1.") == (form == "static")
    assert ("The wing lifts." in summary) == (form in ("dynamic", "full"))
    assert (card["text"] is not None) == (form == "full")


@pytest.mark.parametrize("form", ["static", "dynamic", "full"])
def test_a_short_text_is_shown_once(tmp_path: Path, form: str) -> None:
    text = "The wing lifts. " * 8
    files = write(tmp_path, [{"doc_id": "d", "title": "A wing", "text": text}], QUERIES[:1])
    with opened(files.pool, files.docs, files.queries, files.store, forms=form) as found:
        card = Judge(found).post("/api/cards").data["cards"][0]
    shown = ["".join(card[part]).strip() for part in ("summary", "text") if card[part] is not None]
    assert shown == [text.strip()]
    assert card["complete"]


def test_every_text_of_the_pages_is_used_and_none_is_missing() -> None:
    folder = Path(app_module.__file__).parent
    sources = "".join(
        path.read_text("utf-8")
        for path in sorted([*folder.glob("static/*.js"), *folder.glob("templates/*.html")])
    )
    sources += Path(app_module.__file__).read_text("utf-8")
    named = re.findall(r"strings\.(\w+)", sources) + re.findall(r'strings\(\)\["(\w+)"\]', sources)
    named += re.findall(r'"(\w+)"', "".join(re.findall(r"say\(([^{};]*)", sources)))
    assert set(named) & set(app_module.strings()) == set(app_module.strings())
    said = re.findall(r'(?:say\(|\? |: )"([a-z]+_[a-z_]+)"', sources)
    assert set(said) <= set(app_module.strings())
    assert not any(hasattr(dict, name) for name in app_module.strings())  # Jinja would show the method


def test_several_forms_are_drawn_for_judge_and_pair_and_stay(page: JudgingPage) -> None:
    page.cards.forms = ("static", "dynamic")
    pairs = list(page.queues.pairs.values())
    forms = {name: [page.cards.form(name, pair) for pair in pairs] for name in ("ann", "bob")}
    assert set(forms["ann"]) == {"static", "dynamic"}
    assert forms["ann"] != forms["bob"]
    assert forms["ann"] == [page.cards.form("ann", pair) for pair in pairs]


def test_an_index_that_keeps_texts_shows_the_same(page: JudgingPage, tmp_path: Path) -> None:
    files = write(tmp_path)
    build_index(files.docs, str(tmp_path / "index"), store_text=True)
    with opened(files.pool, str(tmp_path / "index"), files.queries, str(tmp_path / "other")) as found:
        for pair in found.queues.pairs.values():
            one, other = found.cards.card("ann", pair), page.cards.card("ann", pair)
            assert one == other


def test_pairs_without_a_text_are_said_and_left_out(tmp_path: Path) -> None:
    files = write(tmp_path, pairs=[("q1", "d1"), ("q1", "gone"), ("q9", "d1")])
    with opened(files.pool, files.docs, files.queries, files.store) as found:
        assert [(notice.code, notice.count) for notice in found.warnings] == [
            ("unknown_queries", 1),
            ("unknown_documents", 1),
        ]
        assert [str(notice) for notice in found.warnings][1].startswith(
            "left out 1 pooled document missing from"
        )
        assert [card["document"] for card in Judge(found).post("/api/cards", count=9).data["cards"]] == ["d1"]
        assert len(found.store.pairs()) == 3


def test_a_pool_whose_ids_no_store_can_hold_is_refused_before_there_is_a_store(tmp_path: Path) -> None:
    files = write(tmp_path, pairs=[("q1", "d1")])
    Path(files.pool).with_suffix(".jsonl").write_text('{"query_id": "q1", "doc_id": "d\\udcff"}\n')
    pool = str(Path(files.pool).with_suffix(".jsonl"))
    with (
        pytest.raises(InputError, match="cannot be written in UTF-8, so a store cannot contain it"),
        opened(pool, files.docs, files.queries, files.store),
    ):
        pass
    assert not Path(files.store).exists()


@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        ([("q1", "x1"), ("q1", "x2")], r"there is no text for any pooled document \(for example, 'x1'\)"),
        ([("q1", "x1"), ("x", "d1")], "no pooled pair has both a query with a text"),
    ],
)
def test_a_pool_without_texts_is_refused_and_leaves_no_store(
    tmp_path: Path, pairs: list[tuple[str, str]], says: str
) -> None:
    files = write(tmp_path, pairs=pairs)
    with pytest.raises(InputError, match=says), opened(files.pool, files.docs, files.queries, files.store):
        pass
    assert not Path(files.store).exists()


def test_an_empty_file_of_documents_is_refused_as_such(tmp_path: Path) -> None:
    files = write(tmp_path)
    Path(files.docs).write_text("")
    with pytest.raises(InputError, match="contains no documents"), opened(*files):
        pass


def test_a_refused_pool_leaves_a_store_as_it_was(page: JudgingPage, tmp_path: Path) -> None:
    before = page.store.pairs()
    docs = tmp_path / "others.jsonl"
    docs.write_text('{"doc_id": "other", "text": "wing"}\n')
    pool = tmp_path / "others.tsv"
    pool.write_text("query_id\tdoc_id\nq1\tx1\n")
    queries = tmp_path / "asked.jsonl"
    queries.write_text('{"query_id": "q1", "text": "wing lift"}\n')
    with (
        pytest.raises(InputError, match="there is no text for any pooled document"),
        opened(str(pool), str(docs), str(queries), page.store.path),
    ):
        pass
    assert page.store.pairs() == before


def test_a_larger_pool_adds_what_is_new(page: JudgingPage, tmp_path: Path) -> None:
    Judge(page).post("/api/events", events=[event(1)])
    pool = str(tmp_path / "more.tsv")
    write_whole(pool, b"query_id\tdoc_id\nq1\td0\nq2\td0\nq2\td11\nq3\td1\n")
    queries = str(tmp_path / "more.jsonl")
    write_whole(
        queries, b'{"query_id":"q1","text":"a"}\n{"query_id":"q3","text":"b"}\n{"query_id":"q2","text":"c"}\n'
    )
    with opened(pool, str(tmp_path / "d.jsonl"), queries, page.store.path) as found:
        assert len(found.queues.pairs) == 25
        assert found.queues.count("ann").done == 1
        assert str(found.warnings[0]) == "added 1 pair to the 24 already in the store"


def test_progress_tells_how_far_and_how_much_judges_agree(page: JudgingPage) -> None:
    for name, grades in (("ann", [1, 1, 0, 0, 2]), ("bob", [1, 1, 0, 1])):
        acts = [
            event(place, grade=grade, seconds=2.0, shown="full") | {"key": f"{name}-{place:08}"}
            for place, grade in enumerate(grades, start=1)
        ]
        Judge(page, name).post("/api/events", events=acts)
    found = ask(page.app(), "/api/progress").data
    assert (found["pairs"], found["judged"]) == (24, 5)
    assert [(row["judge"], row["done"], row["seconds"]) for row in found["judges"]] == [
        ("ann", 5, 2.0),
        ("bob", 4, 2.0),
    ]
    assert [row["count"] for row in found["grades"]] == [3, 5, 1]
    (pair,) = found["agreement"]
    # 3 of 4 agree; pooled marginals 5/8 and 3/8: chance 34/64; Cohen: (2*3 + 2*1) / 16 = 1/2
    assert (pair["a"], pair["b"], pair["pairs"], pair["agreement"]) == ("ann", "bob", 4, 0.75)
    assert pair["scott"] == pytest.approx((3 / 4 - 34 / 64) / (1 - 34 / 64))
    assert pair["cohen"] == pytest.approx(0.5)
    assert (pair["acceptable"], pair["few"]) == (None, True)
    assert found["forms"] == [
        {"form": "full", "judgments": 9, "seconds": 2.0, "opened": 0, "shared": 4, "agreement": 0.75}
    ]


def test_wishes_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown content 'picture'"):
        check_forms("static,picture")
    for judges, overlap, words in (
        (None, 0.5, "--overlap needs --judges NAMES"),
        ("ann", 0.5, "needs at least two judges, as in --judges ann,bob"),
        ("ann,Ann ,ann", None, "two judges are both named 'ann'"),
        ("ann,bob", float("nan"), "overlap must be a number, not nan"),
    ):
        with pytest.raises(UsageError, match=words):
            check_judges(judges, overlap)


def test_a_count_says_how_new_it_is_so_that_answers_that_cross_are_told_apart(page: JudgingPage) -> None:
    judge = Judge(page)
    before = judge.post("/api/cards", count=1).data["count"]["version"]
    judged = judge.post("/api/events", events=[event(1)]).data["count"]
    assert judged["version"] > before
    assert judged["done"] == 1
