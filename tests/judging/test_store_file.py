"""The file of a store while it is judged in: links, deletion, copies, a full disk, signals."""

from __future__ import annotations

import http.client
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judging_pages import Files, Server, command, event, refusal, save, stored, write
from leadline.errors import InputError
from leadline.judging import lock, store
from leadline.judging.events import parse_event
from leadline.judging.store import Store

ALONE = "SELECT judge, document FROM judgments"


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return write(tmp_path)


@pytest.fixture
def server(files: Files) -> Iterator[Server]:
    with Server(files) as found:
        yield found


class Page:
    """Posts judgments as the page of one judge does, and keeps what was acknowledged."""

    def __init__(self, server: Server, judge: str = "ann") -> None:
        self.server = server
        self.judge = judge
        self.secret = server.secret(judge)
        self.saved: list[str] = []

    def save(self, *events: dict[str, Any]) -> tuple[int, str]:
        """Post events; give status and text."""
        body = {"judge": self.judge, "events": list(events)}
        try:
            self.saved += self.server.post("/api/events", body, self.secret)["saved"]
        except urllib.error.HTTPError as rejected:
            with rejected:
                return rejected.code, rejected.read().decode()
        return 200, ""


def keys(path: str) -> list[str]:
    return [key for (key,) in stored(path, "SELECT key FROM events ORDER BY id")]


def alone(path: str, folder: Path) -> list[tuple[str, str]]:
    """Read a copy of the one file, without what is beside it."""
    copy = folder / f"copy-{time.monotonic_ns()}.sqlite"
    shutil.copyfile(path, copy)
    with closing(sqlite3.connect(copy)) as connection:
        if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            return [("copied while a checkpoint wrote", "")]
        return connection.execute(ALONE).fetchall()


