"""Limits on guesses of the token and on new judges; clients that leave; every address of this machine."""

from __future__ import annotations

import http.client
import re
import signal
import socket
import struct
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging_pages import Files, Server, ask, event, stored, write
from leadline.errors import UsageError
from leadline.judging import queue
from leadline.judging.queue import Queues
from leadline.judging.serving import RateLimit, TokenAttempts, TooManyError, network
from leadline.judging.startup import JudgingPage, opened
from leadline.judging.store import Store

TOKEN = "a long token"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write(tmp_path)


@pytest.fixture
def page(files: Files) -> Iterator[JudgingPage]:
    with opened(files.pool, files.docs, files.queries, files.store) as found:
        yield found


@given(
    st.integers(1, 5), st.floats(0.5, 9), st.lists(st.tuples(st.floats(0, 20), st.booleans()), max_size=40)
)
def test_a_limit_is_a_bucket_of_tokens(burst: int, seconds: float, tries: list[tuple[float, bool]]) -> None:
    now, tokens, limit = 0.0, float(burst), RateLimit(burst, seconds, clock=lambda: now)
    for pause, takes in tries:
        now += pause
        tokens = min(burst, tokens + pause / seconds)
        assert limit.wait() == pytest.approx(max(0.0, (1 - tokens) * seconds), abs=1e-6)
        if takes and limit.wait() == 0:
            limit.take()
            tokens -= 1


def test_a_limit_remembers_no_more_than_it_may() -> None:
    limit = RateLimit(1, 60, keys=3)
    for key in "abcd":
        limit.take(key)
    assert [limit.wait(key) > 0 for key in "abcd"] == [False, True, True, True]


def test_one_address_is_stopped_and_others_are_not_until_all_together_guess_too_often() -> None:
    now = 0.0
    guesses = TokenAttempts(clock=lambda: now)
    for _ in range(10):
        guesses.check("192.0.2.1")
        guesses.count("192.0.2.1")
    with pytest.raises(TooManyError, match="Try again in 30 seconds") as rejected:
        guesses.check("192.0.2.1")
    assert rejected.value.wait == 30
    guesses.check("192.0.2.2")
    for place in range(90):
        guesses.count(f"198.51.100.{place}")
    with pytest.raises(TooManyError, match="3 seconds"):
        guesses.check("203.0.113.1")
    now = 31.0
    guesses.check("192.0.2.1")


def test_an_ipv6_client_counts_by_its_network() -> None:
    assert network("2001:db8::1") == network("2001:db8::ffff:2") != network("2001:db8:0:1::1")
    assert network("::ffff:192.0.2.1") == network("192.0.2.1")


def test_guesses_of_the_token_are_limited_in_the_link_and_in_the_form(page: JudgingPage) -> None:
    app = page.app(token=TOKEN)
    form = {"origin": "http://localhost", "content_type": "application/x-www-form-urlencoded"}
    for place in range(10):
        body = f"token=guess{place}".encode() if place % 2 else None
        answer = ask(app, f"/enter?token=guess{place}", body=body, **form)
        assert answer.status == 401
    for given_ in ("guess", TOKEN):  # the right one is not compared either: that would be a guess
        answer = ask(app, f"/enter?token={urllib.parse.quote_plus(given_)}")
        assert (answer.status, answer.headers["retry-after"]) == (429, "30")
        assert (
            '<p class="wrong" role="alert">Too many wrong tokens. Try again in 30 seconds.</p>' in answer.text
        )
        assert "set-cookie" not in answer.headers
    assert ask(app, "/", cookie=f"{app.cookie}={app.proof()}").status == 200  # who is in stays in


def test_the_cookie_cannot_be_made_from_a_guess_of_the_token(page: JudgingPage, tmp_path: Path) -> None:
    files = write(tmp_path)
    with opened(files.pool, files.docs, files.queries, str(tmp_path / "other")) as other:
        assert page.app(token=TOKEN).proof() != other.app(token=TOKEN).proof()
    assert page.app(token=TOKEN).proof() == page.app(token=TOKEN).proof()  # after a restart, too


