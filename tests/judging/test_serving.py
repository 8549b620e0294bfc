"""A real server: killed in the middle, one a store, said in one line what is in the way."""

from __future__ import annotations

import http.client
import signal
import socket
import sqlite3
import sys
import threading
import urllib.error
import urllib.request
import webbrowser
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judging_pages import GRADES, Files, Server, event, refusal, stored, write
from leadline.cli.judge import _stopped as stopped
from leadline.errors import InputError, UsageError
from leadline.judging import lock, serving

KEYS = "SELECT key FROM events ORDER BY id"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    documents = [{"doc_id": f"d{place}", "title": "", "text": "wing"} for place in range(200)]
    return write(tmp_path, documents)


def test_of_many_that_save_at_once_only_the_request_with_a_bad_event_is_refused(files: Files) -> None:
    refused: dict[str, int] = {}
    with Server(files, "--grades", GRADES) as server:
        secret = server.secret("j0")

        def judge(name: str) -> None:
            for pair in range(1, 21):
                acts = [event(pair) | {"key": f"{name}-{pair:08}"}]
                acts += [event(pair, grade=7) | {"key": f"{name}-{pair:08}-bad"}] if pair % 5 == 0 else []
                try:
                    answer = server.post("/api/events", {"judge": name, "events": acts}, secret)
                    assert answer["saved"] == [acts[0]["key"]]
                    assert answer["count"]["done"] == pair - pair // 5
                except urllib.error.HTTPError as error:
                    refused[acts[0]["key"]] = error.code

        judges = [threading.Thread(target=judge, args=(f"j{place}",)) for place in range(8)]
        for thread in judges:
            thread.start()
        for thread in judges:
            thread.join()
    expected = {f"j{place}-{pair:08}" for place in range(8) for pair in range(1, 21)}
    kept = [key for (key,) in stored(files.store, KEYS)]
    assert len(kept) == 8 * 16
    assert sorted([*kept, *refused]) == sorted(expected)
    assert set(refused.values()) == {400}


def test_kill_9_in_the_middle_of_fast_judging_loses_nothing_that_was_said_to_be_saved(files: Files) -> None:
    saved: dict[str, list[str]] = {"ann": [], "bob": []}
    secrets: dict[str, str] = {}
    server = Server(files, "--grades", GRADES)

    def judge(name: str) -> None:
        secrets[name] = server.secret(name)
        for pair in range(1, 401):
            act = event(pair) | {"key": f"{name}-{pair:08}"}
            try:
                answer = server.post("/api/events", {"judge": name, "events": [act]}, secrets[name])
            except (OSError, http.client.HTTPException):
                return
            saved[name] += answer["saved"]
            if name == "bob" and len(saved[name]) == 100:
                server.stop(signal.SIGKILL)

    judges = [threading.Thread(target=judge, args=(name,)) for name in saved]
    for thread in judges:
        thread.start()
    for thread in judges:
        thread.join()
    kept = [key for (key,) in stored(files.store, KEYS)]
    assert len(saved["bob"]) == 100
    assert set(kept) >= {key for keys in saved.values() for key in keys}
    assert len(kept) == len(set(kept)) <= sum(map(len, saved.values())) + 2  # two may be on the way

    with Server(files) as again:  # the page sends what it has no answer for once more
        for name in saved:
            assert again.secret(name) == secrets[name]  # so that an open page goes on
            acts = [event(pair) | {"key": f"{name}-{pair:08}"} for pair in range(1, 131)]
            again.post("/api/events", {"judge": name, "events": acts}, secrets[name])
    rows = stored(files.store, "SELECT judge, count(*), count(DISTINCT pair) FROM judgments GROUP BY judge")
    assert [tuple(row) for row in rows if row[0] == "bob"] == [("bob", 130, 130)]
    assert all(count == pairs for _, count, pairs in rows)


def test_ctrl_c_stops_it_and_leaves_one_file(files: Files) -> None:
    server = Server(files)
    secret = server.secret("ann")
    server.post("/api/events", {"judge": "ann", "events": [event(1)]}, secret)
    assert server.said[:2] == [
        "400 pairs for 2 queries, 0 judged",
        "grades 0=not relevant,1=relevant; content: full",
    ]
    assert server.stop() == 130
    beside = Path(files.store).parent
    assert [path.name for path in beside.glob("judged.sqlite*")] == ["judged.sqlite"]
    assert stored(files.store) == [("ann", "q1", "d0", 1)]


def test_a_second_page_on_a_store_is_refused_and_a_page_after_a_crash_is_not(files: Files) -> None:
    with Server(files) as server:
        assert "is open in another `leadline judge`" in refusal(files)
        server.stop(signal.SIGKILL)
        with Server(files):
            pass