def until(wanted: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < end
        time.sleep(0.05)


def rename(path: str, name: Path) -> None:
    os.rename(path, name)


@pytest.mark.parametrize("make", [os.symlink, os.link, rename])
def test_no_other_name_of_a_store_lets_a_second_page_in(
    server: Server, files: Files, tmp_path: Path, make: Callable[[str, Path], None]
) -> None:
    page = Page(server)
    assert page.save(event(1))[0] == 200
    other = tmp_path / "other.sqlite"
    make(files.store, other)
    for beside in tmp_path.glob("*-serving"):
        beside.unlink()  # somebody tidies up: the lock is on the store, too
    assert "is open in another `leadline judge`" in refusal(files._replace(store=str(other)))
    if make is rename:
        os.rename(other, files.store)
    assert page.save(event(2))[0] == 200
    server.stop(signal.SIGKILL)
    assert keys(files.store) == page.saved


def test_a_store_with_two_names_is_refused_also_after_a_crash(
    server: Server, files: Files, tmp_path: Path
) -> None:
    page = Page(server)
    page.save(event(1))
    server.stop(signal.SIGKILL)
    other = tmp_path / "other.sqlite"
    os.link(files.store, other)
    for name in (other, Path(files.store)):
        assert "has 2 names (hard links)" in refusal(files._replace(store=str(name)))
        with pytest.raises(InputError, match="has 2 names"):
            Store.open(str(name))
    other.unlink()
    with Server(files):
        assert keys(files.store) == page.saved


def test_the_lock_is_on_the_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "judged.sqlite"
    with lock.exclusive(str(path)):
        os.link(path, tmp_path / "hard.sqlite")
        os.symlink(path, tmp_path / "soft.sqlite")
        for name in ("hard.sqlite", "soft.sqlite", "judged.sqlite"):
            with pytest.raises(InputError, match="is open in another"), lock.exclusive(str(tmp_path / name)):
                pass
        (tmp_path / "hard.sqlite").unlink()
        (tmp_path / "soft.sqlite").unlink()
    assert list(tmp_path.iterdir()) == []
    path.write_bytes(b"x")
    with lock.exclusive(str(path)):
        pass
    assert path.read_bytes() == b"x"


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "judged.sqlite"
    path.write_bytes(b"old")
    locked: list[int] = []
    plain = lock._lock

    def slow(file: int, name: str) -> None:
        plain(file, name)
        if not locked:
            path.unlink()
        locked.append(os.fstat(file).st_ino)

    monkeypatch.setattr(lock, "_lock", slow)
    with lock.exclusive(str(path)):
        assert len(locked) == 2
        assert path.stat().st_ino == locked[-1]


def delete(path: str) -> None:
    os.rename(path, f"{path}.away")


def replace(path: str) -> None:
    shutil.copyfile(path, f"{path}.new")
    os.rename(path, f"{path}.away")
    os.rename(f"{path}.new", path)


@pytest.mark.parametrize("harm", [delete, replace])
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_nothing_is_acknowledged_when_the_store_or_its_log_is_gone(
    server: Server, files: Files, harm: Callable[[str], None], suffix: str
) -> None:
    page, harmed = Page(server), files.store + suffix
    assert page.save(event(1))[0] == 200
    harm(harmed)
    for _ in range(2):
        status, said = page.save(event(2))
        assert (status, said.count("\n")) == (503, 1)
        assert "while the server was running, so judgments are no longer being saved" in said
        assert page.saved == [event(1)["key"]]
    os.replace(f"{harmed}.away", harmed)
    assert page.save(event(2))[0] == 200
    server.stop(signal.SIGKILL)
    assert keys(files.store) == page.saved


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_what_was_acknowledged_outlives_the_deletion_of_the_log_and_a_crash(
    server: Server, files: Files, suffix: str
) -> None:
    page = Page(server)
    page.save(event(1))
    os.unlink(files.store + suffix)
    assert page.save(event(2))[0] == 503  # and what was acknowledged goes into the file
    server.stop(signal.SIGKILL)
    with Server(files) as again:
        assert keys(files.store) == page.saved
        assert Page(again).save(event(2))[0] == 200
    assert keys(files.store) == [event(1)["key"], event(2)["key"]]


def test_a_deleted_store_is_copied_to_another_file_at_the_end(server: Server, files: Files) -> None:
    page = Page(server)
    page.save(event(1), event(2))
    os.unlink(files.store)
    assert page.save(event(3))[0] == 503
    server.process.send_signal(signal.SIGINT)
    said, wrong = server.process.communicate(timeout=30)
    assert "while the server was running" in wrong
    assert "Traceback" not in wrong
    assert "export with" not in said  # it is not there
    assert not Path(files.store).exists()
    (rescued,) = Path(files.store).parent.glob("*.rescued-1")
    assert keys(str(rescued)) == page.saved
    with Server(files._replace(store=str(rescued))) as again:
        assert Page(again).save(event(3))[0] == 200


def test_a_store_that_is_overwritten_in_place_is_noticed(
    server: Server, files: Files, tmp_path: Path
) -> None:
    page, backup = Page(server), tmp_path / "backup.sqlite"
    page.save(event(1))
    until(lambda: len(alone(files.store, tmp_path)) == 1)
    shutil.copyfile(files.store, backup)
    page.save(event(2), event(3))
    until(lambda: len(alone(files.store, tmp_path)) == 3)
    time.sleep(0.5)  # the checkpoint is over
    shutil.copyfile(backup, files.store)  # the same inode, an older content
    status, said = page.save(event(4))
    assert status == 503
    assert "was overwritten" in said or "is a damaged store" in said
    assert event(4)["key"] not in page.saved
    server.process.terminate()
    said, wrong = server.process.communicate(timeout=30)
    assert "Traceback" not in wrong
    assert "export with" not in said
    for copy in tmp_path.glob("*.rescued-1"):  # a copy that is offered as whole is whole
        assert ("copied to" in wrong) == (set(keys(str(copy))) >= set(page.saved))


def test_a_checkpoint_does_not_hide_that_the_store_was_overwritten(tmp_path: Path) -> None:
    path, backup = tmp_path / "judged.sqlite", tmp_path / "backup.sqlite"
    with closing(Store.open(str(path))) as made:
        made.add_pairs([("q", f"d{place}", 1.0) for place in range(9)])
        made.add_judge("ann")
        save(made, "ann", [parse_event(event(1))])
        assert made.checkpoint()
        shutil.copyfile(path, backup)
        save(made, "ann", [parse_event(event(2))])
        assert made.checkpoint()
        save(made, "ann", [parse_event(event(3))])  # is in the log, which does not hold the one before
        shutil.copyfile(backup, path)
        made.checkpoint()
        assert made._identity.is_changed()  # so that the next save reads the store anew
        rejected = False
        try:
            save(made, "ann", [parse_event(event(4))])
        except InputError:
            rejected = True
        kept = {event(place)["key"] for place in range(1, 5)} <= set(keys(str(path)))
        assert kept != rejected


def test_another_program_may_write_to_the_store(server: Server, files: Files, tmp_path: Path) -> None:
    page = Page(server)
    page.save(event(1))
    with closing(sqlite3.connect(files.store, isolation_level=None)) as other:
        other.execute("INSERT INTO judges (name, since) VALUES ('eve', '')")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert page.save(event(2))[0] == 200
    server.stop()
    assert alone(files.store, tmp_path) == [("ann", "d0"), ("ann", "d1")]


def test_the_file_alone_is_a_store_at_the_beginning_and_when_nobody_judges(
    server: Server, files: Files, tmp_path: Path
) -> None:
    assert alone(files.store, tmp_path) == []  # and its tables and pairs are there
    page = Page(server)
    for pair in range(1, 4):
        page.save(event(pair))
    until(lambda: len(alone(files.store, tmp_path)) == 3)
    until(lambda: Path(f"{files.store}-wal").stat().st_size == 0)
    server.stop(signal.SIGKILL)
    assert alone(files.store, tmp_path) == [("ann", f"d{place}") for place in range(3)]


def test_a_reader_only_delays_the_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "IDLE", 0.05)
    path = str(tmp_path / "judged.sqlite")
    with closing(Store.open(path)) as made:
        made.add_pairs([("q", "d", 1.0)])
        made.add_judge("ann")
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM events").fetchall()
            save(made, "ann", [parse_event(event(1))])
            assert not made.checkpoint()
            assert alone(path, tmp_path) == []
            reader.execute("COMMIT")
        until(lambda: alone(path, tmp_path) == [("ann", "d")])