def test_new_judges_are_limited_and_old_ones_are_not(
    page: JudgingPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, secret = page.app(), page.store.secret

    def come(name: str) -> int:
        sent = {"origin": "http://localhost", "x_leadline": secret}
        answer = ask(app, "/api/cards", body={"judge": name}, **sent)
        assert (answer.status == 429) == ("retry-after" in answer.headers)
        return answer.status

    page.queues._arrivals = RateLimit(3, 60)
    assert [come(f"judge {place}") for place in range(4)] == [200, 200, 200, 429]
    assert [come(f"judge {place}") for place in range(3)] == [200] * 3
    assert page.store.judges() == ["judge 0", "judge 1", "judge 2"]
    page.queues._arrivals = RateLimit(100, 60)
    monkeypatch.setattr(queue, "ALWAYS_JUDGES", 4)
    monkeypatch.setattr(queue, "MOST_PLACES", 24 * 4 + 1)
    assert [come(f"judge {place}") for place in (3, 4, 3)] == [200, 400, 200]
    answer = ask(app, "/judge?name=late")
    assert answer.status == 400
    assert (
        "<p>There are already 4 judges, the maximum for this page. If you are one of them, enter the same "
        "name as before.</p>"
    ) in answer.text
    assert len(page.store.judges()) == 4


def test_a_class_may_begin_at_once_and_named_judges_always_come_in(tmp_path: Path) -> None:
    with closing(Store.open(str(tmp_path / "judged.sqlite"))) as store:
        store.add_pairs([("q", "d", 1.0)])
        names = [f"judge {place}" for place in range(queue.NEW_AT_ONCE + 1)]
        queues = Queues(store)
        for name in names[:-1]:
            queues.join(name)
        with pytest.raises(UsageError, match="too many new judges are joining at once"):
            queues.join(names[-1])
        Queues(store, judges=[*names, "ann"]).join("ann")


@pytest.mark.parametrize("host", ["127.0.0.2", "localhost", "127.0.0.1"])
def test_a_page_answers_to_the_address_it_listens_on(files: Files, host: str) -> None:
    with Server(files, "--host", host) as server:
        assert server.address == f"http://{host}:{server.port}"
        acts = {"judge": "ann", "events": [event(1)]}
        server.post("/api/events", acts, server.secret("ann"))
        request = urllib.request.Request(server.address, headers={"Host": "evil.example"})
        with pytest.raises(urllib.error.HTTPError) as rejected:
            urllib.request.urlopen(request, timeout=20)
        with rejected.value as answer:
            assert answer.code == 421
    assert len(stored(files.store)) == 1


def leave(server: Server, sent: bytes, *, reset: bool) -> None:
    """Send something and go, politely or with a reset."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(sent)
        time.sleep(0.1)
        if reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def head(server: Server, secret: str, path: str, length: int) -> bytes:
    host = f"127.0.0.1:{server.port}"
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}", f"Origin: http://{host}", f"X-Leadline: {secret}"]
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


def test_a_client_that_leaves_leaves_no_traceback_and_no_judgment(tmp_path: Path) -> None:
    long = {"doc_id": "d", "title": "", "text": "wing " * 2_000_000}
    files = write(tmp_path, [long, {"doc_id": "e", "title": "", "text": "wing"}])
    with Server(files) as server:
        secret = server.secret("ann")
        for reset in (False, True):
            for path in ("/api/events", "/api/cards", "/enter", "/nowhere"):
                leave(server, head(server, secret, path, 500) + b'{"judge": "ann", ', reset=reset)
            leave(server, b"POST /api/events HTTP/1.1\r\nHo", reset=reset)
            leave(server, b"\x16\x03\x01\x02\x00 this is TLS", reset=reset)
            asked = "GET /api/text?pair=1&part=1 HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "", ""
            leave(server, "\r\n".join(asked).encode(), reset=reset)
            body = b'{"judge": "ann", "count": 9}'
            leave(server, head(server, secret, "/api/cards", len(body)) + body, reset=reset)
        whole = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        whole.request("GET", "/")
        assert whole.getresponse().status == 200  # it goes on
        half = socket.create_connection(("127.0.0.1", server.port), timeout=20)
        half.sendall(head(server, secret, "/api/events", 500) + b"{")
        time.sleep(0.2)
        server.process.send_signal(signal.SIGINT)  # in the middle of that request
        _, wrong = server.process.communicate(timeout=30)
        half.close()
        whole.close()
    assert re.sub("leadline: interrupted\n", "", wrong).strip() == ""
    assert stored(files.store, "SELECT count(*) FROM events") == [(0,)]


def test_a_client_that_leaves_before_the_answer_may_send_the_same_again(files: Files) -> None:
    with Server(files) as server:
        secret = server.secret("ann")
        body = f'{{"judge": "ann", "events": [{event(1)}]}}'.replace("'", '"').encode()
        for reset in (True, False):
            leave(server, head(server, secret, "/api/events", len(body)) + body, reset=reset)
        server.post("/api/events", {"judge": "ann", "events": [event(1)]}, secret)
    assert stored(files.store, "SELECT count(*) FROM events") == [(1,)]
