"""The tables of a store. Rows are added and never changed: what happened is what is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from leadline.formats.sqlite import APPLICATION, VERSION, WAIT

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
"""

# Added later without a new version: earlier versions read and write a store that has it, and events without
# a seal are as good as before. sum: checksum of the event; digest: of the text that the judge saw.
SEALS = """
CREATE TABLE IF NOT EXISTS seals (
  event INTEGER PRIMARY KEY REFERENCES events (id), sum INTEGER NOT NULL, digest TEXT NOT NULL
)
"""


def connect(path: str) -> sqlite3.Connection:
    """Open a file that is to be a store; nothing is written to it yet."""
    return sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)


def keep_safe(connection: sqlite3.Connection) -> None:
    """See to it that a commit is on the disk before it returns, and that others can read meanwhile."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")


def create(connection: sqlite3.Connection, facts: Mapping[str, str]) -> None:
    """Make the tables and write the facts of a store, all or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES.split("\n\n"):
        connection.execute(statement)
    connection.execute(SEALS)
    connection.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def add_seals(connection: sqlite3.Connection) -> None:
    """Add the table of seals to a store of an earlier version."""
    table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'seals'"
    if connection.execute(table).fetchone() is None:
        connection.execute(SEALS)


def is_blank(connection: sqlite3.Connection) -> bool:
    """Say whether nothing was made yet, as when the making was cut short."""
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
