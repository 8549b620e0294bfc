"""The store of judgments: an SQLite file with the pairs to judge and all events of all judges."""

from __future__ import annotations

import math
import os
import secrets
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from threading import Event as Flag
from threading import RLock, Thread
from time import monotonic
from typing import Any, NamedTuple, Self

from leadline.data.judgment_tables import DrawnPool
from leadline.errors import InputError, UsageError
from leadline.io import judgment_store as reader
from leadline.io.judgment_store import APPLICATION, VERSION, WAIT
from leadline.io.pool_files import lines_of
from leadline.io.score_cells import json_or_none
from leadline.judging import events as scale
from leadline.judging.events import ConflictError, Event, check_judge
from leadline.judging.lock import Identity, check_folder, check_names

TABLES = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE judges (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, since TEXT NOT NULL);

CREATE TABLE pairs (
  id INTEGER PRIMARY KEY, query TEXT NOT NULL, document TEXT NOT NULL, probability REAL NOT NULL,
  UNIQUE (query, document)
);

-- Which judge has a query when the work is dealt out; the last row of a query counts.
CREATE TABLE deals (id INTEGER PRIMARY KEY, query TEXT NOT NULL, judge TEXT NOT NULL, saved TEXT NOT NULL);

-- key: made by the page, so that what is sent twice is kept once.
-- shown: title, static, dynamic or full; opened: whether the judge had the full text on the screen.
-- given: by the clock of the judge; saved: by the clock of the server.
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('judge', 'skip', 'undo')),
  judge INTEGER NOT NULL REFERENCES judges (id), pair INTEGER NOT NULL REFERENCES pairs (id),
  grade INTEGER CHECK ((grade IS NOT NULL) = (kind = 'judge')), note TEXT NOT NULL DEFAULT '',
  seconds REAL, shown TEXT NOT NULL DEFAULT '', opened INTEGER NOT NULL DEFAULT 0,
  given TEXT NOT NULL DEFAULT '', saved TEXT NOT NULL,
  undoes INTEGER REFERENCES events (id) CHECK ((undoes IS NOT NULL) = (kind = 'undo'))
);

CREATE INDEX events_of_judge ON events (judge, pair);

CREATE INDEX events_in_order ON events (judge, id);

CREATE INDEX events_undone ON events (undoes) WHERE undoes IS NOT NULL;

CREATE TRIGGER events_stay BEFORE DELETE ON events
  BEGIN SELECT raise(ABORT, 'a judgment is never deleted'); END;

CREATE TRIGGER events_are_final BEFORE UPDATE ON events
  BEGIN SELECT raise(ABORT, 'a judgment is never changed'); END;

-- What was not undone.
CREATE VIEW done AS
  SELECT * FROM events WHERE kind != 'undo'
    AND NOT EXISTS (SELECT 1 FROM events AS undo WHERE undo.undoes = events.id);

-- The last judgment of a judge for a pair.
CREATE VIEW judgments AS
  SELECT done.id, query, document, probability, judges.name AS judge, grade, note, seconds, shown, opened,
    given, saved, pair
  FROM done JOIN pairs ON pairs.id = done.pair JOIN judges ON judges.id = done.judge
  WHERE done.id IN (SELECT max(id) FROM done WHERE kind = 'judge' GROUP BY judge, pair);

-- sum: checksum of the event; digest: of the text that the judge saw.
CREATE TABLE seals (
  event INTEGER PRIMARY KEY REFERENCES events (id), sum INTEGER NOT NULL, digest TEXT NOT NULL
);

-- The order in which the pairs of a drawn pool are judged.
CREATE TABLE orders (pair INTEGER PRIMARY KEY REFERENCES pairs (id), place REAL NOT NULL);

