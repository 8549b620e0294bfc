"""A store keeps what happened, in order, once, and for good."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judging_pages import GRADES, event, save, stored
from leadline.errors import InputError, UsageError
from leadline.judging.events import ConflictError, check_judge, parse_event, parse_scale, written
from leadline.judging.store import Store


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "judged.sqlite")


@pytest.fixture
def store(path: str) -> Iterator[Store]:
    made = Store.open(path, grades=GRADES)
    made.add_pairs([("q1", f"d{place}", 1.0) for place in range(1, 6)])
    made.add_judge("ann")
    made.add_judge("bob")
    yield made
    made.close()


def act(store: Store, judge: str, *events: dict[str, Any]) -> None:
    save(store, judge, [parse_event(one) for one in events])


def standing(path: str) -> list[tuple[str, str, int]]:
    return [(judge, name, grade) for judge, _, name, grade in stored(path)]


def test_the_last_judgment_of_a_judge_stands_and_the_first_stays_on_record(store: Store, path: str) -> None:
    act(store, "ann", event(1, 1, grade=0), event(1, 2, grade=2))
    assert standing(path) == [("ann", "d1", 2)]
    assert stored(path, "SELECT count(*) FROM events") == [(2,)]


def test_what_is_sent_twice_is_kept_once(store: Store, path: str) -> None:
    for _ in range(2):
        act(store, "ann", event(1), event(2))
    assert stored(path, "SELECT count(*) FROM events") == [(2,)]


def test_a_key_that_another_act_has_is_refused_rather_than_said_to_be_saved(store: Store, path: str) -> None:
    act(store, "ann", event(1))
    with pytest.raises(ConflictError):
        act(store, "bob", event(1))
    with pytest.raises(ConflictError):
        act(store, "ann", event(2) | {"key": event(1)["key"]})
    assert standing(path) == [("ann", "d1", 1)]


def test_an_undo_is_an_event_that_brings_back_what_was_before(store: Store, path: str) -> None:
    act(store, "ann", event(1, 1, grade=0), event(1, 2, grade=2))
    act(store, "ann", event(1, 3, "undo", undoes=event(1, 2)["key"]))
    assert standing(path) == [("ann", "d1", 0)]
    act(store, "ann", event(1, 4, "undo", undoes=event(1, 1)["key"]))
    assert standing(path) == []
    assert stored(path, "SELECT kind FROM events") == [("judge",), ("judge",), ("undo",), ("undo",)]


def test_nobody_undoes_what_another_judge_did(store: Store) -> None:
    act(store, "ann", event(1))
    with pytest.raises(UsageError, match="the judgment or skip to undo is not"):
        act(store, "bob", event(1, 2, "undo", undoes=event(1)["key"]))


def test_a_skip_after_a_judgment_takes_nothing_away(store: Store, path: str) -> None:
    act(store, "ann", event(1), event(1, 2, "skip"))
    assert standing(path) == [("ann", "d1", 1)]


def test_events_are_kept_all_or_none(store: Store, path: str) -> None:
    with pytest.raises(UsageError, match="pair 99"):
        act(store, "ann", event(1), event(99))
    with pytest.raises(UsageError, match="grade 7"):
        act(store, "ann", event(1), event(2, grade=7))
    assert stored(path, "SELECT count(*) FROM events") == [(0,)]


@pytest.mark.parametrize("words", ["DELETE FROM events", "UPDATE events SET grade = 2"])
def test_no_event_can_be_deleted_or_changed(store: Store, path: str, words: str) -> None:
    act(store, "ann", event(1))
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="never"):
        connection.execute(words)


def test_a_commit_waits_for_the_disk_and_readers_need_not_wait(store: Store) -> None:
    ask = store._connection.execute
    assert ask("PRAGMA synchronous").fetchone() == (2,)
    assert ask("PRAGMA journal_mode").fetchone() == ("wal",)


def test_everything_of_a_judgment_is_kept(store: Store, path: str) -> None:
    act(store, "ann", event(1, seconds=3.25, shown="dynamic", opened=True, note="unsure", given="noon"))
    row = stored(path, "SELECT seconds, shown, opened, note, given, saved FROM judgments")[0]
    assert row[:-1] == (3.25, "dynamic", 1, "unsure", "noon")
    assert row[-1].endswith("+00:00")


def test_pairs_are_added_and_never_taken_away(store: Store) -> None:
    assert store.add_pairs([("q1", "d5", 1.0), ("q2", "d9", 0.5)]) == 1
    assert [(pair.id, pair.document) for pair in store.pairs()][-2:] == [(5, "d5"), (6, "d9")]


def test_a_store_opens_again_as_it_was(store: Store, path: str) -> None:
    act(store, "ann", event(1), event(2, 1, "skip"))
    again = Store.open(path)
    assert (again.id, again.secret, again.grades) == (store.id, store.secret, store.grades)
    assert [act.kind for act in again.acts()] == ["judge", "skip"]
    again.close()


@pytest.mark.parametrize("name", [":memory:", "file:judged?mode=memory"])
def test_a_store_is_a_file_whatever_it_is_called(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Store.open(name, grades=GRADES).close()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["", "-", "judged/"])
def test_a_store_without_a_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="--store"):
        Store.open(name)


@pytest.mark.usefixtures("store")
def test_another_scale_or_seed_is_refused(path: str) -> None:
    Store.open(path, grades="2=yes, 1=partly, 0=no", seed=0).close()
    with pytest.raises(UsageError, match="with the grades '0=no,1=partly,2=yes'"):
        Store.open(path, grades="0=no,1=yes")
    with pytest.raises(UsageError, match="with seed 0, not 4"):
        Store.open(path, seed=4)


def test_a_store_whose_making_was_cut_short_is_made_again(path: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert Path(path).stat().st_size > 0
    Store.open(path, grades=GRADES).close()
    assert stored(path, "SELECT value FROM facts WHERE name = 'grades'") == [(GRADES,)]


def test_what_is_no_store_is_refused_in_one_line(tmp_path: Path) -> None:
    text, other, folder = tmp_path / "text", tmp_path / "other", tmp_path / "folder"
    text.write_text("no database")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE rows (cell)")
    folder.mkdir()
    before = other.read_bytes()
    for place, words in (
        (text, "is not an SQLite database"),
        (other, "is an SQLite database, but not a `leadline judge` store"),
        (folder, "is a folder"),
        (Path(os.devnull), "is not a regular file"),
        (tmp_path / "none" / "s.sqlite", "no such folder"),
    ):
        with pytest.raises(InputError, match=words):
            Store.open(str(place))
    assert text.read_text() == "no database"
    assert other.read_bytes() == before


def test_a_damaged_store_is_refused(store: Store, path: str) -> None:
    act(store, "ann", *(event(pair) for pair in range(1, 6)))
    store.close()
    content = bytearray(Path(path).read_bytes())
    content[4096:] = bytes(len(content) - 4096)
    Path(path).write_bytes(content)
    with pytest.raises(InputError, match="is a damaged store"):
        Store.open(path)


@pytest.mark.parametrize("change", ["DELETE FROM facts", "UPDATE facts SET value = 'x'"])
def test_a_store_that_forgot_its_facts_is_damaged(store: Store, path: str, change: str) -> None:
    store._connection.execute(change)
    with pytest.raises(InputError, match="is a damaged store"):
        Store.open(path)


def test_a_newer_store_is_refused(store: Store, path: str) -> None:
    store._connection.execute("PRAGMA user_version = 2")
    with pytest.raises(InputError, match=r"is a store in format 2, but this version"):
        Store.open(path)


def test_a_locked_store_says_so(store: Store, path: str) -> None:
    store._connection.execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="is locked by another program"):
            act(store, "ann", event(1))
    act(store, "ann", event(1))  # and it goes on when the lock is gone


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([], "events"),
        ({"key": "k"}, "key"),
        (event(1, kind="delete"), "kind"),
        (event(1) | {"pair": "1"}, "pair"),
        (event(1) | {"pair": True}, "pair"),
        (event(1) | {"grade": None}, "grade"),
        (event(1) | {"grade": 1.5}, "grade"),
        (event(1, kind="skip") | {"grade": 1}, "grade"),
        (event(1, note="x" * 10_001), "note"),
        (event(1, note=3), "note"),
        (event(1, seconds=float("nan")), "seconds"),
        (event(1, seconds=-1), "seconds"),
        (event(1, seconds=10**400), "seconds"),
        (event(1, shown="picture"), "shown"),
    ],
)
def test_what_no_page_sends_is_refused(found: Any, words: str) -> None:
    with pytest.raises(UsageError, match=f" for '{words}'"):
        parse_event(found)


def test_half_letters_in_a_note_do_not_stop_it(store: Store, path: str) -> None:
    act(store, "ann", event(1, note="odd \ud800"))
    assert stored(path, "SELECT note FROM judgments") == [("odd ?",)]


@pytest.mark.parametrize("name", ["", " ", "a,b", "mean", "Majority", "rank", "note", "x" * 101, "a\x00b"])
def test_some_names_are_no_names_for_judges(name: str) -> None:
    with pytest.raises(UsageError, match="a judge"):
        check_judge(name)


def test_a_scale_has_two_to_five_named_grades() -> None:
    assert written(parse_scale(" 2 = yes,0=no, 1=so so")) == "0=no,1=so so,2=yes"
    for text, words in (
        ("0=no", "1 grade"),
        ("0=a,1=b,2=c,3=d,4=e,5=f", "6 grades"),
        ("0=no,0=yes", "the grade '0' twice"),
        ("0=no,1=no", "the name 'no' twice"),
        ("-1=junk,0=no", "the grade '-1'"),
        ("10=no,1=yes", "the grade '10'"),
        ("0,1", "no name for grade 0"),
        ("\u0662=two,1=one", "the grade"),
    ):
        with pytest.raises(UsageError, match=words):
            parse_scale(text)


def test_a_copy_is_made_elsewhere_if_the_folder_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = tmp_path / "folder", tmp_path / "other"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(other))
    with closing(Store.open(str(folder / "judged.sqlite"), grades=GRADES)) as store:
        shutil.rmtree(folder)
        with pytest.raises(
            InputError, match=r"rescued-1, because SQLite reports: unable to open database file"
        ):
            store.rescue()
        other.mkdir()
        assert store.rescue() == str(other / "judged.sqlite.rescued-1")


def test_a_copy_without_all_judgments_is_not_offered(store: Store, path: str) -> None:
    act(store, "ann", event(1))
    store._last += 1  # as if the file were overwritten by an earlier one
    with pytest.raises(InputError, match=r"because the copy is a damaged store \(judgments are missing\)"):
        store.rescue()
    assert not os.path.exists(f"{path}.rescued-1")
