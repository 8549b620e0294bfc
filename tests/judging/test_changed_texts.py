"""A judgment is kept only for the text that the judge saw."""

from __future__ import annotations

import json
import shutil
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judging_pages import DOCUMENTS, QUERIES, Answer, Files, Server, ask, event, stored, write
from leadline.errors import InputError, LeadlineError
from leadline.judging.documents import IndexTexts
from leadline.judging.startup import JudgingPage, opened
from leadline.retrieval.index.builder import build_index

DIGESTS = "SELECT digest FROM seals ORDER BY event"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write(tmp_path)


@pytest.fixture
def index(files: Files, tmp_path: Path) -> str:
    path = str(tmp_path / "index")
    build_index(files.docs, path, store_text=True)
    return path


@pytest.fixture
def page(files: Files, index: str) -> Iterator[JudgingPage]:
    with opened(files.pool, index, files.queries, files.store) as found:
        yield found


def post(page: JudgingPage, path: str, **body: Any) -> Answer:
    sent = {"origin": "http://localhost", "x_leadline": page.store.secret}
    return ask(page.app(), path, body={"judge": "ann"} | body, **sent)


def card(page: JudgingPage, pair: int) -> Any:
    cards = post(page, "/api/cards", count=30).data["cards"]
    return next(card for card in cards if card["pair"] == pair)


def change(files: Files, **texts: str) -> None:
    """Write the documents anew, some with another text."""
    rows = [row | {"text": texts.get(str(row["doc_id"]), row["text"])} for row in DOCUMENTS]
    Path(files.docs).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def rebuild(files: Files, index: str) -> None:
    Path(files.docs).write_text(
        "\n".join(json.dumps(row | {"text": f"Another {row['text']}"}) for row in reversed(DOCUMENTS))
    )
    build_index(files.docs, index, store_text=True, overwrite=True)


def shorten(_files: Files, index: str) -> None:
    with open(Path(index) / "text.bin", "r+b") as file:
        file.truncate(3)


def remove(_files: Files, index: str) -> None:
    shutil.rmtree(index)


@pytest.mark.parametrize("harm", [rebuild, shorten, remove])
def test_no_judgment_is_saved_when_the_index_was_built_again_or_damaged(
    page: JudgingPage, files: Files, index: str, harm: Callable[[Files, str], None]
) -> None:
    seen = card(page, 1)
    assert post(page, "/api/events", events=[event(1, digest=seen["digest"])]).status == 200
    harm(files, index)
    for path, body in (
        ("/api/events", {"events": [event(2, digest=card_digest(seen))]}),
        ("/api/events", {"events": [event(2)]}),  # a page of an earlier version sends no digest
        ("/api/cards", {"count": 30}),
    ):
        answer = post(page, path, **body)
        assert (answer.status, answer.text.count("\n")) == (503, 1)
        assert index in answer.text
    # What is saved already is acknowledged again, and what takes it back needs no text.
    undo = event(1, 1, "undo", undoes=event(1)["key"])
    assert post(page, "/api/events", events=[event(1, digest=seen["digest"]), undo]).status == 200
    assert stored(files.store, "SELECT kind FROM events") == [("judge",), ("undo",)]


def card_digest(seen: Any) -> str:
    found: str = seen["digest"]
    return found


def test_an_index_that_is_built_again_shows_no_other_text(files: Files, index: str) -> None:
    texts = IndexTexts(index, {"d1", "d2"})
    assert texts.get("d1").title == "Wing 1"
    build_index(files.docs, index, store_text=True, overwrite=True)  # of the same documents
    assert texts.get("d2").title == "Wing 2"
    rebuild(files, index)
    with pytest.raises(InputError, match="the index was"):
        texts.get("d1")
    assert IndexTexts(index, {"d1"}).get("d1").text.startswith("Another")


