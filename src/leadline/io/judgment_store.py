"""Read the store of the judging page: the judgments of every judge, and one grade a pair made of them."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from os.path import exists, isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from leadline.data.judgment_tables import DrawnPool, Judgment, merge
from leadline.data.table import DRAWN_POOL, PART_JUDGED
from leadline.errors import InputError
from leadline.io.opening import SQLITE
from leadline.io.pool_files import pool_of_lines
from leadline.io.read_paths import record_input
from leadline.io.row_columns import Records

if TYPE_CHECKING:
    from leadline.io.formats import Opened

APPLICATION = 0x6C64_6A67  # distinguishes a store from databases of other programs
VERSION = 1  # of the tables
WAIT = 5.0  # seconds to wait for a lock
STORE = "a `leadline judge` store"
BROKEN = ("not a database", "malformed", "no such", "decode", "corrupt", "unsupported file format")
RECOVER = "Use a backup, or try to recover part of the store with `sqlite3 FILE .recover | sqlite3 NEW`"
BACKUP = "Use a backup of the store"

KINDS: dict[str, tuple[type, ...]] = {
    "s": (str,),
    "i": (int,),
    "f": (int, float),
    "n": (int, type(None)),
    "?": (int, float, type(None)),
}


@contextmanager
def faults(path: str) -> Iterator[None]:
    """Convert SQLite errors into an InputError with a hint."""
    try:
        yield
    except UnicodeDecodeError:  # of a message that quotes damaged content
        raise damaged(path, "its text is not UTF-8") from None
    except sqlite3.Error as error:
        text = _one_line(str(error))
        if "locked" in text or "busy" in text:
            raise InputError(
                "is locked by another program", path=path, hint="Close that program and try again"
            ) from None
        if any(word in text for word in BROKEN):
            raise damaged(path, text, RECOVER) from None
        raise InputError(f"cannot be used as {STORE} ({text})", path=path) from None


def _one_line(text: str) -> str:
    """Return a message as one printable line: it may quote damaged content."""
    words = " ".join(text.split())[:160]
    return "".join(char if char.isprintable() else "\ufffd" for char in words)


def damaged(path: str, found: str, hint: str = BACKUP) -> InputError:
    """Return the error for a damaged store."""
    return InputError(f"is a damaged store ({found})", path=path, hint=hint)


def connect(path: str) -> sqlite3.Connection:
    """Open a store for reading: also while a judging page writes to it, and where nothing can be written."""
    if not exists(path):
        raise InputError("no such file", path=path, hint=f"Pass {STORE}")
    if not isfile(path) or not is_database(path):
        raise InputError(f"is not {STORE}", path=path)
    for part in (path, f"{path}-wal", f"{path}-shm"):
        record_input(part)
    # A reader that may write leaves no files behind. WAL needs one beside the store even to read; where none
    # can be made, nobody writes.
    modes = ["mode=rw", "mode=ro", *([] if exists(f"{path}-wal") else ["mode=ro&immutable=1"])]
    for mode in modes[:-1]:
        try:
            return _tried(f"{Path(path).absolute().as_uri()}?{mode}", path)
        except sqlite3.OperationalError as error:
            if not any(word in str(error) for word in ("unable to open", "readonly")):
                raise
    return _tried(f"{Path(path).absolute().as_uri()}?{modes[-1]}", path)


def is_database(path: str) -> bool:
    """Return whether a file begins as an SQLite database does; a packed one does not."""
    try:
        with open(path, "rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError as error:
        raise InputError(error.strerror or str(error), path=path) from None


def _tried(address: str, path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None)
    try:
        connection.execute("PRAGMA query_only = ON")
        check(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def check(connection: sqlite3.Connection, path: str) -> None:
    """Refuse what is not a whole store of this version."""
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    if application != APPLICATION:
        raise InputError(f"is an SQLite database, but not {STORE}", path=path)
    if version != VERSION:
        raise InputError(
            f"is a store in format {version}, but this version of leadline supports only format {VERSION}",
            path=path,
            hint=f"{'Install a newer' if version > VERSION else 'Use an older'} version of leadline",
        )
    # Indices, too: a judgment that is missing from one would not be read.
    (state,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if state != "ok":
        raise damaged(path, _one_line(str(state))[:80], RECOVER)
    orphan = connection.execute("SELECT * FROM pragma_foreign_key_check LIMIT 1").fetchone()
    if orphan is not None:
        raise damaged(path, f"row {orphan[1]} of table {orphan[0]} refers to a row that is missing")
    wrong = "SELECT id FROM pairs WHERE NOT (probability > 0 AND probability <= 1) LIMIT 1"
    for (pair,) in connection.execute(wrong):
        raise damaged(path, f"the probability of pair {pair} is not above 0 and at most 1")
    _check_seals(connection, path)


# An event with everything that gives it its meaning, its seal last.
SEALED = """
SELECT events.id, key, kind, judges.name, query, document, probability, grade, note, seconds, shown, opened,
  given, saved, undoes, seals.digest, seals.sum