def test_the_lock_falls_when_the_page_ends(tmp_path: Path) -> None:
    path = str(tmp_path / "judged.sqlite")
    with lock.exclusive(path), pytest.raises(InputError, match="open in another"), lock.exclusive(path):
        pass
    with lock.exclusive(path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_a_folder_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"none: no such folder\. Create the folder"),
        lock.exclusive(str(tmp_path / "none" / "judged.sqlite")),
    ):
        pass


def test_a_port_in_use_is_refused(files: Files) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"cannot listen on 127.0.0.1, port {port}" in refusal(files, "--port", port)
    assert not Path(files.store).exists()


def test_a_store_that_another_program_locks_is_refused_and_nothing_is_lost(files: Files) -> None:
    Server(files).stop()
    with closing(sqlite3.connect(files.store)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("INSERT INTO judges (name, since) VALUES ('eve', '')")
        assert "judged.sqlite: is locked by another program" in refusal(files)


def test_while_the_store_is_locked_the_page_is_told_to_try_again(files: Files) -> None:
    with Server(files, wait=0.5) as server:
        secret = server.secret("ann")
        with closing(sqlite3.connect(files.store, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(urllib.error.HTTPError) as rejected:
                server.post("/api/events", {"judge": "ann", "events": [event(1)]}, secret)
            with rejected.value as answer:
                assert answer.code == 503
                assert b"is locked by another program" in answer.read()
        assert server.post("/api/events", {"judge": "ann", "events": [event(1)]}, secret)["saved"]


def test_a_page_for_others_has_a_token(files: Files) -> None:
    with Server(files, "--host", "0.0.0.0") as server:
        assert server.entry.startswith("enter?token=")
        assert len(server.entry) > 30
        local = f"http://127.0.0.1:{server.port}/"
        with urllib.request.urlopen(local, timeout=20) as answer:
            assert answer.url == local + "enter"
        with urllib.request.urlopen(local + server.entry, timeout=20) as answer:
            assert "SameSite=strict" in answer.headers["set-cookie"]


def test_a_token_that_no_link_can_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="UTF-8"):
        serving.token_for("127.0.0.1", "\udcff12345678")


@pytest.mark.parametrize("screen", ["", "DISPLAY", "WAYLAND_DISPLAY"])
def test_a_browser_opens_only_where_there_is_a_screen(monkeypatch: pytest.MonkeyPatch, screen: str) -> None:
    opened = threading.Event()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(webbrowser, "open", lambda _: opened.set())
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if screen:
        monkeypatch.setenv(screen, ":0")
    serving.show("http://localhost/")
    assert opened.wait(10 if screen else 0.2) == bool(screen)


def test_which_hosts_are_this_machine() -> None:
    assert all(map(serving.is_loopback, ("localhost", "127.0.0.1", "127.9.9.9", "::1")))
    assert not any(map(serving.is_loopback, ("0.0.0.0", "::", "192.168.0.2", "example.org", "")))
    assert serving.token_for("localhost", None) is None
    assert serving.token_for("localhost", "a long token") == "a long token"
    assert len(serving.token_for("0.0.0.0", None) or "") > 20
    for token in ("short", " padded by blanks ", ""):
        with pytest.raises(UsageError, match="token"):
            serving.token_for("localhost", token)


@pytest.mark.parametrize(
    ("runs", "judged", "call"),
    [(1, 50, "evaluate s.db RUN"), (2, 50, "compare s.db OLD NEW"), (2, 49, "evaluate s.db RUN")],
)
def test_the_next_command_fits_the_runs_of_the_pool_and_the_judgments(
    runs: int, judged: int, call: str, capsys: pytest.CaptureFixture[str]
) -> None:
    precision = SimpleNamespace(pool=SimpleNamespace(runs=dict.fromkeys(range(runs))))
    store, queues = (
        SimpleNamespace(check_files=list),
        SimpleNamespace(judgments=lambda: {"ann": [1] * judged}),
    )
    page: Any = SimpleNamespace(precision=precision, store=store, queues=queues)
    stopped(page, "s.db")
    assert f"`leadline {call}`" in capsys.readouterr().out


@pytest.mark.parametrize("runs", [None, 2])
def test_without_judgments_no_command_is_advised_that_would_fail(
    runs: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = SimpleNamespace(runs=dict.fromkeys(range(runs or 0)))
    page: Any = SimpleNamespace(
        precision=runs and SimpleNamespace(pool=pool),
        store=SimpleNamespace(check_files=list),
        queues=SimpleNamespace(judgments=dict),
    )
    stopped(page, "s.db")
    assert capsys.readouterr().out == "0 judgments in s.db\n"