def test_judging_without_a_pause_does_not_put_the_checkpoint_off_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "IDLE", 60)
    monkeypatch.setattr(store, "SETTLE_AT_LEAST", 0.0)
    path = str(tmp_path / "judged.sqlite")
    made = Store.open(path)
    made.add_pairs([("q", f"d{place}", 1.0) for place in range(9)])
    made.close()  # does not wait for the minute
    monkeypatch.setattr(store, "IDLE", 0.01)
    monkeypatch.setattr(store, "SETTLE_AT_LEAST", 0.2)
    with closing(Store.open(path)) as made:
        made.add_judge("ann")
        begun = time.monotonic()
        place = 0
        while len(alone(path, tmp_path)) == 0:
            place += 1
            save(made, "ann", [parse_event(event(1, place))])
            assert time.monotonic() - begun < 20


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_ends_the_page_leaves_one_whole_file(
    server: Server, files: Files, tmp_path: Path, how: signal.Signals
) -> None:
    page = Page(server)
    page.save(event(1))
    assert server.stop(how) == 128 + how
    assert [path.name for path in tmp_path.glob("judged.sqlite*")] == ["judged.sqlite"]
    assert keys(files.store) == page.saved


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process: Linux only")
def test_on_a_full_disk_every_acknowledged_judgment_is_there_once(server: Server, files: Files) -> None:
    page, process = Page(server), server.process.pid
    page.save(event(1))
    _, hard = resource.prlimit(process, resource.RLIMIT_FSIZE)
    rejected = 0
    for pair in range(2, 20):
        if pair % 3 == 0:  # no file can grow beyond what is written now and a little
            size = os.path.getsize(f"{files.store}-wal") + 1000 * (pair % 5)
            resource.prlimit(process, resource.RLIMIT_FSIZE, (size, hard))
        status, said = page.save(event(pair, note="x" * 3000))
        if status != 200:
            rejected += 1
            assert status == 503
            assert "cannot be used" in said
            resource.prlimit(process, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, hard))
            assert page.save(event(pair, note="x" * 3000))[0] == 200
    assert rejected >= 3
    server.stop(signal.SIGKILL)
    assert keys(files.store) == page.saved
    assert len(set(page.saved)) == len(page.saved) == 19


def test_on_a_disk_that_is_full_from_the_beginning_the_page_says_so(files: Files) -> None:
    script = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)); "
        "sys.argv = sys.argv[1:]; runpy.run_module('leadline', run_name='__main__', alter_sys=True)"
    )
    _, _, *rest = command(files, "--port", "0")
    done = subprocess.run(
        [sys.executable, "-c", script, *rest], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot be used" in done.stderr


def test_a_request_that_a_proxy_repeats_is_kept_once_also_after_an_undo(server: Server, files: Files) -> None:
    page = Page(server)
    judged, other = event(1), event(1, 1, grade=0)
    undo = event(1, 2, "undo", undoes=judged["key"])
    for acts in ((judged,), (judged,), (judged, other), (undo,), (judged,), (undo, other)):
        assert page.save(*acts)[0] == 200
    assert keys(files.store) == [judged["key"], other["key"], undo["key"]]
    assert stored(files.store) == [("ann", "q1", "d0", 0)]


def test_whatever_is_killed_repeated_or_deleted_every_acknowledged_judgment_is_there_once(
    files: Files,
) -> None:
    rng = random.Random(7)
    saved: set[str] = set()
    for turn in range(6):
        with Server(files) as server:
            pages = [Page(server, judge) for judge in ("ann", "bob")]

            def judge(page: Page, first: int, seed: int) -> None:
                own, earlier = random.Random(seed), []
                for place in range(first, first + 400):
                    act = event(place % 24 + 1, place) | {"key": f"{page.judge}-{place:08}"}
                    earlier.append(act)
                    try:
                        page.save(*own.choices(earlier, k=own.randrange(3)), act)  # some once more
                    except (OSError, http.client.HTTPException):
                        return

            threads = [threading.Thread(target=judge, args=(page, turn * 400, turn)) for page in pages]
            for thread in threads:
                thread.start()
            time.sleep(rng.uniform(0.2, 1.2))
            if turn % 3 == 1:
                os.unlink(f"{files.store}-wal")
                time.sleep(0.3)
            elif turn % 3 == 2:
                os.unlink(f"{files.store}-shm")
                time.sleep(0.3)
            server.stop(signal.SIGKILL)
            for thread in threads:
                thread.join()
            saved |= {key for page in pages for key in page.saved}
    kept = keys(files.store)
    assert len(kept) == len(set(kept))
    assert saved <= set(kept)
    assert len(saved) > 100
    assert stored(files.store, "PRAGMA integrity_check") == [("ok",)]