FROM events JOIN judges ON judges.id = events.judge JOIN pairs ON pairs.id = events.pair
  JOIN seals ON seals.event = events.id
"""


def checksum(row: tuple[Any, ...]) -> int:
    """Return the checksum of a row of `SEALED` without its last column."""
    return zlib.crc32(ascii(row[:-1]).encode())


def _check_seals(connection: sqlite3.Connection, path: str) -> None:
    """Compare every event with its checksum."""
    for row in connection.execute(SEALED):
        if checksum(row) != row[-1]:
            raise damaged(path, f"judgment {row[0]} differs from what was saved")


def typed(rows: Iterable[tuple[Any, ...]], types: str, path: str) -> Iterator[tuple[Any, ...]]:
    """Check the types of rows: SQLite stores any value in any column, and a damaged row may hold any.

    `types` has a letter for each column: s text, i integer, f number, ? number or NULL, n integer or NULL.
    """
    wanted = [KINDS[letter] for letter in types]
    for row in rows:
        for value, kind in zip(row, wanted, strict=True):
            if not isinstance(value, kind):
                raise damaged(path, "a value has the wrong type")
        yield row


DRAWN = "drawn"  # fact of a store to which pairs of a drawn pool were added
OF_A_DRAW = """
SELECT EXISTS (SELECT 1 FROM facts WHERE name = ?) OR EXISTS (SELECT 1 FROM pairs WHERE probability < 1)
"""


class Given(NamedTuple):
    """A judgment that stands, and the judge's note.

    `form` is the form of presentation, `seconds` the time on the screen, `opened` whether the full text was.
    """

    judgment: Judgment
    note: str
    form: str
    seconds: float | None
    opened: int


class Stored(NamedTuple):
    """The judgments that stand, of every judge, and the pool they were drawn from; None without a draw."""

    given: list[Given]
    pool: DrawnPool | None

    @property
    def shares(self) -> dict[tuple[str, str], float]:
        """Probability of every pair in the pool; a store that had another pool has more pairs."""
        if self.pool is None:
            return {}
        return {pair: float(self.pool.probability[row]) for pair, row in self.pool.drawn_rows().items()}


def read(path: str) -> Stored:
    """Read the judgments that stand, of every judge."""
    with faults(path), closing(connect(path)) as connection:
        rows = connection.execute(
            "SELECT query, document, judge, grade, note, shown, seconds, opened "
            "FROM judgments "
            "ORDER BY query, document, judge"
        )
        found = [Given(Judgment(*row[:4]), *row[4:]) for row in typed(rows, "sssiss?i", path)]
        if not found:
            raise InputError("contains no judgments yet", path=path)
        (drawn,) = connection.execute(OF_A_DRAW, (DRAWN,)).fetchone()
        return Stored(found, _pool(connection, path) if drawn else None)


def _pool(connection: sqlite3.Connection, path: str) -> DrawnPool:
    """Return the last drawn pool that was added to a store; the pairs of the store if it keeps no pool."""
    rows = connection.execute("SELECT query, document, probability FROM pairs ORDER BY id")
    pool = kept_pool(connection, path) or DrawnPool.listed(list(typed(rows, "ssf", path)))
    deals = list(typed(connection.execute("SELECT query, judge FROM deals"), "ss", path))
    owners = dict(deals)
    return replace(pool, owners=owners if len(owners) == len(deals) else {})  # none if assigned again


def kept_pool(connection: sqlite3.Connection, path: str) -> DrawnPool | None:
    """Return the last drawn pool that was added to a store; None if it keeps no pool."""
    for (frame,) in connection.execute("SELECT pool FROM frames"):
        try:
            text = zlib.decompress(frame).decode("utf-8")
        except (TypeError, ValueError, zlib.error):
            raise damaged(path, "its pool cannot be read") from None
        return pool_of_lines(list(enumerate(text.split("\n"), start=1)), path)
    return None


def records(source: Opened, *_: object) -> Records:
    """Return one grade a pair: that of most judges, of as many judges the lowest."""
    stored = read(source.path)
    frame, listed = stored.pool, stored.shares
    merged = merge(given.judgment for given in stored.given)
    rows = (
        (place, query, document, grade, None)
        for place, ((query, document), grade) in enumerate(merged.grades.items(), start=1)
    )
    shares: dict[tuple[str, str], object] = {pair: listed.get(pair) for pair in merged.grades if frame}
    remarks = merged.remarks
    if frame is not None:
        unjudged = len(listed.keys() - shares.keys())
        judged = len(listed) - unjudged
        remarks = (*remarks, (DRAWN_POOL, f"judgments from a drawn pool: {judged:,}", judged))
        if unjudged:
            words = f"unjudged pairs in the drawn pool: {unjudged:,}"
            remarks = (*remarks, (PART_JUDGED, words, unjudged))
    return Records(
        rows,
        source.path,
        "judgment",
        ("query", "document"),
        shares=shares,
        remarks=remarks,
        judges=[given.judgment.judge for given in stored.given],
        votes=merged.votes,
        pool=frame,
    )