-- The drawn pool, as `pool --for` writes it, compressed.
CREATE TABLE frames (id INTEGER PRIMARY KEY CHECK (id = 1), pool BLOB NOT NULL);
"""


def connect(path: str) -> sqlite3.Connection:
    """Open a file that is to become a store, without writing to it; ":memory:" and "file:" are names too."""
    return sqlite3.connect(os.path.abspath(path), timeout=WAIT, isolation_level=None, check_same_thread=False)


def create(connection: sqlite3.Connection, facts: Mapping[str, str]) -> None:
    """Create the tables and the settings of a store in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES.split("\n\n"):
        connection.execute(statement)
    connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


class JudgingPair(NamedTuple):
    """A query-document pair to judge, with its inclusion probability and order in the pool.

    The order is infinite for pairs of pools without one.
    """

    id: int
    query: str
    document: str
    probability: float
    order: float = math.inf


class Act(NamedTuple):
    """A judgment or skip that was not undone."""

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


RULE = {"rule": str, "number": int, "pairs": int, "looks": list, "taken": list, "stopped": bool}


def _is_rule(state: Any) -> bool:
    """Return whether this is a stopping rule with its looks, in order, and the results of the first ones."""
    if not isinstance(state, dict) or {key: type(state.get(key)) for key in RULE} != RULE:
        return False
    looks = state["looks"]
    taken = [one if isinstance(one, dict) else {} for one in state["taken"]]
    widths = [one.get("half_width", "") for one in taken]
    return (
        all(isinstance(place, int) and 0 < place <= state["pairs"] for place in looks)
        and looks == sorted(set(looks))
        and [one.get("pairs") for one in taken] == looks[: len(taken)]
        and all(width is None or isinstance(width, float) for width in widths)
        and (not state["stopped"] or widths[-1:] not in ([], [None]))
    )


Standing = dict[int, list[Act]]  # acts on pairs that were not undone, oldest first
IDLE = 1.0  # seconds without a judgment until a checkpoint
SETTLE_AT_LEAST = 10.0  # seconds between checkpoints during judging

ACTS = """
SELECT done.id, key, kind, judges.name, pair, grade, note, seconds, shown, opened
FROM done JOIN judges ON judges.id = done.judge
"""


INSERT = """
INSERT INTO events (key, kind, judge, pair, grade, note, seconds, shown, opened, given, saved, undoes)
VALUES (:key, :kind, :judge, :pair, :grade, :note, :seconds, :shown, :opened, :given, :saved, :undoes)
ON CONFLICT (key) DO NOTHING
"""
SAME = """
SELECT 1 FROM events WHERE (key, kind, judge, pair, note) = (:key, :kind, :judge, :pair, :note)
AND grade IS :grade AND undoes IS :undoes
"""


