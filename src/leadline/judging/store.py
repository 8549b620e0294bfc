"""The store: one SQLite file that holds the pairs to judge and every act of every judge."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from threading import Event as Flag
from threading import RLock, Thread
from time import monotonic
from typing import Any, NamedTuple, Self

from leadline.errors import InputError, UsageError
from leadline.formats import sqlite as reader
from leadline.judging import scale, schema
from leadline.judging.events import Event, check_judge
from leadline.judging.identity import Identity
from leadline.judging.lock import check_names


class Pair(NamedTuple):
    """A query and a document to judge for it, with the probability that the pool took it."""

    id: int
    query: str
    document: str
    probability: float


class Act(NamedTuple):
    """A judgment or skip that stands."""

    id: int
    key: str
    kind: str
    judge: str
    pair: int
    grade: int | None
    note: str
    seconds: float | None
    shown: str
    opened: bool


IDLE = 1.0  # seconds without a judgment until a checkpoint
SETTLE_AT_LEAST = 10.0  # seconds between checkpoints while judging goes on

ACTS = """
SELECT done.id, key, kind, judges.name, pair, grade, note, seconds, shown, opened
FROM done JOIN judges ON judges.id = done.judge
"""


class Store:
    """A store that is open for writing; safe to use from several threads.

    `grades` is its scale and `seed` begins every draw; both are fixed when the store is made.
    """

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = RLock()
        self._written, self._closing = Flag(), Flag()
        self._settler: Thread | None = None
        try:
            facts: dict[str, str] = dict(connection.execute("SELECT name, value FROM facts"))
            self.grades = scale.parse(facts["grades"])
            self.seed = int(facts["seed"])
            self.id: str = facts["id"]
            self.secret: str = facts["secret"]
            if not all(isinstance(text, str) for text in facts.values()):
                raise reader.damaged(path, "its facts cannot be read")
        except (AttributeError, KeyError, TypeError, ValueError, UsageError):
            raise reader.damaged(path, "its facts cannot be read") from None
        self._identity = Identity(path)
        self._last = self._last_event(connection)

    @classmethod
    def open(cls, path: str, *, grades: str | None = None, seed: int | None = None) -> Self:
        """Open a store, or make it where there is none; refuses another scale or seed than it has."""
        text = None if grades is None else scale.written(scale.parse(grades))
        folder = os.path.dirname(os.path.abspath(path))
        if os.path.isdir(path):
            raise InputError("is a folder", expected=reader.STORE, path=path)
        if not os.path.isdir(folder):
            raise InputError("No such folder", expected="a folder for the store", path=folder)
        if os.path.exists(path) and not os.path.isfile(path):
            raise InputError("is no file", expected=reader.STORE, path=path)
        check_names(path)
        if os.path.exists(path) and os.path.getsize(path) and not reader.is_database(path):
            raise InputError("is no SQLite database", expected=reader.STORE, path=path)
        with reader.faults(path):
            connection = _opened(path, text or scale.DEFAULT, seed or 0)
            try:
                found = cls(path, connection)
            except BaseException:
                connection.close()
                raise
        try:
            found._check(text, seed)
        except UsageError:
            found.close()
            raise
        return found

    def _check(self, grades: str | None, seed: int | None) -> None:
        known = scale.written(self.grades)
        if grades not in (None, known):
            raise UsageError(
                f"{self.path} was made with the grades '{known}', not '{grades}'; expected the same, or "
                "another store"
            )
        if seed not in (None, self.seed):
            raise UsageError(
                f"{self.path} was made with seed {self.seed}, not {seed}; expected the same"
            )

    def close(self) -> None:
        """Close the store; as the last to have it open, SQLite moves everything into the one file."""
        self._closing.set()
        self._written.set()
        if self._settler is not None:
            self._settler.join()
        with self._lock:
            self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Do all or nothing; what was done is on the disk at the end, in the file that the path leads to."""
        with self._lock, reader.faults(self.path):
            self.check_files()
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a COMMIT that failed may leave it open
                    self._connection.execute("ROLLBACK")
                raise
            self._last = self._last_event(self._connection)
            self._identity.note_content()  # a COMMIT may have done a checkpoint
            self.check_files()
            self._settle_later()

    def check_files(self) -> None:
        """Refuse to go on when the files are no longer those that were opened.

        Raises
        ------
        InputError
            If the store or its write-ahead log was deleted, moved or replaced, or if another program wrote
            into the store and judgments are missing or unreadable since.

        """
        with self._lock:
            try:
                self._identity.check()
            except InputError:
                self.checkpoint()  # what is in a deleted log goes into the database
                raise
            if self._identity.is_changed():
                self._check_content()
                self._identity.note_content()

    def _check_content(self) -> None:
        """Read the store anew after another program wrote to it: everything saved must still be there."""
        with reader.faults(self.path), closing(schema.connect(self.path)) as fresh:
            reader.check(fresh, self.path)
            same = fresh.execute("SELECT value FROM facts WHERE name = 'id'").fetchone() == (
                self.id,
            )
            if not same or self._last_event(fresh) < self._last:
                raise InputError(
                    "was overwritten while the page was running; nothing more is saved",
                    expected="the store that was opened", path=self.path,
                    hint="Stop the page and restore the store",
                )  # fmt: skip

    @staticmethod
    def _last_event(connection: sqlite3.Connection) -> int:
        """Give the largest id of an event; ids rise and no event is ever deleted."""
        (found,) = connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()
        return int(found)

    def checkpoint(self) -> bool:
        """Move everything from the write-ahead log into the file, so that the file alone is the store.

        Returns
        -------
        bool
            False if a reader or writer was in the way or the disk is full; nothing is lost by that.

        """
        with self._lock:
            known = not self._identity.is_changed()  # else `check_files` has to look into it
            try:
                (wait,) = self._connection.execute("PRAGMA busy_timeout").fetchone()
                self._connection.execute("PRAGMA busy_timeout = 0")  # nobody waits for this
                try:
                    moved = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                finally:
                    self._connection.execute(f"PRAGMA busy_timeout = {wait}")
            except sqlite3.Error:
                return False
            finally:
                if known:
                    self._identity.note_content()
            return bool(moved[0] == 0)

    def _settle_later(self) -> None:
        """Do a checkpoint when the store has been idle for a moment."""
        self._written.set()
        if self._settler is None:
            self._settler = Thread(target=self._settle, name="leadline-checkpoint", daemon=True)
            self._settler.start()

    def _settle(self) -> None:
        while True:
            self._written.wait()
            latest = monotonic() + SETTLE_AT_LEAST
            while self._written.is_set() and monotonic() < latest and not self._closing.is_set():
                self._written.clear()
                self._closing.wait(IDLE)
            if self._closing.is_set():
                return
            if not self.checkpoint():
                self._written.set()

    def rescue(self) -> str:
        """Copy everything that is open, also of a deleted file, to a new file; give its path.

        Raises
        ------
        InputError
            If it cannot be read or written, or if the copy is not whole.

        """
        number = 1
        while os.path.exists(target := f"{self.path}.rescued-{number}"):
            number += 1
        try:
            with self._lock, reader.faults(target), closing(sqlite3.connect(target)) as copy:
                self._connection.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                reader.check(copy, target)
                if self._last_event(copy) < self._last:
                    raise reader.damaged(target, "judgments are missing")
        except InputError:
            with suppress(OSError):
                os.unlink(target)
            raise InputError(
                "cannot be copied to another file", expected="an undamaged store", path=self.path
            ) from None
        return target

    def _rows(self, types: str, query: str, *values: object) -> list[Any]:
        """Read rows whose columns have the types that `reader.typed` names."""
        with self._lock, reader.faults(self.path):
            return list(reader.typed(self._connection.execute(query, values), types, self.path))

    def _acts(self, rest: str, *values: object) -> list[Act]:
        acts = [Act(*row) for row in self._rows("isssins?si", ACTS + rest, *values)]
        known = {grade.value for grade in self.grades}
        for act in acts:
            if act.kind == "judge" and act.grade not in known:
                raise reader.damaged(self.path, f"grade {act.grade}, which its scale has not")
        return acts

    def add_pairs(self, pairs: Iterable[tuple[str, str, float]]) -> int:
        """Add the pairs that are not there yet; give how many. None is ever taken away."""
        with self._writing() as connection:
            before = connection.total_changes
            connection.executemany(
                "INSERT INTO pairs (query, document, probability) VALUES (?, ?, ?) "
                "ON CONFLICT DO NOTHING", pairs,
            )  # fmt: skip
            return connection.total_changes - before

    def pairs(self) -> list[Pair]:
        """Give all pairs."""
        rows = self._rows("issf", "SELECT id, query, document, probability FROM pairs ORDER BY id")
        return [Pair(*row) for row in rows]

    def judges(self) -> list[str]:
        """Give the names of the judges, in the order in which they came."""
        return [name for (name,) in self._rows("s", "SELECT name FROM judges ORDER BY id")]

    def add_judge(self, name: str) -> str:
        """Add a judge where there is none of the name."""
        name = check_judge(name)
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO judges (name, since) VALUES (?, ?) ON CONFLICT DO NOTHING", (name, _now())
            )  # fmt: skip
        return name

    def deals(self) -> dict[str, str]:
        """Give the judge of every query that was dealt out."""
        return dict(self._rows("ss", "SELECT query, judge FROM deals ORDER BY id"))

    def add_deals(self, deals: Iterable[tuple[str, str]]) -> None:
        """Deal queries out; the last deal of a query counts."""
        with self._writing() as connection:
            connection.executemany(
                "INSERT INTO deals (query, judge, saved) VALUES (?, ?, ?)",
                ((query, judge, _now()) for query, judge in deals),
            )

    def append(self, judge: str, events: Sequence[Event]) -> None:
        """Keep what a judge did, in order and all or nothing; what is there already stays as it is."""
        known = {grade.value for grade in self.grades}
        for event in events:
            if event.grade is not None and event.grade not in known:
                raise UsageError(f"grade {event.grade}; expected one of {sorted(known)}")
        with self._writing() as connection:
            found = connection.execute("SELECT id FROM judges WHERE name = ?", (judge,)).fetchone()
            if found is None:
                raise UsageError(f"no judge is called '{judge}'; expected one who was added")
            for event in events:
                self._append(connection, found[0], event)

    def _append(self, connection: sqlite3.Connection, judge: int, event: Event) -> None:
        undone = None
        if event.kind == "undo":
            undone = connection.execute(
                "SELECT id FROM events WHERE key = ? AND judge = ? AND pair = ? AND kind != 'undo'",
                (event.undoes, judge, event.pair),
            ).fetchone()
            if undone is None:
                raise UsageError("an undo of what was never done; expected a key that is known")
        if connection.execute("SELECT 1 FROM pairs WHERE id = ?", (event.pair,)).fetchone() is None:
            raise UsageError(f"pair {event.pair}; expected one of the store")
        made = connection.execute(
            "INSERT INTO events (key, kind, judge, pair, grade, note, seconds, shown, opened, given, "
            "saved, undoes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
            (event.key, event.kind, judge, event.pair, event.grade, event.note, event.seconds,
             event.shown, event.opened, event.given, _now(), undone and undone[0]),
        )  # fmt: skip
        same = "SELECT 1 FROM events WHERE (key, kind, judge, pair) = (?, ?, ?, ?)"
        which = event.key, event.kind, judge, event.pair
        if made.rowcount:
            self._seal(connection, made.lastrowid, event.digest)
        elif connection.execute(same, which).fetchone() is None:
            raise UsageError("the key of another act; expected a key of its own")

    @staticmethod
    def _seal(connection: sqlite3.Connection, number: int | None, digest: str) -> None:
        """Write the checksum of an event, as it is read back, and the digest of the text that was judged."""
        connection.execute("INSERT INTO seals VALUES (?, 0, ?)", (number, digest))
        row = connection.execute(f"{reader.SEALED} WHERE events.id = ?", (number,)).fetchone()
        words = "UPDATE seals SET sum = ? WHERE event = ?"
        connection.execute(words, (reader.checksum(row), number))

    def unsaved(self, events: Sequence[Event]) -> list[Event]:
        """Return the events that are not in the store yet."""
        query = "SELECT key FROM events WHERE key = ?"
        return [event for event in events if not self._rows("s", query, event.key)]

    def digests(self) -> list[tuple[int, str]]:
        """Return pair and digest of the text that was judged, for every judgment that stands."""
        query = (
            "SELECT pair, seals.digest FROM judgments JOIN seals ON seals.event = judgments.id "
            "WHERE seals.digest != '' ORDER BY judgments.id"
        )
        return [(pair, text) for pair, text in self._rows("is", query)]

    def acts(self) -> list[Act]:
        """Give every judgment and skip that was not undone, the oldest first."""
        return self._acts("ORDER BY done.id")

    def acts_on(self, judge: str, pair: int) -> list[Act]:
        """Give what a judge did with a pair and did not undo, the oldest first."""
        where = "WHERE judges.name = ? AND pair = ? ORDER BY done.id"
        return self._acts(where, judge, pair)

    def last_acts(self, judge: str, count: int) -> list[Act]:
        """Give the last things that a judge did and did not undo, the newest first."""
        where = "WHERE judges.name = ? ORDER BY done.id DESC LIMIT ?"
        return self._acts(where, judge, count)


def _opened(path: str, grades: str, seed: int) -> sqlite3.Connection:
    """Open a store; make it where nothing is, or where a making was cut short."""
    connection = schema.connect(path)
    try:
        connection.execute("PRAGMA cell_size_check = ON")
        blank = schema.is_blank(connection)
        if not blank:
            reader.check(connection, path)  # before anything is written to what may be another's
        schema.keep_safe(connection)
        if not blank:
            schema.add_seals(connection)
        if blank:
            facts = {
                "grades": grades, "seed": str(seed), "id": secrets.token_hex(8),
                "secret": secrets.token_urlsafe(24), "made": _now(),
            }  # fmt: skip
            schema.create(connection, facts)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except BaseException:
        connection.close()
        raise
    return connection


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