def test_an_index_that_cannot_be_read_is_refused_by_name(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = IndexTexts(index, {"d1"})
    for error in (ValueError("mmap"), OSError("gone"), IndexError("far"), json.JSONDecodeError("x", "", 0)):

        def fail(_: int, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(texts.index, "record", fail)
        with pytest.raises(LeadlineError, match="cannot be read"):
            texts.get("d1")


def test_a_judgment_of_a_text_that_changed_between_two_starts_is_refused(files: Files) -> None:
    with opened(files.pool, files.docs, files.queries, files.store) as page:
        cards = {pair: card(page, pair) for pair in (1, 2, 3)}
        assert post(page, "/api/events", events=[event(3, digest=cards[3]["digest"])]).status == 200
    change(files, d0="Another text.", d2="Yet another.")
    with opened(files.pool, files.docs, files.queries, files.store) as page:
        (notice,) = [notice for notice in page.warnings if notice.code == "changed_texts"]
        assert notice.count == 1
        assert "(d2)" in str(notice)
        events = [event(pair, digest=cards[pair]["digest"]) for pair in cards]
        answer = post(page, "/api/events", events=events[:2])
        assert (answer.status, "'d0' has changed" in answer.text) == (409, True)
        assert stored(files.store, "SELECT pair FROM events") == [(3,)]
        assert post(page, "/api/events", events=events[1:]).status == 200  # pair 3 is there already
        assert post(page, "/api/events", events=[event(1, digest=card(page, 1)["digest"])]).status == 200
    assert stored(files.store, "SELECT pair FROM events ORDER BY id") == [(3,), (2,), (1,)]
    digests = [digest for (digest,) in stored(files.store, DIGESTS)]
    assert digests[:2] == [cards[3]["digest"], cards[2]["digest"]]
    assert digests[2] != cards[1]["digest"]


def test_a_digest_is_of_the_whole_text_and_the_title(tmp_path: Path) -> None:
    rows = [
        {"doc_id": "a", "title": "x", "text": "y" * 200_000 + "1"},
        {"doc_id": "b", "title": "x", "text": "y" * 200_000 + "2"},
        {"doc_id": "c", "title": "xy", "text": ""},
        {"doc_id": "d", "title": "x", "text": "y"},
        {"doc_id": "e", "title": "x", "text": "y"},
    ]
    files = write(tmp_path, rows, QUERIES[:1])
    with opened(files.pool, files.docs, files.queries, files.store) as page:
        found = {card["document"]: card["digest"] for card in post(page, "/api/cards", count=9).data["cards"]}
    assert found["d"] == found["e"]
    assert len(set(found.values())) == 4


def test_a_server_goes_on_and_says_why_it_refuses(files: Files, index: str) -> None:
    with Server(files._replace(docs=index)) as server:
        secret = server.secret("ann")
        server.post("/api/events", {"judge": "ann", "events": [event(1)]}, secret)
        rebuild(files, index)
        with pytest.raises(urllib.error.HTTPError) as rejected:
            server.post("/api/events", {"judge": "ann", "events": [event(2)]}, secret)
        with rejected.value as answer:
            assert answer.code == 503
        server.process.terminate()
        _, wrong = server.process.communicate(timeout=30)
        assert wrong.strip() == ""
    assert len(stored(files.store)) == 1


def test_files_of_a_folder_are_the_documents_of_the_pool_with_or_without_suffix(tmp_path: Path) -> None:
    files = write(tmp_path)
    folder = tmp_path / "docs"
    folder.mkdir()
    for row in DOCUMENTS:
        (folder / f"{row['doc_id']}.txt").write_text(str(row["text"]), encoding="utf-8")
    with opened(files.pool, str(folder), files.queries, files.store) as page:
        assert set(page.cards.texts.ids) == {row["doc_id"] for row in DOCUMENTS}
    (folder / f"{DOCUMENTS[0]['doc_id']}.md").write_text("another", encoding="utf-8")
    with (
        pytest.raises(InputError, match="appears twice"),
        opened(files.pool, str(folder), files.queries, files.store),
    ):
        pass


def test_documents_that_do_not_exist_leave_no_store(tmp_path: Path) -> None:
    files = write(tmp_path)
    page = opened(files.pool, "nowhere", files.queries, files.store)
    with pytest.raises(InputError, match="nowhere: no such file"), page:
        pass
    assert not Path(files.store).exists()