class Store:
    """A store open for writing; thread-safe.

    `grades` is its scale and `seed` that of all random draws; both are fixed at creation.
    """

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = RLock()
        self._written, self._closing = Flag(), Flag()
        self._settler: Thread | None = None
        try:
            facts: dict[str, str] = dict(connection.execute("SELECT name, value FROM facts"))
            self.grades = scale.parse_scale(facts["grades"])
            self.seed = int(facts["seed"])
            self.id: str = facts["id"]
            self.secret: str = facts["secret"]
            if not all(isinstance(text, str) for text in facts.values()):
                raise reader.damaged(path, "its settings cannot be read")
        except (AttributeError, KeyError, TypeError, ValueError, UsageError):
            raise reader.damaged(path, "its settings cannot be read") from None
        self._identity = Identity(path)
        self._last = self._last_event(connection)

    @classmethod
    def open(cls, path: str, *, grades: str | None = None, seed: int | None = None) -> Self:
        """Open or create a store; raise UsageError if its scale or seed differs."""
        text = None if grades is None else scale.written(scale.parse_scale(grades))
        if os.path.isdir(path):
            raise InputError(f"this is a folder, not {reader.STORE}", path=path)
        check_folder(path)
        if os.path.exists(path) and not os.path.isfile(path):
            raise InputError(f"this is not a regular file, so it cannot be {reader.STORE}", path=path)
        check_names(path)
        if os.path.exists(path) and os.path.getsize(path) and not reader.is_database(path):
            raise InputError(f"this is not an SQLite database, so it cannot be {reader.STORE}", path=path)
        with reader.faults(path):
            connection = _opened(path, text or scale.DEFAULT, seed or 0)
            try:
                store = cls(path, connection)
            except BaseException:
                connection.close()
                raise
        try:
            store._check(text, seed)
        except UsageError:
            store.close()
            raise
        return store

    def _check(self, grades: str | None, seed: int | None) -> None:
        scale_text = scale.written(self.grades)
        if grades not in (None, scale_text):
            raise UsageError(
                f"{self.path} was created with the grades '{scale_text}', not '{grades}'. Use the same "
                "grades or another store."
            )
        if seed not in (None, self.seed):
            raise UsageError(
                f"{self.path} was created with seed {self.seed}, not {seed}. Use the same seed or another "
                "store."
            )

    def close(self) -> None:
        """Close the store; on the last connection SQLite merges the write-ahead log into the file."""
        self._closing.set()
        self._written.set()
        if self._settler is not None:
            self._settler.join()
        with self._lock:
            self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction; at the end its changes are on disk, in the file at the store's path."""
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
        """Raise an error if the open files are no longer those at the store's path."""
        with self._lock:
            try:
                self._identity.check()
            except InputError:
                self.checkpoint()  # save the content of a deleted log to the database
                raise
            if self._identity.is_changed():
                self._check_content()
                self._identity.note_content()

    def _check_content(self) -> None:
        """Reread the store after another program wrote to it and verify that all events are present."""
        with reader.faults(self.path), closing(connect(self.path)) as connection:
            reader.check(connection, self.path)
            same = connection.execute("SELECT value FROM facts WHERE name = 'id'").fetchone() == (self.id,)
            if not same or self._last_event(connection) < self._last:
                raise InputError(
                    "the store was overwritten while the server was running, so judgments are no longer "
                    "being saved",
                    path=self.path,
                    hint="Stop the server to get a copy of the store.",
                )

    @staticmethod
    def _last_event(connection: sqlite3.Connection) -> int:
        """Return the largest id of an event; ids increase and no event is ever deleted."""
        (largest,) = connection.execute("SELECT coalesce(max(id), 0) FROM events").fetchone()
        return int(largest)

    def checkpoint(self) -> bool:
        """Merge the write-ahead log into the file, so that the file alone is the store."""
        with self._lock:
            unchanged = not self._identity.is_changed()  # else `check_files` has to look into it
            try:
                (wait,) = self._connection.execute("PRAGMA busy_timeout").fetchone()
                self._connection.execute("PRAGMA busy_timeout = 0")  # fail at once instead of waiting
                try:
                    moved = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                finally:
                    self._connection.execute(f"PRAGMA busy_timeout = {wait}")
            except sqlite3.Error:
                return False
            finally:
                if unchanged:
                    self._identity.note_content()
            return bool(moved[0] == 0)

    def _settle_later(self) -> None:
        """Schedule a checkpoint for when the store has been idle."""
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
        """Copy the open store, even if its file or folder was deleted, to a new file; return its path."""
        number, path = 1, self.path
        if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            path = os.path.join(tempfile.gettempdir(), os.path.basename(path))
        while os.path.exists(target := f"{path}.rescued-{number}"):
            number += 1
        try:
            with self._lock, closing(connect(target)) as copy:
                self._connection.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                with reader.faults(target):
                    reader.check(copy, target)
                    if self._last_event(copy) < self._last:
                        raise reader.damaged(target, "judgments are missing")
        except (InputError, sqlite3.Error) as error:
            with suppress(OSError):
                os.unlink(target)
            cause = f"the copy {error.found}" if isinstance(error, InputError) else f"SQLite reports: {error}"
            raise InputError(
                f"the store cannot be copied to {target}, because {cause}", path=self.path
            ) from None
        return target

    def _rows(self, types: str, query: str, *values: object) -> list[Any]:
        """Read rows whose columns have the types declared in `reader.typed`."""
        with self._lock, reader.faults(self.path):
            return list(reader.typed(self._connection.execute(query, values), types, self.path))

    def _acts(self, rest: str, *values: object) -> list[Act]:
        acts = [Act(*row) for row in self._rows("isssins?si", ACTS + rest, *values)]
        scale = {grade.value for grade in self.grades}
        for act in acts:
            if act.kind == "judge" and act.grade not in scale:
                raise reader.damaged(self.path, f"grade {act.grade} is not on its scale")
        return acts

    def add_pairs(self, pairs: Iterable[tuple[str, str, float]]) -> int:
        """Add pairs not present yet and return their number. Pairs are never removed."""
        with self._writing() as connection:
            before = connection.total_changes
            connection.executemany(
                "INSERT INTO pairs (query, document, probability) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                pairs,
            )
            return connection.total_changes - before

    def pairs(self) -> list[JudgingPair]:
        """Return all pairs."""
        query = (
            "SELECT id, query, document, probability, coalesce(place, 9e999) FROM pairs "
            "LEFT JOIN orders ON orders.pair = pairs.id ORDER BY id"
        )
        return [JudgingPair(*row) for row in self._rows("issff", query)]

    def set_pool(self, pool: DrawnPool) -> None:
        """Keep the drawn pool, and the order in which its pairs are judged, in place of an earlier one."""
        columns = pool.queries, pool.documents, pool.order.tolist(), pool.drawn.tolist()
        text = "\n".join(lines_of(pool, self.path)).encode("utf-8")
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO frames VALUES (1, ?)", (zlib.compress(text),))
            connection.execute("DELETE FROM orders")
            connection.executemany(
                "INSERT INTO orders (pair, place) SELECT id, ? FROM pairs WHERE query = ? AND document = ?",
                (
                    (order, query, document)
                    for query, document, order, listed in zip(*columns, strict=True)
                    if listed
                ),
            )

    def pool(self) -> DrawnPool | None:
        """Return the drawn pool that the store keeps; None if it keeps no pool."""
        with self._lock, reader.faults(self.path):
            return reader.kept_pool(self._connection, self.path)

    def stopping(self) -> dict[str, Any] | None:
        """Return the stopping rule and its looks; None if the store has no rule."""
        text = self.fact("stopping")
        state = None if text is None else json_or_none(text)
        if text is None or _is_rule(state):
            return state
        raise reader.damaged(self.path, "its stopping rule cannot be read")

    def fact(self, name: str) -> str | None:
        """Return a setting of the store; None if it has none of this name."""
        rows = self._rows("s", "SELECT value FROM facts WHERE name = ?", name)
        return rows[0][0] if rows else None

    def set_fact(self, name: str, value: str) -> None:
        """Save a setting."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def judges(self) -> list[str]:
        """Return the names of the judges, in order of arrival."""
        return [name for (name,) in self._rows("s", "SELECT name FROM judges ORDER BY id")]

    def add_judge(self, name: str) -> str:
        """Add a judge unless the name exists."""
        name = check_judge(name)
        with self._writing() as connection:
            insert = "INSERT INTO judges (name, since) VALUES (?, ?) ON CONFLICT DO NOTHING"
            connection.execute(insert, (name, _now()))
        return name

    def deals(self) -> dict[str, str]:
        """Return the judge of every assigned query."""
        return dict(self._rows("ss", "SELECT query, judge FROM deals ORDER BY id"))

    def add_deals(self, deals: Iterable[tuple[str, str]]) -> None:
        """Save assignments of queries to judges; the last assignment of a query counts."""
        with self._writing() as connection:
            connection.executemany(
                "INSERT INTO deals (query, judge, saved) VALUES (?, ?, ?)",
                ((query, judge, _now()) for query, judge in deals),
            )

    def append_all(self, sent: Sequence[tuple[str, Sequence[Event]]]) -> list[Standing | UsageError]:
        """Save events of several judges in one transaction, those of each all or none.

        Returns, for each judge, what now stands on the pairs of the events, or why they were not saved.
        """
        with self._writing() as connection:
            return [self._append_one(connection, judge, events) for judge, events in sent]

    def _append_one(
        self, connection: sqlite3.Connection, judge: str, events: Sequence[Event]
    ) -> Standing | UsageError:
        connection.execute("SAVEPOINT one")
        standing: Standing | UsageError
        try:
            row = connection.execute("SELECT id FROM judges WHERE name = ?", (judge,)).fetchone()
            if row is None:
                raise UsageError(f"'{judge}' is not a judge of this store. Add the name first.")
            for event in events:
                self._append(connection, row[0], event)
            where = "WHERE judges.name = ? AND pair = ? ORDER BY done.id"
            standing = {pair: self._acts(where, judge, pair) for pair in {event.pair for event in events}}
        except UsageError as error:
            standing = error
            connection.execute("ROLLBACK TO one")
        connection.execute("RELEASE one")
        return standing

    def _append(self, connection: sqlite3.Connection, judge: int, event: Event) -> None:
        values = sorted(grade.value for grade in self.grades)
        if event.grade is not None and event.grade not in values:
            raise UsageError(f"grade {event.grade} is not on the scale {', '.join(map(str, values))}")
        undone = None
        if event.kind == "undo":
            undone = connection.execute(
                "SELECT id FROM events WHERE key = ? AND judge = ? AND pair = ? AND kind != 'undo'",
                (event.undoes, judge, event.pair),
            ).fetchone()
            if undone is None:
                raise UsageError("the judgment or skip to undo is not in the store")
        if connection.execute("SELECT 1 FROM pairs WHERE id = ?", (event.pair,)).fetchone() is None:
            raise UsageError(f"pair {event.pair} is not in the store")
        row = event._asdict() | {"judge": judge, "saved": _now(), "undoes": undone and undone[0]}
        cursor = connection.execute(INSERT, row)
        if cursor.rowcount:
            self._seal(connection, cursor.lastrowid, event.digest)
        elif connection.execute(SAME, row).fetchone() is None:
            raise ConflictError(
                "a different judgment was already saved for this action, and that judgment is kept"
            )

    @staticmethod
    def _seal(connection: sqlite3.Connection, number: int | None, digest: str) -> None:
        """Save the checksum of an event, as read back, and the digest of the judged text."""
        connection.execute("INSERT INTO seals VALUES (?, 0, ?)", (number, digest))
        row = connection.execute(f"{reader.SEALED} WHERE events.id = ?", (number,)).fetchone()
        statement = "UPDATE seals SET sum = ? WHERE event = ?"
        connection.execute(statement, (reader.checksum(row), number))

    def has(self, key: str) -> bool:
        """Return whether the event of a key is in the store."""
        return bool(self._rows("s", "SELECT key FROM events WHERE key = ?", key))

    def digests(self) -> list[tuple[int, str]]:
        """Return pair and digest of the judged text, for every current judgment."""
        query = (
            "SELECT pair, seals.digest FROM judgments JOIN seals ON seals.event = judgments.id "
            "WHERE seals.digest != '' ORDER BY judgments.id"
        )
        return [(pair, text) for pair, text in self._rows("is", query)]

    def acts(self) -> list[Act]:
        """Return all judgments and skips that were not undone, oldest first."""
        return self._acts("ORDER BY done.id")

    def last_acts(self, judge: str, count: int) -> list[Act]:
        """Return the most recent events of a judge that were not undone, newest first."""
        where = "WHERE judges.name = ? ORDER BY done.id DESC LIMIT ?"
        return self._acts(where, judge, count)


def _opened(path: str, grades: str, seed: int) -> sqlite3.Connection:
    """Open a store; create it if there is none, or if its creation was interrupted."""
    connection = connect(path)
    try:
        connection.execute("PRAGMA cell_size_check = ON")
        blank = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
        if not blank:
            reader.check(connection, path)  # before anything is written to what may be another's
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {setting}")
        if blank:
            facts = {
                "grades": grades,
                "seed": str(seed),
                "id": secrets.token_hex(8),
                "secret": secrets.token_urlsafe(24),
                "made": _now(),
            }
            create(connection, facts)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except BaseException:
        connection.close()
        raise
    return connection


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
