"""A store with wrong bytes is refused in one line or read as it was, and never read as something else."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from conftest import Leadline
from judging_pages import GRADES, event, save, write
from leadline.errors import InputError
from leadline.io import judgment_store as reader
from leadline.judging.events import parse_event
from leadline.judging.queue import Queues
from leadline.judging.store import Store

PAGE = 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Make the bytes of a store with 240 pairs, 398 judgments, 38 of them taken back."""
    path = str(tmp_path_factory.mktemp("whole") / "judged.sqlite")
    with closing(Store.open(path, grades=GRADES)) as store:
        store.add_pairs(
            (f"q{query}", f"d{place}", 1.0 if place % 3 else 0.25)
            for query in range(6)
            for place in range(40)
        )
        for judge in ("ann", "bob"):
            store.add_judge(judge)
            note = {0: "not sure"}
            acts = [
                event(pair, grade=pair % 3, note=note.get(pair % 7, ""), seconds=1.5)
                | {"shown": "full", "digest": "0" * 16, "key": f"{judge}-{pair:08}"}
                for pair in range(1, 200)
            ]
            acts += [
                event(pair, 1, "undo", undoes=f"{judge}-{pair:08}") | {"key": f"u-{judge}-{pair:08}"}
                for pair in range(1, 20)
            ]
            save(store, judge, [parse_event(act) for act in acts])
    return Path(path).read_bytes()


def flip(content: bytearray, rng: random.Random) -> None:
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def scatter(content: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 4, 20])):
        content[rng.randrange(len(content))] = rng.randrange(256)


def blank(content: bytearray, rng: random.Random) -> None:
    begin, size = rng.randrange(len(content)), rng.choice([8, 64, 512, PAGE])
    content[begin : begin + size] = bytes(len(content[begin : begin + size]))


def cut(content: bytearray, rng: random.Random) -> None:
    del content[rng.randrange(len(content)) :]


def swap(content: bytearray, rng: random.Random) -> None:
    one, other = (PAGE * rng.randrange(len(content) // PAGE) for _ in range(2))
    content[one : one + PAGE], content[other : other + PAGE] = (
        content[other : other + PAGE],
        content[one : one + PAGE],
    )


def tried(read: Callable[[str], Any], path: str) -> tuple[Any, str]:
    """Return what is read, or the words of the refusal."""
    try:
        return read(path), ""
    except InputError as error:
        return None, str(error)


def stored(path: str) -> object:
    found = reader.read(path)
    return found.given, found.shares


def opened(path: str) -> Any:
    with closing(Store.open(path)) as store:
        return Queues(store).judgments()


@pytest.mark.parametrize("harm", [flip, scatter, blank, cut, swap])
def test_wrong_bytes_are_refused_in_a_line_or_change_nothing(
    whole: bytes, tmp_path: Path, harm: Callable[[bytearray, random.Random], None]
) -> None:
    path = tmp_path / "judged.sqlite"
    path.write_bytes(whole)
    expected = {read: read(str(path)) for read in (stored, opened)}
    rejected = 0
    for seed in range(60):
        content = bytearray(whole)
        harm(content, random.Random(seed))
        for read, right in expected.items():
            for old in tmp_path.glob("judged.sqlite*"):
                old.unlink()
            path.write_bytes(content)
            found, said = tried(read, str(path))
            assert said.isprintable()
            assert found == right or said
            rejected += bool(said) and content != whole
    assert rejected >= 20


def test_commands_end_with_status_2_and_one_line(whole: bytes, tmp_path: Path, leadline: Leadline) -> None:
    path, run, files = tmp_path / "judged.sqlite", tmp_path / "a.run", write(tmp_path)
    run.write_text("q1 Q0 d1 1 1 a\n")
    place = whole.index(b"CREATE TABLE judges")
    for found in (b"CREATE \xf5ABLE", b"CREATE T\x1dBLE", b"CREATE TABLF"):
        path.write_bytes(whole[:place] + found + whole[place + len(found) :])
        for words in (
            ("evaluate", path, run),
            ("agreement", f"{path}:*"),
            ("judge", "--store", path, "--export", tmp_path / "qrels.txt"),
            (
                *f"judge {files.pool} --docs {files.docs} --queries {files.queries} --store {path}".split(),
                *"--port 0 --no-browser".split(),
            ),
        ):
            done = leadline(*words)
            assert done.status == 2
            assert done.err.count("\n") == 1
            assert done.err.strip().isprintable()
            assert "judged.sqlite" in done.err


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE pairs SET document = x'ff' WHERE id = 30",
        "UPDATE pairs SET probability = 'often'",
        "INSERT INTO pairs VALUES (999, 'q1', 'unjudged', -1)",
        "INSERT INTO pairs VALUES (999, 'q1', 'unjudged', 2)",
        "UPDATE judges SET name = x'ff' WHERE id = 1",
        "UPDATE events SET grade = 4 WHERE id = 30",
        "UPDATE events SET grade = 'two' WHERE id = 30",
        "UPDATE events SET pair = 9999 WHERE id = 30",
        "UPDATE events SET grade = 2 - grade WHERE id = 30",
        "UPDATE events SET undoes = 30 WHERE undoes = 1",
        "UPDATE pairs SET document = 'd0x' WHERE id = 30",
        "UPDATE judges SET name = 'eve' WHERE id = 1",
        "UPDATE seals SET sum = 0 WHERE event = 30",
        "UPDATE facts SET value = x'ff' WHERE name = 'grades'",
        "UPDATE facts SET value = x'ff' WHERE name = 'id'",
    ],
)
def test_wrong_values_in_a_whole_database_are_refused(whole: bytes, tmp_path: Path, change: str) -> None:
    path = tmp_path / "judged.sqlite"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER events_are_final")
        connection.execute(change)
        connection.commit()
    with pytest.raises(InputError, match="is a damaged store"):
        opened(str(path))
    if "facts" not in change:
        with pytest.raises(InputError, match="is a damaged store"):
            reader.read(str(path))


def test_an_earlier_version_may_judge_in_a_new_store(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "judged.sqlite"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as connection:  # what that version does: no seal
        connection.execute(
            "INSERT INTO events (key, kind, judge, pair, grade, saved) "
            "VALUES ('old-key', 'judge', 1, 230, 1, '')"
        )
        connection.commit()
    assert ("q5", "d29", "ann", 1) in [tuple(row.judgment) for row in reader.read(str(path)).given]


def test_a_log_with_wrong_bytes_loses_no_more_than_what_was_in_it(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "judged.sqlite"
    path.write_bytes(whole)
    with closing(Store.open(str(path))) as store:
        before = len(reader.read(str(path)))
        save(store, "ann", [parse_event(event(210))])
        shutil.copyfile(path, tmp_path / "copy.sqlite")
        log = Path(f"{path}-wal").read_bytes()
    for seed in range(20):
        copy = tmp_path / "copy.sqlite"
        content = bytearray(log)
        scatter(content, random.Random(seed))
        Path(f"{copy}-wal").write_bytes(content)
        found, said = tried(reader.read, str(copy))
        assert said.isprintable()
        assert said or len(found) in (before, before + 1)
        for beside in ("-wal", "-shm"):
            Path(f"{copy}{beside}").unlink(missing_ok=True)
        copy.write_bytes(whole)
